"""`python -m obsidian_mcp`."""

from obsidian_mcp.cli import main

if __name__ == "__main__":
    main()
