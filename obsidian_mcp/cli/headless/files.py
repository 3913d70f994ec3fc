"""Commands about files and folders (HEADLESS-10), and about the links between them
(HEADLESS-11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.vault_path import extension, is_note
from obsidian_mcp.errors import NotText

from .call import DropInCall, as_json, draw_tree, order_key, sort_texts, write_pairs
from .words import DropInRefused


def file(call: DropInCall) -> str:
    entry = call.file()
    suffix = _suffix(entry.path)
    return write_pairs(
        {
            "path": entry.path,
            "name": entry.path.rpartition("/")[2].removesuffix(suffix),
            "extension": suffix.removeprefix("."),
            "size": entry.size,
            "created": call.unlisted.files.created_ns(entry.disk) // 1_000_000,
            "modified": entry.mtime_ns // 1_000_000,
        }
    )


def files(call: DropInCall) -> str:
    paths = [entry.path for entry in call.files_below(call.text("folder"))]
    if suffix := call.text("ext"):
        paths = [path for path in paths if _suffix(path) == f".{suffix.removeprefix('.')}"]
    return call.join_lines(sort_texts(paths))


def _suffix(path: str) -> str:
    """Return the extension as it is written, with its dot."""
    suffix = extension(path)
    return path[len(path) - len(suffix) :]


def subfolders(call: DropInCall, disk: str) -> Iterator[str]:
    """Yield every folder below one, as the disk spells it."""
    for name in call.vault.folders.folders_below(disk) or ():
        inner = name if not disk or name.startswith(f"{disk}/") else f"{disk}/{name}"
        yield inner
        yield from subfolders(call, inner)


def _spell_folder(call: DropInCall, path: str) -> str:
    """Return the disk spelling of a folder. Raises: DropInRefused."""
    folder_path = path.strip("/") if path != "/" else ""
    disk = call.folder(folder_path)
    if disk is None:
        if folder_path in call.vault.catalog:
            raise DropInRefused(f'"{path}" is a file, not a folder.')
        raise DropInRefused(f'Folder "{path}" not found.')
    return disk


def folder(call: DropInCall) -> str:
    path = call.text("path")
    disk = _spell_folder(call, path)
    folder_path = path if path == "/" else path.strip("/")
    return _info(call, {"path": folder_path}, call.files_below("" if not disk else path), disk)


def vault(call: DropInCall) -> str:
    return _info(call, {"name": call.root.name, "path": str(call.root)}, call.vault.entries(), "")


def _info(call: DropInCall, named: dict[str, str], inside: list[FileEntry], disk: str) -> str:
    facts: dict[str, object] = {
        **named,
        "files": len(inside),
        "folders": sum(1 for _ in subfolders(call, disk)),
        "size": sum(entry.size for entry in inside),
    }
    fact = call.words.choice("info")
    return str(facts[fact]) if fact else write_pairs(facts)


def folders(call: DropInCall) -> str:
    path = call.text("folder")
    disk = _spell_folder(call, path) if path else ""
    return call.join_lines(
        [normal_form(disk) or "/", *sort_texts(set(map(normal_form, subfolders(call, disk))))]
    )


def read(call: DropInCall) -> str:
    return _read_text(call, call.file())


def _read_text(call: DropInCall, entry: FileEntry) -> str:
    """Return a file as it is. Raises: DropInRefused for binary data."""
    try:
        return call.unlisted.read_shown(entry).data.decode("utf-8", "surrogateescape")
    except NotText:
        raise DropInRefused("File is not a text file.") from None


def choose(call: DropInCall) -> str:
    """Return the path of a note at random, or with `random:read` its text, too."""
    import secrets

    hidden = call.vault.hides()
    notes = [
        entry
        for entry in call.files_below(call.text("folder"))
        if is_note(entry.path) and not hidden(entry.path)
    ]
    if not notes:
        return "No markdown files found."
    entry = secrets.choice(notes)
    return (
        f"{entry.path}\n\n{_read_text(call, entry)}"
        if call.words.command == "random:read"
        else entry.path
    )


def wordcount(call: DropInCall) -> str:
    from obsidian_mcp.core.note.counts import count

    entry = call.file()
    if not is_note(entry.path):
        raise DropInRefused("Word count is only available for markdown files.")
    counted = count(call.body(entry))
    words, characters = call.has("words"), call.has("characters")
    if words != characters:
        return str(counted.words if words else counted.characters)
    return f"words: {counted.words}\ncharacters: {counted.characters}"


def outline(call: DropInCall) -> str:
    headings = call.parse(call.note()).outline
    if not headings:
        return "No headings found."
    if call.has("total"):
        return str(len(headings))
    if call.words.format == "json":
        return as_json(
            [
                {
                    "level": listed_heading.level,
                    "heading": listed_heading.text,
                    "line": listed_heading.line + 1,
                }
                for listed_heading in headings
            ]
        )
    if call.words.format == "md":
        return "\n".join(f"{'#' * heading.level} {heading.text}" for heading in headings)
    return draw_tree([(heading.level, heading.text) for heading in headings])


def links(call: DropInCall) -> str:
    references = call.vault.graph.outgoing_links(call.file().path).value
    targets = {
        reference.target or f"{reference.link.path} (unresolved)" for reference in references
    }
    return call.join_lines(sort_texts(targets), "No links found.")


def backlinks(call: DropInCall) -> str:
    entry = call.file()
    counts = Counter(
        str(reference.source) for reference in call.vault.graph.backlinks(entry.path).value
    )
    if call.has("total"):
        return str(counts.total())
    with_counts = call.has("counts")
    table = [
        {"file": path, **({"count": str(counts[path])} if with_counts else {})}
        for path in sort_texts(counts)
    ]
    return call.format_rows(table, "No backlinks found.")


def unresolved(call: DropInCall) -> str:
    table = []
    for link in sorted(
        call.vault.graph.unresolved_links().value, key=lambda link: order_key(link.name)
    ):
        row = {"link": link.name}
        if call.has("counts") or call.has("verbose"):
            row["count"] = str(link.count)
        if call.has("verbose"):
            row["sources"] = ", ".join(sort_texts(link.sources))
        table.append(row)
    return call.format_rows(table, "No unresolved links found.")


def orphans(call: DropInCall) -> str:
    return call.join_lines(
        sort_texts(call.vault.graph.orphans(attachments=True).value), "No orphan files found."
    )


def deadends(call: DropInCall) -> str:
    resolved = call.vault.graph.link_maps().value.resolved
    hidden = call.vault.hides()
    paths = [
        entry.path
        for entry in call.vault.entries()
        if not resolved.get(entry.path) and not hidden(entry.path)
    ]
    return call.join_lines(sort_texts(paths), "No dead-end files found.")
