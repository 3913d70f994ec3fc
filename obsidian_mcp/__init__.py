"""MCP server for Obsidian vaults. Importing the package loads nothing else."""

__version__ = "0.1.0"
