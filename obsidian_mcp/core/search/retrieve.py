"""Which files a plan finds: the index decides where it can, the texts decide the rest (SEARCH-40 to
46)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Set as AbstractSet

from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.query import nodes
from obsidian_mcp.core.text.call import may_go_on, report_progress

from .bounds import NOTHING, bounds, flagged_files, listed_only
from .plan import SearchPlan
from .snapshot import Snapshot
from .stored_document import StoredDocument, whole_text

REPORTED_TEXTS = 64
"""Texts between two reports of progress."""
PATHS_AT_ONCE = 256
"""Paths that are looked up together: one alone takes 12 µs, 256 take 2 µs each."""


def retrieve(
    snapshot: Snapshot, plan: SearchPlan, within: AbstractSet[int] | None
) -> AbstractSet[int]:
    """Return the files, of `within` or all, that one of the plan's alternatives finds. Raises:
    OperationTimeout."""
    result: AbstractSet[int] = NOTHING
    for alternative in plan.alternatives:
        files = within
        if alternative.expression is not None:
            files = NOTHING
            if alternative.expression:
                matching = snapshot.rows.full_text.find_matching(alternative.expression)
                files = listed_only(snapshot, matching)
            files = files if within is None else files & within
        if alternative.exact is not None and (files is None or files):
            among = bounds(snapshot, alternative.exact)
            sure, possible = among.sure, among.possible
            if files is not None:
                sure, possible = sure & files, possible & files
            unsure = possible - sure if possible is not sure else NOTHING
            files = sure | _scan(snapshot, alternative.exact, unsure) if unsure else sure
        elif alternative.expression is None:
            continue
        if files:
            result = result | files if result else files
    return result


def _scan(snapshot: Snapshot, query: nodes.QueryNode, files: AbstractSet[int]) -> AbstractSet[int]:
    """Files whose text satisfies a query; of many, all texts are read in one pass."""
    from obsidian_mcp.core.query.evaluate import (
        Matcher,
    )  # 5 ms to import; the index alone answers most searches

    matcher, truncated, matching = (
        Matcher(query),
        flagged_files(snapshot, search_document.TRUNCATED),
        set(),
    )
    rows = snapshot.rows.texts.read_searched(files)
    numbers, paths = sorted(files), snapshot.table.paths
    for count, (number, text, plain) in enumerate(rows, 1):
        if number not in paths:  # most come in the order of their numbers
            first = bisect_left(numbers, number)
            paths.look_up(frozenset(numbers[first : first + PATHS_AT_ONCE]))
        if not count % REPORTED_TEXTS:
            report_progress(count, len(files), "Searching")
            if not may_go_on():
                snapshot.unscanned.append(
                    f"Time ran out: {count} of {len(files)} texts were searched, and what the "
                    "others have is not in the answer. Add a word, a tag or a folder."
                )
                break
        if number in truncated:
            document = StoredDocument(snapshot, number, whole_text(snapshot, number))
        else:
            document = StoredDocument(snapshot, number, text, plain)
        if matcher.matches(document):
            matching.add(number)
    return matching
