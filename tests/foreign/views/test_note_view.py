"""The view of a note, in a browser (specs/views.md VIEW-40 to VIEW-43), and notes that want to break out of it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FrameLocator, Locator, expect

from tests.serve.mcp.test_resources import PIXEL

from .reference_host import ReferenceHost

TOOL = "obsidian_show_note"
WIDE = {"displayMode": "fullscreen"}

RICH = """---
tags: [a, b]
owner: "[[Home]]"
---
# Rich

Text with ==marked== words, #tag/nested, 2026 #2026, a footnote[^1], `[[code]]` and ~~gone~~. ^block-1

> [!warning]- Fold *me*
> Hidden [[Home]]

> [!note]
> Plain

%% a comment
over lines %%

- [x] done
- [ ] to do with [[Nowhere]]

| a | b |
| --- | --- |
| [[Home\\|start]] | 1 |

![[Home]] ![[pixel.png|40]] ![far](https://example.com/far.png) [web](https://example.com/page)

$$x^2$$

```mermaid
graph TD
```

[to the block](#^block-1)

## Second part

[^1]: The *footnote*.
"""


def article(view: FrameLocator) -> Locator:
    return view.locator("article")


@pytest.mark.parametrize("notes", [{"Rich.md": RICH, "pixel.png": PIXEL}])
def test_markdown_is_shown_as_the_app_shows_it(host: ReferenceHost) -> None:
    """VIEW-41, VIEW-42, VIEW-43"""
    view = host.show(TOOL, {"path": "Rich"}, context=WIDE)
    text = article(view)
    expect(text.locator("section")).to_contain_text("The footnote.")
    expect(text.locator("mark")).to_have_text("marked")
    expect(text.locator(".tag")).to_have_text(["#tag/nested"])
    expect(text.locator("sup")).to_have_text("[1]")
    expect(text.locator("p code").first).to_have_text("[[code]]")
    expect(text.locator("del")).to_have_text("gone")
    expect(text).not_to_contain_text("comment")
    expect(text).not_to_contain_text("^block-1 ")
    fold = text.locator("details.callout")
    expect(fold.locator("summary")).to_have_text("warning Fold me")
    expect(fold.get_by_role("button", name="Home")).to_be_hidden()
    fold.locator("summary").click()
    expect(fold.get_by_role("button", name="Home")).to_be_visible()
    expect(text.locator("div.callout")).to_contain_text("Note")
    expect(text.locator(".box")).to_have_count(2)
    expect(text.get_by_label("done", exact=True)).to_be_visible()
    expect(text.locator(".missing")).to_contain_text("Nowhere (not created)")
    expect(text.locator("td").get_by_role("button", name="start")).to_be_visible()
    expect(text.locator(".embed")).to_contain_text("Note: Home")
    expect(text.locator("canvas")).to_have_attribute("aria-label", "pixel.png")
    expect(text.get_by_role("button", name="Image, not loaded: far")).to_be_visible()
    expect(text.locator("pre").first).to_have_text("x^2")
    expect(text.locator("pre").last).to_contain_text("graph TD")
    expect(view.locator(".properties dd")).to_have_text(["a, b", "Home"])
    canvas = text.locator("canvas")
    expect(canvas).to_have_js_property("width", 1)
    assert ("obsidian_attachments", {"name": "pixel.png", "vault": "basic"}) in host.calls


@pytest.mark.parametrize("notes", [{"Rich.md": RICH}])
def test_links_lead_to_notes_headings_blocks_and_the_web(host: ReferenceHost) -> None:
    """VIEW-41"""
    view = host.show(TOOL, {"path": "Rich"}, context=WIDE)
    text = article(view)
    text.get_by_role("button", name="to the block").click()
    expect(text.locator("[data-block='block-1']")).to_be_focused()
    view.locator(".outline summary").click()
    view.get_by_role("button", name="Second part").click()
    expect(text.locator("h2")).to_be_focused()
    text.get_by_role("button", name="web").click()
    assert host.sent("ui/open-link") == [{"url": "https://example.com/page"}]
    text.get_by_role("button", name="start").click()
    expect(view.locator("header h1")).to_have_text("Home")
    expect(view.locator("article").get_by_role("button", name="Project Alpha")).to_be_visible()
    view.get_by_role("button", name="Back").click()
    expect(view.locator("header h1")).to_have_text("Rich")


def test_a_heading_that_is_named_is_scrolled_to(viewer: ReferenceHost) -> None:
    """VIEW-40"""
    view = viewer.show(TOOL, {"path": "Alpha", "heading": "Measurements"})
    expect(article(view).locator("h3")).to_be_focused()


@pytest.mark.parametrize("notes", [{"Long.md": "".join(f"Paragraph {number}.\n\n" for number in range(6000))}])
def test_a_long_note_goes_on_when_asked(host: ReferenceHost) -> None:
    """VIEW-10, VIEW-40"""
    view = host.show(TOOL, {"path": "Long"})
    expect(view.get_by_role("button", name=re.compile("Show more"))).to_be_visible()
    expect(view.get_by_role("button", name="Load more")).to_be_visible()
    assert view.locator("#view").evaluate("view => view.offsetHeight") <= 560
    view.get_by_role("button", name="Load more").click()
    expect(view.locator("article p")).to_have_count(11)  # those of the first page that are shown, and the next
    expect(view.locator("article")).to_contain_text("Paragraph 0.")
    assert [arguments.get("offset", 0) > 0 for name, arguments in host.calls if name == "obsidian_note_page"] == [
        False,
        True,
    ]


def test_without_tools_the_beginning_is_shown(viewer: ReferenceHost) -> None:
    """VIEW-11"""
    view = viewer.show(TOOL, {"path": "Alpha"}, capabilities={}, context=WIDE)
    expect(article(view)).to_contain_text("a small escapement that needs no oil")
    expect(article(view).get_by_role("button")).to_have_count(0)
    assert viewer.calls == []


ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x dur=1s></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<a href='javascript:alert(1)'>press</a> <a href='https://example.com/'>press</a>",
    "[press](javascript:alert(1)) [press](data:text/html,<script>alert(1)</script>) [press](vbscript:x)",
    "![x](javascript:alert(1)) ![x](https://example.com/x.png)",
    "<iframe src='https://example.com/'></iframe><object data='https://example.com/'></object><embed src='x'>",
    "<style>* { background: url(https://example.com/css) }</style>",
    "<div style='background:url(https://example.com/s)'>s</div>",
    "<link rel=stylesheet href=https://example.com/l><base href=https://example.com/>",
    "<meta http-equiv=refresh content='0;x'>",
    "<form action='https://example.com/'><input name=x><button>press</button></form>",
    "<details open ontoggle=alert(1)>x</details><video src=https://example.com/v onloadstart=alert(1)></video>",
    "</script><script>alert(1)</script>",
    "[[</script><img src=x onerror=alert(1)>]] [[x|<img src=x onerror=alert(1)>]] #<img/src/onerror=alert(1)>",
    "==<img src=x onerror=alert(1)>== $<img src=x onerror=alert(1)>$ [^<img src=x onerror=alert(1)>]",
    "\n[^<img src=x onerror=alert(1)>]: <img src=x onerror=alert(1)>\n",
    "> [!<img src=x onerror=alert(1)>] <img src=x onerror=alert(1)>\n> text",
    "<span data-part='0'>press</span><span id=view>x</span><span class=primary>x</span>",
    "```<img src=x onerror=alert(1)>\n<img src=x onerror=alert(1)>\n```",
]
HOSTILE = "<img src=x onerror=alert(1)>"


FRONTMATTER = (
    f"---\n'{HOSTILE}': '{HOSTILE}'\ntags: ['{HOSTILE}']\n---\n"
    f"# {HOSTILE} </script><script>alert(1)</script>\n\n## x\n\n"
)
ALONE = [attack for attack in ATTACKS if "<!--" in attack or "</form>" in attack]
"""These swallow what follows."""
TOGETHER = "\n\n".join(attack for attack in ATTACKS if attack not in ALONE)
EVIL = {f"Evil{number}.md": f"{FRONTMATTER}{text}\n\npress\n" for number, text in enumerate([TOGETHER, *ALONE])}
ATTRIBUTES = {"class", "type", "title", "role", "tabindex", "aria-label", "data-block", "align", "open"}
FORBIDDEN = {
    "SCRIPT",
    "IMG",
    "SVG",
    "MATH",
    "STYLE",
    "IFRAME",
    "FORM",
    "INPUT",
    "LINK",
    "OBJECT",
    "EMBED",
    "A",
    "VIDEO",
}


@pytest.mark.parametrize("notes", [EVIL])
def test_a_hostile_note_executes_nothing(host: ReferenceHost, notes: dict[str, str]) -> None:
    """VIEW-08: that no dialog, request, error or popup came is checked at the end of the fixture, too."""
    for path in notes:
        view = host.show(TOOL, {"path": path}, context=WIDE)
        expect(view.locator(".outline")).to_be_attached()
        host.page.wait_for_function("answered > 0")  # the whole text has come
        found = article(view).evaluate(
            """async text => {
                const all = text.ownerDocument.querySelectorAll("summary, details, button, article *");
                for (const each of all) each.click();
                await new Promise(done => setTimeout(done, 50));
                return [...text.querySelectorAll("*")].map(
                    each => [each.tagName.toUpperCase(), [...each.attributes].map(one => one.name)]);
            }"""
        )
        assert len(found) >= 2, path
        assert not {tag for tag, _ in found} & FORBIDDEN, path
        assert {name for _, names in found for name in names} <= ATTRIBUTES, path
        opened = [told["url"] for told in host.log("ui/open-link")]
        assert set(opened) <= {"https://example.com/", "https://example.com/x.png"}, path
        assert host.violations == [], path
    assert {name for name, _ in host.calls} == {"obsidian_note_page"}


@pytest.mark.parametrize("notes", [{f"{HOSTILE}.md": f"[[Home]] [[{HOSTILE}]]\n- [ ] {HOSTILE}\n"}])
def test_hostile_names_are_text_in_the_other_views_too(host: ReferenceHost) -> None:
    """VIEW-08"""
    view = host.show("obsidian_show_graph", {"note": HOSTILE}, context=WIDE)
    expect(view.locator("h1")).to_contain_text(HOSTILE)
    view.get_by_role("button", name="List", exact=True).click()
    expect(view.locator(".tree")).to_contain_text(HOSTILE)
    edit = {"name": HOSTILE, "operation": "append", "content": HOSTILE}
    view = host.show("obsidian_show_changes", {"tool": "edit_note", "arguments": edit})
    view.locator(".opener").click()
    expect(view.locator(".add").last).to_contain_text(HOSTILE)
    view = host.show("obsidian_show_query", {"language": "tasks", "query": "path includes onerror"})
    expect(view.get_by_role("checkbox", name=HOSTILE)).to_be_visible()
