"""Every example request of the four contracts, as its document writes it, gets the document's answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp import __version__
from obsidian_mcp.app import App
from obsidian_mcp.contracts.rad.tools import Bridge, InputProperty, InputSchema, ToolReply, ToolSpec
from obsidian_mcp.errors import ToolFailed
from tests.conftest import app_on
from tests.serve.http_client import curl, http_client

NOTE = "# Example\n\nA note with ümlauts.\n"


def contains(answer: Any, document: Any) -> bool:
    """Whether an answer has all that the document's answer has; it may have more members."""
    if isinstance(document, dict):
        return isinstance(answer, dict) and all(
            key in answer and contains(answer[key], value) for key, value in document.items()
        )
    if isinstance(document, list):
        return (
            isinstance(answer, list)
            and len(answer) == len(document)
            and all(contains(mine, theirs) for mine, theirs in zip(answer, document, strict=True))
        )
    return type(answer) is type(document) and bool(answer == document)


def documents_tools() -> Bridge:
    """The tools that the documents' examples call and a vault does not have."""
    bridge = Bridge()

    def add(tool: ToolSpec, handler: Any) -> None:
        bridge.register_tool(tool)
        bridge.register_tool_handler(tool.name, handler)

    filesystem = {
        "filesystem": "/dev/sda1",
        "size": "20G",
        "used": "12G",
        "available": "7.2G",
        "use_percent": "63%",
        "mounted_on": "/",
    }
    table = "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        20G   12G  7.2G  63% /"
    add(
        ToolSpec("disk_space", "Check filesystem disk space usage"),
        lambda _: ToolReply({"filesystems": [filesystem]}, summary="Disk space check completed", stdout=table),
    )

    def docker_ps(_: dict[str, Any]) -> None:
        raise ToolFailed(
            "Docker socket not accessible in this container",
            summary="docker_ps unavailable",
            tool="docker_ps",
            reason="Docker socket not accessible",
            suggestion="Mount /var/run/docker.sock and add docker group to enable Docker operations",
        )

    add(ToolSpec("docker_ps", "List Docker containers with status information"), docker_ps)

    def publish(arguments: dict[str, Any]) -> ToolReply:
        files = arguments["source_files"]
        return ToolReply(
            {"published_files": files, "publish_path": "/app/data/blog/publish"},
            summary=f"Published {len(files)} files successfully",
            stdout="\n".join(f"Published {file}" for file in files),
        )

    add(ToolSpec("blog_publish_static", "Publish", writes=True), publish)

    def calculate(arguments: dict[str, Any]) -> dict[str, Any]:
        a, b = arguments["a"], arguments["b"]
        match arguments["operation"]:
            case "add":
                result = a + b
            case "multiply":
                result = a * b
            case "divide" if b == 0:
                raise ToolFailed("division by zero")
            case unknown:
                raise ToolFailed(f"unknown operation: {unknown}")
        return {"result": result, "operation": arguments["operation"], "operands": [a, b]}

    numbers = {
        "operation": InputProperty("string", "add, subtract, multiply, divide"),
        "a": InputProperty("number", "First operand"),
        "b": InputProperty("number", "Second operand"),
    }
    add(
        ToolSpec("calculator", "Perform mathematical calculations", InputSchema(numbers, ("operation", "a", "b"))),
        calculate,
    )
    return bridge


@pytest.fixture
def vault(tmp_path: Path) -> App:
    notes = tmp_path / "Vault" / "Notes"
    notes.mkdir(parents=True)
    (notes / "Example.md").write_text(NOTE, encoding="utf-8", newline="")
    return app_on(tmp_path / "Vault")


@pytest.fixture
def client(vault: App) -> Iterator[TestClient]:
    with http_client(vault, documents_tools()) as client:
        yield client
    vault.vaults.close()


