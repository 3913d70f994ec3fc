"""The RAD gateway: its API, and tools that other programs register (contract 004; specs/http.md
RAD-…)."""
