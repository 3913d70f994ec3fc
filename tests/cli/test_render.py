"""What `obsidian-mcp search` prints: colours and width on a terminal, plain lines in a pipe (specs/cli.md)."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import struct
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obsidian_mcp.adapters import terminal
from obsidian_mcp.cli.cells import RESET, mask_controls, width
from obsidian_mcp.cli.main import run_command_line
from obsidian_mcp.cli.render import MATCH, Screen, listing, remarks
from obsidian_mcp.core.search.hits import Group, Grouped, Hit, Hits, Snippet
from obsidian_mcp.core.text.vault_path import VaultPath
from tests import forked
from tests.examples import examples
from tests.system import can, needs

COLOURS = re.compile("\x1b\\[[0-9;]*m")
HITS = Hits(
    2,
    [
        Hit(
            VaultPath("Projects/Alpha.md"),
            1.5,
            "7",
            [Snippet(3, "the brass wheel", None, ((4, 9), (10, 15))), Snippet(14, "a wheel", "Plan", ((2, 7),))],
        ),
        Hit(VaultPath("Wheel.png")),
    ],
)


def environment(vault: Path, **more: str) -> dict[str, str]:
    own = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR", "TERM")}
    return {
        **{key: value for key, value in own.items() if not key.startswith(("OBSIDIAN", "PYTHON"))},
        "OBSIDIAN_VAULT_PATH": str(vault),
        "OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"),
        "OBSIDIAN_MCP_STATE": str(vault.parent / "state"),
        "OBSIDIAN_MCP_POLICY": str(vault.parent / "policy.toml"),
        **more,
    }


@dataclass(frozen=True)
class Printed:
    out: str
    err: str


def piped(vault: Path, *arguments: str, status: int = 0) -> Printed:
    command = [sys.executable, "-m", "obsidian_mcp", "search", *arguments]
    done = forked.run(command, env=environment(vault))
    assert done.returncode == status, done.stderr
    return Printed(done.stdout.decode(), done.stderr.decode())


class Terminal(io.TextIOWrapper):
    """Standard output as a terminal, which keeps what it receives."""

    def __init__(self) -> None:
        self.received = io.BytesIO()
        super().__init__(self.received, encoding="utf-8", newline="")

    def isatty(self) -> bool:
        return True


def on_terminal(vault: Path, *arguments: str, columns: int = 80, more: Mapping[str, str] | None = None) -> str:
    """What a terminal of this width gets on stdout."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NO_COLOR", *(name for name in os.environ if name.startswith("OBSIDIAN"))):
            patch.delenv(name, raising=False)
        for name, value in {**environment(vault), "TERM": "xterm", "COLUMNS": str(columns), **(more or {})}.items():
            patch.setenv(name, value)
        patch.setattr(terminal, "obeys_colours", lambda: True)
        patch.setattr(sys, "stdout", stdout := Terminal())
        assert run_command_line(["search", *arguments]) == 0
    return stdout.received.getvalue().decode()


@needs("pseudo terminals")
def test_a_real_terminal_is_asked_for_its_width(basic: Path) -> None:
    """CLI-07, CLI-08"""
    import fcntl
    import pty
    import termios

    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    command = [sys.executable, "-m", "obsidian_mcp", "search", "brass wheel"]
    done = subprocess.run(
        command, stdin=child, stdout=child, stderr=child, env=environment(basic, TERM="xterm"), timeout=60, check=False
    )
    os.close(child)
    shown = b""
    with contextlib.suppress(OSError):  # Linux says so at the end
        while chunk := os.read(parent, 65_536):
            shown += chunk
    os.close(parent)
    assert done.returncode == 0
    assert shown.decode().replace("\r\n", "\n") == on_terminal(basic, "brass wheel", columns=40)


def test_a_terminal_gets_the_matches_in_colour(basic: Path) -> None:
    """CLI-07"""
    shown = on_terminal(basic, "brass wheel")

    assert f"Cut the {MATCH}wheel{RESET} in {MATCH}brass{RESET} ^{MATCH}brass{RESET}\n" in shown
    assert "  # Plan" in shown
    assert shown.endswith("1 file\n")


def test_the_forms_of_a_word_are_marked_too(basic: Path) -> None:
    """CLI-07"""
    assert f"{MATCH}clocks{RESET}" in on_terminal(basic, "clock file:Home")


def test_words_of_the_path_are_marked(basic: Path) -> None:
    """CLI-07"""
    shown = on_terminal(basic, "alpha", "--limit", "1")

    assert f"{MATCH}Alpha{RESET}" in shown.splitlines()[0]


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_terminal_that_wants_no_colours_gets_none(basic: Path, more: dict[str, str]) -> None:
    """CLI-07"""
    shown = on_terminal(basic, "brass wheel", more=more)

    assert "\x1b" not in shown
    assert "Cut the wheel in brass ^brass" in shown
    assert "1 file" in shown


def test_an_empty_no_color_says_nothing(basic: Path) -> None:
    """CLI-07"""
    assert MATCH in on_terminal(basic, "brass wheel", more={"NO_COLOR": ""})


