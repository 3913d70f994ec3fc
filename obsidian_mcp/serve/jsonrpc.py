"""Reads and writes messages of JSON-RPC, on stdin and over HTTP (specs/stdio.md, MSG-…), with the
standard library alone. Every line that expects an answer gets one that says what was wrong."""

from __future__ import annotations

import json
import re

from obsidian_mcp import TYPE_CHECKING, json_codec
from obsidian_mcp.errors import MOST_NAME, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Final

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
METHOD_NOT_FOUND: Final = -32601
CONNECTION_CLOSED: Final = -32000

MAX_BATCH: Final = 50
"""Messages of an array."""

MAX_FAULTS: Final = 8
"""Faults of params that an answer lists."""
MAX_SHOWN: Final = 60
"""Characters of a value that a fault repeats."""

RequestId = int | str
Message = dict[str, "Any"]
"""A valid request, notification, result or error, unchanged."""
Shape = dict[str, type]
"""The type of each member of params by its name; `?` ends that of one that may be absent or
null."""
Fault = dict[str, str]
"""What is wrong with a member of params: `field`, `expected` and `got`."""

_ERROR_WORDS: Final = {
    PARSE_ERROR: "PARSE_ERROR",
    INVALID_REQUEST: "INVALID_REQUEST",
    INVALID_PARAMS: "INVALID_PARAMS",
    INTERNAL_ERROR: "INTERNAL_ERROR",
}
_SURROGATES: Final = "[\ud800-\udfff]"


class InvalidMessage:
    """A line that is no valid message: `reason` for the log, `answer` for the client, None where it
    gets none."""

    def __init__(self, reason: str, answer: Message | None) -> None:
        self.reason = reason
        self.answer = answer


def decode(line: bytes) -> Message | InvalidMessage | list[Message | InvalidMessage]:
    """Return the message in one line of UTF-8 JSON, or why there is none; those of an array. Never
    raises."""
    try:
        value = json_codec.decode(line)
    except ValueError as exc:
        problem = (
            f"Parse error: the line is not valid JSON in UTF-8 ({exc}). Send one JSON-RPC object "
            "per line."
        )
        return _refuse(PARSE_ERROR, problem, _id_in(line))
    if not isinstance(value, list):
        return check(value)
    return check_batch(value)


def refuse_batch(values: Sequence[Any]) -> InvalidMessage | None:
    """Return the refusal of an array with too many messages, or none (MSG-09)."""
    if 0 < len(values) <= MAX_BATCH:
        return None
    return _refuse(
        INVALID_REQUEST,
        f"Invalid Request: a batch holds 1 to {MAX_BATCH} messages; {len(values)} came.",
    )


def check_batch(values: Sequence[Any]) -> InvalidMessage | list[Message | InvalidMessage]:
    """Return the messages of an array, or why it is none (MSG-09)."""
    return refuse_batch(values) or [_check_member(check(value)) for value in values]


def _check_member(message: Message | InvalidMessage) -> Message | InvalidMessage:
    if isinstance(message, InvalidMessage) or message.get("method") != "subscriptions/listen":
        return message
    problem = "a subscription stays open, so that its batch would not be answered; send it alone"
    return _refuse(INVALID_REQUEST, f"Invalid Request: {problem}.", message.get("id"))


