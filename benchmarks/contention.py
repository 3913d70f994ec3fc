"""Three servers and another program on one vault: how long calls take, and whether a line is lost.

    python -m benchmarks.contention [SECONDS]

Every client reads, searches, appends, sets properties and moves notes as fast as the server answers; the other program
appends 200 lines a second. The targets: 99 of 100 calls within 100 ms, the slowest within 500 ms, no line lost
(specs/safety.md, SAFE-08, SAFE-22). `wait` and `fsync` tell how noisy the machine and its disk are meanwhile.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.serve.raw import Message, RawServer

FOLDERS = 10
NOTES = 100
"""In every folder; only the first USED of them are changed, so that calls meet."""
USED = 20
NOTE = "---\nstatus: a\n---\n# Note\nsome words here #tag [[n{0}x{1}]]\n" * 3
TOOLS = {"read": 5.0, "append": 5.0, "search": 2.0, "property": 2.0, "links": 1.0, "tags": 1.0, "move": 0.3}


class Contention:
    def __init__(self, root: Path, seconds: float) -> None:
        self.root, self.seconds = root, seconds
        self.times: dict[str, list[float]] = defaultdict(list)
        self.written: set[str] = set()
        self.ready = threading.Barrier(5)
        self.end = 0.0

    def run(self) -> None:
        beside = self.root.parent
        own = {"OBSIDIAN_MCP_CACHE": str(beside / "cache"), "OBSIDIAN_MCP_STATE": str(beside / "state")}
        servers = [
            RawServer([sys.executable, "-m", "obsidian_mcp", "--vault", str(self.root)], env=own) for _ in range(3)
        ]
        threads = [threading.Thread(target=self.client, args=(server, who)) for who, server in enumerate(servers)]
        threads += [threading.Thread(target=work) for work in (self.other_program, self.noise)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for server in servers:
            with server:
                server.close_stdin()
                server.wait()

    def started(self) -> None:
        if self.ready.wait() == 0:
            self.end = time.monotonic() + self.seconds
        self.ready.wait()

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.times[kind].append(time.perf_counter() - begun)

    def client(self, server: RawServer, who: int) -> None:
        rng = random.Random(who)  # noqa: S311  not for secrets
        server.initialize()
        question = {"name": "obsidian_graph", "arguments": {"question": "unresolved"}}
        while '"note"' in server.call("tools/call", question)["result"]["content"][0]["text"]:
            pass  # the index is still being built
        self.started()
        number = 0
        while time.monotonic() < self.end:
            number += 1
            (kind,) = rng.choices(list(TOOLS), list(TOOLS.values()))
            line = f"server {who} line {number}"
            request = self.request(rng, kind, line)
            with self.timed(kind):
                answer = server.call("tools/call", request)
            if kind == "append" and "result" in answer:
                self.written.add(line)

    def request(self, rng: random.Random, kind: str, line: str) -> Message:
        name = f"n{rng.randrange(FOLDERS)}x{rng.randrange(USED)}"
        tool, arguments = {
            "read": ("read_note", {"name": name}),
            "append": ("edit_note", {"name": name, "operation": "append", "content": line}),
            "search": ("search", {"query": f"words {rng.randrange(9)}"}),
            "property": ("properties", {"name": name, "property": "p", "action": "set", "value": line}),
            "links": ("get_links", {"name": name}),
            "tags": ("tags", {"tag": "tag"}),
            "move": ("move_note", {"name": name, "to": f"/F{rng.randrange(FOLDERS)}/"}),
        }[kind]
        return {"name": f"obsidian_{tool}", "arguments": arguments}

    def other_program(self) -> None:
        rng = random.Random(99)  # noqa: S311  not for secrets
        self.started()
        number = 0
        while time.monotonic() < self.end:
            number += 1
            name = f"n{rng.randrange(FOLDERS)}x{rng.randrange(USED)}.md"
            for path in self.root.glob(f"*/{name}"):
                try:
                    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
                except OSError:  # moved in this moment
                    continue
                os.write(descriptor, f"other line {number}\n".encode())
                os.close(descriptor)
                self.written.add(f"other line {number}")
            time.sleep(0.005)

    def noise(self) -> None:
        self.started()
        while time.monotonic() < self.end:
            with self.timed("wait"):
                time.sleep(0.01)
            with (self.root.parent / "noise").open("wb") as file:
                file.write(b"x")
                file.flush()
                with self.timed("fsync"):
                    os.fsync(file.fileno())


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "vault"
        for number in range(FOLDERS):
            (root / f"F{number}").mkdir(parents=True)
            for note in range(NOTES):
                text = NOTE.format((number + 1) % FOLDERS, note)
                (root / f"F{number}/n{number}x{note}.md").write_text(text, encoding="utf-8")
        run = Contention(root, float(sys.argv[1]) if len(sys.argv) > 1 else 15.0)
        run.run()
        calls = [seconds for kind, times in run.times.items() if kind in TOOLS for seconds in times]
        for kind, times in [*run.times.items(), ("all calls", calls)]:
            ordered = sorted(times)
            shown = [
                f"{ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000:7.1f}" for part in (0.5, 0.99, 1)
            ]
            sys.stdout.write(f"{kind:10} {len(times):6}  median {shown[0]}  p99 {shown[1]}  worst {shown[2]} ms\n")
        kept = {line for path in root.rglob("*.md") for line in path.read_text(encoding="utf-8").splitlines()}
        sys.stdout.write(f"lines written {len(run.written)}, lost {len(run.written - kept)}\n")


if __name__ == "__main__":
    main()
