"""The state of the whole vault in one call (specs/check.md).

Of all checks together an answer shows only the first findings of each, so that what is broken is
not pushed out by a thousand orphans; `only` and `offset` page through one check.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.index.freshness import describe_cut
from obsidian_mcp.core.operations.check import CHECKS, CheckedVault, CheckFinding, identify_finding
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.page_order import continue_order
from obsidian_mcp.errors import InvalidArguments

from .advice import usable_advice
from .arguments import Argument, Limit, Offset, VaultName
from .offer import Offer, offer_of
from .paging import MOST_BYTES, next_offset, take_fitting_items
from .registry import tool

BYTES_OF_CHECK = 1_200
"""Of the findings of one check, where all are run."""
TEXT_CHARACTERS = 300
"""Of one finding."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    check: str
    total: int
    findings: list[CheckFinding]
    repair: str
    """Which call repairs them."""
    broken: bool | None = None
    next_offset: int | None = None
    """With only: where the next page begins."""
    note: str | None = None


@dataclass(frozen=True, slots=True)
class VaultState:
    broken: bool
    """Whether something does not work: a link, a file's properties."""
    results: list[CheckResult]
    """What is broken first."""
    nothing_found: list[str]
    """The other checks."""
    more: str | None = None
    incomplete: str | None = None
    """Which files are too long to be looked through whole."""


@tool(title="Check the vault")
def check(
    app: App,
    only: Annotated[str, Argument(description="One of these")] = "",
    limit: Limit = 5,
    offset: Offset = 0,
    vault: VaultName = "",
) -> VaultState:
    """Check the vault's health: broken links, unreadable files, overdue tasks, missing properties,
    validity, alike tags, near duplicates, stubs, orphans, unused attachments."""
    wanted = "_".join(only.lower().split())
    chosen = [wanted] if wanted in CHECKS else [name for name in CHECKS if wanted in name]
    if wanted and len(chosen) != 1:
        raise InvalidArguments(
            f"There is no check {only!r}. The checks are {', '.join(CHECKS)}.", argument="only"
        )
    if offset and not wanted:
        raise InvalidArguments("`offset` is for one check: name it with `only`.", argument="offset")
    opened = app.vaults.get(vault)
    opened.indexer.complete()  # much of this is about what no file has (INDEX-47)
    checked = CheckedVault(opened)
    results, empty = [], []
    for name in chosen:
        found = CHECKS[name].run_check(checked)
        if not found.findings and found.note is None:
            empty.append(name)
            continue
        findings, start = continue_order(found.findings, offset, identify_finding, name)
        room = MOST_BYTES if wanted else BYTES_OF_CHECK
        offer = offer_of(app.config)
        shown = take_fitting_items(
            (_shorten(find(), offer) for find in findings[start : start + limit]),
            room,
            least=1,
        )
        total, repair = (
            len(found.findings),
            usable_advice(offer, CHECKS[name].repair),
        )
        following = next_offset(start, len(shown), total) if wanted else None
        if wanted:
            app.page_orders.keep(current_call.get().page_order, start + len(shown))
        results.append(
            CheckResult(
                name,
                total,
                shown,
                repair,
                (CHECKS[name].is_broken and total > 0) or None,
                following,
                found.note,
            )
        )
    is_cut = not wanted and any(len(result.findings) < result.total for result in results)
    more = "Name a check with only, and limit, to see more of its findings." if is_cut else None
    is_broken = any(result.broken for result in results)
    return VaultState(is_broken, results, empty, more, describe_cut(opened.indexer.pending.cut))


def _shorten(finding: CheckFinding, offer: Offer) -> CheckFinding:
    text, repair = finding.text, finding.repair
    if text is not None and len(text) > TEXT_CHARACTERS and not current_call.get().wants_all:
        text = cut_text(text, TEXT_CHARACTERS)
    return replace(finding, text=text, repair=repair and usable_advice(offer, repair))
