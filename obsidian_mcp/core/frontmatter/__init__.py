"""YAML frontmatter as the app reads it, and edits of single properties."""
