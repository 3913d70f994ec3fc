"""MCP server for Obsidian vaults. Importing the package loads nothing else."""

TYPE_CHECKING = False
"""True to type checkers. What a server's first answer needs takes it from here, because `typing`
takes 3 ms."""
if TYPE_CHECKING:
    import logging

__version__ = "0.1.0"

DISTRIBUTION = "obsidian-vault-tools"
"""Name of the distribution on the package index; another project has the name of our command
there."""


def logger(module: str) -> "logging.Logger":
    """Return the logger of a module, which imports `logging` where something is logged: it takes 4
    ms."""
    import logging

    return logging.getLogger(module)


def install_command(extra: str) -> str:
    """Return what a person types to install one of the optional dependencies."""
    return f"pip install '{DISTRIBUTION}[{extra}]' (from a checkout: pip install '.[{extra}]')"
