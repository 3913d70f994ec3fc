"""What the user allows (specs/policy.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from obsidian_mcp.core.files.policy import Policy, process_policy
from obsidian_mcp.core.files.policy_file import PolicyFile
from obsidian_mcp.core.text.call import call_with
from obsidian_mcp.errors import ConfirmationRequired, PermissionDenied, PolicyInvalid, StorageFailed
from obsidian_mcp.serve.http.access.keys import read_keys

TEXT = """
largest_write = "2 KB"
hidden = ["Private/", "*.secret.md"]

[vaults.Notes]
write = ["Inbox/"]
confirm = ["delete"]
permanent_delete = false

[vaults."/home/me/Work"]
read_only = true
hidden = []
"""


def of_key(text: str) -> Policy:
    """What the one key of a file may do in a vault without settings of its own."""
    file = PolicyFile(text)
    (key,) = read_keys(file)
    return file.policy("v", "/v").narrow_by(key.limits.policy)


def test_what_is_hidden_does_not_exist_in_any_case_or_depth() -> None:
    """POL-06"""
    policy = PolicyFile(TEXT).policy("Other", "/x")

    assert [policy.is_visible(path) for path in ("a.md", "Private/a.md", "private/b/c.md", "x/Private/a.md")] == [
        True,
        False,
        False,
        False,
    ]
    assert not policy.is_visible("deep/a.SECRET.md")


def test_a_vault_s_own_settings_win_over_those_for_all() -> None:
    notes = PolicyFile(TEXT).policy("notes", "/x")

    notes.check_write("Inbox/a.md", 2000)
    with pytest.raises(PermissionDenied):
        notes.check_write("a.md")
    with pytest.raises(StorageFailed):
        notes.check_write("Inbox/a.md", 2001)
    with pytest.raises(PermissionDenied):
        notes.check_permanent("Inbox/a.md")
    with pytest.raises(ConfirmationRequired):
        notes.check_confirmed("delete 'a.md'", "delete")
    notes.check_confirmed("move 'a.md'", "move")
    assert PolicyFile(TEXT).policy("Work", "/home/me/Work").is_visible("Private/a.md")


def test_reading_only_forbids_every_write() -> None:
    """POL-03"""
    with pytest.raises(PermissionDenied):
        PolicyFile(TEXT).policy("Work", "/home/me/Work").check_write("a.md")
    with pytest.raises(PermissionDenied):
        process_policy("", read_only=True).check_write("a.md")


def test_what_a_process_hides_and_asks_about_adds_to_the_file() -> None:
    """POL-20"""
    own = process_policy("", read_only=False, hidden=("Diary", "*.draft.md"), confirms_deleting=True)
    policy = PolicyFile('hidden = ["Private/"]\nconfirm = ["move"]').policy("v", "/v").narrow_by(own)

    assert not any(map(policy.is_visible, ("Private/a.md", "Diary/a.md", "x/Diary/b.md", "a.draft.md", "diary/a.md")))
    assert policy.is_visible("Notes/a.md")
    assert policy.confirm == {"move", "delete", "permanent_delete"}
    assert process_policy("", read_only=False) == Policy()


def test_only_what_may_be_read_exists_where_it_is_named() -> None:
    policy = PolicyFile('read = ["Public/", "/Index.md"]').policy("v", "/v")

    assert policy.is_visible("Public/x/a.md")
    assert policy.is_visible("Index.md")
    assert not policy.is_visible("a/Index.md")


def test_an_empty_list_of_what_may_be_read_or_changed_allows_nothing() -> None:
    """POL-16: it was taken for no list, which allows everything."""
    text = 'write = []\n[vaults.Closed]\nread = []\n[keys.phone]\nkey = "of sixteen letters"\nread = []\n'
    policy = PolicyFile(text).policy("v", "/v")

    assert policy.is_visible("a.md")
    with pytest.raises(PermissionDenied):
        policy.check_write("a.md")
    assert not PolicyFile(text).policy("Closed", "/v").is_visible("a.md")
    assert not of_key(text).is_visible("a.md")


@pytest.mark.parametrize(
    ("strict", "wide", "check"),
    [
        ("read_only = true", "read_only = false", lambda policy: policy.check_write("a.md")),
        ('write = ["Inbox/"]', 'write = ["*"]', lambda policy: policy.check_write("a.md")),
        ('read = ["Inbox/"]', 'read = ["*"]', lambda policy: policy.check_write("a.md")),
        ('hidden = ["a.md"]', "hidden = []", lambda policy: policy.check_write("a.md")),
        ('scope = "Inbox"', "", lambda policy: policy.check_write("a.md")),
        ("largest_write = 3", "largest_write = 9", lambda policy: policy.check_write("a.md", 4)),
        ("permanent_delete = false", "permanent_delete = true", lambda policy: policy.check_permanent("a.md")),
        ('confirm = ["edit"]', "confirm = []", lambda policy: policy.check_confirmed("edit 'a.md'", "edit")),
        (
            "confirm_after_hidden_text = true",
            "confirm_after_hidden_text = false",
            lambda policy: policy.check_confirmed("edit 'a.md'", "edit"),
        ),
    ],
)
def test_a_limit_of_the_vault_and_one_of_a_key_both_hold(
    strict: str, wide: str, check: Callable[[Policy], None]
) -> None:
    """POL-14"""
    key = '[keys.phone]\nkey = "of sixteen letters"\n'
    with call_with(hidden_text=lambda: "Read.md"):
        for text in (f"{strict}\n{key}{wide}", f"{wide}\n{key}{strict}"):
            with pytest.raises((PermissionDenied, StorageFailed, ConfirmationRequired)):
                check(of_key(text))
        check(PolicyFile(f"{wide}\n{key}{strict}").policy("v", "/v"))


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("\nhiden = []", 2, "hiden"),
        ("read_only = 1", 1, "read_only"),
        ('hidden = "x"', 1, "hidden"),
        ('\n\nlargest_write = "much"', 3, "largest_write"),
        ('[vaults.a]\nconfirm = ["dance"]', 2, "confirm"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_key(text: str, line: int, key: str) -> None:
    """POL-05"""
    with pytest.raises(PolicyInvalid) as error:
        PolicyFile(text).policy("a", "/a")

    assert (error.value.data["line"], error.value.data["key"]) == (line, key)


def test_a_file_that_is_no_toml_allows_nothing() -> None:
    """POL-05"""
    with pytest.raises(PolicyInvalid, match="line 1"):
        PolicyFile("hidden = = 1").policy("v", "/v")
    with pytest.raises(PolicyInvalid, match="nested too deeply"):
        PolicyFile(f"hidden = {'[' * 5000}")
