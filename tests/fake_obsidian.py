"""A stand-in for the `obsidian` command: works on a real vault folder and has the real one's moods.

Run as `python -I -S tests/fake_obsidian.py [vault=NAME] COMMAND [key=value …] [flag …]`. The environment variable
FAKE_OBSIDIAN names a JSON file of knobs, all optional but `vault`:

  vault, name, id     folder, display name ("Notes") and id of the one vault that the app knows
  log                 file that gets one JSON line a call: argv, cwd, env, stdin (true: closed or empty)
  only                commands that the moods below are limited to
  down                "exit": status 1 and the sentence on stderr; "stdout": the sentence on stdout, status 0;
                      "gui": nothing at all, status 0 (the app's own binary, or an old installer)
  disabled            the command line interface is switched off
  denied              a sandbox keeps the program from the app's socket
  cold                number of calls that a vault which is not open yet answers with "Command … not found"
  cold_hint           how such an answer goes on: "plugin" (default) or "mean"
  noise               where the installer's lines go: list of "stdout", "stderr"
  crlf, blank         the noise has CRLF and a leading one; an empty line stands before every answer
  line_end            false: nothing is printed behind an answer (default: a line end)
  status              exit status although stdout is right
  crash               exit status with no output and nothing done; below 0: killed by that signal
  mute                done, but nothing printed
  hang, hold          never ends, nor does a grandchild which keeps the FIFO `hold` open for writing
  slow                seconds before the answer
  type_error          the JavaScript error of a path outside the vault
  damage              characters at chunks' ends are replaced by U+FFFD (macOS)
  mangle              what becomes of a text that is written: "trim", "first_line", "crlf" or "nothing" (is not written)
  cut                 stdout ends after this many bytes
  limit               longest argument in bytes; a longer one crashes the app: no output, status 0 (default 4096)
  race                {path: text} that another program writes just before `create` does
  answers             {command: text} printed as it is
  arrow               the arrow of Moved and Renamed ("->")
  daily, sync, history {path: [texts]}, commands, plugins [{id, name, version, enabled}], evals {code: value}, console
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

TYPE_CHECKING = False  # nothing is imported that most calls do not need: tests start this hundreds of times
if TYPE_CHECKING:
    from typing import Any

DOWN = "The CLI is unable to find Obsidian. Please make sure Obsidian is running and try again."
DISABLED = "Command line interface is not enabled. Please turn it on in Settings > General > Advanced."
NOISE = (
    "2026-01-01 09:30:00 Loading updated app package /home/user/.config/obsidian/obsidian-1.12.7.asar",
    "Your Obsidian installer is out of date. Please download the latest installer from https://obsidian.md/download.",
)
TRAVERSAL = "TypeError: Cannot read properties of null (reading 'getParentPrefix')"
NO_FILE = "No active file. Use file=<name> or path=<path> to specify a file."
LINK = re.compile(r"\[\[([^\]|#\n]+)[^\]\n]*\]\]")


def command_line() -> tuple[str, ...]:
    """What starts this program: compiled, as the import of this module has left it, where Python keeps that."""
    from importlib.util import cache_from_source

    compiled = cache_from_source(__file__)
    is_kept = Path(compiled).exists() and not sys.dont_write_bytecode
    return (sys.executable, "-I", "-S", compiled if is_kept else __file__)


class Refusal(Exception):
    """Printed as `Error: …`."""


class Vault:
    def __init__(self, root: Path) -> None:
        self.root = root

    def files(self) -> list[str]:
        found = [
            path.relative_to(self.root).as_posix()
            for path in self.root.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(self.root).parts)
        ]
        return sorted(found, reverse=True)  # "index order": not what anybody expects

    def notes(self) -> list[str]:
        return sorted(path for path in self.files() if path.endswith(".md"))

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode("utf-8", "replace")

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    @cached_property
    def by_length(self) -> list[str]:
        """The files as links find them, listed once: a call asks for the targets of every link, and changes none."""
        return sorted(self.files(), key=len)

    def link_target(self, link: str) -> str | None:
        name = link if link.lower().endswith(".md") or "." in link.rpartition("/")[2] else f"{link}.md"
        for path in self.by_length:
            if path == name or path.rpartition("/")[2].lower() == name.lower():
                return path
        return None

    def links(self, path: str) -> list[str]:
        return [match[1].strip() for match in LINK.finditer(self.text(path))] if path.endswith(".md") else []


class Call:
    """One command line: parameters with `\\n` and `\\t` expanded, flags, and the answer's text."""

    def __init__(self, knobs: dict[str, Any], arguments: list[str]) -> None:
        self.knobs = knobs
        self.vault = Vault(Path(knobs["vault"]))
        self.parameters: dict[str, str] = {}
        self.flags: set[str] = set()
        self.command = ""
        for argument in arguments:
            key, equals, value = argument.partition("=")
            if equals and re.fullmatch(r"[A-Za-z]+", key):
                self.parameters[key] = value.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
            elif not self.command:
                self.command = argument
            else:
                self.flags.add(argument)

    @property
    def is_json(self) -> bool:
        return self.parameters.get("format") == "json"

    def need(self, key: str) -> str:
        value = self.parameters.get(key, "")
        if not value:
            raise Refusal(f"Missing required parameter: {key}=<{key}>\nUsage: {self.command} {key}=<{key}>")
        return value

    @property
    def idles(self) -> bool:
        """Says that it did something, and did nothing."""
        return self.knobs.get("mangle") == "nothing"

    def content(self) -> str:
        text = self.parameters.get("content", "")
        match self.knobs.get("mangle"):
            case "trim":
                return text.strip()
            case "first_line":
                return text.partition("\n")[0]
            case "crlf":
                return text.replace("\n", "\r\n")
        return text

    def write(self, path: str, text: str) -> None:
        if not self.idles:
            self.vault.write(path, text)

    def file(self) -> str:
        """The file meant by path= or file=."""
        if path := self.parameters.get("path"):
            if (self.vault.root / path).is_dir():
                raise Refusal(f'"{path}" is a folder, not a file.')
            if path not in self.vault.files():
                raise Refusal(f'File "{path}" not found.')
            return path
        if name := self.parameters.get("file"):
            found = self.vault.link_target(name)
            if found is None:
                raise Refusal(f'File "{name}" not found.')
            return found
        raise Refusal(NO_FILE)

    def note(self) -> str:
        path = self.file()
        if not path.endswith(".md"):
            raise Refusal("File is not a markdown file.")
        return path

    def listed(self, lines: list[str], what: str) -> str:
        if "total" in self.flags:
            return str(len(lines))
        return "\n".join(lines) or f"No {what} found."

    def rows(self, rows: list[dict[str, Any]], what: str) -> str:
        """Every value of a table is a string, numbers too."""
        if not rows:
            return f"No {what} found."
        if self.is_json:
            return json.dumps([{key: str(value) for key, value in row.items()} for row in rows], ensure_ascii=False)
        return "\n".join("\t".join(map(str, row.values())) for row in rows)


