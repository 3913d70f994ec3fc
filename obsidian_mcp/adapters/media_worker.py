"""The helper process that decodes pictures and PDF files for one call; see `media_process`."""

from __future__ import annotations

import sys
from typing import Any

from obsidian_mcp.errors import NotShowable

from . import media
from .helper_loop import HelperMessage, answer_requests

TOO_LARGE = "The file takes too much memory to be shown."


def _answer(request: Any, data: bytes) -> HelperMessage:
    """Return what a function of `media` makes of the bytes of a file, or why it makes nothing."""
    function, *arguments = request
    try:
        match function:
            case "shrink_image":
                return {}, media.shrink_image(data, *arguments)
            case "pdf_page":
                return {}, media.pdf_page(data, *arguments)
        total, texts = media.pdf_text(data, *arguments)
    except NotShowable as error:
        return {"problem": error.message}, b""
    except MemoryError:
        return {"problem": TOO_LARGE}, b""
    except Exception as error:  # noqa: BLE001  a broken file raises anything
        return {"problem": f"The file cannot be read ({type(error).__name__})."}, b""
    return {"total": total, "texts": texts}, b""


if __name__ == "__main__":
    answer_requests(_answer, int(sys.argv[1]))
