"""BurlyMCP: an envelope around tool calls over HTTP (contract 001; specs/http.md BURLY-…)."""

from typing import Final

METHODS: Final = ("list_tools", "call_tool")
