"""Plan, retrieve, rank and render the results of a search."""
