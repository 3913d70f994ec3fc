"""BurlyMCP: an envelope around tool calls over HTTP (contract 001; specs/http.md BURLY-…)."""
