"""The facade of one vault: read, change, undo, synchronise."""
