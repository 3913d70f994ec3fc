"""Obsidian Bases, evaluated on the files alone (specs/bases.md)."""
