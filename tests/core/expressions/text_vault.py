"""A vault of texts for tests of the query languages: `VaultView` through the note parser, without an index."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from obsidian_mcp.core.expressions.values import File, Value
from obsidian_mcp.core.expressions.vault_view import WrittenLink
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note.parser import Note, parse
from obsidian_mcp.core.text.tags import covers
from obsidian_mcp.core.text.vault_path import is_note

TIME_NS = 1_704_164_645_000_000_000
"""2024-01-02T03:04:05Z."""


class TextVault:
    """Files by path. Texts of notes are parsed when they are first looked at."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(sorted(texts.items()))
        self._files = {path: File(path, len(text.encode()), TIME_NS) for path, text in self.texts.items()}
        self.names = Catalog(DiskFile(path, 1, 1) for path in self.texts)
        self._notes: dict[str, Note] = {}
        self._columns: dict[str, Mapping[str, Value]] = {}
        self._links: dict[str, list[WrittenLink]] = {}

    @classmethod
    def of_folder(cls, folder: Path) -> TextVault:
        """Every file of a folder but hidden ones; what is no note has no text."""
        texts = {}
        for file in folder.rglob("*"):
            path = file.relative_to(folder)
            if file.is_file() and not any(part.startswith(".") for part in path.parts):
                readable = file.suffix in (".md", ".base", ".canvas", ".csv")
                texts[path.as_posix()] = file.read_text("utf-8") if readable else ""
        return cls(texts)

    def note(self, path: str) -> Note:
        if path not in self._notes:
            self._notes[path] = parse(self.texts[path] if is_note(path) else "")
        return self._notes[path]

    def files(self, among: Collection[str] | None = None) -> Sequence[File]:
        return [file for file in self._files.values() if among is None or file.path in among]

    def values(self, name: str) -> Iterable[tuple[str, Value]]:
        return self.column(name).items()

    def files_with_values(
        self, name: str, texts: Collection[str], among: Collection[str] | None = None
    ) -> Collection[str]:
        return [path for path in texts if path in self.column(name) and (among is None or path in among)]

    def tagged_files(self, tags: Sequence[str]) -> Collection[str]:
        return [path for path in self.texts if any(covers(tag, own) for tag in tags for own in self.tags(path))]

    def count_files(self) -> int:
        return len(self._files)

    def created_ns(self, _path: str) -> int:
        return TIME_NS

    def file(self, path: str) -> File | None:
        return self._files.get(path)

    def resolve(self, linkpath: str, source: str) -> str | None:
        return resolve(self.names, source, linkpath)

    def column(self, name: str) -> Mapping[str, Value]:
        if name not in self._columns:
            found = {path: self.properties(path) for path in self.texts}
            self._columns[name] = {
                path: next(value for key, value in properties.items() if key.lower() == name)
                for path, properties in found.items()
                if any(key.lower() == name for key in properties)
            }
        return self._columns[name]

    def properties(self, path: str) -> Mapping[str, Value]:
        return self.note(path).properties

    def tags(self, path: str) -> Sequence[str]:
        return [tag.removeprefix("#") for tag in self.note(path).all_tags]

    def links(self, path: str) -> Sequence[WrittenLink]:
        if path not in self._links:
            note = self.note(path)
            of_properties = [
                WrittenLink(link.path, link.subpath, link.display, "property") for link in note.property_links
            ]
            of_text = [
                WrittenLink(link.path, link.subpath, link.display, "embed" if link.embed else "link")
                for link in note.links
            ]
            self._links[path] = of_properties + of_text
        return self._links[path]

    def targets(self, path: str) -> Collection[str]:
        found = (self.resolve(link.path, path) for link in self.links(path))
        return {target for target in found if target is not None}

    def backlinks(self, path: str) -> Sequence[str]:
        return [other for other in self.texts if path in self.targets(other)]
