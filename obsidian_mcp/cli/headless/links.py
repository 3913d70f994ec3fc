"""Commands about links (HEADLESS-11)."""

from __future__ import annotations

from collections import Counter

from .call import Answer, Call
from .output import in_order, lines, order, rows


def links(call: Call) -> str:
    found = call.vault.graph.outgoing(call.file().path).value
    shown = in_order({reference.target or f"{reference.link.path} (unresolved)" for reference in found})
    if call.has("total"):
        return str(len(shown))
    return lines(shown, "No links found.")


def backlinks(call: Call) -> str:
    entry = call.file()
    counts = Counter(reference.source for reference in call.vault.graph.backlinks(entry.path).value)
    if call.has("total"):
        return str(counts.total())
    if not counts:
        return "No backlinks found."
    with_counts = call.has("counts")
    found = [{"file": str(path), **({"count": str(counts[path])} if with_counts else {})} for path in in_order(counts)]  # type: ignore[index]
    return rows(found, call.words.format)


def unresolved(call: Call) -> str:
    found = sorted(call.vault.graph.unresolved().value, key=lambda each: order(each.name))
    if call.has("total"):
        return str(len(found))
    if not found:
        return "No unresolved links found."
    table = []
    for each in found:
        row = {"link": each.name}
        if call.has("counts") or call.has("verbose"):
            row["count"] = str(each.count)
        if call.has("verbose"):
            row["sources"] = ", ".join(in_order(each.sources))
        table.append(row)
    return rows(table, call.words.format)


def orphans(call: Call) -> str:
    found = in_order(call.vault.graph.orphans(attachments=True).value)
    return str(len(found)) if call.has("total") else lines(found, "No orphan files found.")


def deadends(call: Call) -> str:
    resolved, hidden = call.vault.graph.link_maps().value.resolved, call.vault.hides()
    found = in_order(
        entry.path for entry in call.vault.entries() if not resolved.get(entry.path) and not hidden(entry.path)
    )
    return str(len(found)) if call.has("total") else lines(found, "No dead-end files found.")


ANSWERS: dict[str, Answer] = {
    "backlinks": backlinks,
    "deadends": deadends,
    "links": links,
    "orphans": orphans,
    "unresolved": unresolved,
}
