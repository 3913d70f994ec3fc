"""The official `obsidian` command from the files alone (specs/headless.md)."""
