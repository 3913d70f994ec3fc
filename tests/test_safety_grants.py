"""What a key or grant does not open leaves no trace in any answer (specs/remote.md LIMIT-01, specs/http.md DOOR-10).

Two servers have vaults that are equal inside the folder of a key and have nothing in common outside. Every tool,
resource, prompt, completion and route is asked the same of both; the answers must be equal, so that neither a name nor
a word nor a count of what lies outside is in one. A tool, prompt or route without questions here fails the test.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from obsidian_mcp.adapters.grant_store import GrantStore
from obsidian_mcp.app import App
from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.core.grants.credential import Token
from obsidian_mcp.core.grants.grant import Grant
from obsidian_mcp.serve.http.access.oauth.issuer import secret_digest
from obsidian_mcp.serve.mcp.prompts import PROMPTS
from obsidian_mcp.tools import offer
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.serve.http_client import http_client
from tests.vaults import contents, write_files

FOLDER, READER, RESEARCHER = (f"key-of-the-{name}-" * 2 for name in ("folder", "reader", "researcher"))
TOKEN, READING_TOKEN = "oma_of_an_app", "oma_of_an_app_that_reads"
"""Access tokens of programs that signed in, with the limits of FOLDER and READER."""
PUBLIC = "http://127.0.0.1:3000"
POLICY = f"""
[keys.phone]
key = "{FOLDER}"
scope = "Projects"

[keys.reader]
key = "{READER}"
scope = "Projects"
read_only = true

