"""How the code of obsidian_mcp looks from near, measured; `python -m tests.house` prints the table."""
