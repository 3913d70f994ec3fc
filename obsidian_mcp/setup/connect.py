"""The ways in which an assistant elsewhere reaches the vault, step by step, for what runs here
(specs/remote.md CONNECT-…).

Nothing is changed: what the steps need, such as a key, is made by who calls this.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlencode

from obsidian_mcp import computer
from obsidian_mcp.config import DEFAULT_PORT
from obsidian_mcp.serve.http.access.public_url import MCP_PATH

ServerState = Literal["absent", "open", "locked", "sign-in"]
"""What answers at the address on this computer: nothing of ours, the server without a key, with
keys, or with keys and a sign-in."""

CLAUDE_FORM: Final = "https://claude.ai/settings/connectors"
CHATGPT_FORM: Final = "https://chatgpt.com/#settings/Connectors"
TUNNELS_PAGE: Final = "https://platform.openai.com/settings/organization/tunnels"
KEYS_PAGE: Final = "https://platform.openai.com/settings/organization/api-keys"
KEY_WORD: Final = "KEY"
"""Stands for the key where none was made."""
_EXAMPLE: Final = "https://notes.example.com"
_EXPOSERS: Final = {
    "tailscale": "tailscale funnel --bg {port}",
    "cloudflared": "cloudflared tunnel --url http://127.0.0.1:{port}   (for a trial)",
    "caddy": "caddy reverse-proxy --from notes.example.com --to 127.0.0.1:{port}",
}
"""Programs that give a server a public address, and the command of each."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way in, as a person goes it."""

    title: str
    steps: tuple[str, ...]
    """Sentences, and commands or addresses in lines of their own behind two spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What runs here, and what is known of the way to it."""

    state: ServerState
    port: int
    public: str = ""
    """Public address of the server; empty where none is known."""
    vault: str = ""
    """How the commands name the vault, such as ` --vault ~/Notes`; empty where they need not."""
    key_name: str = ""
    key: str = ""
    """A key that was just made; empty where none was."""
    exposers: tuple[str, ...] = ()
    """Programs of this computer that give a server a public address."""

    @property
    def address(self) -> str:
        """The address that people enter: the public one, that of an example without one."""
        return f"{self.public or _EXAMPLE}{MCP_PATH}"

    @property
    def local_address(self) -> str:
        """The address for programs of this computer."""
        return f"http://127.0.0.1:{self.port}{MCP_PATH}"

    @property
    def header(self) -> str:
        """The header with the key, or with a word in its place."""
        return f"Authorization: Bearer {self.key or KEY_WORD}"


def look_around(
    *,
    port: int,
    public: str,
    vault: str,
    key_name: str,
    key: str,
    find: Callable[[str], str | None] = shutil.which,
) -> Situation:
    """Return what runs here. `find` returns the path of a program, None where it is absent."""
    return Situation(
        state=find_server(port),
        port=port,
        public=public,
        vault=vault,
        key_name=key_name,
        key=key,
        exposers=tuple(program for program in _EXPOSERS if find(program)),
    )


def find_server(port: int) -> ServerState:
    """Return what answers on this computer at a port."""
    types = {"accept": "application/json", "content-type": "application/json"}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    reply = computer.send_request("POST", f"http://127.0.0.1:{port}{MCP_PATH}", types, message)
    if isinstance(reply, str):
        return "absent"
    status, headers, body = reply
    if status == 200 and body == b'{"jsonrpc":"2.0","id":1,"result":{}}':
        return "open"
    if status != 401 or b"MCP API key" not in body:
        return "absent"
    return "sign-in" if "resource_metadata" in headers.get("www-authenticate", "") else "locked"


def describe_state(situation: Situation) -> str:
    """Return one sentence about what runs here."""
    local = situation.local_address
    match situation.state:
        case "absent":
            return f"No server answers at {local} yet; the steps below start it."
        case "open":
            return (
                f"A server answers at {local} and asks for no key: only this computer reaches it."
            )
        case "locked":
            return f"A server answers at {local} and asks for a key; sign-in is off."
    return f"A server answers at {local}, with keys and sign-in."


def list_ways(assistant: str, situation: Situation) -> list[Way]:
    """Return the ways in for an assistant: `claude`, `chatgpt`, or any other one. The one that
    serves most people is first."""
    ways: Mapping[str, Sequence[Callable[[Situation], Way]]] = {
        "claude": (_claude_sign_in, _claude_key, _claude_code, _claude_here),
        "chatgpt": (_chatgpt_sign_in, _chatgpt_tunnel, _codex_here),
        "other": (_other_sign_in, _other_key, _other_remote, _other_here),
    }
    return [describe_way(situation) for describe_way in ways[assistant]]


# Claude


def _claude_sign_in(situation: Situation) -> Way:
    return Way(
        "claude.ai, its apps and the phone, by sign-in (every plan)",
        (
            *_start(situation, oauth=True),
            "Open this address, press Add, and allow it on the page that comes:",
            f"  {_claude_link(situation)}",
            "The phone then has it, too.",
        ),
    )


def _claude_key(situation: Situation) -> Way:
    return Way(
        "claude.ai, its apps and the phone, by a key (Pro, Max, Team)",
        (
            *_start(situation),
            *_make_key(situation, "claude"),
            "Open this address and add this request header in the form:",
            f"  {_claude_link(situation)}",
            f"  {situation.header}",
            "Where the header does not arrive (it fails for some accounts), take the sign-in.",
        ),
    )