[keys.researcher]
key = "{RESEARCHER}"
scope = "Projects"
tools = "research"
"""
TIME = 1_790_000_000
"""When every file was changed last."""
INSIDE = {
    "Projects/Alpha.md": (
        "---\ntags: [inside]\nstatus: open\nup: '[[sesame]]'\n---\n# Alpha\n\n"
        "heron [[Beta]] [[sesame]] ![[picture.png]] [md](sesame.md) [[Gamma]] ^b1\n\n## Tasks\n\n"
        "- [ ] feed it 📅 2026-11-20\n\n"
        "| a | b |\n| - | - |\n| 1 | 2 |\n\n```dataview\nLIST\n```\n\nA plain mention of Beta.\n"
    ),
    "Projects/Sub/Beta.md": "# Beta\n\nheron #inside [[Alpha]]\n",
    "Projects/Gamma.md": "heron\nlast\n",
    "Projects/Board.canvas": json.dumps(
        {
            "nodes": [
                {"id": "a", "type": "file", "file": "Projects/Alpha.md", "x": 0, "y": 0, "width": 9, "height": 9},
                {"id": "b", "type": "text", "text": "[[sesame]]", "x": 0, "y": 50, "width": 9, "height": 9},
            ],
            "edges": [],
        }
    ),
    "Projects/All.base": "views:\n  - type: table\n    name: All\n",
    "Projects/Template.md": "made from a template\n",
    "Projects/picture.png": "no picture",
    ".obsidian/bookmarks.json": json.dumps(
        {
            "items": [
                {"type": "file", "ctime": 1, "path": "Outside/Sesame.md"},
                {"type": "file", "ctime": 2, "path": "Projects/Alpha.md"},
            ]
        }
    ),
}
NOTE = (
    "---\ntags: [gneiss]\nophicleide: zygomorph\naliases: [Quincunx]\n---\n# Heading zygomorph\n\n"
    "heron zygomorph #gneiss [[Alpha]] Alpha Beta ![[secret.png]] [[Gamma]]\n\n- [ ] zygomorph 📅 2026-11-20\n"
)
OUTSIDE = {
    "Outside/Sesame.md": NOTE,
    "Outside/Deeper/Sesame twice.md": "zygomorph heron [[Sesame]] [[Alpha]]\n",
    "Outside/Beta.md": "zygomorph heron another Beta [[Beta]]\n",
    "Outside/secret.png": "zygomorph",
    "Outside/picture.png": "zygomorph, of another size",
    "Outside/Zygomorph.base": "views:\n  - type: table\n    name: zygomorph\n",
    "Outside/Zygomorph.canvas": '{"nodes": [], "edges": []}',
    "Sesame root.md": "zygomorph heron [[Alpha]]\n",
}
"""Has links to and from the folder of the key, and names that are given there, too."""
ELSEWHERE = {"Elsewhere/Unrelated.md": "nothing of interest\n", "Elsewhere/Other.md": "nothing either\n"}
MARKS = ("zygomorph", "Zygomorph", "Sesame", "Outside", "gneiss", "ophicleide", "Quincunx", "secret.png", "Unrelated")
"""Words, names, tags and properties outside; the links inside spell `sesame` small."""
NAMES = (
    "Alpha",
    "sesame",
    "Sesame",
    "Outside/Sesame.md",
    "Quincunx",
    "Sesame root",
    "obsidian://vault/vault/Outside/Sesame.md",
)
INTO = ("Outside/Sesame", "Outside/Fresh", "Outside/", "Fresh")

Call = Mapping[str, Any]


def named(argument: str = "name", /, names: Sequence[str] = NAMES, **others: Any) -> list[Call]:
    """A call for each name, inside and outside."""
    return [{argument: name, **others} for name in names]


EDIT = {"operation": "append", "content": "more"}
CARD = [{"op": "remove", "card": "b"}]
ROW = [{"op": "add_row", "values": ["x", "y"]}]
SEARCHES = (
    "heron",
    "zygomorph",
    "/zyg.*/",
    "path:Outside",
    "tag:#gneiss",
    "[ophicleide]",
    "-heron",
    "Sesame",
    "file:Beta",
)
QUERIES = (
    ('LIST FROM "Outside"', "dataview"),
    ("TABLE file.inlinks, file.outlinks, file.size", "dataview"),
    ("LIST WHERE contains(file.outlinks, [[sesame]])", "dataview"),
    ("TASK", "dataview"),
    ("LIST FROM #gneiss OR [[Alpha]]", "dataview"),
    ("not done", "tasks"),
    ("path includes Outside", "tasks"),
    ("views:\n  - type: table\n    order: [file.name, file.backlinks, ophicleide]\n", "base"),
    ("Zygomorph.base", ""),
    ("All.base", ""),
    ("Alpha", "table"),
)
QUESTIONS: dict[str, list[Call]] = {
    "obsidian_search": [
        *({"query": query, "match": match} for query in SEARCHES for match in ("smart", "exact")),
        *({"query": "heron", **more} for more in ({"folder": "Outside"}, {"group": "folder"}, {"show": "passages"})),
        {"query": "zygomorph heron sesame", "sort": "modified"},
        *named(query="heron"),
    ],
    "obsidian_query": [{"query": query, "language": language} for query, language in QUERIES]
    + named("this", query="LIST WHERE file.link = this.file.link", language="dataview"),
    "obsidian_read_note": [
        *named(),
        *named(view="context"),
        *named(view="metadata"),
        {"names": list(NAMES)},
        {"name": "Alpha", "view": "outline"},
        {"name": "Outside"},
        {"name": "/Sesame"},
    ],
    "obsidian_list_templates": [{}, *named("template")],
    "obsidian_list_tasks": [{}, {"text": "zygomorph"}, {"folder": "Outside"}, *named("note"), {"query": "short mode"}],
    "obsidian_read_canvas": [*named(), {"name": "Board"}, {"name": "Zygomorph.canvas"}],
    "obsidian_list_files": [
        {"recursive": True, "details": True},
        {},
        *({"folder": folder} for folder in ("Outside", "Projects", "/", "Elsewhere")),
        {"sort": "opened", "recursive": True},
        {"extension": "png", "recursive": True},
    ],
    "obsidian_vault_info": [{}, {"vault": "vault"}, {"vault": "Outside"}],
    "obsidian_attachments": [{}, {"unused": True}, *named("note"), *named(names=("picture.png", "secret.png"))],
    "obsidian_check": [{}, {"limit": 200}, *({"only": only} for only in ("links", "names", "attachments", "tags"))],
    "obsidian_get_links": [*named(), *named(unlinked=True), {}],
    "obsidian_similar": named(),
    "obsidian_graph": [
        *({"question": question} for question in ("orphans", "dead_ends", "unresolved")),
        *named(question="neighbours", depth=3),
        *named("to", question="path", name="Alpha"),
    ],
    "obsidian_list_bookmarks": [{}, {"text": "Sesame"}],
    "obsidian_tags": [{}, {"tag": "gneiss"}, {"tag": "inside"}],
    "obsidian_get_properties": [{}, {"details": True}, *named(), {"property": "ophicleide"}, {"property": "status"}],
    "obsidian_history": [{}, *named(), *({"change": number} for number in range(1, 5))],
    "obsidian_app_info": [
        *({"topic": topic} for topic in ("commands", "plugins", "sync")),
        *({"topic": topic, "name": "Outside/Sesame.md"} for topic in ("history", "history_read")),
    ],
    "obsidian_show_changes": [
        {"change": 1},
        {"tool": "obsidian_move_note", "arguments": {"name": "Alpha", "to": "Projects/Fresh"}},
    ],
    "obsidian_plan_diff": [
        {"plan": "p1"},
        {"change": 1, "path": "Outside/Sesame.md"},
        {"change": 3, "path": "Projects/Gamma.md"},
    ],
    "obsidian_show_query": [{"query": query, "language": language} for query, language in QUERIES[:-1]],
    "obsidian_show_graph": named("note", depth=3),
    "obsidian_show_note": named("path"),
    "obsidian_note_page": named("path"),
    "read_note": named("path"),
    "read_frontmatter": named("path"),
    "get_note_outline": named("path"),
    "search_notes": [{"query": query} for query in SEARCHES],
}
"""What each reading tool is asked."""
WRITES: dict[str, list[Call]] = {
    "obsidian_create_note": [
        *named(names=INTO, content="x"),
        *named(names=INTO, content="x", overwrite=True),
        *named("template", name="Projects/Made"),
    ],
    "obsidian_edit_note": named(**EDIT),
    "obsidian_replace": [
        *({"find": find, "content": "x", "dry_run": True} for find in ("zygomorph", "heron")),
        {"find": "heron", "content": "zebra", "query": "zygomorph OR last"},
        {"find": "heron", "content": "zebra", "names": list(NAMES)},
    ],
    "obsidian_edit_table": named(operations=ROW),
    "obsidian_daily_note": [{"content": "x"}, {"date": "2026-11-20"}],
    "obsidian_insert_template": [*named("template", name="Gamma"), *named(template="Template")],
    "obsidian_update_task": [
        *named(task="feed", status="done", dry_run=True),
        *named(action="add", text="x"),
        {"task": "zygomorph", "status": "done"},
        {"action": "add", "daily": True, "text": "x"},
    ],
    "obsidian_edit_canvas": [*named(operations=CARD), {"name": "Board", "operations": CARD}],
    "obsidian_compose_notes": [
        *named("into", names=INTO, action="merge", name="Gamma", dry_run=True),
        *named(action="merge", into="Gamma", names=NAMES[1:]),
        *named("into", names=INTO, action="extract", name="Alpha", part="Tasks", dry_run=True),
    ],
    "obsidian_move_note": [
        *named("to", names=INTO, name="Gamma"),
        *named(names=NAMES[1:], to="Projects/Moved"),
        {"query": "zygomorph", "to": "Projects/"},
        {"name": "Outside", "to": "Projects/Taken"},
        {"name": "Beta", "to": "Projects/Delta"},
    ],
    "obsidian_add_attachment": [
        *named(names=("Outside/secret.png", "Outside/fresh.png", "secret.png"), data="eA=="),
        *named("note", names=NAMES, name="fresh.png", data="eA=="),
    ],
    "obsidian_link_mentions": [*named(), {"name": "Delta", "names": ["Outside/Sesame"]}],
    "obsidian_edit_bookmarks": [*named("target", action="add"), *named("target", action="remove")],
    "obsidian_rename_tag": [{"tag": "gneiss", "to": "q"}, {"tag": "inside", "to": "granite"}],
    "obsidian_set_properties": [
        {"properties": {"p": 1}, "query": "zygomorph OR last"},
        {"properties": {"p": 1}, "names": list(NAMES)},
        *({"properties": {"p": 2}, "names": [name]} for name in NAMES),
    ],
    "obsidian_batch": [
        {"calls": [{"tool": "edit_note", "name": name, **EDIT} for name in ("Alpha", "Outside/Sesame")]},
        *({"calls": [{"tool": "read_note", "name": name}, {"tool": "search", "query": "heron"}]} for name in NAMES),
    ],
    "obsidian_apply_plan": [{"plan": "p1"}, {"plan": "p2"}],
    "obsidian_open_note": named(),
    "obsidian_app_command": [{"command": "app:reload"}, {"javascript": "1"}],
    "edit_note": named("path", patch="@@ -1,1 +1,1 @@\n-heron\n+zebra\n"),
    "edit_frontmatter": named("path", operation="set", data={"p": 1}),
    "create_note": named("path", names=INTO, content="x"),
    "obsidian_delete_note": [*named(names=NAMES[1:]), {"name": "Outside"}, {"name": "Gamma"}],
    "obsidian_undo": [*({"change": number} for number in range(1, 5)), {}],
}
"""What each writing tool is asked, in the order in which both vaults are asked it."""
RESEARCH: dict[str, list[Call]] = {
    "search": [{"query": query} for query in SEARCHES],
    "fetch": named("id"),
}
UNEQUAL = {
    "taken_at": re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?"),
    "milliseconds": re.compile(r'"(?:durationMs|elapsed_ms|duration_ms)": ?[\d.]+'),
    "nonce": re.compile(r"nonce[=-]\"?[\w-]{22}"),
    "ticket": re.compile(r'name="ticket" value="[^"]+"'),
    "plan": re.compile(r"\bp_[0-9a-f]{32}\b"),
    "now": re.compile(r'"(?:timestamp|uptime|pid)": ?[\d.]+'),
}
"""What differs between two answers to one question."""


class Twin(NamedTuple):
    """A server whose vault has other files outside."""

    root: Path
    client: TestClient


def open_twin(stack: ExitStack, folder: Path, outside: Mapping[str, str]) -> Twin:
    root = write_files(folder / "vault", {**INSIDE, **outside})
    for path in root.rglob("*"):
        os.utime(path, (TIME, TIME))
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    app: App = app_on(root, today="2026-11-24")
    stack.callback(app.vaults.close)
    first, second, *_ = (path.removesuffix(".md") for path in outside if path.endswith(".md"))
    for name in (first, second, "Projects/Gamma"):
        call(app, "obsidian_edit_note", {"name": name, **EDIT})
        os.utime(root / f"{name}.md", (TIME, TIME))
    with closing(GrantStore(app.config.state / "access/grants.db")) as store:
        for token, is_read_only in ((TOKEN, False), (READING_TOKEN, True)):
            name = f"app-{is_read_only}"
            store.add_grant(
                Grant(
                    name,
                    name,
                    "App",
                    "claude.ai",
                    "c",
                    f"{PUBLIC}/mcp",
                    str(root),
                    "Projects",
                    is_read_only,
                    TIME,
                    TIME,
                )
            )
            expires = time.time() + 3_600
            store.add_token(
                Token(secret_digest(token), name, is_refresh=False, scope="vault:read vault:write", expires=expires)
            )
    return Twin(root, stack.enter_context(http_client(app, oauth=True, public_url=PUBLIC)))


@pytest.fixture
def twins(tmp_path: Path) -> Iterator[tuple[Twin, Twin]]:
    with ExitStack() as stack:
        yield (
            open_twin(stack, tmp_path / "one", OUTSIDE),
            open_twin(stack, tmp_path / "two", ELSEWHERE),
        )


def ask(twin: Twin, method: str, params: Mapping[str, Any], key: str) -> str:
    """The answer to a request of MCP in full, as JSON without what differs by chance."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    name = params.get("name", params.get("uri"))
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "authorization": f"Bearer {key}",
        **({"mcp-name": name} if isinstance(name, str) else {}),
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return without_chance(twin.client.post("/mcp", json=message, headers=headers).text, twin)


