"""Everything handed to the official MCP SDK: tools, resources, prompts, completion and
subscriptions."""
