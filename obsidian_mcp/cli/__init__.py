"""The command line: commands, rendering, progress."""
