"""obsidian_check lists exactly the files that the tools which read them refuse (CHECK-06)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.cli import main
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1" + bytes(40)
SOUND: dict[str, str | bytes] = {
    "note.md": "---\nsummary: 'a: b'\n---\nA note with a [[link]] and more than five words.\n",
    "latin1.md": "Fünf Wörter für eine Notiz, die alt ist.\n".encode("latin-1"),
    "far.md": b"Many words stand before the damage.\n" * 400 + b"\0" * 9,
    "cards.canvas": '{"nodes": [{"id": "a", "type": "text", "text": "hi", "x": 0, "y": 0}], "edges": []}',
    "empty.canvas": "",
    "rows.base": "views:\n  - type: table\n    name: All\n",
    "picture.png": PNG,
    "drawing.svg": "<svg/>",
    "sketch.excalidraw": "{",
    "sound.mp3": b"\0\1",
}
DAMAGED = "put back an earlier version"
BROKEN: dict[str, tuple[str | bytes, str]] = {
    "nul.md": (b"\0" * 50, DAMAGED),
    "ends in nul.md": (b"The end of this note is lost, as after a crash.\n" + b"\0" * 20, DAMAGED),
    "short nul.md": (b"Two words\0\0", DAMAGED),
    "utf-16.md": ("A few words".encode("utf-16"), "UTF-16"),
    "colon.md": ("---\nsummary: a: b\n---\n", "obsidian_edit_note"),
    "bracket.md": ("---\ntags: [a\n---\nOne\n", "obsidian_edit_note"),
    "twice.md": ("---\na: 1\na: 2\n---\nOne\n", "obsidian_edit_note"),
    "cut.canvas": ('{"nodes": [', "obsidian_create_note"),
    "cards no list.canvas": ('{"nodes": 3}', "obsidian_create_note"),
    "edges no list.canvas": ('{"nodes": [], "edges": 3}', "obsidian_create_note"),
    "nul.canvas": (b"\0" * 9, DAMAGED),
    "bracket.base": ("views: [", "obsidian_create_note"),
    "nameless.base": ("views:\n  - type: table\n", "obsidian_create_note"),
    "nul.base": (b"\0" * 9, DAMAGED),
    "text.png": (b"<html>not found</html>", "sound copy"),
    "empty.jpg": (b"", "sound copy"),
    "cut.png": (b"\x89PNG\r\n\x1a\n", "sound copy"),
}


def refuses(app: App, path: str) -> bool:
    """Whether the tool that reads a file refuses it, or says that its properties cannot be read."""
    tool, arguments = "read_note", {"name": path, "view": "properties"}
    if path.endswith(".canvas"):
        tool, arguments = "read_canvas", {"name": path}
    elif path.endswith(".base"):
        tool, arguments = "query", {"query": path}
    elif not path.endswith((".md", ".excalidraw")):
        tool, arguments = "attachments", {"name": path}
    try:
        data = call(app, f"obsidian_{tool}", arguments).data
    except AppError:
        return True
    return any("frontmatter is not readable" in warning for warning in data.get("warnings", ()))


def unreadable(app: App) -> dict[str, str]:
    results = call(app, "obsidian_check", {"only": "unreadable", "limit": 100}).data["results"]
    return {
        finding["path"]: f"{finding['text']} {finding['repair']}"
        for result in results
        for finding in result["findings"]
    }


def locked_pdf() -> bytes:
    pypdf = pytest.importorskip("pypdf", reason="pypdf, of the extra `media`, is not installed")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_the_check_lists_exactly_what_the_reading_tools_refuse(opened: Opened) -> None:
    """CHECK-06"""
    app = opened({**SOUND, **{path: data for path, (data, _) in BROKEN.items()}})
    listed = unreadable(app)
    assert {path: refuses(app, path) for path in (*SOUND, *BROKEN)} == {
        **dict.fromkeys(SOUND, False),
        **dict.fromkeys(BROKEN, True),
    }
    assert sorted(listed) == sorted(BROKEN)


@pytest.mark.parametrize("path", BROKEN)
def test_each_unreadable_file_is_listed_with_what_repairs_it(opened: Opened, path: str) -> None:
    """CHECK-06"""
    data, repair = BROKEN[path]
    assert repair in unreadable(opened({path: data}))[path]


def test_a_locked_and_a_broken_pdf_are_listed_with_their_own_repairs(opened: Opened) -> None:
    """CHECK-06"""
    app = opened({"locked.pdf": locked_pdf(), "broken.pdf": b"%PDF-1.4\nnothing", "empty.pdf": b""})
    app.vaults.get().indexer.pending.pdfs.complete()
    listed = unreadable(app)
    assert {path for path in ("locked.pdf", "broken.pdf", "empty.pdf") if refuses(app, path)} == listed.keys()
    assert "password" in listed["locked.pdf"]
    assert "Save it without its password" in listed["locked.pdf"]
    assert "sound copy" in listed["broken.pdf"]
    assert "obsidian_edit_note" not in " ".join(listed.values())


def test_pdfs_that_nobody_has_read_are_counted_and_not_called_sound(opened: Opened) -> None:
    """CHECK-06"""
    app = opened({"broken.pdf": b"%PDF-1.4\nnothing"})
    app.vaults.get().indexer.pending.pdfs.background = None
    (result,) = call(app, "obsidian_check", {"only": "unreadable"}).data["results"]
    assert result["total"] == 0
    assert result["note"] == "1 PDF not looked at."
    assert "broken" not in result


def test_a_file_over_the_limit_is_listed_whatever_its_kind(opened: Opened, tmp_path: Path) -> None:
    """CHECK-06"""
    paths = ("large.md", "large.canvas", "large.base", "large.pdf", "large.png")
    app = opened(dict.fromkeys(paths, ""))
    for path in paths:
        with (tmp_path / "vault" / path).open("wb") as file:
            file.truncate(64 * 2**20 + 1)
    app.vaults.get().look_everywhere()
    listed = unreadable(app)
    assert listed.keys() == {path for path in paths if refuses(app, path)} == set(paths)
    assert all("Divide it" in text for text in listed.values())


def test_no_check_calls_an_unreadable_note_a_stub_or_asks_it_for_a_property(opened: Opened) -> None:
    """CHECK-06"""
    notes: dict[str, str | bytes] = {f"{n}.md": f"---\nkind: {n}\n---\n" for n in range(20)}
    app = opened({**notes, **{path: data for path, (data, _) in BROKEN.items()}})
    results = call(app, "obsidian_check", {}).data["results"]
    advice: dict[str, Any] = {result["check"]: result["findings"] for result in results}
    for name in ("stubs", "missing_properties", "near_duplicates"):
        whole = call(app, "obsidian_check", {"only": name, "limit": 100}).data["results"]
        paths = {finding["path"] for result in whole for finding in result["findings"]}
        assert not paths & {"nul.md", "utf-16.md", "colon.md", "bracket.md", "short nul.md"}, name
    assert "unreadable" in advice


def test_the_command_prints_each_unreadable_file_with_its_repair(
    opened: Opened, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """CHECK-06, CHECK-04"""
    opened({path: data for path, (data, _) in BROKEN.items()})
    status = main.run_command_line(["--vault", str(tmp_path / "vault"), "check", "unreadable"])
    printed = capfd.readouterr().out
    assert status == 1
    assert all(path in printed for path in BROKEN)
    assert "obsidian_" not in printed
