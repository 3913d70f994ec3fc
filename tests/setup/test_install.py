"""Clients' files on computers of three systems: installed, installed again, uninstalled (specs/install.md)."""

from __future__ import annotations

import json
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from obsidian_mcp.errors import ClientConfigRefused, InvalidArguments
from obsidian_mcp.setup import files
from obsidian_mcp.setup.clients import CLIENTS, McpClient
from obsidian_mcp.setup.install import ConfigChange, install, list_configured, uninstall
from tests.system import needs

from .computer import PLATFORMS, computer, files_below, is_backup

LINE = ("/opt/bin/obsidian-mcp", "--vault", "/home/me/My Vault")
MSIX = "AppData/Local/Packages/Claude_pzs8sxrjxfjjc"

PLACES = {
    ("claude-desktop", "darwin"): "Library/Application Support/Claude/claude_desktop_config.json",
    ("claude-desktop", "win32"): "AppData/Roaming/Claude/claude_desktop_config.json",
    ("claude-desktop", "linux"): ".config/Claude/claude_desktop_config.json",
    ("vscode", "darwin"): "Library/Application Support/Code/User/mcp.json",
    ("vscode", "win32"): "AppData/Roaming/Code/User/mcp.json",
    ("vscode", "linux"): ".config/Code/User/mcp.json",
    ("zed", "darwin"): ".config/zed/settings.json",
    ("zed", "win32"): "AppData/Roaming/Zed/settings.json",
    ("zed", "linux"): ".config/zed/settings.json",
    **{("claude-code", system): ".claude.json" for system in PLATFORMS},
    **{("cursor", system): ".cursor/mcp.json" for system in PLATFORMS},
    **{("windsurf", system): ".codeium/windsurf/mcp_config.json" for system in PLATFORMS},
    **{("gemini-cli", system): ".gemini/settings.json" for system in PLATFORMS},
    **{("codex", system): ".codex/config.toml" for system in PLATFORMS},
    **{("antigravity", system): ".gemini/antigravity/mcp_config.json" for system in PLATFORMS},
    **{("opencode", system): ".config/opencode/opencode.json" for system in PLATFORMS},
    **{("cline", system): ".cline/data/settings/cline_mcp_settings.json" for system in PLATFORMS},
    ("goose", "darwin"): ".config/goose/config.yaml",
    ("goose", "win32"): "AppData/Roaming/Block/goose/config/config.yaml",
    ("goose", "linux"): ".config/goose/config.yaml",
    **{("kiro", system): ".kiro/settings/mcp.json" for system in PLATFORMS},
    **{("lm-studio", system): ".lmstudio/mcp.json" for system in PLATFORMS},
}
ENTRY: dict[str, Any] = {"command": LINE[0], "args": list(LINE[1:])}
SHOWN = {**ENTRY, "env": {"OBSIDIAN_MCP_ERRORS": "result"}}
WRITTEN = {
    "claude-desktop": {"mcpServers": {"obsidian": ENTRY}},
    "claude-code": {"mcpServers": {"obsidian": {"type": "stdio", **ENTRY}}},
    "cursor": {"mcpServers": {"obsidian": ENTRY}},
    "vscode": {"servers": {"obsidian": {"type": "stdio", **ENTRY}}},
    "windsurf": {"mcpServers": {"obsidian": ENTRY}},
    "gemini-cli": {"mcpServers": {"obsidian": ENTRY}},
    "codex": {"mcp_servers": {"obsidian": {**ENTRY, "startup_timeout_sec": 60}}},
    "zed": {"context_servers": {"obsidian": {"source": "custom", **ENTRY}}},
    "antigravity": {"mcpServers": {"obsidian": SHOWN}},
    "opencode": {"mcp": {"obsidian": {"type": "local", "command": [*LINE], "enabled": True, "timeout": 60_000}}},
    "cline": {"mcpServers": {"obsidian": ENTRY}},
    "goose": {
        "extensions": {
            "obsidian": {
                "type": "stdio",
                "name": "obsidian",
                "cmd": LINE[0],
                "args": list(LINE[1:]),
                "enabled": True,
            }
        }
    },
    "kiro": {"mcpServers": {"obsidian": SHOWN}},
    "lm-studio": {"mcpServers": {"obsidian": SHOWN}},
}

everywhere = pytest.mark.parametrize(("client_id", "platform"), PLACES, ids=lambda value: value)
each_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
DESKTOP, ZED, CODEX, CODE = CLIENTS["claude-desktop"], CLIENTS["zed"], CLIENTS["codex"], CLIENTS["claude-code"]


