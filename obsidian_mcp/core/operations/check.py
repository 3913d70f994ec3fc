"""What is broken in a vault, and what could be better (specs/check.md).

A check is one function that goes over the vault, and an entry in CHECKS with the call that repairs
what it finds. All checks of one call share a `CheckedVault`: what several of them need, such as
which notes are templates, is read from the disk once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.files import media
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.graph.indexed_vault import IndexedVault, Moment
from obsidian_mcp.core.graph.results import Reference
from obsidian_mcp.core.note import counts
from obsidian_mcp.core.search.similar import NearDuplicates, near_duplicates
from obsidian_mcp.core.tasks.listing import ListRequest
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.core.text.vault_path import VaultPath, is_note, parent
from obsidian_mcp.core.vault.vault import Vault

from .broken_links import broken_links, describe_likeness, likely_link, missing_part
from .tasks import find_tasks
from .template_texts import TemplateTexts
from .unreadable import find_problem, list_unreadable, unreadable_notes
from .validity_check import find_validity_problems

STUB_WORDS = 5
"""Words below which a note is a stub."""
NOTES_OF_KIND, SHARE_OF_KIND = 4, 0.75
"""Notes that make a kind, and the share of them that must have a property which the others then
lack."""
EVERY_NOTE_MAY = frozenset(("tags", "aliases", "cssclasses", "publish"))
"""Properties that say nothing of the kind of a note."""
PLURALS = ("s", "es", "n", "en")
TASKS_OF_A_NOTE = 1_000
"""More than a note has on the average: the list of overdue tasks is one page."""
_headings_and_embeds = re.compile(r"^#{1,6}\s.*$|(!\[)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One thing that a check finds."""

    path: str | None
    """None for what is in many files."""
    line: int | None = None
    """1-based."""
    text: str | None = None
    """What was found, where the check alone does not say it."""
    repair: str | None = None
    """What repairs it, where that is not the same for all findings of the check."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a check finds, and what it did not look at."""

    findings: Sequence[Callable[[], CheckFinding]]
    """Each is worked out when it is shown: to find what was meant takes longer than to find what is
    broken."""
    note: str | None = None
    """What was not looked at."""


