"""How notes hang together: links of a note, mentions without a link, similar notes, and questions
about the whole graph of links.

All are answered from the index, never from the files, but for the text of a line beside a link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.graph.results import Neighbour, Reference
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.page_order import continue_order
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, Limit, Name, Offset, VaultName
from .paging import count_rows, names_by_folder, next_offset, page_of, take_fitting_items
from .registry import tool


@dataclass(frozen=True, slots=True)
class OutgoingLink:
    link: str
    """As written."""
    path: str | None
    """The file it leads to; missing when there is none."""
    line: int | None = None
    """1-based; missing for links of properties and cards."""
    at: str | None = None
    """The property or card that holds it."""
    embed: bool | None = None
    count: int | None = None
    """How often the same link stands in this line, where more than once."""


@dataclass(frozen=True, slots=True)
class Backlink:
    path: str
    line: int | None
    context: str
    embed: bool | None = None
    count: int | None = None
    """How many links of this line lead to the note, where more than one."""


@dataclass(frozen=True, slots=True)
class Links:
    path: str
    outgoing: list[OutgoingLink]
    backlinks: list[Backlink]
    outgoing_total: int
    backlinks_total: int
    next_offset: int | None = None
    incomplete: str | None = None
    """Said while the index is being built."""


@dataclass(frozen=True, slots=True)
class UnlinkedMention:
    path: str
    line: int
    text: str
    """As it is written there."""
    context: str


@dataclass(frozen=True, slots=True)
class UnlinkedMentions:
    path: str
    names: list[str]
    """The name and aliases that were looked for."""
    mentions: list[UnlinkedMention]
    total: int | None = None
    """With limit 0."""
    next_offset: int | None = None
    incomplete: str | None = None
    """Says that the answer is not complete: while the index is being built, and where too many
    files have the name."""


@tool(title="Links of a note")
def get_links(
    app: App,
    name: Annotated[str, Argument(description="Note; none: the vault's broken links")] = "",
    unlinked: Annotated[bool, Argument(description="Instead: mentions without a link")] = False,
    limit: Limit = 50,
    offset: Offset = 0,
    vault: VaultName = "",
) -> Links | UnlinkedMentions | GraphAnswer:
    """Outgoing links and embeds of a note with the file each leads to (no path: unresolved), and
    its backlinks with lines; or unlinked mentions."""
    opened = app.vaults.get(vault, listed=False)
    if not name.strip():
        if unlinked:
            raise InvalidArguments("`unlinked` needs `name`: the note.", argument="name")
        return _list_broken(opened, None, limit, offset)
    if unlinked:
        return _list_unlinked(opened, name, limit, offset)
    entry = opened.find(name)
    outgoing = opened.graph.outgoing_links(entry.path)
    backlinks = opened.graph.backlinks(entry.path)
    leaving: Sequence[Reference] = outgoing.value
    arriving: Sequence[Reference] = backlinks.value
    if opened.app is not None:
        from obsidian_mcp.core.operations import app_answers

        leaving, arriving = app_answers.links(opened, entry.path, leaving, arriving)
    outgoing_links = Counter(
        OutgoingLink(ref.link.original, ref.target, ref.line, ref.link.at or None, _embed(ref))
        for ref in leaving
    )
    incoming: dict[object, list[Reference]] = {}
    for reference in arriving:
        if reference.source != entry.path:
            incoming.setdefault(_linking_line(reference), []).append(reference)
    links_out, out_start = continue_order([*outgoing_links], offset, lambda link: link, "out")
    lines_in, in_start = continue_order([*incoming], offset, lambda line: line, "in")
    listed = [
        replace(link, count=count if count > 1 else None)
        for link in links_out[out_start : out_start + limit]
        for count in (outgoing_links[link],)
    ]
    linking = _backlinks(opened, [incoming[line] for line in lines_in[in_start : in_start + limit]])
    count = count_rows(listed, linking)
    totals = {"outgoing_total": len(outgoing_links), "backlinks_total": len(incoming)}
    following, notice = (
        next_offset(offset, count, max(totals.values())),
        outgoing.notice or backlinks.notice,
    )
    return Links(
        entry.path,
        listed[:count],
        linking[:count],
        **totals,
        next_offset=following,
        incomplete=notice,
    )


def _backlinks(vault: Vault, lines: Sequence[Sequence[Reference]]) -> list[Backlink]:
    """Return the backlinks that lines have, each with the text of its line."""
    contexts = vault.graph.contexts(references[0] for references in lines)
    return [
        Backlink(
            references[0].source,
            references[0].line,
            context,
            _embed(references[0]),
            len(references) if len(references) > 1 else None,
        )
        for references, context in zip(lines, contexts, strict=True)
    ]


def _list_unlinked(vault: Vault, name: str, limit: int, offset: int) -> UnlinkedMentions:
    from obsidian_mcp.core.operations import mentions  # loaded when it is needed

    entry = vault.find(name)
    names = mentions.names_of(vault, entry)
    vault.indexer.complete()  # a mention in a file that is not indexed would be missed (INDEX-47)
    notes, more, notice = mentions.notes_with(vault, entry, names)
    every = mentions.unlinked_mentions(vault, notes, names)
    # the first page needs no others; a later one is a page of the order in which they began
    several = list(islice(every, None if offset else limit + 1)) if limit else []
    in_order, start = continue_order(several, offset, attrgetter("path", "context"), "mentions")
    page = in_order[start : start + limit + 1]
    if more:
        unread = f"Not looked through: {write_count(more, 'more file')} with the name;"
        notice = f"{notice or ''} {unread} obsidian_search finds them.".lstrip()
    listed = [
        UnlinkedMention(mention.path, mention.line + 1, mention.text, mention.context)
        for mention in page[:limit]
    ]
    total = None if limit else sum(1 for _ in every)
    following = start + limit if len(page) > limit else None
    return UnlinkedMentions(entry.path, names, listed, total, following, notice)


@dataclass(frozen=True, slots=True)
class SimilarNote:
    path: str
    overlap: float | None = None
    """Share of runs of three words that both notes have, up to 1."""
    near_duplicate: bool | None = None
    outdated: str | None = None
    """Why the note holds no longer, such as `superseded by [[X]]`."""


@dataclass(frozen=True, slots=True)
class SimilarNotes:
    path: str
    similar: list[SimilarNote]
    incomplete: str | None = None
    """Says while the index is being built that the answer is not complete."""


MOST_COMPARED = 200
"""Similar notes of one answer: each is read, and compared word by word."""
TEMPLATES_AMONG = 20
"""Among the notes most alike: templates, which are left out, and the note itself."""


@tool(title="Similar notes and duplicates")
def similar(
    app: App,
    name: Name,
    limit: Annotated[int, Argument(description="Notes", ge=1, le=MOST_COMPARED, pages=True)] = 10,
    vault: VaultName = "",
) -> SimilarNotes:
    """Find notes similar to a note, most alike first, and duplicates."""
    from obsidian_mcp.core.operations.template_texts import TemplateTexts
    from obsidian_mcp.core.search.similar import DUPLICATE_OVERLAP, overlap

    opened = app.vaults.get(vault)
    entry = opened.find(name)
    text = opened.read_text(entry).text.body
    templates = TemplateTexts(opened)
    if not templates.has(entry.path):
        text = templates.compared_text(entry.path, text)
    count = min(limit, MOST_COMPARED)
    paths, notice = opened.search.find_alike(entry.path, text, count + TEMPLATES_AMONG)
    listed: list[SimilarNote] = []
    outdated = opened.search.describe_outdated(paths)
    for path in paths:
        if len(listed) == count:
            break
        if templates.has(path) and not templates.has(entry.path):
            continue
        other_entry = opened.catalog.get(path)
        if other_entry is not None and path != entry.path and other_entry.is_too_large:
            listed.append(SimilarNote(path, outdated=outdated.get(path)))
        elif (
            other_entry is not None
            and path != entry.path
            and (content := opened.read_content(other_entry)).is_text
        ):
            shared = overlap(text, templates.compared_text(path, content.text.body))
            listed.append(
                SimilarNote(
                    path,
                    round(shared, 3) or None,
                    near_duplicate=shared >= DUPLICATE_OVERLAP or None,
                    outdated=outdated.get(path),
                )
            )
    return SimilarNotes(entry.path, listed[:limit], notice)


def _linking_line(reference: Reference) -> object:
    """Return what the links of one backlink have in common (LINK-40): their line, or the link where
    it has no line."""
    link = reference.link
    where = link.line if link.start is not None else link.original
    return reference.source, reference.line, _embed(reference), link.at, where


def _embed(reference: Reference) -> bool | None:
    return reference.link.kind == "embed" or None


@dataclass(frozen=True, slots=True)
class BrokenLink:
    path: str
    """The note that has it."""
    line: int | None
    """Missing for cards of canvases."""
    link: str
    """As written."""
    context: str
    missing: str
    """What is not there: file, heading or block."""
    did_you_mean: str | None = None
    """The link to write instead, where something has a similar name."""
    difference: str | None = None
    """How that differs from the link, where both look the same."""


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    total: int
    names: dict[str, list[str]] | None = None
    """File names by folder, of orphans and dead ends (TOOL-35)."""
    paths: list[str] | None = None
    """From start to end; for a person, also those of `names`."""
    unresolved: list[BrokenLink] | None = None
    neighbours: list[Neighbour] | None = None
    next_offset: int | None = None
    incomplete: str | None = None
    """Said while the index is being built."""


@tool(title="Link graph and orphans")
def graph(
    app: App,
    question: Annotated[
        Literal["orphans", "dead_ends", "unresolved", "neighbours", "path"],
        Argument(description="What to find"),
    ],
    name: Annotated[str, Argument(description="Note; path: start")] = "",
    to: Annotated[str, Argument(description="path: end")] = "",
    depth: Annotated[int, Argument(description="neighbours: links away", ge=1, le=5)] = 1,
    limit: Limit = 50,
    offset: Offset = 0,
    vault: VaultName = "",
) -> GraphAnswer:
    """Find orphan notes (nothing links to them), dead ends (no links), unresolved (broken) links,
    neighbours of a note, or the shortest path."""
    opened = app.vaults.get(vault, listed=False)
    for argument, argument_value in (("name", name), ("to", to)):
        needed = question == "path" or (question == "neighbours" and argument == "name")
        may = needed or (question == "unresolved" and argument == "name")
        if (needed and not argument_value) or (argument_value and not may):
            problem = f"needs `{argument}`" if needed else f"takes no `{argument}`"
            raise InvalidArguments(f"The question {question} {problem}.", argument=argument)
    if question == "neighbours":
        near = opened.graph.neighbours(opened.find(name).path, depth)
        page, following = page_of(near.value, offset, limit, attrgetter("path"))
        return GraphAnswer(
            len(near.value), neighbours=list(page), next_offset=following, incomplete=near.notice
        )
    if question == "unresolved":
        return _list_broken(opened, opened.find(name).path if name else None, limit, offset)
    if question == "path":
        answer = opened.graph.shortest_path(opened.find(name).path, opened.find(to).path)
        chain, following = page_of(answer.value, offset, limit)
        steps = list(map(str, chain))
        return GraphAnswer(
            len(answer.value), paths=steps, next_offset=following, incomplete=answer.notice
        )
    return _list_unconnected(opened, question, limit, offset)


def _list_unconnected(
    vault: Vault, question: Literal["orphans", "dead_ends"], limit: int, offset: int
) -> GraphAnswer:
    from obsidian_mcp.core.operations import app_answers

    unconnected, notice = app_answers.list_unconnected(vault, question)
    page, following = page_of(unconnected, offset, limit)
    paths = list(map(str, page))
    is_whole = current_call.get().wants_all
    return GraphAnswer(
        len(unconnected),
        None if is_whole else names_by_folder(paths),
        paths if is_whole else None,
        next_offset=following,
        incomplete=notice,
    )


def _list_broken(vault: Vault, source: VaultPath | None, limit: int, offset: int) -> GraphAnswer:
    from obsidian_mcp.core.operations.broken_links import (
        broken_links,
        describe_likeness,
        likely_link,
        line_of,
        missing_part,
    )

    broken = broken_links(vault)
    links: Sequence[Reference] = [
        ref for ref in broken.value if source is None or ref.source == source
    ]
    links, start = continue_order(links, offset, _identify)
    page = links[start : start + limit]
    listed = take_fitting_items(
        (
            BrokenLink(
                ref.source,
                line_of(vault, ref),
                ref.link.original,
                context,
                missing_part(ref),
                meant,
                describe_likeness(ref.link.original, meant) if meant is not None else None,
            )
            for ref, context in zip(page, vault.graph.contexts(page), strict=True)
            for meant in (likely_link(vault, ref),)
        ),
        least=1,
    )
    following = next_offset(start, len(listed), len(links))
    return GraphAnswer(
        len(links), unresolved=listed, next_offset=following, incomplete=broken.notice
    )


def _identify(reference: Reference) -> object:
    """Return what a link is known by, also when lines come or go above it."""
    return reference.source, reference.link.at, reference.link.original
