"""The port through which a query sees the vault at one moment (EXPR-40 to EXPR-42). Its methods may be called often:
columns of properties, and the links, are read once for a query."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from .values import File, Value

Place = Literal["property", "link", "embed"]


@dataclass(frozen=True, slots=True)
class WrittenLink:
    """A link of a file as its text has it."""

    path: str
    subpath: str
    """Begins with `#`, or is empty."""
    display: str | None
    """None where none is written."""
    place: Place
    """In a property, in the text, or embedded in the text."""


class VaultView(Protocol):
    """One consistent view of the vault. Links may lead to excluded files; `files` does not list them."""

    def files(self) -> Sequence[File]:
        """Every file that is neither hidden nor excluded, by path."""

    def created_ns(self, path: str) -> int:
        """When a file was created, in nanoseconds since 1970, UTC."""

    def file(self, path: str) -> File | None:
        """The file at exactly this path."""

    def resolve(self, linkpath: str, source: str) -> str | None:
        """Path of the file that a link in `source` leads to; an empty `linkpath` is `source` itself."""

    def column(self, name: str) -> Mapping[str, Value]:
        """One property, named in lower case, of every note that has it, by path; numbers are floats, all read-only."""

    def properties(self, path: str) -> Mapping[str, Value]:
        """All properties of a note as its YAML has them, in the order written; names as written."""

    def tags(self, path: str) -> Sequence[str]:
        """Every tag of a file as written, without `#`: those of the properties, then those of the text, repeated."""

    def links(self, path: str) -> Sequence[WrittenLink]:
        """Links of the properties, then of the text in its order, embeds among them."""

    def targets(self, path: str) -> Collection[str]:
        """Paths of the files that the links of a file lead to."""

    def backlinks(self, path: str) -> Sequence[str]:
        """Paths of the files that link to or embed this one, by path; itself among them where it does."""
