"""No answer to a model is longer than it can read, whatever a vault holds; a person gets all of it (specs/tools.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp import json_codec
from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import call_with
from obsidian_mcp.errors import InvalidArguments, StaleEtag, UndoConflict
from obsidian_mcp.tools.paging import MOST_BYTES
from obsidian_mcp.tools.registry import TOOLS, call
from tests.conftest import app_on
from tests.vaults import answer, write_files

from .conftest import Opened

MANY = 1_500
DRY = {"dry_run": True}
CHANGED = {"content": "E", "all": True, **DRY}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A vault in which there are very many of everything."""
    vault = tmp_path_factory.mktemp("vault")
    settings = vault / ".obsidian"
    settings.mkdir()
    (settings / "templates.json").write_text('{"folder": "Templates"}', encoding="utf-8")
    marks = [{"type": "file", "ctime": 1, "path": f"Templates/Template {n}.md"} for n in range(MANY)]
    (settings / "bookmarks.json").write_text(json.dumps({"items": marks}), encoding="utf-8")
    folder = vault / "Templates"
    folder.mkdir()
    for n in range(600):
        (folder / f"Template {n}.md").write_text("{{title}}", encoding="utf-8")
        (vault / f"Folder with a longer name, so that a list of them is long, {n}").mkdir()
    (vault / "A.md").write_text("a", encoding="utf-8")
    parts = [f"## Heading of one part {n}\n[[A]] [[Missing {n}]] #same #tag{n} ^block-{n}\n" for n in range(MANY)]
    (vault / "Long.md").write_text("\n".join(parts), encoding="utf-8")
    names = ("tags", "aliases")
    lists = "".join(f"{name}:\n" + "".join(f"- {name} {n}\n" for n in range(MANY)) for name in names)
    properties = "".join(f"property {n}: a value that is not short\n" for n in range(MANY))
    (vault / "Properties.md").write_text(f"---\n{lists}{properties}---\ntext\n", encoding="utf-8")
    rows = "".join(f"| {n} | the other cell |\n" for n in range(MANY))
    (vault / "Table.md").write_text(f"| a | b |\n|---|---|\n{rows}", encoding="utf-8")
    card = {"id": "c", "type": "text", "text": "long text " * MANY, "x": 0, "y": 0, "width": 1, "height": 1}
    (vault / "C.canvas").write_text(json.dumps({"nodes": [card]}), encoding="utf-8")
    made = app_on(vault)
    made.vaults.get("").indexer.complete()
    yield made
    made.vaults.close()


@pytest.mark.parametrize(
    ("tool", "arguments", "left_out"),
    [
        ("read_note", {"name": "Long", "view": "outline"}, f"of {MANY} headings"),
        ("read_note", {"name": "Long", "view": "metadata"}, f"of {MANY} block ids"),
        ("read_note", {"name": "Properties", "view": "properties"}, f"of {MANY + 2} properties"),
        ("get_properties", {"name": "Properties"}, "Name one of the others with property"),
        ("get_links", {"name": "Long", "limit": 500}, '"next_offset":500'),
        ("tags", {"tag": "same"}, f'"more_lines":{MANY - 5}'),
        ("tags", {"limit": 500}, '"next_offset":500'),
        ("list_files", {"limit": 500}, '"next_offset":500'),
        ("list_templates", {}, '"more_templates":100'),
        ("list_bookmarks", {}, f'"more_bookmarks":{MANY - 500}'),
        ("graph", {"question": "unresolved", "limit": 500}, '"next_offset":500'),
        ("move_note", {"name": "A", "to": "B", "dry_run": True}, f'"more_lines":{MANY - 100}'),
        ("edit_note", {"name": "Long", "operation": "replace_text", "find": "e", **CHANGED}, "(cut)"),
        ("edit_table", {"name": "Table", "operations": [{"op": "remove_column", "column": "a"}], **DRY}, "(cut)"),
        ("edit_canvas", {"name": "C", "operations": [{"op": "edit", "card": "c", "text": "x"}], **DRY}, "(cut)"),
    ],
)
def test_an_answer_has_what_fits_and_says_what_is_left_out(
    app: App, tool: str, arguments: dict[str, Any], left_out: str
) -> None:
    """TOOL-07, CLI-10"""
    answer = json_codec.encode(call(app, f"obsidian_{tool}", arguments).data, asdict).decode()
    assert left_out in answer
    assert len(answer.encode()) < 1.5 * MOST_BYTES

    if "limit" not in arguments:
        with call_with(wants_all=True):
            whole = json_codec.encode(call(app, f"obsidian_{tool}", arguments).data, asdict).decode()
        assert len(whole) > len(answer)
        assert left_out not in whole


def test_the_folders_of_a_folder_come_in_pages_as_its_files_do(app: App) -> None:
    """TOOL-07"""
    folders: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = call(app, "obsidian_list_files", {"offset": offset}).data
        folders += page["folders"]
        offset = page.get("next_offset")

    assert len(folders) == len(set(folders)) == 601


