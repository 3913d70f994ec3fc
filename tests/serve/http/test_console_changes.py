"""The part Changes of the console (specs/console.md UI-30 to 39)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import Client, call_with
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.serve.console_browser import ConsoleBrowser, open_console

LINES = [f"Line {number}\n" for number in range(1, 31)]
NOTE = "---\nstatus: open\n---\n" + "".join(LINES)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    (root / ".obsidian").mkdir(parents=True)
    for name, text in {"Plan.md": NOTE, "Other.md": "See [[Plan]].\n", "Gone.md": "Old\n"}.items():
        (root / name).write_text(text, encoding="utf-8", newline="\n")
    (root / "pixel.png").write_bytes(b"\x89PNG\0old")
    return root


@pytest.fixture
def app(vault: Path) -> Iterator[App]:
    opened = app_on(vault)
    yield opened
    opened.vaults.close()


@pytest.fixture
def browser(app: App) -> Iterator[ConsoleBrowser]:
    with open_console(app) as opened:
        yield opened


def change(app: App, tool: str, by: str = "claude-ai", **arguments: object) -> None:
    with call_with(client=Client(by, by)):
        call(app, f"obsidian_{tool}", arguments)


def rewrite(app: App, name: str, text: str, by: str = "claude-ai") -> None:
    change(app, "create_note", by, name=name, content=text, overwrite=True)


def two_hunks() -> str:
    return NOTE.replace("Line 2\n", "Line two\n").replace("Line 29\n", "Line twentynine\n")


def test_without_a_change_the_page_says_what_will_be_there(browser: ConsoleBrowser) -> None:
    """UI-34"""
    assert "No assistant has changed anything" in browser.text
    assert browser.buttons == ["Sign out"]


def test_new_changes_come_first_by_day_and_app_until_they_are_marked_as_seen(app: App, browser: ConsoleBrowser) -> None:
    """UI-34"""
    rewrite(app, "Plan", two_hunks())
    rewrite(app, "Other", "Else\n", by="cursor")
    browser.reload()

    assert "2 changes to look at." in browser.text
    assert "Today, " in browser.text
    assert browser.text.index("Changed Other.md") < browser.text.index("Changed Plan.md")
    browser.press("Mark all as seen")
    assert "You have looked at everything." in browser.text
    assert "Mark all as seen" not in browser.buttons

    change(app, "delete_note", name="Gone")
    browser.follow("Changes")
    assert "1 change to look at." in browser.text
    assert browser.text.index("Deleted Gone.md") < browser.text.index("Changed Other.md")
    browser.follow("Only new")
    assert "Changed Other.md" not in browser.text
    assert "show=new" in browser.address
    browser.follow("All apps").follow("cursor")
    assert "Deleted Gone.md" not in browser.text


def test_what_was_seen_is_kept_by_us_and_not_in_the_vault(app: App, vault: Path, browser: ConsoleBrowser) -> None:
    """UI-34"""
    rewrite(app, "Plan", two_hunks())
    before = {path: path.stat().st_mtime_ns for path in vault.rglob("*")}
    browser.reload().press("Mark all as seen")

    assert {path: path.stat().st_mtime_ns for path in vault.rglob("*")} == before
    with open_console(app) as again:
        assert "You have looked at everything." in again.text


def test_one_hunk_is_taken_back_and_brought_again(app: App, vault: Path, browser: ConsoleBrowser) -> None:
    """UI-35"""
    rewrite(app, "Plan", two_hunks())
    browser.reload().follow("Changed Plan.md")
    assert "Undo this part: 1 of Plan.md" in browser.buttons

    browser.press("Undo this part: 2 of Plan.md")

    assert (vault / "Plan.md").read_text(encoding="utf-8") == NOTE.replace("Line 2\n", "Line two\n")
    assert "A part of change 1 was taken back." in browser.text
    browser.press("Bring it back")
    assert (vault / "Plan.md").read_text(encoding="utf-8") == two_hunks()
    assert "change=1&" in browser.address
    assert "What was taken back is there again." in browser.text


def test_a_whole_change_and_one_file_of_it_are_taken_back(app: App, vault: Path, browser: ConsoleBrowser) -> None:
    """UI-35, UI-09"""
    change(app, "replace", find="n", content="N", query="-zzz")
    browser.reload()
    browser.go("changes?change=1")
    browser.press("Undo this file: Plan.md")
    assert (vault / "Plan.md").read_text(encoding="utf-8") == NOTE
    browser.press("Undo all of it")
    assert "Change 1 was taken back." in browser.text
    assert "This was taken back by" not in browser.text
    browser.go("changes?change=1")
    assert "This was taken back by change 3." in browser.text
    assert not [button for button in browser.buttons if button.startswith("Undo")]
    browser.follow("All changes")
    assert "You, in this console" in browser.text
    assert "taken back" in browser.text


def test_a_file_that_has_changed_since_is_shown_as_two_sides(app: App, vault: Path, browser: ConsoleBrowser) -> None:
    """UI-37"""
    rewrite(app, "Plan", two_hunks())
    mine = two_hunks().replace("Line 15\n", "Line of mine\n")
    (vault / "Plan.md").write_text(mine, encoding="utf-8", newline="\n")
    browser.reload().follow("Changed Plan.md").press("Undo this change")

    assert browser.status == 409
    assert "What change 1 did" in browser.text
    assert "What happened since" in browser.text
    assert "of mine" in browser.text
    assert (vault / "Plan.md").read_text(encoding="utf-8") == mine
    conflict = browser.address
    browser.press("Take it back, and keep what happened since")
    assert (vault / "Plan.md").read_text(encoding="utf-8") == NOTE.replace("Line 15\n", "Line of mine\n")
    browser.press("Bring it back")
    browser.go(conflict).press("Put the old text back")
    assert (vault / "Plan.md").read_text(encoding="utf-8") == NOTE


def test_what_cannot_be_merged_is_said_and_changes_nothing(app: App, vault: Path, browser: ConsoleBrowser) -> None:
    """UI-37"""
    rewrite(app, "Plan", two_hunks())
    mine = two_hunks().replace("Line two\n", "Line of mine\n")
    (vault / "Plan.md").write_text(mine, encoding="utf-8", newline="\n")
    browser.go("changes?change=1").press("Undo this change").press("Take it back, and keep what happened since")

    assert browser.status == 409
    assert "cannot be merged" in browser.text
    assert "Put the old text back" in browser.buttons
    assert not [button for button in browser.buttons if "keep" in button]
    assert (vault / "Plan.md").read_text(encoding="utf-8") == mine


def test_a_file_that_was_moved_since_is_named_with_its_place(app: App, vault: Path, browser: ConsoleBrowser) -> None:
    """UI-37: there are no two sides of it"""
    change(app, "create_note", name="New", content="x\n")
    change(app, "move_note", name="New", to="Newer")
    browser.go("changes?change=1").press("Undo this change")

    assert browser.status == 409
    assert "'Newer.md'" in browser.text
    assert (vault / "Newer.md").exists()


def test_a_conversation_is_one_review_and_is_taken_back_as_one(app: App, vault: Path, browser: ConsoleBrowser) -> None:
    """UI-36"""
    rewrite(app, "Plan", two_hunks())
    rewrite(app, "Other", "Of somebody else\n", by="cursor")
    rewrite(app, "Plan", two_hunks() + "More\n")
    change(app, "delete_note", name="Gone")
    browser.reload().follow("3 changes by claude-ai")

    assert "Deleted Gone.md" in browser.text
    assert "Of somebody else" not in browser.text
    browser.press("Undo all of these")

    assert (vault / "Plan.md").read_text(encoding="utf-8") == NOTE
    assert (vault / "Gone.md").read_text(encoding="utf-8") == "Old\n"
    assert (vault / "Other.md").read_text(encoding="utf-8") == "Of somebody else\n"
    browser.go("changes").follow("Look at all of them together")
    assert "since=" in browser.address
    assert "Changed Other.md" in browser.text
    assert "This was taken back." in browser.text
    browser.go("changes?since=4")
    assert "Changed Other.md" not in browser.text


def test_a_review_is_taken_back_up_to_the_first_file_that_has_changed_since(
    app: App, vault: Path, browser: ConsoleBrowser
) -> None:
    """UI-36, UI-37"""
    rewrite(app, "Plan", two_hunks())
    change(app, "delete_note", name="Gone")
    (vault / "Plan.md").write_text("Written by hand\n", encoding="utf-8")
    browser.reload().follow("2 changes by claude-ai").press("Undo all of these")

    assert browser.status == 409
    assert "Which one counts?" in browser.text
    assert (vault / "Gone.md").read_text(encoding="utf-8") == "Old\n"
    assert (vault / "Plan.md").read_text(encoding="utf-8") == "Written by hand\n"


def test_moves_deletions_and_binary_files_are_shown(app: App, vault: Path, browser: ConsoleBrowser) -> None:
    """UI-31"""
    change(app, "move_note", name="Plan", to="Folder/Scheme")
    browser.go("changes?change=1")
    assert "Plan.md → Folder/Scheme.md" in browser.text
    assert "[[Plan]]" in browser.text or "Plan" in browser.text
    browser.press("Undo all of it")
    assert (vault / "Plan.md").exists()
    assert (vault / "Other.md").read_text(encoding="utf-8") == "See [[Plan]].\n"


def test_a_change_of_properties_and_links_is_said_by_key_and_target(app: App, browser: ConsoleBrowser) -> None:
    """UI-31, UI-32"""
    rewrite(app, "Plan", "---\nstatus: open\n---\nThe [[Other|way]]\n")
    rewrite(app, "Plan", "---\nstatus: done\n---\nThe [[Gone|way]]\n")
    browser.go("changes?change=2")

    assert "Properties status" in browser.text
    assert "open becomes done" in browser.text
    assert "way leads to Gone, before to Other" in browser.text


def test_nothing_of_a_note_becomes_markup(app: App, browser: ConsoleBrowser) -> None:
    """UI-20, UI-21"""
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)> \"'> [[a|<b>]]\n"
    rewrite(app, "Plan", f"---\n'<i>': '<u>'\n---\n{hostile}")
    for address in ("changes", "changes?change=1", "changes?change=1&path=Plan.md&view=versions"):
        browser.go(address)
        assert browser.status == 200
        assert "<script>alert" not in browser.html
        assert "<img" not in browser.html
    answer = browser.client.get(browser.address.replace("view=versions", "view=version") + "&side=after")
    policy = answer.headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy
    assert "<script>alert" not in answer.text


def test_both_versions_are_shown_on_demand(app: App, browser: ConsoleBrowser) -> None:
    """UI-38"""
    rewrite(app, "Plan", two_hunks())
    browser.go("changes?change=1").follow("Both versions")

    assert "Before" in browser.text
    assert "side=before" in browser.html
    assert 'sandbox="allow-scripts"' in browser.html


@pytest.mark.parametrize(
    "address",
    [
        "changes?change=99",
        "changes?change=1&path=Nowhere.md",
        "changes?change=1&path=Nowhere.md&view=versions",
        "changes?change=1&path=Nowhere.md&view=conflict",
        "changes?change=1&path=Plan.md&view=version",
        "changes?vault=nowhere",
    ],
)
def test_an_address_of_nothing_is_answered_with_a_way_back(app: App, browser: ConsoleBrowser, address: str) -> None:
    change(app, "create_note", name="New", content="x")
    browser.go(address)

    assert browser.status in (200, 400, 409)
    assert "Go on" in browser.links or "side" in address or browser.status == 200


def test_a_change_of_many_files_and_a_list_of_many_changes_are_shown_in_parts(
    app: App, vault: Path, browser: ConsoleBrowser
) -> None:
    """UI-39"""
    names = [f"Many {number:02}" for number in range(45)]
    for name in names:
        (vault / f"{name}.md").write_text("brass\n", encoding="utf-8", newline="\n")
    change(app, "replace", find="brass", content="bronze", names=names)
    browser.go("changes?change=1")
    assert browser.text.count("Undo this file") == 20
    browser.follow("Show 25 more files")
    assert browser.text.count("Undo this file") == 20
    browser.follow("Show 5 more files")
    assert browser.text.count("Undo this file") == 5

    for number in range(52):
        change(app, "edit_note", name="Other", operation="append", content=f"{number}")
    browser.go("changes")
    assert browser.text.count("Changed Other.md") == 50
    browser.follow("Show more (3)")
    assert "Changed 45 files" in browser.text


def test_a_file_of_many_hunks_is_shown_in_parts(app: App, vault: Path, browser: ConsoleBrowser) -> None:
    """UI-39"""
    lines = [f"{number}\n" for number in range(8_000)]
    (vault / "Plan.md").write_text("".join(lines), encoding="utf-8", newline="\n")
    (vault / "Other.md").write_text("brass\n", encoding="utf-8", newline="\n")
    changed = [f"new {line}" if number % 10 == 0 else line for number, line in enumerate(lines)]
    rewrite(app, "Plan", "".join(changed))
    browser.go("changes?change=1")
    shown = browser.text.count("Undo this part")
    assert 300 < shown < 800
    browser.follow(f"Show {800 - shown} more places")
    assert browser.text.count("Undo this part") == 800 - shown
