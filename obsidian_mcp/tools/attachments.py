"""Images, PDF files and everything else that is no note: listed, shown to a model, and added.

A model sees an image as an image and a PDF as text, a few pages at a time. What a host would refuse
(an image over 1 MB) is made smaller, and of a page without text the picture is shown.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.files import media
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.links.write_link import generate_link
from obsidian_mcp.core.note.headings import heading_for_link
from obsidian_mcp.core.operations.new_file import plan_displacement
from obsidian_mcp.core.operations.referrers import list_places
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import to_printable, write_count
from obsidian_mcp.core.text.vault_path import VaultPath, extension, name_key, parent
from obsidian_mcp.core.vault.operation import Create
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments, InvalidName, NoteExists, NotShowable

from .arguments import Argument, Limit, Offset, VaultName
from .outcome import DocumentAnswer, PictureAnswer
from .paging import PAGE, names_by_folder, page_of
from .registry import tool

IMAGE_BYTES = 700_000
"""Hosts refuse results over 1 MB, and base64 makes four bytes of three."""
IMAGE_SIDE = 2_000
"""Pixels; what chats with several images take."""
MOST_READ = 64 * 2**20
"""Bytes of a file that is shown."""
MOST_ADDED = 32 * 2**20
"""Bytes of a file that is added."""
MOST_ENCODED = -(-MOST_ADDED // 3) * 4
"""Characters of base64 for as many bytes."""
PAGES_NAMED = 10
"""Pages without text among others that have some."""
COPIES = 1_000
"""Numbers that are tried for a name that is taken: `image 1.png`."""
ALL_PAGES = 10**9
"""More pages than a PDF has."""
FOLDER_OF_ATTACHMENTS = "the folder of attachments"
"""What errors call the folder that the app's settings name."""


@dataclass(frozen=True, slots=True)
class Attachment:
    path: str
    kind: str
    size: int
    link: str | None = None
    """The embed as the note writes it."""


@dataclass(frozen=True, slots=True)
class Attachments:
    total: int
    names: dict[str, list[str]] | None = None
    """File names by folder; of a note `attachments`."""
    attachments: list[Attachment] | None = None
    missing: list[str] | None = None
    """Embeds of the note that lead to no file."""
    next_offset: int | None = None
    incomplete: str | None = None
    """Said while the index is being built."""


@tool(title="Attachments: images and PDFs")
def attachments(
    app: App,
    name: Annotated[str, Argument(description="Show this file")] = "",
    pages: Annotated[str, Argument(description="Of a PDF, such as 3-7")] = "",
    note: Annotated[str, Argument(description="What this note embeds")] = "",
    query: Annotated[str, Argument(description="Part of the path, or image, pdf, audio")] = "",
    unused: Annotated[bool, Argument(description="Linked nowhere")] = False,
    limit: Limit = 50,
    offset: Offset = 0,
    vault: VaultName = "",
) -> Attachments | DocumentAnswer | PictureAnswer | ReadAttachment:
    """List images, PDFs and other files; with name, look at an image or read a PDF's text."""
    opened = app.vaults.get(vault)
    if name:
        return _read(app, opened.find(name), opened, pages)
    incomplete, missing = None, None
    if note:
        embeds, missing, incomplete = _list_embeds(opened, note)
    elif unused:
        answer = opened.graph.orphans(attachments=True)
        embeds = [
            _describe(entry)
            for path in answer.value
            if (entry := opened.entry_at(path)) and media.is_attachment(entry.path)
        ]
        incomplete = answer.notice
    else:
        embeds = [_describe(entry) for entry in opened.entries() if media.is_attachment(entry.path)]
    sought_name = name_key(query.strip())
    embeds = [
        attachment
        for attachment in embeds
        if sought_name in (attachment.kind, "") or sought_name in name_key(attachment.path)
    ]
    page, following = page_of(embeds, offset, limit, attrgetter("path"))
    names = None
    if not note and not current_call.get().wants_all:
        names = names_by_folder(attachment.path for attachment in page)
    whole = list(page) if names is None else None
    return Attachments(len(embeds), names, whole, missing, following, incomplete)


def _list_embeds(vault: Vault, note: str) -> tuple[list[Attachment], list[str] | None, str | None]:
    """Return what a note embeds, and what it links to that is no note."""
    outgoing = vault.graph.outgoing_links(vault.find(note).path)
    embedded, missing = [], []
    for reference in outgoing.value:
        embed = reference.link.kind == "embed"
        entry = vault.entry_at(reference.target) if reference.target is not None else None
        if entry is not None and (embed or media.is_attachment(entry.path)):
            embedded.append(_describe(entry, reference.link.original))
        elif entry is None and embed:
            missing.append(reference.link.original)
    return embedded, missing or None, outgoing.notice


