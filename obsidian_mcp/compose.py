"""From a configuration to the App: the only file that names concrete adapters. What opens a vault is imported when one
is opened: the first answers of a server do not wait for it."""

from __future__ import annotations

import gc
import os
import re
import stat
import threading
from contextlib import suppress
from functools import cache, cached_property, partial

from obsidian_mcp import TYPE_CHECKING, install_command, logger

from .app import App, HiddenTextReads
from .config import Config
from .errors import AppError, InvalidArguments, ObsidianNotRunning, PolicyInvalid, VaultNotFound, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Final

    from starlette.applications import Starlette

    from obsidian_mcp.adapters.app_access import AppAccess
    from obsidian_mcp.adapters.disk import Disk
    from obsidian_mcp.adapters.watcher import Watcher
    from obsidian_mcp.core.calendar.clock import Calendar
    from obsidian_mcp.core.files import policy
    from obsidian_mcp.core.files.policy_file import PolicyFile
    from obsidian_mcp.core.files.ports import Changer, Obsidian
    from obsidian_mcp.core.index.index import Index
    from obsidian_mcp.core.index.indexer import Indexer
    from obsidian_mcp.core.semantic.choice import Choice
    from obsidian_mcp.core.semantic.meaning import Embedder, Meaning
    from obsidian_mcp.core.text.vault_path import VaultPath
    from obsidian_mcp.core.vault.vault import Vault
    from obsidian_mcp.serve.http.access.access_control import AccessControl
    from obsidian_mcp.serve.http.access.keys import ApiKey
    from obsidian_mcp.serve.http.access.principal import Limits, Principal
    from obsidian_mcp.serve.http.dialect import Contract

    from .app import Media
    from .contracts.plugin.client import BridgeClient
    from .contracts.rad.tools import Bridge

SEMANTIC_FILE = "semantic.json"
"""In the state folder: which model embeds notes. Without it search by meaning is off."""
OPEN_FILES: Final = 1024
"""Open files that a server may have, where the system allows it. A vault in use takes 12; macOS begins with 256."""


def build(config: Config, *, serving: bool = False) -> App:
    """The App of this process. `serving`: watch the vaults' folders, because more than one question will come. Raises:
    PolicyInvalid, InvalidArguments for an API key that does not exist."""
    principal = principal_of(config)
    if principal is not None:
        config = _limit(config, principal.limits)
    return App(
        vaults=FolderVaults(config, principal, serving=serving),
        config=config,
        media=cache(_load_media),
        read_outside=partial(_read_outside, config),
    )


def _load_media() -> Media:
    from obsidian_mcp.adapters.media_process import MediaProcess

    return MediaProcess()


def _read_outside(config: Config, path: str, most: int) -> bytes:
    from obsidian_mcp.adapters.outside import read_allowed

    return read_allowed(config.import_folders, path, most)