# Files


def read(call: Call) -> str:
    return call.vault.text(call.file())


def file(call: Call) -> str:
    path = call.file()
    stat = (call.vault.root / path).stat()
    name, _, extension = path.rpartition("/")[2].rpartition(".")
    fields = {
        "path": path,
        "name": name,
        "extension": extension,
        "size": stat.st_size,
        "created": int(stat.st_mtime * 1000),
        "modified": int(stat.st_mtime * 1000),
    }
    return "\n".join(f"{key}\t{value}" for key, value in fields.items())


def files(call: Call) -> str:
    folder, extension = call.parameters.get("folder", "").rstrip("/"), call.parameters.get("ext", "")
    paths = [
        path
        for path in call.vault.files()
        if (not folder or path.startswith(f"{folder}/")) and (not extension or path.endswith(f".{extension}"))
    ]
    return str(len(paths)) if "total" in call.flags else "\n".join(paths)


def folders(call: Call) -> str:
    found = sorted({path.rpartition("/")[0] or "/" for path in call.vault.files()} | {"/"})
    return call.listed(found, "folders")


def create(call: Call) -> str:
    for path, text in call.knobs.get("race", {}).items():
        call.vault.write(path, text)
    path = call.parameters.get("path") or call.parameters.get("name") or "Untitled"
    if path.startswith("/") or ".." in path.split("/"):
        (call.vault.root / path).parent.mkdir(parents=True, exist_ok=True)
        raise TypeError(TRAVERSAL)
    stem = path.removesuffix(".md")
    target, number = f"{stem}.md", 0
    existed = (call.vault.root / target).exists()
    if existed and not ("overwrite" in call.flags and (call.vault.root / target).is_file()):
        while (call.vault.root / target).exists():
            number += 1
            target = f"{stem} {number}.md"
    call.write(target, call.content())
    return f"{'Overwrote' if existed and 'overwrite' in call.flags else 'Created'}: {target}"


