"""What a tool receives."""

from __future__ import annotations

import threading

from obsidian_mcp import TYPE_CHECKING

from .config import Config, Immutable
from .core.text.page_order import PageOrders

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, Protocol, Self

    from obsidian_mcp.core.files.ports import Obsidian
    from obsidian_mcp.core.files.vault_rules import VaultRules
    from obsidian_mcp.core.text.call import Client
    from obsidian_mcp.core.vault.vault import Vault

    class Vaults(Protocol):
        """The vaults that this server may use."""

        def get(self, name: str = "", *, listed: bool = True) -> Vault:
            """Return the vault of this name, in step with its folder; the first one without a name.
            `listed` False: the caller needs no catalog, which need not be read then
            (`Vault.catalog_of`). Raises: VaultNotFound."""

        def warm(self) -> None:
            """Begin to open the default vault in the background."""

        def wait(self, seconds: float) -> bool:
            """Wait until a file of an open vault may have changed; False once closed. One thread
            waits, and looks every `seconds` where the system does not tell of changes."""

        def obsidian(self, name: str = "") -> Obsidian:
            """Return the running app's side of a vault. Raises: VaultNotFound, ObsidianNotRunning,
            AppCommandFailed."""

        def problem(self) -> str:
            """Return what is wrong with the folder of the default vault, in a sentence; empty where
            it is there."""

        def rules(self, name: str = "") -> VaultRules | None:
            """The rules of a vault's owner; None without any."""

        def has_app(self) -> bool:
            """Return whether the app runs or its command is installed, so that `obsidian` can be of
            use."""

        def close(self) -> None: ...

        def asks(self) -> bool:
            """Return whether a vault's policy wants some changes confirmed by a person."""

        def is_only_one(self) -> bool:
            """Return whether there is one vault, beside which none can come."""

        def names(self) -> list[str]:
            """Names as `get` takes them, the default first. Raises: VaultNotFound when there is
            none."""

    class Media(Protocol):
        """What is not text. The methods raise NotShowable."""

        def shrink_image(self, data: bytes, most_bytes: int, longest_side: int) -> bytes:
            """Return an image as JPEG within these limits."""

        def pdf_text(self, data: bytes, first: int, last: int, most: int) -> tuple[int, list[str]]:
            """Return how many pages a PDF has, and the text of some, 1-based, until about `most`
            characters are reached."""

        def pdf_page(self, data: bytes, number: int, longest_side: int) -> bytes:
            """Return a page of a PDF, 1-based, as PNG."""


MAX_CLIENTS = 10_000
"""Clients that are remembered to have read hidden text; beyond, the oldest are forgotten."""


class HiddenTextReads:
    """Which clients have read hidden text, for as long as the process runs (POL-13). Safe to share
    between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: dict[Client, str] = {}

    def add(self, path: str) -> None:
        """The client of the current call has read a note with hidden text."""
        from obsidian_mcp.core.text.call import current_call

        with self._lock:
            self._paths.setdefault(current_call.get().client, path)
            while len(self._paths) > MAX_CLIENTS:
                del self._paths[next(iter(self._paths))]

    def path(self) -> str:
        """Return the first such note that the client of the current call has read; empty where it
        has read none."""
        from obsidian_mcp.core.text.call import current_call

        with self._lock:
            return self._paths.get(current_call.get().client, "")


class App(Immutable):
    """What every tool works with. As a context it closes the vaults at its end."""

    def __init__(
        self,
        vaults: Vaults,
        config: Config,
        media: Callable[[], Media],
        read_outside: Callable[[str, int], bytes],
        open_console: Callable[[App], str] | None = None,
    ) -> None:
        self.vaults: Final = vaults
        self.config: Final = config
        self.media: Final = media
        self.read_outside: Final = read_outside
        """Return a file outside the vaults, of at most so many bytes. Raises: PermissionDenied,
        NoteNotFound, StorageFailed."""
        self.open_console: Final = open_console
        """Open the console in the browser of this computer, and return a message that says so; None
        where the server may not, because it is not the user's own (UI-11)."""
        self.hidden_text_reads: Final = HiddenTextReads()
        self.page_orders: Final = PageOrders()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.vaults.close()