def without_chance(text: str, twin: Twin) -> str:
    text = text.replace(str(twin.root.parent), "")
    for name, pattern in UNEQUAL.items():
        text = pattern.sub(name, text)
    return text


def check(answers: Sequence[str], sent: object) -> None:
    """Both answer alike, and with no word of what lies outside that was not sent."""
    one, two = answers
    assert one == two, sent
    told = [mark for mark in MARKS if mark in one and mark not in json.dumps(sent)]
    assert not told, (told, sent, one)


def call_both(twins: tuple[Twin, Twin], tool: str, given: Call, key: str = FOLDER) -> list[str]:
    answers = [ask(twin, "tools/call", {"name": tool, "arguments": given}, key) for twin in twins]
    check(answers, given)
    return answers


def test_every_tool_is_asked() -> None:
    """LIMIT-01"""
    table = offer.table()
    ours = {**table.tools, **table.views}
    assert set(QUESTIONS) == {name for name, entry in ours.items() if entry.read_only} | {
        name for name, tool in PLUGIN_TOOLS.items() if tool.entry.read_only
    }
    assert set(WRITES) == {name for name, entry in ours.items() if not entry.read_only} | {
        name for name, tool in PLUGIN_TOOLS.items() if not tool.entry.read_only
    }
    assert set(RESEARCH) == set(table.research)


