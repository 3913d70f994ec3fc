"""Privacy and Apps in a browser: nothing is cut, all can read them, folders are hidden and keys revoked.

specs/console.md UI-50 to UI-73.
"""

from __future__ import annotations

import tomllib

from playwright.sync_api import Page, expect

from obsidian_mcp.setup import api_keys
from obsidian_mcp.setup.api_keys import KeyLimits
from tests.foreign.views.reference_host import barriers
from tests.vaults import write_files

from .conftest import ServedConsole


def check_page(page: Page) -> None:
    """Nothing of a page is cut, and axe-core finds nothing."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert barriers(page.main_frame) == []


def test_a_folder_is_hidden_by_a_click_and_a_key_revoked(page: Page, console: ServedConsole) -> None:
    """UI-50 to UI-54, UI-71, UI-72"""
    policy = console.app.config.policy_file
    policy.write_text('# mine\nhidden = ["*.key"]\n', encoding="utf-8", newline="\n")
    api_keys.add_key(console.app.config, "phone", KeyLimits(folder="Projects"))
    write_files(console.root, {"Private/Diary.md": "x", "A folder with a long name that goes on and on/x.md": ""})
    page.get_by_role("link", name="Privacy").click()
    check_page(page)
    row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Private/"))
    expect(row).to_contain_text("seen by apps on this computer; hidden from phone")
    expect(page.locator(".fault")).to_have_text("matches nothing")

    row.get_by_role("button", name="Hide").click()

    expect(page.get_by_role("status")).to_have_text("Hidden from all apps.")
    expect(row).to_contain_text("hidden from apps on this computer, phone")
    check_page(page)
    written = policy.read_text(encoding="utf-8")
    assert tomllib.loads(written)["hidden"] == ["*.key", "/Private/"]
    assert written.startswith("# mine\n")
    row.get_by_role("link").click()
    expect(page.get_by_role("navigation", name="Folder")).to_contain_text("Private")
    page.go_back()
    page.get_by_role("button", name="Stop hiding").click()
    expect(row).to_contain_text("seen by apps on this computer")

    page.get_by_role("link", name="Apps").click()
    check_page(page)
    page.get_by_role("button", name="Revoke phone").click()
    expect(page.get_by_role("status")).to_have_text("phone may no longer come in.")
    check_page(page)
    assert "keys" not in tomllib.loads(policy.read_text(encoding="utf-8"))


def test_a_page_of_another_origin_hides_and_revokes_nothing(page: Page, console: ServedConsole) -> None:
    """UI-73"""
    policy = console.app.config.policy_file
    policy.unlink(missing_ok=True)
    api_keys.add_key(console.app.config, "phone", KeyLimits())
    before = policy.read_bytes()
    folder = page.url.rpartition("/")[0]
    for part, fields in (("privacy", "do=hide&pattern=/Projects/"), ("apps", "do=end&name=phone")):
        names = "".join(
            f'<input name="{name}" value="{value}">'
            for name, _, value in (pair.partition("=") for pair in fields.split("&"))
        )
        foreign = page.context.new_page()
        foreign.set_content(f'<form method="post" action="{folder}/{part}">{names}<button>Win</button></form>')
        with foreign.expect_response(f"{folder}/{part}") as response:
            foreign.get_by_role("button").click()
        assert response.value.status == 403
        foreign.close()
    assert policy.read_bytes() == before
