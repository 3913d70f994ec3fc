"""The text of PDFs in ordinary searches: by page, read beside the calls, and told where it fails (PDF-1 to PDF-4)."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp import compose
from obsidian_mcp.adapters import pdf_reader
from obsidian_mcp.adapters.helper_loop import read_message, write_message
from obsidian_mcp.app import App
from obsidian_mcp.core.index import extract, search_document
from obsidian_mcp.core.index.row_writer import Record
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.core.memory import MemoryVault
from tests.serve.mcp.test_resources import started
from tests.tools.conftest import Opened
from tests.tools.test_attachments import pdf, pdf_bomb

pytestmark = pytest.mark.usefixtures("disk_of_macos")

pypdf = pytest.importorskip("pypdf", reason="the extra media is not installed")

FILES: dict[str, str | bytes] = {
    "Note.md": "a zebra\n",
    "img/x.png": "",
    "Papers/Stripes.pdf": pdf("Nothing here", "The zebra and its zebra stripes"),
    "Broken.pdf": b"%PDF-1.4 not much of one",
}


def run(app: App, query: str, **arguments: Any) -> dict[str, Any]:
    return call(app, "obsidian_search", {"query": query, **arguments}).to_full_data()


def found(app: App, query: str, **arguments: Any) -> list[str]:
    return [hit["path"] for hit in run(app, query, **arguments)["hits"]]


@pytest.fixture
def library(opened: Opened) -> App:
    """A vault whose PDFs are in the index."""
    app = opened(FILES)
    assert app.vaults.get().indexer.pending.pdfs.complete()
    return app


def test_an_ordinary_search_finds_the_pages_of_pdfs(library: App) -> None:
    """PDF-1"""
    for query, match in [("zebras", "smart"), ("zebra", "exact"), ("stripes", "smart")]:
        (hit,) = [hit for hit in run(library, query, match=match)["hits"] if hit["path"] == "Papers/Stripes.pdf"]
        (snippet,) = hit["snippets"]
        assert (snippet["page"], snippet["line"]) == (2, 1)
        assert "zebra" in snippet["text"]
        assert "card" not in snippet
    assert set(found(library, "zebra")) == {"Note.md", "Papers/Stripes.pdf"}
    groups = run(library, "zebra", group="folder")["groups"]
    assert {group["group"] for group in groups} == {"/", "Papers"}


def test_the_language_of_queries_holds_for_pdfs_too(library: App) -> None:
    """PDF-4"""
    for query, names in {
        '"zebra stripes"': ["Papers/Stripes.pdf"],
        "path:papers zebra": ["Papers/Stripes.pdf"],
        "zebra -stripes": ["Note.md"],
        "zebra -nowhere": ["Note.md", "Papers/Stripes.pdf"],
        "/str.pes/": ["Papers/Stripes.pdf"],
        "section:(zebra stripes)": ["Papers/Stripes.pdf"],
        "section:(nothing zebra)": [],
        "nothing zebra": ["Papers/Stripes.pdf"],
        "path:stripes": ["Papers/Stripes.pdf"],
    }.items():
        assert sorted(found(library, query, match="exact")) == names, query
    assert run(library, "zebra", folder="img")["total"] == 0


def test_a_query_that_only_excludes_finds_no_pdf(library: App) -> None:
    """PDF-4"""
    for query in ["-nowhere", '""', "-(q x)", "-nowhere -tag:#x"]:
        assert found(library, query, match="exact") == ["Note.md"], query
    assert found(library, "*") == ["Note.md"]
    assert found(library, "", sort="modified") == ["Note.md"]


def test_a_search_says_which_pdfs_it_does_not_see(opened: Opened) -> None:
    """PDF-3, PDF-2"""
    app = opened(FILES)
    assert found(app, "zebra") == ["Note.md"]
    assert "2 PDFs are not read yet. `obsidian-mcp index update` reads them." in run(app, "giraffe")["incomplete"]
    assert "1 PDF is not" in run(app, "giraffe", folder="Papers")["incomplete"]
    for query in ("[kind:giraffe]", "giraffe [kind:x]", "tag:#giraffe", "task-todo:giraffe", "-x (task:a OR [b])"):
        assert "incomplete" not in run(app, query), query  # a PDF has none
    for query in ("giraffe path:Notes", 'giraffe (file:"other.pdf" OR path:Notes)', "path:Nowhere path:Papers giraffe"):
        assert "incomplete" not in run(app, query), query  # none can be there
    assert "1 PDF is not" in run(app, "giraffe path:papers")["incomplete"]
    assert "2 PDFs" in run(app, "giraffe OR [kind:x]")["incomplete"]
    assert app.vaults.get().indexer.pending.pdfs.complete()
    assert "incomplete" not in run(app, "zebra")
    said = run(app, "giraffe")["incomplete"]
    assert said.startswith("Not searched whole: Broken.pdf: broken (")
    assert "not read" not in said


@contextmanager
def opened_again(app: App) -> Iterator[App]:
    """Another program on the same vault and index."""
    again = compose.build(app.config)
    try:
        yield again
    finally:
        again.vaults.close()


def test_what_a_pdf_said_before_it_changed_is_found_no_more(library: App) -> None:
    """PDF-3"""
    file = library.config.vaults[0] / "Papers/Stripes.pdf"
    file.write_bytes(pdf("A giraffe"))
    with opened_again(library) as app:
        assert found(app, "zebra") == ["Note.md"]
        app.vaults.get().indexer.pending.pdfs.complete()
        assert found(app, "giraffe") == ["Papers/Stripes.pdf"]
    file.unlink()
    with opened_again(library) as app:
        assert found(app, "giraffe") == []


def test_a_change_that_is_noted_drops_the_rows_of_a_pdf() -> None:
    """PDF-3"""
    with MemoryVault({"a.pdf": b"1"}) as vault:
        vault.indexer.pending.begin()
        entry = vault.catalog.entry("a.pdf")
        facts = extract.extract_pdf(search_document.compose("a.pdf", "zebra"), [0], "")
        vault.indexer.pending.pdfs.store(entry, Record(entry, b"1", facts))
        assert (vault.index.status().files, vault.indexer.pending.pdfs.unread()) == (1, [])
        vault.write("a.pdf", b"22")
        vault.look()
        vault.indexer.pending.pdfs.store(entry, Record(entry, b"1", facts))  # what was read before the change
        vault.indexer.freshen()
        assert vault.index.status().files == 0
        assert [pdf.size for pdf in vault.indexer.pending.pdfs.unread()] == [2]
        vault.delete("a.pdf")
        vault.look()
        assert vault.indexer.pending.pdfs.unread() == []


def test_a_pdf_is_read_once(library: App) -> None:
    """PDF-3: the next program goes on where this one ended."""
    (library.config.vaults[0] / "New.pdf").write_bytes(pdf("A giraffe"))
    with opened_again(library) as app:
        assert [entry.path for entry in app.vaults.get().indexer.pending.pdfs.unread()] == ["New.pdf"]
        assert found(app, "stripes") == ["Papers/Stripes.pdf"]


def test_a_pdf_that_the_policy_hides_is_not_read(tmp_path: Path) -> None:
    """PDF-3"""
    for folder in ("Open", "Secret"):
        (tmp_path / "vault" / folder).mkdir(parents=True)
        (tmp_path / "vault" / folder / "a.pdf").write_bytes(pdf("zebra"))
    (policy := tmp_path / "policy.toml").write_text('hidden = ["Secret/"]\n', encoding="utf-8", newline="\n")
    held = app_on(tmp_path / "vault")
    with opened_again(held.replace(config=held.config.replace(named_policy=str(policy)))) as app:
        indexer = app.vaults.get().indexer
        assert indexer.pending.pdfs.complete()
        assert found(app, "zebra") == ["Open/a.pdf"]
        assert indexer.index.status().files == 1


def test_notes_come_before_pdfs() -> None:
    """PDF-3: while notes are pending no PDF is begun; then the smallest is the first."""
    notes = {f"{number}.md": "x" for number in range(40)}
    with MemoryVault({"Large.pdf": b"0" * 99, "Small.pdf": b"0", **notes}) as vault:
        vault.indexer.pending.begin()
        assert vault.indexer.pending.pdfs.next_pdf() is None
        vault.indexer.complete()
        entry = vault.indexer.pending.pdfs.next_pdf()
        assert entry is not None
        assert entry.path == "Small.pdf"
        assert vault.reads.count("Small.pdf") == 0


def test_a_pdf_that_cannot_be_read_is_named_with_the_reason(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """PDF-2"""
    writer = pypdf.PdfWriter()
    writer.append(io.BytesIO(pdf("zebra")))
    writer.encrypt("secret", algorithm="RC4-128")
    locked = io.BytesIO()
    writer.write(locked)
    app = opened({"Locked.pdf": locked.getvalue(), "Picture.pdf": pdf("")})
    app.vaults.get().indexer.pending.pdfs.complete()
    said = run(app, "zebra")["incomplete"]
    assert "Locked.pdf: locked with a password" in said
    assert "Picture.pdf: no text; its pages may be pictures" in said
    monkeypatch.setattr(pdf_reader, "SECONDS", 0.0)
    (app.config.vaults[0] / "Slow.pdf").write_bytes(pdf("zebra"))
    with opened_again(app) as again:
        again.vaults.get().indexer.pending.pdfs.complete()
        assert "Slow.pdf: takes more than 0 seconds to read" in run(again, "zebra")["incomplete"]


def test_a_process_that_reads_a_pdf_ends_with_its_program(tmp_path: Path) -> None:
    """PDF-2: also in the middle of a PDF, and however the program ends"""
    (tmp_path / "a.pdf").write_bytes(pdf("zebra"))
    (tmp_path / "slow.pdf").write_bytes(pdf_bomb(50_000_000))
    command = [sys.executable, "-m", "obsidian_mcp.adapters.pdf_worker", str(10**10), str(tmp_path), "0"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        answers = []
        for name in ("a.pdf", "missing.pdf", "a.pdf"):
            write_message(process.stdin, [name, name])
            answers.append((read_message(process.stdout) or ({}, b""))[0])
        write_message(process.stdin, ["slow.pdf", "slow.pdf"])
        process.stdin.close()

        assert process.wait(3) == 0
    first, missing, last = answers
    assert first == last
    assert (first["content"]["text"], first["starts"], first["problem"]) == ("zebra", [0], "")
    assert missing["digest"] is None
    assert "missing.pdf" in missing["problem"]


def test_a_server_reads_pdfs_beside_its_calls(basic: Path) -> None:
    """PDF-3"""
    (basic / "Paper.pdf").write_bytes(pdf("Nothing", "A giraffe"))
    with started(basic) as server:
        server.initialize()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            answer = server.call("tools/call", {"name": "obsidian_search", "arguments": {"query": "giraffe"}})
            content = json.loads(answer["result"]["content"][0]["text"])["data"]
            if content["total"]:
                break
            assert "1 PDF is not read yet. Ask again in a while." in content["incomplete"]
        (hit,) = content["hits"]
        assert (hit["path"], hit["snippets"][0]["page"]) == ("Paper.pdf", 2)
        assert "incomplete" not in content
        assert server.close() == 0
