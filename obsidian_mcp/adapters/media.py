"""Pictures made smaller, text and pages of PDF files, by Pillow, pypdf and pypdfium2.

The libraries are loaded when they are used. A file may take any memory and time, so all of this
runs in a process of its own (`media_process`).
"""
# mypy: disable-error-code="import-not-found, import-untyped"
# (the packages are optional)

from __future__ import annotations

import io

from obsidian_mcp import TYPE_CHECKING, install_command
from obsidian_mcp.errors import NotShowable

if TYPE_CHECKING:
    from PIL import Image

INSTALL = f"Tell the user: {install_command('media')} installs it."
MOST_PIXELS = 80_000_000
"""More would take too much memory (4 bytes each)."""
QUALITIES = (85, 70, 50)
"""Of JPEG; the best that makes the file small enough is taken."""
SMALLEST_SIDE = 200
"""Pixels of the longer side below which a picture is not made smaller: it would show nothing."""
_RESIZABLE = ("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr")
"""Modes of pixels whose colours can be mixed."""


def shrink_image(data: bytes, most_bytes: int, longest_side: int) -> bytes:
    """Return an image as JPEG of at most `most_bytes` and `longest_side` pixels.

    Raises: NotShowable.
    """
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as error:
        message = "The image is too large to be shown, and nothing is there to shrink it."
        raise NotShowable(f"{message} {INSTALL}") from error
    try:
        with Image.open(io.BytesIO(data)) as opened:
            pixels = f"{opened.width} x {opened.height} pixels"
            if opened.width * opened.height > MOST_PIXELS:
                raise NotShowable(f"The image has {pixels}, too many to open.")
            resized = opened if opened.mode in _RESIZABLE else opened.convert(_mode_of(opened))
            resized.thumbnail((longest_side, longest_side))  # before it is copied in what follows
            image = ImageOps.exif_transpose(resized).convert("RGBA")
    except UnidentifiedImageError as error:  # its text names an object of Python
        message = "The image cannot be opened: its bytes are of no known format."
        raise NotShowable(message) from error
    except (OSError, ValueError, SyntaxError, Warning, Image.DecompressionBombError) as error:
        raise NotShowable(f"The image cannot be opened: {error}.") from error
    side = min(longest_side, max(image.size))
    while side >= SMALLEST_SIDE or side == max(image.size):
        small = image.copy()
        small.thumbnail((side, side))
        paper = Image.new("RGB", small.size, "white")  # JPEG knows no transparency
        paper.paste(small, mask=small)
        for quality in QUALITIES:
            out = io.BytesIO()
            paper.save(out, "JPEG", quality=quality, optimize=True)
            if out.tell() <= most_bytes:
                return out.getvalue()
        side //= 2
    raise NotShowable("The image cannot be made small enough.")


def _mode_of(image: Image.Image) -> str:
    """Return the mode of pixels in which an image can be resized, and that takes the least."""
    if image.mode == "1":
        return "L"
    has_colours = image.mode == "P" and "transparency" not in image.info
    return "RGB" if has_colours else "RGBA"


def pdf_text(data: bytes, first: int, last: int, most: int) -> tuple[int, list[str]]:
    """Return the number of pages, and the text of some in at most `most` characters. Raises:
    NotShowable."""
    try:
        import pypdf
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise NotShowable(f"Nothing is there to read PDF files. {INSTALL}") from error
    import logging

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it reports every flaw of a file
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise NotShowable("The PDF is locked with a password.")
        total = len(reader.pages)
        texts: list[str] = []
        length = 0
        for number in range(first - 1, min(last, total)):
            text = reader.pages[number].extract_text()
            length += len(text)
            if texts and length > most:
                break
            texts.append(text[:most])
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
    ) as error:
        # It raises whatever the broken file makes it stumble over.
        raise NotShowable(
            f"The PDF cannot be read: {str(error) or type(error).__name__}."
        ) from error
    return total, texts


def pdf_page(data: bytes, number: int, longest_side: int) -> bytes:
    """Return a page of a PDF, 1-based, as PNG of at most `longest_side` pixels. Raises:
    NotShowable."""
    try:
        import pypdfium2
    except ImportError as error:
        raise NotShowable(f"Nothing is there to show pages of PDF files. {INSTALL}") from error
    try:
        with pypdfium2.PdfDocument(data) as document:
            page = document[number - 1]
            image = page.render(scale=longest_side / max(page.get_size())).to_pil()
    except (pypdfium2.PdfiumError, IndexError, ValueError, ZeroDivisionError) as error:
        raise NotShowable(f"The page cannot be shown: {error}.") from error
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