class TestBridgeProtocol:
    def test_health(self, client: TestClient) -> None:
        answer = curl(client, "curl -s http://127.0.0.1:3000/bridge/v1/health")
        assert answer == {"status": "ok", "version": __version__, "protocolVersion": "1"}

    def test_tools(self, client: TestClient) -> None:
        answer = curl(client, "curl -s http://127.0.0.1:3000/bridge/v1/tools")
        assert list(answer) == ["tools", "hash"]
        assert re.fullmatch("[0-9a-f]{64}", answer["hash"])
        read_note = next(tool for tool in answer["tools"] if tool["name"] == "read_note")
        assert set(read_note) == {"name", "description", "inputSchema"}
        assert read_note["inputSchema"]["type"] == "object"
        assert read_note["inputSchema"]["properties"]["path"]["type"] == "string"
        assert read_note["inputSchema"]["required"] == ["path"]

    def test_tool_call(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -s -X POST http://127.0.0.1:3000/bridge/v1/tools/read_note/call \
  -H 'Content-Type: application/json' \
  -d '{"arguments":{"path":"Notes/Example.md"}}'""",
        )
        assert answer == {"success": True, "content": [{"type": "text", "text": NOTE}]}

    def test_tool_execution_error(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -s -X POST http://127.0.0.1:3000/bridge/v1/tools/read_note/call \
  -H 'Content-Type: application/json' \
  -d '{"arguments":{"path":"Notes/Missing.md"}}'""",
        )
        assert answer["success"] is False
        assert answer["isError"] is True
        assert [block["type"] for block in answer["content"]] == ["text"]
        assert answer["content"][0]["text"].startswith("Error: ")

    def test_list_tools_over_json_rpc(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -s -X POST http://127.0.0.1:3000/mcp \
  -H 'Content-Type: application/json' \
  -d '{
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {}
  }'""",
        )
        assert list(answer) == ["jsonrpc", "id", "result"]
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)
        read_note = next(tool for tool in answer["result"]["tools"] if tool["name"] == "read_note")
        assert contains(
            read_note["inputSchema"],
            {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        )

    def test_call_a_tool_over_json_rpc(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -s -X POST http://127.0.0.1:3000/mcp \
  -H 'Content-Type: application/json' \
  -d '{
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {
      "name": "read_note",
      "arguments": {
        "path": "Notes/Example.md"
      }
    }
  }'""",
        )
        result = {"content": [{"type": "text", "text": NOTE}], "isError": False}
        assert answer == {"jsonrpc": "2.0", "id": 2, "result": result}

    def test_a_failing_tool_over_json_rpc(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -s -X POST http://127.0.0.1:3000/mcp \
  -H 'Content-Type: application/json' \
  -d '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_note","arguments":{"path":"None.md"}}}'""",
        )
        assert answer["result"]["isError"] is True
        assert answer["result"]["content"][0]["text"].startswith("Error: ")

    def test_an_unknown_method_over_json_rpc(self, client: TestClient) -> None:
        answer = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "nope"}).json()
        assert contains(answer, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}})
        assert answer["error"]["message"].startswith("Method not found")


META = {"api_version": "v1", "container_version": __version__}


class TestBurlyMcp:
    def test_example_1_list_tools(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -X POST http://localhost:9400/mcp \
  -H "Content-Type: application/json" \
  -H "X-Api-Key: ${BURLYMCP_API_KEY:-example}" \
  -d '{
    "id": "list-1",
    "method": "list_tools",
    "params": {}
  }'""",
            BURLYMCP_API_KEY="example",
        )
        count = len(answer["data"]["tools"])
        assert contains(answer, {"ok": True, "metrics": {"exit_code": 0}, "meta": META})
        assert type(answer["metrics"]["elapsed_ms"]) is int
        assert answer["summary"] == answer["result"]["summary"] == f"Available tools: {count} tools found"
        assert answer["data"] == answer["result"]["data"]
        disk_space = next(tool for tool in answer["result"]["data"]["tools"] if tool["name"] == "disk_space")
        assert contains(
            disk_space,
            {
                "name": "disk_space",
                "description": "Check filesystem disk space usage",
                "inputSchema": {"type": "object", "properties": {}},
            },
        )

    DISK_SPACE = {  # noqa: RUF012  the document's answer
        "ok": True,
        "result": {
            "summary": "Disk space check completed",
            "data": {
                "filesystems": [
                    {
                        "filesystem": "/dev/sda1",
                        "size": "20G",
                        "used": "12G",
                        "available": "7.2G",
                        "use_percent": "63%",
                        "mounted_on": "/",
                    }
                ]
            },
            "stdout": "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        20G   12G  7.2G  63% /",
        },
        "metrics": {"exit_code": 0},
        "meta": META,
        "summary": "Disk space check completed",
        "data": {
            "filesystems": [{"filesystem": "/dev/sda1", "size": "20G", "used": "12G", "available": "7.2G"}],
        },
        "stdout": "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        20G   12G  7.2G  63% /",
    }

    def test_example_2_direct_format(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -X POST http://localhost:9400/mcp \
  -H "Content-Type: application/json" \
  -H "X-Api-Key: ${BURLYMCP_API_KEY:-example}" \
  -d '{
    "id": "disk-1",
    "method": "call_tool",
    "name": "disk_space",
    "args": {}
  }'""",
            BURLYMCP_API_KEY="example",
        )
        assert contains(answer, self.DISK_SPACE)

    def test_example_3_params_format(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -X POST http://localhost:9400/mcp \
  -H "Content-Type: application/json" \
  -d '{
    "id": "disk-2",
    "method": "call_tool",
    "params": {
      "name": "disk_space",
      "args": {}
    }
  }'""",
        )
        assert contains(answer, self.DISK_SPACE)

    def test_example_4_without_confirmation(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -X POST http://localhost:9400/mcp \
  -H "Content-Type: application/json" \
  -d '{
    "id": "publish-1",
    "method": "call_tool",
    "name": "blog_publish_static",
    "args": {
      "source_files": ["post1.md", "post2.md"]
    }
  }'""",
        )
        details = {
            "required_arg": "_confirm",
            "required_value": True,
            "suggestion": "Add '_confirm': true to blog_publish_static arguments",
        }
        assert contains(
            answer,
            {
                "ok": False,
                "result": {
                    "summary": "blog_publish_static requires confirmation",
                    "need_confirm": {
                        "required": True,
                        "message": "Confirmation required for mutating operation",
                        "details": details,
                    },
                },
                "error_detail": {
                    "summary": "blog_publish_static requires confirmation",
                    "message": "Confirmation required for mutating operation",
                },
                "error": "Confirmation required for mutating operation",
                "metrics": {"exit_code": 1},
                "meta": META,
                "need_confirm": True,
                "summary": "blog_publish_static requires confirmation",
                "data": details,
            },
        )

    def test_example_4_with_confirmation(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -X POST http://localhost:9400/mcp \
  -H "Content-Type: application/json" \
  -d '{
    "id": "publish-2",
    "method": "call_tool",
    "name": "blog_publish_static",
    "args": {
      "source_files": ["post1.md", "post2.md"],
      "_confirm": true
    }
  }'""",
        )
        assert contains(
            answer,
            {
                "ok": True,
                "summary": "Published 2 files successfully",
                "data": {"published_files": ["post1.md", "post2.md"], "publish_path": "/app/data/blog/publish"},
                "stdout": "Published post1.md\nPublished post2.md",
                "metrics": {"exit_code": 0},
            },
        )

    def test_example_5_degraded(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -X POST http://localhost:9400/mcp \
  -H "Content-Type: application/json" \
  -d '{
    "id": "docker-1",
    "method": "call_tool",
    "name": "docker_ps",
    "args": {}
  }'""",
        )
        assert contains(
            answer,
            {
                "ok": False,
                "summary": "docker_ps unavailable",
                "error": "Docker socket not accessible in this container",
                "data": {
                    "tool": "docker_ps",
                    "reason": "Docker socket not accessible",
                    "suggestion": "Mount /var/run/docker.sock and add docker group to enable Docker operations",
                },
                "metrics": {"exit_code": 1},
            },
        )

    @pytest.mark.parametrize("path", ["/health", "/v1/health"])
    def test_health(self, client: TestClient, path: str) -> None:
        answer = client.get(path).json()
        assert answer["status"] == "ok"
        assert answer["server_name"] == "burlymcp"
        assert answer["tools_available"] > 0
        assert answer["policy_loaded"] is True
        assert {key: type(value) for key, value in answer.items()} == {
            "status": str,
            "server_name": str,
            "version": str,
            "tools_available": int,
            "notifications_enabled": bool,
            "docker_available": bool,
            "strict_security_mode": bool,
            "policy_loaded": bool,
            "uptime_seconds": int,
        }

    def test_a_missing_key(self, vault: App) -> None:
        with http_client(vault, keys=("secret",)) as client:
            for answer in (
                client.get("/health"),
                client.get("/v1/health"),
                client.post("/mcp", json={"id": "1", "method": "list_tools"}),
                client.post("/v1/mcp", json={"id": "1", "method": "list_tools"}, headers={"x-api-key": "wrong"}),
            ):
                assert answer.status_code == 200
                assert contains(
                    answer.json(),
                    {
                        "ok": False,
                        "summary": "Authentication required",
                        "error_detail": {"code": "AUTH_REQUIRED", "message": "Missing or invalid API key"},
                        "error": "Missing or invalid API key",  # wire row 13
                        "metrics": {"elapsed_ms": 0, "exit_code": 1},
                    },
                )

    def test_an_invalid_method(self, client: TestClient) -> None:
        answer = client.post("/mcp", json={"id": "1", "method": "nope"})
        assert answer.status_code == 200
        assert contains(
            answer.json(),
            {
                "ok": False,
                "summary": "Request processing failed",
                "error": "HTTP bridge error: Method must be one of: ['list_tools', 'call_tool']",
                "metrics": {"exit_code": 1},
            },
        )


TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class TestRadGateway:
    def invoke(self, client: TestClient, request: str) -> Any:
        answer = client.post("/mcp/v1/tools/invoke", content=request, headers={"content-type": "application/json"})
        assert answer.status_code == 200
        return answer.json()

    def test_list_tools(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl http://localhost:8090/mcp/v1/tools/list \
  -H "Authorization: Bearer your-api-key" """,
        )
        assert answer["count"] == len(answer["tools"])
        tools = {tool["name"]: tool for tool in answer["tools"]}
        assert contains(
            tools["echo"],
            {
                "name": "echo",
                "description": "Echoes back the input",
                "parameters": {"type": "object", "properties": {"content": {"type": "string"}}},
            },
        )
        assert contains(
            tools["time"],
            {
                "name": "time",
                "description": "Returns current time information",
                "parameters": {"type": "object", "properties": {}},
            },
        )
        assert {"echo", "time", "json_parse", "calculator", "read_note", "obsidian_list_files"} <= set(tools)
        assert "chat" not in tools  # wire row 29: no gateway is configured

    def test_invoke_a_tool(self, client: TestClient) -> None:
        answer = curl(
            client,
            r"""curl -X POST http://localhost:8090/mcp/v1/tools/invoke \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer your-api-key" \
  -d '{
    "tool": "json_parse",
    "input": {
      "data": "{\"key\": \"value\"}"
    },
    "session": "session-123"
  }'""",
        )
        assert contains(
            answer,
            {
                "success": True,
                "tool": "json_parse",
                "output": {"parsed": {"key": "value"}, "type": "map[string]interface {}"},
                "session": "session-123",
            },
        )

    def test_check_health(self, client: TestClient) -> None:
        answer = curl(client, "curl http://localhost:8090/mcp/v1/health")
        assert TIMESTAMP.fullmatch(answer.pop("timestamp"))
        assert answer == {"status": "healthy", "service": "mcp", "executor": True}

    def test_echo(self, client: TestClient) -> None:
        answer = self.invoke(client, '{\n  "tool": "echo",\n  "input": {\n    "content": "Hello, World!"\n  }\n}')
        output = {"echo": {"content": "Hello, World!"}, "message": "Echo response"}
        assert contains(answer, {"success": True, "output": output})

    def test_time(self, client: TestClient) -> None:
        answer = self.invoke(client, '{\n  "tool": "time",\n  "input": {}\n}')
        assert answer["success"] is True
        assert TIMESTAMP.fullmatch(answer["output"]["timestamp"])
        assert type(answer["output"]["unix"]) is int

    def test_json_parse(self, client: TestClient) -> None:
        answer = self.invoke(client, r'{"tool": "json_parse", "input": {"data": "{\"name\":\"test\",\"value\":123}"}}')
        output = {"parsed": {"name": "test", "value": 123}, "type": "map[string]interface {}"}
        assert contains(answer, {"success": True, "output": output})

    def test_the_answer_of_a_tool(self, client: TestClient) -> None:
        answer = self.invoke(
            client,
            '{"tool": "echo", "input": {"content": "Hello"}, "session": "session-123", "metadata": {}}',
        )
        assert TIMESTAMP.fullmatch(answer.pop("timestamp"))
        assert type(answer.pop("durationMs")) is int
        assert answer == {
            "success": True,
            "tool": "echo",
            "output": {"echo": {"content": "Hello"}, "message": "Echo response"},
            "session": "session-123",
        }

    def test_an_unknown_tool(self, client: TestClient) -> None:
        answer = self.invoke(client, '{"tool": "unknown_tool", "input": {}, "session": "session-123"}')
        assert TIMESTAMP.fullmatch(answer.pop("timestamp"))
        assert type(answer.pop("durationMs")) is int
        assert answer == {
            "success": False,
            "tool": "unknown_tool",
            "error": "tool not found: unknown_tool",  # wire row 26
            "session": "session-123",
        }

    def test_the_stdio_path_invokes_too(self, client: TestClient) -> None:
        answer = client.post("/mcp/v1/stdio", json={"tool": "echo", "input": {"content": "Hello"}})
        assert answer.json()["output"]["echo"] == {"content": "Hello"}

    def test_the_python_client_of_the_document(self, client: TestClient) -> None:
        headers = {"Authorization": "Bearer your-api-key"}
        tools = client.get("/mcp/v1/tools/list", headers=headers).json()
        assert tools["count"] > 3
        payload = {"tool": "calculator", "input": {"operation": "multiply", "a": 10, "b": 20}}
        result = client.post(
            "/mcp/v1/tools/invoke", headers={**headers, "Content-Type": "application/json"}, json=payload
        ).json()
        assert result["output"] == {"result": 200, "operation": "multiply", "operands": [10, 20]}

    @pytest.mark.parametrize(
        ("method", "path", "body", "status", "error"),
        [
            ("POST", "/mcp/v1/tools/invoke", "{}", 400, "tool is required"),
            ("POST", "/mcp/v1/tools/invoke", "not json", 400, "invalid request body: "),
            ("GET", "/mcp/v1/tools/invoke", "", 405, "method not allowed"),
            ("POST", "/mcp/v1/health", "", 405, "method not allowed"),
        ],
    )
    def test_error_format(self, client: TestClient, method: str, path: str, body: str, status: int, error: str) -> None:
        answer = client.request(method, path, content=body)
        assert answer.status_code == status
        reply = answer.json()
        assert reply["error"].startswith(error)
        assert TIMESTAMP.fullmatch(reply.pop("timestamp"))
        assert {key: type(value) for key, value in reply.items()} == {
            "success": bool,
            "tool": str,
            "error": str,
            "durationMs": int,
        }

    def test_a_handler_that_fails(self, client: TestClient) -> None:
        divide = {"operation": "divide", "a": 1, "b": 0}
        answer = self.invoke(client, json.dumps({"tool": "calculator", "input": divide}))
        assert contains(answer, {"success": False, "tool": "calculator", "error": "division by zero"})
