"""One HTTP server for four contracts and MCP."""
