"""Rules on which the sources are silent or disagree: one named constant each, with the value chosen here.

The number in each comment is the section of the semantics specification; `obsidian` with its console decides them.
"""

from __future__ import annotations

MISSED_RELATIVE_LINK_SEARCHES_ON = False
"""1.4: a `./` or `../` link without an exact hit goes on to the suffix match, without its dots."""

MISSED_ROOTED_LINK_SEARCHES_ON = False
"""1.4 step 7: a link with a leading `/` and no exact hit goes on to the suffix match."""

DISPLAY_EQUAL_TO_TARGET_IS_LEFT_OUT = True
"""1.7: a new wikilink whose display equals its target is written without the display."""

RENAME_SHORTENS_LINKS = True
"""7, 16.2: under `shortest`, a link with folders to a moved file becomes the bare name where that is unique."""

RENAME_KEEPS_WRITTEN_MD = True
"""7: `[[A.md]]` keeps its `.md` and `[x](A)` goes on without, though a new link would be written otherwise."""
