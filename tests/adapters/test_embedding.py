"""Models, endpoints and the store of vectors (specs/semantic.md). The model is real, and tiny."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the extra `semantic` is not installed")
pytest.importorskip("onnx", reason="it makes the tiny model")

from obsidian_mcp.adapters import openai_api
from obsidian_mcp.adapters.embedding_model import EmbeddingModel, missing_packages
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.openai_api import EmbeddingEndpoint
from obsidian_mcp.adapters.vector_store import VectorStore
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.pending_files import PendingFiles
from obsidian_mcp.core.semantic.meaning import EmbeddingRefused, Meaning
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import SemanticUnavailable
from tests import tiny_model


def cosine(one: bytes, other: bytes) -> float:
    vectors = [struct.unpack(f"<{len(vector) // 4}f", vector) for vector in (one, other)]
    return float(sum(a * b for a, b in zip(*vectors, strict=True)))


def test_a_model_of_a_folder_embeds_by_meaning(tmp_path: Path) -> None:
    """SEM-07"""
    model = EmbeddingModel(tiny_model.make(tmp_path / "tiny"))
    assert missing_packages() == []
    puncture, tyre, soup = model.embed(["repairing a puncture", "Flat tyre", "lentil soup"])
    assert cosine(tyre, tyre) == pytest.approx(1)
    assert cosine(puncture, tyre) > 0.9 > 0.1 > cosine(puncture, soup)


def test_a_local_model_reports_nothing_to_anybody(tmp_path: Path) -> None:
    """SEM-08"""
    home = tmp_path / "home"
    home.mkdir()
    places = {name: str(home) for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CACHE_HOME")}
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "CI"))} | places
    program = (
        "import sys; from pathlib import Path; from obsidian_mcp.adapters.embedding_model import EmbeddingModel;"
        "EmbeddingModel(Path(sys.argv[1])).embed(['x'])"
    )
    folder = tiny_model.make(tmp_path / "tiny")
    subprocess.run([sys.executable, "-c", program, str(folder)], env=environment, check=True)

    assert list(home.rglob("*")) == []  # it would keep an id of the device, and what is to be sent


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    """SEM-07"""
    with pytest.raises(SemanticUnavailable, match="semantic setup"):
        EmbeddingModel(tmp_path).embed(["x"])
    folder = tiny_model.make(tmp_path / "tiny")
    (folder / "onnx" / "model.onnx").write_bytes(b"damaged")
    with pytest.raises(SemanticUnavailable, match="cannot be loaded"):
        EmbeddingModel(folder).embed(["x"])


class Answers(BaseHTTPRequestHandler):
    received: list[dict[str, object]] = []  # noqa: RUF012  of one test's server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.received.append({**body, "key": self.headers.get("authorization"), "path": self.path})
        texts, model = body["input"], body["model"]
        data = [{"index": n, "embedding": [] if model == "empty" else [3.0, 4.0]} for n in reversed(range(len(texts)))]
        status, answer = 200, json.dumps({"data": data}).encode()
        if model == "bad":
            status, answer = 404, b"<html>No such page</html>"
        elif model == "picky" and any("too long" in text for text in texts):
            status, answer = 400, b'{"error": {"message": "the input exceeds the context length"}}'
        elif model == "cold":
            threading.Event().wait(0.5)  # it is loaded first
        self.send_response(status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Answers.received.clear()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_package_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SEM-07"""
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(SemanticUnavailable, match="numpy is not installed"):
        EmbeddingModel(tiny_model.make(tmp_path / "tiny")).embed(["x"])


def test_an_endpoint_is_asked_in_the_openai_way(tmp_path: Path) -> None:
    """SEM-06"""
    with endpoint() as url:
        found = EmbeddingEndpoint(url, "good", "secret", 5).embed(["a", "b"])
        assert [struct.unpack("<2f", vector) for vector in found] == [pytest.approx((0.6, 0.8))] * 2
        sent = {"model": "good", "input": ["a", "b"], "key": "Bearer secret", "path": "/v1/embeddings"}
        assert Answers.received == [sent]
        with pytest.raises(SemanticUnavailable, match="HTTP 404"):
            EmbeddingEndpoint(url, "bad", "", 5).embed(["a"])
    with pytest.raises(SemanticUnavailable, match="does not answer"):
        EmbeddingEndpoint(url, "good", "", 5).embed(["a"])


