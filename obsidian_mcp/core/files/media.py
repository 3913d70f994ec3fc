"""Kinds of files: MIME type, and what a client can do with one (semantics 8.2); the size of a
picture."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Literal

from obsidian_mcp.core.text.text import SNIFFED_BYTES
from obsidian_mcp.core.text.vault_path import extension

FileKind = Literal["note", "canvas", "base", "text", "image", "pdf", "audio", "video", "other"]

NOTE = "text/markdown"
UNKNOWN = "application/octet-stream"

_KNOWN: dict[str, tuple[FileKind, str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)
"""Kind and MIME type of the extensions that are known."""


def kind_of(path: str) -> FileKind:
    return _KNOWN.get(extension(path), ("other", UNKNOWN))[0]


def is_attachment(path: str) -> bool:
    """Return whether a file is none that the app writes: no note, canvas or base."""
    return kind_of(path) not in ("note", "canvas", "base")


def mime_of(path: str) -> str:
    """`application/octet-stream` where the extension does not tell."""
    return _KNOWN.get(extension(path), ("other", UNKNOWN))[1]


def is_text(path: str, data: bytes) -> bool:
    """Return whether a file is to be shown as text: by its kind, and where that does not tell by
    its bytes."""
    kind = kind_of(path)
    if kind in ("image", "pdf", "audio", "video"):
        return path.lower().endswith(".svg")
    if b"\0" in data[:SNIFFED_BYTES]:
        return False
    if kind != "other":
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# Pictures, by the first bytes of their files


def picture_type(data: bytes) -> str | None:
    """MIME type by the first bytes, of the kinds that hosts show."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


PICTURE_HEAD = 64
"""First bytes of a picture that tell its format."""
_GIF_HEAD = 13
"""Bytes up to the colours of a GIF."""
_OTHER_PICTURES = re.compile(
    rb"BM|II\*\0|MM\0\*|....ftyp|\0\0[\1\2]\0|8BPS|P[1-7]\s|\0\0\0\x0cjP|\xff\x4f\xff\x51",
    re.DOTALL,
)
"""The first bytes of formats that can be opened, and are made JPEG to be shown."""


def picture_problem(path: str, head: bytes) -> str | None:
    """Return why a picture with these first bytes cannot be shown, in a sentence; None if it may
    be."""
    if path.lower().endswith(".svg"):  # a text
        return None
    if not head:
        return "The image cannot be opened: the file is empty."
    kind = picture_type(head)
    if kind is None and _OTHER_PICTURES.match(head) is None:
        return "The image cannot be opened: its bytes are of no known format."
    is_png = kind == "image/png"
    if (is_png and head[12:16] != b"IHDR") or (kind == "image/gif" and len(head) < _GIF_HEAD):
        return "The image cannot be opened: it is broken at its beginning."
    return None


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels; None where they cannot be told."""
    try:
        match picture_type(data):
            case "image/png":
                width, height = struct.unpack(">II", data[16:24])
            case "image/gif":
                width, height = struct.unpack("<HH", data[6:10])
            case "image/webp":
                return _webp(data)
            case "image/jpeg":
                return _jpeg(data)
            case _:
                return None
    except struct.error:
        return None
    return width, height


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(
                data[27:30], "little"
            )
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None