def _describe(entry: FileEntry, link: str | None = None) -> Attachment:
    return Attachment(entry.path, media.kind_of(entry.path), entry.size, link)


@dataclass(frozen=True, slots=True)
class ReadAttachment:
    path: str
    kind: str
    mime: str
    size: int
    width: int | None = None
    height: int | None = None
    shrunk: bool | None = None
    pages: str | None = None
    """Those that follow, 1-based."""
    total_pages: int | None = None
    next_pages: str | None = None
    """What to ask for to read on."""
    note: str | None = None


def _read(
    app: App, entry: FileEntry, vault: Vault, pages: str
) -> DocumentAnswer | PictureAnswer | ReadAttachment:
    kind = media.kind_of(entry.path)
    facts = ReadAttachment(entry.path, kind, media.mime_of(entry.path), entry.size)
    if kind in ("audio", "video"):
        return replace(facts, note="Sound and film cannot be shown to a model.")
    data = vault.files.read_file(entry.disk, MOST_READ)
    if media.is_text(entry.path, data):
        return DocumentAnswer(
            facts, to_printable(data[: PAGE * 4].decode("utf-8", "surrogateescape")[:PAGE])
        )
    if kind == "pdf":
        return _pdf(app, facts, data, pages)
    if kind != "image":
        raise NotShowable(
            f"{str(entry.path)!r} is neither an image, a PDF nor text: it cannot be shown."
        )
    return _image(app, facts, data)


def _image(app: App, facts: ReadAttachment, data: bytes) -> PictureAnswer:
    if problem := media.picture_problem(facts.path, data[: media.PICTURE_HEAD]):
        raise NotShowable(problem)
    size, mime = media.picture_size(data), media.picture_type(data)
    fits = (
        mime is not None
        and len(data) <= IMAGE_BYTES
        and size is not None
        and max(size) <= IMAGE_SIDE
    )
    picture = data if fits else app.media().shrink_image(data, IMAGE_BYTES, IMAGE_SIDE)
    width, height = size or (None, None)
    shown_as = (mime if fits else None) or "image/jpeg"
    return PictureAnswer(
        replace(facts, width=width, height=height, shrunk=None if fits else True), shown_as, picture
    )


def _pdf(
    app: App, facts: ReadAttachment, data: bytes, pages: str
) -> DocumentAnswer | PictureAnswer:
    if not re.fullmatch(r"(\d{1,6}(-\d{0,6})?)?", pages.strip(), re.ASCII):
        raise InvalidArguments(
            f"{pages!r} names no pages. Give them as 3 or 3-7.", argument="pages"
        )
    start, dash, end = pages.strip().partition("-")
    first = int(start or 1)
    last = int(end) if end else (first if pages and not dash else ALL_PAGES)
    if first < 1 or last < first:
        raise InvalidArguments(
            f"{pages!r} names no pages. Give them as 3 or 3-7, counted from 1.", argument="pages"
        )
    total, texts = app.media().pdf_text(data, first, last, PAGE)
    if not texts:
        pages_there = write_count(total, "page")
        raise InvalidArguments(
            f"The PDF has {pages_there}, so there is no page {first}.", argument="pages"
        )
    until = first + len(texts) - 1
    last_asked = min(last, total)
    following = f"{until + 1}-{last_asked}" if until < last_asked else None
    note = (
        None
        if any(text.strip() for text in texts)
        else "These pages hold no text: they may be scanned images."
    )
    pages_read = replace(
        facts, pages=f"{first}-{until}", total_pages=total, next_pages=following, note=note
    )
    if pages_read.note is not None:
        return _page_image(app, pages_read, data, first, last_asked)
    without = [str(first + number) for number, text in enumerate(texts) if not text.strip()]
    if without:
        named = name_first(without, PAGES_NAMED)
        pages_read = replace(
            pages_read,
            note=f"Pages without text: {named}. Ask for one of them alone to see its image.",
        )
    body = "\n".join(
        f"--- page {first + number} ---\n{text.strip()}\n" for number, text in enumerate(texts)
    )
    return DocumentAnswer(pages_read, to_printable(body))


def _page_image(
    app: App, facts: ReadAttachment, data: bytes, number: int, last: int
) -> DocumentAnswer | PictureAnswer:
    """Return the first of some pages without text as an image, or that there is no text where it
    cannot be drawn."""
    following = f"{number + 1}-{last}" if number < last else None
    page_read = replace(
        facts,
        pages=str(number),
        note="The page has no text: this is its image.",
        next_pages=following,
    )
    try:
        return _image(app, page_read, app.media().pdf_page(data, number, IMAGE_SIDE))
    except NotShowable as error:
        return DocumentAnswer(replace(facts, note=f"{facts.note} {error.message}"), "")