@pytest.mark.parametrize("key", [FOLDER, TOKEN], ids=["key", "token"])
def test_no_reading_tool_tells_of_what_lies_outside(twins: tuple[Twin, Twin], key: str) -> None:
    """LIMIT-01, DOOR-10"""
    refused = set()
    for tool, calls in QUESTIONS.items():
        answers = [
            call_both(twins, tool, given, key)[0] for given in calls if key == FOLDER or tool not in PLUGIN_TOOLS
        ]
        if answers and all('"isError":true' in answer or '"error":' in answer for answer in answers):
            refused.add(tool)
    assert refused == {"obsidian_app_info"}  # where the app is not there


def test_no_writing_tool_tells_of_or_changes_what_lies_outside(twins: tuple[Twin, Twin]) -> None:
    """LIMIT-01, DOOR-10"""
    before = [contents(twin.root) for twin in twins]
    for tool, given in chain.from_iterable(((tool, given) for given in calls) for tool, calls in WRITES.items()):
        call_both(twins, tool, given)
    after = [contents(twin.root) for twin in twins]
    for files, left in zip(before, after, strict=True):
        assert left != files
        for path in files.keys() - INSIDE.keys():
            assert left[path] == files[path], path
    inside = [{path: data for path, data in files.items() if path.startswith("Projects/")} for files in after]
    assert inside[0] == inside[1]


