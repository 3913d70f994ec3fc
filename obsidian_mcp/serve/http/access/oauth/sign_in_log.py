"""Lines of the log about signing in: enough to see whose fault a failure is, and no secret
(OAUTH-50).

Never a token, code, secret, `state`, query or form.
"""

from __future__ import annotations

import re

from obsidian_mcp import logger


def log_event(event: str, app: str, address: str = "", *, warns: bool = False) -> None:
    """Write what happened, to which program, and from which address."""
    place = f" from {_one_line(address)}" if address else ""
    log = logger(__name__)
    (log.warning if warns else log.info)("%s: %s%s", event, _one_line(app), place)


def show_events() -> None:
    """Have lines of the log about signing in written without `--verbose`, too."""
    logger(__name__).setLevel("INFO")


def _one_line(text: str) -> str:
    return re.sub(r"[^\x20-\x7e\u00a1-\ud7ff\U0001f000-\U0001faff]", "?", text[:120])
