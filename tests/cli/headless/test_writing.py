"""The commands that change notes, their safety, and what needs the app (HEADLESS-01, 06, 09, 18)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp.cli import main

from .conftest import Ran, Run

UNREACHABLE = "The CLI is unable to find Obsidian. Please make sure Obsidian is running and try again.\n"


def test_a_note_is_created_with_its_escapes(vault: Path, run: Run) -> None:
    """HEADLESS-06, HEADLESS-18."""
    assert run("create", "path=T.md", r"content=a\nb\tc", "silent") == "Created: T.md\n"
    assert (vault / "T.md").read_bytes() == b"a\nb\tc"
    assert run("create", "path=T", "content=x", "overwrite") == "Overwrote: T.md\n"
    assert run("create", "path=Made/New", "name=Idea", r"content=\\n") == "Created: Made/New/Idea.md\n"
    assert (vault / "Made" / "New" / "Idea.md").read_bytes() == rb"\n"
    assert run("create", "name=v1.2") == "Created: v1.2.md\n"
    assert run("create", "name=data.txt", "content=x") == "Created: data.txt\n"


def test_a_taken_name_gets_a_number_where_that_is_wanted(
    vault: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-18."""
    monkeypatch.setenv("OBSIDIAN_MCP_NUMBERED", "1")
    assert run("create", "name=Beta", "content=x") == "Created: Beta 1.md\n"
    assert (vault / "Beta 1.md").exists()


@pytest.mark.parametrize(
    ("before", "words", "after"),
    [
        (b"", ["append", "content=x"], b"x"),
        (b"t", ["append", r"content=a\nb"], b"t\na\nb"),
        (b"t\n", ["append", "content=a"], b"t\na"),
        (b"t", ["append", "content=z", "inline"], b"tz"),
        (b"a\r\nb\r\n", ["append", r"content=c\nd"], b"a\r\nb\r\nc\r\nd"),
        (b"# i\n", ["prepend", r"content=- p\n"], b"- p\n\n# i\n"),
        (b"---\na: 1\n---\nt\n", ["prepend", "content=x"], b"---\na: 1\n---\nx\nt\n"),
        (b"t", ["prepend", "content=x", "inline"], b"xt"),
        (b"\xef\xbb\xbft", ["prepend", "content=x"], b"\xef\xbb\xbfx\nt"),
        (b"- [ ] a\n", ["task", "line=1", "toggle"], b"- [x] a\n"),
        (b"> - [/] a\n", ["task", "line=1", "toggle"], b"> - [ ] a\n"),
        (b"- [ ] a", ["task", "line=1", "status=?"], b"- [?] a"),
        (b"---\nt: 1 # c\nu: 2\n---\n", ["property:set", "name=u", "value=3"], b"---\nt: 1 # c\nu: 3\n---\n"),
        (b"---\r\nu: 2\r\n---\r\n", ["property:set", "name=l", "value=a, b", "type=list"],
         b"---\r\nu: 2\r\nl:\r\n  - a\r\n  - b\r\n---\r\n"),
        (b"---\nu: 2\n---\n", ["property:remove", "name=u"], b""),
    ],
)  # fmt: skip
def test_an_edit_changes_what_is_asked_and_nothing_else(
    vault: Path, run: Run, before: bytes, words: list[str], after: bytes
) -> None:
    """HEADLESS-18."""
    (vault / "N.md").write_bytes(before)
    run(*words, "path=N.md")
    assert (vault / "N.md").read_bytes() == after


def test_a_renamed_note_takes_its_links_along_and_undo_brings_all_back(vault: Path, run: Run) -> None:
    """HEADLESS-18."""
    before = (vault / "Alpha.md").read_bytes()
    assert run("rename", "file=Beta", "name=Gamma") == "Renamed: Beta.md -> Gamma.md\n"
    assert b"[[Gamma]] [[Gamma]]" in (vault / "Alpha.md").read_bytes()
    assert main.run(["undo"]) == 0
    assert (vault / "Alpha.md").read_bytes() == before
    assert (vault / "Beta.md").exists()
    assert run("move", "path=Beta.md", "to=Folder") == "Moved: Beta.md -> Folder/Beta.md\n"
    assert run("move", "path=Folder/Beta.md", "to=/") == "Moved: Folder/Beta.md -> Beta.md\n"
    assert run("move", "path=Beta.md", "to=New/B2.md") == "Moved: Beta.md -> New/B2.md\n"


def test_delete_moves_to_the_trash_that_the_settings_name(vault: Path, run: Run) -> None:
    """HEADLESS-18."""
    (vault / ".obsidian" / "app.json").write_text('{"trashOption": "local"}', encoding="utf-8")
    assert run("delete", "path=Beta.md") == "Moved to trash: Beta.md\n"
    assert (vault / ".trash" / "Beta.md").exists()
    assert run("delete", "file=Gamma", "permanent") == "Deleted permanently: Folder/Gamma.md\n"


