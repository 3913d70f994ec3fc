"""The port through which a query sees the vault, as it was at one moment (EXPR-40 to EXPR-42).

The pure core and its tests use a view over texts, the server one over the index. Every method may
be called often: an implementation reads a column of properties, or the links of the vault, once and
keeps it for the query.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from .values import File, Value

LinkPlace = Literal["property", "link", "embed"]


class WrittenLink(NamedTuple):
    """A link of a file as its text has it."""

    path: str
    subpath: str
    """Begins with `#`, or is empty."""
    display: str | None
    """None where none is written."""
    place: LinkPlace
    """In a property, in the text, or embedded in the text."""


class VaultView(Protocol):
    """One consistent view of the vault.

    Links may lead to excluded files; `files` does not list them.
    """

    def files(self, among: Collection[str] | None = None) -> Sequence[File]:
        """Return every file that is neither hidden nor excluded, by path.

        With `among` only these: a query reads no others then.
        """

    def count_files(self) -> int:
        """Return how many files there are, hidden and excluded ones among them."""

    def created_ns(self, path: str) -> int:
        """Return when a file was created, in nanoseconds since 1970, UTC."""

    def file(self, path: str) -> File | None:
        """Return the file at exactly this path."""

    def resolve(self, linkpath: str, source: str) -> str | None:
        """Return the path of the file that a link in `source` leads to.

        An empty `linkpath` is `source` itself.
        """

    def column(self, name: str) -> Mapping[str, Value]:
        """Return one property of every note that has it, by path; its name is in lower case.

        Values are as the YAML has them, numbers as floats; nobody changes one.
        """

    def values(self, name: str) -> Iterable[tuple[str, Value]]:
        """Return every different value of a property as in `column`, each with a text by which
        `files_with_values` knows it."""

    def files_with_values(
        self, name: str, texts: Collection[str], among: Collection[str] | None = None
    ) -> Collection[str]:
        """Return the notes that have one of some `values`, all or those `among` some.

        A note may have several: those of names that differ in case.
        """

    def tagged_files(self, tags: Sequence[str]) -> Collection[str]:
        """Return the files that have one of these tags, or one nested below it."""

    def properties(self, path: str) -> Mapping[str, Value]:
        """Return all properties of a note as its YAML has them, in the order written."""

    def tags(self, path: str) -> Sequence[str]:
        """Return every tag of a file as written, without `#`.

        Those of the properties come first, then those of the text, repeated as they are.
        """

    def links(self, path: str) -> Sequence[WrittenLink]:
        """Return the links of the properties, then of the text in its order, embeds among them."""

    def targets(self, path: str) -> Collection[str]:
        """Return the paths of the files that the links of a file lead to."""

    def backlinks(self, path: str) -> Sequence[str]:
        """Return the paths of the files that link to or embed this one, in order.

        The file itself is among them where it does.
        """
