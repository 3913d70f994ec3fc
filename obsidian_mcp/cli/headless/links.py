"""Commands about links (HEADLESS-11)."""

from __future__ import annotations

from collections import Counter

from .call import DropInCall
from .output import in_order, order


def links(call: DropInCall) -> str:
    found = call.vault.graph.outgoing(call.file().path).value
    shown = {reference.target or f"{reference.link.path} (unresolved)" for reference in found}
    return call.join_lines(in_order(shown), "No links found.")


def backlinks(call: DropInCall) -> str:
    entry = call.file()
    counts = Counter(str(reference.source) for reference in call.vault.graph.backlinks(entry.path).value)
    if call.has("total"):
        return str(counts.total())
    with_counts = call.has("counts")
    table = [{"file": path, **({"count": str(counts[path])} if with_counts else {})} for path in in_order(counts)]
    return call.format_rows(table, "No backlinks found.")


def unresolved(call: DropInCall) -> str:
    table = []
    for found in sorted(call.vault.graph.unresolved().value, key=lambda found: order(found.name)):
        row = {"link": found.name}
        if call.has("counts") or call.has("verbose"):
            row["count"] = str(found.count)
        if call.has("verbose"):
            row["sources"] = ", ".join(in_order(found.sources))
        table.append(row)
    return call.format_rows(table, "No unresolved links found.")


def orphans(call: DropInCall) -> str:
    return call.join_lines(in_order(call.vault.graph.orphans(attachments=True).value), "No orphan files found.")


def deadends(call: DropInCall) -> str:
    resolved = call.vault.graph.link_maps().value.resolved
    hidden = call.vault.hides()
    found = [entry.path for entry in call.vault.entries() if not resolved.get(entry.path) and not hidden(entry.path)]
    return call.join_lines(in_order(found), "No dead-end files found.")
