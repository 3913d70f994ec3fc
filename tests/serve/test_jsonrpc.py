"""One line to a message and back (specs/stdio.md, MSG)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.shared.dispatcher import coerce_request_id
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from obsidian_mcp.serve import jsonrpc
from obsidian_mcp.serve.jsonrpc import InvalidMessage, correlation_key, decode
from obsidian_mcp.serve.stdio.sdk_streams import encode, model
from tests.examples import examples

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_object = st.dictionaries(_text, _json, max_size=3)
_id = st.integers() | _text
_version = st.just("2.0")
_messages = st.one_of(
    st.fixed_dictionaries(
        {"jsonrpc": _version, "id": _id, "method": _text}, optional={"params": _object | st.none(), "extra": _json}
    ),
    st.fixed_dictionaries({"jsonrpc": _version, "method": _text}, optional={"params": _object | st.none()}),
    st.fixed_dictionaries({"jsonrpc": _version, "id": _id, "result": _object}, optional={"extra": _json}),
    st.fixed_dictionaries(
        {
            "jsonrpc": _version,
            "id": _id | st.none(),
            "error": st.fixed_dictionaries({"code": st.integers(), "message": _text}, optional={"data": _json}),
        }
    ),
)


FLOAT = re.compile(rb"-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)")


def floats_of_python(line: bytes) -> bytes:
    """The line with each float as Python writes it: 1e-09, 1e+16, 2e-05; the SDK writes 1e-9, 1e16 and 0.00002."""
    return FLOAT.sub(lambda found: repr(float(found[0])).encode(), line)


def read(line: bytes) -> JSONRPCMessage:
    """The message in a line, as the SDK is given it."""
    message = decode(line)
    assert not isinstance(message, InvalidMessage | list)
    return model(message)


@examples(200)
@given(_messages, st.booleans())
def test_a_valid_message_is_the_model_that_the_sdk_builds(message: dict[str, Any], ascii_only: bool) -> None:
    """MSG-01"""
    line = json.dumps(message, ensure_ascii=ascii_only).encode()
    ours = read(line)
    theirs = jsonrpc_message_adapter.validate_json(line, by_name=False)
    assert ours == theirs
    assert type(ours) is type(theirs)
    assert ours.model_fields_set == theirs.model_fields_set


@examples(200)
@given(_messages)
def test_a_message_says_what_the_sdk_would_write(message: dict[str, Any]) -> None:
    """MSG-02"""
    message_model = jsonrpc_message_adapter.validate_python(message, by_name=False)
    line = encode(message_model)
    assert json.loads(line) == json.loads(message_model.model_dump_json(by_alias=True, exclude_unset=True))
    assert line.count(b"\n") == 1
    assert read(line) == message_model


@examples(200)
@given(st.binary(max_size=60) | _json.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_become_a_message_or_a_refusal(line: bytes) -> None:
    """MSG-03"""
    refusal = decode(line)
    if isinstance(refusal, InvalidMessage) and refusal.answer is not None:
        assert refusal.answer["error"]["code"] in {-32700, -32600, -32602}
        assert isinstance(read(jsonrpc.encode(refusal.answer)), JSONRPCError)


BROKEN = [
    # line, code, id of the answer
    (b"{bad", -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping"} trailing', -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":NaN}}', -32700, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"s":"\xff"}}', -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"s":"\xed\xa0\x80"}}', -32700, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"s":"\\ud800"}}', -32700, 1),
    (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"result":{"s":"\\ud800"}}', -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 250 + b"1" + b"}" * 251, -32700, 1),
    (b"[]", -32600, None),
    (b"[" + b"1," * 50 + b"1]", -32600, None),
    (b"1", -32600, None),
    (b'"ping"', -32600, None),
    (b"null", -32600, None),
    (b"{}", -32600, None),
    (b'{"id":1,"method":"ping"}', -32600, 1),
    (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a"),
    (b'{"jsonrpc":2.0,"id":1,"method":"ping"}', -32600, 1),
    (b'{"method":"exit"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":-1.25e1,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":1}', -32600, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1),
    (b'{"jsonrpc":"2.0","id":"x","method":null}', -32600, "x"),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"text"}', -32602, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":5}', -32602, 1),
    # A broken answer to a question of ours: its id is none of the client's requests.
    (b'{"jsonrpc":"2.0","id":1,"result":[1]}', -32600, None),
    (b'{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}', -32600, None),
    (b'{"id":1,"result":{}}', -32600, None),
]
"""Every kind of line that is no message: shared with the tests over a real process."""


@pytest.mark.parametrize(("line", "code", "request_id"), BROKEN)
def test_a_broken_line_is_refused_with_its_code(line: bytes, code: int, request_id: int | str | None) -> None:
    """MSG-04"""
    refusal = decode(line)
    assert isinstance(refusal, InvalidMessage)
    assert refusal.answer is not None
    assert (refusal.answer["error"]["code"], refusal.answer["id"]) == (code, request_id)


def test_a_notification_with_odd_params_is_dropped_without_an_answer() -> None:
    """MSG-05"""
    refusal = decode(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}')
    assert isinstance(refusal, InvalidMessage)
    assert refusal.answer is None


def test_the_refusal_says_what_came_and_what_was_expected() -> None:
    """MSG-06"""
    refusal = decode(b'{"jsonrpc":"2.0","id":true,"method":"ping"}')
    assert isinstance(refusal, InvalidMessage)
    assert refusal.reason == 'Invalid Request: "id" must be a string or an integer; a boolean came.'


def test_200_levels_of_nesting_are_taken() -> None:
    depth = 190
    line = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":' + b"[" * depth + b"]" * depth + b"}}"
    assert isinstance(read(line), JSONRPCRequest)


def test_a_lone_surrogate_is_written_as_the_replacement_character_and_a_pair_as_its_character() -> None:
    """MSG-07"""
    result = {"\udcff": ["a\ud83d\ude00b", float("nan")], "deep": {"x": ("\ud800",)}}
    line = encode(JSONRPCResponse(jsonrpc="2.0", id=1, result=result))
    assert json.loads(line) == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"\ufffd": ["a\U0001f600b", None], "deep": {"x": ["\ufffd"]}},
    }
    # Rust and pydantic clients refuse the escape of a lone surrogate, so it must not appear in any form.
    line.decode("utf-8", "strict")
    assert b"\\ud" not in line.lower()


@pytest.mark.parametrize(
    "message",
    [
        JSONRPCError(jsonrpc="2.0", id=1, error=ErrorData(code=-1, message="\udcff", data={"a": "\udcff"})),
        JSONRPCNotification(jsonrpc="2.0", method="x", params={"a": "\udcff"}),
        JSONRPCRequest(jsonrpc="2.0", id="\udcff", method="x"),
    ],
)
def test_every_kind_of_message_survives_a_lone_surrogate(message: JSONRPCMessage) -> None:
    """MSG-07"""
    assert "\ufffd" in encode(message).decode()


def test_a_result_that_json_cannot_hold_becomes_an_internal_error() -> None:
    """MSG-08"""
    answer = json.loads(encode(JSONRPCResponse(jsonrpc="2.0", id=7, result={"a": object()})))
    assert (answer["id"], answer["error"]["code"]) == (7, -32603)
    loop: dict[str, Any] = {}
    loop["self"] = loop
    answer = json.loads(encode(JSONRPCResponse(jsonrpc="2.0", id=8, result=loop)))
    assert (answer["id"], answer["error"]["code"]) == (8, -32603)


@pytest.mark.parametrize(
    "error", [{"code": -1, "message": "\udcff", "data": {"a": "\udcff"}}, {"code": 1, "message": ""}]
)
def test_an_answer_of_our_own_is_written_as_one_of_the_sdk(error: dict[str, Any]) -> None:
    """MSG-02, MSG-07"""
    ours = jsonrpc.error(7, error["code"], error["message"], error.get("data"))
    assert jsonrpc.encode(ours) == encode(JSONRPCError(jsonrpc="2.0", id=7, error=ErrorData(**error)))


@examples(200)
@given(_id, _object)
@example(0, {"small": 6.354889114125544e-09, "large": 1e16, "fixed": 2.504197116137727e-05})
def test_a_result_of_our_own_is_written_as_one_of_the_sdk(request_id: int | str, value: dict[str, Any]) -> None:
    """MSG-02"""
    theirs = encode(JSONRPCResponse(jsonrpc="2.0", id=request_id, result=value))
    assert floats_of_python(jsonrpc.encode(jsonrpc.result(request_id, value))) == floats_of_python(theirs)


@pytest.mark.parametrize("request_id", [7, "7", "-7", " 7", "07", "7.0", "x", "", "٧", -1, 2**70])
def test_ids_are_the_same_where_they_are_to_the_sdk(request_id: int | str) -> None:
    assert correlation_key(request_id) == coerce_request_id(request_id)
    assert type(correlation_key(request_id)) is type(coerce_request_id(request_id))
