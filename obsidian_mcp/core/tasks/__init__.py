"""Tasks of a vault as the Tasks plugin understands them (specs/tasks.md)."""
