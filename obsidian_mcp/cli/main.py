"""The command line: every tool is a subcommand, and without one the command is the stdio server (specs/cli.md)."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from obsidian_mcp import __version__, config
from obsidian_mcp.errors import AppError, InternalError, InvalidArguments

from .examples import epilog

if TYPE_CHECKING:
    from obsidian_mcp.core.vault.vault import Vault

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command `obsidian-mcp`; ends the process with the status of specs/cli.md."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """The command as a function: its exit status. Errors are one line on stderr."""
    try:
        status = command.main(list(arguments), prog_name="obsidian-mcp", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except AppError as error:
        print(f"obsidian-mcp: {' '.join(error.message.split())}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:  # the reader of our output has seen enough (`| head`)
        sys.stdout = None  # nothing is left to flush at exit
        return 0
    except Exception as error:  # a person gets one line, whatever happens
        logging.getLogger(__name__).info("this failed", exc_info=True)
        problem = f"internal error, {type(error).__name__}: {' '.join(str(error).split())}"
        print(f"obsidian-mcp: {problem}. With --verbose it says where.", file=sys.stderr)
        return InternalError.exit_status
    return status if isinstance(status, int) else 0


@dataclass(frozen=True, slots=True)
class Asked:
    """Options that stand before the subcommand."""

    vaults: tuple[str, ...]
    read_only: bool
    backend: str = ""
    allow_eval: bool = False

    def config(self) -> config.Config:
        return config.read(self.vaults, read_only=self.read_only, backend=self.backend, allow_eval=self.allow_eval)

    @contextmanager
    def opened(self, vaults: tuple[str, ...] = ()) -> Iterator[Vault]:
        """The first vault asked for, for one command. Raises: VaultNotFound."""
        from obsidian_mcp import compose

        app = compose.build(replace(self, vaults=vaults + self.vaults).config())
        try:
            yield app.vaults.get()
        finally:
            app.vaults.close()


vault_option = click.option("--vault", multiple=True, metavar="DIR", help="Vault folder.")


class ToolCommands(click.Group):
    """A group whose subcommands are the registry's tools, loaded when one is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from obsidian_mcp.tools import TOOLS

        from .setup_commands import COMMANDS

        return [tool.command for tool in TOOLS.values()] + super().list_commands(ctx) + list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from .setup_commands import COMMANDS

        known = super().get_command(ctx, cmd_name) or COMMANDS.get(cmd_name)
        return known if known is not None else tool_command(cmd_name)


