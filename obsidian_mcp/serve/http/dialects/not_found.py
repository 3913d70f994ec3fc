"""Paths that belong to no contract."""

from __future__ import annotations

from .types import Asked, Desk, Refusal, Reply, json_reply


class Nowhere:
    max_body = 0

    def methods(self, segments: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG002  nothing is anywhere here
        return ()

    def refuse(self, asked: Asked, refusal: Refusal) -> Reply:  # noqa: ARG002  the same for every request
        return json_reply(refusal.body, refusal.reason.value, refusal.headers)

    async def answer(self, asked: Asked, desk: Desk) -> Reply:  # noqa: ARG002  never asked, having no methods
        return Reply(404)