@dataclass(frozen=True, slots=True)
class Added:
    path: str
    size: int
    embed: str
    """What to write into a note to show it; a link for a kind that cannot be shown."""
    existing: bool | None = None
    """True where a file with the same bytes was there already, and none was added."""
    warnings: list[str] | None = None


@tool(title="Add attachment", writes=True)
def add_attachment(
    app: App,
    name: Annotated[str, Argument(description="Name or path")],
    data: Annotated[str, Argument(description="base64")] = "",
    source: Annotated[str, Argument(description="Instead: an allowed file's path")] = "",
    note: Annotated[str, Argument(description="Note that it is for")] = "",
    vault: VaultName = "",
) -> Added:
    """Add an image or other file, into the attachment folder unless name has one; returns the
    embed."""
    opened = app.vaults.get(vault)
    if bool(data) == bool(source):
        raise InvalidArguments("Give either `data` (base64) or `source` (a file).", argument="data")
    content = app.read_outside(source, MOST_ADDED) if source else _decode(data)
    with opened.lock_changes():
        source_path = opened.find(note).path if note else ""
        target, entry = _free(opened, _target(opened, name, source_path), content)
        path, disk = opened.catalog.spell_path(target)
        warnings = [*opened.settings.warnings]
        if entry is None:
            warnings += _displacement_warnings(opened, path)
            opened.commit("add_attachment", [Create(disk, content)])
        is_shown = media.kind_of(path) in ("image", "audio", "video", "pdf")
        try:
            link = generate_link(
                opened.catalog, path, source_path, settings=opened.settings, embed=is_shown
            )
        except InvalidName:  # the file is there, whatever its name holds
            link = f"![[{path}]]"
    return Added(path, len(content), link, None if entry is None else True, warnings or None)


def _displacement_warnings(vault: Vault, path: VaultPath) -> list[str]:
    """Return a warning with the files whose links lead to a new file and no longer to another one
    of its name (RENAME-04)."""
    if not vault.catalog.find_by_name(path.rpartition("/")[2]):
        return []
    links = plan_displacement(vault, path)
    if not links.rewritten:
        return [*links.warnings]
    changed = list_places([file.path for file in links.rewritten])
    lead = f"Links to another file of this name lead to the new one now, in {changed}."
    return [f"{lead} Undo this and choose another name, or give those links the path."]


def _decode(data: str) -> bytes:
    """Raises: InvalidArguments. A `data:` URL and line breaks are accepted."""
    text = re.sub(r"\s+", "", re.sub(r"^data:[^,]*;base64,", "", data.strip()))
    if len(text) > MOST_ENCODED:
        raise InvalidArguments(f"`data` is larger than {MOST_ADDED:,} bytes.", argument="data")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArguments(f"`data` is not base64: {error}.", argument="data") from error


def _target(vault: Vault, name: str, note: str) -> VaultPath:
    """Return where the settings of the app put a new attachment (semantics 6.2)."""
    path = vault.catalog.parse(name)
    folder, _, own = path.rpartition("/")
    path = vault.catalog.parse(f"{folder}/{heading_for_link(own)}".removeprefix("/"))
    if extension(path) in ("", *(".md", ".canvas", ".base")):
        raise InvalidName(
            f"{name!r} needs the extension of an attachment, such as .png or .pdf.", name=name
        )
    if "/" not in path:
        folder = vault.settings.attachment_folder.strip()
        if folder == "." or folder.startswith("./"):
            folder = f"{parent(note)}/{folder.removeprefix('.').strip('/')}"
        folder = vault.folders.configured_folder(folder, FOLDER_OF_ATTACHMENTS)
        if folder.strip("/"):
            path = vault.catalog.parse(f"{folder.strip('/')}/{path}")
            vault.folders.check_new(path, FOLDER_OF_ATTACHMENTS)
    vault.catalog.check_creatable(path)
    return path


def _free(vault: Vault, path: VaultPath, content: bytes) -> tuple[VaultPath, FileEntry | None]:
    """Return the path, or with a number where it is taken, as the app does; and the file that has
    these very bytes."""
    stem, dot, ending = path.rpartition(".")
    for number in range(COPIES):
        candidate = VaultPath(f"{stem} {number}{dot}{ending}") if number else path
        disk = vault.catalog.spell_path(candidate)[1]
        vault.check_target(disk)
        entry = vault.entry_at(candidate)
        if (
            entry is not None
            and entry.size == len(content)
            and vault.read_content(entry).data == content
        ):
            return entry.path, entry
        if entry is None and not vault.files.exists(disk):
            return candidate, None
    raise NoteExists(
        f"{str(path)!r} and {COPIES} numbered copies exist already. Choose another name.", path=path
    )