def append(call: Call) -> str:
    path = call.file()
    return _append(call, path)


def _append(call: Call, path: str) -> str:
    call.need("content")
    content, old = call.content(), call.vault.text(path) if (call.vault.root / path).exists() else ""
    between = "" if "inline" in call.flags or not old or old.endswith("\n") else "\n"
    call.write(path, old + between + content)
    return f"Appended to: {path}"


def _rename(call: Call, verb: str, path: str, target: str) -> str:
    if (call.vault.root / target).exists():
        raise Refusal("Destination file already exists!")
    if not (call.vault.root / target).parent.is_dir():
        raise Refusal(f"ENOENT: no such file or directory, rename '{path}' -> '{target}'")
    if not call.idles:
        (call.vault.root / path).rename(call.vault.root / target)
    return f"{verb}: {path} {call.knobs.get('arrow', '->')} {target}"


def move(call: Call) -> str:
    path, to = call.file(), call.need("to").rstrip("/")
    leaf = path.rpartition("/")[2]
    return _rename(call, "Moved", path, to if "." in to else f"{to}/{leaf}".lstrip("/"))


def delete(call: Call) -> str:
    path = call.file()
    if call.idles:
        return f"Moved to trash: {path}" if "permanent" not in call.flags else f"Deleted permanently: {path}"
    if "permanent" in call.flags:
        (call.vault.root / path).unlink()
        return f"Deleted permanently: {path}"
    trash = call.vault.root / ".trash" / path
    trash.parent.mkdir(parents=True, exist_ok=True)
    (call.vault.root / path).replace(trash)
    return f"Moved to trash: {path}"


def open_file(call: Call) -> str:
    return f"Opened: {call.file()}"


# Daily note and history


def daily_path(call: Call) -> str:
    return str(call.knobs.get("daily", "Daily/2026-01-01.md"))


def daily_read(call: Call) -> str:
    path = daily_path(call)
    if not (call.vault.root / path).exists():
        call.vault.write(path, "")
    return call.vault.text(path)


def history(call: Call) -> str:
    versions = call.knobs.get("history", {}).get(call.file(), [])
    lines = [f"{number}\t2026-01-01 09:{number:02}\t{len(text)} B" for number, text in enumerate(versions, 1)]
    return call.listed(lines, "history")


def history_read(call: Call) -> str:
    path, number = call.file(), int(call.parameters.get("version", "1"))
    versions = call.knobs.get("history", {}).get(path, [])
    if not 0 < number <= len(versions):
        raise Refusal(f"Version {number} not found.")
    return str(versions[number - 1])


# Questions


def search(call: Call) -> str:
    found = _matches(call)
    if "total" in call.flags:
        return str(len(found))
    if not found:
        return "No matches found."
    return json.dumps(list(found), ensure_ascii=False) if call.is_json else "\n".join(found)


def _matches(call: Call) -> dict[str, list[tuple[int, str]]]:
    fold = str if "case" in call.flags else str.lower
    words, folder = fold(call.need("query")).split(), call.parameters.get("path", "")
    found: dict[str, list[tuple[int, str]]] = {}
    for path in call.vault.notes():
        text = call.vault.text(path)
        if (not folder or path.startswith(f"{folder}/")) and all(word in fold(f"{path}\n{text}") for word in words):
            lines = enumerate(text.split("\n"), 1)
            found[path] = [(number, line.strip()) for number, line in lines if any(w in fold(line) for w in words)]
    limit = int(call.parameters.get("limit", "0"))
    return dict(list(found.items())[: limit if limit > 0 else None])


def links(call: Call) -> str:
    path = call.file()
    targets = {call.vault.link_target(link) or f"{link} (unresolved)" for link in call.vault.links(path)}
    return call.listed(sorted(targets), "links")


def backlinks(call: Call) -> str:
    path, counts = call.file(), {}
    for note in call.vault.notes():
        if count := sum(call.vault.link_target(link) == path for link in call.vault.links(note)):
            counts[note] = count
    if "counts" in call.flags:
        return call.rows([{"file": note, "count": count} for note, count in counts.items()], "backlinks")
    return call.rows([{"file": note} for note in counts], "backlinks")


def unresolved(call: Call) -> str:
    sources: dict[str, list[str]] = {}
    for note in call.vault.notes():
        for link in call.vault.links(note):
            if call.vault.link_target(link) is None:
                sources.setdefault(link, []).append(note)
    return call.rows(
        [
            {"link": link, "count": len(notes), "sources": ", ".join(dict.fromkeys(notes))}
            for link, notes in sorted(sources.items())
        ],
        "unresolved links",
    )


