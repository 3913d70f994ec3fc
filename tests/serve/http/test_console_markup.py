"""How the console writes HTML (specs/console.md UI-20)."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.serve.http.console.fields import write_query
from obsidian_mcp.serve.http.console.markup import Markup, element, join
from tests.examples import examples


class Reader(HTMLParser):
    """Reads a page as a browser does: its elements, its text and its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.text = ""
        self.attributes: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")))
@examples(200)
def test_whatever_a_note_holds_is_text(text: str) -> None:
    """UI-20"""
    reader = Reader()
    reader.feed(element("p", text, title=text))
    reader.close()

    assert reader.elements == ["p"]
    assert reader.text == text
    assert reader.attributes == [text]


def test_markup_stays_and_what_is_absent_is_left_out() -> None:
    assert element("p", element("b", "<"), None, class_="x", hidden=True, id=None, lang=False) == (
        '<p class="x" hidden><b>&lt;</b></p>'
    )
    assert join(Markup("<br>"), "&") == "<br>&amp;"
    assert element("input", value='"', aria_label="a") == '<input value="&quot;" aria-label="a">'


def test_half_a_character_and_nul_are_shown_as_unreadable() -> None:
    assert element("p", "a\udc80\0b") == "<p>a\ufffd\ufffdb</p>"


def test_an_address_has_only_what_says_something() -> None:
    assert write_query(change=3, path="a b&c", vault="", since=None) == "?change=3&path=a+b%26c"
    assert write_query(vault="") == ""
