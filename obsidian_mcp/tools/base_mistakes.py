"""What a client is told of a base that is written or read with mistakes (BASE-09).

Nobody sees such a mistake before a person opens the base in the app. So the answer to the change
says it, while whoever wrote it can still mend it.
"""

from __future__ import annotations

MISTAKES_SHOWN = 10
"""Of one base; one mistake often makes several others."""


def base_mistakes(path: str, text: str) -> list[str]:
    """Return what is wrong with a base, with line and column; nothing for other files (BASE-09)."""
    if not path.lower().endswith(".base"):
        return []
    from obsidian_mcp.core.bases.validation import validate_base  # loaded when it is needed

    return [str(mistake) for mistake in validate_base(text)[:MISTAKES_SHOWN]]
