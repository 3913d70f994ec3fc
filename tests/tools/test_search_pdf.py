"""The text of PDFs in searches: by page, read once, and told where it fails (PDF-1 to PDF-4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters import pdf_texts
from obsidian_mcp.app import App
from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.tools import call
from tests.tools.conftest import Opened
from tests.tools.test_attachments import pdf

pytest.importorskip("pypdf", reason="the extra media is not installed")


def run(app: App, **arguments: Any) -> dict[str, Any]:
    return call(app, "obsidian_search", arguments).whole()


@pytest.fixture
def library(opened: Opened) -> App:
    return opened(
        {
            "Note.md": "a zebra\n",
            "img/x.png": "",
            "Papers/Stripes.pdf": pdf("Nothing here", "The zebra and its zebra stripes"),
            "Broken.pdf": b"%PDF-1.4 not much of one",
        }
    )


def test_pages_of_pdfs_are_found_where_they_are_asked_for(library: App) -> None:
    """PDF-1"""
    assert [hit["path"] for hit in run(library, query="zebra")["hits"]] == ["Note.md"]
    found = run(library, query="zebra", pdf=True)
    assert [hit["path"] for hit in found["hits"]] == ["Note.md", "Papers/Stripes.pdf"]
    assert found["total"] == 2
    (snippet,) = found["hits"][1]["snippets"]
    assert snippet["page"] == 2
    assert "zebra" in snippet["text"]
    assert "Broken.pdf: broken" in found["pdfs"]


def test_the_language_of_queries_holds_for_pdfs_too(library: App) -> None:
    """PDF-4"""
    for query, names in {
        '"zebra stripes"': ["Papers/Stripes.pdf"],
        "path:papers zebra": ["Papers/Stripes.pdf"],
        "zebra -stripes": ["Note.md"],
        "/str.pes/": ["Papers/Stripes.pdf"],
    }.items():
        assert [hit["path"] for hit in run(library, query=query, pdf=True)["hits"]] == names, query
    assert run(library, query="zebra", pdf=True, folder="img")["total"] == 0
    with pytest.raises(InvalidArguments, match="group"):
        run(library, query="zebra", pdf=True, group="folder")


def test_pdfs_come_behind_the_notes_on_every_page(library: App) -> None:
    """PDF-1"""
    first = run(library, query="zebra", pdf=True, limit=1)
    assert ([hit["path"] for hit in first["hits"]], first["next_offset"]) == (["Note.md"], 1)
    second = run(library, query="zebra", pdf=True, limit=1, offset=1)
    assert [hit["path"] for hit in second["hits"]] == ["Papers/Stripes.pdf"]
    assert "next_offset" not in second


def _entry(path: str, size: int = 10, mtime_ns: int = 1) -> FileEntry:
    return FileEntry(VaultPath(path), path, size, mtime_ns)


def test_a_text_is_read_once_and_again_when_the_file_changes(tmp_path: Path) -> None:
    """PDF-3"""
    reads: list[str] = []

    def read(disk: str, _: int) -> bytes:
        reads.append(disk)
        return pdf("One page")

    for _ in range(2):
        ((_, text),), left = pdf_texts.PdfTexts(tmp_path, read).texts([_entry("a.pdf")], 60)
        assert (text.pages, text.problem, left) == (("One page",), "", 0)
    assert reads == ["a.pdf"]
    pdf_texts.PdfTexts(tmp_path, read).texts([_entry("a.pdf", mtime_ns=2)], 60)
    assert reads == ["a.pdf", "a.pdf"]
    assert len(list(tmp_path.iterdir())) == 1


def test_without_time_nothing_is_read_and_that_is_said(tmp_path: Path) -> None:
    """PDF-2"""
    found, left = pdf_texts.PdfTexts(tmp_path, lambda _, __: pdf("x")).texts([_entry("a.pdf")], 0)
    assert (found, left) == ([], 1)


def test_a_pdf_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    """PDF-2"""
    huge = _entry("a.pdf", size=pdf_texts.MOST_BYTES + 1)
    ((_, text),), _ = pdf_texts.PdfTexts(tmp_path, lambda _, __: b"").texts([huge], 60)
    assert text.problem == "larger than 200 MB"
