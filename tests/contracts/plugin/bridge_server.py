"""The bridge on stdio as the program runs it, but fifty times as impatient.

python -m tests.contracts.plugin.bridge_server PORT [--mode v1] [--seconds 1] [--vault FOLDER] [--read-only]
    [--errors result]
"""

from __future__ import annotations

import argparse
import logging
import sys
from dataclasses import replace
from functools import partial

from obsidian_mcp import compose, config
from obsidian_mcp.contracts.plugin import stdio as plugin_bridge
from obsidian_mcp.contracts.plugin.client import BridgeClient
from obsidian_mcp.contracts.plugin.stdio import Pause, pause_after

HASTE = 50


def pause(failures: int) -> Pause:
    usual = pause_after(failures)
    return replace(usual, seconds=usual.seconds / HASTE)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--vault")
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--errors", default="error")
    options = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    plugin = BridgeClient("127.0.0.1", options.port, mode=options.mode, list_seconds=1, call_seconds=options.seconds)
    settings = config.Config((options.vault,) if options.vault else ()).replace(read_only=options.read_only)
    settings = settings.replace(error_style=options.errors, timeout=options.seconds)
    schedule = plugin_bridge.Schedule(poll=5 / HASTE, first=1, pause=pause)
    return plugin_bridge.serve_bridge(
        plugin, settings, partial(compose.build, settings, serving=True), schedule=schedule
    )


if __name__ == "__main__":
    sys.exit(main())