def test_a_limit_holds_for_the_folders_of_a_folder(app: App) -> None:
    """TOOL-07"""
    page = call(app, "obsidian_list_files", {"limit": 7}).data

    assert len(page["folders"]) == 7
    assert page["next_offset"] == 7
    following = call(app, "obsidian_list_files", {"limit": 7, "offset": 7}).data
    assert not set(page["folders"]) & set(following["folders"])


def test_an_error_shows_the_beginning_of_long_differences(tmp_path: Path) -> None:
    """TOOL-07"""
    app = app_on(tmp_path)
    etag = call(app, "obsidian_create_note", {"name": "N", "content": "a" * 100_000}).data["etag"]
    call(app, "obsidian_create_note", {"name": "N", "content": "b" * 100_000, "overwrite": True})
    with pytest.raises(StaleEtag, match="This edit") as stale:
        call(app, "obsidian_edit_note", {"name": "N", "operation": "append", "content": "c", "etag": etag})
    (tmp_path / "N.md").write_text("d" * 100_000, encoding="utf-8")
    with pytest.raises(UndoConflict, match="Choose with wins") as conflict:
        call(app, "obsidian_undo", {})
    assert max(len(stale.value.message), len(conflict.value.message)) < 11_000
    app.vaults.close()


def test_an_undo_of_many_files_names_the_first(tmp_path: Path) -> None:
    """TOOL-07"""
    for number in range(60):
        (tmp_path / f"{number}.md").write_text("heron", encoding="utf-8")
    app = app_on(tmp_path)
    call(app, "obsidian_replace", {"find": "heron", "content": "egret", "query": "heron"})
    answer = call(app, "obsidian_undo", {}).data

    assert (len(answer["files"]), answer["more_files"]) == (50, 10)
    assert {file.read_text(encoding="utf-8") for file in tmp_path.glob("*.md")} == {"heron"}
    app.vaults.close()


@pytest.mark.parametrize("text", ["x" * 20_000, 'it\'s "a" [[b]] ' * 1_500, "'" * 20_000, "../" * 7_000])
def test_no_error_repeats_what_is_long(basic: Path, text: str) -> None:
    """ERR-08"""
    app = app_on(basic)
    for tool in TOOLS.values():
        texts = [name for name, one in tool.parameters.items() if one.type == "string" and name != "vault"]
        whole = {name: (tool.parameters[name].choices or (text,))[0] for name in texts}
        for given in [whole, *({name: text} for name in texts)]:
            _, said = answer(app, tool.name.removeprefix("obsidian_"), **given)
            assert len(said) <= 10_000, (tool.name, given.keys())
    app.vaults.close()


@pytest.mark.parametrize(
    ("tool", "arguments", "total"),
    [
        ("search", {"query": "brass"}, 3),
        ("search", {"query": "brass", "group": "folder"}, 3),
        ("search", {"query": "brass", "name": "N0"}, 1),
        ("list_tasks", {}, 3),
        ("list_files", {}, 4),
        ("tags", {}, 1),
        ("get_properties", {}, 1),
        ("graph", {"question": "orphans"}, 3),
        ("graph", {"question": "unresolved"}, 3),
        ("graph", {"question": "neighbours", "name": "N0"}, 0),
        ("get_links", {"name": "N0", "unlinked": True}, 2),
        ("attachments", {}, 1),
        ("history", {}, 0),
        ("query", {"query": "LIST FROM #t"}, 3),
        ("query", {"query": "not done", "language": "tasks"}, 3),
    ],
)
def test_no_entries_are_answered_with_their_number(
    opened: Opened, tool: str, arguments: dict[str, Any], total: int
) -> None:
    """TOOL-33"""
    notes = {f"N{number}.md": "---\nkind: x\n---\nbrass #t\n- [ ] do N0\n\n[[Gone]]\n" for number in range(3)}
    app = opened({**notes, "a.png": "x"})
    answer = call(app, f"obsidian_{tool}", {**arguments, "limit": 0}).data
    assert answer["total"] == total
    assert "next_offset" not in answer
    listed = {name for name, value in answer.items() if value and isinstance(value, list)}
    assert listed <= {"columns", "names"}


def test_every_list_that_says_so_counts_and_the_other_has_at_least_one_entry(app: App) -> None:
    """TOOL-33"""
    for tool in TOOLS.values():
        limit = tool.input_schema["properties"].get("limit")
        if limit is not None and limit.get("description") == "0: count":
            schema = tool.published.get("outputSchema")
            assert schema is None or '"total"' in json.dumps(schema), tool.name
        elif limit is not None:
            with pytest.raises(InvalidArguments, match="limit"):
                call(app, tool.name, {"name": "Home", "limit": 0})


def folders_of(names: dict[str, list[str]]) -> list[str]:
    return [f"{folder}{name}".removeprefix("/") for folder, listed in names.items() for name in listed]


