"""The part Changes of the console in Chromium (specs/console.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.foreign.console.conftest import PATIENCE, ServedConsole
from tests.foreign.sign_in.test_pages import evil_site
from tests.foreign.views.reference_host import barriers

if TYPE_CHECKING:  # the folder is skipped where the package is absent
    from playwright.sync_api import Browser, Page

BEFORE = (
    "---\nstatus: open\n---\n# Escapement\n\nThe oil is thin, see the [[Alpha|plan]].\n\n"
    + "Line\n" * 9
    + "| part | mm |\n| --- | --- |\n| wheel | 42 |\n\n```py\nspeed = 1\n```\n"
)
AFTER = BEFORE.replace("open", "done").replace("thin", "thick").replace("[[Alpha|", "[[Home|").replace("42", "43")
WIDE = "x" * 300 + " " + "| a " * 80 + "\n"


def go(page: Page, console: ServedConsole, address: str) -> None:
    """Go to an address of the console in which the page is."""
    page.goto("/".join(page.url.split("/")[:5]) + "/" + address)


def check_page(page: Page) -> None:
    """Nothing is cut, nothing is in anybody's way."""
    assert barriers(page.main_frame) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    cut = page.evaluate(
        """[...document.querySelectorAll('main *:not(iframe, pre, .hidden-text)')].filter((element) =>
            element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== 'visible'
        ).map((element) => element.outerHTML)"""
    )
    assert cut == []


def test_the_pages_are_whole_and_for_everybody(page: Page, console: ServedConsole) -> None:
    """UI-31, UI-34, UI-36, UI-38: at both sizes, light and dark"""
    number = console.rewrite("Projects/Escapement", BEFORE, AFTER)
    console.rewrite("Wide", WIDE, WIDE.replace("a", "b") + WIDE)
    for address in (
        "changes",
        f"changes?change={number}",
        f"changes?conversation={number}",
        f"changes?change={number}&path=Projects%2FEscapement.md&view=versions",
        "changes?change=999999",
    ):
        go(page, console, address)
        check_page(page)
    go(page, console, f"changes?change={number + 2}")
    check_page(page)


def test_one_hunk_is_taken_back_and_brought_again_and_back_leads_back(page: Page, console: ServedConsole) -> None:
    """UI-07, UI-35"""
    number = console.rewrite("Taken", BEFORE, AFTER)
    file = console.root / "Taken.md"
    go(page, console, "changes")
    page.get_by_role("link", name="Changed Taken.md").first.click()
    page.get_by_role("button", name="Undo this part: 2 of Taken.md").click()
    page.get_by_role("status").get_by_text(f"A part of change {number} was taken back.").wait_for()

    assert file.read_text(encoding="utf-8") == AFTER.replace("43", "42")
    check_page(page)
    page.get_by_role("button", name="Bring it back").click()
    page.get_by_role("heading", name="Changed Taken.md", level=1).wait_for()
    assert file.read_text(encoding="utf-8") == AFTER
    go(page, console, "changes?show=new")
    page.get_by_role("link", name="All", exact=True).click()
    page.go_back()
    assert page.url.endswith("?show=new")


def test_a_conflict_is_shown_as_two_sides_and_the_person_chooses(page: Page, console: ServedConsole) -> None:
    """UI-37"""
    console.rewrite("Disputed", BEFORE, AFTER)
    mine = AFTER.replace("# Escapement", "# My heading")
    (console.root / "Disputed.md").write_text(mine, encoding="utf-8", newline="\n")
    go(page, console, "changes")
    page.get_by_role("link", name="Changed Disputed.md").first.click()
    page.get_by_role("button", name="Undo this change").click()
    page.get_by_role("alert").wait_for()

    check_page(page)
    assert page.get_by_role("heading", name="What happened since").is_visible()
    page.get_by_role("button", name="Put the old text back").click()
    page.get_by_role("status").wait_for()
    assert (console.root / "Disputed.md").read_text(encoding="utf-8") == BEFORE


@pytest.mark.parametrize("page", ["desk"], indirect=True)
@pytest.mark.parametrize("scheme", ["light"], indirect=True)
def test_the_versions_of_a_hostile_note_run_nothing_in_the_console(page: Page, console: ServedConsole) -> None:
    """UI-20, UI-21"""
    hostile = (
        "<script>top.pwned = 1</script><img src=x onerror='top.pwned = 1'>\n\n[x](javascript:top.pwned=1) **bold**\n"
    )
    number = console.rewrite("Hostile", "# Tame\n", hostile)
    go(page, console, f"changes?change={number}&path=Hostile.md&view=versions")
    page.frame_locator("iframe").nth(1).locator("strong").wait_for()

    assert page.evaluate("'pwned' in window") is False
    frame = page.frames[2]
    assert frame.evaluate("self.origin") == "null"
    with pytest.raises(Exception, match="Failed to read the 'cookie' property"):
        frame.evaluate("document.cookie")


@pytest.mark.parametrize("page", ["desk"], indirect=True)
@pytest.mark.parametrize("scheme", ["light"], indirect=True)
def test_the_token_is_gone_from_the_address_and_the_cookie_is_for_nobody_else(
    page: Page, console: ServedConsole
) -> None:
    """UI-01, UI-02"""
    assert "token" not in page.url
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert cookie["path"] == page.url.removeprefix(console.url).rpartition("/")[0]
    page.go_back()
    assert "token" not in page.url


@pytest.mark.parametrize("page", ["desk"], indirect=True)
@pytest.mark.parametrize("scheme", ["light"], indirect=True)
def test_a_page_from_another_origin_can_do_none_of_it(page: Page, console: ServedConsole) -> None:
    """UI-03, UI-05, UI-06: it knows the address and the token of the form, and is on this computer"""
    number = console.rewrite("Target", BEFORE, AFTER)
    go(page, console, f"changes?change={number}")
    token = page.locator("input[name=token]").first.get_attribute("value")
    address = page.url
    body = (
        f"<iframe src='{address}'></iframe><form method=post action='{address.partition('?')[0]}'>"
        f"<input name=token value='{token}'><input name=do value=undo><input name=change value={number}>"
        "<button>Win a prize</button></form>"
    )
    attack = page.context.new_page()
    for host in ("localhost", "127.0.0.1"):
        with evil_site(body) as site:
            attack.goto(site.replace("localhost", host))
            framed = attack.frames[1]
            framed.wait_for_load_state()
            assert framed.get_by_role("button", name="Undo").count() == 0
            read = attack.evaluate(
                "address => fetch(address, {credentials: 'include'}).then((answer) => answer.text(), () => 'refused')",
                address,
            )
            assert read == "refused"
            attack.get_by_role("button").click()
            attack.get_by_role("heading", name="Forbidden").wait_for()
            assert attack.get_by_text("Target").count() == 0
    attack.close()
    assert (console.root / "Target.md").read_text(encoding="utf-8") == AFTER


def test_it_works_without_script(browser: Browser, console: ServedConsole, scheme: str) -> None:
    """UI-07"""
    console.rewrite("Plain", BEFORE, AFTER)
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(console.address())
    page.wait_for_url("**/changes")
    page.get_by_role("link", name="Changed Plain.md").first.click()
    page.get_by_role("button", name="Undo this change").click()
    page.get_by_role("status").wait_for()
    context.close()

    assert (console.root / "Plain.md").read_text(encoding="utf-8") == BEFORE
