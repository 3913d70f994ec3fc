"""One run of a query: what the shared context knows, and what only Dataview needs (specs/dataview.md, DV-02)."""

from __future__ import annotations

from dataclasses import dataclass, field

from obsidian_mcp.core.dataview.pages import NotePage, PageStore
from obsidian_mcp.core.dataview.settings import Settings
from obsidian_mcp.core.expressions.evaluate import Context
from obsidian_mcp.core.expressions.values import LinkValue


@dataclass(slots=True)
class Run(Context):
    """`this` is the fields of the note in which the query stands, an empty object without one."""

    pages: PageStore = field(kw_only=True)
    settings: Settings = field(default_factory=Settings)
    _paths: dict[str, str] = field(default_factory=dict)

    def path_of(self, link: LinkValue) -> str:
        """The path of the file that a link leads to; the written path where it leads nowhere."""
        return self.full_path(link.path)

    def full_path(self, written: str) -> str:
        """The path of the file that a link path leads to, itself where it leads nowhere. A `#` is part of a name."""
        path = self._paths.get(written)
        if path is None:
            found = None if "#" in written else self.vault.resolve(written, self.source)
            path = self._paths[written] = found or written
        return path

    def page_of(self, link: LinkValue) -> NotePage | None:
        """The note that a link leads to; None for no file and for other files."""
        return self.pages.page(self.path_of(link))


def run_of(context: Context) -> Run:
    """The context as what it is in every Dataview query."""
    assert isinstance(context, Run)  # noqa: S101 - only this package makes the contexts of its queries
    return context
