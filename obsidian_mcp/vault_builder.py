"""Makes vaults of folders: the file that gives them their adapters. What opens a vault is imported
when one is opened: the first answers of a server do not wait for it."""

from __future__ import annotations

import os
import re
import threading
from functools import cached_property, partial

from obsidian_mcp import TYPE_CHECKING, install_command, logger

from .config import Config
from .errors import InvalidArguments, PolicyInvalid, VaultNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from obsidian_mcp.adapters.app_access import AppAccess
    from obsidian_mcp.adapters.disk import Disk
    from obsidian_mcp.adapters.watcher import Watcher
    from obsidian_mcp.core.calendar.clock import Calendar
    from obsidian_mcp.core.files import policy
    from obsidian_mcp.core.files.ports import Changer, Obsidian
    from obsidian_mcp.core.index.index import Index
    from obsidian_mcp.core.index.indexer import Indexer
    from obsidian_mcp.core.semantic.choice import EmbeddingChoice
    from obsidian_mcp.core.semantic.meaning import Embedder, Meaning
    from obsidian_mcp.core.text.vault_path import VaultPath
    from obsidian_mcp.core.vault.vault import Vault
    from obsidian_mcp.serve.http.access.principal import Principal

SEMANTIC_FILE = "semantic.json"
"""In the state folder: which model embeds notes. Without it search by meaning is off."""


def vault_id(root: Path) -> str:
    """Name of the folder that holds what this program keeps about a vault."""
    import hashlib  # takes 2 ms

    readable = re.sub(r"[^A-Za-z0-9]+", "-", root.name).strip("-")[:40] or "vault"
    return f"{readable}-{hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()}"


def calendar(config: Config) -> Calendar:
    """Return the clock of this process; a day that is configured without a time begins at midnight.
    Raises: InvalidArguments for a first day of the week that is no weekday."""
    if config.week_start:
        from obsidian_mcp.core.calendar.locale import WEEKDAYS  # with all names of months and days

        if config.week_start not in WEEKDAYS:
            raise InvalidArguments(
                f"OBSIDIAN_MCP_WEEK_START is {config.week_start!r}; it must be one of "
                f"{', '.join(WEEKDAYS)}."
            )

    from datetime import datetime

    from obsidian_mcp.core.calendar.clock import Calendar

    fixed = datetime.fromisoformat(config.today).replace(tzinfo=None) if config.today else None

    def now() -> datetime:
        return fixed or datetime.now()  # noqa: DTZ005  local, as a person's day is

    return Calendar(now, config.language, config.week_start)


def app_access(config: Config) -> AppAccess:
    """Return the access to the app on this computer. Nothing is looked for yet."""
    from obsidian_mcp.adapters.app_access import AppAccess

    app, folders = config.app, config.app_folders
    return AppAccess(
        app.program,
        app.environment,
        folders,
        assume_running=app.assume_running,
        timeout=config.timeout,
    )


def vault_folders(config: Config) -> dict[str, Path]:
    """Return the folders of the configured vaults, or else of those that the app knows, by the
    names that tools use; the first is the default. Raises: VaultNotFound where there is none."""
    if not all(config.named_vaults):
        raise VaultNotFound(
            "The path of the vault given with --vault is empty. Give its folder, or leave --vault "
            "out for the vaults that Obsidian knows."
        )
    paths = config.vaults
    if not paths:
        from obsidian_mcp.adapters.app_access import registered_vaults

        paths = registered_vaults(config.app_folders)
    if not paths:
        raise VaultNotFound(
            "No vault is configured. Start the server with --vault FOLDER or set "
            "OBSIDIAN_VAULT_PATH; without them the vaults that Obsidian knows are used, and it "
            "knows none here."
        )
    folders: dict[str, Path] = {}
    for path in paths:
        absolute = path.absolute()
        name, number = absolute.name or str(absolute), 2
        while name in folders:
            name, number = f"{absolute.name} {number}", number + 1
        folders[name] = absolute
    return folders


