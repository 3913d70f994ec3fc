"""Commands that serve a plugin's tools on stdio, or the vaults over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from obsidian_mcp import TYPE_CHECKING, compose
from obsidian_mcp.config import DEFAULT_PORT
from obsidian_mcp.errors import InvalidArguments

from .options import Options
from .stdout import write_answer

if TYPE_CHECKING:
    from obsidian_mcp.config import Config


def bridge(options: Options, *, host: str = "", port: int = 0) -> int:
    """Offer a plugin's tools to one MCP client on stdio, and the vault's where --vault names
    one."""
    settings = options.config()
    plugin = settings.plugin
    plugin = plugin.replace(host=host or plugin.host, port=port or plugin.port)
    return compose.serve_plugin(settings.replace(plugin=plugin))


def http(
    options: Options,
    *,
    host: str = "127.0.0.1",
    port: Sequence[int] = (DEFAULT_PORT,),
    allow_origin: Sequence[str] = (),
    open_bridge: bool = False,
    oauth: bool = False,
    public_url: str = "",
    trusted_proxy: bool = False,
    vault: Sequence[str] = (),
) -> int:
    """Serve the vault over HTTP: MCP, and the dialects of specs/http.md. Raises:
    InvalidArguments."""
    from obsidian_mcp.setup.console_parts import console_parts

    settings = options.with_vaults(tuple(vault)).config()
    http = settings.http
    public_url = public_url or http.public_url
    if oauth and not public_url:
        public_url = _local_address(port[0])
    settings = settings.replace(
        http=http.replace(
            allow_origins=(*http.allow_origins, *allow_origin),
            open_bridge=open_bridge,
            oauth=oauth,
            public_url=public_url,
            trusted_proxy=trusted_proxy,
        )
    )
    if settings.key:
        raise InvalidArguments(
            "Over HTTP every request has the limits of the key that it carries; leave --key out."
        )
    addresses: list[str] = []

    def print_address(url: str) -> None:
        addresses.append(url)
        _tell(f"listening on {url}")
        if oauth and len(addresses) == len(port):
            _tell_how_to_sign_in(settings)

    return compose.serve_http(
        compose.build(settings, serving=True),
        host=host,
        ports=port,
        announce=print_address,
        tell=_tell,
        parts=console_parts(),
    )


def _tell_how_to_sign_in(settings: Config) -> None:
    """Say which address people enter into their apps, and how the owner shows who it is."""
    from obsidian_mcp.serve.http.access.oauth.password import SETTING
    from obsidian_mcp.serve.http.access.public_url import MCP_PATH, read_public_url

    http = settings.http
    store = compose.grant_store(settings)
    has_password = bool(http.oauth_password or store.setting(SETTING))
    store.close()
    instruction = (
        "you give your password"
        if has_password
        else "you give a code that is printed here (`obsidian-mcp http password` sets a password)"
    )
    _tell(f"apps sign in at {read_public_url(http.public_url)}{MCP_PATH}; {instruction}")


def _local_address(port: int) -> str:
    """Return the address under which programs of this computer can sign in, and say that others
    cannot. Raises: InvalidArguments for a port that is not known yet."""
    if not port:
        raise InvalidArguments(
            "Programs that sign in need an address that stays. Give --public-url "
            "https://notes.example.com, or a --port."
        )
    address = f"http://127.0.0.1:{port}"
    _tell(
        f"programs of this computer can sign in at {address}/mcp. claude.ai, ChatGPT and phones "
        "cannot come in without --public-url."
    )
    return address


def _tell(line: str) -> None:
    print(f"obsidian-mcp: {line}", file=sys.stderr, flush=True)


def set_password(options: Options, *, json: bool = False) -> None:
    """Ask for the password with which the owner signs in, and keep its hash. Raises:
    InvalidArguments."""
    import getpass

    from obsidian_mcp.serve.http.access.oauth.password import SETTING, check_password, hash_password

    if sys.stdin is not None and sys.stdin.isatty():
        password = getpass.getpass("New password (12 characters or more): ", stream=sys.stderr)
        check_password(password)
        if getpass.getpass("Once more: ", stream=sys.stderr) != password:
            raise InvalidArguments("The two are not the same. Nothing was changed.")
    else:
        password = "" if sys.stdin is None else sys.stdin.readline().rstrip("\r\n")
    store = compose.grant_store(options.config())
    store.set_setting(SETTING, hash_password(password))
    store.close()
    report = (
        "The password is set, and a running server takes it from now on. What is connected stays "
        "connected: `obsidian-mcp keys` lists it.\n"
    )
    write_answer({"password": "set"}, report, as_json=json)
