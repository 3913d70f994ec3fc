"""From a configuration to the App and its servers. What opens a vault is imported when one is
opened: the first answers of a server do not wait for it.

With `vault_builder` and `computer` this is the only file that names concrete adapters.
"""

from __future__ import annotations

from contextlib import closing, suppress
from functools import cache, partial

from obsidian_mcp import TYPE_CHECKING, logger

from .app import App, HiddenTextReads
from .config import DEFAULT_PORT, Config
from .errors import InvalidArguments
from .vault_builder import FolderBuilder
from .vaults import FolderVaults

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Final

    from starlette.applications import Starlette

    from obsidian_mcp.adapters.grant_store import GrantStore
    from obsidian_mcp.serve.http.access.access_control import AccessControl
    from obsidian_mcp.serve.http.access.oauth.page_texts import VaultChoice
    from obsidian_mcp.serve.http.access.oauth.sign_in import SignIn
    from obsidian_mcp.serve.http.access.principal import Principal
    from obsidian_mcp.serve.http.console.console import Console
    from obsidian_mcp.serve.http.console.owner_sign_in import OwnerSignIn
    from obsidian_mcp.serve.http.console.part import Part
    from obsidian_mcp.serve.http.console.sessions import ConsoleSessions
    from obsidian_mcp.serve.http.dialect import Contract

    from .app import Media
    from .contracts.plugin.client import BridgeClient
    from .contracts.rad.tools import Bridge

OPEN_FILES: Final = 1024
"""Open files that a server may have, where the system allows it. A vault in use takes 12; macOS
begins with 256."""


def build(config: Config, *, serving: bool = False) -> App:
    """Return the App of this process. `serving`: watch the vaults' folders, because more than one
    question will come. Raises: PolicyInvalid, InvalidArguments for an API key that does not
    exist."""
    principal = None
    if config.key:
        from .policies import limit_to_key, principal_of

        principal, config = principal_of(config), limit_to_key(config)
    return App(
        vaults=_vaults(config, principal, serving=serving),
        config=config,
        media=cache(_load_media),
        read_outside=partial(_read_outside, config, principal),
    )


def _vaults(config: Config, principal: Principal | None, *, serving: bool) -> FolderVaults:
    if serving:
        _allow_open_files()
    builder = FolderBuilder(config, principal, is_server=serving)
    return FolderVaults(builder, config, principal, watches=builder.watches)


def _load_media() -> Media:
    from obsidian_mcp.adapters.media_process import MediaProcess

    return MediaProcess()


def _read_outside(config: Config, principal: Principal | None, path: str, most: int) -> bytes:
    from obsidian_mcp.adapters.app_access import registered_vaults
    from obsidian_mcp.adapters.outside import OutsideFiles

    from .policies import policy_of
    from .vault_builder import vault_folders

    def visibility_tests() -> dict[Path, Callable[[str], bool]]:
        folders = {*vault_folders(config).values(), *registered_vaults(config.app_folders)}
        return {folder: policy_of(config, folder, principal).is_visible for folder in folders}

    own = (config.state, config.cache, config.policy_file)
    return OutsideFiles(config.import_folders, visibility_tests, own).read_outside_file(path, most)


