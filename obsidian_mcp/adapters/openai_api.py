"""Endpoints that speak OpenAI's API: chat (contract 004), and vectors, also from Ollama
(specs/semantic.md, SEM-06)."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any, Final

import httpx

from obsidian_mcp.core.semantic.meaning import EmbeddingRefused
from obsidian_mcp.errors import OperationTimeout, SemanticUnavailable, ToolFailed

GATEWAY_REASON_CHARACTERS: Final = 300
"""Characters of the gateway's own error that are passed on."""
QUICK_SECONDS: Final = 2.0
"""How long a search waits for the vector of its query."""
TEXT_STATUSES: Final = {200, 400, 413, 422, 500}
"""HTTP statuses by which an endpoint may refuse single texts, such as too long ones. Any other
status refuses the request, whatever the texts."""
ENDPOINT_REASON_CHARACTERS: Final = 200
"""Characters of an embeddings endpoint's own error that are passed on."""
LOOPBACK: Final = {"localhost", "127.0.0.1", "::1"}
"""Hosts that are asked without the proxy of the environment: what is meant for this machine stays
on it."""


class Gateway:
    """One gateway for chat completions; safe to use from several threads."""

    def __init__(self, url: str, key: str, model: str, timeout: float) -> None:
        """`url` is the base, such as https://api.example.com/v1; `timeout` in seconds."""
        self._model = model
        self._client = _client(url, key, timeout)

    def complete(self, content: str, model: str) -> dict[str, Any]:
        """Return the completion of a prompt; "" means the configured model. Raises: ToolFailed,
        OperationTimeout."""
        payload = {
            "model": model or self._model,
            "messages": [{"role": "user", "content": content}],
        }
        try:
            response = self._client.post("chat/completions", json=payload)
        except httpx.TimeoutException as error:
            raise OperationTimeout(
                "The chat gateway did not answer in time. Try again later."
            ) from error
        except httpx.HTTPError as error:
            raise ToolFailed(
                f"The chat gateway cannot be reached ({type(error).__name__}). Check "
                "OBSIDIAN_MCP_CHAT_URL.",
                summary="chat unavailable",
            ) from error
        completion = _decode(response)
        if response.is_error or not isinstance(completion, dict):
            reason = _own_words(completion)
            reason = "it gave no reason." if reason is None else reason[:GATEWAY_REASON_CHARACTERS]
            raise ToolFailed(
                f"The chat gateway refused the request (HTTP {response.status_code}): {reason}",
                summary="chat failed",
                status=response.status_code,
            )
        return {"model": payload["model"], **completion}


class EmbeddingEndpoint:
    """One model of one endpoint; safe to use from several threads."""

    def __init__(self, url: str, model: str, key: str, timeout: float) -> None:
        """`url` is the base, such as http://127.0.0.1:11434/v1; `timeout` in seconds."""
        self._model = model
        self._timeout = timeout
        self._client = _client(url, key, timeout, trust_env=httpx.URL(url).host not in LOOPBACK)

    def embed(self, texts: Sequence[str], *, quick: bool = False) -> list[bytes]:
        payload = {"model": self._model, "input": list(texts)}
        try:
            response = self._client.post(
                "embeddings", json=payload, timeout=QUICK_SECONDS if quick else self._timeout
            )
        except httpx.HTTPError as error:
            raise SemanticUnavailable(
                f"The embeddings endpoint does not answer ({type(error).__name__}). Check that it "
                "runs, or choose another one with `obsidian-mcp semantic setup`."
            ) from error
        answer = _decode(response)
        try:
            vectors = [
                _normalize(row["embedding"])
                for row in sorted(answer["data"], key=lambda row: row["index"])
            ]
        except (KeyError, TypeError, ValueError, OverflowError, struct.error):
            vectors = []
        if (
            response.is_error
            or len(vectors) != len(texts)
            or len(set(map(len, vectors))) != 1
            or not vectors[0]
        ):
            reason = _own_words(answer)
            reason = "" if reason is None else f": {reason[:ENDPOINT_REASON_CHARACTERS]}"
            is_about_texts = response.status_code in TEXT_STATUSES
            raise (EmbeddingRefused if is_about_texts else SemanticUnavailable)(
                "The embeddings endpoint refused the request (HTTP "
                f"{response.status_code}{reason}). Check the model {self._model!r} and the key in "
                "OBSIDIAN_MCP_EMBEDDINGS_KEY."
            )
        return vectors


def _client(url: str, key: str, timeout: float, *, trust_env: bool = True) -> httpx.Client:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(
        base_url=url.rstrip("/") + "/", headers=headers, timeout=timeout, trust_env=trust_env
    )


def _decode(response: httpx.Response) -> Any:
    """Return the JSON of an answer; None where it is none."""
    try:
        return response.json()
    except ValueError:
        return None


def _own_words(answer: Any) -> str | None:
    """Return what an error says, as OpenAI and Ollama write it; None where it says nothing in the
    usual place."""
    error = answer.get("error") if isinstance(answer, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else None


def _normalize(values: Sequence[float]) -> bytes:
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return struct.pack(f"<{len(values)}f", *(value / length for value in values))
