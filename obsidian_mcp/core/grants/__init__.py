"""What the owner of a vault has allowed programs that signed in, and what was issued to them.

Records alone: `serve/http/access` decides who may come in, and `adapters/grant_store.py` keeps
them (specs/remote.md).

- `grant`: what one program may do.
- `registration`: a program that asks for one.
- `credential`: codes and tokens, known by their hashes.
- `key_use`: the last use of a key, whose limits are in the policy file.
"""
