"""The profile `research` over the real HTTP server (specs/tools.md TOOL-25)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from obsidian_mcp.app import App
from obsidian_mcp.config import Config
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.tools.offer import Offer
from obsidian_mcp.tools.research import MOST_CHARACTERS
from tests.conftest import app_on
from tests.serve import plain_http
from tests.serve.serving import serving

pytestmark = pytest.mark.usefixtures("disk_of_macos")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "My vault"
    for name, text in {
        "Birds/Grey heron.md": "# Grey heron\nA heron waits. \U0001f426\n",
        "日本/鷺.md": "heron in Japan\n",
        "Long.md": 'heron "quoted"\n' * 20_000,
        "Ponds.canvas": '{"nodes": [{"id": "a", "type": "text", "text": "heron"}], "edges": []}',
        "heron.png": "no note",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


@pytest.fixture
def app(vault: Path) -> Iterator[App]:
    opened = app_on(vault)
    yield opened.replace(config=opened.config.replace(tools="research"))
    opened.vaults.close()


def ask(url: str, method: str, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return plain_http.post(f"{url}/mcp", json=message, timeout=30).json()


def answer(url: str, tool: str, **arguments: str) -> Any:
    """The JSON of the one text item of a result."""
    result = ask(url, "tools/call", name=tool, arguments=arguments)["result"]
    (item,) = result["content"]
    assert item["type"] == "text"
    assert not result.get("isError")
    return json.loads(item["text"])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_exactly_search_and_fetch_are_offered_and_can_be_called(app: App) -> None:
    """TOOL-25"""
    with serving(app) as url:
        tools = ask(url, "tools/list")["result"]["tools"]
        refused = ask(url, "tools/call", name="obsidian_read_note", arguments={"name": "Long"})

    assert {tool["name"]: list(tool["inputSchema"]["properties"]) for tool in tools} == {
        "search": ["query"],
        "fetch": ["id"],
    }
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)
    assert not any(tool["annotations"]["destructiveHint"] for tool in tools)
    assert refused["error"]["code"] == -32602


def test_an_error_of_fetch_advises_the_search_that_is_offered(app: App) -> None:
    """TOOL-27"""
    with serving(app) as url:
        refused = ask(url, "tools/call", name="fetch", arguments={"id": "Xyzzy.md"})
    assert "There is no note 'Xyzzy.md' in the vault. Look with search." in json.dumps(refused)
    assert "obsidian_" not in json.dumps(refused)


def test_every_id_that_search_finds_can_be_fetched_and_nothing_is_written(app: App, vault: Path) -> None:
    """TOOL-25"""
    before = contents(vault)
    with serving(app) as url:
        schemas = {tool["name"]: tool["outputSchema"] for tool in ask(url, "tools/list")["result"]["tools"]}
        found = answer(url, "search", query="heron")
        fetched = {result["id"]: answer(url, "fetch", id=result["id"]) for result in found["results"]}

    assert list(found) == ["results"]
    assert all(list(result) == ["id", "title", "url"] for result in found["results"])
    assert set(fetched) == {"Birds/Grey heron.md", "日本/鷺.md", "Long.md", "Ponds.canvas"}
    for result in found["results"]:
        note = fetched[result["id"]]
        assert list(note) == ["id", "title", "text", "url", "metadata"]
        assert {key: note[key] for key in result} == result
    heron = fetched["Birds/Grey heron.md"]
    assert heron["title"] == "Grey heron"
    assert heron["text"] == "# Grey heron\nA heron waits. \U0001f426\n"
    assert heron["url"] == "obsidian://vault/My%20vault/Birds/Grey%20heron.md"
    for name, data in (("search", found), ("fetch", heron)):
        Draft202012Validator(schemas[name]).validate(data)
    assert contents(vault) == before


def test_a_long_note_is_cut_and_says_so(app: App) -> None:
    """TOOL-25"""
    with serving(app) as url:
        note = answer(url, "fetch", id="Long.md")

    assert len(note["text"]) == MOST_CHARACTERS
    assert len(json.dumps(note)) < 150_000
    assert "of 300,000 characters" in note["metadata"]["cut"]


def test_notes_that_are_published_have_their_public_address(app: App) -> None:
    """TOOL-25"""
    with serving(app, notes_url="https://notes.example.com/mine/") as url:
        found = answer(url, "search", query="waits")

    assert found["results"][0]["url"] == "https://notes.example.com/mine/Birds/Grey%20heron"


def test_the_servers_own_address_is_not_that_of_the_published_notes(app: App) -> None:
    """TOOL-25, REMOTE-01"""
    with serving(app, public_url="https://mcp.example.com") as url:
        found = answer(url, "search", query="waits")

    assert found["results"][0]["url"].startswith("obsidian://")


@pytest.mark.parametrize("name", ["OBSIDIAN_MCP_NOTES_URL", "OBSIDIAN_MCP_PUBLIC_URL"])
def test_an_address_that_is_no_url_is_refused(name: str) -> None:
    with pytest.raises(InvalidArguments, match=name):
        Config(environ={name: "notes.example.com"})


def test_without_http_the_profile_is_refused_with_how_to_start_it(app: App) -> None:
    """TOOL-25"""
    with pytest.raises(InvalidArguments, match="--tools research http"):
        Offer(app.config).list_entries()
