"""Kinds of files: MIME type, and what a client can do with one (semantics 8.2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from obsidian_mcp.core.text.vault_path import extension

Kind = Literal["note", "canvas", "base", "text", "image", "pdf", "audio", "video", "other"]

NOTE = "text/markdown"
UNKNOWN = "application/octet-stream"

_KNOWN: dict[str, tuple[Kind, str]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
"""Kind and MIME type of the extensions that are known."""


def kind_of(path: str) -> Kind:
    return _KNOWN.get(extension(path), ("other", UNKNOWN))[0]


def is_attachment(path: str) -> bool:
    """Whether a file is none that the app writes: no note, canvas or base."""
    return kind_of(path) not in ("note", "canvas", "base")


def mime_of(path: str) -> str:
    """`application/octet-stream` where the extension does not tell."""
    return _KNOWN.get(extension(path), ("other", UNKNOWN))[1]


def is_text(path: str, data: bytes) -> bool:
    """Whether a file is to be shown as text: by its kind, and where that does not tell by its bytes."""
    kind = kind_of(path)
    if kind in ("image", "pdf", "audio", "video"):
        return path.lower().endswith(".svg")
    if b"\0" in data[:8192]:
        return False
    if kind != "other":
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
