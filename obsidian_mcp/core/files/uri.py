"""URIs of a vault's files: `obsidian://vault/<vault>/<path>`, the app's own short form (specs/resources.md RES-01)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from obsidian_mcp.core.text.vault_path import name_key

ROOT = "obsidian://vault/"
TEMPLATE = ROOT + "{vault}/{+path}"


@dataclass(frozen=True, slots=True)
class FileUri:
    """The vault and the path that a URI names; `literal` is the path for a URI written without percent-encoding."""

    vault: str
    path: str
    literal: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that the URI can mean, the first that exists: as in the app, a note goes without its `.md`, too."""
        written = (self.path, self.literal)
        return tuple(dict.fromkeys((*written, *(f"{path.rstrip('/')}.md" for path in written))))

    @property
    def keys(self) -> tuple[str, ...]:
        """Forms for comparing: two URIs that share one name the same file."""
        return tuple({name_key(path) for path in self.paths})


def build(vault: str, path: str) -> str:
    """Every character but letters, digits, `_.-~` and the slashes of the path is percent-encoded, as UTF-8."""
    return ROOT + quote(vault, safe="", errors="surrogateescape") + "/" + quote(path, errors="surrogateescape")


def parse(uri: str) -> FileUri | None:
    """None for a URI of another form. `%2F` in the path is a slash; `#` and `?` belong to the name."""
    if uri[: len(ROOT)].lower() != ROOT:
        return None
    vault, slash, path = uri[len(ROOT) :].partition("/")
    if not (vault and slash and path):
        return None
    decoded = unquote(path, errors="surrogateescape")
    return FileUri(unquote(vault, errors="surrogateescape"), decoded, path)
