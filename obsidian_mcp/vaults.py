"""The vaults of a process: which there are, and which are open."""

from __future__ import annotations

import gc
import threading
import time
from functools import cached_property

from obsidian_mcp import TYPE_CHECKING, logger

from .config import Config
from .errors import AppError, ObsidianNotRunning, VaultNotFound
from .vault_paths import explain_missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Protocol

    from obsidian_mcp.core.files.ports import Obsidian
    from obsidian_mcp.core.files.vault_rules import VaultRules
    from obsidian_mcp.core.text.vault_path import VaultPath
    from obsidian_mcp.core.vault.vault import Vault
    from obsidian_mcp.serve.http.access.principal import Principal

    class FolderWatcher(Protocol):
        """Reports the changes of a folder to its vault."""

        def is_reporting(self) -> bool:
            """Return whether every change is reported, and make sure of it."""

        def stop(self) -> None:
            """Report nothing any more."""

    class AppOnComputer(Protocol):
        """The Obsidian app on this computer."""

        def is_running(self) -> bool: ...
        def is_there(self) -> bool:
            """Return whether it runs, or its command is installed."""

        def command(self, folder: Path) -> Obsidian:
            """Return its side of a vault. Raises: VaultNotFound, ObsidianNotRunning,
            AppCommandFailed."""

    class VaultBuilder(Protocol):
        """Makes vaults of folders, with the adapters of this process."""

        @property
        def app(self) -> AppOnComputer: ...
        def folders(self) -> dict[str, Path]:
            """Return the folders of the vaults by name, the default first. Raises:
            VaultNotFound."""

        def has_folders(self, folder: Path, scopes: Sequence[VaultPath]) -> bool:
            """Return whether the vault at a folder has all these folders."""

        def open_vault(
            self, folder: Path, report: Callable[[], None]
        ) -> tuple[Vault, FolderWatcher | None]:
            """Open a vault; `report` is called when a file may have changed. Raises: PolicyInvalid,
            AppCommandFailed."""


POLICY_SECONDS = 1.0
"""How often the policy file is asked for its time: a call that begins later than this after a
change is held to what it says now (POL-19)."""
WATCHED_SECONDS = 60.0
"""How often who waits for news makes sure that the folders are watched: not every end of a watch is
reported, such as that of a folder that has moved away."""
IN_USE_SECONDS = 60.0
"""After so long nobody uses a vault any more that was opened anew: no call may take half of it."""


