"""Faults planted in a copy of the core, to see whether the tests notice them. Not part of `make test`."""
