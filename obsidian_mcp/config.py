"""What the command line and the environment ask of a process.

This is the only reader of the environment: everything else asks a `Config`, so that a test, or a
server for another principal, changes one value of a copy and nothing global.
"""

from __future__ import annotations

import os
import sys

from obsidian_mcp import TYPE_CHECKING

from .environment import (
    choose_word,
    fixed_day,
    is_on,
    setting_list,
    setting_number,
    setting_text,
    setting_url,
    timeout_seconds,
)
from .errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any, Final, Literal, Self

    ErrorStyle = Literal["error", "result"]
    Views = Literal["auto", "on", "off"]
    Backend = Literal["files", "cli", "auto"]
    PluginDialect = Literal["auto", "mcp", "v1"]


DEFAULT_PORT: Final = 3000
"""Of the HTTP server, and of the plugin in the app, whose place it can take."""


class Secret(str):
    """A key, which no log shows."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Secret()"


class Immutable:
    """Values that are copied with changes. Named tuples would be compiled at every start, and
    import `typing`."""

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other values of these names. Raises: TypeError for a name that there
        is not."""
        if unknown := changes.keys() - vars(self).keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(unknown)}")
        copy = object.__new__(type(self))
        vars(copy).update(vars(self), **changes)
        return copy


class HttpConfig(Immutable):
    """Access and limits of the HTTP server (specs/http.md)."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Raises: InvalidArguments."""
        # `BURLYMCP_API_KEY` is contract 001's own name for the key and counts beside ours.
        keys = (*setting_list(env, "OBSIDIAN_MCP_API_KEY"), *setting_list(env, "BURLYMCP_API_KEY"))
        self.keys: Final[tuple[str, ...]] = tuple(map(Secret, dict.fromkeys(keys)))
        """Keys without a name or limits. Any of them opens; several, so that one can be replaced
        while clients still use it."""
        self.allow_origins: Final = setting_list(env, "OBSIDIAN_MCP_ALLOW_ORIGIN")
        """Web pages, such as https://notes.example.com, that may call a server without a key."""
        self.oauth: Final = False
        """Let programs sign in (specs/remote.md). Only the command line sets it."""
        self.trusted_proxy: Final = False
        """Take the address of a client from X-Forwarded-For, where a proxy of this machine writes
        it. Only the command line sets it."""
        self.oauth_password: Final = Secret(env.get("OBSIDIAN_MCP_OAUTH_PASSWORD", ""))
        """With which the owner signs in; empty = the one of `http password`, or a code."""
        self.access_seconds: Final = setting_number(
            env, "OBSIDIAN_MCP_OAUTH_ACCESS_SECONDS", 28_800, 1
        )
        """Life of an access token."""
        self.refresh_grace: Final = setting_number(env, "OBSIDIAN_MCP_OAUTH_REFRESH_GRACE", 120, 0)
        """Seconds for which a spent refresh token gives further tokens."""
        self.fetches_documents: Final = env.get("OBSIDIAN_MCP_OAUTH_FETCH", "1") != "0"
        """Whether the documents in which programs describe themselves are fetched."""
        self.open_bridge: Final = False
        """Accept calls from this machine to /bridge/v1 without a key, because the original bridge
        sends none. No variable sets it: only the command line does, through `replace`."""
        self.max_body: Final = setting_number(env, "OBSIDIAN_MCP_MAX_BODY", 1_048_576, 1024)
        """Bytes of a request body (contract 000: 1 MiB)."""
        self.max_envelope: Final = setting_number(env, "OBSIDIAN_MCP_MAX_ENVELOPE", 10_240, 1024)
        """Bytes of a request body in the dialect of contract 001."""
        self.rate_limit: Final = setting_number(env, "OBSIDIAN_MCP_RATE_LIMIT", 0, 0)
        """Requests per minute from one address; 0 = no limit."""
        self.public_url: Final = setting_url(env, "OBSIDIAN_MCP_PUBLIC_URL")
        """Address of the server itself as other computers reach it, such as
        https://notes.example.com, as the user wrote it (`access.public_url` reads it); empty = it
        is reached from this computer only."""
        self.notes_url: Final = setting_url(env, "OBSIDIAN_MCP_NOTES_URL")
        """Address below which the notes are published, for the profile `research`; empty = they are
        not."""
        self.challenge: Final = setting_text(env, "OPENAI_CHALLENGE")
        """Token with which OpenAI checks who owns the address of the server; empty = none."""
        self.chat_url: Final = setting_url(env, "OBSIDIAN_MCP_CHAT_URL")
        """Base URL of an OpenAI-compatible gateway, such as https://api.example.com/v1, for the
        tool `chat` of contract 004; empty = none."""
        self.chat_key: Final = Secret(env.get("OBSIDIAN_MCP_CHAT_KEY", ""))
        self.chat_model: Final = setting_text(env, "CHAT_MODEL") or "gpt-4o-mini"
        """Where a call names none."""


