"""What the app's settings files say, read from their text (semantics 4.3, 6.2, 8.3; specs/links.md).

A missing file, a missing key and a value that the app could not have written all mean the app's default; the last of
them also gives a warning. Nothing is ever written back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from obsidian_mcp.core.frontmatter.property_types import TYPES_FIXED, PropertyType

if TYPE_CHECKING:
    import regex

LinkFormat = Literal["shortest", "relative", "absolute"]
NewFileLocation = Literal["root", "current", "folder"]
TrashOption = Literal["system", "local", "none"]
UnlinkedAttachments = Literal["ask", "always", "never"]

SETTINGS_FOLDER = ".obsidian"
"""Folder of a vault that holds the app's settings."""

FILTER_SECONDS = 0.05
"""Time one regular expression of `userIgnoreFilters` may take on one path."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class AppSettings:
    """`app.json`, as far as it matters without the app's window."""

    new_link_format: LinkFormat = "shortest"
    use_markdown_links: bool = False
    always_update_links: bool = False
    new_file_location: NewFileLocation = "root"
    new_file_folder: str = "/"
    """Used with `new_file_location` "folder"."""
    attachment_folder: str = "/"
    """`/` the root, `./` the note's own folder, `./sub` below it, else a folder of the vault."""
    trash_option: TrashOption = "system"
    prompt_delete: bool = True
    delete_unlinked_attachments: UnlinkedAttachments = "ask"
    show_unsupported_files: bool = False
    ignore_filters: tuple[str, ...] = ()
    strict_line_breaks: bool = False
    tab_size: int = 4
    use_tab: bool = True
    warnings: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class PropertyTypes:
    """`types.json`: the type of each property by its lower-cased name."""

    types: Mapping[str, PropertyType]
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def of(self, name: str) -> PropertyType | None:
        """The assigned type; None leaves it to the value."""
        return self.types.get(name.lower())


@dataclass(frozen=True, slots=True)
class RegisteredVault:
    """One vault that the app knows. `opened` is the time of its last use in milliseconds, 0 when unknown."""

    id: str
    path: str
    opened: int = 0
    open: bool = False


@dataclass(frozen=True, slots=True)
class AppRegistry:
    """`obsidian.json` of the user: vaults in the order of the file; `cli` is None in an app that is too old for it."""

    vaults: tuple[RegisteredVault, ...] = ()
    cli: bool | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)


def app_settings(text: str | None) -> AppSettings:
    """`app.json` of a vault; None when there is no such file."""
    source = _Source("app.json", text)
    default = AppSettings()
    return AppSettings(
        new_link_format=source.choice("newLinkFormat", LinkFormat, default.new_link_format),
        use_markdown_links=source.flag("useMarkdownLinks", default.use_markdown_links),
        always_update_links=source.flag("alwaysUpdateLinks", default.always_update_links),
        new_file_location=source.choice("newFileLocation", NewFileLocation, default.new_file_location),
        new_file_folder=source.text("newFileFolderPath", default.new_file_folder),
        attachment_folder=source.text("attachmentFolderPath", default.attachment_folder),
        trash_option=source.choice("trashOption", TrashOption, default.trash_option),
        prompt_delete=source.flag("promptDelete", default.prompt_delete),
        delete_unlinked_attachments=source.choice(
            "deleteUnlinkedAttachments", UnlinkedAttachments, default.delete_unlinked_attachments
        ),
        show_unsupported_files=source.flag("showUnsupportedFiles", default.show_unsupported_files),
        ignore_filters=source.texts("userIgnoreFilters"),
        strict_line_breaks=source.flag("strictLineBreaks", default.strict_line_breaks),
        tab_size=source.count("tabSize", default.tab_size),
        use_tab=source.flag("useTab", default.use_tab),
        warnings=tuple(source.warnings),
    )


def last_open_files(text: str | None) -> tuple[str, ...]:
    """Return the paths of `workspace.json` that were open last, the latest first; some may be gone."""
    return _Source("workspace.json", text).texts("lastOpenFiles")


def property_types(text: str | None) -> PropertyTypes:
    """`types.json` of a vault; `tags`, `aliases` and `cssclasses` are what they are, whatever it says."""
    source = _Source("types.json", text)
    kinds = [kind for kind in get_args(PropertyType) if kind != "unknown"]
    types: dict[str, PropertyType] = {}
    for name, kind in source.mapping("types").items():
        if kind in kinds:
            types[name.lower()] = kind
        else:
            source.warn(f"the type of {name!r} is {_shown(kind)}, which is none of {', '.join(kinds)}")
    types |= TYPES_FIXED
    return PropertyTypes(types, tuple(source.warnings))


