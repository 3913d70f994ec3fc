"""SQLite storage of the index and keeping it up to date."""