def test_only_a_search_gives_an_endpoint_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """SEM-04"""
    monkeypatch.setattr(openai_api, "QUICK_SECONDS", 0.1)
    with endpoint() as url:
        model = EmbeddingEndpoint(url, "cold", "", 20)
        with pytest.raises(SemanticUnavailable, match="does not answer"):
            model.embed(["a"], quick=True)
        assert len(model.embed(["a"])) == 1


@pytest.mark.parametrize(("model", "said"), [("picky", "HTTP 400: the input exceeds"), ("empty", "HTTP 200")])
def test_an_endpoint_that_gives_no_vectors_is_quoted(model: str, said: str) -> None:
    """SEM-06"""
    with endpoint() as url, pytest.raises(EmbeddingRefused, match=said):
        EmbeddingEndpoint(url, model, "", 5).embed(["too long"])


def test_a_note_that_the_model_refuses_keeps_no_other_away(tmp_path: Path) -> None:
    """SEM-09"""
    texts = {"A.md": "too long", "B.md": "b", "C.md": "too long", "D.md": "d"}
    with endpoint() as url, embedding(tmp_path, texts, EmbeddingEndpoint(url, "picky", "", 5)) as meaning:
        assert meaning.complete() == 2
        assert sorted(meaning.refused) == ["A.md", "C.md"]
        assert meaning.pending_notes() == []
        assert [near.path for near in meaning.find_alike_by_vectors(VaultPath("B.md"), 9)] == ["D.md"]


def test_a_model_that_refuses_every_note_is_not_asked_for_all(tmp_path: Path) -> None:
    """SEM-09"""
    texts = {f"{number}.md": "too long" for number in range(9)}
    with endpoint() as url, embedding(tmp_path, texts, EmbeddingEndpoint(url, "picky", "", 5)) as meaning:
        with pytest.raises(SemanticUnavailable, match="context length"):
            meaning.complete()
        assert len(Answers.received) == 3
        assert len(meaning.pending_notes()) == 9


@contextmanager
def embedding(folder: Path, texts: dict[str, str], model: EmbeddingEndpoint) -> Iterator[Meaning]:
    """What a model makes of some notes, which are indexed."""
    entries = [FileEntry(VaultPath(path), path, len(text), 1) for path, text in texts.items()]
    indexer = Indexer(PendingFiles(open_index(None), lambda: entries, lambda entry: texts[entry.path].encode()))
    indexer.pending.begin()
    indexer.complete()
    meaning = Meaning(indexer, lambda: map(VaultPath, texts), model, VectorStore(folder / "vectors.sqlite3"))
    try:
        yield meaning
    finally:
        meaning.close()
        indexer.close()


def test_an_endpoint_is_asked_only_once_whether_it_is_there(tmp_path: Path) -> None:
    """SEM-06"""
    indexer = Indexer(PendingFiles(open_index(None), list, lambda _: b"", lambda _: None))
    with endpoint() as url:
        model = EmbeddingEndpoint(url, "good", "", 5)
        meaning = Meaning(indexer, list, model, VectorStore(tmp_path / "vectors.sqlite3"))
        meaning.prepare()
        meaning.prepare()
        assert [sent["input"] for sent in Answers.received] == [["ready"]]
    meaning.close()
    indexer.close()


def test_an_endpoint_of_this_machine_is_asked_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """SEM-06"""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed.getsockname()[1]}")
        with endpoint() as url:
            assert len(EmbeddingEndpoint(url, "good", "", 5).embed(["a"])) == 1
        with pytest.raises(SemanticUnavailable, match="does not answer"):
            EmbeddingEndpoint("http://notes.invalid/v1", "good", "", 5).embed(["a"])


