"""Views without a browser: what is listed for whom, the pages, and what they may not hold (specs/views.md)."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.extension import advertise

from obsidian_mcp.app import App
from obsidian_mcp.serve import views
from obsidian_mcp.tools.offer import Offer
from obsidian_mcp.tools.registry import TOOLS, VIEW_TOOLS
from tests.serve.http_client import http_client
from tests.serve.mcp.test_server import started
from tests.serve.mcp_session import EXTENSION, MIME, UI, McpSession
from tests.serve.raw import notification
from tests.serve.serving import serving

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "packaging" / "views"
PAGES = ROOT / "obsidian_mcp" / "serve" / "views"
BUDGETS = {"changes": 48, "graph": 48, "query": 48, "note": 128}
"""Kilobytes of a page."""
NETWORK = re.compile(
    r"\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|new Worker|\bimport\(|indexedDB|localStorage|\beval\("
)
MAKES_HTML = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|new Function")


@pytest.fixture
def session(app: App) -> Iterator[McpSession]:
    with serving(app) as url:
        opened = McpSession(url)
        yield opened
        opened.close()


def tools_of(session: McpSession) -> dict[str, Any]:
    return {tool["name"]: tool for tool in session.request("tools/list")["tools"]}


@pytest.mark.parametrize(
    ("name", "capabilities", "settings", "shown"),
    [
        ("reference", UI, {}, True),
        ("claude-ai", {}, {}, True),
        ("reference", {}, {}, False),
        ("reference", {"extensions": {EXTENSION: {"mimeTypes": ["text/html"]}}}, {}, False),
        ("reference", {}, {"views": "on"}, True),
        ("claude-ai", UI, {"views": "off"}, False),
        ("reference", UI, {"tools": "core"}, False),
    ],
)
def test_views_are_listed_for_hosts_that_show_them(
    app: App, name: str, capabilities: dict[str, Any], settings: dict[str, Any], shown: bool
) -> None:
    """VIEW-03"""
    with serving(app.replace(config=app.config.replace(**settings))) as url:
        session = McpSession(url, name, capabilities)
        tools = tools_of(session)
        pages = [entry["uri"] for entry in session.request("resources/list")["resources"] if "ui:" in entry["uri"]]
        session.close()

    assert (set(VIEW_TOOLS) <= set(tools)) is shown
    assert len(pages) == (len(views.NAMES) if shown else 0)
    if not shown:
        assert not set(VIEW_TOOLS) & set(tools)
        assert not any("ui" in tool.get("_meta", {}) for tool in tools.values())


def test_the_first_list_on_stdio_has_them_too(basic: Path) -> None:
    """VIEW-03"""
    with started(basic) as server:
        client = {"name": "claude-ai", "version": "1"}
        server.call("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        server.send(notification("notifications/initialized"))
        assert set(VIEW_TOOLS) <= {tool["name"] for tool in server.call("tools/list")["result"]["tools"]}
        made = server.call("tools/call", {"name": "obsidian_show_changes", "arguments": {"tool": "edit_note"}})
        assert made["error"]["code"] == -32602
        assert server.close() == 0


def test_a_server_that_may_only_read_offers_no_view_tool_that_writes(app: App) -> None:
    """VIEW-03, POL-03"""
    with serving(app.replace(config=app.config.replace(read_only=True))) as url:
        session = McpSession(url)
        assert "obsidian_apply_plan" not in tools_of(session)
        session.close()


def test_a_tool_that_opens_a_view_names_its_page_and_others_say_who_may_call_them(session: McpSession) -> None:
    """VIEW-01, VIEW-02"""
    tools = tools_of(session)
    for name, opened in VIEW_TOOLS.items():
        meta = tools[name]["_meta"]
        assert meta["ui"].get("resourceUri") == meta.get("ui/resourceUri")
        assert meta["ui"]["visibility"] == (["model", "app"] if opened.view else ["app"])
        if opened.view:
            assert opened.read_only
            assert meta["ui/resourceUri"] == views.address(opened.view)
    for_views = {name for name, tool in tools.items() if "app" in tool["_meta"]["ui"]["visibility"]}
    assert for_views - set(VIEW_TOOLS) == {"obsidian_attachments", "obsidian_undo", "obsidian_update_task"}
    assert tools["obsidian_search"]["_meta"]["anthropic/alwaysLoad"] is True


def test_a_page_is_read_by_the_address_of_any_version_with_its_metadata_in_both_places(session: McpSession) -> None:
    """VIEW-01, VIEW-04"""
    listed = {entry["uri"]: entry for entry in session.request("resources/list")["resources"]}
    for name in views.NAMES:
        entry = listed[views.address(name)]
        for uri in (views.address(name), f"ui://obsidian-mcp/{name}-00000000.html"):
            (content,) = session.request("resources/read", {"uri": uri})["contents"]
            assert content["mimeType"] == entry["mimeType"] == MIME
            assert content["_meta"] == entry["_meta"] == {"ui": {"prefersBorder": True}}
            assert content["text"] == views.page(name)
    with pytest.raises(RuntimeError, match="Unknown resource"):
        session.request("resources/read", {"uri": "ui://obsidian-mcp/other-00000000.html"})


def test_a_client_of_2026_gets_views_too(app: App) -> None:
    """VIEW-01, VIEW-03"""

    async def look(url: str) -> tuple[list[types.Tool], list[types.Tool], dict[str, Any]]:
        async with Client(f"{url}/mcp", mode="auto") as plain:
            without = (await plain.list_tools()).tools
        async with Client(
            f"{url}/mcp", mode="auto", extensions=[advertise(EXTENSION, UI["extensions"][EXTENSION])]
        ) as client:
            assert client.protocol_version == "2026-07-28"
            tools = (await client.list_tools()).tools
            (page,) = (await client.read_resource(views.address("changes"))).contents
            return without, tools, dict(page.meta or {})

    with serving(app) as url:
        without, tools, meta = anyio.run(look, url)

    by_name = {tool.name: tool for tool in tools}
    assert not {tool.name for tool in without} & set(VIEW_TOOLS)
    assert (by_name["obsidian_show_changes"].meta or {})["ui/resourceUri"] == views.address("changes")
    assert meta["ui"] == {"prefersBorder": True}


def test_views_change_nothing_that_a_model_of_another_host_sees(app: App) -> None:
    """VIEW-06: at most 1.5 KB more for a host with views and one vault, none for others."""
    offer = Offer(app.config)

    def seen(*, has_one_vault: bool) -> list[dict[str, Any]]:
        listed = offer.publish(has_app=True, asks=False, shows_views=True, has_one_vault=has_one_vault)
        members = ("name", "description", "inputSchema")
        opening = [name for name, tool in VIEW_TOOLS.items() if tool.view]
        return [{member: tool[member] for member in members} for tool in listed if tool["name"] in opening]

    assert len(seen(has_one_vault=True)) == len(views.NAMES)
    sizes = [
        len(json.dumps(seen(has_one_vault=has_one_vault), ensure_ascii=False, separators=(",", ":")).encode())
        for has_one_vault in (True, False)
    ]
    assert sizes[0] <= 1.5 * 1024
    assert sizes[1] <= 1.65 * 1024
    assert not set(VIEW_TOOLS) & set(TOOLS)
    with http_client(app) as client:
        for body in ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"method": "list_tools"}):
            assert "obsidian_show" not in client.post("/mcp", json=body).text


def test_the_pages_are_those_of_the_sources() -> None:
    """VIEW-07: without Node it is seen whether somebody forgot `make views`."""
    names = [*(f"src/{path.name}" for path in (SOURCES / "src").iterdir()), "build.mjs", "package-lock.json"]
    stamp = hashlib.sha256()
    for name in sorted(names):
        text = (SOURCES / name).read_text(encoding="utf-8")
        stamp.update(f"{name}\0{text}\0".encode())
    for name in views.NAMES:
        assert f"sources: {stamp.hexdigest()}" in views.page(name), f"{name}.html is older than its sources: make views"


def test_a_build_gives_the_same_bytes(tmp_path: Path) -> None:
    """VIEW-07: where somebody has Node and has built the pages."""
    node = shutil.which("node")
    if node is None or not (SOURCES / "node_modules").exists():
        pytest.skip("the pages of the views are not built here (make views, which needs Node)")
    subprocess.run([node, "build.mjs", str(tmp_path)], cwd=SOURCES, check=True, stdout=subprocess.DEVNULL)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (PAGES / path.name).read_bytes(), f"{path.name} is not what make views builds"


@pytest.mark.parametrize("name", views.NAMES)
def test_a_page_stands_alone(name: str) -> None:
    """VIEW-07"""
    page = views.page(name)
    markup = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    assert re.findall(r"""\s(?:src|href|action|on\w+)\s*=|https?:""", markup) == []
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert re.findall(r"url\(|@import|https?:", style) == []
    assert NETWORK.findall(page) == []
    assert len(page.encode()) <= BUDGETS[name] * 1024
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    assert page.count(views.PLACE_OF_DATA) == 1


def test_the_sources_make_no_html_of_text() -> None:
    """VIEW-08"""
    for path in (SOURCES / "src").glob("*.ts"):
        text = path.read_text(encoding="utf-8")
        assert (MAKES_HTML.findall(text), NETWORK.findall(text)) == ([], []), path.name


def test_what_is_bundled_is_named_with_its_licence() -> None:
    """VIEW-07"""
    bundled = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))["dependencies"]
    text = (PAGES / "THIRD_PARTY_LICENSES.txt").read_text(encoding="utf-8")
    for name, version in bundled.items():
        assert f"\n{name} {version} (" in text


def test_the_colours_of_both_themes_can_be_read() -> None:
    """VIEW-09: where a host gives no colours of its own."""
    style = (SOURCES / "src" / "style.css").read_text(encoding="utf-8")
    for theme in (":root {", '[data-theme="dark"] {'):
        block = style.partition(theme)[2].partition("}")[0]
        colours = dict(re.findall(r"--([a-z-]+): var\(--color-[a-z-]+, (#[0-9a-f]{6})\);", block))
        assert len(colours) == 14
        papers = [colours["bg"], colours["card"]]
        inks = [colours[name] for name in ("text", "quiet", "accent", "added", "removed")]
        pairs = [*product(inks, papers)]
        pairs += [(colours[name], colours[f"{name}-bg"]) for name in ("added", "removed", "warned")]
        assert [pair for pair in pairs if contrast(*pair) < 4.5] == []
        assert [pair for pair in product([colours["line"], colours["ring"]], papers) if contrast(*pair) < 3] == []


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 computes it, 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_data_inside_a_document_cannot_leave_its_element() -> None:
    """VIEW-13"""
    data = {"view": "note", "title": "</script><script>alert(1)</script><!--"}
    document = views.document("changes", data)
    inside = document.partition('<script id="data" type="application/json">')[2].partition("</script>")[0]
    assert json.loads(inside) == data


def test_every_interaction_is_done_by_a_test_that_exists() -> None:
    """The table of specs/views.md."""
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "specs" / "views.md").read_text(encoding="utf-8")))
    tests = (path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "foreign" / "views").glob("test_*.py"))
    assert named - set(re.findall(r"^def (test_\w+)", "\n".join(tests), re.MULTILINE)) == set()
    assert len(named) > 30
