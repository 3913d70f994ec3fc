"""The prompts (specs/prompts.md): one function is one prompt, its parameters are the arguments.

They are listed in the order of this file.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Final

from obsidian_mcp.app import App
from obsidian_mcp.core.calendar import clock
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.note import parser as core_note
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.text.fit import MARK, UNCOUNTED, cut_text
from obsidian_mcp.core.text.text import hidden_text_warnings, to_printable, write_count
from obsidian_mcp.core.text.vault_path import basename, is_note, name_key
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, InvalidArguments, PermissionDenied

from . import resources
from .prompt import Described, Prompt, read_prompt

NOTE_CHARACTERS: Final = 40_000
"""The most that a prompt quotes of one note; hosts cut longer messages."""
EXCERPT_CHARACTERS: Final = 1_500
"""The most that a review quotes of one note."""
REVIEWED_NOTES: Final = 25
"""Notes that a review quotes."""
NAMED_NOTES: Final = 100
"""Further notes that a review names."""
TASKS: Final = 150
"""Tasks in a plan."""
CANDIDATES: Final = 25
"""Notes that are proposed as connections."""
REASONS: Final = 4
"""Reasons that are given for each of them."""
NAMES: Final = 40
"""Entries of a list of names in a prompt: linked notes, broken links, properties, tags."""
MIN_MENTION_LENGTH: Final = 4
"""Characters of a name that is looked for in a text: shorter ones are found everywhere."""


PROMPTS: dict[str, Prompt] = {}
"""By name, in the order of the list."""


def prompt(title: str) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Register a function as a prompt; see `read_prompt`."""

    def register(function: Callable[..., str]) -> Callable[..., str]:
        PROMPTS[function.__name__] = read_prompt(title, function)
        return function

    return register


def find_prompt(name: str) -> Prompt:
    """Return a prompt by name. Raises: InvalidArguments that lists the prompts."""
    if name not in PROMPTS:
        raise InvalidArguments(
            f"Unknown prompt: {name}. The prompts are {', '.join(PROMPTS)}.",
            argument="name",
            prompt=name,
        )
    return PROMPTS[name]


def quote_note(app: App, vault: Vault, entry: FileEntry, limit: int = NOTE_CHARACTERS) -> str:
    """Return a note between tags that name it.

    Of a long one it is the beginning, and how to get the rest.
    """
    body = to_printable(vault.read_text(entry).text.body)
    hidden_text_warnings(body, entry.path, app.hidden_text_reads.add)
    how = f"{len(body) - limit:,} more characters: obsidian_read_note with offset {limit}"
    beginning = cut_text(body, limit, f"\n[{MARK} {how}]")
    return f'<note path="{entry.path}" modified="{entry.modified}">\n{beginning}\n</note>'


def read_number(text: str, name: str, least: int, greatest: int) -> int:
    """Return the number in an argument, which is always a string. Raises: InvalidArguments."""
    if not (text.strip().isdecimal() and least <= int(text) <= greatest):
        raise InvalidArguments(
            f"Argument {name!r} must be a whole number from {least} to {greatest}, but "
            f"{text[:40]!r} came.",
            argument=name,
        )
    return int(text)


def note_filter(vault: Vault, folder: str, tag: str) -> Callable[[FileEntry], bool]:
    """Return a filter for notes below the folder and with the tag, where given. Raises:
    NoteNotFound."""
    inside = vault.folders.find_folder(folder) if folder else None
    if inside:
        vault.folders.describe_folder(inside)
    prefix = name_key(inside) + "/" if inside else ""
    tagged = (
        {occurrence.path for occurrence in vault.graph.files_with_tag(tag).value} if tag else None
    )
    return lambda entry: (
        name_key(entry.path).startswith(prefix) and (tagged is None or entry.path in tagged)
    )


def describe_scope(folder: str, tag: str) -> str:
    """Return the words for `note_filter`."""
    return (f" below the folder {folder!r}" if folder else "") + (
        f" tagged #{tag.removeprefix('#')}" if tag else ""
    )


NoteName = Annotated[str, Described("Note name or path", "note")]
Folder = Annotated[str, Described("Only below this folder", "folder")]
Tag = Annotated[str, Described("Only notes with this tag", "tag")]
PromptVault = Annotated[str, Described("Vault, if there are several", "vault")]


@prompt("Summarise a note")
def summarize_note(
    app: App,
    note: NoteName,
    length: Annotated[str, Described("Such as: three sentences, one page")] = "five bullet points",
    vault: PromptVault = "",
) -> str:
    """Summarise a note of the vault, with its open questions and tasks."""
    opened = app.vaults.get(vault)
    return (
        f"Summarise this note from my Obsidian vault in {length}. Keep its language and its terms, "
        "name open questions and tasks separately, and add nothing that it does not say.\n\n"
        + quote_note(app, opened, opened.find(note))
    )