def _allow_open_files() -> None:
    """Raise the limit of this process to OPEN_FILES, or as far as the system allows it (TOOL-19)."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows, which has no such limit

        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 < now < OPEN_FILES and (most < 0 or most > now):  # below 0: without a limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES if most < 0 else min(OPEN_FILES, most), most))


def api_keys(config: Config) -> tuple[ApiKey, ...]:
    """Return the API keys of the policy file. Raises: PolicyInvalid, InvalidArguments for unknown tools of one."""
    from .serve.http.access.keys import read_keys

    keys = read_keys(policy_file(config))
    for key in keys:
        _narrow_tools(config, key.limits)
    return keys


def app_for(app: App, principal: Principal) -> App:
    """Return the App that a principal may use (POL-14); one whose limits leave the vaults as they are shares those of
    `app`. Raises: InvalidArguments for unknown tools."""
    config = _limit(app.config.replace(key=principal.name), principal.limits)
    if principal.limits.narrows_vaults:
        return app.replace(
            config=config,
            vaults=FolderVaults(config, principal, serving=True),
            read_outside=partial(_read_outside, config),
            hidden_text_reads=HiddenTextReads(),
        )
    return app.replace(config=config, hidden_text_reads=HiddenTextReads())


def limit_to_key(config: Config) -> Config:
    """Return the configuration of a process as its API key limits it. Raises: PolicyInvalid, InvalidArguments."""
    principal = principal_of(config)
    return config if principal is None else _limit(config, principal.limits)


def principal_of(config: Config) -> Principal | None:
    """Return to whose limits a process is held: the bearer of the API key that `--key` names; None without one.
    Raises: PolicyInvalid, InvalidArguments for an unknown one."""
    if not config.key:
        return None
    keys = {key.name: key for key in api_keys(config)}
    if config.key not in keys:
        known = f"there are {', '.join(keys)}" if keys else "it has none"
        raise InvalidArguments(f"There is no API key {config.key!r} in '{config.policy_file}'; {known}.")
    return keys[config.key].principal


def _limit(config: Config, limits: Limits) -> Config:
    """Return the configuration of a process that is held to limits. Raises: InvalidArguments."""
    config = config.replace(tools=_narrow_tools(config, limits))
    if limits.narrows_vaults:  # nothing could hold JavaScript in the app to them, and import folders are outside
        read_only = config.read_only or limits.policy.read_only
        config = config.replace(read_only=read_only, named_imports=(), app=config.app.replace(allow_eval=False))
    return config


def _narrow_tools(config: Config, limits: Limits) -> str:
    """Return the profile of the tools that both offer. Raises: InvalidArguments."""
    if not limits.tools:
        return config.tools
    from .tools.entries import narrow  # reads the table of tools, which most commands do without

    return narrow(config.tools, limits.tools)


def policy_text(config: Config) -> str:
    """Return the policy file's text; empty where there is none. Raises: PolicyInvalid where it cannot be read."""
    file = config.policy_file
    if not file.exists():
        return ""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise PolicyInvalid(f"The policy file '{file}' cannot be read: {error}.") from error


def policy_file(config: Config) -> PolicyFile:
    """Return what the policy file says. Raises: PolicyInvalid, also for a mistake in a key: a limit that is not
    understood must not be taken for none."""
    from obsidian_mcp.core.files.policy_file import PolicyFile

    file = PolicyFile(policy_text(config))
    if file.keys:
        from .serve.http.access.keys import read_keys

        read_keys(file)
    return file


def policy_stamp(config: Config) -> object:
    """Return what is another value after each change of the policy file; None where there is none."""
    try:
        found = config.policy_file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def policy_of(config: Config, folder: Path, principal: Principal | None) -> policy.Policy:
    """Return what is allowed in the vault at a folder: by the file, the configuration, and the limits of a principal.
    Raises: PolicyInvalid; PermissionDenied for a scope that is no path inside the vault."""
    from obsidian_mcp.core.files import policy

    has_file = config.policy_file.exists()  # most users have none, and need not import what reads it
    allowed = policy_file(config).policy(folder.name, str(folder)) if has_file else policy.DEFAULT
    allowed = allowed.narrowed(policy.limited_to(config.scope, read_only=config.read_only))
    return allowed if principal is None else allowed.narrowed(principal.limits.policy)


def vault_id(root: Path) -> str:
    """Name of the folder that holds what this program keeps about a vault."""
    import hashlib  # takes 2 ms

    readable = re.sub(r"[^A-Za-z0-9]+", "-", root.name).strip("-")[:40] or "vault"
    return f"{readable}-{hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()}"