def _has_folder(disk: Disk, wanted: VaultPath) -> bool:
    """Return whether a vault has a folder, compared as names are."""
    from obsidian_mcp.core.text.vault_path import name_key

    found: list[str] = [""]
    for part in wanted.split("/"):
        inside = [below for folder in found for below in disk.subfolders(folder) or ()]
        found = [below for below in inside if name_key(below.rpartition("/")[2]) == name_key(part)]
    return bool(found)


def embedding_choice(config: Config) -> EmbeddingChoice | None:
    """Return the model that the user chose for search by meaning, None where it is off. Raises:
    InvalidArguments for a file that cannot be read."""
    file = config.state / SEMANTIC_FILE
    if not file.exists():
        return None
    from obsidian_mcp.core.semantic import choice

    return choice.parse(file.read_bytes())


def embedder(config: Config, choice: EmbeddingChoice) -> Embedder:
    """Return the chosen model. Nothing is loaded yet."""
    if choice.url:
        from obsidian_mcp.adapters.openai_api import EmbeddingEndpoint

        return EmbeddingEndpoint(choice.url, choice.model, config.embeddings_key, config.timeout)
    from pathlib import Path

    from obsidian_mcp.adapters.embedding_model import EmbeddingModel

    return EmbeddingModel(Path(choice.folder))


def _meaning(
    config: Config, indexer: Indexer, vault: Vault, file: Path, *, is_server: bool
) -> Meaning | None:
    """Return what finds the notes of a vault by their meaning; None where it is off or its packages
    are not installed."""
    choice = embedding_choice(config)
    if choice is None:
        return None
    from obsidian_mcp.adapters.embedding_model import missing_packages
    from obsidian_mcp.adapters.vector_store import VectorStore
    from obsidian_mcp.core.semantic.meaning import Meaning

    if missing_packages():
        logger(__name__).warning("Search by meaning is off. Run: %s", install_command("semantic"))
        return None
    model = embedder(config, choice)
    vectors = VectorStore(file.with_name(f"{file.name}-{choice.fingerprint}.sqlite3"))

    def visible_paths() -> list[VaultPath]:
        hides = vault.hides()
        return [entry.path for entry in vault.entries() if not hides(entry.path)]

    meaning = Meaning(indexer, visible_paths, model, vectors, is_patient=not is_server)
    if is_server:
        from obsidian_mcp.adapters.embedding_worker import EmbeddingWorker

        worker = EmbeddingWorker(meaning, file.with_name(f"{file.name}.lock"))
        meaning.stop = worker.stop
        indexer.pending.stored.add(lambda _: worker.wake())
    return meaning


