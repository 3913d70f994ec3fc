"""Plan moves of files and folders with the links that lead to them (semantics 7,
specs/rename.md)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from obsidian_mcp import errors
from obsidian_mcp.core.files.file_entry import FileContent, FileEntry
from obsidian_mcp.core.files.settings import BOOKMARKS_FILE
from obsidian_mcp.core.links import link_spans, rewrite
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note import parser, sections
from obsidian_mcp.core.note.edits import apply
from obsidian_mcp.core.note.links import split_subpath, split_wikilink, wikilink
from obsidian_mcp.core.note.subpath import resolve_subpath
from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import Lines, printable
from obsidian_mcp.core.text.vault_path import VaultPath, extension, is_note, name_key, parent
from obsidian_mcp.core.vault.operation import Create, Move, Operation
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import Rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    AmbiguousName,
    InvalidArguments,
    InvalidName,
    NoteExists,
    PermissionDenied,
)


def relocate(
    vault: Vault, name: str | FileEntry, to: str, *, update_links: bool, keep_extension: bool = True
) -> PlannedChange:
    """Plan the move of a file or folder; with `keep_extension` a file keeps its own. A folder with
    files that the policy hides stays with those, and all else is moved one by one, as are files
    where a folder of the name in another normal form is. Raises: NoteNotFound, AmbiguousName,
    NoteExists, InvalidName, PermissionDenied."""
    source, disk, is_folder = _source(vault, name)
    target, target_disk = _target(
        vault, source, to, keep_extension=keep_extension and not is_folder
    )
    if is_folder:
        if name_key(target + "/").startswith(name_key(source + "/")) and name_key(
            target
        ) != name_key(source):
            raise InvalidName(f"The folder {source!r} cannot be moved into itself.", path=source)
        disks = {entry.path: entry.disk for entry in vault.entries()}
        files = rewrite.folder_moves(disks, source, target)
        _check_apart(files)
        for path in files.values():
            vault.catalog.check_length(path)
        vault.check_target(target_disk, files.values() or [VaultPath(f"{target}/")])
    else:
        files = {source: target}
        vault.check_target(target_disk)
    occupant = vault.at(target)
    occupied = (occupant is not None and occupant.path != source) or (
        vault.files.exists(target_disk) and name_key(source) != name_key(target)
    )
    if occupied or (target == source and disk == target_disk):
        raise NoteExists(
            f"There is already something at {str(target)!r}. Choose another name or folder.",
            path=str(target),
        )
    lost = mentions(vault, files, source if is_folder else None) if update_links else ()
    links = rewrite_links(vault, files, lost) if update_links else PlannedChange()
    moves = [
        Move(disk, target_disk, unlinked=update_links and not (links.rewritten or links.warnings))
    ]
    if is_folder:
        leaving = vault.folders.movable(disk)
        spelled = (disks[path] for path in files)
        apart = [
            *(leaving or ()),
            *(spelled_path for spelled_path in spelled if not spelled_path.startswith(f"{disk}/")),
        ]
        depth = source.count("/") + 1
        moves = [Move(disk, target_disk)] if leaving is None else []
        moves += [Move(inner, f"{target_disk}/{inner.split('/', depth)[depth]}") for inner in apart]
    return replace(links, steps=tuple(moves), source=source, target=target, moved=files)


def _check_apart(files: Mapping[VaultPath, VaultPath]) -> None:
    """Check that no two files of a folder, which the disk may have in two normal forms (MOVE-05),
    get one path. Raises: NoteExists."""
    sources: dict[VaultPath, VaultPath] = {}
    for source, target in files.items():
        if (rival := sources.setdefault(target, source)) != source:
            raise NoteExists(
                f"{printable(rival)!r} and {printable(source)!r} cannot both be moved to "
                f"{str(target)!r}: the disk has "
                "the folder in two normal forms, with a file of this name in each. Rename or "
                "move one of the two "
                "first, by its exact path. Nothing moved.",
                path=str(target),
            )


def gather(
    vault: Vault, entries: Iterable[FileEntry], to: str, *, update_links: bool
) -> PlannedChange:
    """Plan to move files into a folder, which may be new; files in it stay. Raises: NoteExists,
    InvalidName, PermissionDenied, InvalidArguments for the name of a note."""
    folder = vault.folders.named(to) or VaultPath("")
    if is_note(folder) and vault.catalog.folders.find(folder) is None:
        raise InvalidArguments(
            f"{to!r} is the name of a note, and names and query move notes into a folder. Give "
            "the folder, or the one "
            "note in name.",
            argument="to",
        )
    files: dict[VaultPath, VaultPath] = {}
    taken = set()
    moves = []
    for entry in entries:
        name = entry.path.rpartition("/")[2]
        target, disk = _placed(vault, VaultPath(f"{folder}/{name}" if folder else name), entry.path)
        if target == entry.path:
            continue
        vault.check_target(disk)
        if vault.at(target) is not None or vault.files.exists(disk) or target in taken:
            raise NoteExists(
                f"{str(entry.path)!r} cannot go to {str(target)!r}: something of that name is "
                "there. Nothing moved.",
                path=str(target),
            )
        files[entry.path] = target
        taken.add(target)
        moves.append(Move(entry.disk, disk))
    links = (
        rewrite_links(vault, files, mentions(vault, files, None))
        if update_links
        else PlannedChange()
    )
    return replace(links, steps=tuple(moves), moved=files)


def rename_heading(vault: Vault, entry: FileEntry, heading: str, text: str) -> PlannedChange:
    """Plan a heading's new text (with `^id` a block's new id) everywhere. Raises: SectionNotFound,
    InvalidName, NoteNotFound."""
    from obsidian_mcp.core.links import rename_heading as rename_part  # moves do without it

    contents, referrers = referrers_of(vault, {entry.path, *linking(vault, [entry.path])})
    if entry.path not in contents:  # too large, or another program has just taken it
        contents[entry.path] = vault.read(vault.catalog.entry(entry.path))
    parsed = parser.parse(contents[entry.path].text.body)
    place = sections.find(parsed, heading)
    if place.heading is not None:
        file_edits = rename_part.plan_heading(
            vault.catalog, entry.path, parsed, place.heading, text, referrers=referrers
        )
    else:
        old, new = (
            heading.strip().removeprefix("#").removeprefix("^"),
            text.strip().removeprefix("^"),
        )
        file_edits = rename_part.plan_block(
            vault.catalog, entry.path, parsed, old, new, referrers=referrers
        )
    links = applied(contents, file_edits)
    after = next(
        (file.after.text.body for file in links.rewritten if file.path == entry.path), parsed.body
    )
    bookmarks = _lost_part_bookmarks(vault, entry.path, parsed, after)
    return replace(links, warnings=(*links.warnings, *unread_links(vault), *bookmarks))


def _source(vault: Vault, name: str | FileEntry) -> tuple[VaultPath, str, bool]:
    """Return the path of the file or folder to move, its spelling on disk, and whether it is a
    folder (MOVE-06)."""
    if isinstance(name, FileEntry):
        return name.path, name.disk, False
    folder: tuple[VaultPath, str, bool] | None = None
    with suppress(PermissionDenied, InvalidName):
        path, disk = vault.folders.spelled(vault.folders.named(name) or VaultPath(""))
        if path and vault.folders.below(disk) is not None:
            folder = VaultPath(path), disk, True
    if folder is not None and name.strip().endswith("/"):
        return folder
    try:
        entry = vault.find(name)
    except (errors.NoteNotFound, PermissionDenied):
        if folder is None:
            raise
        return folder
    if folder is not None:
        candidates = [str(entry.path), f"{folder[0]}/"]
        raise AmbiguousName(
            f"{name!r} is a file and a folder. Give {candidates[0]!r} or {candidates[1]!r}.",
            candidates=candidates,
        )
    return entry.path, entry.disk, False


def _target(
    vault: Vault, source: VaultPath, to: str, *, keep_extension: bool
) -> tuple[VaultPath, str]:
    """Return the target: a new path, a place in an existing folder, or a new name beside the old
    one (MOVE-01)."""
    written = to.strip()
    into = written.endswith("/")
    if written.strip("/") == "":
        if not into:
            raise InvalidName(
                "The target is empty. Give a new path, a folder, or a new name.", to=to
            )
        return _placed(vault, VaultPath(source.rpartition("/")[2]), source)
    path = vault.folders.named(to) or VaultPath("")
    spelled, disk = vault.folders.spelled(path)
    if into or (vault.folders.below(disk) is not None and name_key(path) != name_key(source)):
        return _placed(vault, VaultPath(f"{spelled}/{source.rpartition('/')[2]}"), source)
    if keep_extension and extension(path) != extension(source):
        path = VaultPath(path + (extension(source) or ""))
    if "/" not in written and parent(source):
        path = VaultPath(f"{parent(source)}/{path}")
    return _placed(vault, path, source)


def _placed(vault: Vault, path: VaultPath, source: VaultPath) -> tuple[VaultPath, str]:
    """Return where `source` goes, with its folders as they are spelled. Raises: InvalidName for a
    new name."""
    vault.catalog.check_creatable(path, source)
    return vault.catalog.spelled(path)


def rewrite_links(
    vault: Vault, files: Mapping[VaultPath, VaultPath], warnings: Iterable[str] = ()
) -> PlannedChange:
    """Plan the rewriting of links to files that get other paths, and of relative links in them, and
    add `warnings`."""
    contents, referrers = referrers_of(vault, {*files, *linking(vault, [*files, *files.values()])})
    planned = applied(
        contents, rewrite.plan(vault.catalog, files, referrers, settings=vault.settings)
    )
    of_settings = vault.settings.warnings if planned.rewritten else ()
    return replace(
        planned, warnings=(*planned.warnings, *unread_links(vault), *of_settings, *warnings)
    )


MOST_REFERRERS = 3_000
"""Files with links to a name that are read when another file gets it: about three seconds."""


def displaced(vault: Vault, created: VaultPath) -> PlannedChange:
    """Plan the rewriting of links that would lead to a new file, no longer to another one of its
    name (RENAME-04)."""
    contents, planned, unseen = displaced_links(vault, created)
    rewritten_links = applied(contents, planned)
    changed, refused = allowed(vault, rewritten_links.rewritten)
    warnings = [*unseen, *rewritten_links.warnings, *unread_links(vault)]
    if changed:
        paths = [file.path for file in changed]
        warnings.append(
            f"Links to the other file of this name have its path now, in {listed(paths)}."
        )
    if refused:
        warnings.append(
            f"Links lead to the new note now in {listed(refused)}, which the user's policy keeps "
            "as they are."
        )
    return PlannedChange(tuple(changed), warnings=tuple(warnings))


def create_file(
    vault: Vault, tool: str, path: VaultPath, disk: str, data: bytes
) -> tuple[str, ...]:
    """Make a file; links to another file of its name get a path and go on leading there. Return
    warnings."""
    with vault.changing():
        operations: list[Operation] = [Create(disk, data)]
        warnings: tuple[str, ...] = ()
        if vault.catalog.named(path.rpartition("/")[2]):
            links = displaced(vault, path)
            operations += links.operations
            warnings = links.warnings
        vault.commit(tool, operations)
        return warnings


def allowed(vault: Vault, files: Iterable[Rewritten]) -> tuple[list[Rewritten], list[VaultPath]]:
    """Return the files that the policy allows to be written, and the paths of the others."""
    changed, refused = [], []
    for file in files:
        try:
            vault.policy.check_write(file.path, len(file.after.data))
        except (PermissionDenied, errors.StorageFailed):
            refused.append(file.path)
        else:
            changed.append(file)
    return changed, refused


def displaced_links(
    vault: Vault, created: VaultPath
) -> tuple[Mapping[VaultPath, FileContent], Iterable[rewrite.FileEdits], tuple[str, ...]]:
    """Return the files with such links, their edits, and a warning where nobody looked for them;
    see `displaced`."""
    reason = ""  # Nobody waits for the index, or for long, while a file is made.
    if vault.indexer.is_behind:
        reason = "the index does not know all files yet"
    elif len(referring := linking(vault, [created])) > MOST_REFERRERS:
        reason = f"{len(referring)} files have links to this name, too many to look at"
    if reason:
        return (
            {},
            (),
            (f"Links to other files of this name may lead to the new one now: {reason}.",),
        )
    contents, referrers = referrers_of(vault, referring)
    return (
        contents,
        rewrite.plan(vault.catalog, {}, referrers, settings=vault.settings, created=[created]),
        (),
    )


def linking(vault: Vault, paths: Iterable[VaultPath]) -> set[VaultPath]:
    """Return the files with links to the names of these."""
    return {*vault.graph.sources_of(rewrite.link_keys(paths))}


def referrers_of(
    vault: Vault, files: set[VaultPath]
) -> tuple[dict[VaultPath, FileContent], list[link_spans.Referrer]]:
    """Return the content of these files, and the places of their links; what is no text has none
    (RENAME-14)."""
    contents: dict[VaultPath, FileContent] = {}
    referrers = []
    for count, path in enumerate(sorted(files)):
        report_progress(count, len(files), "Rewriting links")
        entry = vault.catalog.get(path)
        if entry is None or entry.is_too_large:
            continue
        if extension(path) not in (vault_path.NOTE_EXTENSION, vault_path.CANVAS_EXTENSION):
            continue
        try:
            contents[path] = content = vault.read(entry)
        except errors.NoteNotFound:  # another program has just taken it, with its links
            continue
        if content.is_text:
            referrers.append(link_spans.read_referrer(path, content.text.body))
    return contents, referrers


def unread_links(vault: Vault) -> list[str]:
    """Return a warning with the files whose links nobody can look at, because they are too large to
    be read; nothing where there are none (RENAME-15)."""
    large = vault.too_large()
    return (
        [f"Files that are too large to be read keep their links as they are: {listed(large)}."]
        if large
        else []
    )


def applied(
    contents: Mapping[VaultPath, FileContent], planned: Iterable[rewrite.FileEdits]
) -> PlannedChange:
    binary = [path for path, content in contents.items() if not content.is_text]
    warnings = (
        [f"Files that are not text keep their links as they are: {listed(binary)}."]
        if binary
        else []
    )
    rewritten_files = []
    for edits in planned:
        content = contents[edits.path]
        body = content.text.body
        if changes := [edit for edit in edits.edits if edit.span.slice(body) != edit.text]:
            lines = Lines(body)
            changed = sorted({lines.line(edit.span.start) + 1 for edit in changes})
            rewritten_files.append(
                Rewritten(content, content.with_body(apply(body, changes)), tuple(changed))
            )
        warnings += [
            f"{edits.path}: {skipped.original} was left as it is. {skipped.reason}"
            for skipped in edits.skipped
        ]
    return PlannedChange(tuple(rewritten_files), warnings=tuple(warnings))


SHOWN = 10
"""Places that a warning lists."""


def mentions(
    vault: Vault, files: Mapping[VaultPath, VaultPath], folder: VaultPath | None
) -> list[str]:
    """Warnings with the places in bases, and the bookmarks, that will not find `files` or `folder`
    after their move."""
    places = []
    for entry in vault.entries():
        if extension(entry.path) != ".base":
            continue
        from obsidian_mcp.core.bases.validation import find_texts  # loaded when it is needed

        try:
            text = vault.read_text(entry).text.body
        except errors.AppError:  # gone, or not downloaded
            continue
        for line, literal in find_texts(text):
            if _is_lost(vault, entry.path, literal, files, folder):
                places.append(f"{entry.path} line {line} ({literal!r})")
    marked = _bookmarked(vault, files, folder)
    return [
        f"{kind} are not changed by a move, and these name what moves: {listed(named)}."
        for kind, named in {"Bases": places, "Bookmarks": marked}.items()
        if named
    ]


def listed(places: Sequence[str]) -> str:
    """Return the first places for a warning, and how many more there are."""
    return name_first(places, SHOWN, "; ")


def lost_bookmarks(vault: Vault, files: Container[VaultPath]) -> list[str]:
    """Return a warning with the bookmarks of files that are removed; nothing where there are none
    (BOOK-5)."""
    bookmarked = _bookmarked(vault, files, None)
    return (
        [f"Bookmarks stay as they are, and these name what is removed: {listed(bookmarked)}."]
        if bookmarked
        else []
    )


def _lost_part_bookmarks(
    vault: Vault, path: VaultPath, before: parser.Note, after: str
) -> list[str]:
    """Return a warning with the bookmarks of headings and blocks that a note has no more
    (BOOK-5)."""
    marked = [target for target in _bookmarked(vault, {path}, None) if "#" in target]
    now = parser.parse(after) if marked else before
    parts = [(target, target.partition("#")[2]) for target in marked]
    lost = [
        target
        for target, part in parts
        if resolve_subpath(before, part) and not resolve_subpath(now, part)
    ]
    return (
        [f"Bookmarks stay as they are, and these name what is renamed: {listed(lost)}."]
        if lost
        else []
    )


def _bookmarked(vault: Vault, files: Container[VaultPath], folder: VaultPath | None) -> list[str]:
    """Return the targets of the bookmarks of these files, and of a folder and what is in it."""
    if (data := vault.files.config(BOOKMARKS_FILE)) is not None:
        from obsidian_mcp.core.files import bookmarks  # many vaults have none

        with suppress(InvalidArguments):  # a broken file, which the app does not read either
            return [
                bookmark.target
                for bookmark in bookmarks.visible(data, vault.policy)
                if bookmark.is_of(files, folder)
            ]
    return []


def _is_lost(
    vault: Vault,
    base: VaultPath,
    literal: str,
    files: Mapping[VaultPath, VaultPath],
    folder: VaultPath | None,
) -> bool:
    """Whether a text that names a moved file or folder does so no more."""
    if folder is not None and name_key(literal.strip("/") + "/").startswith(name_key(folder + "/")):
        return True
    link_match = wikilink(literal)
    path = split_subpath(
        split_wikilink(link_match[1])[0]
        if link_match and link_match.end() == len(literal)
        else literal
    )[0].strip()
    target = resolve(vault.catalog, base, path) if path else None
    if target is None or target not in files:
        return False
    new = files[target].rpartition("/")[2]
    names = {name_key(new), name_key(new[: -len(".md")])} if is_note(new) else {name_key(new)}
    return name_key(path) not in names
