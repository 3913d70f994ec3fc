"""The dialects of the HTTP server: each module turns requests of one contract into tool calls and back."""
