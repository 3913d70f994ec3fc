"""A vault's path that a client spoils: the server starts and says what is wrong (specs/cli.md CLI-21)."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serve.raw import MODERN, RawServer

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
) -> None:  # CLI-21
    vault = Path(shutil.move(basic, tmp_path / "my own vault"))
    own = {"OBSIDIAN_MCP_CACHE": str(tmp_path / "cache"), "OBSIDIAN_MCP_STATE": str(tmp_path / "state")}
    with RawServer([sys.executable, "-m", "obsidian_mcp", "--vault", *words(vault)], env=own) as server:
        assert said in server.initialize()["result"]["instructions"]
        assert said in server.call("server/discover", {"_meta": MODERN})["result"]["instructions"]
        message = server.call("tools/call", {"name": "obsidian_list_files", "arguments": {}})["error"]["message"]
        assert said in message
        assert str(vault) in message
        server.wait_for_log(said)
        assert server.close() == 0


def test_other_words_behind_a_path_end_the_program_as_before(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    with RawServer([sys.executable, "-m", "obsidian_mcp", "--vault", str(tmp_path / "vault"), "x"]) as server:
        assert server.wait() == 2
        assert "There is no command 'x'" in server.stderr()
