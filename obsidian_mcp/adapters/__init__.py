"""One outside thing per file."""
