"""The part Changes: what was changed, by whom, and taking it back (UI-30)."""