class FolderVaults:
    """The vaults named by the configuration, or else those the Obsidian app knows; opened at first
    use."""

    def __init__(
        self,
        builder: VaultBuilder,
        config: Config,
        principal: Principal | None = None,
        *,
        watches: bool,
    ) -> None:
        """`principal`: to whose limits the vaults are held; `watches`: whether their folders are
        watched."""
        self._builder = builder
        self._config = config
        self._principal = principal
        self._watches = watches
        self._lock = threading.Lock()
        self._open: dict[Path, tuple[Vault, FolderWatcher | None]] = {}
        self._outdated: list[tuple[Vault, FolderWatcher | None]] = []
        """Vaults that were opened under another policy, which calls may still use."""
        self._policy_stamp: object = None
        self._policy_looked_at = float("-inf")
        self._scopes: dict[Path, tuple[VaultPath, ...]] = {}
        self._news = threading.Event()
        self._closed = False

    @cached_property
    def _configured(self) -> dict[str, Path]:
        """The vaults that the configuration names: those that the app knows may change
        meanwhile."""
        return self._builder.folders() if self._config.named_vaults else {}

    def names(self) -> list[str]:
        return list(self._folders())

    def is_only_one(self) -> bool:
        """Return whether the configuration names one vault, beside which none can come.

        One whose path is no vault is none: tools are listed all the same, and say what is wrong.
        """
        try:
            return len(self._configured) == 1
        except VaultNotFound:
            return False

    def get(self, name: str = "", *, listed: bool = True) -> Vault:
        folder = self._folder(name)
        if self._config.app.backend == "cli" and not self._builder.app.is_running():
            raise ObsidianNotRunning
        vault = self._open_vault(folder)
        vault.refresh(if_listed=not listed)
        return vault

    def obsidian(self, name: str = "") -> Obsidian:
        return self._builder.app.command(self._folder(name))

    def asks(self) -> bool:
        from .policies import policy_of

        try:
            return any(
                policy_of(self._config, folder, self._principal).asks
                for folder in self._folders().values()
            )
        except AppError:  # a call says what is wrong
            return False

    def has_app(self) -> bool:
        return self._builder.app.is_there()

    def problem(self) -> str:
        try:
            return explain_missing(self._folder(""))
        except AppError as error:
            return error.message

    def rules(self, name: str = "") -> VaultRules | None:
        """Return the rules of a vault's owner; None without any, and where they cannot be read:
        a call says what is wrong (MEM-30)."""
        from .core.files.vault_rules import READ_BYTES, read_rules
        from .policies import policy_of

        try:
            folder = self._folder(name).resolve()

            def read_beginning(path: str) -> bytes | None:
                file = (folder / path).resolve()
                if not (file.is_relative_to(folder) and file.is_file()):
                    return None
                with file.open("rb") as stream:
                    return stream.read(READ_BYTES)

            allowed = policy_of(self._config, self._folder(name), self._principal)
            return read_rules(read_beginning, allowed, self._config.rules)
        except (AppError, OSError):
            return None

    def warm(self) -> None:
        """Open the default vault and begin its index, in the background, so that the first call
        finds it ready."""
        threading.Thread(target=self._prepare, name="warm", daemon=True).start()

    def _prepare(self) -> None:
        # what is made here stays; with 50 000 notes, looking at it took a quarter of the time
        gc.disable()
        try:
            vault = self._open_vault(self._folder(""))
            vault.refresh()
            if not vault.indexer.pending.is_behind:  # then its background is at work
                vault.indexer.freshen()
            vault.search.prepare()
            if not self._config.read_only:
                vault.recover()
        except AppError as error:  # the first call tells the client
            logger(__name__).warning("%s", error.message)
        finally:
            gc.freeze()
            gc.enable()

    def wait(self, seconds: float) -> bool:
        while not self._news.wait(WATCHED_SECONDS if self._reports_all_changes() else seconds):
            if not self._reports_all_changes():
                break  # it may be that something has changed
        self._news.clear()
        return not self._closed

    def _reports_all_changes(self) -> bool:
        """Return whether the system reports every change in the vaults that are open."""
        are_watched = self._watches or not self._open
        watchers = [watcher for _, watcher in list(self._open.values()) if watcher is not None]
        return are_watched and all(watcher.is_reporting() for watcher in watchers)

    def close(self) -> None:
        """Stop every thread and close every file; what is half done is finished first."""
        # what is being opened is in the lists by then, and nothing is opened any more
        with self._lock:
            self._closed = True
            opened = [*self._open.values(), *self._outdated]
            self._outdated.clear()
        self._news.set()
        _close_vaults(opened)

    def _folders(self) -> dict[str, Path]:
        """Vault folders by the name under which tools know them, the default first (POL-12,
        POL-14). Raises: VaultNotFound, PolicyInvalid."""
        folders = self._configured or self._builder.folders()
        if (principal := self._principal) is not None:
            limits = principal.limits
            opened = {
                name: folder for name, folder in folders.items() if limits.opens(name, str(folder))
            }
            if not opened:
                named = ", ".join(map(repr, limits.vaults))
                raise VaultNotFound(
                    f"The API key {principal.name} opens the vaults {named}, which are not "
                    "served here."
                )
            folders = opened
        if len(folders) == 1:
            return folders  # opening it says what is wrong
        return {
            name: folder for name, folder in folders.items() if self._holds_scopes(folder)
        } or folders

    def _holds_scopes(self, folder: Path) -> bool:
        """Return whether a vault has the folders to which all vaults are held; True where that
        cannot be seen."""
        from .policies import policy_of

        if folder not in self._scopes:
            self._scopes[folder] = policy_of(self._config, folder, self._principal).common_scopes
        scopes = self._scopes[folder]
        return not scopes or not folder.is_dir() or self._builder.has_folders(folder, scopes)

    def _folder(self, name: str) -> Path:
        folders = self._folders()
        if not name:
            return next(iter(folders.values()))
        from obsidian_mcp.core.text.vault_path import name_key

        key = name_key(name.strip())
        matching = [
            path
            for known_name, path in folders.items()
            if key in (name_key(known_name), name_key(str(path)))
        ]
        if not matching:
            raise VaultNotFound(
                f"There is no vault {name!r}. The vaults are: {', '.join(map(repr, folders))}.",
                vault=name,
                vaults=list(folders),
            )
        return matching[0]

    def _open_vault(self, folder: Path) -> Vault:
        with self._lock:
            if time.monotonic() - self._policy_looked_at >= POLICY_SECONDS:
                self._follow_policy()
            if folder not in self._open:
                if missing := explain_missing(folder):
                    raise VaultNotFound(missing, vault=folder.name)
                if self._closed:
                    raise VaultNotFound(
                        "The program is ending. Nothing was changed.", vault=folder.name
                    )
                self._open[folder] = self._builder.open_vault(folder, self._news.set)
                self._news.set()  # who waits for news may have to look for it from now on
            return self._open[folder][0]

    def _follow_policy(self) -> None:
        """Let vaults be opened anew whose policy is another since the policy file has changed.

        Raises: PolicyInvalid, at each call until the file is right: what it forbids now is not
        known.
        """
        from .policies import policy_of, policy_stamp

        stamp = policy_stamp(self._config)
        if stamp != self._policy_stamp:
            changed = [
                folder
                for folder, (vault, _) in self._open.items()
                if policy_of(self._config, folder, self._principal) != vault.policy
            ]
            self._close_when_unused([self._open.pop(folder) for folder in changed])
            self._scopes.clear()
            self._policy_stamp = stamp
        self._policy_looked_at = time.monotonic()

    def _close_when_unused(self, vaults: Sequence[tuple[Vault, FolderWatcher | None]]) -> None:
        """Close vaults when the calls that use them have ended."""

        def close() -> None:
            with self._lock:
                outdated = [opened for opened in vaults if opened in self._outdated]
                self._outdated = [opened for opened in self._outdated if opened not in outdated]
            _close_vaults(outdated)

        if vaults:
            self._outdated.extend(vaults)
            closing = threading.Timer(IN_USE_SECONDS, close)
            closing.daemon = True
            closing.start()


def _close_vaults(vaults: Sequence[tuple[Vault, FolderWatcher | None]]) -> None:
    for _, watcher in vaults:
        if watcher is not None:
            watcher.stop()
    for vault, _ in vaults:
        vault.close()