@pytest.mark.parametrize("columns", [24, 40, 66])
def test_lines_are_cut_to_the_width_of_the_terminal(basic: Path, columns: int) -> None:
    """CLI-08"""
    (basic / "Wide.md").write_text(
        f"{'日本語の文章' * 10} okapi {'x' * 90}\n{'y ' * 60}okapi\n", encoding="utf-8", newline="\n"
    )
    shown = on_terminal(basic, "okapi", "--sort", "name", columns=columns)

    lines = COLOURS.sub("", shown).splitlines()[1:3]
    assert len(lines) == 2
    for line in lines:
        assert sum(map(width, line)) <= columns
        assert "okapi" in line
        assert "…" in line


def test_a_pipe_gets_plain_lines_and_remarks_go_to_stderr(basic: Path) -> None:
    """CLI-09"""
    printed = piped(basic, "brass wheel", "--snippets", "1")

    assert printed.out == "Projects/Alpha.md\n  # Plan\n    15: - [ ] Cut the wheel in brass ^brass\n"
    assert printed.err.splitlines() == ["1 file"]
    assert "more with --offset 1" in piped(basic, "clocks", "--limit", "1").err


def test_a_pipe_of_paths_is_nothing_but_paths(basic: Path) -> None:
    """CLI-09"""
    printed = piped(basic, "clocks", "--show", "paths", "--sort", "modified")

    assert all((basic / line).is_file() for line in printed.out.splitlines())
    assert len(printed.out.splitlines()) == int(printed.err.split()[0]) > 2


def test_nothing_found_is_said(basic: Path) -> None:
    """CLI-09"""
    printed = piped(basic, "nothing-like-this-is-there", "--match", "exact", status=1)

    assert printed.out == ""
    assert printed.err.splitlines() == ["Nothing found."]


def test_json_is_what_a_client_gets(basic: Path) -> None:
    """CLI-03"""
    printed = piped(basic, "brass wheel", "--json")

    (hit,) = json.loads(printed.out)["hits"]
    assert hit["snippets"][-1] == {"line": 15, "text": "- [ ] Cut the wheel in brass ^brass", "heading": "Plan"}
    assert printed.err == ""


def test_what_would_steer_the_terminal_is_shown_and_not_obeyed(basic: Path) -> None:
    """CLI-08"""
    (basic / "Evil.md").write_text(
        "okapi \x1b[2J\x1b]0;title\x07 \x9b31m \u202egnp.exe \x00\r\n", encoding="utf-8", newline="\n"
    )
    if can("names with control characters"):
        (basic / "Evil \x1b[31m okapi\n.md").write_text("text", encoding="utf-8")
    shown = on_terminal(basic, "okapi")

    assert set(re.findall("\x1b.{3}", shown)) <= {"\x1b[0m", "\x1b[1;", "\x1b[2m", "\x1b[32"}
    assert not re.search("[\x00-\x09\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202e]", shown)
    assert "\u241b[2J" in shown
    assert "\x1b" not in piped(basic, "okapi").out


def test_a_file_stands_with_its_value_and_its_lines_under_their_headings() -> None:
    assert listing(HITS, "wheel", None).splitlines() == [
        "Projects/Alpha.md  7",
        "     3: the brass wheel",
        "  # Plan",
        "    14: a wheel",
        "Wheel.png",
    ]


def test_groups_have_a_line_of_their_own() -> None:
    grouped = Grouped(3, 2, [Group("Projects", 2, [HITS.hits[1]]), Group("People", 1)], next_offset=1)

    assert listing(grouped, "x", None) == "== Projects: 2\nWheel.png\n== People: 1\n"
    assert remarks(grouped, 0) == "3 files, 1 shown; more with --offset 1\n"


def test_remarks_say_how_the_files_were_found() -> None:
    found = Hits(1, [HITS.hits[1]], None, "No file has all the words.", "The index is being built.", "By the app.")

    assert remarks(found, 0).splitlines() == [
        "1 file",
        "No file has all the words.",
        "By the app.",
        "The index is being built.",
    ]
    assert remarks(Hits(0, []), 0) == "Nothing found.\n"
    assert remarks(Hits(5, HITS.hits), 3) == "5 files, 2 shown\n"


TEXT = st.text(st.sampled_from("ab 日本é😀\u0301\u200d") | st.characters(codec="utf-8"), min_size=1, max_size=160)


@given(text=TEXT, start=st.integers(0, 159), length=st.integers(1, 5), columns=st.integers(10, 120))
@examples(300)
@example(text="日日日日0日日日日日", start=5, length=5, columns=10)
def test_any_line_fits_the_terminal_and_keeps_its_first_mark(text: str, start: int, length: int, columns: int) -> None:
    """CLI-08"""
    start = min(start, len(text) - 1)
    end = min(start + length, len(text))
    hit = Hit(VaultPath("a.md"), snippets=[Snippet(1, text, None, ((start, end),))])

    plain = listing(Hits(1, [hit]), "q", Screen(columns, colours=False)).split("\n")[1]
    assert sum(map(width, plain)) <= max(columns, 20)
    shown = listing(Hits(1, [hit]), "q", Screen(columns, colours=True)).split("\n")[1]
    assert COLOURS.sub("", shown) == plain
    marked = shown.partition(MATCH)[2].partition(RESET)[0]
    assert marked == mask_controls(text[start:end])


@given(st.text(max_size=50))
@examples(200)
def test_a_text_made_safe_is_as_long_as_before(text: str) -> None:
    assert len(mask_controls(text)) == len(text)
    assert not re.search("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]", mask_controls(text))