def app_registry(text: str | None) -> AppRegistry:
    """`obsidian.json` of the user: which vaults the app has opened, and whether its command line is switched on."""
    source = _Source("obsidian.json", text)
    vaults = []
    for id_, facts in source.mapping("vaults").items():
        path = facts.get("path") if isinstance(facts, dict) else None
        if not isinstance(path, str) or not path:
            source.warn(f"vault {id_!r} has no path")
            continue
        opened = facts.get("ts")
        vaults.append(
            RegisteredVault(id_, path, int(opened) if _is_number(opened) else 0, open=facts.get("open") is True)
        )
    cli = source.values.get("cli")
    return AppRegistry(tuple(vaults), cli if isinstance(cli, bool) else None, tuple(source.warnings))


class IgnoreFilters:
    """`userIgnoreFilters`: which files the user hides from search, graph and suggestions (semantics 8.3).

    An entry is the beginning of a path, in the case it has, or `/…/`: a regular expression looked for in the path. An
    expression that cannot be read or takes too long hides nothing; `warnings` says which.
    """

    def __init__(self, filters: Iterable[str]) -> None:
        prefixes, patterns, warnings = [], [], []
        for entry in filters:
            if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
                import regex  # few vaults have such filters

                try:
                    patterns.append(regex.compile(entry[1:-1]))
                except regex.error as e:
                    warnings.append(f"The excluded-files filter {entry!r} is no regular expression ({e}): not used.")
            elif entry:
                prefixes.append(entry.removeprefix("/") or "/")
        self._prefixes = tuple(prefixes)
        self._patterns = tuple(patterns)
        self.warnings: tuple[str, ...] = tuple(warnings)

    def __bool__(self) -> bool:
        return bool(self._prefixes or self._patterns)

    def match(self, path: str) -> bool:
        """Whether the file at this path is hidden."""
        return path.startswith(self._prefixes) or any(_found(pattern, path) for pattern in self._patterns)


def _found(pattern: regex.Pattern[str], path: str) -> bool:
    try:
        return pattern.search(path, timeout=FILTER_SECONDS) is not None
    except TimeoutError:
        return False


class _Source:
    """The object in one settings file, and what was wrong with it."""

    def __init__(self, name: str, text: str | None) -> None:
        self.name = name
        self.values: dict[str, Any] = {}
        self.warnings: list[str] = []
        if text is None or not text.removeprefix("\ufeff").strip():
            return
        try:
            values = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as e:
            self.warn(f"it is not readable as JSON ({e})")
            return
        if isinstance(values, dict):
            self.values = values
        else:
            self.warn("it holds no object")

    def warn(self, problem: str) -> None:
        self.warnings.append(f"{self.name}: {problem}; the default is used.")

    def _get(self, key: str, default: _T, fits: Callable[[Any], bool], expected: str) -> _T:
        value = self.values.get(key)
        if value is None:
            return default
        if not fits(value):
            self.warn(f"{key} is {_shown(value)}, which is not {expected}")
            return default
        return value  # type: ignore[no-any-return]  # `fits` has looked at it

    def flag(self, key: str, default: bool) -> bool:
        return self._get(key, default, lambda value: isinstance(value, bool), "true or false")

    def text(self, key: str, default: str) -> str:
        return self._get(key, default, lambda value: isinstance(value, str), "text")

    def count(self, key: str, default: int) -> int:
        return self._get(
            key, default, lambda value: isinstance(value, int) and value is not True and value > 0, "a positive number"
        )

    def choice(self, key: str, choices: Any, default: _T) -> _T:
        allowed = get_args(choices)
        return self._get(key, default, lambda value: value in allowed, f"one of {', '.join(allowed)}")

    def mapping(self, key: str) -> dict[str, Any]:
        return self._get(key, {}, lambda value: isinstance(value, dict), "an object")

    def texts(self, key: str) -> tuple[str, ...]:
        items: list[object] = self._get(key, [], lambda value: isinstance(value, list), "a list")
        for item in items:
            if not isinstance(item, str):
                self.warn(f"{key} holds {_shown(item)}, which is not text")
        return tuple(item for item in items if isinstance(item, str))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18


def _shown(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 40 else shown[:40] + "…"
