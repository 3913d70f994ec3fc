"""What of a vault's notes is only a template's text (CHECK-07).

In a vault that is used daily most notes are made from templates, and many of them are never written
in. Such a note is no stub and no duplicate of the others, and a template is no note of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from itertools import islice

from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.text.vault_path import VaultPath, basename, is_note, name_key
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError

from .template_folders import template_folders

MOST_TEMPLATES = 500
"""Templates whose lines are compared with those of notes."""
MOST_TEMPLATE_BYTES = 100_000
"""A longer file below a folder of templates is not compared."""
_SCRIPT = re.compile(r"<%[-_]?\*.*?%>", re.DOTALL)
"""A command of Templater that leaves no text of its own."""
_VALUE = re.compile(r"\{\{[^\n{}]*\}\}|<%(?:(?!<%|%>)[^\n])*%>")
"""A variable of the app and of plugins, or a command of Templater."""
_TITLE = re.compile(r"\{\{\s*title\s*\}\}|<%[-_]?\s*tp\.file\.title\s*[-_]?%>", re.IGNORECASE)
_CURSOR = re.compile(r"<%[-_]?\s*tp\.file\.cursor", re.IGNORECASE)
_DATE = re.compile(
    r"date|time|yesterday|tomorrow|day|week|month|quarter|year|moment", re.IGNORECASE
)
_LEAST_LITERAL = 2
"""Letters of its own by which a line with a variable is told from any other line."""
_ANY_TEXT = r"[^\n]{0,200}?"
_SOME_DATE = r"[^\n]{0,100}?\d[^\n]{0,100}?"
_ONLY_DATE = r"(?=.*\d{4}|.*\d\D+\d)[\w.,:/ '’-]{1,60}?"
"""A date that is all of its line but for marks: a number alone is none."""


class TemplateTexts:
    """The templates of one vault, and which lines of other notes are theirs."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    @cached_property
    def _named(self) -> frozenset[VaultPath]:
        """The templates that a setting names: of notes of days and longer periods, of unique notes,
        of the notes of a folder, of the note composer and of QuickAdd."""
        settings = self._vault.periodic.settings
        names = [rule.template for rule in settings.rules.values()]
        names += [settings.unique.template, settings.composer_template]
        names += settings.quick_add.templates
        if settings.templater is not None:
            names += settings.templater.folder_templates.values()
        linkpaths = [name.strip("/ ") for name in names if name.strip("/ ")]
        paths = self._vault.graph.resolve_from_root(linkpaths).value if linkpaths else ()
        return frozenset(filter(is_note, paths))

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        """The beginnings of the paths below the folders of templates of the app, Templater and
        QuickAdd, as they compare."""
        quick_add = self._vault.periodic.settings.quick_add.folders
        folders = [*template_folders(self._vault), *(folder.strip("/ ") for folder in quick_add)]
        return tuple(f"{name_key(folder)}/" for folder in folders if folder)

    def has(self, path: str) -> bool:
        """Return whether a note is a template."""
        return path in self._named or (
            bool(self._folders) and is_note(path) and name_key(path).startswith(self._folders)
        )

    @cached_property
    def _lines(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The lines of templates that have no variable, and those that have one."""
        plain: set[str] = set()
        with_variable: dict[str, None] = {}
        for body in self._bodies():
            for line in map(str.strip, _SCRIPT.sub("", body).split("\n")):
                if _VALUE.search(line):
                    with_variable[line] = None
                elif line:
                    plain.add(line)
        return frozenset(plain), tuple(with_variable)

    def _bodies(self) -> Iterator[str]:
        entries = (entry for entry in self._vault.entries() if self.has(entry.path))
        for entry in islice(entries, MOST_TEMPLATES):
            if entry.size <= MOST_TEMPLATE_BYTES:
                with suppress(AppError):
                    yield self._vault.read_text(entry).text.body

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        """What lines with a variable become in a note, whatever its title."""
        untitled = (line for line in self._lines[1] if not _TITLE.search(line))
        return tuple(re.compile(pattern) for pattern in map(_pattern, untitled) if pattern)

    def compared_text(self, path: VaultPath, text: str) -> str:
        """Return what of a text is compared with other notes: of a note that is made from a
        template its own text.

        A note is taken to be so made that has a line of a template to the letter: to compare every
        line of a vault with lines that have variables would take minutes.
        """
        return text if self._without_plain_lines(text) == text else self.own_text(path, text)

    def _without_plain_lines(self, text: str) -> str:
        plain, _ = self._lines
        if not plain:
            return text
        return "\n".join(line for line in text.split("\n") if line.strip() not in plain)

    def own_text(self, path: VaultPath, text: str) -> str:
        """Return the lines of a note that no template has; all of them where the vault has no
        template."""
        with_variable = self._lines[1]
        text = self._without_plain_lines(text)
        if not with_variable or not text.strip():
            return text
        title = basename(path)
        titled = [
            _TITLE.sub(lambda _: title, line) for line in with_variable if _TITLE.search(line)
        ]
        patterns = [*map(re.compile, filter(None, map(_pattern, titled))), *self._patterns]

        def is_made(line: str) -> bool:
            return bool(line) and any(pattern.fullmatch(line) for pattern in patterns)

        return "\n".join(line for line in text.split("\n") if not is_made(line.strip()))

    def is_untouched(self, path: VaultPath, text: str) -> bool:
        """Return whether a note has text, and none but lines of templates; below its properties,
        where it has any there."""
        body = text[text_start(text) :]
        compared = body if body.strip() else text
        return bool(compared.strip()) and not self.own_text(path, compared).strip()


def _pattern(line: str) -> str:
    """Return the expression for what a line of a template becomes; "" for one that may become any
    line, or none."""
    values = _VALUE.findall(line)
    literal = re.sub(r"\W", "", _VALUE.sub("", line))
    is_told_apart = len(literal) >= _LEAST_LITERAL or not values
    if not is_told_apart and not any(map(_DATE.search, values)):
        return ""
    date = _SOME_DATE if is_told_apart else _ONLY_DATE
    parts, at = [], 0
    for value in _VALUE.finditer(line):
        parts.append(re.escape(line[at : value.start()]))
        if not _CURSOR.match(value[0]):
            parts.append(date if _DATE.search(value[0]) else _ANY_TEXT)
        at = value.end()
    return "".join([*parts, re.escape(line[at:].rstrip())])