@prompt("Weekly review")
def weekly_review(
    app: App,
    days: Annotated[str, Described("7, or since monday, last month …")] = "7",
    folder: Folder = "",
    tag: Tag = "",
    vault: PromptVault = "",
) -> str:
    """Review the notes that changed in the last days: what happened, what is open, what comes
    next."""
    from obsidian_mcp.core.calendar.days import read_moment  # with all expressions of words

    opened = app.vaults.get(vault)
    named = None if days.strip().isdigit() else read_moment(days, opened.calendar.now())
    since = named or opened.calendar.now() - timedelta(days=read_number(days, "days", 1, 366))
    period = f"the time from {since:%Y-%m-%d} on" if named else f"the last {days} days"
    notice = _notice(opened) if tag else []
    is_wanted = note_filter(opened, folder, tag)
    notes = resources.recent_notes(
        opened, lambda entry: entry.mtime_ns >= clock.nanoseconds(since) and is_wanted(entry)
    )
    target = ""
    with suppress(PermissionDenied):  # the policy hides where weekly notes are (POL-18)
        weekly = opened.periodic.locate("week")
        if weekly.rule.configured:
            offer = "offer to put the review there with obsidian_daily_note, period weekly."
            target = f" My weekly note is {weekly.path}: {offer}"
    request = (
        f"Write a review of {period} from the notes of my Obsidian vault that "
        f"changed{describe_scope(folder, tag)}. Group by theme: what got done, what was decided or "
        "learned, what is open, and what I should do next. Link each point to its note as "
        "[[Name]]. Read a whole note with obsidian_read_note where its beginning is not "
        f"enough.{target}\n\n{write_count(len(notes), 'note')} changed since {since:%Y-%m-%d}."
    )
    quotes = [
        quote_note(app, opened, entry, EXCERPT_CHARACTERS)
        for entry in notes[:REVIEWED_NOTES]
        if not _is_binary(opened, entry)
    ]
    further_notes = [
        f"- {entry.path} ({entry.modified})"
        for entry in notes[REVIEWED_NOTES : REVIEWED_NOTES + NAMED_NOTES]
    ]
    more = ["Changed as well:\n" + "\n".join(further_notes)] if further_notes else []
    return "\n\n".join([request, *quotes, *more, *notice])


def _is_binary(vault: Vault, entry: FileEntry) -> bool:
    try:
        vault.read_text(entry)
    except AppError:
        return True
    return False


@prompt("Find connections")
def find_connections(app: App, note: NoteName, vault: PromptVault = "") -> str:
    """Find notes that a note should be linked with: names it mentions, shared tags, neighbours of
    neighbours."""
    opened = app.vaults.get(vault)
    entry = opened.find(note)
    notice = _notice(opened)
    linked = {
        link.target
        for link in opened.graph.outgoing_links(entry.path).value
        if link.target is not None
    }
    linked |= {link.source for link in opened.graph.backlinks(entry.path).value}
    reasons = _connection_reasons(opened, entry)
    connected = {str(path) for path in linked} | {str(entry.path)}
    ranked = sorted(
        (candidate for candidate in reasons.items() if candidate[0] not in connected),
        key=lambda candidate: (-len(candidate[1]), candidate[0]),
    )
    request = (
        "Find connections for this note of my Obsidian vault. For each note that it should link "
        "to, or that should link to it, say why in one sentence and quote the passage where the "
        "link belongs. Prefer a few strong connections. The candidates come from names in the "
        "text, shared tags and shared links; search for further ones with obsidian_search. "
        "Propose the links first; make them with obsidian_edit_note only when I agree."
    )
    return "\n\n".join(
        [
            request,
            quote_note(app, opened, entry),
            "Linked already:\n" + _bullets(sorted(connected - {str(entry.path)})[:NAMES]),
            "Candidates:\n"
            + _bullets(
                [f"{path} ({', '.join(why[:REASONS])})" for path, why in ranked[:CANDIDATES]]
            ),
            *notice,
        ]
    )


