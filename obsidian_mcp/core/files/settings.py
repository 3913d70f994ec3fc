"""What the app's settings files say (semantics 4.3, 6.2, 8.3; specs/links.md); what is missing has
its default."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.frontmatter.property_types import TYPES_FIXED, PropertyType

if TYPE_CHECKING:
    import regex

LinkFormat = Literal["shortest", "relative", "absolute"]
NewFileLocation = Literal["root", "current", "folder"]
TrashOption = Literal["system", "local", "none"]

SETTINGS_FOLDER = ".obsidian"
"""Folder of a vault that holds the app's settings."""
_LATEST_MS = 1e18
"""Milliseconds since 1970; what is later, or no number at all, is no time."""
ENABLED_PLUGINS_FILE = "community-plugins.json"
BOOKMARKS_FILE = "bookmarks.json"

BROKEN_SETTINGS = (
    f"{SETTINGS_FOLDER}/app.json cannot be read as JSON settings: the app's defaults are used, "
    "and .trash for deleted "
    "files. Repair the file."
)
FILTER_SECONDS = 0.05
"""Time one regular expression of `userIgnoreFilters` may take on one path."""

_T = TypeVar("_T")


class AppSettings(NamedTuple):
    """`app.json`, as far as it matters without the app's window."""

    new_link_format: LinkFormat = "shortest"
    use_markdown_links: bool = False
    new_file_location: NewFileLocation = "root"
    new_file_folder: str = "/"
    """Used with `new_file_location` "folder"."""
    attachment_folder: str = "/"
    """`/` the root, `./` the note's own folder, `./sub` below it, else a folder of the vault."""
    trash_option: TrashOption = "system"
    ignore_filters: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """Says that the file is broken, to everyone who is answered by its settings (FILE-16)."""


class PropertyTypes(NamedTuple):
    """`types.json`: the type of each property by its lower-cased name."""

    types: Mapping[str, PropertyType]

    def assigned_type(self, name: str) -> PropertyType | None:
        """Return the assigned type; None leaves it to the value."""
        return self.types.get(name.lower())


class RegisteredVault(NamedTuple):
    """One vault that the app knows. `opened` is the time of its last use in milliseconds, 0 when
    unknown."""

    id: str
    path: str
    opened: int = 0
    open: bool = False


Content = bytes | str | None
"""Of a settings file; None when there is no such file."""


@lru_cache(maxsize=8)
def app_settings(content: Content) -> AppSettings:
    """`app.json` of a vault. A broken one means the defaults, and the vault's own trash, which
    nobody else empties."""
    values = read_json(content)
    if not isinstance(values, dict) and content is not None and content.strip():
        return AppSettings(trash_option="local", warnings=(BROKEN_SETTINGS,))
    source, default = Members(values), AppSettings()
    return AppSettings(
        new_link_format=source.choice("newLinkFormat", LinkFormat, default.new_link_format),
        use_markdown_links=source.value("useMarkdownLinks", default.use_markdown_links),
        new_file_location=source.choice(
            "newFileLocation", NewFileLocation, default.new_file_location
        ),
        new_file_folder=source.value("newFileFolderPath", default.new_file_folder),
        attachment_folder=source.value("attachmentFolderPath", default.attachment_folder),
        trash_option=source.choice("trashOption", TrashOption, default.trash_option),
        ignore_filters=source.texts("userIgnoreFilters"),
    )


def last_open_files(content: Content) -> tuple[str, ...]:
    """Return the paths of `workspace.json` that were open last, the latest first; some may be
    gone."""
    return Members(read_json(content)).texts("lastOpenFiles")


def property_types(content: Content) -> PropertyTypes:
    """`types.json` of a vault; `tags`, `aliases` and `cssclasses` are what they are, whatever it
    says."""
    kinds = [kind for kind in get_args(PropertyType) if kind != "unknown"]
    assigned = {
        name.lower(): kind
        for name, kind in Members(read_json(content)).members("types")
        if kind in kinds
    }
    return PropertyTypes({**assigned, **TYPES_FIXED})


def parse_registry(content: Content) -> tuple[RegisteredVault, ...]:
    """`obsidian.json` of the user: the vaults that the app has opened, in the order of the file."""
    vaults = []
    for id_, facts in Members(read_json(content)).members("vaults"):
        if isinstance(facts, dict) and isinstance(path := facts.get("path"), str) and path:
            opened: Any = facts.get("ts")
            time = int(opened) if type(opened) in (int, float) and abs(opened) < _LATEST_MS else 0
            vaults.append(RegisteredVault(id_, path, time, open=facts.get("open") is True))
    return tuple(vaults)


class IgnoreFilters:
    """`userIgnoreFilters`: which files the user hides from search, graph and suggestions (semantics
    8.3). An entry begins a path, in its case, or is a regular expression `/…/`; one that is broken
    or too slow hides nothing."""

    def __init__(self, filters: Iterable[str]) -> None:
        prefixes, patterns = [], []
        for text in filters:
            if len(text) > 2 and text.startswith("/") and text.endswith("/"):
                import regex  # few vaults have such filters

                with suppress(regex.error):
                    patterns.append(regex.compile(text[1:-1]))
            elif text:
                prefixes.append(text.removeprefix("/") or "/")
        self._prefixes = tuple(prefixes)
        self._patterns = tuple(patterns)

    def __bool__(self) -> bool:
        return bool(self._prefixes or self._patterns)

    def __call__(self, path: str) -> bool:
        """Return whether the file at this path is hidden."""
        if path.startswith(self._prefixes):
            return True
        return bool(self._patterns) and any(_matches(pattern, path) for pattern in self._patterns)


def _matches(pattern: regex.Pattern[str], path: str) -> bool:
    try:
        return pattern.search(path, timeout=FILTER_SECONDS) is not None
    except TimeoutError:
        return False


@lru_cache(maxsize=8)
def enabled_plugins(content: Content) -> frozenset[str]:
    """Return the ids of the community plugins that are switched on, as ENABLED_PLUGINS_FILE names
    them."""
    plugins = read_json(content)
    return (
        frozenset(name for name in plugins if isinstance(name, str))
        if isinstance(plugins, list)
        else frozenset()
    )


def read_json(content: Content) -> Any:
    """Return what a settings file says; None for one that is missing or no JSON."""
    import json  # 2 ms, which reading one note does without

    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content or ""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


class Members:
    """The members of the object in a settings file; none where it holds anything else."""

    def __init__(self, values: object) -> None:
        self._values: dict[str, Any] = values if isinstance(values, dict) else {}

    def value(self, key: str, default: _T) -> _T:
        """Return the value of a key, the default where that is of another type."""
        value = self._values.get(key)
        return value if isinstance(value, type(default)) else default

    def text(self, key: str, default: str = "") -> str:
        """Return the text of a key without the blanks around it, the default where that is empty or
        no text."""
        return self.value(key, "").strip() or default

    def entries(self, key: str) -> list[Any]:
        """Return the list of a key; empty where that is no list."""
        return self.value(key, [])

    def choice(self, key: str, choices: Any, default: _T) -> _T:
        """Return the value of a key, the default where that is none of the members of a Literal
        type."""
        value: Any = self._values.get(key)
        return value if value in get_args(choices) else default

    def members(self, key: str) -> ItemsView[str, Any]:
        """Return the members of the object of a key."""
        members: dict[str, Any] = self.value(key, {})
        return members.items()

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts in the list of a key."""
        items: list[object] = self.value(key, [])
        return tuple(item for item in items if isinstance(item, str))
