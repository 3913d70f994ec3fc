"""The stdio server with one tool more, which works until it is stopped; started as a process by tests.

Arguments: the vault; --sdk (leave every call to the SDK); --drain SECONDS.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time

from obsidian_mcp import compose, config
from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import current_call, report_progress
from obsidian_mcp.errors import OperationTimeout
from obsidian_mcp.serve import stdio
from obsidian_mcp.serve.mcp import server as mcp
from obsidian_mcp.serve.vault_dispatcher import VaultDispatcher
from obsidian_mcp.tools.offer import Offer
from obsidian_mcp.tools.registry import Tool
from tests.serve.sdk_dispatcher import SdkCalls

log = logging.getLogger("slow")


def bury(app: App, steps: int) -> dict[str, object]:
    """Dig in the commit of a change, which nothing stops."""
    limit = current_call.get().limit
    assert limit is not None
    limit.begin_commit()
    return dig(app, steps)


def dig(app: App, steps: int, *, fail: bool = False, surrogate: bool = False) -> dict[str, object]:
    """Dig."""
    log.warning("digging %d", steps)
    if fail:
        raise RuntimeError("the spade broke")
    if surrogate:
        return {"steps": "\udcff", "ratio": float("nan")}
    try:
        for step in range(steps):
            report_progress(step, steps, "Digging")
            time.sleep(0.01)
    except OperationTimeout:
        log.warning("stopped digging")
        raise
    return {"steps": steps}


def main() -> int:
    logging.basicConfig(stream=sys.stderr)
    parser = argparse.ArgumentParser()
    parser.add_argument("vault")
    parser.add_argument("--sdk", action="store_true")
    parser.add_argument("--drain", type=float, default=30.0)
    options = parser.parse_args()
    app = compose.build(config.Config((options.vault,)), serving=True)
    tool = Tool("dig", "Dig", "Dig.", dig, read_only=True, destructive=False, idempotent=True)
    writing = Tool("bury", "Bury", "Bury.", bury, read_only=False, destructive=True, idempotent=False)
    offer = Offer(app.config, lambda: {"dig": tool, "bury": writing})
    kind = SdkCalls if options.sdk else VaultDispatcher
    return stdio.serve_stdio(
        lambda: mcp.build_sdk_server(app, offer),
        kind(app.config, lambda: app, offer),
        drain_timeout=options.drain,
    )


if __name__ == "__main__":
    sys.exit(main())
