"""Backlinks, orphans, paths, tag and property tables."""
