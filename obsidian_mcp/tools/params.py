"""Parameters that several tools share. Their descriptions are read by models: every word costs tokens."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Name = Annotated[str, Field(description="Note name or path, .md optional", min_length=1)]
VaultName = Annotated[str, Field(description="Vault, if there are several")]
Etag = Annotated[str, Field(description="From a read: refuse if the note changed since")]
DryRun = Annotated[bool, Field(description="Show what would change, write nothing")]
Limit = Annotated[int, Field(ge=1, le=500)]
Offset = Annotated[int, Field(description="Skip this many results", ge=0)]
