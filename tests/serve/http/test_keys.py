"""API keys with a name and limits: nothing outside them exists for their bearers (specs/http.md DOOR-10, 11)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from obsidian_mcp import compose, policies
from obsidian_mcp.app import App
from obsidian_mcp.core.files.policy_file import PolicyFile
from obsidian_mcp.errors import InvalidArguments, PolicyInvalid, VaultNotFound
from obsidian_mcp.serve.http.access.keys import digest, read_keys
from tests.conftest import app_on
from tests.serve.http_client import http_client
from tests.serve.serving import serving
from tests.test_safety_scope import MARKS, QUESTIONS, WRITES
from tests.vaults import contents

PHONE, LAPTOP, READER, RESEARCH, OLD = (name * 4 for name in ("phone", "laptop", "reader", "research", "old-key"))
POLICY = f"""
[keys.phone]
key = "{PHONE}"
vaults = ["vault"]
scope = "Projects"

[keys.laptop]
sha256 = "{digest(LAPTOP).hex()}"

[keys.reader]
key = "{READER}"
read_only = true
tools = "core"

[keys.research]
key = "{RESEARCH}"
scope = "Projects"
tools = "research"
"""


def vault_in(parent: Path) -> Path:
    """Write two vaults, Zoo and the one that is returned, with their policy beside them."""
    folder = parent / "vault"
    for name, text in {
        "Projects/Alpha.md": "Alpha heron [[Beta]] #inside\n- [ ] feed it\n",
        "Projects/Sub [1]/Beta.md": "Beta heron\n",
        "Projects2/Near.md": "zebra heron #quagga [[Alpha]]\n- [ ] zebra\n",
        "Other/Diary.md": "---\nquagga: zebra\n---\nzebra heron #quagga [[Alpha]] Alpha\n",
        "zebra.md": "zebra heron [[Alpha]]\n",
        "../Zoo/Quagga.md": "zebra heron\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (parent / "policy.toml").write_text(POLICY, encoding="utf-8")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return vault_in(tmp_path)


@pytest.fixture
def app(root: Path) -> Iterator[App]:
    opened = app_on(root, root.parent / "Zoo")
    yield opened
    opened.vaults.close()


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    with http_client(app, keys=(OLD,)) as client:
        yield client


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """As `client`, for the tests that change nothing: one for all of them."""
    root = vault_in(tmp_path_factory.mktemp("keys"))
    app = app_on(root, root.parent / "Zoo")
    with http_client(app, keys=(OLD,)) as client:
        yield client
    app.vaults.close()


def rpc(client: TestClient, tool: str, given: dict[str, Any], key: str) -> str:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": given}}
    return client.post("/mcp", json=message, headers={"x-api-key": key}).text


def bridge(client: TestClient, tool: str, given: dict[str, Any], key: str) -> str:
    answer = client.post(f"/bridge/v1/tools/{tool}/call", json={"arguments": given}, headers={"x-api-key": key})
    return answer.text


def burly(client: TestClient, tool: str, given: dict[str, Any], key: str) -> str:
    message = {"id": "1", "method": "call_tool", "name": tool, "args": {**given, "_confirm": True}}
    return client.post("/v1/mcp", json=message, headers={"authorization": f"Bearer {key}"}).text


def rad(client: TestClient, tool: str, given: dict[str, Any], key: str) -> str:
    return client.post(f"/mcp/v1/tools/invoke?key={key}", json={"tool": tool, "input": given}).text


DIALECTS = [rpc, bridge, burly, rad]
Dialect = Callable[[TestClient, str, dict[str, Any], str], str]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_tool_of_any_dialect_names_what_is_outside_the_scope_of_a_key(still: TestClient, dialect: Dialect) -> None:
    """DOOR-10"""
    for tool, given in [*QUESTIONS, ("search", {"query": "heron", "vault": "*"}), ("tags", {"vault": "Zoo"})]:
        said = dialect(still, f"obsidian_{tool}", given, PHONE)
        sent = json.dumps(given)
        assert not [mark for mark in (*MARKS, "Quagga") if mark in said and mark not in sent], (tool, said)
    assert "zebra" in dialect(still, "obsidian_search", {"query": "heron"}, LAPTOP)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_dialect_changes_what_is_outside_the_scope_of_a_key(
    client: TestClient, root: Path, dialect: Dialect
) -> None:
    """DOOR-10"""
    before = contents(root)
    for tool, given in WRITES:
        dialect(client, f"obsidian_{tool}", given, PHONE)
    assert contents(root) == before
    assert "created" in dialect(client, "obsidian_create_note", {"name": "Projects/New", "content": "x"}, PHONE)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_tools_of_the_plugin_have_the_limits_too(still: TestClient, dialect: Dialect) -> None:
    """DOOR-10"""
    for tool, given in (
        ("search_notes", {"query": "heron"}),
        ("read_note", {"path": "zebra"}),
        ("read_note", {"path": "Other/Diary.md"}),
    ):
        assert not [mark for mark in ("quagga", "[[Alpha]]") if mark in dialect(still, tool, given, PHONE)]


def test_a_key_without_limits_and_one_without_a_name_open_everything(still: TestClient) -> None:
    """DOOR-04, DOOR-10"""
    for key in (LAPTOP, OLD):
        assert "Other/Diary.md" in rpc(still, "obsidian_search", {"query": "heron"}, key)
        assert "Zoo" in rpc(still, "obsidian_search", {"query": "heron", "vault": "*"}, key)


@pytest.mark.parametrize("key", ["", "wrong", PHONE[:-1], PHONE + "x", digest(PHONE).hex()])
def test_any_other_key_opens_nothing(still: TestClient, key: str) -> None:
    """DOOR-04"""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert still.post("/mcp", json=message, headers={"x-api-key": key}).status_code == 401
    assert still.get("/bridge/v1/tools", headers={"x-api-key": key}).status_code == 401
    assert still.get(f"/mcp/v1/tools/list?key={key}").status_code == 401
    assert "AUTH_REQUIRED" in still.post("/v1/mcp", json={}, headers={"x-api-key": key}).text


def names(client: TestClient, key: str) -> set[str]:
    return {tool["name"] for tool in client.get("/bridge/v1/tools", headers={"x-api-key": key}).json()["tools"]}


def test_a_key_has_the_tools_of_its_profile(still: TestClient) -> None:
    """DOOR-10, TOOL-16"""
    assert names(still, READER) == {
        "obsidian_search",
        "obsidian_read_note",
        "obsidian_list_files",
        "obsidian_get_links",
    }
    assert names(still, RESEARCH) == {"search", "fetch"}
    assert "obsidian_delete_note" in names(still, PHONE)
    assert "Unknown tool" in rpc(still, "obsidian_delete_note", {"name": "zebra"}, READER)
    found = rpc(still, "search", {"query": "heron"}, RESEARCH)
    assert "Projects/Alpha.md" in found
    assert "zebra" not in found


def test_health_and_the_page_for_people_are_those_of_the_key(still: TestClient) -> None:
    """DOOR-10"""
    counts = {key: still.get("/health", headers={"x-api-key": key}).json()["tools_available"] for key in (READER, OLD)}
    assert counts[READER] == 4
    assert counts[OLD] > 30
    assert "Zoo" not in still.get(f"/?key={PHONE}").text
    assert "Zoo" in still.get(f"/?key={LAPTOP}").text


def test_the_history_names_the_key_and_shows_only_what_lies_in_its_scope(client: TestClient, root: Path) -> None:
    """DOOR-11"""
    rpc(client, "obsidian_create_note", {"name": "Projects/Mine", "content": "x"}, PHONE)
    rpc(client, "obsidian_create_note", {"name": "Other/Zebra", "content": "x"}, LAPTOP)

    assert "(key phone)" in rpc(client, "obsidian_history", {}, LAPTOP)
    seen = rpc(client, "obsidian_history", {}, PHONE)
    assert "Zebra" not in seen
    assert "laptop" not in seen
    assert "CHANGE_NOT_FOUND" in rpc(client, "obsidian_undo", {"change": 2}, PHONE)
    assert "CHANGE_NOT_FOUND" in rpc(client, "obsidian_history", {"change": 2}, PHONE)
    assert "Mine.md" in rpc(client, "obsidian_undo", {}, PHONE)
    assert (root / "Other/Zebra.md").exists()
    assert not (root / "Projects/Mine.md").exists()


def test_the_last_change_of_another_key_is_not_undone_without_its_number(client: TestClient, root: Path) -> None:
    """DOOR-11, SAFE-20"""
    rpc(client, "obsidian_create_note", {"name": "Projects/Mine", "content": "x"}, LAPTOP)
    said = rpc(client, "obsidian_undo", {}, PHONE)

    assert "(key laptop)" in said
    assert (root / "Projects/Mine.md").exists()


# --- sessions


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def url(app: App) -> Iterator[str]:
    with serving(app, keys=(OLD,)) as url:
        yield url


@pytest.mark.anyio
async def test_a_session_of_one_key_is_no_session_of_another(url: str) -> None:
    """DOOR-10"""
    headers = {"accept": "application/json, text/event-stream", "x-api-key": PHONE}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    }
    async with httpx.AsyncClient(verify=False) as http:
        session = (await http.post(f"{url}/mcp", json=hello, headers=headers)).headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        own = await http.post(f"{url}/mcp", json=ping, headers={**headers, "mcp-session-id": session})
        for key in (LAPTOP, OLD, READER):
            other = {**headers, "x-api-key": key, "mcp-session-id": session}
            assert (await http.post(f"{url}/mcp", json=ping, headers=other)).status_code == 404
            assert (await http.get(f"{url}/mcp", headers=other)).status_code == 404
            assert (await http.delete(f"{url}/mcp", headers=other)).status_code == 404
        assert own.status_code == 200


@asynccontextmanager
async def session(url: str, key: str, **given: Any) -> AsyncIterator[Client]:
    async with (
        httpx.AsyncClient(headers={"x-api-key": key}, timeout=30, verify=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), **given) as client,
    ):
        yield client


@pytest.mark.anyio
async def test_resources_prompts_and_completion_know_only_the_scope_of_the_key(url: str) -> None:
    """DOOR-10"""
    async with session(url, PHONE) as client:
        listed = [resource.uri for resource in (await client.list_resources()).resources]
        (overview,) = (await client.read_resource("obsidian://overview")).contents
        (recent,) = (await client.read_resource("obsidian://recent")).contents
        with pytest.raises(MCPError):
            await client.read_resource("obsidian://vault/vault/Other/Diary.md")
        with pytest.raises(MCPError):
            await client.read_resource("obsidian://vault/Zoo/Quagga.md")
        with pytest.raises(MCPError):
            await client.get_prompt("summarize_note", {"note": "Diary"})
        (template_here,) = (await client.list_resource_templates()).resource_templates
        template = types.ResourceTemplateReference(uri=template_here.uri_template)
        vaults = await client.complete(template, {"name": "vault", "value": ""})
        paths = await client.complete(template, {"name": "path", "value": ""})
        reviewed = await client.get_prompt("weekly_review", {})

    said = " ".join([*listed, repr(overview), repr(recent), *vaults.completion.values, *paths.completion.values])
    assert "Projects/Alpha.md" in said
    assert not [mark for mark in (*MARKS, "Zoo", "Quagga") if mark in said + repr(reviewed)]


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_key_hears_nothing_of_changes_outside_its_scope(url: str, root: Path, mode: str) -> None:
    """DOOR-10"""
    heard: list[str] = []
    inside = anyio.Event()
    alpha, diary = (f"obsidian://vault/vault/{path}" for path in ("Projects/Alpha.md", "Other/Diary.md"))

    def hear(message: Any) -> None:
        heard.append(str(getattr(getattr(message, "params", message), "uri", type(message).__name__)))
        if alpha in heard:
            inside.set()

    async def hear_notification(message: Any) -> None:
        hear(message)

    def change() -> None:
        (root / "Other/Diary.md").write_text("changed", encoding="utf-8")
        (root / "Other/Fresh.md").write_text("new", encoding="utf-8")
        (root / "Projects/Alpha.md").write_text("changed", encoding="utf-8")

    with anyio.fail_after(30):
        async with session(url, PHONE, mode=mode, message_handler=hear_notification) as client:
            if mode == "legacy":
                await client.subscribe_resource(alpha)
                await client.subscribe_resource(diary)
                change()
                await inside.wait()
            else:
                async with client.listen(resource_subscriptions=[alpha, diary], resources_list_changed=True) as news:
                    change()
                    async for event in news:
                        hear(event)
                        if inside.is_set():
                            break

    assert set(heard) <= {alpha}, heard


# --- the file


@contextmanager
def apps_of_keys(opened: App) -> Iterator[dict[str, App]]:
    """The App of each key of the policy file by its name, as a server opens them."""
    with ExitStack() as stack:
        stack.callback(opened.vaults.close)
        apps = {key.name: compose.app_for(opened, key.principal) for key in policies.api_keys(opened.config)}
        for app in apps.values():
            stack.callback(app.vaults.close)
        yield apps


def write_policy(root: Path, text: str) -> None:
    (root.parent / "policy.toml").write_text(text, encoding="utf-8", newline="\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[keys.a]\nkey = "ein langer Schlüssel"\n', "line 1: a needs either key, of at least 16 ASCII characters"),
        ('[keys.a]\nkey = "short"\n', "line 1: a needs either key, of at least 16 ASCII characters, or sha256"),
        ("[keys.a]\n", "a needs either key"),
        ('[keys.a]\nsha256 = "12"\n', "a needs either key"),
        (f'[keys.a]\nkey = "{OLD}"\nsha256 = "{"0" * 64}"\n', "a needs either key"),
        (f'[keys.a]\nkey = "{OLD}"\n[keys.b]\nkey = "{OLD}"\n', "line 3: b is the same key as a"),
        (f'[keys.a]\nkey = "{OLD}"\nscopes = "x"\n', "line 3: scopes is not a setting"),
        (f'[keys.a]\nkey = "{OLD}"\ntools = 3\n', "line 3: tools must be"),
        (f'[keys."a b"]\nkey = "{OLD}"\n', "must be 1 to 40 letters"),
        ('keys = "x"\n', "line 1: keys must be a table"),
    ],
)
def test_a_mistake_in_a_key_is_reported_and_nothing_is_allowed(root: Path, text: str, problem: str) -> None:
    """POL-05, POL-14"""
    write_policy(root, text)
    with pytest.raises(PolicyInvalid, match=problem):
        compose.http_application(app_on(root))
    with pytest.raises(PolicyInvalid, match=problem):
        app_on(root).vaults.get()


def test_limits_of_a_key_narrow_the_policy_and_never_widen_it(root: Path) -> None:
    """POL-14"""
    text = f"""
