"""Search by meaning: sections of notes as vectors of a model (specs/semantic.md)."""