def check(value: object) -> Message | InvalidMessage:
    """Return a JSON value as the message that it is, or why it is none (MSG-04)."""
    if not isinstance(value, dict):
        return _refuse(
            INVALID_REQUEST, f"Invalid Request: {kind(value)} came; a message is a JSON object."
        )
    raw_id = value.get("id")
    request_id = read_id(raw_id)
    usable = request_id is not None
    if usable and isinstance(raw_id, float):
        value = {**value, "id": request_id}
    is_answer = "method" not in value and ("result" in value or "error" in value)
    # An error under the id of a broken *answer* would look like an answer to a request of the
    # client's own.
    echoed = None if is_answer else request_id

    if value.get("jsonrpc") != "2.0":
        came = f"{kind(value['jsonrpc'])} came" if "jsonrpc" in value else "it is missing"
        return _refuse(
            INVALID_REQUEST, f'Invalid Request: "jsonrpc" must be "2.0"; {came}.', echoed
        )
    if "id" in value and not usable and not (is_answer and raw_id is None):
        return _refuse(
            INVALID_REQUEST,
            f'Invalid Request: "id" must be a string or an integer; {kind(raw_id)} came.',
        )
    if is_answer:
        return value if _is_sound_answer(value) else _refuse(INVALID_REQUEST, _UNSOUND_ANSWER)
    if "method" not in value:
        return _refuse(INVALID_REQUEST, 'Invalid Request: "method" is missing.', echoed)
    if not isinstance(value["method"], str):
        came = kind(value["method"])
        return _refuse(
            INVALID_REQUEST, f'Invalid Request: "method" must be a string; {came} came.', echoed
        )
    params = value.get("params")
    if params is not None and not isinstance(params, dict):
        method = shorten(value["method"], MOST_NAME)
        problem = f'Invalid params: "params" of {method} must be an object; {kind(params)} came.'
        return (
            _refuse(INVALID_PARAMS, problem, request_id)
            if "id" in value
            else InvalidMessage(problem, None)
        )
    return value


def refuse_long_line(limit: int) -> InvalidMessage:
    """Return the refusal of a line over the size limit, in bytes."""
    return _refuse(
        PARSE_ERROR,
        f"Parse error: the line is longer than {limit} bytes and was skipped. Send the content "
        "in smaller pieces.",
    )


def encode(message: Mapping[str, Any]) -> bytes:
    """Return one line of UTF-8 with its line end. Never raises: a message that JSON cannot hold
    becomes -32603."""
    try:
        return json_codec.encode(message) + b"\n"
    except (TypeError, ValueError, RecursionError) as exc:
        if "method" in message:
            raise ValueError(f"{message['method']} cannot be written as JSON") from exc
        reason = (
            "Internal error: the answer could not be written as JSON. The details are in the "
            "server's log."
        )
        return encode(refusal(INTERNAL_ERROR, reason, message["id"]))


def notification(method: str, params: Mapping[str, Any] | None = None) -> Message:
    return {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})


def progress(token: RequestId | None, done: int, total: int, activity: str) -> bytes:
    """Return the line that says how far a request is whose client gave a token; a `total` of 0 is
    not known."""
    params = {
        "progressToken": token,
        "progress": done,
        **({"total": total} if total else {}),
        "message": activity,
    }
    return encode(notification("notifications/progress", params))


def result(request_id: RequestId, value: Mapping[str, Any]) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def error(request_id: RequestId | None, code: int, message: str, data: object = None) -> Message:
    """Return the answer that reports a failure; what it repeats of the request is short
    (ERR-08)."""
    details = {"code": code, "message": message} | ({} if data is None else {"data": shorten(data)})
    return {"jsonrpc": "2.0", "id": request_id, "error": details}


def faults(value: Mapping[str, Any] | None, shape: Shape) -> Iterator[Fault]:
    """Yield what keeps the params of a request from having a shape (GUARD-03)."""
    if value is None and any(not name.endswith("?") for name in shape):
        yield missing_param_fault("params")
        return
    given = value or {}
    for name, wanted in shape.items():
        field = name.removesuffix("?")
        member = given.get(field)
        if member is None and (field != name or field not in given):
            if field == name:
                yield missing_param_fault(field)
        elif not isinstance(member, wanted):
            yield fault(field, "a valid string" if wanted is str else "a valid dictionary", member)


def missing_param_fault(field: str) -> Fault:
    """Return the fault of params without a member."""
    return {"field": field, "expected": "a value", "got": "nothing"}


def fault(field: str, expected: str, value: object) -> Fault:
    """Return the fault of a member; of its value a scalar as written, of a container only its
    kind."""
    match value:
        case bool():
            got = "true" if value else "false"
        case int() | float():
            got = f"the number {value}"[:MAX_SHOWN]
        case str():
            got = f"the string {value!r}" if len(value) <= MAX_SHOWN else "a string"
        case _:
            got = kind(value)
    return {"field": field, "expected": expected, "got": got}