class AppConfig(Immutable):
    """How the running app is reached (specs/obsidian-command.md)."""

    def __init__(self, env: Mapping[str, str], backend: str, *, allow_eval: bool) -> None:
        """Raises: InvalidArguments."""
        self.backend: Final[Backend] = choose_word(
            "The backend",
            backend or setting_text(env, "BACKEND") or "files",
            "files",
            "cli",
            "auto",
        )
        """Who reads and writes notes: this program, the app, or the app for writing while it has
        the vault open."""
        self.program: Final = setting_text(env, "CLI")
        """The `obsidian` command; empty = where the app puts it."""
        self.assume_running: Final = is_on(env, "OBSIDIAN_MCP_ASSUME_RUNNING")
        """Do not look for the app's process: it runs where this program cannot see it."""
        self.allow_eval: Final = allow_eval or is_on(env, "OBSIDIAN_MCP_ALLOW_EVAL")
        """Whether a client may run JavaScript in the app."""
        self.environment: Final[Mapping[str, str]] = env
        """Of this process; the command gets it."""


class PluginConfig(Immutable):
    """Where a plugin offers tools of its own (specs/bridge.md)."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Raises: InvalidArguments."""
        port = setting_text(env, "PORT") or str(DEFAULT_PORT)
        if not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
            raise InvalidArguments(
                f"OBSIDIAN_MCP_PORT is {port!r}; it must be a port, a number from 1 to 65535."
            )
        self.host: Final = setting_text(env, "HOST") or "127.0.0.1"
        self.port: Final = int(port)
        self.dialect: Final[PluginDialect] = choose_word(
            "OBSIDIAN_MCP_TRANSPORT", setting_text(env, "TRANSPORT") or "auto", "auto", "mcp", "v1"
        )
        self.key: Final = Secret(next(iter(setting_list(env, "OBSIDIAN_MCP_API_KEY")), ""))


