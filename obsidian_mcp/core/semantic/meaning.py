"""Notes of a vault by what they mean: which are embedded, and which are nearest to a text
(specs/semantic.md)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.texts import NoteText
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import VaultPath, is_note
from obsidian_mcp.errors import SemanticUnavailable

from .choice import PIECE_BYTES

LEAST_SIMILARITY = 0.2
"""Notes that are less near a query have nothing to do with it."""
SHORT_BYTES = 200
"""A shorter section is read together with the next one."""
MOST_PIECES = 40
"""Pieces of one note; of a longer one the rest is found by its words only."""
BATCH_PIECES = 16
"""Pieces that are embedded together."""
MOST_REFUSED = 3
"""Notes that a model refuses one after the other before nothing more is sent to it."""


class EmbeddingRefused(SemanticUnavailable):
    """The model answers, but not with vectors of these texts: they may be too long for it."""


@dataclass(frozen=True, slots=True)
class Near:
    """A note near a text, and where its nearest piece begins."""

    path: VaultPath
    start: int
    similarity: float
    """Cosine, from -1 to 1."""


class Embedder(Protocol):
    """A model. Safe to use from several threads."""

    def embed(self, texts: Sequence[str], *, quick: bool = False) -> list[bytes]:
        """Return a vector of length 1, little-endian float32, per text; `quick`: for a search.
        Raises: SemanticUnavailable."""


class Vectors(Protocol):
    """Where vectors are kept. Safe to use from several threads and processes; what is lost is made
    again."""

    def digests(self) -> Mapping[VaultPath, bytes]:
        """Return the files with vectors, and of which bytes these are."""

    def put(
        self, path: VaultPath, digest: bytes, starts: Sequence[int], vectors: Sequence[bytes]
    ) -> None:
        """Store the vectors of one file in place of those that it had; `starts` are where their
        pieces begin, and `digest` is of the bytes that they were made of."""

    def drop(self, paths: Iterable[VaultPath]) -> None:
        """Forget the vectors of files."""

    def find_nearest(self, vector: bytes, limit: int) -> list[Near]:
        """Return the files with the nearest pieces, the nearest first."""

    def find_similar(self, path: VaultPath, limit: int) -> list[Near]:
        """Return the files nearest to all of one file together, without itself."""

    def close(self) -> None: ...


class Meaning:
    """Finds and embeds the notes of one vault. Every method may be called from any thread."""

    def __init__(
        self,
        indexer: Indexer,
        visible: Callable[[], Iterable[VaultPath]],
        embedder: Embedder,
        vectors: Vectors,
        *,
        is_patient: bool = False,
    ) -> None:
        """`visible` returns the files that are not hidden: no other is embedded (SEM-05).

        `is_patient`: a search waits until the model is loaded, as a command that ends by itself
        wants it. A server's search does not use the model before `prepare` has loaded it.
        """
        self.stop: Callable[[], object] = lambda: None
        """Ends what embeds notes in the background."""
        self._is_ready = is_patient
        self._indexer = indexer
        self._visible = visible
        self._embedder = embedder
        self._vectors = vectors
        self._building = threading.Lock()
        self.refused: dict[VaultPath, bytes] = {}
        """Notes that the model refused, with the digest of their bytes; not tried again before they
        change."""
        self._refused_last = 0
        """How many notes were refused since the last that was not."""

    def prepare(self) -> None:
        """Load the model and the vectors once; from then on searches use them. Raises:
        SemanticUnavailable."""
        if self._is_ready:
            return
        (vector,) = self._embedder.embed(["ready"])
        self._vectors.find_nearest(vector, 1)
        self._is_ready = True

    def pending_notes(self) -> list[VaultPath]:
        """Return the notes to embed, without those that the model refused, and forget notes that
        are gone or hidden."""
        visible = {path for path in self._visible() if is_note(path)}
        embedded = self._vectors.digests()
        self._vectors.drop([path for path in embedded if path not in visible])
        present = self._indexer.query(lambda rows: rows.digests())
        return sorted(
            path
            for path, digest in present
            if path in visible and digest not in (embedded.get(path), self.refused.get(path))
        )

    def _read_note(self, path: VaultPath) -> NoteText | None:
        """Return a note as the index has it, None where it has no rows."""
        return self._indexer.query(lambda rows: rows.texts.read_note(path))

    def embed(self, paths: Sequence[VaultPath]) -> None:
        """Embed notes as the index has them, but those that the model refuses. Raises:
        SemanticUnavailable, also after MOST_REFUSED refusals in a row."""
        with self._building:
            for path in paths:
                note = self._read_note(path)
                if note is None:
                    continue
                digest, text, headings = note
                name = to_printable(path.rpartition("/")[2].rpartition(".")[0])
                parts = pieces(name, text, headings)
                vectors: list[bytes] = []
                try:
                    for at in range(0, len(parts), BATCH_PIECES):
                        vectors += self._embedder.embed(
                            [part.text for part in parts[at : at + BATCH_PIECES]]
                        )
                except EmbeddingRefused:
                    self.refused[path] = digest
                    self._refused_last += 1
                    if self._refused_last < MOST_REFUSED:
                        continue
                    self.refused.clear()  # the notes are not what is wrong
                    self._refused_last = 0
                    raise
                self._refused_last = 0
                self._vectors.put(path, digest, [part.start for part in parts], vectors)

    def complete(self) -> int:
        """Embed everything that is pending; return how many notes these were. Raises:
        SemanticUnavailable."""
        paths = self.pending_notes()
        for count, path in enumerate(paths):
            report_progress(count, len(paths), "Embedding")
            self.embed([path])
        return len(paths) - len(self.refused.keys() & set(paths))

    def find_by_meaning(self, text: str, limit: int) -> list[Near]:
        """Return the notes that mean most nearly what a text says; none while the model is not
        ready (SEM-04)."""
        if not self._is_ready:
            return []
        try:
            (vector,) = self._embedder.embed([text], quick=True)
            nearest = self._vectors.find_nearest(vector, limit)
        except SemanticUnavailable:  # the words alone answer; `doctor` says what is wrong
            return []
        return [near for near in nearest if near.similarity >= LEAST_SIMILARITY]

    def close(self) -> None:
        """Stop what is done in the background, and close the vectors."""
        self.stop()
        self._vectors.close()

    def find_alike_by_vectors(self, path: VaultPath, limit: int) -> list[Near]:
        """Return the notes that are most like one; none if it has no vectors, or they cannot be
        used."""
        try:
            return self._vectors.find_similar(path, limit)
        except SemanticUnavailable:
            return []


# The parts of a note that are embedded: its sections, in pieces that a model can read (SEM-02)


@dataclass(frozen=True, slots=True)
class Piece:
    start: int
    """Where it begins in the text, in code points."""
    text: str
    """With the name of the note and the heading before it."""


def pieces(name: str, text: str, headings: Sequence[tuple[int, str]]) -> list[Piece]:
    """Return the pieces of a note. `headings` are where they begin and what they say, in their
    order."""
    pieces_of_note = []
    begin = text_start(text)
    starts = [(begin, ""), *((start, heading) for start, heading in headings if start >= begin)]
    for start, end, heading in _sections(text, starts):
        title = f"{name}\n{heading}\n" if heading and heading != name else f"{name}\n"
        pieces_of_note += [Piece(at, title + part) for at, part in _parts(text, start, end)]
        if len(pieces_of_note) >= MOST_PIECES:
            break
    return pieces_of_note[:MOST_PIECES] or [Piece(len(text), name)]


def _sections(text: str, starts: Sequence[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and heading of the sections, short ones together."""
    ends = [start for start, _ in starts[1:]] + [len(text)]
    begun, title = starts[0]
    for (_, heading), end in zip(starts, ends, strict=True):
        title = title or heading
        if len(text[begun : min(end, begun + SHORT_BYTES)].encode()) >= SHORT_BYTES or end == len(
            text
        ):
            if text[begun:end].strip():
                yield begun, end, title
            begun, title = end, ""


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the pieces of a section with their starts, each of at most PIECE_BYTES, cut at the ends
    of lines, else of words, in its second half."""
    while start < end:
        stop = start + len(
            text[start : min(end, start + PIECE_BYTES)]
            .encode()[:PIECE_BYTES]
            .decode(errors="ignore")
        )
        if stop < end:
            half = (start + stop) // 2
            stop = next(
                (at + 1 for mark in "\n " if (at := text.rfind(mark, half, stop)) > 0), stop
            )
        part = text[start:stop]
        if part.strip():
            yield start + len(part) - len(part.lstrip()), part.strip()
        start = stop