def read(path: Path) -> Any:
    """What the file says, to a reader that is not ours."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".yaml":
        return yaml.safe_load(text)
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(re.sub(r"(?m)^ *//.*$", "", text))


def with_others(client: McpClient, newline: str = "\n") -> str:
    """A file in which other things stand."""
    if client.format == "toml":
        text = '# mine\nmodel = "o5" # the best\n\n[mcp_servers.other]\ncommand = "x"\n\n[tui]\ntheme = "dark"\n'
    elif client.format == "yaml":
        other = "  other:\n    cmd: x\n    args:\n    - a\n"
        text = f"# mine\nGOOSE_MODE: auto  # the best\nextensions:\n{other}\n# theirs\ne: 1\n"
    else:
        comment = "" if client.format == "json" else "  // mine, not yours\n"
        other = '{"command": "x", "env": {"KEY": "秘"}}'
        text = (
            f'{{\n{comment}  "zoom": 1.50,\n  "{client.key}": {{\n    "other": {other}\n  }},\n  "e": "\\u00e9"\n}}\n'
        )
    return text.replace("\n", newline)


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@everywhere
def test_each_client_gets_its_entry_in_its_own_place(tmp_path: Path, client_id: str, platform: str) -> None:
    """INST-01"""
    change = install(CLIENTS[client_id], computer(tmp_path, platform), "obsidian", LINE)

    place = tmp_path / PLACES[client_id, platform]
    assert (change.action, change.path, change.backup) == ("added", place, None)
    assert read(place) == WRITTEN[client_id]
    assert list(files_below(tmp_path)) == [PLACES[client_id, platform]]


@everywhere
def test_uninstalling_from_a_new_file_leaves_none(tmp_path: Path, client_id: str, platform: str) -> None:
    """INST-04"""
    system = computer(tmp_path, platform)
    install(CLIENTS[client_id], system, "obsidian", LINE)

    change = uninstall(CLIENTS[client_id], system, "obsidian")

    assert (change.action, change.deleted) == ("removed", True)
    assert files_below(tmp_path) == {}


@everywhere
def test_a_file_with_other_things_keeps_them_and_gets_back_its_bytes(
    tmp_path: Path, client_id: str, platform: str
) -> None:
    """TEXT-01, INST-FILE-02, INST-04"""
    client, system = CLIENTS[client_id], computer(tmp_path, platform)
    text = with_others(client, "\r\n" if platform == "win32" else "\n")
    place = put(tmp_path / PLACES[client_id, platform], text)

    change = install(client, system, "obsidian", LINE)

    said = read(place)
    assert list(said[client.key]) == ["other", "obsidian"]
    assert said[client.key]["obsidian"] == WRITTEN[client_id][client.key]["obsidian"]
    assert change.backup is not None
    assert is_backup(change.backup.name)
    assert change.backup.parent == place.parent
    assert change.backup.read_bytes() == text.encode()
    if platform == "win32":
        assert b"\n" not in place.read_bytes().replace(b"\r\n", b"")

    uninstall(client, system, "obsidian")
    assert place.read_bytes() == text.encode()


@each_client
def test_the_same_again_changes_nothing_and_backs_nothing_up(tmp_path: Path, client: McpClient) -> None:
    """INST-02"""
    system = computer(tmp_path, "linux")
    put(client.file(system), with_others(client))
    install(client, system, "obsidian", LINE)
    before = files_below(tmp_path)

    assert install(client, system, "obsidian", LINE).action == "unchanged"
    assert files_below(tmp_path) == before


@each_client
def test_another_vault_changes_only_the_arguments(tmp_path: Path, client: McpClient) -> None:
    """INST-02"""
    system = computer(tmp_path, "linux")
    place = put(client.file(system), with_others(client))
    install(client, system, "obsidian", LINE)
    text = place.read_text(encoding="utf-8")
    if client.format == "toml":
        text += 'enabled = false\n[mcp_servers.obsidian.env]\nA = "1"\n'
    elif client.format == "yaml":
        text = text.replace("  obsidian:\n", "  obsidian:\n    envs: {A: '1'} # mine\n")
    elif "env" in client.first:
        text = text.replace('"OBSIDIAN_MCP_ERRORS": "result"', '"A": "1"')
    else:
        at = text.index('"command": ', text.index('"obsidian": {'))
        text = f'{text[:at]}"{client.environment}": {{"A":"1"}}, {text[at:]}'
    place.write_text(text, encoding="utf-8")
    before = place.read_text(encoding="utf-8")

    change = install(client, system, "obsidian", (LINE[0], "--vault", "/elsewhere"))

    assert change.action == "updated"
    entry = list_configured(client, system)[0]
    assert entry.command == [LINE[0], "--vault", "/elsewhere"]
    assert entry.environment == {"A": "1"}
    assert place.read_text(encoding="utf-8").replace("/elsewhere", LINE[2]) == before


@each_client
def test_after_a_change_of_vault_uninstalling_still_gives_the_first_bytes_back(
    tmp_path: Path, client: McpClient
) -> None:
    system = computer(tmp_path, "linux")
    place = put(client.file(system), with_others(client))
    install(client, system, "obsidian", LINE)
    install(client, system, "obsidian", (LINE[0], "--vault", "/elsewhere"))

    uninstall(client, system, "obsidian")

    assert place.read_text(encoding="utf-8") == with_others(client)


@each_client
def test_what_others_changed_since_stays_when_uninstalling(tmp_path: Path, client: McpClient) -> None:
    """INST-04"""
    system = computer(tmp_path, "linux")
    place = put(client.file(system), with_others(client))
    install(client, system, "obsidian", LINE)
    place.write_text(place.read_text(encoding="utf-8").replace('"x"', '"changed"'), encoding="utf-8")

    change = uninstall(client, system, "obsidian")

    assert change.action == "removed"
    assert place.read_text(encoding="utf-8") == with_others(client).replace('"x"', '"changed"')


@each_client
def test_uninstalling_what_is_not_there_changes_nothing(tmp_path: Path, client: McpClient) -> None:
    system = computer(tmp_path, "linux")
    assert uninstall(client, system, "obsidian").action == "absent"

    put(client.file(system), with_others(client))
    before = files_below(tmp_path)
    assert uninstall(client, system, "obsidian").action == "absent"
    assert files_below(tmp_path) == before


@each_client
def test_another_program_of_that_name_is_refused_unless_it_shall_be_replaced(tmp_path: Path, client: McpClient) -> None:
    """INST-03"""
    system = computer(tmp_path, "linux")
    text = with_others(client).replace("other", "obsidian")
    place = put(client.file(system), text)

    with pytest.raises(ClientConfigRefused, match=r"another program \(x( a)?\)"):
        install(client, system, "obsidian", LINE)
    with pytest.raises(ClientConfigRefused, match=r"another program \(x( a)?\)"):
        uninstall(client, system, "obsidian")
    assert place.read_text(encoding="utf-8") == text

    assert install(client, system, "obsidian", LINE, replace=True).action == "replaced"
    assert read(place)[client.key]["obsidian"] == WRITTEN[client.id][client.key]["obsidian"]


BROKEN = {
    "cut off": ('{"mcpServers": {"a": ', "is not valid JSON: at line 1, column 22"),
    "no object": ("[]", "does not hold an object"),
    "servers in a list": ('{"mcpServers": []}', "that is not an object"),
    "an entry that is none": ('{"mcpServers": {"obsidian": "x"}}', "that is no server"),
    "a comment": ("{\n  // hello\n}", "has a comment at line 2, column 3, which Claude Desktop cannot read"),
    "a trailing comma": ('{"a": 1,}', "has a trailing comma at line 1, column 8"),
}


@pytest.mark.parametrize(("text", "problem"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_left_alone_and_the_place_named(tmp_path: Path, text: str, problem: str) -> None:
    """TEXT-05"""
    system = computer(tmp_path, "darwin")
    put(DESKTOP.file(system), text)
    before = files_below(tmp_path)

    with pytest.raises(ClientConfigRefused) as caught:
        install(DESKTOP, system, "obsidian", LINE)

    assert problem in caught.value.message
    assert f"'{DESKTOP.file(system)}'" in caught.value.message
    assert files_below(tmp_path) == before


def test_broken_toml_is_left_alone(tmp_path: Path) -> None:
    """TEXT-05, TEXT-06"""
    system = computer(tmp_path, "linux")
    put(CODEX.file(system), "a = = 1\n")

    with pytest.raises(ClientConfigRefused, match=r"is not valid TOML: .*line 1"):
        install(CODEX, system, "obsidian", LINE)

    assert CODEX.file(system).read_text(encoding="utf-8") == "a = = 1\n"


def test_comments_and_trailing_commas_are_kept_where_the_client_reads_them(tmp_path: Path) -> None:
    system = computer(tmp_path, "linux")
    text = '// Zed\n{\n  "context_servers": {\n    // none of mine\n  },\n  "vim_mode": true, // always\n}\n'
    place = put(ZED.file(system), text)

    install(ZED, system, "obsidian", LINE)

    after = place.read_text(encoding="utf-8")
    assert after.startswith('// Zed\n{\n  "context_servers": {\n    // none of mine\n    "obsidian": {\n')
    assert after.endswith('\n  },\n  "vim_mode": true, // always\n}\n')
    uninstall(ZED, system, "obsidian")
    assert place.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ["", "{}", "\n", "{ }\n"])
def test_an_empty_file_is_filled_and_emptied_again(tmp_path: Path, text: str) -> None:
    system = computer(tmp_path, "darwin")
    place = put(DESKTOP.file(system), text)

    install(DESKTOP, system, "obsidian", LINE)
    assert read(place) == WRITTEN["claude-desktop"]
    uninstall(DESKTOP, system, "obsidian")
    assert place.read_text(encoding="utf-8") == text


def test_without_a_backup_only_the_entry_goes(tmp_path: Path) -> None:
    system = computer(tmp_path, "linux")
    place = put(CODE.file(system), '{\n  "numStartups": 3\n}')
    backup = install(CODE, system, "obsidian", LINE).backup
    assert backup is not None
    backup.unlink()

    uninstall(CODE, system, "obsidian")

    assert read(place) == {"numStartups": 3, "mcpServers": {}}


def test_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    system = computer(tmp_path, "win32")
    place = put(DESKTOP.file(system), b"\xef\xbb\xbf" + b'{"a": 1}')

    install(DESKTOP, system, "obsidian", LINE)

    assert place.read_bytes().startswith(b'\xef\xbb\xbf{"a": 1, "mcpServers"')


def test_text_that_is_not_utf_8_is_left_alone(tmp_path: Path) -> None:
    """INST-FILE-04"""
    system = computer(tmp_path, "win32")
    place = put(DESKTOP.file(system), '{"a": 1}'.encode("utf-16"))

    with pytest.raises(ClientConfigRefused, match="not UTF-8"):
        install(DESKTOP, system, "obsidian", LINE)
    assert place.read_bytes() == '{"a": 1}'.encode("utf-16")


def test_a_folder_in_the_place_of_the_file_is_left_alone(tmp_path: Path) -> None:
    """INST-FILE-04"""
    system = computer(tmp_path, "linux")
    CODE.file(system).mkdir()

    with pytest.raises(ClientConfigRefused, match="is not a file"):
        install(CODE, system, "obsidian", LINE)


def test_a_file_in_the_place_of_the_folder_is_said_so(tmp_path: Path) -> None:
    """INST-FILE-04"""
    system = computer(tmp_path, "linux")
    put(tmp_path / ".codex", "a file")

    with pytest.raises(ClientConfigRefused, match=r"cannot be (read|written)"):
        install(CODEX, system, "obsidian", LINE)
    assert files_below(tmp_path) == {".codex": b"a file"}


def test_what_another_program_wrote_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """INST-FILE-03"""
    place = put(tmp_path / ".claude.json", '{"old": 1}')
    content = files.read_config_file(place)
    place.write_text('{"new": 1}', encoding="utf-8")

    with pytest.raises(ClientConfigRefused, match="at the same moment"):
        files.replace_config_file(content, '{"ours": 1}')
    assert files_below(tmp_path) == {".claude.json": b'{"new": 1}'}

    files.delete_config_file(content)
    assert place.exists()


@needs("permissions of POSIX", "symbolic links")
def test_mode_and_symbolic_link_stay(tmp_path: Path) -> None:
    """INST-FILE-01, INST-FILE-02"""
    system = computer(tmp_path / "home", "linux")
    real = put(tmp_path / "dotfiles/claude.json", '{"secret": 1}')
    real.chmod(0o600)
    CODE.file(system).symlink_to(real)

    change = install(CODE, system, "obsidian", LINE)

    assert CODE.file(system).is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert "obsidian" in read(real)["mcpServers"]
    assert change.backup is not None
    assert change.backup.parent == system.home
    assert stat.S_IMODE(change.backup.stat().st_mode) == 0o600


@needs("symbolic links")
def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path: Path) -> None:
    system = computer(tmp_path / "home", "linux")
    CODE.file(system).symlink_to(tmp_path / "gone")

    with pytest.raises(ClientConfigRefused, match="leads nowhere"):
        install(CODE, system, "obsidian", LINE)
    assert not (tmp_path / "gone").exists()


@needs("permissions that bind us")
def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    """INST-FILE-04"""
    system = computer(tmp_path, "linux")
    place = put(CODE.file(system), "{}")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ClientConfigRefused, match="cannot be written"):
            install(CODE, system, "obsidian", LINE)
    finally:
        tmp_path.chmod(0o700)
    assert place.read_text(encoding="utf-8") == "{}"


@each_client
def test_a_dry_run_tells_and_changes_nothing(tmp_path: Path, client: McpClient) -> None:
    """INST-07"""
    system = computer(tmp_path, "linux")
    put(client.file(system), with_others(client))
    before = files_below(tmp_path)

    change: ConfigChange = install(client, system, "obsidian", LINE, dry_run=True)

    assert (change.action, change.backup) == ("added", None)
    assert change.before == with_others(client)
    assert "obsidian-mcp" in change.after
    assert files_below(tmp_path) == before
    install(client, system, "obsidian", LINE)
    installed = files_below(tmp_path)
    assert uninstall(client, system, "obsidian", dry_run=True).after == with_others(client)
    assert files_below(tmp_path) == installed


@pytest.mark.parametrize("name", ["", "my vault", "obsidian.one", "x" * 33, "名"])
def test_a_name_that_hosts_do_not_take_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArguments, match="cannot be the name"):
        install(DESKTOP, computer(tmp_path, "linux"), name, LINE)


def test_two_names_stand_beside_each_other(tmp_path: Path) -> None:
    system = computer(tmp_path, "linux")
    install(DESKTOP, system, "work", LINE)
    install(DESKTOP, system, "home", (LINE[0], "--vault", "/home/me/Home"))

    assert [found.name for found in list_configured(DESKTOP, system)] == ["work", "home"]
    uninstall(DESKTOP, system, "work")
    assert [found.name for found in list_configured(DESKTOP, system)] == ["home"]


# Where the file is


def test_the_packaged_claude_desktop_is_preferred_on_windows(tmp_path: Path) -> None:
    """INST-01"""
    system = computer(tmp_path, "win32")
    put(tmp_path / PLACES["claude-desktop", "win32"], '{"left": "over"}')
    (tmp_path / MSIX).mkdir(parents=True)
    assert DESKTOP.is_present(system)

    change = install(DESKTOP, system, "obsidian", LINE)

    assert change.path == tmp_path / MSIX / "LocalCache/Roaming/Claude/claude_desktop_config.json"
    assert read(tmp_path / PLACES["claude-desktop", "win32"]) == {"left": "over"}


def test_of_two_builds_of_vs_code_the_one_with_a_file_or_a_folder_is_taken(tmp_path: Path) -> None:
    """INST-01"""
    system = computer(tmp_path, "linux")
    insiders = tmp_path / ".config/Code - Insiders/User"
    insiders.mkdir(parents=True)
    assert CLIENTS["vscode"].file(system) == insiders / "mcp.json"

    put(tmp_path / ".config/Code/User/mcp.json", "{}")
    assert CLIENTS["vscode"].file(system) == tmp_path / ".config/Code/User/mcp.json"


@pytest.mark.parametrize(
    ("client_id", "variable", "below"),
    [
        ("claude-desktop", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
    ],
)
def test_variables_move_a_clients_folder(tmp_path: Path, client_id: str, variable: str, below: str) -> None:
    client = CLIENTS[client_id]
    moved = computer(tmp_path / "home", "linux", {variable: str(tmp_path / "moved")})
    relative = computer(tmp_path / "home", "linux", {variable: "not/absolute"})

    assert client.file(moved) == tmp_path / "moved" / below
    assert client.file(relative) == tmp_path / "home" / PLACES[client_id, "linux"]


@everywhere
def test_a_client_is_here_when_its_own_folder_or_file_is(tmp_path: Path, client_id: str, platform: str) -> None:
    client, system = CLIENTS[client_id], computer(tmp_path, platform)
    assert not client.is_present(system)

    place = tmp_path / PLACES[client_id, platform]
    if place.parent == tmp_path:
        place.touch()
    else:
        place.parent.mkdir(parents=True)
    assert client.is_present(system)
