"""One run of a query: what the shared context knows, and what only Dataview needs (specs/dataview.md, DV-02)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from obsidian_mcp.core.dataview.pages import Page, PageStore
from obsidian_mcp.core.dataview.settings import Settings
from obsidian_mcp.core.expressions.evaluate import Context
from obsidian_mcp.core.expressions.values import Link, Value


@dataclass(slots=True)
class Run(Context):
    """`this` is the fields of the note in which the query stands, an empty object without one."""

    pages: PageStore = field(kw_only=True)
    settings: Settings = field(default_factory=Settings)
    _paths: dict[str, str] = field(default_factory=dict)

    def path_of(self, link: Link) -> str:
        """The path of the file that a link leads to; the written path where it leads nowhere."""
        path = self._paths.get(link.path)
        if path is None:
            path = self._paths[link.path] = self.vault.resolve(link.path, self.source) or link.path
        return path

    def page_of(self, link: Link) -> Page | None:
        """The note that a link leads to; None for no file and for other files."""
        return self.pages.page(self.path_of(link))


def run_of(context: Context) -> Run:
    """The context as what it is in every Dataview query."""
    assert isinstance(context, Run)  # noqa: S101 - only this package makes the contexts of its queries
    return context


Row = Mapping[str, Value]
"""The fields of one row."""
