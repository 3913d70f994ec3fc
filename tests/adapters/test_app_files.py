"""Changes through the app, from the tools down: whatever the app does, the bytes are those that were asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    NoteExists,
    OperationTimeout,
    PermissionDenied,
    StaleEtag,
    VaultNotFound,
)

from .app_desk import CHANGES, NO_ANSWER, Desk, desk

MakeDesk = Callable[..., Desk]

LONG = "".join(f"Line {number} with äöü and 🎉\n" for number in range(400))
SESSION: list[tuple[str, dict[str, Any]]] = [
    ("create_note", {"name": "New", "content": "# New\n\nTwo\nlines\n"}),
    ("create_note", {"name": "New", "content": "replaced\n\n", "overwrite": True}),
    ("create_note", {"name": "Deep/er/Empty"}),
    ("create_note", {"name": "Formulas", "content": r"$\times$ and \nu" + "\n"}),
    ("create_note", {"name": "Long", "content": LONG}),
    ("edit_note", {"name": "Long", "operation": "append", "content": "and the end"}),
    ("edit_note", {"name": "Alpha", "operation": "append", "content": "- one more\n- and another\n"}),
    ("edit_note", {"name": "Alpha", "operation": "append", "content": r"C:\new\table"}),
    ("edit_note", {"name": "No last newline", "operation": "append", "content": "now there is one\n"}),
    ("edit_note", {"name": "Home", "operation": "prepend", "content": "First!"}),
    ("edit_note", {"name": "Home", "operation": "replace_text", "find": "clocks", "content": "watches"}),
    ("set_properties", {"names": ["Home"], "properties": {"due": "2026-03-16"}}),
    ("rename_tag", {"tag": "map", "to": "maps"}),
    ("move_note", {"name": "Formulas", "to": "Deep/er/Notation"}),
    ("move_note", {"name": "Mori Ayumi", "to": "Journal/"}),
    ("move_note", {"name": "Reading", "to": "Books"}),
    ("delete_note", {"name": "Tower clock"}),
    ("delete_note", {"name": "New", "permanent": True}),
    ("undo", {}),
    ("undo", {"change": 9}),
]
"""Every kind of change, with texts that the command carries and texts that it does not."""


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeDesk]:
    made: list[Desk] = []

    def new(backend: str, **options: Any) -> Desk:
        made.append(desk(tmp_path / str(len(made)), backend, **options))
        return made[-1]

    yield new
    for session in made:
        session.close()


def outcome(session: Desk, step: tuple[str, dict[str, Any]]) -> AppError | None:
    tool, arguments = step
    try:
        session.call(tool, **arguments)
    except AppError as error:
        return error
    return None


Bytes = tuple[dict[str, bytes], list[bytes]]
"""The files of a vault, and of its trash."""


def all_bytes(session: Desk) -> Bytes:
    return session.files(), session.trashed()


def assert_same(through_app: Desk, by_files: Bytes) -> None:
    assert all_bytes(through_app) == by_files
    assert not list(through_app.root.rglob(".obsidian-mcp-*"))


@pytest.fixture(scope="module")
def by_files(tmp_path_factory: pytest.TempPathFactory) -> list[Bytes]:
    """What the files backend leaves after each step of the session."""
    session = desk(tmp_path_factory.mktemp("by files"), "files")
    left = []
    for step in SESSION:
        assert outcome(session, step) is None, step
        left.append(all_bytes(session))
    session.close()
    return left


WELL: list[dict[str, Any]] = [
    {},
    {"cold": 1},
    {"cold": 1, "cold_hint": "mean"},
    {"noise": ["stdout", "stderr"]},
    {"noise": ["stdout"], "crlf": True, "blank": True},
    {"noise": ["stderr"], "blank": True, "line_end": False},
    {"status": 1},
    {"status": 255, "noise": ["stdout"]},
    {"arrow": "→"},
    {"damage": True},
    {"mute": True, "only": CHANGES},
    {"late": 0.1, "only": ["create", "append", "delete", "move"]},
    {"mangle": "trim"},
    {"mangle": "first_line"},
    {"mangle": "crlf"},
    {"mangle": "nothing"},
]
"""Moods in which everything that is asked for is done in the end."""


@pytest.mark.parametrize("backend", ["cli", "auto"])
@pytest.mark.parametrize("mood", WELL, ids=json.dumps)
def test_whatever_the_app_says_the_bytes_are_those_that_the_files_backend_writes(
    make: MakeDesk, backend: str, mood: dict[str, Any], by_files: list[Bytes]
) -> None:
    """APP-FILE-01, APP-FILE-03"""
    through_app = make(backend, **mood)

    for step, left in zip(SESSION, by_files, strict=True):
        assert outcome(through_app, step) is None, step
        assert_same(through_app, left)
    assert set(through_app.commands) >= {"vault", "create", "append", "delete", "move"}


BAD: list[tuple[dict[str, Any], type[AppError]]] = [
    *NO_ANSWER,
    ({"answers": {"vault": "What?", "files": ""}}, AppCommandFailed),
    ({"cold": 99}, AppCommandFailed),
    ({"hang": True}, OperationTimeout),
]
"""Moods in which the app answers nothing at all."""


@pytest.mark.parametrize(("mood", "error"), BAD, ids=[json.dumps(mood) for mood, _ in BAD])
def test_an_app_that_does_not_answer_changes_nothing_and_has_its_code(
    make: MakeDesk, mood: dict[str, Any], error: type[AppError]
) -> None:
    """APP-FILE-02: with `cli` nothing else will do."""
    through_app = make("cli", late_seconds=0.01, **mood)
    before = through_app.files()

    for step in SESSION[:3] + SESSION[6:7] + SESSION[16:18]:
        failed = outcome(through_app, step)
        assert type(failed) is error or step[0] == "delete_note", (step, failed)
        assert through_app.files() == before
    assert through_app.trashed() == []
    assert through_app.call("history")["changes"] == []


@pytest.mark.parametrize(("mood", "error"), BAD, ids=[json.dumps(mood) for mood, _ in BAD])
def test_with_auto_an_app_that_does_not_answer_is_not_missed(
    make: MakeDesk, mood: dict[str, Any], error: type[AppError], by_files: list[Bytes]
) -> None:
    """APP-FILE-02"""
    through_app = make("auto", **mood)

    for step in SESSION:
        assert outcome(through_app, step) is None, (step, error)
    assert_same(through_app, by_files[-1])
    assert through_app.program is not None
    assert through_app.program.changes == []


LOST: list[tuple[dict[str, Any], type[AppError]]] = [
    ({"crash": 134}, AppCommandFailed),
    ({"down": "gui"}, AppCommandFailed),
    ({"limit": 10}, AppCommandFailed),
    ({"answers": {"create": "Working on it.", "append": "Working on it."}}, AppCommandFailed),
    ({"hang": True}, OperationTimeout),
]
"""Moods of changing commands after which nobody can know whether the change is still to come."""


@pytest.mark.parametrize("backend", ["cli", "auto"])
@pytest.mark.parametrize(("mood", "error"), LOST, ids=[json.dumps(mood) for mood, _ in LOST])
def test_a_change_whose_outcome_is_unknown_fails_and_leaves_every_byte(
    make: MakeDesk, backend: str, mood: dict[str, Any], error: type[AppError]
) -> None:
    """APP-FILE-04: written on the disk as well, it might be there twice."""
    through_app = make(backend, late_seconds=0.01, only=CHANGES, **mood)
    before = through_app.files()

    for step in (SESSION[0], SESSION[6]):
        assert type(outcome(through_app, step)) is error, step
        assert through_app.files() == before


def test_a_refusal_is_told_and_nothing_is_changed(make: MakeDesk) -> None:
    through_app = make("cli", type_error=True, only=CHANGES)
    before = through_app.files()

    for step in (SESSION[0], SESSION[6], SESSION[16]):
        assert type(outcome(through_app, step)) is AppCommandFailed
    assert through_app.files() == before


def test_with_auto_what_the_app_refuses_is_written_on_the_disk(make: MakeDesk, by_files: list[Bytes]) -> None:
    through_app = make("auto", type_error=True, only=CHANGES)

    for step in SESSION:
        assert outcome(through_app, step) is None
    assert_same(through_app, by_files[-1])


def test_with_auto_the_app_is_left_alone_while_it_does_not_have_the_vault_open(make: MakeDesk) -> None:
    through_app = make("auto", is_open=False)

    through_app.call("create_note", name="New", content="text")

    assert through_app.commands == []
    assert through_app.files()["New.md"] == b"text"


def test_with_auto_notes_are_read_from_the_files(make: MakeDesk) -> None:
    through_app = make("auto")

    through_app.call("read_note", name="Alpha")
    through_app.call("search", match="exact", query="clock")
    through_app.call("get_links", name="Alpha")

    assert through_app.commands == []


def test_a_silent_app_is_not_asked_again_at_every_change(make: MakeDesk) -> None:
    through_app = make("auto", hang=True)

    through_app.call("create_note", name="One", content="1")
    through_app.call("create_note", name="Two", content="2")

    assert through_app.commands == ["vault"]


# What goes through the app, and what does not


def test_what_the_command_would_change_or_lose_is_written_on_the_disk(make: MakeDesk) -> None:
    """CMD-05"""
    through_app = make("cli")

    for name, content in {"a": r"\times", "b": "x" * 4000, "c": r"\ntr", "d": "\\\\n"}.items():
        through_app.call("create_note", name=name, content=content)
        through_app.call("create_note", name=name, content=content + "!", overwrite=True)
        assert through_app.files()[f"{name}.md"] == f"{content}!".encode()

    assert through_app.program is not None
    assert set(through_app.program.changes) == {"append"}, "what is added can go through the app"


def test_bytes_that_are_not_utf8_and_files_that_are_no_notes_are_changed_on_the_disk(make: MakeDesk) -> None:
    through_app = make("cli")
    (through_app.root / "Latin.md").write_bytes(b"caf\xe9\n")

    through_app.call("edit_note", name="Latin", operation="append", content="more")
    through_app.call("move_note", name="wheel.svg", to="gear.svg")

    assert through_app.files()["Latin.md"] == b"caf\xe9\nmore\n"
    assert "create" not in through_app.commands


def test_line_ends_and_the_byte_order_mark_of_a_note_stay(make: MakeDesk) -> None:
    through_app = make("cli")
    (through_app.root / "Windows.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")

    through_app.call("edit_note", name="Windows", operation="append", content="three\nfour")

    assert through_app.files()["Windows.md"] == b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\nfour\r\n"
    assert "create" in through_app.commands


def test_a_move_on_which_links_follow_is_made_on_the_disk_and_as_a_whole(make: MakeDesk) -> None:
    """APP-FILE-06: field.md 14, the app's own rewriting comes late and at places that it
    remembers."""
    through_app, files = make("cli"), make("files")

    for session in (through_app, files):
        moved = session.call("move_note", name="Tower clock", to="Clock of the tower")
        assert moved["updated"]
    assert_same(through_app, all_bytes(files))
    assert "move" not in through_app.commands

    for session in (through_app, files):
        session.call("undo")
    assert_same(through_app, all_bytes(files))


def test_a_move_is_not_left_to_an_app_that_knows_of_links_which_nobody_wants_changed(make: MakeDesk) -> None:
    """APP-FILE-06"""
    through_app = make("cli")
    before = through_app.files()

    through_app.call("move_note", name="Tower clock", to="Clock", update_links=False)
    through_app.call("create_note", name="Lonely", content="no links")
    through_app.call("move_note", name="Lonely", to="Journal/", update_links=False)

    assert "move" not in through_app.commands
    assert {path for path, data in through_app.files().items() if before.get(path) != data} == {
        "Projects/Clock.md",
        "Journal/Lonely.md",
    }


def test_a_move_without_links_is_left_to_the_app(make: MakeDesk) -> None:
    through_app = make("cli")
    through_app.call("create_note", name="Lonely", content="no links")

    through_app.call("move_note", name="Lonely", to="Journal/Still lonely")

    assert through_app.commands[-2:] == ["backlinks", "move"]
    assert through_app.files()["Journal/Still lonely.md"] == b"no links"
    assert "Lonely.md" not in through_app.files()


def test_a_change_of_many_files_is_made_on_the_disk(make: MakeDesk) -> None:
    """APP-FILE-07"""
    through_app = make("cli")
    for number in range(30):
        (through_app.root / f"{number}.md").write_text("#old\n", encoding="utf-8", newline="\n")

    through_app.call("rename_tag", tag="old", to="new")

    assert "create" not in through_app.commands
    assert all(through_app.files()[f"{number}.md"] == b"#new\n" for number in range(30))


def test_a_note_that_another_program_made_just_before_is_not_overwritten(make: MakeDesk) -> None:
    """CMD-07"""
    through_app = make("cli", race={"New.md": "theirs"})

    with pytest.raises(NoteExists):
        through_app.call("create_note", name="New", content="ours")

    assert through_app.files()["New.md"] == b"theirs"
    assert "New 1.md" not in through_app.files()


def test_what_was_written_since_a_read_is_not_overwritten(make: MakeDesk) -> None:
    through_app = make("cli")
    etag = through_app.call("read_note", name="Alpha")["etag"]
    (through_app.root / "Projects/Alpha.md").write_bytes(b"all new\n")

    with pytest.raises(StaleEtag):
        through_app.call("edit_note", name="Alpha", operation="append", content="x", etag=etag)

    assert through_app.files()["Projects/Alpha.md"] == b"all new\n"


def test_a_note_that_the_app_does_not_know_yet_is_changed_on_the_disk(make: MakeDesk) -> None:
    """APP-FILE-05"""
    unknown = {"append": 'Error: File "Long.md" not found.', "file": 'Error: File "Long.md" not found.'}
    through_app = make("cli", answers=unknown)
    (through_app.root / "Long.md").write_text(LONG, encoding="utf-8", newline="\n")

    through_app.call("edit_note", name="Long", operation="append", content="the end")
    shown = through_app.call("read_note", name="Long", lines="400-")["content"]

    assert shown.endswith("the end\n")
    assert through_app.files()["Long.md"].decode() == LONG + "the end\n"


def test_another_vault_of_the_same_name_is_never_touched(make: MakeDesk, tmp_path: Path) -> None:
    """CMD-11"""
    other = tmp_path / "other"
    other.mkdir()
    (other / "Home.md").write_bytes(b"of the other vault")

    for backend in ("cli", "auto"):
        through_app = make(backend, vault=str(other))
        failed = outcome(through_app, ("edit_note", {"name": "Home", "operation": "append", "content": "mine"}))

        assert type(failed) is (VaultNotFound if backend == "cli" else type(None))
        assert through_app.commands == ["vault"]
        assert (other / "Home.md").read_bytes() == b"of the other vault"
        assert through_app.files()["Home.md"].endswith(b"mine\n") == (backend == "auto")


def test_names_that_the_app_spells_otherwise_are_changed_on_the_disk(make: MakeDesk) -> None:
    through_app = make("cli")
    (through_app.root / "Cafe\u0301.md").write_bytes(b"decomposed\n")

    through_app.call("edit_note", name="Café", operation="append", content="x")

    assert through_app.files()["Cafe\u0301.md"] == b"decomposed\nx\n"
    assert "create" not in through_app.commands


def test_what_the_policy_forbids_does_not_reach_the_app(make: MakeDesk) -> None:
    through_app = make("cli", policy=Policy(read_only=True))

    for step in (SESSION[0], SESSION[6], SESSION[16]):
        assert type(outcome(through_app, step)) is PermissionDenied
    assert through_app.commands == []


def test_a_change_through_the_app_can_be_undone_byte_for_byte(make: MakeDesk) -> None:
    through_app = make("cli")
    before = through_app.files()

    for step in SESSION[:3] + SESSION[6:7] + SESSION[16:17]:
        assert outcome(through_app, step) is None
    for _ in range(5):
        through_app.call("undo")

    assert through_app.files() == before