class FoldersConfig(Immutable):
    """The folders that this program uses.

    Paths are made when they are asked for, because `pathlib` takes 3 ms: the first answer of a
    server does without.
    """

    def __init__(self, env: Mapping[str, str], vaults: tuple[str, ...]) -> None:
        named = tuple(vaults) or tuple(
            part for part in (env.get("OBSIDIAN_VAULT_PATH", ""),) if part.strip()
        )
        self.named_vaults: Final = tuple(_with_home(folder.strip()) for folder in named)
        """Vault folders as named by the user; empty = the vaults that the Obsidian app has
        registered."""
        self.named_cache: Final = env.get("OBSIDIAN_MCP_CACHE", "")
        self.named_state: Final = env.get("OBSIDIAN_MCP_STATE", "")
        self.named_policy: Final = env.get("OBSIDIAN_MCP_POLICY", "")
        """These three as the environment names them; empty = the program's own in the home
        folder."""
        self.rules: Final = setting_text(env, "RULES")
        """Path of the note with the owner's rules, where the vault has no AGENTS.md (MEM-30)."""
        # loading pathlib takes 3 ms
        home = env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")  # noqa: PTH111
        self.named_app_folders: Final = _app_folders(env, home, sys.platform)
        """Folders that may hold the app's `obsidian.json`, likeliest first (semantics 6.1)."""
        self.named_imports: Final = tuple(
            filter(None, env.get("OBSIDIAN_MCP_IMPORT", "").split(os.pathsep))
        )
        """Folders whose files may be added to a vault as attachments; none unless the user names
        some."""

    @property
    def has_vault(self) -> bool:
        """Return whether the default vault is named and is a readable folder.

        The path is tested with a separator at its end, which makes the test fail for a file."""
        named = self.named_vaults
        if not named or not all(named):
            return False
        return os.access(os.path.join(named[0], ""), os.R_OK | os.X_OK)  # noqa: PTH118

    @property
    def may_have_rules(self) -> bool:
        """Return whether the default vault may have rules of its owner; that of the app may."""
        named = self.named_vaults
        names = ("AGENTS.md", "CLAUDE.md", *([self.rules] if self.rules else ()))
        return not named or any(
            os.access(os.path.join(named[0], name), os.R_OK)  # noqa: PTH118
            for name in names
        )

    @property
    def vaults(self) -> tuple[Path, ...]:
        return _paths(self.named_vaults)

    @property
    def app_folders(self) -> tuple[Path, ...]:
        return _paths(self.named_app_folders)

    @property
    def import_folders(self) -> tuple[Path, ...]:
        return _paths(self.named_imports)

    @property
    def cache(self) -> Path:
        """Folder of the program's own index files; losing it costs only time. Raises:
        InvalidArguments for an account without a home folder, as the two others do."""
        return _own_path(self.named_cache, "user_cache_path")

    @property
    def state(self) -> Path:
        """Folder of the journals: old versions of what was changed."""
        return _own_path(self.named_state, "user_state_path")

    @property
    def policy_file(self) -> Path:
        """What the user allows (specs/policy.md); need not exist."""
        return _own_path(self.named_policy, "user_config_path", "policy.toml")

    def require_folders(self) -> None:
        """Raises: InvalidArguments for an account without a home folder where folders of it are
        needed."""
        _ = self.cache, self.state, self.policy_file  # reading a property raises


class CommandOptions(Immutable):
    """What the command line says of a process beside its vaults: the options before a command.

    They win over the environment. The command line adds the vaults, because there these may also
    be names that the Obsidian app knows.
    """

    def __init__(
        self,
        *,
        read_only: bool = False,
        backend: str = "",
        allow_eval: bool = False,
        tools: str = "",
        scope: str = "",
        key: str = "",
    ) -> None:
        self.read_only: Final = read_only
        self.backend: Final = backend
        self.allow_eval: Final = allow_eval
        self.tools: Final = tools
        self.scope: Final = scope
        self.key: Final = key