def orphans(call: Call) -> str:
    linked = {call.vault.link_target(link) for note in call.vault.notes() for link in call.vault.links(note)}
    return call.listed([path for path in call.vault.files() if path not in linked], "orphans")


def deadends(call: Call) -> str:
    dead = [p for p in call.vault.files() if not any(call.vault.link_target(link) for link in call.vault.links(p))]
    return call.listed(dead, "dead-ends")


# The app


def version(call: Call) -> str:
    return "1.12.7 (installer 1.12.7)"


def vault(call: Call) -> str:
    paths = call.vault.files()
    fields = {
        "name": call.knobs.get("name", "Notes"),
        "path": str(call.vault.root),
        "files": len(paths),
        "folders": len({path.rpartition("/")[0] for path in paths}),
        "size": sum((call.vault.root / path).stat().st_size for path in paths),
    }
    if (info := call.parameters.get("info")) in fields:
        return str(fields[str(info)])
    return "\n".join(f"{key}\t{value}" for key, value in fields.items())


def vaults(call: Call) -> str:
    name = call.knobs.get("name", "Notes")
    return f"{name}\t{call.vault.root}" if "verbose" in call.flags else str(name)


def commands(call: Call) -> str:
    known = call.knobs.get("commands", ["app:reload", "daily-notes", "editor:toggle-bold"])
    return call.listed([name for name in known if name.startswith(call.parameters.get("filter", ""))], "commands")


def command(call: Call) -> str:
    identifier = call.need("id")
    if identifier not in commands(Call(call.knobs, ["commands"])).split("\n"):
        return f'Command "{identifier}" not found.'
    return f"Executed: {identifier}"


def plugins(call: Call) -> str:
    known = call.knobs.get("plugins", [{"id": "dataview", "name": "Dataview", "version": "0.5.67", "enabled": True}])
    rows = [dict(row) for row in known if row.get("enabled") or call.command == "plugins"]
    for row in rows:
        row.pop("enabled", None)
        if "versions" not in call.flags:
            row.pop("version", None)
    return call.rows(rows, "plugins")


def sync_status(call: Call) -> str:
    return str(call.knobs.get("sync", "Status: synced\nRemote vault: Notes"))


def evaluate(call: Call) -> str:
    code = call.need("code")
    if wrapped := re.fullmatch(r'\(0,eval\)\(decodeURIComponent\("(.*)"\)\)', code):
        code = unquote(wrapped[1])
    evals = call.knobs.get("evals", {"app.vault.getFiles().length": str(len(call.vault.files()))})
    if code not in evals:
        raise ReferenceError(f"ReferenceError: {code} is not defined")
    return "\n".join([*call.knobs.get("console", []), f"=> {evals[code]}"])


COMMANDS = {
    "read": read,
    "file": file,
    "files": files,
    "folders": folders,
    "create": create,
    "append": append,
    "move": move,
    "delete": delete,
    "open": open_file,
    "daily:path": daily_path,
    "daily:read": daily_read,
    "history": history,
    "history:read": history_read,
    "search": search,
    "links": links,
    "backlinks": backlinks,
    "unresolved": unresolved,
    "orphans": orphans,
    "deadends": deadends,
    "version": version,
    "vault": vault,
    "vaults": vaults,
    "commands": commands,
    "command": command,
    "plugins": plugins,
    "plugins:enabled": plugins,
    "sync:status": sync_status,
    "eval": evaluate,
}


def answer(call: Call) -> str:
    """What the app prints for a call that reached it."""
    wanted = call.parameters.pop("vault", None)
    if wanted is not None and wanted not in (call.knobs.get("name", "Notes"), call.knobs.get("id", "")):
        return "Vault not found."
    if call.command in call.knobs.get("answers", {}):
        return str(call.knobs["answers"][call.command])
    handler = COMMANDS.get(call.command)
    if handler is None:
        return f'Error: Command "{call.command}" not found. It may require a plugin to be enabled.'
    try:
        return handler(call)
    except Refusal as refusal:
        return f"Error: {refusal}"
    except (TypeError, ReferenceError) as error:
        return str(error)


