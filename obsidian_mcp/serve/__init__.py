"""Fronts: wire to registry call to wire."""
