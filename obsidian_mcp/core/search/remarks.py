"""How the files of a search were found, in words, and what to try (SEARCH-51)."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from obsidian_mcp.core.text.analysis import fold, to_basic_letters
from obsidian_mcp.core.text.fit import cut_text

from .found_files import FoundFiles
from .plan import SearchPlan
from .snapshot import Snapshot

Within = Callable[[int], bool]
"""Tells whether the file of a number is among those that a request is about."""

REMARK_CHARACTERS = 500
"""Most of a remark on how the files were found."""
RETRY = "Retry with 1 to 3 distinctive words or synonyms."
WEAK = "No file has all the words; these have some, or words like them."
NEAR_LETTERS = 4
"""With how many letters at least, and two thirds of its own, a word begins that is near another
one."""
MISSPELLED_LETTERS = 6
"""A shorter word that differs in one letter is mostly another one: `cost` and `post`."""
NEAR_WORDS = 3
"""Near words that are named for a missing one, and tags of the first files."""
WORDS_TO_TRY = 6
"""Words of a question that are offered to search for alone."""
FEW_FILES = 20
"""Up to so many files are found, and an exact search may find more, it is said how many."""
SHORTEST_INSIDE = 3
"""Letters of a word that is looked for inside others."""
MOST_LONGER = 300
"""Words with such a word in them that are looked up."""
LOOKED_UP, TAGGED_FILES = 20, 10
"""Near words of which is looked up whether they name something; files whose tags are counted."""


def remark_of(result: FoundFiles) -> str | None:
    """Return how the search was widened, which words no note has, and what to try (SEARCH-51)."""
    plan = result.plan
    # Where the index is not whole, what the files that are left have is not known
    if not plan.is_wide or 0 < result.total <= plan.found or not result.snapshot.is_whole:
        return None
    if plan.is_weak:
        sentences = [_describe_weak(result)]
    elif plan.found:
        sentences = [
            f"Files with all the words: {plan.found}; the others have some, or words like them."
        ]
    else:
        sentences = [f"{WEAK} {RETRY}" if result.total else RETRY]
    if plan.missing:
        sentences.append(f"No note has {', '.join(plan.missing)}.")
    if not plan.found and (near := _near_words(result)):
        sentences.append(f"Words of this vault: {', '.join(near)}.")
    remark = " ".join(sentences)
    return cut_text(remark, REMARK_CHARACTERS)


def _describe_weak(result: FoundFiles) -> str:
    """Return that no note answers, how many were left out, and which words they have, so that these
    can be searched for alone (SEARCH-100)."""
    plan = result.plan
    own_words = [term.text for term in plan.terms if term.text and not term.instead_of]
    present = ", ".join(dict.fromkeys(own_words[:WORDS_TO_TRY]))
    listed = "These are the nearest; " if result.total else ""
    left_out = f"{plan.withheld} {'others ' if listed else ''}have a word or two of it"
    if not plan.withheld:
        return f"No note says enough of this to answer it. {listed.rstrip('; ')}."
    return (
        f"No note says enough of this to answer it. {listed}{left_out} and are left out. To see"
        f" them, search for fewer words ({present})."
    )


def describe_inside_words(
    snapshot: Snapshot, plan: SearchPlan, word: str, files: AbstractSet[int], within: Within
) -> str | None:
    """Return how many more files have a word of the query inside their words, which an exact search
    finds; None where there are none, and where many files were found (SEARCH-95).

    `within` tells the files of the request. The vocabulary names the words, so that no text is
    read.
    """
    if len(files) > FEW_FILES or len(word) < SHORTEST_INSIDE or not snapshot.is_whole:
        return None
    forms = {form for term in plan.terms for form in term.variants}
    longer = [form for form in snapshot.vocabulary.words_containing(word) if form not in forms]
    if not longer:
        return None
    looked_up = longer[:MOST_LONGER]
    expression = " OR ".join(f'"{form}"' for form in looked_up)
    further = snapshot.rows.full_text.find_matching(expression) - files
    count = sum(map(within, further - snapshot.table.excluded))
    if not count:
        return None
    least = "at least " if len(longer) > len(looked_up) else ""
    have = "file has" if count == 1 else "files have"
    used = snapshot.rows.full_text.find_used(looked_up[:LOOKED_UP])
    example = min(used, key=lambda form: (len(form), form), default="")
    such = f", such as {example}" if example else ""
    return (
        f"match=exact would find {least}{count} more: the {have} {word!r} inside other words{such}."
    )


def _near_words(result: FoundFiles) -> list[str]:
    """Words of names, headings, tags and aliases that are near those that no note has, and tags of
    the first files."""
    snapshot, near = result.snapshot, dict[str, None]()
    for word in result.plan.missing:
        bare = to_basic_letters(fold(word))
        beginning = bare[: max(NEAR_LETTERS, len(bare) * 2 // 3)]
        alike = (
            snapshot.vocabulary.plainly_containing(beginning, to_end=False)
            if len(bare) >= NEAR_LETTERS
            else []
        )
        used = [
            variant
            for term in result.plan.terms
            if fold(word) in {term.text, *term.instead_of.split()}
            for variant in term.variants
            if term.instead_of
            or len(bare) >= MISSPELLED_LETTERS
            or bare in to_basic_letters(variant)
        ]
        if looked_up := [*used, *alike][:LOOKED_UP]:
            telling = snapshot.rows.full_text.find_used(looked_up, "{name alias heading tag} : ")
            near |= dict.fromkeys(telling[:NEAR_WORDS])
    files = [item.number for item in result.items[:TAGGED_FILES] if item.number is not None]
    tags = snapshot.rows.file_sets.most_common_tags(files, NEAR_WORDS)
    return [*near, *(f"#{tag.removeprefix('#')}" for tag in tags)]
