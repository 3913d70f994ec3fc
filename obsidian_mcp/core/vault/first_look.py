"""How long those who ask wait for the first look at a vault's folder (SEARCH-115).

The look goes on beside them. Vaults of up to some 30 000 notes are looked at in less.
"""

from __future__ import annotations

from typing import Final

SERVER_SECONDS: Final = 0.5
"""A search of a client, which can ask again in a moment."""
COMMAND_SECONDS: Final = 5.0
"""A command of a person: it ends with its answer, and nobody else looks at the folder."""
RECALL_SECONDS: Final = 0.25
HOOK_SECONDS: Final = 0.1
"""A host holds up its session for a hook."""
