"""Resolve links and rewrite them."""
