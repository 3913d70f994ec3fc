"""Commands about daily to yearly notes, and templates (HEADLESS-17).

The functions for days serve the longer periods, too: `weekly:read` is answered by `daily_read`,
which takes the period from the command that was typed.
"""

from __future__ import annotations

from collections.abc import Callable

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.calendar.periods import ADJECTIVES, Period
from obsidian_mcp.core.note.edits import add_text
from obsidian_mcp.core.periodic.notes import first_day, note_day
from obsidian_mcp.core.text.vault_path import basename, is_note, name_key
from obsidian_mcp.errors import NoteNotFound

from .call import DropInCall, sort_texts, write_pairs
from .words import DropInRefused

if TYPE_CHECKING:
    from obsidian_mcp.core.files.file_entry import FileEntry
    from obsidian_mcp.core.periodic.names import LocatedNote


def _adjective(call: DropInCall) -> str:
    """Return `weekly` of the command `weekly:append`."""
    return call.words.command.partition(":")[0]


def _period(call: DropInCall) -> Period:
    return ADJECTIVES[_adjective(call)]


def _locate(call: DropInCall) -> LocatedNote:
    return call.vault.periodic.locate(_period(call), call.text("date") or "today")


def daily_path(call: DropInCall) -> str:
    return str(_locate(call).path)


def daily_read(call: DropInCall) -> str:
    located = _locate(call)
    if located.entry is None:
        raise DropInRefused(f'File "{located.path}" not found.')
    return call.vault.read_shown(located.entry).data.decode("utf-8", "surrogateescape")


def _open(call: DropInCall, change: Callable[[str], str] | None = None) -> str:
    from obsidian_mcp.core.operations.periodic_notes import PeriodicNotes

    try:
        opened = PeriodicNotes(call.vault).open(
            "daily_note", _period(call), call.text("date") or "today", change
        )
    except NoteNotFound as error:
        sentence, remainder, _ = error.message.partition(" not set up.")
        raise DropInRefused(f"{sentence}{remainder}") from None
    return str(opened.located.path)


def daily(call: DropInCall) -> str:
    return _open(call)


def add(call: DropInCall) -> str:
    return (
        f"{'Appended' if call.appends else 'Prepended'} to: {_open(call, call.content_inserter())}"
    )


def daily_date(call: DropInCall) -> str:
    settings = call.vault.periodic.settings
    rule, named = settings.rules[_period(call)], call.text("path")
    day = note_day(rule, named, settings.locale, call.vault.calendar.today)
    if day is None:
        raise DropInRefused(f'"{named}" is not a {_adjective(call)} note.')
    return first_day(rule, day, settings.locale).isoformat()


def daily_settings(call: DropInCall) -> str:
    rule = call.vault.periodic.settings.rules[_period(call)]
    for path in (rule.folder, rule.template.rpartition("/")[0]):
        call.vault.folders.configured_folder(path, f"the folders of {_adjective(call)} notes")
    enabled = "true" if rule.configured else "false"
    return write_pairs(
        {
            "folder": rule.folder,
            "format": rule.format,
            "template": rule.template,
            "enabled": enabled,
        }
    )


def daily_list(call: DropInCall) -> str:
    from obsidian_mcp.core.operations.periodic_notes import PeriodicNotes

    try:
        notes = PeriodicNotes(call.vault).list_notes(_period(call))
    except NoteNotFound:
        folder = call.vault.periodic.settings.rules[_period(call)].folder.strip("/")
        raise DropInRefused(f'Folder "{folder}" not found.') from None
    return call.join_lines(sort_texts(entry.path for entry, _ in notes))


def _templates(call: DropInCall) -> dict[str, FileEntry]:
    """Return the templates by their paths below the folder, without `.md`. Raises:
    DropInRefused."""
    folder = call.vault.periodic.settings.templates.folder.strip("/ ")
    if not folder:
        raise DropInRefused("No template folder configured.")
    call.vault.folders.configured_folder(folder, "the folder of templates")
    start = f"{name_key(folder)}/"
    if call.folder(folder) is None:
        raise DropInRefused(f'Template folder "{folder}" not found.')
    return {
        entry.path[len(start) :].removesuffix(".md"): entry
        for entry in call.vault.entries()
        if is_note(entry.path) and name_key(entry.path).startswith(start)
    }


def template_insert(call: DropInCall) -> str:
    from obsidian_mcp.core.operations.templates import insert_template

    entry = call.note()
    text = template_text(call, call.text("name"), basename(entry.path))
    call.vault.edit("insert_template", entry, lambda body: insert_template(body, text))
    return f"Inserted: {entry.path}"


def unique(call: DropInCall) -> str:
    """Make a note named by the minute, from its template and with the content behind that."""
    from obsidian_mcp.core.operations.new_file import create_file
    from obsidian_mcp.core.operations.periodic_notes import PeriodicNotes
    from obsidian_mcp.core.operations.templates import Templates

    vault = call.vault
    with vault.lock_changes():
        path_, template = PeriodicNotes(vault).unique_note(call.text("name"))
        text = (
            fill_template(call, Templates(vault).find(template), basename(path_))
            if template
            else ""
        )
        content = add_text(text, call.words.content, at_end=True, inline=False)
        path, disk = vault.catalog.new_path(path_)
        create_file(vault, "create_note", path, disk, content.encode("utf-8", "surrogateescape"))
    return f"Created: {path}"


def templates(call: DropInCall) -> str:
    return call.join_lines(sort_texts(_templates(call)), "No templates found.")


def template_text(call: DropInCall, name: str, title: str | None) -> str:
    """Return a template's text; with a title, its variables replaced. Raises: DropInRefused."""
    key = name_key(name.strip("/")).removesuffix(".md")
    entry = next(
        (
            entry
            for template_name, entry in _templates(call).items()
            if name_key(template_name) == key
        ),
        None,
    )
    if entry is None:
        raise DropInRefused(f'Template "{name}" not found.')
    return call.body(entry) if title is None else fill_template(call, entry, title)


def fill_template(call: DropInCall, template: FileEntry, title: str) -> str:
    """Return a template's text with its variables replaced."""
    from obsidian_mcp.core.operations.templates import Templates
    from obsidian_mcp.core.periodic.template import fill

    return fill(call.body(template), Templates(call.vault).variables(title))


def template_read(call: DropInCall) -> str:
    title = call.text("title") or "Untitled"
    return template_text(call, call.text("name"), title if call.has("resolve") else None)
