"""Plain text: vault paths, case folding, tokens, tags and the clock."""