@click.group(
    cls=ToolCommands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Examples:  obsidian-mcp --vault ~/Notes  |  obsidian-mcp read Alpha  |  obsidian-mcp search "quick fox"',
)
@click.version_option(__version__, prog_name="obsidian-mcp")
@click.option("--vault", "vaults", multiple=True, metavar="DIR", help="Vault folder; repeat for several.")
@click.option("--read-only", is_flag=True, help="Refuse every change.")
@click.option(
    "--backend",
    type=click.Choice(get_args(config.Backend)),
    help="Who reads and writes notes: this program (files, the default), the running app through its obsidian command "
    "(cli), or the app for writing while it has the vault open (auto).",
)
@click.option("--allow-eval", is_flag=True, help="Let clients run JavaScript in the app.")
@click.option("--verbose", "-v", is_flag=True, help="Log to stderr what the server does.")
@click.pass_context
def command(
    ctx: click.Context, vaults: tuple[str, ...], read_only: bool, backend: str | None, allow_eval: bool, verbose: bool
) -> int | None:
    """Work on Obsidian vaults: an MCP server on stdio without a COMMAND, and a tool with one."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    ctx.obj = Asked(vaults, read_only, backend or "", allow_eval)
    return serve(ctx.obj) if ctx.invoked_subcommand is None else None


@command.command("serve", epilog=epilog("serve"))
@click.pass_obj
def serve_command(asked: Asked) -> int:
    """Serve the vault to one MCP client on stdio (the default)."""
    return serve(asked)


def serve(asked: Asked) -> int:
    import gc

    gc.disable()  # the imports make no garbage worth looking for; `stdio.run` freezes and enables
    from obsidian_mcp import compose
    from obsidian_mcp.serve.stdio import call_handler, handshake
    from obsidian_mcp.serve.stdio import server as stdio

    settings = asked.config()
    if settings.bridge:
        return serve_plugin(settings)
    app = compose.build(settings, serving=True)

    def load() -> stdio.Served:
        from obsidian_mcp.serve.mcp import server as mcp

        server = mcp.build_server(app)
        return stdio.Served(server, server.create_initialization_options(), server.news.close)

    app.vaults.warm()
    first, answered = handshake.finish()
    try:
        return stdio.run(load, call_handler.Desk(app), first=first, answered=answered)
    finally:
        app.vaults.close()


@command.command("bridge", epilog=epilog("bridge"))
@click.option("--host", help="Where the plugin listens.  [default: OBSIDIAN_MCP_HOST, else 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Its port.  [default: OBSIDIAN_MCP_PORT, else 3000]")
@click.pass_obj
def bridge_command(asked: Asked, host: str | None, port: int | None) -> int:
    """Offer a plugin's tools to one MCP client on stdio, and the vault's where --vault names one."""
    settings = asked.config()
    at = settings.plugin
    return serve_plugin(replace(settings, plugin=replace(at, host=host or at.host, port=port or at.port)))


def serve_plugin(settings: config.Config) -> int:
    """Serve the tools of a plugin, beside those of the vaults that were named."""
    from obsidian_mcp import compose
    from obsidian_mcp.serve.stdio import handshake, plugin_bridge
    from obsidian_mcp.serve.stdio import server as stdio

    plugin = compose.plugin(settings)
    app = compose.build(settings, serving=True) if settings.vaults else None
    front = plugin_bridge.build(plugin_bridge.Desk(plugin, settings.timeout), settings, app)
    if app is not None:
        app.vaults.warm()
    first, answered = handshake.finish()
    try:
        served = stdio.Served(front.server, front.options, front.close)
        return stdio.run(lambda: served, first=first, answered=answered, grace=plugin_bridge.GRACE)
    finally:
        if app is not None:
            app.vaults.close()


@command.command("http", epilog=epilog("http"))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need a key.")
@click.option(
    "--port",
    "ports",
    type=click.IntRange(0, 65535),
    multiple=True,
    default=[3000],
    show_default=True,
    help="Port; repeat for several.",
)
@click.option("--allow-origin", "origins", multiple=True, metavar="URL", help="Web page that may call without a key.")
@click.option("--vault", "vaults", multiple=True, metavar="DIR", help="Vault folder; repeat for several.")
@click.pass_obj
def http_command(
    asked: Asked, host: str, ports: tuple[int, ...], origins: tuple[str, ...], vaults: tuple[str, ...]
) -> int:
    """Serve the vault over HTTP: MCP, and the dialects of specs/http.md. Keys: OBSIDIAN_MCP_API_KEY."""
    from obsidian_mcp import compose
    from obsidian_mcp.serve.http import server as http

    settings = replace(asked, vaults=asked.vaults + vaults).config()
    settings = replace(settings, http=replace(settings.http, allow_origins=(*settings.http.allow_origins, *origins)))
    app = compose.build(settings, serving=True)
    app.vaults.warm()
    try:
        return http.run(
            app,
            host=host,
            ports=ports,
            built_in=compose.built_in_tools(settings),
            announce=lambda url: print(f"obsidian-mcp: listening on {url}", file=sys.stderr, flush=True),
        )
    finally:
        app.vaults.close()


@command.group("index")
def index_command() -> None:
    """Look at the index of a vault, or build it anew."""


@index_command.command("status", epilog=epilog("index status"))
@vault_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.pass_obj
def index_status(asked: Asked, vault: tuple[str, ...], as_json: bool) -> None:
    """Where the index is, what it holds and what is missing."""
    with asked.opened(vault) as place:
        place.keeper.begin()
        pending, _ = place.keeper.pending()
        status = place.keeper.index.status()
        facts = {
            "vault": place.name,
            "file": str(status.file) if status.file else "in memory",
            "bytes": status.bytes,
            "files": status.files,
            "pending": len(pending),
            "warnings": status.warnings,
            "rows": dict(status.rows),
        } | ({"problem": status.problem} if status.problem else {})
    write(json.dumps(facts, ensure_ascii=False, indent=2) + "\n" if as_json else readable(facts))


@index_command.command("rebuild", epilog=epilog("index rebuild"))
@vault_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.pass_obj
def index_rebuild(asked: Asked, vault: tuple[str, ...], as_json: bool) -> None:
    """Build the index anew from the files."""
    from obsidian_mcp.core.text import progress

    with asked.opened(vault) as place:
        place.keeper.index.clear()
        place.keeper.begin()
        total = len(place.keeper.pending()[0])
        with click.progressbar(length=total, label="Indexing", file=sys.stderr) as bar:
            progress.current.set(lambda done, _, __: bar.update(done - bar.pos))
            place.keeper.finish()
            bar.update(total - bar.pos)
        facts = {"vault": place.name, "indexed": total}
    write(json.dumps(facts) + "\n" if as_json else f"indexed {total} files of {facts['vault']}\n")


@index_command.command("dump", epilog=epilog("index dump"))
@vault_option
@click.pass_obj
def index_dump(asked: Asked, vault: tuple[str, ...]) -> None:
    """Print what Obsidian's metadata cache would hold: files, resolvedLinks, unresolvedLinks, as JSON."""
    from obsidian_mcp.core.vault.dump import dump

    with asked.opened(vault) as place:
        write(json.dumps(dump(place), ensure_ascii=False) + "\n")