class CheckedVault:
    """A vault for the checks of one call, with what several of them ask of it.

    Each of these is worked out when a check first asks for it, and holds for the others.
    """

    def __init__(self, vault: Vault) -> None:
        self.vault = vault

    @cached_property
    def templates(self) -> TemplateTexts:
        return TemplateTexts(self.vault)


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the whole vault."""

    find: Callable[[CheckedVault], Iterable[Callable[[], CheckFinding]] | Findings]
    repair: str
    """Which call repairs what it finds."""
    is_broken: bool = False
    """Whether what it finds is broken; else it is advice."""

    def run_check(self, checked: CheckedVault) -> Findings:
        """Look at the whole vault; the index must be complete."""
        findings = self.find(checked)
        return findings if isinstance(findings, Findings) else Findings(list(findings))


@dataclass(frozen=True, slots=True)
class _LinkFinding:
    """The finding of a broken link, which is worked out when it is called."""

    vault: Vault
    reference: Reference

    @property
    def identity(self) -> object:
        """What the link is known by, also when lines come or go above it."""
        return self.reference.source, self.reference.link.at, self.reference.link.original

    def __call__(self) -> CheckFinding:
        """Return the finding, with the link that was likely meant."""
        reference = self.reference
        meant = likely_link(self.vault, reference)
        likeness = meant and describe_likeness(reference.link.original, meant)
        if likeness:
            meant = f"{meant} with {likeness}"
        text = f"{reference.link.original}: no such {missing_part(reference)}"
        return CheckFinding(
            reference.source, reference.line, f"{text}; did you mean {meant}?" if meant else text
        )


def identify_finding(find: Callable[[], CheckFinding]) -> object:
    """Return what a finding is known by, also when lines come or go above it (TOOL-41).

    A broken link is known by itself: what was meant by it is worked out when it is shown.
    """
    if isinstance(find, _LinkFinding):
        return find.identity
    finding = find()
    return finding.path, finding.text


def _find_broken_links(checked: CheckedVault) -> Iterator[Callable[[], CheckFinding]]:
    """Find the broken links; of a template not those whose target its variables make."""
    for reference in broken_links(checked.vault).value:
        is_made_later = _has_variable(reference.link.original)
        if not (is_made_later and checked.templates.has(reference.source)):
            yield _LinkFinding(checked.vault, reference)


def _find_orphans(checked: CheckedVault) -> Iterator[Callable[[], CheckFinding]]:
    """Find the notes that nothing links to; templates need no links."""
    orphans = checked.vault.graph.orphans().value
    return (partial(CheckFinding, path) for path in orphans if not checked.templates.has(path))


_has_variable = re.compile(r"\{\{|<%").search


def _find_unreadable(checked: CheckedVault) -> Findings:
    unreadable = list_unreadable(checked.vault)
    return Findings(
        [
            partial(CheckFinding, path, problem.line, problem.message, problem.repair or None)
            for path, problem in unreadable.problems
        ],
        unreadable.note,
    )


def _find_overdue_tasks(checked: CheckedVault) -> Iterator[Callable[[], CheckFinding]]:
    vault = checked.vault
    overdue = ListRequest("todo", dates={"due": "overdue"}, leaves_out=checked.templates.has)
    page = Page(len(vault.catalog) * TASKS_OF_A_NOTE)
    for task in find_tasks(vault, overdue, "", page).tasks:
        yield partial(CheckFinding, task.path, task.line, f"{task.description} (due {task.due})")


def _find_unused_attachments(checked: CheckedVault) -> Iterator[Callable[[], CheckFinding]]:
    unlinked = checked.vault.graph.orphans(attachments=True).value
    return (partial(CheckFinding, path) for path in unlinked if media.is_attachment(path))


def _find_stubs(checked: CheckedVault) -> Iterator[Callable[[], CheckFinding]]:
    """Find notes with few words.

    Templates, notes that hold only their template, and files that nobody can read are none.
    """
    vault, templates = checked.vault, checked.templates
    short_notes = vault.graph.evaluate_texts(_short_notes).value
    for path, words, text in short_notes:
        entry = vault.catalog.get(path)
        if entry is None or templates.has(path) or templates.is_untouched(path, text):
            continue
        if find_problem(vault, entry) is None:
            yield partial(CheckFinding, path, None, write_count(words, "word"))


def _short_notes(texts: Iterable[tuple[VaultPath, str]]) -> list[tuple[VaultPath, int, str]]:
    """Return path, number of words and text of notes with few words and no embed, by path."""
    short_notes = []
    for path, text in texts:
        own = text[text_start(text) :] if len(text) < 10_000 else text
        marks = list(_headings_and_embeds.finditer(own)) if len(own) < 1_000 else []
        if len(own) < 1_000 and not any(mark[1] for mark in marks):
            words = counts.count(_headings_and_embeds.sub("", own)).words
            if words < STUB_WORDS:
                short_notes.append((path, words, text))
    return sorted(short_notes)


def _find_near_duplicates(checked: CheckedVault) -> Findings:
    """Find notes whose own text is nearly the same.

    What both have from a template is not compared: all notes of a template would be alike.
    """
    templates = checked.templates

    def compare(texts: Iterable[tuple[VaultPath, str]]) -> NearDuplicates:
        return near_duplicates(
            (path, templates.compared_text(path, text))
            for path, text in texts
            if not templates.has(path)
        )

    pairs, is_whole = checked.vault.graph.evaluate_texts(compare).value
    findings = [
        partial(CheckFinding, path, None, f"{same:.0%} the same as {twin}")
        for path, twin, same in pairs
    ]
    return Findings(
        findings, None if is_whole else "Only the notes that were changed last were compared."
    )


def _find_alike_tags(checked: CheckedVault) -> Iterator[Callable[[], CheckFinding]]:
    """Find tags that differ in case, or as one and many, such as #book and #books."""
    uses = {use.tag.lower(): use for use in checked.vault.graph.tags().value}
    for key, use in uses.items():
        forms = [f"{key}{ending}" for ending in PLURALS] + (
            [f"{key[:-1]}ies"] if key.endswith("y") else []
        )
        alike = [uses[form] for form in forms if form in uses and len(key.rpartition("/")[2]) > 2]
        if alike or len(use.spellings) > 1:
            spelled = [
                f"{' '.join(f'#{form}' for form in alike_use.spellings)} ({alike_use.files})"
                for alike_use in (use, *alike)
            ]
            yield partial(CheckFinding, None, None, ", ".join(spelled))


