"""The pages of the sign-in in Chromium: from the request of a program to its tokens (specs/remote.md OAUTH)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.foreign.sign_in.conftest import PATIENCE, Callback
from tests.foreign.views.reference_host import barriers
from tests.serve.http.oauth.flow import PASSWORD, Program

if TYPE_CHECKING:  # the folder is skipped where the package is absent
    from playwright.sync_api import Browser, Page


@pytest.fixture(params=["light", "dark"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page as wide as a telephone. At its end, nothing was fetched from elsewhere, and no policy was broken."""
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=request.param)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert [text for text in complaints if "Failed to load resource" not in text] == []  # wrong guesses, the icon


def sign_in(page: Page, program: Program, secret: str = PASSWORD) -> None:
    page.goto(program.request())
    page.get_by_label("Password").fill(secret)
    page.get_by_role("button", name="Continue").click()


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def answer(callback: Callback) -> dict[str, str]:
    (path,) = callback.answers
    return dict(parse_qsl(urlsplit(path).query))


def test_the_owner_signs_in_and_allows_and_the_program_gets_its_tokens(
    page: Page, program: Program, callback: Callback
) -> None:
    """OAUTH-16, OAUTH-20, OAUTH-23, OAUTH-26: at the width of a telephone, for everybody"""
    page.goto(program.request())
    assert barriers(page.main_frame) == []
    assert fits(page)
    page.get_by_label("Password").fill("something else entirely")
    page.get_by_role("button", name="Continue").click()
    assert page.get_by_role("alert").is_visible()
    assert barriers(page.main_frame) == []
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()

    assert page.get_by_role("radio", name="Read only").is_checked()
    assert barriers(page.main_frame) == []
    assert fits(page)
    page.get_by_role("radio", name="Read and write").check()
    page.get_by_label("Where", exact=True).select_option(label="Projects")
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url("**/callback**")

    assert page.title() == "done"
    tokens = program.redeem(answer(callback)["code"]).json()
    assert tokens["scope"] == "vault:read vault:write"


def test_no_is_an_answer(page: Page, program: Program, callback: Callback) -> None:
    """OAUTH-16: without the password, too"""
    page.goto(program.request())
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_url("**/callback**")

    assert answer(callback)["error"] == "access_denied"


def test_the_keyboard_suffices(page: Page, program: Program, callback: Callback) -> None:
    """OAUTH-26"""
    page.goto(program.request())
    page.locator("input:focus").wait_for()  # it gets the focus when the page is painted
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Allow").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.get_by_role("radio", name="Read and write").is_checked()
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/callback**")

    assert program.redeem(answer(callback)["code"]).json()["scope"] == "vault:read vault:write"


def test_read_only_is_chosen_whatever_the_browser_remembers(page: Page, program: Program) -> None:
    """OAUTH-23, OAUTH-26: a page that is loaded again begins anew, and one that was left is not kept"""
    sign_in(page, program)
    page.get_by_role("radio", name="Read and write").check()
    page.get_by_label("Where", exact=True).select_option(label="Projects")

    page.reload()

    assert page.get_by_role("radio", name="Read only").is_checked()
    assert page.get_by_label("Where", exact=True).input_value() == "basic/"
    page.goto("about:blank")
    with pytest.raises(Exception, match="ERR_CACHE_MISS"):
        page.go_back()


def test_the_way_back_may_lead_on_to_another_place(page: Page, program: Program, callback: Callback) -> None:
    """OAUTH-26: hosts send the browser on to their own window; a form-action would block that"""
    other = Callback()
    callback.onward = other.address.replace("127.0.0.1", "localhost") + "?onward"
    sign_in(page, program)
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url("**/callback?onward")

    assert other.answers == ["/callback?onward"]
    other.close()


def test_it_works_without_script(browser: Browser, program: Program, callback: Callback) -> None:
    """OAUTH-26"""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, program)
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url("**/callback**")
    context.close()

    assert answer(callback)["code"].startswith("omc_")


def test_no_other_site_can_frame_a_page_or_send_its_form(browser: Browser, program: Program, url: str) -> None:
    """OAUTH-25, OAUTH-26"""
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, program)
    ticket = page.locator("input[name=ticket]").get_attribute("value")
    body = (
        f"<iframe src='{program.request()}'></iframe><form method=post action='{url}/authorize'>"
        f"<input name=ticket value='{ticket}'><input name=step value=consent><input name=access value=write>"
        "<input name=place value='basic/'><button name=answer value=allow>Win a prize</button></form>"
    )
    with evil_site(body) as address:
        attack = context.new_page()
        attack.goto(address)
        framed = attack.frames[1]
        framed.wait_for_load_state()
        assert framed.get_by_label("Password").count() == 0
        attack.get_by_role("button").click()
        attack.get_by_role("heading", name="Not from here").wait_for()
    context.close()


class evil_site:  # noqa: N801  a context manager
    """Another site with one page."""

    def __init__(self, body: str) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://localhost:{self._server.server_port}/"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
