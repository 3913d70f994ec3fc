"""Resources, prompts and news over HTTP, with the SDK's own client, in both eras."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import mcp_types as types
import pytest
from mcp import Client

from obsidian_mcp.app import App
from tests.serve.mcp.test_resources import PIXEL, ROOT
from tests.serve.mcp_session import McpSession
from tests.serve.serving import serving

PATIENCE = 90.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def url(app: App) -> Iterator[str]:
    with serving(app) as url:
        yield url


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_sdks_client_reads_resources_and_prompts_and_completes(url: str, mode: str, basic: Path) -> None:
    (basic / "pixel.png").write_bytes(PIXEL)
    async with Client(f"{url}/mcp", mode=mode) as client:
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        (blob,) = (await client.read_resource(ROOT + "pixel.png")).contents
        (template,) = (await client.list_resource_templates()).resource_templates
        reference = types.ResourceTemplateReference(uri=template.uri_template)
        found = await client.complete(reference, {"name": "path", "value": "wheel"})
        prompt = await client.get_prompt("summarize_note", {"note": "Alpha"})

        assert ROOT + "Home.md" in uris
        assert isinstance(blob, types.BlobResourceContents)
        assert base64.b64decode(blob.blob) == PIXEL
        assert found.completion.values == ["Attachments/wheel.svg"]
        assert "Project Alpha" in prompt.messages[0].content.text  # type: ignore[union-attr]  # a text block


@pytest.mark.anyio
async def test_a_client_of_2026_listens_over_http(url: str, basic: Path) -> None:
    """RES-08"""
    with anyio.fail_after(PATIENCE):
        async with (
            Client(f"{url}/mcp") as client,
            client.listen(resource_subscriptions=[ROOT + "Home.md"]) as news,
        ):
            (basic / "Home.md").write_text("changed", encoding="utf-8")
            event: Any = await anext(aiter(news))

    assert event.uri == ROOT + "Home.md"


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
async def test_a_client_of_2025_is_told_over_its_standing_stream(url: str, basic: Path) -> None:
    """RES-08"""
    reply = anyio.Event()
    heard: list[str] = []

    async def hear(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.append(message.params.uri)
            reply.set()

    with anyio.fail_after(PATIENCE):
        async with Client(f"{url}/mcp", mode="legacy", message_handler=hear) as client:
            await client.subscribe_resource(ROOT + "Home.md")
            (basic / "Home.md").write_text("changed", encoding="utf-8")
            await reply.wait()

    assert heard[0] == ROOT + "Home.md"


def test_no_proxy_is_to_collect_the_events_of_a_stream(url: str, basic: Path) -> None:
    """HTTP-15"""
    for number in range(400):
        (basic / f"Heron {number}.md").write_text("a heron\n" * 50, encoding="utf-8")
    session = McpSession(url)
    params = {"name": "obsidian_search", "arguments": {"query": "/h.r.n/"}, "_meta": {"progressToken": 7}}
    call = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}
    both = {**session.headers, "accept": "application/json, text/event-stream"}
    with (
        httpx.stream("GET", f"{url}/mcp", headers=both, timeout=30) as standing,
        httpx.stream("POST", f"{url}/mcp", headers=both, json=call, timeout=30) as progress,
    ):
        for stream in (standing, progress):
            assert stream.headers["content-type"] == "text/event-stream"
            assert stream.headers["x-accel-buffering"] == "no"
            assert "no-transform" in stream.headers["cache-control"]
        progress.read()
    session.end()
