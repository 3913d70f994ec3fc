"""Search by meaning as a person sets it up (specs/semantic.md); the model is real, and tiny."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the extra `semantic` is not installed")
pytest.importorskip("onnx", reason="it makes the tiny model")

from obsidian_mcp import compose, config, vault_builder
from obsidian_mcp.app import App
from obsidian_mcp.cli.main import run_command_line
from obsidian_mcp.core.semantic.meaning import Meaning
from obsidian_mcp.setup import doctor
from obsidian_mcp.tools.registry import call
from tests import tiny_model

NOTES = {
    "Bike.md": "# Wheel\nHow to mend a flat tyre.\n",
    "Pills.md": "Triptan, twice a day.\n",
    "Hidden/Secret.md": "A puncture of another tyre.\n",
    "Canal.md": "Boats.\n",
}


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "vault"
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{name}", str(tmp_path / name.lower()))
    monkeypatch.setenv("OBSIDIAN_MCP_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OBSIDIAN_VAULT_PATH", str(folder))
    return folder


@contextmanager
def opened() -> Iterator[App]:
    app = compose.build(config.Config().replace(timeout=5.0))
    try:
        yield app
    finally:
        app.vaults.close()


@contextmanager
def meaning() -> Iterator[Meaning]:
    """What is embedded of the vault, which is indexed to the end."""
    with opened() as app:
        place = app.vaults.get()
        place.indexer.pending.begin()
        place.indexer.complete()
        assert place.meaning is not None
        yield place.meaning


def searched(query: str, **arguments: object) -> list[tuple[str, str | None]]:
    with opened() as app:
        hits = call(app, "obsidian_search", {"query": query, **arguments}).data["hits"]
    return [(hit["path"], hit.get("matched")) for hit in hits]


def test_it_is_off_until_it_is_set_up_and_off_again(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SEM-01: nothing is downloaded, and one line says how to set it up."""
    assert run_command_line(["semantic", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"on": False, "setup": "obsidian-mcp semantic setup"}
    (finding,) = doctor.check_semantic(config.Config())
    assert "obsidian-mcp semantic setup" in finding.message
    assert set(searched("boats wheels")) == {("Canal.md", None), ("Bike.md", None)}

    assert run_command_line(["semantic", "setup", "--model", str(tiny_model.make(tmp_path / "tiny"))]) == 0
    assert "embedded 4 notes" in capsys.readouterr().out
    assert run_command_line(["semantic", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pending"] == 0
    (finding,) = doctor.check_semantic(config.Config())
    assert (finding.status, "nothing leaves it" in finding.message) == ("fine", True)

    assert run_command_line(["semantic", "off"]) == 0
    assert searched("headache") == []


def test_a_weak_search_finds_notes_by_what_they_mean(vault: Path, tmp_path: Path) -> None:
    """SEM-04"""
    assert run_command_line(["semantic", "setup", "--model", str(tiny_model.make(tmp_path / "tiny"))]) == 0
    assert searched("headache") == [("Pills.md", "meaning")]
    assert "Hidden/Secret.md" in [path for path, _ in searched("repairing punctures fix")]
    assert searched("headache", match="exact") == []
    assert searched("headache", sort="name") == []
    assert searched('headache "canal"') == []
    assert searched("boats") == [("Canal.md", None)]

    with opened() as app:
        (hit,) = call(app, "obsidian_search", {"query": "headache"}).data["hits"]
        similar = call(app, "obsidian_similar", {"name": "Bike"}).data["similar"]
    assert [snippet["text"] for snippet in hit["snippets"]] == ["Triptan, twice a day."]
    assert similar[0]["path"] == "Hidden/Secret.md"


def test_the_best_file_by_words_keeps_one_of_the_first_two_places(vault: Path, tmp_path: Path) -> None:
    """SEM-04"""
    for number in range(8):
        (vault / f"Near {number}.md").write_text("flat tyre " * (number + 1), encoding="utf-8")
    (vault / "Heron.md").write_text("The tale of the heron and the soup.", encoding="utf-8")
    assert run_command_line(["semantic", "setup", "--model", str(tiny_model.make(tmp_path / "tiny"))]) == 0

    assert ("Heron.md", None) in searched("heron repairing")[:2]


def test_hidden_notes_are_never_embedded(vault: Path, tmp_path: Path) -> None:
    """SEM-05"""
    (tmp_path / "policy.toml").write_text('hidden = ["Hidden/"]\n', encoding="utf-8", newline="\n")
    assert run_command_line(["semantic", "setup", "--model", str(tiny_model.make(tmp_path / "tiny"))]) == 0
    with meaning() as embedded:
        assert [near.path for near in embedded.find_by_meaning("puncture", 10)] == ["Bike.md"]


def test_changed_notes_are_embedded_anew_and_gone_ones_forgotten(vault: Path, tmp_path: Path) -> None:
    """SEM-04"""
    assert run_command_line(["semantic", "setup", "--model", str(tiny_model.make(tmp_path / "tiny"))]) == 0
    (vault / "Canal.md").write_text("lentil dal", encoding="utf-8")
    (vault / "Pills.md").unlink()
    with meaning() as embedded:
        assert embedded.pending_notes() == ["Canal.md"]
        assert embedded.complete() == 1
    assert searched("soup") == [("Canal.md", "meaning")]
    assert searched("headache") == []


def test_while_the_vectors_cannot_be_used_words_alone_answer(vault: Path, tmp_path: Path) -> None:
    """SEM-03"""
    assert run_command_line(["semantic", "setup", "--model", str(tiny_model.make(tmp_path / "tiny"))]) == 0
    (vectors,) = (tmp_path / "cache").rglob("vectors*.sqlite3")
    vectors.unlink()
    vectors.mkdir()  # what no program can open as a file

    assert searched("headache") == []
    assert searched("boats") == [("Canal.md", None)]
    with opened() as app:
        assert "path" in call(app, "obsidian_similar", {"name": "Bike"}).data


def test_an_endpoint_is_agreed_to_first(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SEM-06"""
    assert run_command_line(["semantic", "setup", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m"]) != 0
    assert "is sent to 127.0.0.1:9" in capsys.readouterr().err
    assert run_command_line(["semantic", "setup", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m", "--yes"]) == 37
    assert "does not answer" in capsys.readouterr().err
    assert run_command_line(["semantic", "setup", "--endpoint", "ftp://x", "--model", "m"]) == 2


def test_nothing_of_it_is_loaded_while_it_is_off(vault: Path) -> None:
    """SEM-01"""
    searches = (
        "from obsidian_mcp.cli.main import run_command_line as run; import sys; "
        "assert run(['search', 'tyre wheel']) == 0;"
    )
    heavy = "{'numpy', 'onnxruntime', 'tokenizers', 'huggingface_hub', 'obsidian_mcp.core.semantic.meaning'}"
    subprocess.run([sys.executable, "-c", f"{searches} assert not {heavy} & sys.modules.keys()"], check=True)


@contextmanager
def hub(models: Path) -> Iterator[tuple[str, list[str]]]:
    """A hub of models as the library meets it: a list of a model's files, and each file with its hash.

    It has `tests/tiny`, breaks the connection when a file of `tests/broken` is asked for, and knows no other. Yields
    its address and what it was asked for.
    """
    asked: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(path := self.path.partition("?")[0])
            file = models / path.removeprefix("/tests/tiny/resolve/main/")
            headers = {}
            if path.startswith("/tests/broken/"):
                self.close_connection = True
                return
            if path in ("/api/models/tests/tiny/tree/main", "/api/models/tests/broken/tree/main"):
                files = [known for known in models.rglob("*") if known.is_file()]
                names = [(known.relative_to(models).as_posix(), known.stat().st_size) for known in files]
                listed = [{"type": "file", "oid": "0" * 40, "path": name, "size": size} for name, size in names]
                status, body = 200, json.dumps(listed).encode()
            elif path.startswith("/tests/tiny/") and file.is_file():
                status, body = 200, file.read_bytes()
                headers = {"ETag": f'"{hashlib.sha1(body).hexdigest()}"', "X-Repo-Commit": "1" * 40}
            else:
                status, body, headers = 404, b"{}", {"X-Error-Code": "RepoNotFound"}
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def set_up_from(hub_url: str, model: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "obsidian_mcp", "semantic", "setup", "--model", model]
    environment = os.environ | {"HF_ENDPOINT": hub_url}
    environment.pop("PYTHONWARNDEFAULTENCODING", None)  # other people's warnings would be in its answer
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)


def test_a_model_is_downloaded_once_and_used(vault: Path, tmp_path: Path) -> None:
    """SEM-07, SEM-08"""
    with hub(tiny_model.make(tmp_path / "models")) as (url, asked):
        done = set_up_from(url, "tests/tiny")
        assert (done.returncode, "embedded 4 notes" in done.stdout) == (0, True), done.stderr
        assert "downloading tests/tiny" in done.stderr
        resolved = [path for path in asked if "/resolve/" in path]
        assert set(resolved) == {f"/tests/tiny/resolve/main/{name}" for name in ("tokenizer.json", "onnx/model.onnx")}
        assert [path for path in asked if path not in resolved] == ["/api/models/tests/tiny/tree/main"]
    assert searched("headache") == [("Pills.md", "meaning")]


@pytest.mark.parametrize("model", ["tests/broken", "nobody/nothing", "no model at all"])
def test_a_model_that_cannot_be_downloaded_is_said(vault: Path, tmp_path: Path, model: str) -> None:
    """SEM-07"""
    with hub(tiny_model.make(tmp_path / "models")) as (url, _):
        done = set_up_from(url, model)
    assert (done.returncode, done.stdout) == (37, "")
    begun, said = done.stderr.splitlines()
    assert (begun, "cannot be downloaded" in said) == (f"downloading {model}", True)
    assert run_command_line(["semantic", "status"]) == 0


def test_settings_that_cannot_be_read_are_said(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SEM-01"""
    file = config.Config().state / vault_builder.SEMANTIC_FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"model": "\xff"}')
    assert run_command_line(["search", "tyre"]) != 0
    assert "settings of semantic search cannot be read" in capsys.readouterr().err