def hang(knobs: dict[str, Any]) -> None:
    if hold := knobs.get("hold"):
        import subprocess

        code = "import sys, time; held = open(sys.argv[1], 'w'); held.write('x'); held.flush(); time.sleep(600)"
        subprocess.Popen([sys.executable, "-I", "-S", "-c", code, hold])  # keeps our stdout and stderr open as well
    time.sleep(600)


def framed(text: str, knobs: dict[str, Any]) -> bytes:
    """The answer as it stands on stdout."""
    body = text.encode()
    if knobs.get("damage"):
        body = b"\xef\xbf\xbd".join(body[at : at + 8192] for at in range(0, len(body), 8192))
    noise = b""
    if "stdout" in knobs.get("noise", []):
        end = "\r\n" if knobs.get("crlf") else "\n"
        noise = ("\r\n" if knobs.get("crlf") else "").encode() + "".join(line + end for line in NOISE).encode()
    printed = noise + (b"\n" if knobs.get("blank") else b"") + body + (b"\n" if knobs.get("line_end", True) else b"")
    return printed[: knobs.get("cut")]


class Printed:
    def __init__(self, stdout: bytes, stderr: str, status: int) -> None:
        """A status below 0: killed by that signal."""
        self.stdout, self.stderr, self.status = stdout, stderr, status


def unreached(knobs: dict[str, Any], arguments: list[str]) -> Printed | None:
    """The moods in which nothing reaches the app; None to go on."""
    if down := knobs.get("down"):
        stdout = f"{DOWN}\n".encode() if down == "stdout" else b""
        return Printed(stdout, DOWN if down == "exit" else "", 1 if down == "exit" else 0)
    if knobs.get("denied"):
        return Printed(b"", "Error: connect EPERM /run/user/1000/.obsidian-cli.sock", 1)
    if "crash" in knobs:
        return Printed(b"", "", int(knobs["crash"]))
    if any(len(json.dumps(a, ensure_ascii=False).encode()) > knobs.get("limit", 4096) for a in arguments):
        return Printed(b"", "", 0)
    return None


def in_force(knobs: dict[str, Any], command: str) -> dict[str, Any]:
    """The knobs that count for this command."""
    if "only" not in knobs or command in knobs["only"]:
        return knobs
    return {
        key: value for key, value in knobs.items() if key in ("vault", "name", "id", "history", "line_end", "blank")
    }


def respond(knobs: dict[str, Any], arguments: list[str], earlier: int) -> Printed:
    """What a call prints that comes after `earlier` others, `hang` and `slow` apart."""
    call = Call(knobs, arguments)
    knobs = call.knobs = in_force(knobs, call.command)
    printed = unreached(knobs, arguments)
    if printed is not None:
        return printed
    if knobs.get("disabled"):
        text = DISABLED
    elif earlier < knobs.get("cold", 0):
        hint = (
            "Did you mean: sync:read?" if knobs.get("cold_hint") == "mean" else "It may require a plugin to be enabled."
        )
        text = f'Error: Command "{call.command}" not found. {hint}'
    else:
        text = TRAVERSAL if knobs.get("type_error") else answer(call)
    stderr = "\n".join(NOISE) if "stderr" in knobs.get("noise", []) else ""
    return Printed(b"" if knobs.get("mute") else framed(text, knobs), stderr, int(knobs.get("status", 0)))


def counted(knob_file: Path) -> int:
    """How many calls came before this one."""
    counter = knob_file.with_suffix(".calls")
    calls = int(counter.read_text(encoding="utf-8")) if counter.exists() else 0
    counter.write_text(str(calls + 1), encoding="utf-8")
    return calls


def main(arguments: list[str]) -> int:
    knob_file = Path(os.environ["FAKE_OBSIDIAN"])
    knobs: dict[str, Any] = json.loads(knob_file.read_text(encoding="utf-8"))
    if log := knobs.get("log"):
        seen = {"argv": arguments, "cwd": str(Path.cwd()), "env": dict(os.environ), "stdin": os.read(0, 1) == b""}
        with Path(log).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(seen) + "\n")
    forced = in_force(knobs, Call(knobs, arguments).command)
    time.sleep(forced.get("slow", 0))
    if forced.get("hang"):
        hang(forced)
    printed = respond(knobs, arguments, counted(knob_file) if knobs.get("cold") else 0)
    if printed.stderr:
        print(printed.stderr, file=sys.stderr)
    sys.stdout.buffer.write(printed.stdout)
    sys.stdout.buffer.flush()
    if printed.status < 0:
        os.kill(os.getpid(), -printed.status)
    return printed.status


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
