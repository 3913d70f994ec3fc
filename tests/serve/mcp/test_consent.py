"""Asking the user before a change, through clients that can ask and those that cannot (specs/policy.md POL-04)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError

from tests.serve.sdk_client import forked_client

Era = Literal["legacy", "auto"]
ERAS: list[Era] = ["legacy", "auto"]
TOOL = "obsidian_delete_note"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text('confirm = ["delete"]\n', encoding="utf-8", newline="\n")
    folder = tmp_path / "vault"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian/app.json").write_bytes(b'{"trashOption": "local"}')
    (folder / "Note.md").write_bytes(b"a note\n")
    return folder


def talk(vault: Path, era: Era, work: Callable[[Client], Any], answer: types.ElicitResult | None) -> list[str]:
    """Do `work` as a client of this era that answers questions so, or cannot; the questions that came."""
    questions: list[str] = []

    async def answer_question(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        questions.append(params.message)
        assert answer is not None
        return answer

    async def session() -> None:
        environment = {
            "OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"),
            "OBSIDIAN_MCP_STATE": str(vault.parent / "state"),
            "OBSIDIAN_MCP_POLICY": str(vault.parent / "policy.toml"),
        }
        server = forked_client([sys.executable, "-m", "obsidian_mcp", "--vault", str(vault)], environment)
        callback = answer_question if answer is not None else None
        async with Client(server, mode=era, elicitation_callback=callback) as client:
            await work(client)

    with anyio.from_thread.start_blocking_portal() as portal:
        portal.call(session)
    return questions


@pytest.mark.parametrize("era", ERAS)
def test_after_a_yes_it_is_done(vault: Path, era: Era) -> None:
    async def work(client: Client) -> None:
        result = await client.call_tool(TOOL, {"name": "Note"})
        assert not result.is_error

    questions = talk(vault, era, work, types.ElicitResult(action="accept", content={"confirm": True}))
    assert questions == ["Shall this be done: delete 'Note.md'?"]
    assert not (vault / "Note.md").exists()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "answer",
    [
        types.ElicitResult(action="decline"),
        types.ElicitResult(action="accept", content={"confirm": False}),
    ],
    ids=["decline", "unchecked"],
)
def test_after_a_no_nothing_is_changed(vault: Path, era: Era, answer: types.ElicitResult) -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError) as refused:
            await client.call_tool(TOOL, {"name": "Note"})
        assert refused.value.error.data["errorCode"] == "PERMISSION_DENIED"

    assert len(talk(vault, era, work, answer)) == 1
    assert (vault / "Note.md").read_bytes() == b"a note\n"


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_cannot_ask_is_told_to_ask_itself(vault: Path, era: Era) -> None:
    async def work(client: Client) -> None:
        listed = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
        assert "confirm" in listed[TOOL]
        assert "confirm" not in listed["obsidian_read_note"]
        with pytest.raises(MCPError) as refused:
            await client.call_tool(TOOL, {"name": "Note"})
        assert refused.value.error.data["errorCode"] == "CONFIRMATION_REQUIRED"
        assert (vault / "Note.md").exists()
        assert not (await client.call_tool(TOOL, {"name": "Note", "confirm": True})).is_error

    assert talk(vault, era, work, None) == []
    assert not (vault / "Note.md").exists()


def test_confirm_is_not_listed_where_nothing_is_to_be_confirmed(vault: Path) -> None:
    (vault.parent / "policy.toml").write_text('hidden = ["Private/"]\n', encoding="utf-8", newline="\n")

    async def work(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            assert "confirm" not in tool.input_schema["properties"], tool.name

    assert talk(vault, "auto", work, None) == []