def _connection_reasons(vault: Vault, note: FileEntry) -> dict[str, list[str]]:
    """Return the paths of notes that a note may have to do with, each with why."""
    reasons: dict[str, list[str]] = {}
    body = vault.read_text(note).text.body
    text = name_key(body)
    for entry in vault.entries():
        name = name_key(basename(entry.path))
        if (
            len(name) >= MIN_MENTION_LENGTH
            and name in text
            and is_note(entry.path)
            and entry.path != note.path
        ):
            reasons[str(entry.path)] = ["its name is in the text"]
    for tag in dict.fromkeys(tag.name for tag in core_note.parse(body).tags):
        report_progress(0, 0, "Comparing tags")
        for occurrence in vault.graph.files_with_tag(tag).value:
            reasons.setdefault(str(occurrence.path), []).append(f"#{tag}")
    for near in vault.graph.neighbours(note.path, 2).value:
        if near.distance == 2:
            reasons.setdefault(str(near.path), []).append(f"linked with {near.via}")
    return reasons


@prompt("Clean up a note")
def clean_up_note(app: App, note: NoteName, vault: PromptVault = "") -> str:
    """Tidy a note without changing what it says: structure, links that lead nowhere, properties,
    tags."""
    opened = app.vaults.get(vault)
    entry = opened.find(note)
    content = opened.read_text(entry)
    parsed = core_note.parse(content.text.body)
    notice = _notice(opened)
    broken = [
        link.link.original
        for link in opened.graph.outgoing_links(entry.path).value
        if link.target is None
    ]
    uses = sorted(opened.graph.properties().value, key=lambda use: (-use.files, use.name))[:NAMES]
    tags = sorted(opened.graph.tags().value, key=lambda use: (-use.files, use.tag))[:NAMES]
    problem = parsed.frontmatter.error if parsed.frontmatter is not None else None
    request = (
        "Clean up this note of my Obsidian vault. Keep every fact, its voice and its language. "
        "Mend headings that skip a level, lists, typing errors and links that lead nowhere, and "
        "use the properties and tags that the vault has instead of new ones. Show me what you "
        "would change first. Then make the changes one by one with obsidian_edit_note (etag "
        f"{content.etag}), never by writing the whole note anew."
    )
    return "\n\n".join(
        [
            request,
            quote_note(app, opened, entry),
            "Links that lead nowhere:\n" + _bullets(broken[:NAMES]),
            *([f"Its properties cannot be read: {problem}"] if problem else []),
            "Properties in use: "
            + (", ".join(f"{use.name} ({use.files})" for use in uses) or "none"),
            "Tags in use: " + (", ".join(f"#{use.tag} ({use.files})" for use in tags) or "none"),
            *notice,
        ]
    )


@prompt("Plan from tasks")
def plan_from_tasks(
    app: App,
    folder: Folder = "",
    tag: Tag = "",
    horizon: Annotated[str, Described("Such as: today, this week")] = "this week",
    vault: PromptVault = "",
) -> str:
    """Make a plan from the open tasks of the vault, those of the notes changed last first."""
    opened = app.vaults.get(vault)
    notice = _notice(opened) if tag else []
    notes = resources.recent_notes(opened, note_filter(opened, folder, tag))
    lines: list[str] = []
    for count, entry in enumerate(notes):
        report_progress(count, len(notes), "Looking for tasks")
        facts = opened.graph.facts(entry.path).value
        open_tasks = [task for task in facts.tasks if task.mark == " "] if facts is not None else []
        lines += (
            f"{task.text.lstrip('> ').strip()} ({entry.path}:{task.line + 1})"
            for task in open_tasks
        )
        if len(lines) > TASKS:
            break
    return (
        f"Make a plan for {horizon} from the open tasks of my Obsidian "
        f"vault{describe_scope(folder, tag)}. Order them by urgency and weight, put together what "
        "belongs together, name what is blocked or stale, and say what to leave out. Refer to "
        "each task by its note as [[Name]]. Look into a note with obsidian_read_note where a task "
        f"is not clear. Today is {opened.calendar.now():%A, %Y-%m-%d}.\n\n"
        + (_bullets(lines[:TASKS], "") + (f"\n{UNCOUNTED}" if len(lines) > TASKS else ""))
        + "".join(f"\n\n{sentence}" for sentence in notice)
    )


def _notice(vault: Vault) -> list[str]:
    """Return the sentence that the index is not complete, where that is so."""
    notice = vault.indexer.freshen().notice
    return [notice] if notice else []


def _bullets(items: list[str], mark: str = "- ") -> str:
    return "\n".join(mark + item for item in items) or "(none)"


@prompt("Open the console")
def open_console(app: App) -> str:
    """Open a page in your browser on which you see what assistants changed, and take it back."""
    if app.open_console is not None:
        return app.open_console(app)
    return (
        "I want to see what assistants changed in my vault, and take it back. Tell me in one "
        "sentence how: `obsidian-mcp ui` in a terminal of the computer with the vault, or the page "
        "/console of this server, opens the console in my browser. Call no tool."
    )
