"""Days, times and periods: written, read, moved and named (specs/periodic.md, specs/search.md SEARCH-12)."""