def _claude_code(situation: Situation) -> Way:
    command = (
        f"claude mcp add --transport http obsidian {situation.address} "
        f'--header "{situation.header}"'
    )
    return Way(
        "Claude Code on another computer",
        (*_make_key(situation, "claude"), f"  {command}"),
    )


def _claude_here(situation: Situation) -> Way:
    return Way(
        "Claude Desktop and Claude Code on this computer (no server, no key)",
        (
            f"  obsidian-mcp install claude-desktop{situation.vault}",
            f"  obsidian-mcp install claude-code{situation.vault}",
        ),
    )


def _claude_link(situation: Situation) -> str:
    """Return the address of Claude's form, with name and address filled in."""
    fields = {
        "modal": "add-custom-connector",
        "connectorName": "Obsidian",
        "connectorUrl": situation.address,
    }
    return f"{CLAUDE_FORM}?{urlencode(fields)}"


# ChatGPT


def _chatgpt_sign_in(situation: Situation) -> Way:
    return Way(
        "ChatGPT in the browser and on the phone, by sign-in",
        (
            *_start(situation, oauth=True),
            "Switch on developer mode (Apps and connectors, Advanced settings), press Create:",
            f"  {CHATGPT_FORM}",
            "Enter this address, with OAuth:",
            f"  {situation.address}",
            "ChatGPT sends no header of your own, so that a key alone does not help.",
        ),
    )


def _chatgpt_tunnel(situation: Situation) -> Way:
    key_option = f" --key {situation.key_name}" if situation.key else ""
    init = (
        "tunnel-client init --sample sample_mcp_stdio_local --profile obsidian "
        '--tunnel-id "$CONTROL_PLANE_TUNNEL_ID" '
        f'--mcp-command "obsidian-mcp{situation.vault}{key_option}"'
    )
    return Way(
        "ChatGPT through OpenAI's tunnel (a trial: it failed for some Plus accounts)",
        (
            "No public address and no server: OpenAI's program starts obsidian-mcp itself.",
            "Get the program and a tunnel id, and a key with the right Tunnels: Read and Use:",
            f"  {TUNNELS_PAGE}",
            f"  {KEYS_PAGE}",
            "  export CONTROL_PLANE_TUNNEL_ID=tunnel_… CONTROL_PLANE_API_KEY=sk-…",
            f"  {init}",
            "  tunnel-client doctor --profile obsidian --explain",
            "  tunnel-client run --profile obsidian",
            "While it runs, add the connector in ChatGPT:",
            f"  {CHATGPT_FORM}",
        ),
    )


def _codex_here(situation: Situation) -> Way:
    return Way(
        "Codex on this computer (no server, no key)",
        (f"  obsidian-mcp install codex{situation.vault}",),
    )


# Others


def _other_sign_in(situation: Situation) -> Way:
    return Way(
        "An MCP client that signs in (VS Code, Cursor, the Inspector), anywhere",
        (*_start(situation, oauth=True), "Enter this address:", f"  {situation.address}"),
    )


def _other_key(situation: Situation) -> Way:
    name, _, value = situation.header.partition(": ")
    entry = {"obsidian": {"type": "http", "url": situation.address, "headers": {name: value}}}
    return Way(
        "An MCP client with a header, anywhere",
        (
            *_start(situation),
            *_make_key(situation, "other"),
            *(f"  {line}" for line in json.dumps({"mcpServers": entry}, indent=2).splitlines()),
        ),
    )


def _other_remote(situation: Situation) -> Way:
    return Way(
        "A client that only starts programs, on another computer",
        (
            *_make_key(situation, "other"),
            f'  npx mcp-remote {situation.address} --header "{situation.header}"',
        ),
    )


def _other_here(situation: Situation) -> Way:
    return Way(
        "A client on this computer (no server, no key)",
        (f"  obsidian-mcp install other{situation.vault}",),
    )


# Steps that several ways share


def _start(situation: Situation, *, oauth: bool = False) -> tuple[str, ...]:
    """Return the steps up to a server at a public address; none where it is there."""
    public = situation.public
    steps: list[str] = []
    if not public:
        steps.append("Give this computer a public address (docs/remote.md), and name it below:")
        commands = [_EXPOSERS[program] for program in situation.exposers] or [*_EXPOSERS.values()]
        steps += [f"  {command.format(port=situation.port)}" for command in commands]
    port = "" if situation.port == DEFAULT_PORT else f" --port {situation.port}"
    if oauth and situation.state != "sign-in":
        options = f"--oauth --trusted-proxy --public-url {public or _EXAMPLE}"
        again = "" if situation.state == "absent" else " again"
        steps += [
            f"Start the server{again}, with a sign-in:",
            "  obsidian-mcp http password",
            f"  obsidian-mcp http{situation.vault}{port} {options}",
        ]
    elif situation.state == "absent":
        steps += ["Start the server:", f"  obsidian-mcp http{situation.vault}{port}"]
    if public:
        steps += ["Try the way to it:", f"  obsidian-mcp doctor --public-url {public}"]
    return tuple(steps)


def _make_key(situation: Situation, assistant: str) -> tuple[str, ...]:
    """Return the step that makes a key; none where one was made."""
    if situation.key:
        return ()
    command = f"obsidian-mcp connect {assistant} --add-key --folder FOLDER --read-only"
    return ("Make a key, held to a folder and to reading if you like:", f"  {command}")
