"""Show the link graph, a query's result or a note as an interactive view (specs/views.md)."""