hidden = ["Projects2/"]
confirm = ["delete"]
[keys.a]
key = "{OLD}"
hidden = ["!Projects2/", "zebra.md"]
read = ["*.md"]
permanent_delete = true
confirm = []
"""
    file = PolicyFile(text)
    (key,) = read_keys(file)
    held = file.policy("vault", str(root)).narrow_by(key.limits.policy)
    assert not held.is_visible("Projects2/Near.md")
    assert not held.is_visible("zebra.md")
    assert not held.is_visible("Projects/picture.png")
    assert held.is_visible("Projects/Alpha.md")
    assert held.confirm == {"delete"}


def test_a_key_without_a_name_that_has_one_in_the_file_is_refused(app: App) -> None:
    """DOOR-10"""
    with pytest.raises(InvalidArguments, match="in the policy file, too"), http_client(app, keys=(PHONE,)):
        pass


def test_a_key_that_no_header_can_carry_is_refused_at_the_start(app: App) -> None:
    """DOOR-12"""
    with (
        pytest.raises(InvalidArguments, match="holds a character that no header can carry"),
        http_client(app, keys=("secret", "Schlüssel")),
    ):
        pass


def test_unknown_tools_of_a_key_are_reported_at_the_start(root: Path) -> None:
    """POL-14"""
    write_policy(root, f'[keys.a]\nkey = "{OLD}"\ntools = "fly"\n')
    with pytest.raises(InvalidArguments, match="no tool obsidian_fly"):
        compose.http_application(app_on(root))


def test_a_key_for_a_vault_that_is_not_served_opens_nothing(root: Path) -> None:
    """POL-14"""
    write_policy(root, f'[keys.a]\nkey = "{OLD}"\nvaults = ["Elsewhere"]\n')
    with (
        apps_of_keys(app_on(root)) as apps,
        pytest.raises(VaultNotFound, match="opens the vaults 'Elsewhere', which are not served here"),
    ):
        apps["a"].vaults.get()


def test_a_limited_key_may_neither_run_javascript_nor_import_files(root: Path) -> None:
    """POL-14"""
    opened = app_on(root)
    allowed = opened.config.replace(named_imports=(str(root),), app=opened.config.app.replace(allow_eval=True))
    with apps_of_keys(opened.replace(config=allowed)) as apps:
        assert not apps["phone"].config.app.allow_eval
        assert apps["phone"].config.import_folders == ()
        assert apps["laptop"].config.app.allow_eval


def test_the_key_is_shown_nowhere(still: TestClient) -> None:
    """DOOR-11"""
    headers = {"x-api-key": LAPTOP}
    shown = [still.get(path, headers=headers).text for path in ("/", "/health", "/openapi.json")]
    shown.append(rpc(still, "obsidian_history", {}, LAPTOP))
    assert not [text for text in shown if LAPTOP in text or digest(LAPTOP).hex() in text]