def test_a_tool_that_writes_does_not_exist_for_whom_may_only_read(twins: tuple[Twin, Twin]) -> None:
    """LIMIT-02, HTTP-02"""
    before = contents(twins[0].root)
    for key in (READER, READING_TOKEN):
        assert set(WRITES) & call_list(twins[0], key) == set()
    for tool, calls in WRITES.items():
        for given in calls:
            answer = call_both(twins, tool, given, READER)[0]
            assert f"Unknown tool: {tool}" in answer, answer
    assert contents(twins[0].root) == before


def call_list(twin: Twin, key: str) -> set[str]:
    """The names of the tools that a key is told of."""
    return {tool["name"] for tool in json.loads(ask(twin, "tools/list", {}, key))["result"]["tools"]}


def ask_both(twins: tuple[Twin, Twin], method: str, **params: Any) -> Any:
    """The result of a request, which both answer alike."""
    answers = [ask(twin, method, params, FOLDER) for twin in twins]
    check(answers, params)
    return json.loads(answers[0]).get("result", {})


VALUES = ("", "S", "Ses", "Out", "zyg", "gne", "Al")
"""Beginnings that are completed."""


def test_no_resource_prompt_or_completion_tells_of_what_lies_outside(twins: tuple[Twin, Twin]) -> None:
    """LIMIT-01, DOOR-10"""
    listed = ask_both(twins, "resources/list")["resources"]
    (template,) = ask_both(twins, "resources/templates/list")["resourceTemplates"]
    addresses = [resource["uri"] for resource in listed]
    assert "obsidian://vault/vault/Projects/Alpha.md" in addresses
    for uri in (
        *addresses,
        *(f"obsidian://vault/vault/{path}" for path in (*OUTSIDE, "Projects/sesame.md", "Outside")),
    ):
        ask_both(twins, "resources/read", uri=uri)
    reference: dict[str, Any] = {"type": "ref/resource", "uri": template["uriTemplate"]}
    for argument in ("vault", "path"):
        for value in (*VALUES, "Outside/", "Projects/"):
            ask_both(twins, "completion/complete", ref=reference, argument={"name": argument, "value": value})

    prompts = {prompt["name"]: prompt for prompt in ask_both(twins, "prompts/list")["prompts"]}
    assert set(prompts) == set(PROMPTS)
    for name, prompt in prompts.items():
        arguments = [argument["name"] for argument in prompt.get("arguments", ())]
        for value in ("Alpha", "sesame", "Outside/Sesame", "Outside", "gneiss", "2026-11-24", "7"):
            ask_both(twins, "prompts/get", name=name, arguments={})
            for argument in arguments:
                ask_both(
                    twins, "prompts/get", name=name, arguments=dict.fromkeys(arguments, "Alpha") | {argument: value}
                )
        for argument in arguments:
            for value in VALUES:
                ask_both(
                    twins,
                    "completion/complete",
                    ref={"type": "ref/prompt", "name": name},
                    argument={"name": argument, "value": value},
                )
    for method in ("server/discover", "tools/list"):
        ask_both(twins, method)


