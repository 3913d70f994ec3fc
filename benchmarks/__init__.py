"""Measurements, side by side with other servers in one run. `make bench` runs them all."""
