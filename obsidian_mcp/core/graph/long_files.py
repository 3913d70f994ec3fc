"""Whether a file of which only the beginning is indexed may hold what a change must not miss
(INDEX-51)."""

from __future__ import annotations

import re
from collections.abc import Collection

MOST_KEYS = 50
"""Of more names, a file is taken to hold one: to look for each would take longer than to parse."""
_find_plain_runs = re.compile("[a-z0-9]+").findall


def may_hold(data: bytes, keys: Collection[str]) -> bool:
    """Return whether the bytes of a file may hold one of some names in lower case.

    A link or tag may be written with percent signs, escapes or another normal form. Its longest run
    of ASCII letters and digits is there in any of these.
    """
    if len(keys) > MOST_KEYS:
        return True
    text = data.lower()
    runs = {max(_find_plain_runs(key), key=len, default="").encode() for key in keys}
    return any(run in text for run in runs)