def _find_missing_properties(checked: CheckedVault) -> list[Callable[[], CheckFinding]]:
    vault, templates = checked.vault, checked.templates
    unreadable = unreadable_notes(vault)

    def is_looked_at(path: str) -> bool:
        return is_note(path) and path not in unreadable and not templates.has(path)

    return vault.graph.evaluate(partial(_missing_properties, is_looked_at=is_looked_at)).value


def _missing_properties(
    moment: Moment, is_looked_at: Callable[[str], bool]
) -> list[Callable[[], CheckFinding]]:
    """Find notes without a property that most notes of their kind have.

    A kind is a type, a tag or a folder; the first of these that fits says why.
    """
    view = IndexedVault(moment)
    names: dict[str, Mapping[str, object]] = {}
    kinds: dict[str, list[str]] = {}
    notes = [file.path for file in view.files() if is_looked_at(file.path)]
    for path in notes:
        names[path] = {name.lower(): value for name, value in view.properties(path).items()}
        if isinstance(kind := names[path].get("type"), str):
            kinds.setdefault(f"of type {kind}", []).append(path)
    for path in notes:
        for tag in dict.fromkeys(view.tags(path)):
            kinds.setdefault(f"with #{tag.removeprefix('#')}", []).append(path)
    for path in notes:
        kinds.setdefault(f"in {parent(VaultPath(path)) or 'the root'}", []).append(path)
    findings: dict[tuple[str, str], str] = {}
    for kind, paths in kinds.items():
        counted = Counter(
            name for path in paths for name in names[path] if name not in EVERY_NOTE_MAY
        )
        for name, count in counted.items() if len(paths) >= NOTES_OF_KIND else ():
            if SHARE_OF_KIND <= count / len(paths) < 1:
                for path in paths:
                    if name not in names[path]:
                        findings.setdefault(
                            (path, name),
                            f"no {name}, which {count} of {len(paths)} notes {kind} have",
                        )
    return [partial(CheckFinding, path, None, text) for (path, _), text in sorted(findings.items())]


def _find_validity_problems(checked: CheckedVault) -> Iterator[Callable[[], CheckFinding]]:
    problems = find_validity_problems(checked.vault)
    return (partial(CheckFinding, *problem) for problem in problems)


CHECKS: Mapping[str, Check] = {
    "broken_links": Check(
        _find_broken_links,
        "Write the link that was meant. Call obsidian_edit_note with replace_text; for many of "
        "them, obsidian_batch.",
        is_broken=True,
    ),
    "unreadable": Check(
        _find_unreadable,
        "Each finding says what repairs it, such as obsidian_edit_note.",
        is_broken=True,
    ),
    "overdue_tasks": Check(
        _find_overdue_tasks,
        "Complete or postpone them. Call obsidian_update_task with name and line.",
    ),
    "missing_properties": Check(
        _find_missing_properties,
        "Set the property. Call obsidian_set_properties with names.",
    ),
    "validity": Check(
        _find_validity_problems,
        "Correct the property or field that is named, or what relies on it. Call "
        "obsidian_set_properties or obsidian_edit_note.",
    ),
    "alike_tags": Check(_find_alike_tags, "Keep one of them. Call obsidian_rename_tag."),
    "near_duplicates": Check(
        _find_near_duplicates,
        "Merge them, or delete one. Call obsidian_compose_notes or obsidian_delete_note.",
    ),
    "stubs": Check(
        _find_stubs,
        "Complete or delete them. Call obsidian_edit_note or obsidian_delete_note.",
    ),
    "orphans": Check(
        _find_orphans,
        "Link to them. obsidian_link_mentions makes mentions links; obsidian_similar names alike "
        "notes.",
    ),
    "unused_attachments": Check(
        _find_unused_attachments, "Embed or delete them. Call obsidian_delete_note."
    ),
}
"""By name, what is broken first."""
