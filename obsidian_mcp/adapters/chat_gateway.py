"""Chat completions from an OpenAI-compatible gateway (contract 004)."""

from __future__ import annotations

from typing import Any, Final

import httpx

from obsidian_mcp.errors import OperationTimeout, ToolFailed

MAX_TOLD: Final = 300
"""Characters of the gateway's own error that are passed on."""


class Gateway:
    """One gateway; safe to use from several threads."""

    def __init__(self, url: str, key: str, model: str, timeout: float) -> None:
        """`url` is the base, such as https://api.example.com/v1; `timeout` in seconds."""
        self._model = model
        self._client = httpx.Client(
            base_url=url.rstrip("/") + "/",
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=timeout,
        )

    def complete(self, content: str, model: str) -> dict[str, Any]:
        """Return the completion of one prompt as the gateway gives it. An empty `model` means the configured one.

        Raises: ToolFailed, OperationTimeout.
        """
        payload = {"model": model or self._model, "messages": [{"role": "user", "content": content}]}
        try:
            response = self._client.post("chat/completions", json=payload)
        except httpx.TimeoutException as error:
            raise OperationTimeout("The chat gateway did not answer in time. Try again later.") from error
        except httpx.HTTPError as error:
            raise ToolFailed(
                f"The chat gateway cannot be reached ({type(error).__name__}). Check OBSIDIAN_MCP_CHAT_URL.",
                summary="chat unavailable",
            ) from error
        try:
            completion = response.json()
        except ValueError:
            completion = None
        if response.is_error or not isinstance(completion, dict):
            raise ToolFailed(
                f"The chat gateway refused the request (HTTP {response.status_code}): {_reason(completion)}",
                summary="chat failed",
                status=response.status_code,
            )
        return {"model": payload["model"], **completion}


def _reason(answer: Any) -> str:
    """The gateway's own words, where it has some in the usual place."""
    error = answer.get("error") if isinstance(answer, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return message[:MAX_TOLD] if isinstance(message, str) else "it gave no reason."