def test_a_read_only_session_changes_nothing(vault: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """HEADLESS-18: the policy and the journal hold."""
    monkeypatch.setenv("OBSIDIAN_MCP_READ_ONLY", "1")
    assert run("append", "path=Beta.md", "content=x").startswith("Error: ")
    assert run("create", "name=New").startswith("Error: ")
    assert not (vault / "New.md").exists()


def test_the_daily_note_is_made_and_added_to(vault: Path, run: Run) -> None:
    """HEADLESS-17."""
    assert run("daily:append", "content=one") == "Appended to: 2026-11-22.md\n"
    assert run("daily:prepend", "content=zero") == "Prepended to: 2026-11-22.md\n"
    assert run("daily:read") == "zero\none\n"
    assert run("daily", "date=2026-11-23") == "2026-11-23.md\n"
    assert run("daily:list") == "2026-11-22.md\n2026-11-23.md\n"
    (vault / ".obsidian" / "daily-notes.json").write_text('{"folder": "Log"}', encoding="utf-8")
    assert run("daily") == 'Error: Failed to create daily note. Folder "Log" not found.\n'


def test_templates_are_listed_read_and_used(vault: Path, run: Run) -> None:
    """HEADLESS-17."""
    (vault / ".obsidian" / "templates.json").write_text('{"folder": "Tpl"}', encoding="utf-8")
    assert run("templates") == 'Error: Template folder "Tpl" not found.\n'
    (vault / "Tpl").mkdir()
    assert run("templates") == "No templates found.\n"
    (vault / "Tpl" / "Daily.md").write_text("# {{title}} {{date}} <% x %>\n", encoding="utf-8", newline="")
    assert run("templates") == "Daily\n"
    assert run("template:read", "name=daily") == "# {{title}} {{date}} <% x %>\n"
    assert run("template:read", "name=daily.md", "resolve", "title=T") == "# T 2026-11-22 <% x %>\n"
    assert run("template:read", "name=no") == 'Error: Template "no" not found.\n'
    assert run("create", "name=New", "template=Daily", "content=ignored") == "Created: New.md\n"
    assert (vault / "New.md").read_bytes() == b"# New 2026-11-22 <% x %>\n"


def test_files_of_the_app_are_read(vault: Path, run: Run) -> None:
    """HEADLESS-15."""
    settings = vault / ".obsidian"
    (settings / "workspace.json").write_text('{"lastOpenFiles": ["Beta.md", "gone.md"]}', encoding="utf-8")
    (settings / "workspaces.json").write_text('{"workspaces": {"b": {}, "a": {}}, "active": "b"}', encoding="utf-8")
    assert run("recents") == "Beta.md\n"
    assert run("workspaces") == "a\nb (active)\n"
    assert run("bookmark", "file=Alpha", "subpath=#Alpha", "title=First") == "Bookmarked: Alpha.md#Alpha\n"
    assert run("bookmarks", "verbose") == "file\tAlpha.md#Alpha\tFirst\n"
    assert run("bookmarks", "total", "json") == "1\n"


def test_bases_are_listed_and_queried(vault: Path, run: Run) -> None:
    """HEADLESS-16."""
    base = "views:\n  - type: table\n    name: All\n    filters: file.ext == 'md'\n    order: [file.name, status]\n"
    (vault / "B.base").write_text(base, encoding="utf-8")
    assert run("bases") == "B.base\n"
    assert run("base:views", "file=B") == "All\ttable\n"
    assert run("base:query", "path=B.base", "format=paths") == "Alpha.md\nBeta.md\nFolder/Gamma.md\n"
    (vault / "B.md").write_text("a note of the same name", encoding="utf-8")
    assert run("base:query", "file=B", "format=paths").startswith("Alpha.md\nB.md\n")
    (vault / "B.md").unlink()
    assert run("base:query", "file=none") == "Error: Base file not found: none\n"
    assert run("base:query", "path=B.base", "view=No") == "Error: View not found: No\n"
    rows = run("base:query", "path=B.base")
    assert rows.startswith('[\n  {\n    "path": "Alpha.md",\n    "file name": "Alpha",\n    "status": "draft"\n  },')


def test_a_command_that_needs_the_app_says_so(vault: Path, ran: Callable[..., Ran]) -> None:
    """HEADLESS-09."""
    assert ran("eval", "code=1") == Ran(
        "", f'{UNREACHABLE}obsidian-mcp works from the files; "eval" needs the app.\n', 1
    )
    assert ran("sync:status").err == f"{UNREACHABLE}obsidian-headless syncs without the app.\n"
    assert ran("eval").out.startswith("Error: Missing required parameter: code=<javascript>\nUsage: eval ")


def test_the_exit_status_is_strict_where_that_is_wanted(
    vault: Path, ran: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-01."""
    assert ran("read", "path=No.md").status == 0
    monkeypatch.setenv("OBSIDIAN_MCP_STRICT_EXIT", "1")
    assert ran("read", "path=No.md").status == 1
    assert ran("vault=x", "read", "path=No.md").status == 1
    assert ran("read", "path=Beta.md").status == 0


def test_an_active_file_counts_only_where_it_is_set(vault: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """HEADLESS-05."""
    layout = '{"main": {"id": "m", "children": [{"id": "t", "state": {"state": {"file": "Beta.md"}}}]}, "active": "t"}'
    (vault / ".obsidian" / "workspace.json").write_text(layout, encoding="utf-8")
    assert run("outline").startswith("Error: No active file.")
    monkeypatch.setenv("OBSIDIAN_MCP_ACTIVE", "workspace")
    assert run("outline", "total") == "4\n"
    assert run("append", "content=x").startswith("Error: No active file.")
    monkeypatch.setenv("OBSIDIAN_MCP_ACTIVE", "Alpha.md")
    assert run("append", "content=x") == "Appended to: Alpha.md\n"


def test_the_vault_is_found_by_name_id_or_folder(
    vault: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-04."""
    other = tmp_path / "Other"
    (other / ".obsidian").mkdir(parents=True)
    (other / "Deep").mkdir()
    (other / "Only.md").write_text("x", encoding="utf-8")
    assert run("vault=Cases", "vault", "info=name") == "Cases\n"
    assert run(f"vault={vault}", "files") == "Vault not found.\n"
    monkeypatch.chdir(other / "Deep")
    assert run("files") == "Only.md\n"
    assert run("files", "total", "vault=Cases") == "6\n"
    assert run("vault=nosuch", "doesnotexist") == "Vault not found.\n"


def test_a_template_is_inserted_and_a_unique_note_made(vault: Path, run: Run) -> None:
    """HEADLESS-17."""
    (vault / ".obsidian" / "templates.json").write_text('{"folder": "Tpl"}', encoding="utf-8")
    (vault / "Tpl").mkdir()
    (vault / "Tpl" / "T.md").write_text("---\nkind: x\n---\nby {{title}}\n", encoding="utf-8", newline="")
    assert run("template:insert", "name=t", "file=Gamma") == "Inserted: Folder/Gamma.md\n"
    text = (vault / "Folder" / "Gamma.md").read_text(encoding="utf-8")
    assert text == "---\nkind: x\n---\nplain body [[Alpha]] [[Ghost]]\nby Gamma\n"
    assert run("unique", "content=x") == "Created: 202611220905.md\n"
    assert run("unique", "name=Idea") == "Created: 202611220905 Idea.md\n"
    assert run("unique") == "Created: 202611220906.md\n"


def test_plugins_themes_and_snippets_are_listed(vault: Path, run: Run) -> None:
    """HEADLESS-15."""
    settings = vault / ".obsidian"
    assert run("plugins") == "No plugins found.\n"
    (settings / "core-plugins.json").write_text('{"graph": true, "canvas": false}', encoding="utf-8")
    (settings / "community-plugins.json").write_text('["dataview"]', encoding="utf-8")
    for name, version in (("dataview", "0.5.7"), ("other", "1.0")):
        (settings / "plugins" / name).mkdir(parents=True)
        manifest = f'{{"id": "{name}", "version": "{version}"}}'
        (settings / "plugins" / name / "manifest.json").write_text(manifest, encoding="utf-8")
    assert run("plugins") == "canvas\ndataview\ngraph\nother\n"
    assert run("plugins:enabled", "versions") == "dataview\t0.5.7\ngraph\n"
    assert run("plugins", "filter=community", "versions") == "dataview\t0.5.7\nother\t1.0\n"
    (settings / "snippets").mkdir()
    (settings / "snippets" / "wide.css").write_text("", encoding="utf-8")
    (settings / "appearance.json").write_text('{"enabledCssSnippets": ["wide"]}', encoding="utf-8")
    assert run("snippets") == run("snippets:enabled") == "wide\n"
    assert run("themes") == "No themes found.\n"


def test_a_command_of_the_app_is_handed_to_it_where_it_runs(
    vault: Path, ran: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-09."""
    program = tmp_path / "official.py"
    program.write_text("import sys; print(*sys.argv[1:], sep='|'); sys.exit(3)\n", encoding="utf-8")
    for folder in (tmp_path / "config" / "obsidian", tmp_path / "Library" / "Application Support" / "obsidian"):
        folder.mkdir(parents=True)
        registry = {"vaults": {"0123456789abcdef": {"path": str(vault), "ts": 1, "open": True}}}
        (folder / "obsidian.json").write_text(json.dumps(registry), encoding="utf-8")
    monkeypatch.setenv("OBSIDIAN_MCP_CLI", f'"{sys.executable}" "{program}"')
    monkeypatch.setenv("OBSIDIAN_MCP_ASSUME_RUNNING", "1")
    assert ran("eval", "code=1+1").status == 1
    monkeypatch.setenv("OBSIDIAN_MCP_BACKEND", "auto")
    handed = ran("eval", "code=1+1")
    assert (handed.out.splitlines(), handed.status) == (["vault=0123456789abcdef|eval|code=1+1"], 3)
    monkeypatch.setenv("OBSIDIAN_MCP_READ_ONLY", "1")
    assert ran("eval", "code=1+1").out == "Error: This session only reads.\n"
    assert ran("commands").status == 3
    monkeypatch.setenv("OBSIDIAN_MCP_DROP_IN", "1")
    assert ran("commands").status == 1
