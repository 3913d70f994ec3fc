"""Words that say the same, and the lists that name them (specs/search.md, SEARCH-87)."""

from __future__ import annotations

from pathlib import Path

import pytest

from obsidian_mcp.core.text import synonyms
from obsidian_mcp.core.text.analysis import stems

ENGLISH = ("english",)


def said(words: str, languages: tuple[str, ...] = ENGLISH) -> set[str]:
    return {" ".join(other) for other in synonyms.find(tuple(words.split()), languages)}


@pytest.mark.parametrize(
    ("words", "other"),
    [
        ("refund", "money back"),
        ("money back", "refund"),
        ("deleting", "erase"),
        ("turned off", "disable"),
        ("laptops", "notebook"),
        ("add on", "plugin"),
    ],
)
def test_words_and_their_forms_have_other_words_that_say_the_same(words: str, other: str) -> None:
    assert other in said(words)


def test_a_word_of_the_list_is_not_taken_for_another_one_with_its_stem() -> None:
    assert "writer" in said("author")
    assert "permit" not in said("author")


def test_neither_the_words_themselves_nor_their_forms_are_other_words() -> None:
    assert said("refund").isdisjoint({"refund", "refunds"})


def test_a_word_that_is_in_no_group_and_a_language_without_a_list_have_none() -> None:
    assert said("zzyzx") == set()
    assert said("refund", ("german",)) == set()


@pytest.mark.parametrize("language", synonyms.LANGUAGES)
def test_a_list_has_groups_of_short_members_that_are_not_forms_of_each_other(language: str) -> None:
    file = Path(synonyms.__file__).parent / "synonyms" / f"{language}.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    for line in lines:
        members = [tuple(member.split(" ")) for member in line.split(", ")]
        forms = {tuple(next(iter(stems(word, (language,))), word) for word in member) for member in members}
        assert len(members) == len(forms) > 1, line
        assert all(1 <= len(member) <= synonyms.LONGEST and all(member) for member in members), line
        assert line == line.lower(), line
