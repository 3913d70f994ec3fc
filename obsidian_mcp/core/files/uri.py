"""URIs of a vault's files: `obsidian://vault/<vault>/<path>`, the app's own short form
(specs/resources.md RES-01), and those that people copy from the app and from elsewhere
(NAME-16)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from obsidian_mcp.core.text.vault_path import name_key
from obsidian_mcp.errors import InvalidName, PermissionDenied, VaultNotFound

ROOT = "obsidian://vault/"
TEMPLATE = ROOT + "{vault}/{+path}"


class FileUri(NamedTuple):
    """The vault and the path that a URI names; `literal` is the path for a URI written without
    percent-encoding."""

    vault: str
    path: str
    literal: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that the URI can mean, the first that exists: as in the app, a note goes
        without its `.md`, too."""
        written = (self.path, self.literal)
        return tuple(dict.fromkeys((*written, *(f"{path.rstrip('/')}.md" for path in written))))

    @property
    def keys(self) -> tuple[str, ...]:
        """Forms for comparing: two URIs that share one name the same file."""
        return tuple({name_key(path) for path in self.paths})


def build(vault: str, path: str) -> str:
    """Return the URI of a file. Every character but letters, digits, `_.-~` and the slashes of the
    path is percent-encoded, as UTF-8."""
    return (
        ROOT
        + quote(vault, safe="", errors="surrogateescape")
        + "/"
        + quote(path, errors="surrogateescape")
    )


def parse(uri: str) -> FileUri | None:
    """Return what a URI of ours names; None for one of another form. `%2F` in the path is a slash;
    `#` and `?` belong to the name."""
    if uri[: len(ROOT)].lower() != ROOT:
        return None
    vault, slash, path = uri[len(ROOT) :].partition("/")
    if not (vault and slash and path):
        return None
    decoded = unquote(path, errors="surrogateescape")
    return FileUri(unquote(vault, errors="surrogateescape"), decoded, path)


def note_name(raw: str, vault: str, root: Path) -> str:
    """Return the name of the note that an `obsidian://` or `file://` URI names in a vault with this
    name and folder; any other name as it is. Raises: VaultNotFound, InvalidName,
    PermissionDenied."""
    scheme, _, address = raw.strip().partition("://")
    if scheme.lower() == "file":
        return _name_below(root, address.removeprefix("localhost"), raw)
    if scheme.lower() != "obsidian":
        return raw
    if address.startswith("/"):
        return _name_below(root, address, raw)
    if (short := parse(raw.strip())) is not None:
        named, name = short.vault, short.path
    else:
        parameters = dict(part.partition("=")[::2] for part in address.partition("?")[2].split("&"))
        if parameters.get("path"):
            return _name_below(root, parameters["path"], raw)
        named, name = unquote(parameters.get("vault", "")), unquote(parameters.get("file", ""))
    if named and name_key(named) not in (name_key(vault), name_key(root.name)):
        raise VaultNotFound(
            f"{raw!r} is of the vault {named!r}, and this call is for {vault!r}. Name the vault "
            "in the argument `vault`, "
            "and the note by its name or path.",
            vault=named,
        )
    if not name.strip("/ "):
        raise InvalidName(
            f"{raw!r} names no note. Give the name or path of a note, or a URI with file=.",
            name=raw,
        )
    return name


def _name_below(root: Path, written: str, raw: str) -> str:
    """Return the path in the vault of an absolute path in a URI. Raises: PermissionDenied for one
    out of the vault."""
    path = unquote(written).replace("\\", "/")
    path = path[1:] if re.match(r"/[A-Za-z]:/", path) else path
    for folder in dict.fromkeys((root, root.resolve())):
        above = name_key(folder.as_posix().removeprefix("//?/")) + "/"
        if name_key(path[: len(above)]) == above and len(path) > len(above):
            return path[len(above) :]
    raise PermissionDenied(f"{raw!r} is no file of the vault, whose folder is '{root}'.", path=path)
