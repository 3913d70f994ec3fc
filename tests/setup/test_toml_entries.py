"""A client's TOML file, changed at one table (specs/install.md, TEXT rules)."""

from __future__ import annotations

import tomllib

import pytest

from obsidian_mcp.setup.clients import CLIENTS
from obsidian_mcp.setup.entries import Broken, erase, write

CODEX = CLIENTS["codex"]
TABLE = {"command": "/bin/obsidian-mcp", "args": ["--vault", "/My Vault"], "startup_timeout_sec": 60}

FILES = {
    "empty": "",
    "settings before": 'model = "o5"\n# mine\n[tui]\ntheme = "dark" # yes\n',
    "another server": '[mcp_servers.other]\nargs = [\n  "a", # one\n  "b",\n]\n\n[mcp_servers.other.env]\nK = "v"\n',
    "windows line ends": 'model = "o5"\r\n\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
    "mixed line ends": '# unix\nmodel = "o5"\r\nlong = """a\r\nb\nc"""\n[tui]\r\ntheme = "dark"\r\n',
    "arrays of tables": '[[hooks]]\nrun = "a"\n\n[[hooks]]\nrun = """\n[mcp_servers.obsidian]\n"""\n',
    "spaces in headers": '[ mcp_servers . other ]\ncommand = "x"\n',
    "quoted keys": '[mcp_servers."a.b"]\ncommand = "x"\n[projects."/me/\\u65e5"]\ntrust_level = "trusted"\n',
    "an inline neighbour": 'mcp_servers.other = { command = "x" }\n',
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_an_added_table_leaves_every_line_as_it_was_and_goes_again(text: str) -> None:
    """TEXT-02, TEXT-04"""
    after = write(CODEX, text, "obsidian", TABLE)

    expected = tomllib.loads(text)
    expected.setdefault("mcp_servers", {})["obsidian"] = TABLE
    assert tomllib.loads(after) == expected
    assert set(text.splitlines(keepends=True)) <= set(after.splitlines(keepends=True))
    assert erase(CODEX, after, "obsidian").split() == text.split()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_added_table_does_not_part_the_next_table_from_the_comment_above_it(newline: str) -> None:
    """TEXT-01"""
    servers = '[mcp_servers.other]\ncommand = "x"\n# of other\n\n'.replace("\n", newline)
    following = "# about tui\n# and its theme\n[tui]\na = 1\n".replace("\n", newline)

    after = write(CODEX, servers + following, "obsidian", TABLE)

    assert after.startswith(f"{servers}[mcp_servers.obsidian]{newline}")
    assert after.endswith(f"startup_timeout_sec = 60{newline}{newline}{following}")


def test_keys_of_a_table_are_set_where_they_stand() -> None:
    """TEXT-01"""
    text = (
        "[mcp_servers.obsidian] # notes\n"
        'args = [ # first\n  "--vault", "/Old", # "second"\n] # third\n'
        'command = "/old/obsidian-mcp"   # fourth\n'
        "\n[mcp_servers.obsidian.env]\nKEY = 'v'\n# about tui\n[tui]\nargs = 1\n"
    )

    after = write(CODEX, text, "obsidian", {"command": "/new", "args": ["--vault", "/New"], "enabled": True})

    servers = tomllib.loads(after)["mcp_servers"]["obsidian"]
    assert servers == {"args": ["--vault", "/New"], "command": "/new", "enabled": True, "env": {"KEY": "v"}}
    assert 'command = "/new"   # fourth\n' in after
    assert after.startswith("[mcp_servers.obsidian] # notes\n")
    assert after.endswith("\n[mcp_servers.obsidian.env]\nKEY = 'v'\n# about tui\n[tui]\nargs = 1\n")


def test_a_table_goes_with_the_tables_below_it_and_without_its_neighbours_comments() -> None:
    text = '# head\n[mcp_servers.obsidian]\na = 1\n[mcp_servers.obsidian.env]\nK = "v"\n\n# about tui\n[tui]\na = 1\n'

    assert erase(CODEX, text, "obsidian") == "# head\n\n# about tui\n[tui]\na = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { obsidian = { command = "x" } }\n',
        '[mcp_servers]\nobsidian = { command = "x" }\n',
        'mcp_servers.obsidian.command = "x"\n',
    ],
)
def test_a_table_in_another_form_is_changed_in_its_form_or_refused_and_never_removed_by_halves(text: str) -> None:
    try:
        after = write(CODEX, text, "obsidian", TABLE)
    except Broken:
        after = ""
    try:
        erased = erase(CODEX, text, "obsidian")
    except Broken:
        erased = text

    assert not after or tomllib.loads(after)["mcp_servers"]["obsidian"] == TABLE
    assert erased == text or "obsidian" not in erased


def test_what_is_not_there_is_removed_without_a_change() -> None:
    assert erase(CODEX, "a = 1", "obsidian") == "a = 1"


def test_broken_text_is_reported_with_its_place() -> None:
    """TEXT-05"""
    with pytest.raises(Broken, match="line 2, column 5"):
        write(CODEX, "a = 1\nb = ?", "obsidian", TABLE)


@pytest.mark.parametrize("value", ["C:\\Users\\Zoë\\日本.md", 'a "quoted" \\n', "tab\tand\x7fbell\x07", "🗒\u2028x"])
def test_every_string_reads_back_as_it_was(value: str) -> None:
    after = write(CODEX, "", "obsidian", {"command": value, value: 1})

    assert tomllib.loads(after) == {"mcp_servers": {"obsidian": {"command": value, value: 1}}}
