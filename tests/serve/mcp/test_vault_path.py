"""A vault's path that a client spoils: the server starts and says what is wrong (specs/cli.md CLI-21)."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serve.raw import MODERN, RawServer
from tests.system import can, needs

SPOILT: dict[str, tuple[Callable[[Path], list[str]], str]] = {
    "in quotation marks": (lambda vault: [f'"{vault}"'], "Its path was given with quotation marks inside"),
    "in single ones": (lambda vault: [f"'{vault}'"], "Its path was given with quotation marks inside"),
    "split": (lambda vault: str(vault).split(" "), "a path with spaces must be one argument"),
    "split, with more words behind": (
        lambda vault: [*str(vault).split(" "), "--read-only"],
        "a path with spaces must be one argument",
    ),
}


@pytest.mark.parametrize(("words", "said"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_path_is_explained_to_the_client_and_in_its_log(
    basic: Path, tmp_path: Path, words: Callable[[Path], list[str]], said: str
) -> None:
    """CLI-21"""
    vault = Path(shutil.move(basic, tmp_path / "my own vault"))
    own = {"OBSIDIAN_MCP_CACHE": str(tmp_path / "cache"), "OBSIDIAN_MCP_STATE": str(tmp_path / "state")}
    with RawServer([sys.executable, "-m", "obsidian_mcp", "--vault", *words(vault)], env=own) as server:
        assert_explained(server, said)
        assert str(vault) in server.stderr()


def assert_explained(server: RawServer, said: str) -> None:
    """Check that a server says what is wrong with its vault wherever a client or a person looks."""
    assert said in server.initialize()["result"]["instructions"]
    assert said in server.call("server/discover", {"_meta": MODERN})["result"]["instructions"]
    assert server.call("tools/list")["result"]["tools"]
    assert said in server.call("tools/call", {"name": "obsidian_list_files", "arguments": {}})["error"]["message"]
    server.wait_for_log(said)
    assert server.close() == 0


LONG_NAME = "/" + "x" * 300


def said_of(path: str) -> str:
    """What is said of a path that the system refuses, or, as Wine does, takes for one that is not there."""
    with pytest.raises(OSError) as error:  # noqa: PT011  every system has its own
        Path(path).stat()
    return "does not exist" if isinstance(error.value, FileNotFoundError) else "cannot be reached"


UNUSABLE: dict[str, tuple[list[str], str]] = {
    "empty": (["--vault", ""], "--vault is empty"),
    "blank": (["--vault", "  "], "--vault is empty"),
    "without a value": (["--vault"], "--vault is empty"),
    "empty, behind one that is there": (["--vault", "{folder}", "--vault", ""], "--vault is empty"),
    "empty, before serve": (["--vault", "", "serve"], "--vault is empty"),
    "the home folder of no account": (["--vault", "~nobody-of-this-name/Notes"], "no account 'nobody-of-this-name'"),
    "a file": (["--vault", "{folder}/file.md"], "is not a folder"),
    "below a file": (["--vault", "{folder}/file.md/Notes"], "does not exist"),
    "an unfilled variable": (["--vault", "${workspaceFolder}"], "has not put in a value for ${workspaceFolder}"),
    "an unfilled variable of Windows": (["--vault", "%USERPROFILE%/Notes"], "a value for %USERPROFILE%"),
    "a name longer than a disk takes": (["--vault", LONG_NAME], said_of(LONG_NAME)),
    "not given, and the app knows none": ([], "No vault is configured"),
}


@pytest.mark.parametrize(("words", "said"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_path_that_is_no_vault_is_explained_and_ends_nothing(tmp_path: Path, words: list[str], said: str) -> None:
    """CLI-21"""
    (tmp_path / "file.md").write_bytes(b"x")
    given = [word.replace("{folder}", str(tmp_path)) for word in words]
    own = {name: str(tmp_path / name) for name in ("OBSIDIAN_MCP_CACHE", "OBSIDIAN_MCP_STATE", "HOME", "APPDATA")}
    with RawServer([sys.executable, "-m", "obsidian_mcp", *given], env={**own, "OBSIDIAN_VAULT_PATH": ""}) as server:
        assert_explained(server, said)


@needs("permissions of POSIX")
def test_a_folder_that_may_not_be_read_is_explained(tmp_path: Path) -> None:
    """CLI-21"""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o300)
    own = {name: str(tmp_path / name) for name in ("OBSIDIAN_MCP_CACHE", "OBSIDIAN_MCP_STATE")}
    plain = [] if can("permissions that bind us") else ["setpriv", "--bounding-set=-all"]
    if plain and shutil.which("setpriv") is None:
        pytest.skip("root reads every folder, and setpriv is not there to hinder it")
    command = [*plain, sys.executable, "-m", "obsidian_mcp", "--vault"]
    with RawServer([*command, str(closed)], env=own) as server:
        assert_explained(server, "may not be read")
    closed.chmod(0)
    with RawServer([*command, str(closed / "below")], env=own) as server:
        assert_explained(server, "cannot be reached (Permission denied)")


def test_a_vault_that_appears_later_is_served_from_then_on(basic: Path, tmp_path: Path) -> None:
    """CLI-21"""
    later = tmp_path / "later"
    own = {"OBSIDIAN_MCP_CACHE": str(tmp_path / "cache"), "OBSIDIAN_MCP_STATE": str(tmp_path / "state")}
    with RawServer([sys.executable, "-m", "obsidian_mcp", "--vault", str(later)], env=own) as server:
        assert "does not exist" in server.initialize()["result"]["instructions"]
        read = {"name": "obsidian_read_note", "arguments": {"name": "Alpha"}}
        assert "does not exist" in server.call("tools/call", read)["error"]["message"]
        basic.rename(later)
        assert server.call("tools/call", read)["result"]["content"]
        assert server.close() == 0


def test_other_words_behind_a_path_end_the_program_as_before(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    with RawServer([sys.executable, "-m", "obsidian_mcp", "--vault", str(tmp_path / "vault"), "x"]) as server:
        assert server.wait() == 2
        assert "There is no command 'x'" in server.stderr()
