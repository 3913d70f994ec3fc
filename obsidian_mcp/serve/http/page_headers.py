"""Headers of pages that are for one person and for no other page."""

from __future__ import annotations

from typing import Final

PRIVATE_PAGE: Final = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""`no-referrer` would make browsers send `Origin: null` with the page's own form."""
