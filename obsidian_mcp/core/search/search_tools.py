"""What a search uses besides the rows of the index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index.pdf_queue import PdfBackground
from obsidian_mcp.core.note.validity import ValidityNames

from .state import SearchStates

if TYPE_CHECKING:
    from obsidian_mcp.core.semantic.meaning import Near


class SearchTools(NamedTuple):
    """What a search uses besides the rows of the index."""

    states: SearchStates
    catalog: Catalog
    read: Callable[[FileEntry], bytes]
    """Reads a file. Raises: AppError."""
    filters: IgnoreFilters
    """What the user hides."""
    property_tables: Sequence[str]
    """Where properties stand; see `rows.WITH_INLINE_FIELDS`."""
    validity_names: ValidityNames
    """What says that something is outdated."""
    today: Callable[[], date]
    near: Callable[[str, int], Sequence[Near]] | None
    """Returns the notes nearest in meaning to a text; None without a model."""
    pdfs: PdfBackground | None
    """Reads the PDFs of the vault; None where nobody does."""