def tool_command(name: str) -> click.Command | None:
    """The subcommand of a tool: required arguments are positional, or else the first one; the others are options."""
    from obsidian_mcp.tools import TOOLS

    tool = next((tool for tool in TOOLS.values() if tool.command == name), None)
    if tool is None:
        return None
    parameters: list[click.Parameter] = []
    members = tool.model.model_fields
    chief = next(iter(members)) if not any(field.is_required() for field in members.values()) else ""
    for key, field in members.items():
        kind, multiple = click_type(field.annotation)
        if field.is_required():
            parameters.append(click.Argument([key], type=kind))
        elif key == chief != "vault":  # `list Projects`, `undo 3`: what the command is about needs no option
            parameters.append(click.Argument([key], type=kind, required=False, default=field.default))
        elif kind is click.BOOL:
            flag = f"--{key.replace('_', '-')}"
            names = [f"{flag}/--no-{flag[2:]}" if field.default else flag, key]
            parameters.append(click.Option(names, is_flag=True, default=field.default, help=field.description))
        else:
            parameters.append(
                click.Option(
                    [f"--{key.replace('_', '-')}", key],
                    type=kind,
                    multiple=multiple,
                    default=None if multiple else field.default,
                    show_default=field.default not in ("", None),
                    help=help_of(key, field.description),
                )
            )
    parameters.append(click.Option(["--json", "as_json"], is_flag=True, help="Print the answer as JSON."))
    return click.Command(
        name, params=parameters, callback=runner(tool.name), help=tool.description, epilog=epilog(name)
    )


def help_of(key: str, description: str | None) -> str | None:
    if key == "vault":
        return "Vault folder, or the name of a known vault"
    return f"{description}; - reads standard input" if key == "content" else description


def click_type(annotation: Any) -> tuple[click.ParamType[Any], bool]:
    """The type of an option, and whether it may be given several times."""
    if get_origin(annotation) is Literal:
        return click.Choice([str(choice) for choice in get_args(annotation)]), False
    if get_origin(annotation) is list:
        return click.STRING, True
    simple: Mapping[Any, click.ParamType[Any]] = {bool: click.BOOL, int: click.INT, float: click.FLOAT}
    return simple.get(annotation, click.STRING), False


