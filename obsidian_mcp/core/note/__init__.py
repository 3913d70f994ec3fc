"""Parse one note, edit one note; canvas files."""
