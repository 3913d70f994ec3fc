"""A server of another program, with a tool `wait` that says that it began and ends when a file is there.

python -m tests.serve.http.waiting_server VAULT FILE
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from obsidian_mcp import compose, config
from obsidian_mcp.contracts.rad.tools import Bridge, ToolSpec


def wait(_: dict[str, Any]) -> str:
    print("begun", flush=True)
    while not Path(sys.argv[2]).exists():
        time.sleep(0.01)
    return "waited"


def main() -> int:
    bridge = Bridge()
    bridge.register_tool(ToolSpec("wait", "Wait for a file"))
    bridge.register_tool_handler("wait", wait)
    app = compose.build(config.Config((sys.argv[1],)), serving=True)
    return compose.serve_http(app, ports=(0,), registered=bridge, announce=lambda url: print(url, flush=True))


if __name__ == "__main__":
    sys.exit(main())