def calendar(config: Config) -> Calendar:
    """The clock of this process; a day that is configured without a time begins at midnight. Raises: InvalidArguments
    for a first day of the week that is no weekday."""
    if config.week_start:
        from obsidian_mcp.core.calendar.locale import WEEKDAYS  # with all names of months and days

        if config.week_start not in WEEKDAYS:
            raise InvalidArguments(
                f"OBSIDIAN_MCP_WEEK_START is {config.week_start!r}; it must be one of {', '.join(WEEKDAYS)}."
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
    return AppAccess(app.program, app.environment, folders, assume_running=app.assume_running, timeout=config.timeout)


def plugin(config: Config) -> BridgeClient:
    """The tools of a plugin in the app. Raises: InvalidArguments for an address that cannot be one."""
    from .contracts.plugin.client import BridgeClient

    at = config.plugin
    return BridgeClient(at.host, at.port, mode=at.dialect, api_key=at.key, call_seconds=config.timeout)


def serve_plugin(config: Config, start_log: Callable[[], None] = lambda: None) -> int:
    """Serve the tools of a plugin on stdio, beside those of the vaults that were named; returns the exit status.
    `start_log` is called when the first messages can be answered."""
    from .contracts.plugin import stdio

    config = limit_to_key(config)
    return stdio.run(plugin(config), config, partial(build, config, serving=True), start_log)


def http_access(config: Config) -> AccessControl:
    """Return who may use the HTTP server. Raises: PolicyInvalid, InvalidArguments for keys that cannot be."""
    from .serve.http.access.access_control import AccessControl
    from .serve.http.access.key_ring import KeyRing

    return AccessControl(
        config.http, [KeyRing(config.http.keys, partial(api_keys, config), partial(policy_stamp, config))]
    )


def contracts(
    config: Config, registered: Bridge | None = None, is_locked: Callable[[], bool] = bool
) -> tuple[Contract, ...]:
    """Return the contracts of other programs that the HTTP server mounts, with the tools that were `registered`;
    `is_locked` says whether requests need a key."""
    from .contracts.burly.routes import Burly
    from .contracts.plugin.routes import BridgeContract
    from .contracts.rad import tools
    from .contracts.rad.routes import Rad

    http, complete = config.http, None
    if http.chat_url:
        from obsidian_mcp.adapters.openai_api import Gateway

        complete = Gateway(http.chat_url, http.chat_key, http.chat_model, config.timeout).complete
    return (
        BridgeContract(http.max_body, is_locked),
        Burly(http.max_envelope),
        Rad(http.max_body, tools.built_in(complete), registered),
    )


def http_application(app: App, registered: Bridge | None = None) -> Starlette:
    """Return the HTTP server with MCP and all contracts. Raises: PolicyInvalid, InvalidArguments."""
    from .serve.http.server import application

    access = http_access(app.config)
    mounted = contracts(app.config, registered, lambda: access.is_locked)
    return application(app, access, partial(app_for, app), contracts=mounted)


def serve_http(
    app: App,
    *,
    registered: Bridge | None = None,
    host: str = "127.0.0.1",
    ports: Sequence[int] = (3000,),
    announce: Callable[[str], None] | None = None,
) -> int:
    """Serve MCP and all contracts over HTTP until SIGTERM or SIGINT, and close the vaults; return the exit status.
    `registered`: tools of another program; `announce` gets the URL of each port, without it the log. Raises:
    InvalidArguments for another host than loopback without a key, AppError for a taken port."""
    from .serve.http import server

    starlette = http_application(app, registered)
    app.vaults.warm()
    announce = announce or logger(__name__).info
    try:
        return server.run(starlette, host=host, ports=ports, drain=app.config.timeout + 5, announce=announce)
    finally:
        app.vaults.close()


def explain_missing(folder: Path) -> str:
    """Return what is wrong where the folder of a vault cannot be used; empty where it can."""
    try:
        problem = "" if stat.S_ISDIR(folder.stat().st_mode) else "is not a folder"
    except (FileNotFoundError, NotADirectoryError):
        problem = "does not exist"
    except OSError as error:
        problem = f"cannot be reached ({error.strerror})"
    if not (problem or os.access(folder, os.R_OK | os.X_OK)):
        problem = "may not be read by the account that runs this program"
    if not problem:
        return ""
    advice = (
        _explain_spelling(folder)
        or explain_split(folder)
        or "Check the path given with --vault or in OBSIDIAN_VAULT_PATH; an external or network drive must be "
        "connected, and macOS asks whether a program may read Documents, Desktop and iCloud."
    )
    return f"The vault folder '{shorten(str(folder))}' {problem}. {advice}"


_UNFILLED: Final = r"\$\{?\w+\}?|%\w+%"


def _explain_spelling(folder: Path) -> str:
    """Return what to say of a path that was given in a form that nothing reads; empty for any other."""
    from pathlib import Path

    given = str(folder).removeprefix(f"{Path.cwd()}{os.sep}")
    if given[0] in "\"'" and given[-1] == given[0]:
        return f"Its path was given with quotation marks inside; leave them out: {given[1:-1]}"
    if given[0] == "~":
        account = given[1:].partition(os.sep)[0]
        return f"There is no account {account!r}. Your own home folder is ~/; or give the whole path."
    if unfilled := re.search(_UNFILLED, given):
        return f"The client has not put in a value for {unfilled[0]}; write the whole path."
    return ""


def explain_split(folder: Path) -> str:
    """Return what to say where a path was cut at a space on its way here; empty where nothing points to that."""
    with suppress(OSError):
        for other in sorted(folder.parent.iterdir()):
            if other.name.startswith(f"{folder.name} ") and other.is_dir():
                return (
                    f"There is '{other}': a path with spaces must be one argument, in a configuration file one string "
                    "of args, on a command line in quotation marks."
                )
    return ""


def vault_folders(config: Config) -> dict[str, Path]:
    """Return the folders of the configured vaults, or else of those that the app knows, by the names that tools use;
    the first is the default. Raises: VaultNotFound where there is none."""
    if not all(config.named_vaults):
        raise VaultNotFound(
            "The path of the vault given with --vault is empty. Give its folder, or leave --vault out for the vaults "
            "that Obsidian knows."
        )
    paths = config.vaults
    if not paths:
        from obsidian_mcp.adapters.app_access import registered_vaults

        paths = registered_vaults(config.app_folders)
    if not paths:
        raise VaultNotFound(
            "No vault is configured. Start the server with --vault FOLDER or set OBSIDIAN_VAULT_PATH; "
            "without them the vaults that Obsidian knows are used, and it knows none here."
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
    """Whether a vault has a folder, compared as names are."""
    from obsidian_mcp.core.text.vault_path import name_key

    found: list[str] = [""]
    for part in wanted.split("/"):
        inside = [below for folder in found for below in disk.subfolders(folder) or ()]
        found = [below for below in inside if name_key(below.rpartition("/")[2]) == name_key(part)]
    return bool(found)


def embedding_choice(config: Config) -> Choice | None:
    """Return the model that the user chose for search by meaning, None where it is off. Raises: InvalidArguments for a
    file that cannot be read."""
    file = config.state / SEMANTIC_FILE
    if not file.exists():
        return None
    from obsidian_mcp.core.semantic import choice

    return choice.parse(file.read_bytes())


def embedder(config: Config, choice: Choice) -> Embedder:
    """Return the chosen model. Nothing is loaded yet."""
    if choice.url:
        from obsidian_mcp.adapters.openai_api import EmbeddingEndpoint

        return EmbeddingEndpoint(choice.url, choice.model, config.embeddings_key, config.timeout)
    from pathlib import Path

    from obsidian_mcp.adapters.embedding_model import EmbeddingModel

    return EmbeddingModel(Path(choice.folder))


def _meaning(config: Config, indexer: Indexer, vault: Vault, file: Path, *, is_server: bool) -> Meaning | None:
    """What finds the notes of a vault by their meaning; None where it is off or its packages are not installed."""
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

    def visible() -> list[VaultPath]:
        hides = vault.hides()
        return [entry.path for entry in vault.entries() if not hides(entry.path)]

    meaning = Meaning(indexer, visible, model, vectors, is_patient=not is_server)
    if is_server:
        from obsidian_mcp.adapters.embedding_worker import EmbeddingWorker

        worker = EmbeddingWorker(meaning, file.with_name(f"{file.name}.lock"))
        meaning.stop = worker.stop
        indexer.stored.add(lambda _: worker.wake())
    return meaning


class FolderVaults:
    """The vaults named by the configuration, or else those the Obsidian app knows; opened at first use."""

    def __init__(self, config: Config, principal: Principal | None = None, *, serving: bool) -> None:
        """`principal`: to whose limits the vaults are held."""
        self._config = config
        self._principal = principal
        self._is_server = serving
        if serving:
            _allow_open_files()
        self._watches = serving and config.watch
        self._lock = threading.Lock()
        self._open: dict[Path, Vault] = {}
        self._watchers: list[Watcher] = []
        self._scopes: dict[Path, tuple[VaultPath, ...]] = {}
        self._news = threading.Event()
        self._closed = False

    @cached_property
    def _app(self) -> AppAccess:
        return app_access(self._config)

    @cached_property
    def _configured(self) -> dict[str, Path]:
        """The vaults that the configuration names: those that the app knows may change meanwhile."""
        return vault_folders(self._config) if self._config.named_vaults else {}

    def names(self) -> list[str]:
        return list(self._folders())

    def get(self, name: str = "", *, listed: bool = True) -> Vault:
        folder = self._folder(name)
        if self._config.app.backend == "cli" and not self._app.is_running():
            raise ObsidianNotRunning
        vault = self._open_vault(folder)
        vault.refresh(if_listed=not listed)
        return vault

    def obsidian(self, name: str = "") -> Obsidian:
        return self._app.command(self._folder(name))

    def asks(self) -> bool:
        try:
            return any(policy_of(self._config, folder, self._principal).asks for folder in self._folders().values())
        except AppError:  # a call says what is wrong
            return False

    def has_app(self) -> bool:
        return self._app.is_there()

    def problem(self) -> str:
        try:
            return explain_missing(self._folder(""))
        except AppError as error:
            return error.message

    def warm(self) -> None:
        """Open the default vault and begin its index, in the background, so that the first call finds it ready."""
        threading.Thread(target=self._prepare, name="warm", daemon=True).start()

    def _prepare(self) -> None:
        gc.disable()  # what is made here stays; with 50 000 notes, looking at it took a quarter of the time
        try:
            vault = self._open_vault(self._folder(""))
            vault.refresh()
            if not vault.indexer.is_behind:  # then its background is at work
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
        while not self._news.wait(seconds) and self._reports_all_changes():
            pass  # nothing to look for
        self._news.clear()
        return not self._closed

    def _reports_all_changes(self) -> bool:
        """Whether the system reports every change in the vaults that are open."""
        are_watched = self._watches or not self._open
        return are_watched and all(watcher.mode == "events" for watcher in list(self._watchers))

    def close(self) -> None:
        """Stop every thread and close every file; what is half done is finished first."""
        with self._lock:  # what is being opened is in the lists by then, and nothing is opened any more
            self._closed = True
        self._news.set()
        for watcher in self._watchers:
            watcher.stop()
        for vault in self._open.values():
            vault.close()

    def _folders(self) -> dict[str, Path]:
        """Vault folders by the name under which tools know them, the default first (POL-12, POL-14). Raises:
        VaultNotFound, PolicyInvalid."""
        folders = self._configured or vault_folders(self._config)
        if (principal := self._principal) is not None:
            limits = principal.limits
            opened = {name: folder for name, folder in folders.items() if limits.opens(name, str(folder))}
            if not opened:
                named = ", ".join(map(repr, limits.vaults))
                raise VaultNotFound(
                    f"The API key {principal.name} opens the vaults {named}, which are not served here."
                )
            folders = opened
        if len(folders) == 1:
            return folders  # opening it says what is wrong
        return {name: folder for name, folder in folders.items() if self._holds_scopes(folder)} or folders

    def _holds_scopes(self, folder: Path) -> bool:
        """Whether a vault has the folders to which all vaults are held; True where that cannot be seen."""
        if folder not in self._scopes:
            self._scopes[folder] = policy_of(self._config, folder, self._principal).common_scopes
        scopes = self._scopes[folder]
        if not scopes or not folder.is_dir():
            return True
        from obsidian_mcp.adapters.disk import Disk

        return all(_has_folder(Disk(folder), scope) for scope in scopes)

    def _folder(self, name: str) -> Path:
        folders = self._folders()
        if not name:
            return next(iter(folders.values()))
        from obsidian_mcp.core.text.vault_path import name_key

        wanted = name_key(name.strip())
        match = [path for known, path in folders.items() if wanted in (name_key(known), name_key(str(path)))]
        if not match:
            raise VaultNotFound(
                f"There is no vault {name!r}. The vaults are: {', '.join(map(repr, folders))}.",
                vault=name,
                vaults=list(folders),
            )
        return match[0]

    def _open_vault(self, folder: Path) -> Vault:
        with self._lock:
            if folder not in self._open:
                if missing := explain_missing(folder):
                    raise VaultNotFound(missing, vault=folder.name)
                if self._closed:
                    raise VaultNotFound("The program is ending. Nothing was changed.", vault=folder.name)
                self._open[folder] = self._build_vault(folder)
            return self._open[folder]

    def _build_vault(self, folder: Path) -> Vault:
        """Raises: PolicyInvalid, AppCommandFailed."""
        from obsidian_mcp.adapters.disk import Disk
        from obsidian_mcp.adapters.journal import SqliteJournal
        from obsidian_mcp.core.files.ports import ONE_SHOT
        from obsidian_mcp.core.vault.sync_tree import Scanning
        from obsidian_mcp.core.vault.vault import Vault

        disk = Disk(folder)
        allowed = policy_of(self._config, folder, self._principal)
        for scope in allowed.scopes:
            if not _has_folder(disk, scope):  # an empty vault would be an untrue answer
                raise PolicyInvalid(
                    f"The vault {folder.name!r} has no folder {str(scope)!r}, to which this server is held (--scope, "
                    "OBSIDIAN_MCP_SCOPE, or scope in the policy file). Give the path of a folder inside the vault.",
                    scope=scope,
                )
        through_app, app = self._through_app(folder, disk)
        reported = threading.Event()

        def report() -> None:
            reported.set()
            self._news.set()

        watcher: Watcher | None = None
        if self._watches:
            from obsidian_mcp.adapters.watcher import Watcher

            watcher = Watcher(disk.root, report)
        cache = self._config.cache / vault_id(disk.root)

        def open_index() -> Index:
            from obsidian_mcp.adapters import index_database

            return index_database.open_index(index_database.version_file(cache / f"index{allowed.fingerprint}.sqlite3"))

        def begin_background(indexer: Indexer) -> Meaning | None:
            from obsidian_mcp.adapters.index_workers import NICENESS, IndexWorkers
            from obsidian_mcp.adapters.pdf_reader import PdfReader

            is_server = self._is_server
            indexer.is_patient = not is_server
            look = vault.catch_up if watcher else None
            IndexWorkers(indexer, disk.root, look, reported, NICENESS if is_server else 0).start()
            PdfReader(indexer, disk.root, is_reading=is_server)
            return _meaning(self._config, indexer, vault, cache / f"vectors{allowed.fingerprint}", is_server=is_server)

        journal = SqliteJournal(self._config.state / cache.name, process="" if self._is_server else ONE_SHOT)
        vault = Vault(
            folder.name,
            disk,
            watcher or Scanning(),
            journal,
            open_index,
            allowed,
            app=app,
            through_app=through_app,
            calendar=calendar(self._config),
            begin_background=begin_background,
        )
        # Those who wait for news hear of our own changes at once, also where the system reports none.
        vault.committed.add(lambda _: self._news.set())
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
        if watcher is not None:
            self._watchers.append(watcher)
        return vault

    def _through_app(self, folder: Path, disk: Disk) -> tuple[Changer | None, Obsidian | None]:
        """Who changes the files of a vault in the app's stead, and who answers questions. Raises: AppCommandFailed."""
        backend = self._config.app.backend
        if backend == "files":
            return None, None
        from obsidian_mcp.adapters.app_files import AppFiles

        command = partial(self._app.command, folder)
        if backend == "auto":
            return AppFiles(disk, command, partial(self._app.has_open, folder)), None
        return AppFiles(disk, command), command()
