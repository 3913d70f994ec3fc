"""Kinds of files: MIME type, and what a client can do with one (semantics 8.2)."""

from __future__ import annotations

from typing import Literal

from obsidian_mcp.core.text.vault_path import extension

Kind = Literal["note", "canvas", "base", "text", "image", "pdf", "audio", "video", "other"]

NOTE = "text/markdown"
UNKNOWN = "application/octet-stream"

_TYPES: dict[Kind, dict[str, str]] = {
    "text": {
        "txt": "text/plain",
        "csv": "text/csv",
        "tsv": "text/tab-separated-values",
        "json": "application/json",
        "xml": "application/xml",
        "html": "text/html",
        "css": "text/css",
        "js": "text/javascript",
        "yaml": "application/yaml",
        "yml": "application/yaml",
        "toml": "application/toml",
        "tex": "application/x-tex",
        "bib": "application/x-bibtex",
        "log": "text/plain",
    },
    "image": {
        "avif": "image/avif",
        "bmp": "image/bmp",
        "gif": "image/gif",
        "jpeg": "image/jpeg",
        "jpg": "image/jpeg",
        "png": "image/png",
        "svg": "image/svg+xml",
        "webp": "image/webp",
    },
    "audio": {
        "flac": "audio/flac",
        "m4a": "audio/mp4",
        "mp3": "audio/mpeg",
        "ogg": "audio/ogg",
        "wav": "audio/wav",
        "3gp": "audio/3gpp",
    },
    "video": {
        "mkv": "video/x-matroska",
        "mov": "video/quicktime",
        "mp4": "video/mp4",
        "ogv": "video/ogg",
        "webm": "video/webm",
    },
    "pdf": {"pdf": "application/pdf"},
    "note": {"md": NOTE},
    "canvas": {"canvas": "application/json"},
    "base": {"base": "application/yaml"},
}

_KNOWN: dict[str, tuple[Kind, str]] = {
    f".{ending}": (kind, mime) for kind, types in _TYPES.items() for ending, mime in types.items()
}


def kind_of(path: str) -> Kind:
    return _KNOWN.get(extension(path), ("other", UNKNOWN))[0]


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
