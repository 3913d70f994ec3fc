"""What a tool receives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from obsidian_mcp.core.files.ports import Obsidian
from obsidian_mcp.core.vault.vault import Vault

from .config import Config


class Vaults(Protocol):
    """The vaults that this server may use."""

    def get(self, name: str = "") -> Vault:
        """The vault of this name, in step with its folder; the first one without a name. Raises: VaultNotFound."""
        ...

    def warm(self) -> None:
        """Begin to open the default vault in the background."""
        ...

    def wait(self, seconds: float) -> bool:
        """Wait until a file of an open vault may have changed; False once closed. One thread waits.

        `seconds` is how often to look where the system does not tell of changes.
        """
        ...

    def obsidian(self, name: str = "") -> Obsidian:
        """The running app's side of a vault. Raises: VaultNotFound, ObsidianNotRunning, AppCommandFailed."""
        ...

    def has_app(self) -> bool:
        """Whether the app runs or its command is installed, so that `obsidian` can be of use."""
        ...

    def close(self) -> None: ...

    def asks(self) -> bool:
        """Whether a vault's policy wants some changes confirmed by a person."""
        ...

    def names(self) -> list[str]:
        """Names as `get` takes them, the default first. Raises: VaultNotFound when there is none."""
        ...


class Media(Protocol):
    """What is not text. The methods raise NotShowable."""

    def shrunk(self, data: bytes, most_bytes: int, longest_side: int) -> bytes:
        """An image as JPEG within these limits."""
        ...

    def pdf_text(self, data: bytes, first: int, last: int, most: int) -> tuple[int, list[str]]:
        """How many pages a PDF has, and the text of some, 1-based, until about `most` characters are reached."""
        ...


class Outside(Protocol):
    """Files outside the vaults."""

    def read(self, path: str, most: int) -> bytes:
        """A file of at most so many bytes. Raises: PermissionDenied, NoteNotFound, StorageFailed."""
        ...


@dataclass(frozen=True, slots=True)
class App:
    vaults: Vaults
    config: Config
    media: Media
    outside: Outside
