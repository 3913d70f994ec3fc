"""The SDK's client of a server on stdio, which is forked (`tests.forked`) instead of started anew."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from tests import forked


@asynccontextmanager
async def forked_client(command: Sequence[str], env: Mapping[str, str]) -> AsyncIterator[Any]:
    """The streams of a server, as `mcp.Client` takes them. The server ends with the context.

    The SDK's transport of a server reads lines and writes lines, which is what a client does, too.
    """
    process = forked.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **env})
    assert process.stdin is not None
    assert process.stdout is not None
    with io.TextIOWrapper(process.stdout, "utf-8") as received, io.TextIOWrapper(process.stdin, "utf-8") as sent:
        try:
            async with stdio_server(anyio.wrap_file(received), anyio.wrap_file(sent)) as streams:
                try:
                    yield streams
                finally:
                    sent.close()
        except* anyio.BrokenResourceError:
            pass  # a message came after the client had gone
        assert process.wait(20) == 0
