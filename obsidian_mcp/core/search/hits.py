"""What a search is given and what it returns (SEARCH-10 to 19)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.ports import FIRST_NS, LAST_NS, nearest_time
from obsidian_mcp.core.text.vault_path import VaultPath, name_key

ANSWER_CHARACTERS = 10_000
"""Most of an answer to a model, as JSON."""
SNIPPETS = 2
"""Snippets of a file, by default."""

MatchMode = Literal["smart", "exact"]
FacetKind = Literal["relevance", "modified", "name", "path", "folder", "tag", "property"]

NOT_SENT = {"sent": False}
"""Metadata of a field for programs on this machine; `registry.to_plain_json` leaves it out of an
answer."""


class Facet(NamedTuple):
    """A fact of every file, to sort or group by (SEARCH-64)."""

    kind: FacetKind
    property: str = ""
    """Name of the property; empty for the other kinds."""


class Order(NamedTuple):
    facet: Facet
    descending: bool


class Request(NamedTuple):
    query: str
    match: MatchMode = "smart"
    folder: VaultPath | None = None
    """Only files below this folder."""
    limit: int = 20
    offset: int = 0
    snippets: int = SNIPPETS
    since: int | None = None
    until: int | None = None
    """Only files changed at or after the one time, and before the other; nanoseconds since the
    epoch."""
    order: Order | None = None
    """None: best first."""
    note: VaultPath | None = None
    """Only this file, of which every line is listed; `limit` and `offset` count lines."""
    passages: bool = False
    """Whether paragraphs are shown instead of lines."""
    current: bool = False
    """Whether what is outdated is left out (MEM-13)."""
    characters: int = ANSWER_CHARACTERS
    """Most of the answer, as JSON."""
    now: datetime | None = None
    """The moment of the question on the user's clock, for what is recent; None for a question of
    the program's own."""

    @property
    def times(self) -> tuple[int, int]:
        """The first and the last time of the files asked for, as times of files are known
        (INDEX-50)."""
        last = LAST_NS if self.until is None else self.until - 1
        return nearest_time(FIRST_NS if self.since is None else self.since), nearest_time(last)

    @property
    def ranks(self) -> bool:
        """Whether the best files come first."""
        return self.order is None or self.order.facet.kind == "relevance"


@dataclass(slots=True)
class Snippet:
    """A line of a note, cut short (SEARCH-71)."""

    line: int
    """1-based."""
    text: str
    """Of a passage, its lines."""
    heading: str | None = None
    """The heading above the line."""
    marks: tuple[tuple[int, int], ...] = field(default=(), compare=False, metadata=NOT_SENT)
    """Starts and ends of the matches in `text`, in code points."""
    card: str | None = None
    """Id of the canvas card that the line is in."""
    page: int | None = None
    """Page of the PDF that the line is on; a link to it is `[[x.pdf#page=3]]`."""
    link: str | None = None
    """To the heading above a passage, or to its note."""
    outdated: str | None = None
    """Why the line holds no longer, such as `superseded by [[X]]`, where its note does (MEM-11)."""


@dataclass(slots=True)
class Hit:
    path: VaultPath
    score: float | None = None
    """How well the file answers; None if nothing was weighed."""
    value: str | None = None
    """What the file was sorted by, if the path does not say it (SEARCH-69)."""
    snippets: list[Snippet] | None = None
    matched: Literal["meaning", "link", "successor"] | None = None
    """Says of a file without the words that a model found it (SEM-04), the text of a link to it
    (SEARCH-86), or that it supersedes one that has them (MEM-12)."""
    outdated: str | None = None
    """Why the note holds no longer, such as `superseded by [[X]]` (MEM-11)."""
    chain: list[str] | None = None
    """Where a question is about the past: what held when, the oldest first (MEM-14)."""


@dataclass(slots=True)
class Hits:
    total: int
    """Files that match, on all pages; in one note the lines that do."""
    hits: list[Hit]
    next_offset: int | None = None
    widened: str | None = None
    """How the search was widened, where few files have all words, and what to try (SEARCH-51)."""
    incomplete: str | None = None
    """A sentence if some files are newer than the index (INDEX-40), or PDFs are not read
    (PDF-4)."""
    note: str | None = None
    """Who else found these files, and how (SEARCH-18); or that files are excluded (SEARCH-19)."""
    is_weak: bool = field(default=False, compare=False, metadata=NOT_SENT)
    """Whether even the best file says too little of the question to answer it (SEARCH-100)."""


@dataclass(slots=True)
class Group:
    group: str
    count: int
    """Files in the group, on all pages."""
    hits: list[Hit] | None = None
    """Those of this page; None if they come on a later one."""


@dataclass(slots=True)
class Grouped:
    """As `Hits`; a file with several tags or values is in several groups (SEARCH-66)."""

    total: int
    group_count: int
    groups: list[Group]
    next_offset: int | None = None
    widened: str | None = None
    incomplete: str | None = None
    note: str | None = None


def request_filter(request: Request) -> Callable[[FileEntry], bool]:
    """Whether a file is in the folder and times of a request."""
    first, last = request.times
    is_inside = None if request.folder is None else folder_filter(request.folder)
    return lambda entry: (
        (request.note is None or entry.path == request.note)
        and first <= entry.mtime_ns <= last
        and (is_inside is None or is_inside(entry.path))
    )


def folder_filter(folder: VaultPath) -> Callable[[str], bool]:
    """Whether a path is below a folder, as the app compares names."""
    key = name_key(folder) + "/"
    length = len(key)
    return lambda path: (
        start.lower() == key
        if (start := path[:length]).isascii()
        else name_key(path).startswith(key)
    )
