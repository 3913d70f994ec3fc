"""Which files exist, their names, settings and policy, and the ports to the outside."""
