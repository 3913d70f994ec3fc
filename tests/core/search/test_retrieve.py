"""Smart search: what is found in which circle, what is said of it, and what comes first (specs/search.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.query.nodes import Word
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.search.hits import Hits, MatchMode, Request
from obsidian_mcp.core.search.lexicon import Lexicon
from obsidian_mcp.core.search.reading import is_smart
from obsidian_mcp.core.search.search import Search
from obsidian_mcp.core.search.vocabulary import Vocabulary
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import QueryInvalid
from tests.examples import examples

from .test_search import indexed, search_of


def hits_of(contents: Mapping[str, str | bytes], query: str) -> Hits:
    with indexed(contents) as vault:
        return search_of(vault).find(Request(query))


def found(contents: Mapping[str, str | bytes], query: str) -> list[str]:
    return [hit.path.removesuffix(".md") for hit in hits_of(contents, query).hits]


FILLER: dict[str, str | bytes] = {f"Filler {n}.md": f"Filler of day {n}." for n in range(30)}


@pytest.mark.parametrize(
    ("query", "widened"),
    [
        ("boiler pressure", False),
        ("boilers", False),
        ("boil press", True),
        ("biler presure", True),
        ("biler zebra", True),
        ("-zebra tag:none", False),
    ],
)
def test_a_search_with_too_few_results_is_widened_and_says_so(query: str, widened: bool) -> None:
    """SEARCH-51"""
    answer = hits_of({"House.md": "The boiler loses pressure.", "Other.md": "Nothing."}, query)

    assert bool(answer.widened) == widened
    assert [hit.path for hit in answer.hits] == (["House.md"] if "zebra" not in query or widened else [])


def test_a_search_without_a_result_says_which_words_no_note_has() -> None:
    """SEARCH-51"""
    answer = hits_of({"House.md": "# Zebras\nThe boiler loses pressure."}, "zebroid quagga")

    retry = "Retry with 1 to 3 distinctive words or synonyms."
    assert (answer.total, answer.widened) == (0, f"{retry} No note has zebroid, quagga. Words of this vault: zebras.")
    with indexed({"House.md": ""}) as vault:
        assert search_of(vault).find(Request("quagga", "exact")).widened is None


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("kattle", "kettle"),  # six letters may be misspelled
        ("post", ""),  # fewer letters are mostly another word, although `cost` is found, too
        ("ket", "kettle"),  # a part of a word
        ("kettlish", "kettle"),  # two thirds of the letters are the beginning of a word
        ("keppling", ""),
    ],
)
def test_words_are_named_that_are_near_one_that_no_note_has(word: str, near: str) -> None:
    """SEARCH-51"""
    answer = hits_of({"House.md": "# Kettle\nThe water boils.", "Price.md": "# Cost\n"}, f"{word} quagga")

    named = (answer.widened or "").partition("Words of this vault: ")[2].removesuffix(".")
    assert named == near


def test_the_texts_of_any_files_are_read_by_the_same_statement() -> None:
    """SEARCH-29: SQLite's statements are kept for their text: one that names the files takes
    memory for each set of them."""
    read: set[str] = set()

    def note(statement: str) -> None:
        if "dictionary" in statement and "json_each" in statement:
            read.add(re.sub(r"'[^']*'", "?", statement))  # SQLite shows the values in it

    with indexed({f"{n}.md": "owl" if n % 3 else "Heron" for n in range(30)}) as vault:
        vault.indexer.query(lambda rows: rows.connection.set_trace_callback(note))
        totals = [search_of(vault).find(Request(f"match-case:{word}", "exact")).total for word in ("owl", "Heron")]

    assert (totals, len(read)) == ([20, 10], 1)


def test_files_with_some_of_the_words_come_after_those_with_all() -> None:
    """SEARCH-51, SEARCH-86"""
    vault = {"All.md": "the heron at the canal in fog", "Some.md": "a heron in fog", "One.md": "fog and fog"} | FILLER

    assert found(vault, "heron canal fog") == ["All", "Some", "One"]


def test_a_file_with_all_the_words_comes_first_also_if_one_is_misspelled() -> None:
    """SEARCH-53, SEARCH-86"""
    vault = {f"Editor {n}.md": "# Editor\nan editor" for n in range(5)} | FILLER
    vault["Themes.md"] = "Write a theme in an editor. " + "text " * 300 + "Keep it in workspaces."

    assert found(vault, "editor worskpaces")[0] == "Themes"


def test_three_files_with_both_words_are_enough() -> None:
    """SEARCH-51"""
    vault = {f"{n}.md": "heron, canal" for n in range(3)} | {"One.md": "heron"}
    answer = hits_of(vault, "heron canal")

    assert (answer.total, answer.widened) == (3, None)


def test_a_question_finds_the_note_that_says_most_of_it_in_one_place() -> None:
    """SEARCH-86"""
    link_list = "\n\n".join(["cluster on a laptop", "text " * 400, "run kubernetes"] * 3)
    vault: dict[str, str | bytes] = {f"List {n}.md": link_list for n in range(4)}
    vault["Minikube.md"] = "To run kubernetes on a laptop, start a small cluster."

    assert found(vault, "how do I run a kubernetes cluster on my laptop?")[0] == "Minikube"


def test_a_note_that_says_most_of_a_question_comes_before_many_files_with_all_its_words() -> None:
    """SEARCH-86"""
    apart = "\n\n".join(["cluster of a laptop", "text " * 400, "run kubernetes"])
    vault: dict[str, str | bytes] = {f"List {n}.md": apart for n in range(60)}
    vault["Minikube.md"] = "Kubernetes on a laptop: start a small cluster."
    answer = hits_of(vault, "how do I run a kubernetes cluster on my laptop?")

    assert (answer.hits[0].path, answer.total) == ("Minikube.md", 61)
    assert answer.widened == "Files with all the words: 60; the others have some, or words like them."


def test_an_answer_is_not_called_widened_where_no_file_was_added() -> None:
    """SEARCH-51"""
    answer = hits_of({"A.md": "heron canal", "B.md": "fog"} | FILLER, "heron canal")

    assert (answer.total, answer.widened) == (1, None)


PLAIN = FILLER | {
    "Cancel.md": "Whoever leaves early can ask for a refund of the fee.",
    "Chat.md": "The plugin writes down what was said.",
    "Rail.md": "Timetable of the railway.",
}


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("getting my money back", "Cancel"),  # two words that say something together
        ("reimbursements", "Cancel"),  # another form of a word of the list
        ("extension transcribing talks", "Chat"),
        ("an add-on for talks", "Chat"),
        ("train", "Rail"),
    ],
)
def test_a_widened_search_finds_what_says_the_same_in_other_words(query: str, note: str) -> None:
    """SEARCH-87"""
    assert found(PLAIN, query)[0] == note


def test_other_words_count_less_than_those_of_the_query() -> None:
    """SEARCH-87"""
    vault = FILLER | {"Film.md": "A movie.", "Movie.md": "A film."}

    assert found(vault, "film zzyzx") == ["Film", "Movie"]
    assert found(vault, "movie zzyzx") == ["Movie", "Film"]


def test_a_common_word_that_says_the_same_as_a_rare_one_weighs_little() -> None:
    """SEARCH-87"""
    vault = FILLER | {f"Photo {n}.md": "An image of the heron." for n in range(20)}
    vault["Rare.md"] = "A snapshot of a kingfisher."

    assert found(vault, "snapshot kingfisher zzyzx")[0] == "Rare"


def test_a_search_that_finds_enough_and_an_exact_one_do_without_other_words() -> None:
    """SEARCH-51, SEARCH-87"""
    vault: dict[str, str | bytes] = {f"Film {n}.md": "A film." for n in range(3)}
    vault["Movie.md"] = "A movie."
    with indexed(vault) as memory:
        search = search_of(memory)
        assert {hit.path for hit in search.find(Request("film")).hits} == {f"Film {n}.md" for n in range(3)}
        assert [hit.path for hit in search.find(Request("movie", "exact")).hits] == ["Movie.md"]


def test_the_line_with_the_other_word_is_shown_and_the_word_named() -> None:
    """SEARCH-51, SEARCH-70, SEARCH-87"""
    vault = FILLER | {"Cancel.md": "# Leaving\nStay.\n## Refund\nAsk for a refund."}
    answer = hits_of(vault, "reimbursement")

    assert [snippet.text for snippet in answer.hits[0].snippets or ()] == ["## Refund", "Ask for a refund."]
    assert answer.widened is not None
    assert "these have some, or words like them." in answer.widened
    assert "No note has reimbursement. Words of this vault: refund." in answer.widened
    assert "No note has money, back. Words of this vault: refund." in (hits_of(vault, "money back").widened or "")


@pytest.mark.parametrize("spellings", ["Bar bar BAR", "BAR bar Bar", "bar BAR Bar", "bar Bar BAR"])
def test_a_suggested_tag_has_its_smallest_spelling_whichever_file_came_first(spellings: str) -> None:
    """SEARCH-51"""
    vault: dict[str, str | bytes] = {
        f"{n}.md": f"---\ntags: [{tag}]\n---\nThe boiler." for n, tag in enumerate(spellings.split())
    }

    assert "Words of this vault: #BAR." in (hits_of(vault, "boiler zzyzx").widened or "")


def test_lines_with_the_words_of_the_query_are_shown_before_those_with_other_words() -> None:
    """SEARCH-70, SEARCH-87"""
    text = "The command line client.\n\nSwitch the account.\n\nA terminal: toggle the profile."
    answer = hits_of(FILLER | {"Client.md": text}, "switch account command line zzyzx")

    shown = [snippet.text for snippet in answer.hits[0].snippets or ()]
    assert shown == ["The command line client.", "Switch the account."]


LINKED: dict[str, str | bytes] = {
    "Health/Index.md": "[Dental care](Teeth.md), [[Skin|care of the skin]], [[Nowhere|dental care]]",
    "Health/Teeth.md": "Brush them twice a day.",
    "Health/Skin.md": "Cream.",
    "Health/Sleep.md": "Take care to sleep.",
}


@pytest.mark.parametrize(
    ("query", "folder", "expected"),
    [
        ("dental care", None, [("Health/Index.md", None), ("Health/Teeth.md", "link")]),
        ("dental care", "Health", [("Health/Index.md", None), ("Health/Teeth.md", "link")]),
        ("dental care -brush", None, [("Health/Index.md", None)]),
    ],
)
def test_the_text_of_a_link_finds_the_note_it_leads_to(
    query: str, folder: str | None, expected: list[tuple[str, str | None]]
) -> None:
    """SEARCH-86"""
    with indexed(LINKED | FILLER) as vault:
        hits = search_of(vault).find(Request(query, folder=None if folder is None else VaultPath(folder))).hits

    assert [(hit.path, hit.matched) for hit in hits] == expected


def test_a_hidden_note_is_not_found_by_a_link_to_it() -> None:
    """SEARCH-86"""
    with indexed(LINKED | FILLER) as vault:
        search = Search(vault.indexer, vault.catalog, vault.read, lambda: IgnoreFilters(("Health/Teeth",)))
        hits = search.find(Request("dental care")).hits

    assert "Health/Teeth.md" not in [hit.path for hit in hits]


def test_stop_words_of_other_languages_are_searched_for_unless_the_query_is_in_one() -> None:
    """SEARCH-56"""
    vault: dict[str, str | bytes] = {"C.md": "Strings in C.", "Python.md": "Strings in Python.", **FILLER}
    assert found(vault, "strings in c")[0] == "C"
    assert found({"Haus.md": "Das Haus.", "Die.md": "to die"} | FILLER, "wo ist die Tür von dem Haus") == ["Haus"]


def test_near_names_do_not_win_where_a_note_has_the_word() -> None:
    """SEARCH-51"""
    vault = {"ring-a-secretary.md": "Call her.", "Keys.md": "The secret codes are in the box."} | FILLER

    assert found(vault, "secret recovery codes")[0] == "Keys"
    assert "ring-a-secretary" not in found(vault, "secret recovery codes")


def test_a_weak_answer_says_which_words_no_note_has_and_offers_others() -> None:
    """SEARCH-51"""
    vault: dict[str, str | bytes] = {
        "A.md": "---\ntags: [travel]\n---\n# Passports\nhow to renew it",
        "B.md": "renewal",
    }
    answer = hits_of(vault | FILLER, "passprot renewal zzyzx")

    assert answer.widened is not None
    assert "No note has passprot, zzyzx." in answer.widened
    assert "passports" in answer.widened
    assert "#travel" in answer.widened
    assert "synonyms" in answer.widened


def test_an_exact_search_is_never_widened() -> None:
    """SEARCH-51"""
    with indexed({"A.md": "heron canal", "B.md": "heron"}) as vault:
        answer = search_of(vault).find(Request("heron canal", "exact"))
    assert ([hit.path for hit in answer.hits], answer.widened) == (["A.md"], None)


def test_parts_of_a_word_count_only_where_no_note_has_the_word() -> None:
    """SEARCH-51"""
    vault = {"A.md": "the car", "B.md": "the cartography", "C.md": "the cat"}

    assert found(vault, "car") == ["A"]
    assert found(vault, "carto") == ["B"]


def test_only_words_that_no_note_has_are_forgiven_a_letter() -> None:
    """SEARCH-53"""
    assert found({"A.md": "form of a letter", "B.md": "firm letter"}, "form leter") == ["A"]


@pytest.mark.parametrize(
    "typo", ["keyboard", "keybord", "keyboarrd", "keybaord", "kwyboard", "eyboard", "keyboar", "keyboarf"]
)
def test_one_letter_may_be_missing_doubled_swapped_or_wrong(typo: str) -> None:
    """SEARCH-53"""
    assert found({"A.md": "a keyboard", "B.md": "a cupboard"}, typo) == ["A"]


@pytest.mark.parametrize(("text", "typo"), [("many passwords", "passwrd"), ("без загранпаспорта", "загранпаспрт")])
def test_a_mistake_is_forgiven_where_notes_have_the_word_with_another_ending(text: str, typo: str) -> None:
    """SEARCH-53"""
    assert found({"A.md": text, "B.md": "words and паспорта"}, typo) == ["A"]


def test_a_mistake_in_a_short_stem_needs_the_same_ending() -> None:
    """SEARCH-53"""
    assert found({"A.md": "the tables"}, "tible") == []
    assert found({"A.md": "the tables"}, "tibles") == ["A"]


def test_two_mistakes_in_a_word_are_not_forgiven() -> None:
    """SEARCH-53"""
    assert found({"A.md": "a keyboard"}, "keibaord") == []


def test_the_newer_of_two_notes_that_answer_equally_well_comes_first() -> None:
    """SEARCH-63"""
    assert found({"Old.md": "A heron.", "New.md": "A heron."}, "heron") == ["New", "Old"]
    assert found({"New.md": "A heron.", "Old.md": "A heron."}, "heron") == ["Old", "New"]


def test_a_newer_note_does_not_overtake_one_that_answers_better() -> None:
    """SEARCH-63"""
    better = "A heron, another heron."
    assert found({"Better.md": better, "Newer.md": "A heron flew over the canal."}, "heron") == ["Better", "Newer"]


@pytest.mark.parametrize(
    "text",
    [
        "---\naliases: [heron]\n---\nA grey bird.",
        "# Heron\n\nA grey bird.",
        "---\ntags: [heron]\n---\nA grey bird.",
    ],
    ids=["alias", "heading", "tag"],
)
def test_alias_heading_and_tag_weigh_more_than_the_text(text: str) -> None:
    """SEARCH-60, SEARCH-61"""
    assert found({"A.md": text, "B.md": "We saw a heron, a heron, one heron."}, "heron") == ["A", "B"]


def test_the_name_weighs_most() -> None:
    """SEARCH-60"""
    vault: dict[str, str | bytes] = {
        "Heron.md": "A heron is a bird.",
        "Alias.md": "---\naliases: [heron]\n---\nBird.",
        "Heading.md": "# Heron\n\nBird.",
        "Tag.md": "Bird. #heron",
        "Text.md": "A heron is a bird.",
    }
    assert found(vault, "heron")[:2] == ["Heron", "Alias"]
    assert found(vault, "heron")[-1] == "Text"


def test_words_near_each_other_come_before_words_far_apart() -> None:
    """SEARCH-62"""
    far = "A blue door. " + "Something else stood here for long. " * 20 + "An old window."
    assert found({"Far.md": far, "Near.md": far.replace("blue", "old") + " A blue window."}, "blue window")[0] == "Near"


@pytest.mark.parametrize("query", ["heron ?", "¿ heron", "heron …", "– heron –", "heron / ?"])
def test_marks_between_words_are_not_looked_for(query: str) -> None:
    """SEARCH-56"""
    assert found({"A.md": "A heron", "B.md": "? … / –"}, query) == ["A"]


@pytest.mark.parametrize(
    "query",
    [
        "how do I renew my passport",
        "please show me notes about renewing a passport",
        "where was it that I wrote about my passport renewal",
        "Wie kann ich meinen Passport renew?",
    ],
)
def test_words_that_only_ask_are_not_required(query: str) -> None:
    """SEARCH-56"""
    answer = hits_of({"A.md": "Renew the passport in time.", **FILLER}, query)

    assert [hit.path for hit in answer.hits] == ["A.md"]


def test_words_that_only_ask_tell_which_note_comes_first() -> None:
    """SEARCH-56"""
    assert found({"A.md": "Release 3: notes", "B.md": "Release 3: party"}, "release notes") == ["A", "B"]
    assert found({"B.md": "Release 3: party", "A.md": "Release 3: notes"}, "release notes") == ["A", "B"]


def test_a_query_of_such_words_alone_looks_for_them() -> None:
    """SEARCH-56"""
    assert found({"A.md": "To be or not to be", "B.md": "Hamlet"}, "to be or not") == ["A"]
    assert found({"A.md": "My notes", "B.md": "Hamlet"}, "about notes") == ["A"]


@pytest.mark.parametrize(
    "query",
    [
        "2024-03-05",
        "March 5 2024",
        "5 March 2024",
        "March 5th, 2024",
        "5. März 2024",
        "5 mars 2024",
        "05.03.2024",
        "3/5/2024",
        "2024年3月5日",
        "March 5",
        "the 5th of March",
        "3月5日",
    ],
)
@pytest.mark.parametrize("written", ["2024-03-05", "March 5, 2024", "5. März 2024", "2024年3月5日"])
def test_a_day_is_found_in_every_way_of_writing_it(query: str, written: str) -> None:
    """SEARCH-59"""
    vault: dict[str, str | bytes] = {"A.md": f"{written} dentist", "B.md": "2024-05-04 and 1 5 3 2024"}

    assert found(vault, query) == ["A"]


def test_a_month_is_found_in_the_dates_of_it() -> None:
    """SEARCH-59"""
    vault: dict[str, str | bytes] = {
        "2024-03-14 Anna.md": "Hiring.",
        "2024-06-03 Anna.md": "Retrospective.",
        "2023-03-01 Anna.md": "Kickoff.",
    }
    assert found(vault, "Anna March 2024") == ["2024-03-14 Anna"]
    assert sorted(found(vault, "Anna in March")[:2]) == ["2023-03-01 Anna", "2024-03-14 Anna"]
    assert found({"A.md": "We may go.", "2024-05-01.md": "Went."}, "may go") == ["A"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("ﾊﾟｽﾎﾟｰﾄ", "パスポート"),
        ("パスポート", "ﾊﾟｽﾎﾟｰﾄ"),
        ("ぱすぽーと", "パスポート"),
        ("じゃがいも", "ジャガイモ"),
        ("ＡＢＣ＿ｄｅｆ", "abc_def"),
        ("ABC", "ＡＢＣ"),
        ("여권을", "여권이 없다"),
    ],
)
def test_letters_of_other_width_kana_and_endings_are_the_same_word(query: str, text: str) -> None:
    """SEARCH-54"""
    assert found({"A.md": f"これは{text}です", "B.md": "別の本"}, query) == ["A"]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("パスポートを更新するにはどうすればいいですか", "Passport"),
        ("护照怎么更新", "Hùzhào"),
        ("東京の会議", "Meeting"),
    ],
)
def test_a_question_without_spaces_falls_into_its_words(query: str, wanted: str) -> None:
    """SEARCH-54"""
    vault: dict[str, str | bytes] = {
        "Passport.md": "パスポートは十年で更新。",
        "Hùzhào.md": "更新护照的办法。",
        "Meeting.md": "会議の場所は東京。",
        "Polite.md": "するにはどうすればいいですかと聞いた。",
    }
    assert found(vault, query) == [wanted]


@pytest.mark.parametrize("query", ["l'assurance", "d’assurance", "assurance"])
def test_an_article_before_an_apostrophe_is_left_out(query: str) -> None:
    """SEARCH-55"""
    assert found({"A.md": "une assurance", "B.md": "rien"}, query) == ["A"]


@pytest.mark.parametrize("query", ["maxRetryCount", "max_retry_count", "max-retry-count"])
@pytest.mark.parametrize("text", ["maxRetryCount", "max_retry_count", "max-retry-count"])
def test_a_name_of_code_is_found_in_every_style(query: str, text: str) -> None:
    """SEARCH-55"""
    assert found({"A.md": f"Set {text} to 3.", "B.md": "retry, max: count"}, query)[0] == "A"


def test_words_with_symbols_are_exact_until_any_of_the_words_will_do() -> None:
    """SEARCH-50"""
    vault: dict[str, str | bytes] = {"A.md": "C++ templates", "B.md": "C templates", "C.md": "HEAD of a branch"}

    assert found(vault, "C++ templates")[0] == "A"
    assert found(vault, "HEAD~3") == ["C"]


def test_what_is_asked_for_exactly_stays_so_when_a_search_widens() -> None:
    """SEARCH-57"""
    vault: dict[str, str | bytes] = {"A.md": "red apple #fruit", "B.md": "green apple"}

    assert found(vault, "tag:fruit zebra apple") == ["A"]
    assert found(vault, '"green apple" zebra') == []
    assert found(vault, "apple zebra -red") == ["B"]


def test_words_of_a_script_are_stemmed_in_its_language_whatever_the_vault() -> None:
    """SEARCH-52"""
    assert found({"A.md": "Упражнения для спины", "B.md": "Дом"}, "упражнение спина") == ["A"]


GERMAN = "der die das und nicht ist mit für eine auch"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Dachdeckerangebot", "Das Angebot der Dachdeckerei"),
        ("Haushaltsplanung", "Planung für den Haushalt"),
        ("Müllabfuhr", "Der Müll: Abfuhr dienstags"),
    ],
)
def test_a_compound_that_no_note_has_is_two_words(query: str, text: str) -> None:
    """SEARCH-55"""
    assert found({"A.md": text, "B.md": GERMAN, "C.md": "Angebot, Haushalt, Abfuhr"}, query) == ["A"]
    assert found({"A.md": text, "C.md": "Angebot, Haushalt, Abfuhr"}, query) == []


@pytest.mark.parametrize(("count", "expected"), [(1, 0), (2, 1)])
def test_a_quotation_does_not_make_the_language_of_many_notes(count: int, expected: int) -> None:
    """SEARCH-52"""
    vault = {f"{n}.md": "text" for n in range(500)} | {f"German {n}.md": GERMAN for n in range(count)}
    vault["A.md"] = "Das Haus am See"

    assert len(found(vault, "Häuser")) == expected


def test_all_files_with_other_spellings_of_a_single_word_are_listed() -> None:
    """SEARCH-86"""
    vault: dict[str, str | bytes] = {f"{n}.md": f"heron {n}" for n in range(60)}

    assert hits_of(vault, "heorn").total == 60


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Mueller", "Müller"),
        ("Muller", "Müller"),
        ("Müller", "Mueller"),
        ("Straße", "Strasse"),
        ("Strasse", "Straße"),
        ("resume", "résumé"),
        ("résumé", "resume"),
        ("oeuvre", "œuvre"),
        ("Lodz", "Łódź"),
        ("елка", "ёлка"),
    ],
)
def test_accents_and_umlauts_may_be_left_out_or_added(query: str, text: str) -> None:
    """SEARCH-52"""
    assert found({"A.md": text, "B.md": "Moller, Trasse, sumo, over"}, query) == ["A"]


def test_the_form_that_was_asked_for_comes_before_others() -> None:
    """SEARCH-61"""
    vault = {"Plural.md": "Two boilers here.", "Same.md": "Some boiler here.", "Verb.md": "It was boiled here."}

    assert found(vault, "boiler") == ["Same", "Plural"]
    assert found(vault, "boilers") == ["Plural", "Same"]


def test_a_name_that_is_all_of_the_words_comes_before_longer_ones() -> None:
    """SEARCH-61"""
    names = ["Tax return", "Tax return 2022 of the office", "How to file a tax return"]

    assert found({f"{name}.md": "Sums." for name in names}, "tax retrn")[0] == "Tax return"


class Counting(Vocabulary):
    passes = 0

    def words_containing(self, part: str, *, from_start: bool = False, to_end: bool = False) -> list[str]:
        Counting.passes += 1
        return super().words_containing(part, from_start=from_start, to_end=to_end)

    def plainly_containing(self, part: str, *, from_start: bool = True, to_end: bool = True) -> list[str]:
        Counting.passes += 1
        return super().plainly_containing(part, from_start=from_start, to_end=to_end)


def test_an_absent_word_costs_few_passes_over_the_vocabulary() -> None:
    lexicon = Lexicon(Counting(1, b"\nheron\ncanal\n"), ("english", "french", "italian"), list)
    Counting.passes = 0
    assert lexicon.variants("xylophone") == lexicon.find_near_words("xylophone") == {}

    assert Counting.passes <= 5


def test_hidden_files_are_not_found() -> None:
    """SEARCH-19"""
    with indexed({"A.md": "heron", "Hidden/B.md": "heron"}) as vault:
        search = Search(vault.indexer, vault.catalog, vault.read, lambda: IgnoreFilters(("Hidden/",)))
        assert [hit.path for hit in search.find(Request("heron")).hits] == ["A.md"]


PIECES = st.sampled_from(
    (
        *"aé漢かカｶ한кλ😀9０ﾟ㎏的を\u0301-–?_./  ",
        *("ab", "C++", "l'", "3月", "2024", "März", "5.", "heron", "Node", "JS", "OR", "#x", "1234567", "について"),
    )
)


@given(st.lists(PIECES, min_size=1, max_size=8).map("".join), st.lists(PIECES, max_size=30).map("".join))
@example("x", "a3月")
@example("x", "０5.5.2024")
@examples(150)
def test_every_word_of_a_note_finds_it_whatever_it_is_made_of(query: str, text: str) -> None:
    """SEARCH-50: alone, as it stands there; and no query fails in a way of its own."""
    with indexed({"N.md": text, "Other.md": query}) as vault:
        search = search_of(vault)
        for searched in (query, *text.split()):
            try:
                read = parse(searched)
            except QueryInvalid:
                continue
            hits = search.find(Request(searched, snippets=3)).hits
            if searched != query and read == Word(searched) and is_smart(read):
                assert "N.md" in {hit.path for hit in hits}, searched


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ("Alias 40", '[key:"alias 40"]'),
        ("[One, Alias 40]", "[key:lias]"),
        ("\u212aelvin", '[key:"kelvin"]'),
        ("\u017ftreet", "[key:STREET]"),
        ("'say \"hi\" now'", "[key:hi]"),
        ("'say \"hi\"'", '[key:"say \\"hi\\""]'),
        ("1e16", "[key:10000000000000000]"),
        ("3.0", '[key:"3"]'),
        ("true", "[key:tru]"),
        ("'[[Trips/Rome|The city]]'", '[key:"the city"]'),
    ],
)
@pytest.mark.parametrize("match", ["smart", "exact"])
def test_a_value_of_a_property_is_found_however_it_is_stored(value: str, query: str, match: MatchMode) -> None:
    """SEARCH-45, QUERY-51: values that cannot match are left out before they are read."""
    contents = {"Note.md": f"---\nkey: {value}\n---\n", "Other.md": "---\nkey: quite another\n---\n"}
    with indexed(contents) as vault:
        hits = search_of(vault).find(Request(query, match)).hits
    assert [hit.path for hit in hits] == ["Note.md"]
