"""Hints for frequent slips in queries that do not parse (specs/dataview.md, DV-45)."""

from __future__ import annotations

import re

_SLIPS = (
    (r"<%", "The text holds template code (<% … %>): run the template first, or write its result."),
    (
        r"\A\s*(?:TABLE|LIST)(?:\s+WITHOUT\s+ID)?\s+SORT\b",
        'SORT is read as a field here. Put FROM "" before it: LIST FROM "" SORT …',
    ),
    (r"==", "Equality is a single =."),
    (r"&&|\|\|", "Write and, or."),
    (r"\bWHERE\s+#", 'For a tag write WHERE contains(file.tags, "#tag"), or FROM #tag.'),
    (r"\bFROM\s+[-!]\s+", "Write the - or ! of a source without a space after it."),
    (r"\bFROM\s+\"[^\"]*\"\s*,", 'Join sources by or: FROM "a" or "b".'),
    (r"\bFROM\s+(?!csv\(|outgoing\()[^\s\"#\[(!-]", 'A folder or note stands in double quotes: FROM "folder".'),
    (r"\bGROUP\s+(?!BY)|\bGROUP\s{2,}BY|\bGROUP\nBY", "Write GROUP BY with one space."),
    (r"\bORDER\s+BY\b", "To order rows write SORT field ASC or DESC."),
    (r"\bHAVING\b", "After GROUP BY write WHERE."),
    (r"\bSORT\s+BY\b", "Write SORT field, without BY."),
    (r"(?:\bWHERE|\band|\bor|&|\|)\s+not\b", "Write !, as in !contains(a, b)."),
    (r"'[^'\n]*'", 'Texts stand in double quotes: "text".'),
    (r"(?:^|[\s,(])_\w", 'A name that begins with _ is written row["_name"].'),
)
_COMPILED: list[tuple[re.Pattern[str], str]] = []
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_TEXTS_AND_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*', re.DOTALL)


def hint_for(text: str) -> str:
    """A sentence that helps with the slip in a text that does not parse; empty where none is known."""
    if not _COMPILED:
        _COMPILED.extend((re.compile(pattern, re.IGNORECASE), hint) for pattern, hint in _SLIPS)
    bare = _TEXTS_AND_COMMENTS.sub(lambda found: '""' if found[0][0] == '"' else "", text)
    if bare.count('"') % 2:
        return 'A text has no closing ".'
    for pattern, hint in _COMPILED:
        if pattern.search(bare):
            return hint
    for opening, closing in _BRACKETS.items():
        missing = bare.count(opening) - bare.count(closing)
        if missing:
            return f"{abs(missing)} '{closing if missing > 0 else opening}' missing."
    return ""
