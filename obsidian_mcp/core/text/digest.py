"""Hashes of contents that must agree wherever they are made.

The journal finds an earlier version by the etag that a client has, because an etag is the beginning
of the name under which the journal stores a content. The index compares the digest of a file with
the one that a helper process has made of a PDF.
"""

from __future__ import annotations

import hashlib
from functools import partial

_hash = partial(hashlib.blake2b, digest_size=20)
_ETAG_DIGITS = 16


def content_name(data: bytes) -> str:
    """Return the name under which the journal stores a content: 40 hexadecimal digits."""
    return _hash(data).hexdigest()


def etag_of(data: bytes) -> str:
    """Return the content hash that a write can depend on: the first 16 digits of `content_name`."""
    return _hash(data).hexdigest()[:_ETAG_DIGITS]


def content_digest(data: bytes) -> bytes:
    """Return the 16 bytes by which the index knows whether a file's contents have changed."""
    return hashlib.blake2b(data, digest_size=16).digest()
