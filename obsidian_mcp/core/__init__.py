"""The domain: pure, synchronous, no printing, no environment, no network."""
