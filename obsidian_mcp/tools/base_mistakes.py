"""What a client is told of a base that is written or read with mistakes (BASE-09)."""

from __future__ import annotations

MISTAKES_SHOWN = 10


def base_mistakes(path: str, text: str) -> list[str]:
    """What is wrong with a base, with line and column; nothing for other files (BASE-09)."""
    if not path.lower().endswith(".base"):
        return []
    from obsidian_mcp.core.bases.validation import validate_base  # loaded when it is needed

    return [str(mistake) for mistake in validate_base(text)[:MISTAKES_SHOWN]]