Send = tuple[str, str, Any]
"""Method and path of a request, and its body."""


def requests() -> Iterator[Send]:
    """Yield what every route is asked, each dialect with the questions of every tool that it offers."""
    for path in ("/", "/openapi.json", "/health", "/v1/health", "/mcp/v1/health", "/mcp/v1/tools/list"):
        yield "GET", path, None
    for path in ("/bridge/v1/health", "/bridge/v1/tools", "/.well-known/openai-apps-challenge", "/Outside/Sesame.md"):
        yield "GET", path, None
    for path in ("/authorize", "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"):
        yield "GET", path, None
    for path in ("/authorize", "/token", "/register", "/revoke"):
        yield "POST", path, None
    for path in ("/console", "/console/", "/console/open?token=x", "/console/sign-in", "/console/assets/console.css"):
        yield "GET", path, None
    for part in ("changes", "privacy", "apps"):
        for method in ("GET", "POST"):
            yield method, f"/console/x/{part}?change=1&folder=Outside&path=Outside%2FSesame.md", None
    yield "POST", "/console/sign-in", None
    yield "POST", "/v1/mcp", {"id": "1", "method": "list_tools"}
    yield "POST", "/mcp/v1/stdio", {"tool": "echo", "input": {"text": "x"}}
    message = {"jsonrpc": "2.0", "id": 1}
    yield "POST", "/mcp", {**message, "method": "initialize", "params": {}}
    for tool, calls in QUESTIONS.items():
        for given in calls[:4]:
            yield "POST", f"/bridge/v1/tools/{tool}/call", {"arguments": given}
            yield "POST", "/v1/mcp", {"id": "1", "method": "call_tool", "name": tool, "args": given}
            yield "POST", "/mcp/v1/tools/invoke", {"tool": tool, "input": given}
            yield "POST", "/mcp/v1/stdio", {"tool": tool, "input": given}
            yield "POST", "/mcp", {**message, "method": "tools/call", "params": {"name": tool, "arguments": given}}


def test_no_route_of_another_contract_tells_of_what_lies_outside(twins: tuple[Twin, Twin]) -> None:
    """LIMIT-01, DOOR-10"""
    asked = set()
    for method, path, body in requests():
        answers = []
        for twin in twins:
            reply = twin.client.request(method, path, json=body, headers={"x-api-key": FOLDER})
            assert reply.status_code < 500
            answers.append(f"{reply.status_code} {without_chance(reply.text, twin)}")
        check(answers, [path, body])
        asked.add(path.removesuffix("/call").removeprefix("/bridge/v1/tools/"))
    served: Any = twins[0].client.app
    routes = {route.path.rstrip("/") for route in served.routes if "{" not in route.path}
    assert routes - {path.rstrip("/") for path in asked} - {"/bridge/v1", "/mcp/v1", "/.well-known"} == set()


def test_deep_research_finds_only_what_a_key_opens(twins: tuple[Twin, Twin]) -> None:
    """LIMIT-01, TOOL-25"""
    for tool, calls in RESEARCH.items():
        for given in calls:
            call_both(twins, tool, given, RESEARCHER)


@pytest.mark.parametrize("http", [{"oauth": True, "public_url": PUBLIC}, {}], ids=["sign-in", "keys"])
def test_without_a_key_or_token_nothing_tells_of_the_vault(tmp_path: Path, http: dict[str, Any]) -> None:
    """LIMIT-04, OAUTH-38"""
    root = write_files(tmp_path / "Atlantis", {**INSIDE, **OUTSIDE})
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    with http_client(app_on(root), **http) as client:
        for method, path, body in requests():
            reply = client.request(method, path, json=body)
            said = f"{reply.text} {dict(reply.headers)}"
            told = [word for word in (*MARKS, "heron", "Alpha", "Projects", "Atlantis") if word in said]
            assert not [word for word in told if word not in json.dumps([path, body])], (path, body, said)