def test_a_list_of_files_has_names_by_folder_and_details_only_when_asked(opened: Opened) -> None:
    """TOOL-35: 500 files cost 57 KB"""
    notes = {f"Meetings/20{year}/{year}-{month:02} Meeting of the board.md": "text" for year in range(24, 44)
             for month in range(1, 11)}  # fmt: skip
    app = opened({**notes, "Home.md": "", "Empty/x.png": ""})

    compact = call(app, "obsidian_list_files", {"recursive": True, "limit": 500})
    in_order = call(app, "obsidian_list_files", {"recursive": True, "limit": 500, "sort": "modified"}).data
    whole = call(app, "obsidian_list_files", {"recursive": True, "limit": 500, "details": True})

    paths = [file["path"] for file in whole.data["files"]]
    assert sorted(folders_of(compact.data["names"])) == sorted(in_order["paths"]) == sorted(paths)
    assert compact.data["names"]["/"] == ["Home.md"]
    assert {"size", "modified", "etag"} <= whole.data["files"][0].keys() | whole.data["files"][-1].keys()
    assert len(compact.envelope()) < len(whole.envelope()) / 3
    assert compact.data["folders"] == []
    one = call(app, "obsidian_list_files", {"folder": "Meetings"}).data
    assert (one["folders"][0], one["total"]) == ("Meetings/2024", 0)
    none = call(app, "obsidian_list_files", {"recursive": True, "extension": "md"}).data
    assert none["folders"] == ["Empty"]
    with call_with(wants_all=True):
        assert (
            call(app, "obsidian_list_files", {"recursive": True}).data["files"][0].keys()
            == whole.data["files"][0].keys()
        )


def test_the_values_of_a_property_are_counted_and_each_notes_only_when_asked(opened: Opened) -> None:
    """TOOL-35"""
    notes = {f"{number}.md": f"---\nstatus: {'done' if number % 3 else 'open'}\n---\n" for number in range(30)}
    notes |= {"x.md": "---\nstatus: [done, odd]\n---\n", "y.md": "---\nstatus:\n---\n"}
    app = opened(notes)

    counted = call(app, "obsidian_get_properties", {"property": "status"}).data
    page = call(app, "obsidian_get_properties", {"property": "status", "limit": 1, "offset": 1}).data
    whole = call(app, "obsidian_get_properties", {"property": "status", "details": True, "limit": 500}).data

    assert counted == {
        "counts": [
            {"value": "done", "notes": 21},
            {"value": "open", "notes": 10},
            {"value": "odd", "notes": 1, "path": "x.md"},
            {"notes": 1, "path": "y.md"},
        ],
        "notes": 32,
        "total": 4,
    }
    assert (page["counts"], page["next_offset"]) == ([{"value": "open", "notes": 10}], 2)
    assert len(whole["values"]) == 32


def test_a_change_of_many_files_is_shown_in_pages_that_have_all_of_it(opened: Opened) -> None:
    """TOOL-37: one call cost 15 KB"""
    notes = {f"Note {number:02}.md": "".join(f"line {number} {at}\n" for at in range(40)) for number in range(13)}
    app = opened(notes)
    call(app, "obsidian_replace", {"query": "path:Note", "find": "line", "content": "row"})

    pages = []
    offset: int | None = 0
    while offset is not None:
        page = call(app, "obsidian_history", {"change": 1, "offset": offset})
        assert len(page.data["diff"].encode()) <= 4_200
        pages.append(page.data["diff"])
        offset = page.data.get("next_offset")

    together = "".join(pages)
    assert len(pages) > 2
    assert all(page.startswith("--- a/Note ") for page in pages)
    assert together.count("\n-line ") == together.count("\n+row ") == 13 * 40
    one = call(app, "obsidian_history", {"change": 1, "name": "Note 07"}).data
    assert re.findall("^--- a/(.*)$", one["diff"], re.MULTILINE) == ["Note 07.md"]


@pytest.fixture(scope="module")
def long_entries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A vault in which the entries of every list are long."""
    text = "word " * 40
    notes = {
        f"{number}.md": f"---\ntext: {text}{number}\n---\nword {text}\n- [ ] {text}{number}\n" for number in range(600)
    }
    notes["Long.md"] = "".join(f"[[Missing {'x' * 200} {number}]] {text}\n" for number in range(600))
    app = app_on(write_files(tmp_path_factory.mktemp("entries") / "vault", notes))
    yield app
    app.vaults.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "word"}),
        ("search", {"query": "word", "name": "Long"}),
        ("get_links", {"name": "Long"}),
        ("graph", {"question": "unresolved"}),
        ("list_tasks", {}),
        ("get_properties", {"property": "text", "details": True}),
    ],
)
def test_a_page_that_is_shorter_than_asked_for_says_so_in_words(
    long_entries: App, tool: str, arguments: dict[str, Any]
) -> None:
    """TOOL-36: `limit: 500` gave 25 of 485"""
    answer = call(long_entries, f"obsidian_{tool}", {**arguments, "limit": 500}).data
    small = call(long_entries, f"obsidian_{tool}", {**arguments, "limit": 2}).data

    count = answer["next_offset"]
    assert 0 < count < 500
    assert answer["shown"].startswith(f"{count} of ") or tool == "get_links"
    assert "more do not fit one answer. Go on at next_offset." in answer["shown"]
    assert "shown" not in small
