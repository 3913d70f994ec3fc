"""Vectors from an OpenAI-compatible endpoint, Ollama among them (specs/semantic.md, SEM-06)."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any, Final

import httpx

from obsidian_mcp.core.semantic.meaning import Refused
from obsidian_mcp.errors import SemanticUnavailable

QUICK_SECONDS: Final = 2.0
"""How long a search waits for the vector of its query."""
ABOUT_TEXTS: Final = {200, 400, 413, 422, 500}
"""Status of answers to texts that an endpoint cannot embed, as too long ones; others are about the request itself."""
MOST_SAID: Final = 200
"""Characters of an endpoint's own words that an error repeats."""
LOOPBACK: Final = {"localhost", "127.0.0.1", "::1"}
"""Hosts that are asked without the proxy of the environment: what is meant for this machine stays on it."""


class EmbeddingEndpoint:
    """One model of one endpoint; safe to use from several threads."""

    def __init__(self, url: str, model: str, key: str, timeout: float) -> None:
        """`url` is the base, such as http://127.0.0.1:11434/v1; `timeout` in seconds."""
        self._model = model
        self._timeout = timeout
        self._client = httpx.Client(
            base_url=url.rstrip("/") + "/",
            headers={"authorization": f"Bearer {key}"} if key else {},
            trust_env=httpx.URL(url).host not in LOOPBACK,
        )

    def embed(self, texts: Sequence[str], *, quick: bool = False) -> list[bytes]:
        payload = {"model": self._model, "input": list(texts)}
        try:
            response = self._client.post("embeddings", json=payload, timeout=QUICK_SECONDS if quick else self._timeout)
        except httpx.HTTPError as error:
            raise SemanticUnavailable(
                f"The embeddings endpoint does not answer ({type(error).__name__}). Check that it runs, or choose "
                "another one with `obsidian-mcp semantic setup`."
            ) from error
        try:
            answer: Any = response.json()
        except ValueError:
            answer = None
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = [_unit(row["embedding"]) for row in rows]
        except (KeyError, TypeError, ValueError, OverflowError, struct.error):
            vectors = []
        if response.is_error or len(vectors) != len(texts) or len(set(map(len, vectors))) != 1 or not vectors[0]:
            raise (Refused if response.status_code in ABOUT_TEXTS else SemanticUnavailable)(
                f"The embeddings endpoint refused the request (HTTP {response.status_code}{_said(answer)}). Check the "
                f"model {self._model!r} and the key in OBSIDIAN_MCP_EMBEDDINGS_KEY."
            )
        return vectors


def _said(answer: Any) -> str:
    """What an error says, as OpenAI and Ollama write it, for the brackets of ours."""
    error = answer.get("error") if isinstance(answer, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return f": {message[:MOST_SAID]}" if isinstance(message, str) else ""


def _unit(values: Sequence[float]) -> bytes:
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return struct.pack(f"<{len(values)}f", *(value / length for value in values))