def runner(name: str) -> Callable[..., None]:
    @click.pass_obj
    def execute(asked: Asked, /, as_json: bool, **given: Any) -> None:
        from obsidian_mcp import compose
        from obsidian_mcp.tools import call

        from . import progress as bar

        arguments: dict[str, Any] = {
            key: list(value) if isinstance(value, tuple) else value for key, value in given.items()
        }
        arguments = {key: value for key, value in arguments.items() if value not in ([], None)}
        if arguments.get("content") == "-":
            arguments["content"] = standard_input()
        named = arguments.get("vault", "")
        if named and (Path(named).expanduser().is_dir() or os.sep in named):  # a folder, not a known vault's name
            asked, arguments["vault"] = replace(asked, vaults=(named,)), ""
        settings = asked.config()
        app = compose.build(settings)
        try:
            with bar.shown():
                outcome = call(app, name, arguments)
        finally:
            app.vaults.close()
        if as_json:
            data = outcome.whole() if outcome.text is None else {**outcome.data, "content": outcome.text}
            write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
        elif outcome.picture is not None and not sys.stdout.isatty():
            sys.stdout.flush()
            sys.stdout.buffer.write(outcome.picture.image)
            sys.stdout.buffer.flush()
        elif outcome.text is not None:
            write(outcome.text)
        elif name == "obsidian_search":
            write_hits(outcome.result, arguments, colours=settings.colours)
        else:
            write(readable(outcome.data, outcome.result))

    return execute


def standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArguments(f"Standard input is not UTF-8 (byte {error.start}). Convert it first.") from error


def write(text: str) -> None:
    """UTF-8 with line ends as they are, whatever the system's habits."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def write_hits(found: Any, arguments: Mapping[str, Any], *, colours: bool) -> None:
    """What a search found. In a pipe only files and lines go to stdout, and remarks to stderr."""
    from . import render

    terminal = sys.stdout.isatty()
    screen = render.Screen(shutil.get_terminal_size().columns, colours) if terminal else None
    paths_only = arguments.get("paths_only", False) and not terminal
    listed = render.listing(found, arguments["query"], screen, paths_only=paths_only)
    said = render.remarks(found, arguments.get("offset", 0))
    if terminal and os.name == "nt":  # click knows the consoles that take no colours
        click.echo(f"{listed}{said}", nl=False)
    elif terminal:
        write(f"{listed}{said}")
    else:
        write(listed)
        sys.stdout.flush()
        print(said, end="", file=sys.stderr)


def readable(data: Mapping[str, Any], result: object = None, indent: str = "") -> str:
    """Data for a person: `key: value` lines, lists as lines of their own. `result` is what the data were made from."""
    lines = []
    for key, value in data.items():
        source = getattr(result, key, None)
        if isinstance(value, Mapping):
            lines.append(f"{indent}{key}:\n{readable(value, source, indent + '  ')}")
        elif isinstance(value, list):
            named = _not_always_there(source)
            lines.append(f"{indent}{key}:\n" + "".join(f"{indent}  {_row(item, named)}\n" for item in value))
        elif isinstance(value, str) and "\n" in value:
            lines.append(f"{indent}{key}:\n" + "".join(f"{indent}  {line}\n" for line in value.splitlines()))
        else:
            lines.append(f"{indent}{key}: {_scalar(value)}\n")
    return "".join(lines)


def _not_always_there(rows: object) -> frozenset[str]:
    """The columns that a row may be without: a bare number among them would not say what it is."""
    first = rows[0] if isinstance(rows, list | tuple) and rows else None
    return frozenset(
        field.name for field in (fields(first) if is_dataclass(first) else ()) if str(field.type).endswith("| None")
    )


def _row(item: Any, named: frozenset[str] = frozenset()) -> str:
    if isinstance(item, Mapping):
        return "  ".join(
            f"{key.replace('_', ' ')} {_scalar(value)}" if key in named and isinstance(value, int) else _row(value)
            for key, value in item.items()
        )
    return ", ".join(map(_row, item)) if isinstance(item, list) else _scalar(item)


def _scalar(value: Any) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