def _allow_open_files() -> None:
    """Raise the limit of this process to OPEN_FILES, or as far as the system allows it
    (TOOL-19)."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows, which has no such limit

        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 < now < OPEN_FILES and (most < 0 or most > now):  # below 0: without a limit
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (OPEN_FILES if most < 0 else min(OPEN_FILES, most), most)
            )


def app_for(app: App, principal: Principal, peer: App | None = None) -> App:
    """Return the App that a principal may use (POL-14); one whose limits leave the vaults as they
    are shares those of `app`. `peer`: of a principal with equal limits, whose vaults it shares.
    Raises: InvalidArguments for unknown tools."""
    from .policies import limit_config

    config = limit_config(app.config.replace(key=principal.name), principal.limits)
    if peer is not None:
        return peer.replace(config=config, hidden_text_reads=HiddenTextReads())
    if principal.limits.narrows_vaults:
        return app.replace(
            config=config,
            vaults=_vaults(config, principal, serving=True),
            read_outside=partial(_read_outside, config, principal),
            hidden_text_reads=HiddenTextReads(),
        )
    return app.replace(config=config, hidden_text_reads=HiddenTextReads())


def plugin(config: Config) -> BridgeClient:
    """Return the tools of a plugin in the app. Raises: InvalidArguments for an address that cannot
    be one."""
    from .contracts.plugin.client import BridgeClient

    at = config.plugin
    return BridgeClient(
        at.host, at.port, mode=at.dialect, api_key=at.key, call_seconds=config.timeout
    )


def serve_plugin(config: Config, start_log: Callable[[], None] = lambda: None) -> int:
    """Serve the tools of a plugin on stdio, beside those of the vaults that were named; returns the
    exit status. `start_log` is called when the first messages can be answered."""
    from .contracts.plugin import stdio
    from .policies import limit_to_key

    config = limit_to_key(config)
    return stdio.serve_bridge(
        plugin(config), config, partial(build, config, serving=True), start_log
    )


def grant_store(config: Config) -> GrantStore:
    """Return where the grants of programs that signed in are kept; opened at the first use."""
    from obsidian_mcp.adapters.grant_store import GrantStore

    return GrantStore(config.state / "access" / "grants.db")


def sign_in(app: App, announce: Callable[[str], None]) -> SignIn:
    """Return the sign-in of a server (specs/remote.md); `announce` prints a line for the owner.

    Raises: InvalidArguments for a public address that cannot be one, and with an open bridge.
    """
    import time

    from obsidian_mcp.adapters.client_documents import ClientDocuments

    from .policies import api_keys
    from .serve.http.access.oauth.issuer import Lives
    from .serve.http.access.oauth.sign_in import OwnerPorts, SignIn, SignInSettings
    from .serve.http.access.oauth.sign_in_log import show_events

    config, http = app.config, app.config.http
    if http.open_bridge:
        raise InvalidArguments(
            "--open-bridge lets programs in without a key, --oauth nobody. Leave one of them out."
        )
    show_events()
    settings = SignInSettings(
        public=http.public_url,
        is_read_only=config.read_only,
        password=http.oauth_password,
        lives=Lives(access=http.access_seconds, grace=http.refresh_grace),
    )
    ports = OwnerPorts(
        list_vaults=partial(_vault_choices, app),
        list_key_names=lambda: [key.name for key in api_keys(config)],
        announce=announce,
        fetch=ClientDocuments().fetch if http.fetches_documents else None,
        clock=time.time,
    )
    return SignIn(settings, grant_store(config), ports)


def _vault_choices(app: App) -> list[VaultChoice]:
    """Return what the owner can open to a program: the vaults, and their folders as far as a page
    can list them, the upper ones first. Raises: AppError."""
    from .serve.http.access.oauth.page_texts import MOST_FOLDERS, VaultChoice
    from .vault_builder import vault_folders

    paths = vault_folders(app.config)
    choices = []
    for name in app.vaults.names():
        folders = sorted(
            app.vaults.get(name).catalog.folders.paths, key=lambda path: (path.count("/"), path)
        )
        choices.append(VaultChoice(name, str(paths[name]), sorted(folders[:MOST_FOLDERS])))
    return choices


def http_access(config: Config, way_in: SignIn | None = None) -> AccessControl:
    """Return who may use the HTTP server. Raises: PolicyInvalid, InvalidArguments for keys that
    cannot be."""
    from .policies import api_keys, policy_stamp
    from .serve.http.access.access_control import AccessControl
    from .serve.http.access.key_ring import KeyRing
    from .serve.http.access.last_use import LastUses

    keys = KeyRing(
        config.http.keys,
        partial(api_keys, config),
        partial(policy_stamp, config),
        LastUses(grant_store(config).note_key_use),
    )
    if way_in is None:
        return AccessControl(config.http, [keys])
    return AccessControl(config.http, [way_in.source, keys], way_in.challenge)


def contracts(
    config: Config, registered: Bridge | None = None, is_locked: Callable[[], bool] = bool
) -> tuple[Contract, ...]:
    """Return the contracts of other programs that the HTTP server mounts, with the tools that were
    `registered`; `is_locked` says whether requests need a key."""
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
        Rad(http.max_body, tools.own_registry(complete), registered),
    )


def http_application(
    app: App,
    registered: Bridge | None = None,
    tell: Callable[[str], None] | None = None,
    parts: Sequence[Part] = (),
) -> Starlette:
    """Return the HTTP server with MCP and all contracts; `tell` prints a line for the owner,
    without it the log. With `parts`, it has a console. Raises: PolicyInvalid, InvalidArguments for
    a profile without tools, for keys and for a public address that cannot be."""
    from .serve.http.server import application
    from .tools.offer import Offer

    tell = tell or logger(__name__).warning
    Offer(app.config, dict)  # else the first request would say what is wrong with the profile
    way_in = None
    if app.config.http.oauth:
        from .serve.http.access.public_url import read_public_url

        http = app.config.http.replace(public_url=read_public_url(app.config.http.public_url))
        app = app.replace(config=app.config.replace(http=http))
        way_in = sign_in(app, tell)
    access = http_access(app.config, way_in)
    mounted = contracts(app.config, registered, lambda: access.is_locked)
    return application(
        app,
        access,
        partial(app_for, app),
        contracts=mounted,
        pages=(
            *(() if way_in is None else way_in.pages),
            *([_console(app, parts, way_in, tell)] if parts else ()),
        ),
        upkeep=way_in,
    )


def _console(
    app: App, parts: Sequence[Part], way_in: SignIn | None, tell: Callable[[str], None]
) -> Console:
    """Return the console of an HTTP server, which the owner opens with the password or a code that
    `tell` prints (UI-08)."""
    import time

    from .serve.http.console.console import Console
    from .serve.http.console.sessions import ConsoleSessions

    public = "" if way_in is None else way_in.public
    ask = cache(partial(_owner_sign_in, app.config, way_in, tell))
    return Console(app, parts, ConsoleSessions(time.monotonic), ask, public)


def _owner_sign_in(
    config: Config, way_in: SignIn | None, tell: Callable[[str], None]
) -> OwnerSignIn:
    """Return what asks who the owner is; where programs sign in, wrong guesses count for both."""
    import time

    from .serve.http.access.oauth.attempts import GuessLimit
    from .serve.http.access.oauth.form_ticket import TicketOffice
    from .serve.http.access.oauth.owner_check import OwnerCheck
    from .serve.http.access.oauth.password import SETTING
    from .serve.http.console.owner_sign_in import OwnerSignIn

    def read_password_hash() -> str:
        with closing(grant_store(config)) as store:
            return store.setting(SETTING)

    if way_in is not None:
        is_secure = way_in.public.startswith("https://")
        return OwnerSignIn(way_in.owner.office, way_in.owner.check, time.time, is_secure=is_secure)
    office, guesses = TicketOffice(time.time), GuessLimit(time.time)
    check = OwnerCheck(office, read_password_hash, guesses, tell, config.http.oauth_password)
    return OwnerSignIn(office, check, time.time, is_secure=False)


def console_alone(app: App, parts: Sequence[Part]) -> tuple[Starlette, ConsoleSessions]:
    """Return a server of the console alone, with these parts in its navigation, and what makes
    tokens that open it."""
    import time

    from .serve.http.access.access_control import AccessControl
    from .serve.http.console.console import Console
    from .serve.http.console.sessions import ConsoleSessions
    from .serve.http.server import pages_application

    sessions = ConsoleSessions(time.monotonic)
    page = Console(app, parts, sessions)
    return pages_application(app, AccessControl(app.config.http, []), [page]), sessions


def serve_console(
    app: App, parts: Sequence[Part], *, port: int, show: Callable[[str], None]
) -> int:
    """Serve the console on this computer until SIGTERM or SIGINT; return the exit status.

    `show` gets an address that opens it once, when it can be opened. Raises: AppError for a taken
    port.
    """
    from .serve.http import server
    from .serve.http.console.page import opening_address

    starlette, sessions = console_alone(app, parts)
    app.vaults.warm()
    try:
        return server.run_http_server(
            starlette,
            ports=[port],
            drain=app.config.timeout + 5,
            announce=lambda url: show(opening_address(url, sessions.make_token())),
        )
    finally:
        app.vaults.close()


def serve_http(
    app: App,
    *,
    registered: Bridge | None = None,
    host: str = "127.0.0.1",
    ports: Sequence[int] = (DEFAULT_PORT,),
    announce: Callable[[str], None] | None = None,
    tell: Callable[[str], None] | None = None,
    parts: Sequence[Part] = (),
) -> int:
    """Serve MCP and all contracts over HTTP until SIGTERM or SIGINT, and close the vaults; return
    the exit status.

    `registered`: tools of another program; `announce` gets the URL of each port, `tell` what the
    owner must read; without them the log does. `parts`: of the console. Raises: InvalidArguments
    for another host than loopback without a key, AppError for a taken port."""
    from .serve.http import server

    starlette = http_application(app, registered, tell, parts)
    app.vaults.warm()
    announce = announce or logger(__name__).info
    try:
        return server.run_http_server(
            starlette, host=host, ports=ports, drain=app.config.timeout + 5, announce=announce
        )
    finally:
        app.vaults.close()
