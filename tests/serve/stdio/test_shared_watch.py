"""The servers of one vault watch its folders once (specs/watching.md WATCH-13 to WATCH-17)."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.serve.raw import PATIENCE, RawServer
from tests.serve.vault_server import started
from tests.system import needs

pytestmark = needs("inotify", "signals between processes")

FOLDERS = 30
FEW = 10
"""Watches that a user may have in the tests of the limit: fewer than the vault has folders."""
LIMITED = ["unshare", "--user", "--map-root-user", "sh", "-c"]
"""A shell in a user namespace, which has limits of its own."""
LIMIT = f"echo {FEW} >/proc/sys/user/max_inotify_watches"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    for number in range(FOLDERS):
        (root / f"Folder {number}").mkdir(parents=True)
        (root / f"Folder {number}" / "Note.md").write_text("old", encoding="utf-8")
    return root


@pytest.fixture
def start(vault: Path) -> Iterator[Callable[..., RawServer]]:
    """Starts a server of the vault, which is ended after the test."""
    with ExitStack() as stack:

        def begin(*arguments: str) -> RawServer:
            server = stack.enter_context(started(vault, *arguments))
            server.initialize()
            count_hits(server, "old")
            return server

        yield begin


def count_hits(server: RawServer, word: str) -> int:
    answer = server.call("tools/call", {"name": "obsidian_search", "arguments": {"query": word, "limit": 0}})
    return int(answer["result"]["structuredContent"]["data"]["total"])


def watches(server: RawServer) -> int:
    """How many folders the system watches for a server."""
    count = 0
    for file in Path(f"/proc/{server.process.pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            count += file.read_text(encoding="utf-8").count("inotify wd:")
    return count


def eventually(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it never came true"
        threading.Event().wait(0.02)


def is_shared(*servers: RawServer) -> bool:
    """Whether one server watches all folders, and the others none."""
    return sorted(map(watches, servers)) == [0] * (len(servers) - 1) + [FOLDERS + 1]


def all_find(vault: Path, word: str, *servers: RawServer) -> bool:
    """Whether all servers find a note that another program has just written."""
    (vault / "Folder 7" / f"{word}.md").write_text(f"The word {word}.", encoding="utf-8")
    for server in servers:
        eventually(lambda server=server: count_hits(server, word) == 1)  # type: ignore[misc]
    return True


def test_three_servers_watch_once_until_the_last_one_has_ended(vault: Path, start: Callable[..., RawServer]) -> None:
    """WATCH-14, WATCH-15, WATCH-16: the one that leads first sees one folder alone."""
    narrow = start("--scope", "Folder 0")
    eventually(lambda: watches(narrow) == FOLDERS + 1)
    second, third = start(), start()
    eventually(lambda: is_shared(narrow, second, third))
    assert all_find(vault, "zebra", second, third)
    assert count_hits(narrow, "zebra") == 0

    narrow.signal(signal.SIGKILL)
    eventually(lambda: is_shared(second, third))
    assert all_find(vault, "giraffe", second, third)

    leader, follower = sorted((second, third), key=watches, reverse=True)
    leader.signal(signal.SIGSTOP)
    try:
        assert all_find(vault, "okapi", follower)
        eventually(lambda: count_hits(follower, "okapi") == 1 and watches(follower) == FOLDERS + 1)
    finally:
        leader.signal(signal.SIGCONT)
    assert all_find(vault, "gazelle", leader, follower)


def can_limit() -> bool:
    """Whether this user may have a limit of watches of its own."""
    with suppress(OSError):
        return subprocess.run([*LIMITED, LIMIT], capture_output=True, check=False).returncode == 0
    return False


@pytest.mark.skipif(not can_limit(), reason="the system has no limits for a namespace of users")
def test_a_server_that_may_watch_too_few_folders_follows_and_says_when_it_has_to_look(
    vault: Path, start: Callable[..., RawServer]
) -> None:
    """WATCH-13, WATCH-17"""
    leader = start()
    eventually(lambda: watches(leader) == FOLDERS + 1)
    own = {name: str(vault.parent / name.lower()) for name in ("CACHE", "STATE")}
    environment = {f"OBSIDIAN_MCP_{name}": folder for name, folder in own.items()}
    command = [*LIMITED, f'{LIMIT}; exec "$@"', "sh", sys.executable, "-m", "obsidian_mcp", "--vault", str(vault)]
    with RawServer(command, env={**environment, "XDG_CONFIG_HOME": str(vault.parent)}) as limited:
        limited.initialize()

        def warning() -> str:
            answer = limited.call("tools/call", {"name": "obsidian_vault_info", "arguments": {}})
            return str(answer["result"]["structuredContent"]["data"].get("warning") or "")

        assert all_find(vault, "zebra", limited)
        assert (warning(), watches(limited)) == ("", 0)

        assert leader.close() == 0
        eventually(lambda: "raise fs.inotify.max_user_watches" in warning())
        assert all_find(vault, "giraffe", limited)
        assert watches(limited) == 0
