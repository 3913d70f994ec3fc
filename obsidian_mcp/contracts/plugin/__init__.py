"""The bridge of a plugin of the app: its API and tools as a server (contract 000), and as a client
(contract 002)."""
