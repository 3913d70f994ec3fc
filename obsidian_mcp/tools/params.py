"""Parameters that several tools share. Their descriptions are read by models: every word costs tokens."""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

from .arguments import Argument

T = TypeVar("T")

MOST_RESULTS: Final = 500
"""Entries of one page for a model."""

Name = Annotated[str, Argument(description="Name or path", min_length=1)]
Query = Annotated[str, Argument(description="Instead: notes that a search finds")]
VaultNames = Annotated[str, Argument(description="Vault; * all")]
VaultName = Annotated[str, Argument(description="Vault")]
Etag = Annotated[str, Argument(description="Refuse if changed since")]
TableSection = Annotated[str, Argument(description="The table below this heading")]
TableNumber = Annotated[int, Argument(description="Which of several, from 1", ge=0)]
DryRun = Annotated[bool, Argument(description="Preview")]
Limit = Annotated[int, Argument(description="0: count", ge=0, le=MOST_RESULTS, pages=True)]
Offset = Annotated[int, Argument(description="Skip", ge=0)]
