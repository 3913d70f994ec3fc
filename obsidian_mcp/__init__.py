"""MCP server for Obsidian vaults. Importing the package loads nothing else."""

__version__ = "0.1.0"

DISTRIBUTION = "obsidian-vault-tools"
"""Name of the distribution on the package index; another project has the name of our command there."""


def install_command(extra: str) -> str:
    """Return what a person types to install one of the optional dependencies."""
    return f"pip install '{DISTRIBUTION}[{extra}]' (from a checkout: pip install '.[{extra}]')"