def vector(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


Stored = Callable[[Path], VectorStore]


@pytest.fixture
def stored() -> Iterator[Stored]:
    """Opens stores, which are closed at the end of the test."""
    opened: list[VectorStore] = []

    def store(file: Path) -> VectorStore:
        opened.append(VectorStore(file))
        return opened[-1]

    yield store
    for one in opened:
        one.close()


def test_the_nearest_piece_of_each_file_is_found(tmp_path: Path, stored: Stored) -> None:
    """SEM-03"""
    store = stored(tmp_path / "deep" / "vectors.sqlite3")
    a, b = VaultPath("A.md"), VaultPath("B.md")
    assert store.find_nearest(vector(1, 0), 5) == []
    store.close()
    store = stored(tmp_path / "deep" / "vectors.sqlite3")
    store.put(a, b"1", [0, 40], [vector(0, 1), vector(1, 0)])
    store.put(b, b"2", [7], [vector(0.6, 0.8)])
    found = store.find_nearest(vector(1, 0), 5)
    assert [(near.path, near.start) for near in found] == [(a, 40), (b, 7)]
    assert found[1].similarity == pytest.approx(0.6, abs=0.01)
    assert [near.path for near in store.find_similar(a, 5)] == [b]
    assert store.find_similar(VaultPath("C.md"), 5) == []
    assert dict(store.digests()) == {a: b"1", b: b"2"}
    store.drop([a])
    store.close()
    assert list(stored(tmp_path / "deep" / "vectors.sqlite3").digests()) == [b]


def test_vectors_of_another_length_take_the_place_of_all_others(tmp_path: Path, stored: Stored) -> None:
    """SEM-03"""
    store = stored(tmp_path / "vectors.sqlite3")
    a, b = VaultPath("A.md"), VaultPath("B.md")
    store.put(a, b"1", [0, 9], [vector(0, 1), vector(1, 0)])
    store.put(b, b"2", [0], [vector(1, 0, 0)])
    assert dict(store.digests()) == {b: b"2"}
    assert [near.path for near in store.find_nearest(vector(1, 0, 0), 5)] == [b]


def test_a_damaged_store_is_begun_anew(tmp_path: Path, stored: Stored) -> None:
    """SEM-03"""
    file = tmp_path / "vectors.sqlite3"
    file.write_bytes(b"no database " * 100)
    assert dict(stored(file).digests()) == {}


def test_a_store_that_is_damaged_while_it_is_used_is_begun_anew(tmp_path: Path, stored: Stored) -> None:
    """SEM-03"""
    file, a = tmp_path / "vectors.sqlite3", VaultPath("A.md")
    store = stored(file)
    for number in range(200):
        store.put(VaultPath(f"{number}.md"), b"1", [0], [vector(*range(64))])
    store.close()
    content = bytearray(file.read_bytes())
    content[4096:] = b"x" * (len(content) - 4096)  # all pages but the first
    file.write_bytes(content)

    store = stored(file)
    with pytest.raises(SemanticUnavailable, match="cannot be used now"):
        store.find_nearest(vector(*range(64)), 1)
    store.put(a, b"1", [0], [vector(0, 1)])
    assert [near.path for near in store.find_nearest(vector(0, 1), 5)] == [a]
    store.close()


def test_a_store_that_is_closed_is_kept(tmp_path: Path, stored: Stored) -> None:
    """SEM-03"""
    file, a = tmp_path / "vectors.sqlite3", VaultPath("A.md")
    store = stored(file)
    store.put(a, b"1", [0], [vector(0, 1)])
    store.close()
    with pytest.raises(SemanticUnavailable, match="closed"):
        store.put(VaultPath("B.md"), b"1", [0], [vector(0, 1)])
    assert dict(stored(file).digests()) == {a: b"1"}


def test_a_store_that_was_closed_before_its_first_use_opens_nothing(tmp_path: Path, stored: Stored) -> None:
    """SEM-03"""
    file = tmp_path / "vectors.sqlite3"
    store = stored(file)
    store.close()
    with pytest.raises(SemanticUnavailable, match="closed"):
        store.digests()
    assert not file.exists()


def test_a_store_that_another_program_holds_is_kept(tmp_path: Path, stored: Stored) -> None:
    """SEM-03"""
    file, a = tmp_path / "vectors.sqlite3", VaultPath("A.md")
    store = stored(file)
    store.put(a, b"1", [0], [vector(0, 1)])
    store.close()
    with closing(sqlite3.connect(file)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SemanticUnavailable, match="locked"):
            stored(file).digests()
        other.rollback()
    assert dict(stored(file).digests()) == {a: b"1"}