class FolderBuilder:
    """Makes vaults of folders, with the adapters of this process (`VaultBuilder` in vaults.py)."""

    def __init__(self, config: Config, principal: Principal | None, *, is_server: bool) -> None:
        self._config = config
        self._principal = principal
        self._is_server = is_server
        self.watches = is_server and config.watch

    @cached_property
    def app(self) -> AppAccess:
        return app_access(self._config)

    def folders(self) -> dict[str, Path]:
        return vault_folders(self._config)

    def has_folders(self, folder: Path, scopes: Sequence[VaultPath]) -> bool:
        from obsidian_mcp.adapters.disk import Disk

        return all(_has_folder(Disk(folder), scope) for scope in scopes)

    def open_vault(self, folder: Path, report: Callable[[], None]) -> tuple[Vault, Watcher | None]:
        from obsidian_mcp.adapters.disk import Disk
        from obsidian_mcp.adapters.journal import SqliteJournal
        from obsidian_mcp.core.files.ports import ONE_SHOT
        from obsidian_mcp.core.vault.scanning import Scanning
        from obsidian_mcp.core.vault.vault import Vault

        from .policies import policy_of

        disk = Disk(folder)
        allowed = policy_of(self._config, folder, self._principal)
        _check_scopes(disk, folder.name, allowed)
        through_app, app = self._connect_app(folder, disk)
        reported = threading.Event()
        cache = self._config.cache / vault_id(disk.root)
        watcher = self._watch(disk, cache, reported, report)
        journal = SqliteJournal(
            self._config.state / cache.name, process="" if self._is_server else ONE_SHOT
        )
        vault = Vault(
            folder.name,
            disk,
            watcher or Scanning(),
            journal,
            partial(_open_index, cache / f"index{allowed.fingerprint}.sqlite3"),
            policy=allowed,
            app=app,
            through_app=through_app,
            calendar=calendar(self._config),
            validity=self._config.validity,
            begin_background=lambda indexer: self._begin_background(
                indexer, vault, cache, reported if watcher is not None else None
            ),
        )
        # Those who wait for news hear of our own changes at once, also where the system reports
        # none.
        vault.committed.add(lambda _: report())
        try:
            if watcher is not None:
                watcher.start()
            if self._is_server:
                _ = vault.indexer  # from now on changes are taken in beside the calls
        except BaseException:  # nobody has it who would close it, and the next call opens another
            if watcher is not None:
                watcher.stop()
            vault.close()
            raise
        return vault, watcher

    def _watch(
        self, disk: Disk, cache: Path, reported: threading.Event, report: Callable[[], None]
    ) -> Watcher | None:
        """Return what watches a vault's folder, not started yet; None where nobody does. The
        servers of a vault meet beside its index."""
        if not self.watches:
            return None
        from obsidian_mcp.adapters.watcher import Watcher

        def report_to_both() -> None:
            reported.set()
            report()

        return Watcher(disk.root, report_to_both, meeting_place=cache)

    def _begin_background(
        self, indexer: Indexer, vault: Vault, cache: Path, reported: threading.Event | None
    ) -> Meaning | None:
        """Have the index stored beside the calls; return what finds notes by meaning. `reported`:
        set when the watcher has reported changes; None without a watcher."""
        from obsidian_mcp.adapters.index_workers import NICENESS, IndexWorkers
        from obsidian_mcp.adapters.pdf_reader import PdfReader
        from obsidian_mcp.core.vault.first_look import COMMAND_SECONDS, SERVER_SECONDS

        root, is_server = vault.files.root, self._is_server
        indexer.is_patient = not is_server
        look = None if reported is None else vault.catch_up
        niceness = NICENESS if is_server else 0
        vault.is_looked_at_aside = True
        vault.first_look_seconds = SERVER_SECONDS if is_server else COMMAND_SECONDS
        IndexWorkers(
            indexer,
            root,
            look,
            reported or threading.Event(),
            first_look=vault.refresh,
            niceness=niceness,
        ).start()
        PdfReader(indexer.pending, root, is_reading=is_server)
        vectors = cache / f"vectors{vault.policy.fingerprint}"
        return _meaning(self._config, indexer, vault, vectors, is_server=is_server)

    def _connect_app(self, folder: Path, disk: Disk) -> tuple[Changer | None, Obsidian | None]:
        """Return who changes the files of a vault in the app's stead, and who answers questions.
        Raises: AppCommandFailed."""
        backend = self._config.app.backend
        if backend == "files":
            return None, None
        from obsidian_mcp.adapters.app_files import AppFiles

        command = partial(self.app.command, folder)
        if backend == "auto":
            return AppFiles(disk, command, partial(self.app.has_open, folder)), None
        return AppFiles(disk, command), command()


def _check_scopes(disk: Disk, name: str, allowed: policy.Policy) -> None:
    """Check that a vault has the folders to which it is held: an empty vault would be an untrue
    answer. Raises: PolicyInvalid."""
    for scope in allowed.scopes:
        if not _has_folder(disk, scope):
            raise PolicyInvalid(
                f"The vault {name!r} has no folder {str(scope)!r}, to which this server is held "
                "(--scope, OBSIDIAN_MCP_SCOPE, or scope in the policy file). Give the path of a "
                "folder inside the vault.",
                scope=scope,
            )


def _open_index(file: Path) -> Index:
    from obsidian_mcp.adapters import index_database, index_files

    return index_database.open_index(index_files.version_file(file))
