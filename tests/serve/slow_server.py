"""The stdio server with one tool more, which works until it is stopped; started as a process by tests."""

from __future__ import annotations

import logging
import sys
import time

from obsidian_mcp import compose, config
from obsidian_mcp.app import App
from obsidian_mcp.core import progress
from obsidian_mcp.errors import OperationTimeout
from obsidian_mcp.serve import mcp, stdio
from obsidian_mcp.tools import TOOLS
from obsidian_mcp.tools.registry import Tool

log = logging.getLogger("slow")


def dig(app: App, steps: int) -> dict[str, int]:
    """Dig."""
    log.warning("digging")
    try:
        for step in range(steps):
            progress.report(step, steps, "Digging")
            time.sleep(0.01)
    except OperationTimeout:
        log.warning("stopped digging")
        raise
    return {"steps": steps}


def main() -> int:
    logging.basicConfig(stream=sys.stderr)
    app = compose.build(config.read((sys.argv[1],)), serving=True)
    tool = Tool("dig", "Dig", "Dig.", "dig", dig, read_only=True, destructive=False, idempotent=True)
    server = mcp.build_server(app, lambda: {**TOOLS, "dig": tool})
    return stdio.run(server, server.create_initialization_options(), on_shutdown=server.news.close)


if __name__ == "__main__":
    sys.exit(main())