class Config(FoldersConfig):
    """Everything that the command line and the environment ask for."""

    def __init__(
        self,
        vaults: tuple[str, ...] = (),
        environ: Mapping[str, str] | None = None,
        options: CommandOptions | None = None,
    ) -> None:
        """Read the configuration of this process; options win over the environment. Raises:
        InvalidArguments."""
        env = dict(os.environ) if environ is None else environ
        options = options or CommandOptions()
        super().__init__(env, vaults)
        self.timeout: Final = timeout_seconds(env.get("OBSIDIAN_MCP_TIMEOUT", "30"))
        """Seconds one tool call may take (contract: -32006 after 30 s)."""
        self.error_style: Final[ErrorStyle] = choose_word(
            "OBSIDIAN_MCP_ERRORS", setting_text(env, "ERRORS") or "error", "error", "result"
        )
        """How stdio sends application errors: JSON-RPC errors, or `isError` results."""
        self.embeddings_key: Final = Secret(setting_text(env, "EMBEDDINGS_KEY"))
        """Of the endpoint that embeds notes, where it needs one."""
        self.read_only: Final = options.read_only or is_on(env, "OBSIDIAN_MCP_READ_ONLY")
        self.scope: Final = options.scope or setting_text(env, "SCOPE")
        """Folder of the vault outside which nothing exists for the tools (POL-10); empty = the
        whole vault."""
        self.hidden: Final = setting_list(env, "OBSIDIAN_MCP_HIDDEN")
        """Patterns of files that do not exist for the tools, as in the policy file (POL-20)."""
        self.confirms_deleting: Final = is_on(env, "OBSIDIAN_MCP_CONFIRM_DELETE")
        """Whether a person must confirm before a file is deleted (POL-20)."""
        self.key: Final = options.key
        """Name of the API key of the policy file to whose limits this process is held (POL-14);
        empty = none."""
        self.tools: Final = options.tools or setting_text(env, "TOOLS") or "all"
        """Tools that are offered: core, standard, all, research, or names with commas between
        (TOOL-16)."""
        self.views: Final[Views] = choose_word(
            "OBSIDIAN_MCP_VIEWS", setting_text(env, "VIEWS") or "auto", "auto", "on", "off"
        )
        """Whether the tools of views are listed: for every client, for none, or for those that show
        views (VIEW-03)."""
        self.watch: Final = env.get("OBSIDIAN_MCP_WATCH", "1") != "0"
        """Whether the server watches the vault's folder for changes by other programs."""
        self.http: Final = HttpConfig(env)
        self.app: Final = AppConfig(env, options.backend, allow_eval=options.allow_eval)
        self.plugin: Final = PluginConfig(env)
        self.bridge: Final = any(setting_text(env, name) for name in ("HOST", "PORT", "TRANSPORT"))
        """Offer the plugin's tools."""
        self.today: Final = fixed_day(setting_text(env, "TODAY"))
        """ISO date, or date and time, that replaces the clock in tests; empty = use the clock."""
        self.language: Final = setting_text(env, "LOCALE")
        """Tag of the language that names and counts dates, such as `en-gb`; empty = what the
        vault's settings say."""
        self.week_start: Final = setting_text(env, "WEEK_START").lower()
        """First day of the week, such as `monday`; empty = what the vault's settings say."""
        self.memories: Final = setting_text(env, "MEMORIES")
        """Note and heading to which memories are added (MEM-43); empty = the daily note."""
        self.validity: Final = setting_text(env, "VALIDITY")
        """Names of what says that something holds no longer (MEM-02); empty = the usual ones."""
        self.colours: Final = not env.get("NO_COLOR") and env.get("TERM") != "dumb"
        """Whether a terminal is sent colours."""


def _own_path(named: str, folder: str, file: str = "") -> Path:
    """Return the path that a variable names, else ours in one of the home's folders. Raises:
    InvalidArguments where there is none."""
    if named:
        return expand_home(named)
    from contextlib import suppress

    import platformdirs  # takes 10 ms, which nothing before the first call waits for

    # Without a home folder, platformdirs 4.12 and later raises; older ones return a path with `~`.
    with suppress(RuntimeError):
        own: Path = getattr(platformdirs, folder)("obsidian-mcp", appauthor=False)
        if own.is_absolute():
            return own / file
    raise InvalidArguments(
        "This account has no home folder. Set HOME to a folder, or name folders in "
        "OBSIDIAN_MCP_CACHE and OBSIDIAN_MCP_STATE and a file in OBSIDIAN_MCP_POLICY."
    )


def _paths(named: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the paths that have these names, each once."""
    from pathlib import Path

    return tuple(dict.fromkeys(map(Path, named)))


def expand_home(path: str) -> Path:
    """Return a path with `~` as the home folder."""
    from pathlib import Path

    return Path(_with_home(path))


def _with_home(path: str) -> str:
    """Return a path with `~` or `~name` replaced by that account's home folder.

    As in a shell, `~name` stays if no account has that name. The folder is tested because Windows
    invents a path for an unknown account. (`Path.expanduser` raises for one, and loading `pathlib`
    takes 3 ms.)
    """
    account = path.replace(os.sep, "/").partition("/")[0]
    home = os.path.expanduser(account)  # noqa: PTH111
    if account[:1] == "~" and account != "~" and not os.path.isdir(home):  # noqa: PTH112
        return path
    return os.path.expanduser(path)  # noqa: PTH111


def _app_folders(env: Mapping[str, str], home: str, platform: str) -> tuple[str, ...]:
    if platform == "darwin":
        return (f"{home}/Library/Application Support/obsidian",)
    if platform == "win32":
        roaming = env.get("APPDATA")
        return (f"{roaming}\\Obsidian", f"{roaming}\\obsidian") if roaming else ()
    return (
        f"{env.get('XDG_CONFIG_HOME') or f'{home}/.config'}/obsidian",
        f"{home}/.var/app/md.obsidian.Obsidian/config/obsidian",
        f"{home}/snap/obsidian/current/.config/obsidian",
    )