def invalid_params(method: str, found: Iterable[Fault]) -> tuple[str, dict[str, Any]]:
    """Return the message and the data of the error about the params of a method."""
    listed = list(found)[:MAX_FAULTS]
    sentences = "; ".join(
        f"{one['field']} is missing"
        if one["got"] == "nothing"
        else f"{one['field']} should be {one['expected']}, {one['got']} came"
        for one in listed
    )
    return f"Invalid params of {method}: {sentences}.", {
        "errorCode": "INVALID_PARAMS",
        "fields": listed,
    }


class BatchAnswer:
    """The answers to the messages of one array, which are sent as one, in the order of the requests
    (MSG-09)."""

    def __init__(self, messages: Sequence[Message | InvalidMessage]) -> None:
        self._answers: list[tuple[RequestId | None, bytes | None]] = []
        """Id of each request, and its answer once it is known, b"" where it gets none."""
        for message in messages:
            if isinstance(message, InvalidMessage):
                if message.answer is not None:
                    self._answers.append((None, encode(message.answer)))
            elif "method" in message and "id" in message:
                self._answers.append((correlation_key(message["id"]), None))

    @property
    def is_complete(self) -> bool:
        return all(answer is not None for _, answer in self._answers)

    def take(self, request_id: RequestId, answer: bytes) -> bool:
        """Keep the answer to a request; False where none of the array waits for it."""
        wanted = (correlation_key(request_id), None)
        if waits := wanted in self._answers:
            self._answers[self._answers.index(wanted)] = (wanted[0], answer)
        return waits

    def encode(self) -> bytes:
        """Return the line with all answers; b"" where none is due."""
        answers = [answer.rstrip() for _, answer in self._answers if answer]
        return b"[" + b",".join(answers) + b"]\n" if answers else b""


class OpenBatches:
    """The arrays of messages of one client whose answers are not complete. Its owner's lock guards
    it."""

    def __init__(self, put: Callable[[bytes], None]) -> None:
        """`put` takes the line with all answers of an array."""
        self._put = put
        self._batches: list[BatchAnswer] = []

    def add(self, batch: BatchAnswer) -> None:
        self._batches.append(batch)

    def take(self, request_id: RequestId, line: bytes) -> bool:
        """Keep the answer to a request for its array; False where it came in none."""
        for batch in self._batches:
            if batch.take(request_id, line):
                self.send_complete(batch)
                return True
        return False

    def send_complete(self, batch: BatchAnswer) -> None:
        """Send the answers of an array, once, when there are all."""
        if batch.is_complete and batch in self._batches:
            self._batches.remove(batch)
            if line := batch.encode():
                self._put(line)


def refusal(code: int, message: str, request_id: RequestId | None) -> Message:
    """Return an error of this layer with its `errorCode`."""
    return error(request_id, code, message, {"errorCode": _ERROR_WORDS[code]})


def read_id(value: object) -> RequestId | None:
    """Return an id; the integer for one that is written as 1.0, None for what is no id."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def correlation_key(request_id: RequestId) -> RequestId:
    """Return what two equal ids have in common: to the SDK "7" and 7 are one id."""
    try:
        return int(request_id)
    except ValueError:
        return request_id


_UNSOUND_ANSWER: Final = (
    'Invalid Request: an answer has an "id" and either a "result" object or an "error" with code '
    "and message."
)


def _id_in(line: bytes) -> RequestId | None:
    """Return the id of a request that is JSON but for `NaN`, half of a character or its depth: its
    client would wait."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = read_id(value.get("id")) if isinstance(value, dict) and "method" in value else None
    return None if found is None or re.search(_SURROGATES, str(found)) else found


def _is_sound_answer(value: dict[str, Any]) -> bool:
    match value:
        case {"id": _, "error": {"code": int(), "message": str()}}:
            return True
        case {"id": int() | str(), "result": dict()}:
            return "error" not in value
        case _:
            return False


def _refuse(code: int, message: str, request_id: RequestId | None = None) -> InvalidMessage:
    return InvalidMessage(message, refusal(code, message, request_id))


def kind(value: object) -> str:
    """Return what a JSON value is, in words."""
    return _KINDS.get(type(value), "an object")


_KINDS: Final = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
}
