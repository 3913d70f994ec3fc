"""All that a change means for one text file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from obsidian_mcp.core.note import parser

from .hunk_review import ReviewedHunk, review_text
from .link_review import LinkChange, compare_links
from .property_review import PropertyChange, compare_properties

NOTE = ".md"


@dataclass(frozen=True, slots=True)
class FileReview:
    """The changes of one file, by kind; all but the hunks say in short what is in them."""

    hunks: Sequence[ReviewedHunk]
    properties: Sequence[PropertyChange] = ()
    links: Sequence[LinkChange] = ()


def review_file(path: str, before: str, after: str) -> FileReview:
    """Return the review of a text file; of one that is no note, its lines alone. Raises:
    OperationTimeout."""
    if not path.lower().endswith(NOTE):
        return FileReview(review_text(before, after))
    old, new = parser.parse(before), parser.parse(after)
    hunks = review_text(before, after, (old, new))
    return FileReview(hunks, compare_properties(old, new), compare_links(old, new))
