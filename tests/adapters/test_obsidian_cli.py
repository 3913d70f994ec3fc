"""The driver against the stand-in command: every mood gives the right answer or the right error, and the bytes stay."""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.adapters.obsidian_answer import ProgramAnswer, ProgramRequest, can_carry
from obsidian_mcp.adapters.obsidian_cli import ObsidianCommand
from obsidian_mcp.adapters.obsidian_program import ObsidianProgram, ProgramResult, this_environment
from obsidian_mcp.core.files.obsidian import Version
from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    InvalidArguments,
    InvalidName,
    NoteExists,
    NoteNotFound,
    ObsidianNotRunning,
    OperationTimeout,
    PermissionDenied,
    VaultNotFound,
)
from tests import fake_obsidian
from tests.examples import examples
from tests.system import needs

from .app_desk import NO_ANSWER

ALPHA = "---\nstatus: draft\nrating: 5\n---\n# Alpha\nSee [[Beta]] and [[Beta]], [[Nowhere]].\n#work/now done\n"
NOTES = {
    "Alpha.md": ALPHA,
    "Projects/Beta.md": "# Beta\n- [ ] call Bob\n- [x] write Al\n#work/now\n",
    "Lonely.md": "nothing here",
    "pic.png": "not a note",
    ".obsidian/app.json": "{}",
}


@dataclass
class InProcess:
    """The stand-in's answers without a process."""

    knobs: dict[str, Any]

    def run_program(self, arguments: Sequence[str], timeout: float) -> ProgramResult:
        assert timeout > 0
        answer = fake_obsidian.answer(fake_obsidian.Call(self.knobs, list(arguments)))
        return ProgramResult(fake_obsidian.framed(answer, self.knobs), b"", self.knobs.get("status", 0))


@dataclass
class Desk:
    """A vault, the stand-in command beside it, and what was asked of it."""

    folder: Path

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    def command(
        self,
        vault: str | None = "Notes",
        timeout: float = 20.0,
        running: Callable[[], bool] = lambda: True,
        environment: dict[str, str] | None = None,
        **knobs: object,
    ) -> ObsidianCommand:
        knob_file = self.folder / "knobs.json"
        settings = {"vault": str(self.vault), "log": str(self.folder / "calls.jsonl"), **knobs}
        knob_file.write_text(json.dumps(settings), encoding="utf-8")
        program = ObsidianProgram(
            fake_obsidian.command_line(),
            this_environment({"FAKE_OBSIDIAN": str(knob_file), "PATH": os.defpath, **(environment or {})}),
        )
        return ObsidianCommand(program, vault, timeout, running=running)

    def quick(self, **knobs: object) -> ObsidianCommand:
        """As `command`, without processes: for what the answers mean."""
        return ObsidianCommand(InProcess({"vault": str(self.vault), **knobs}), "Notes")

    def write(self, path: str, text: str | bytes) -> None:
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def files(self) -> dict[str, bytes]:
        """Every file of the vault, hidden ones too, with its bytes."""
        found = (path for path in self.vault.rglob("*") if path.is_file())
        return {path.relative_to(self.vault).as_posix(): path.read_bytes() for path in found}

    def calls(self) -> list[dict[str, Any]]:
        log = self.folder / "calls.jsonl"
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []

    def commands(self) -> list[str]:
        """The command word of each call."""
        return [next(word for word in call["argv"] if "=" not in word) for call in self.calls()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    for path, text in NOTES.items():
        made.write(path, text)
    return made


# Reading


@pytest.mark.parametrize(
    "text",
    [
        ALPHA,
        "",
        "\n",
        "no line end",
        "\n\nbegins with empty lines\n",
        "ends with empty lines\n\n\n",
        "windows\r\nline ends\r\n",
        "\r\nwindows, empty line first",
        'Error: File "Note.md" not found.',
        'Error: File "Note.md" not found.\n',
        "Error: this is a note about errors\nand more\n",
        "TypeError: Cannot read properties of null\n",
        "Vault not found.",
        "Command line interface is not enabled. Please turn it on in Settings > General > Advanced.",
        "The CLI is unable to find Obsidian. Please make sure Obsidian is running and try again.\n",
        'Error: Command "read" not found. It may require a plugin to be enabled.',
        "No matches found.",
        "No links found.\n",
        "2026-01-01 09:30:00 Loading updated app package /tmp/x.asar\nbelow\n",
        "Your Obsidian installer is out of date. Please download it.\n",
        "\n2026-01-01 09:30:00 Loading main app package /x.asar\n\n2026-01-01 09:30:01 Loading main app package x\n",
        "=> 42",
        "Ünïcödé 🎉 日本語\u2028\n",
    ],
)
@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"line_end": False, "blank": True},
        {"noise": ["stdout", "stderr"], "crlf": True, "blank": True},
        {"noise": ["stdout"], "line_end": False},
    ],
    ids=["plain", "blank", "noisy", "noisy-without-line-end"],
)
def test_the_app_is_seen_to_show_a_note_byte_for_byte_whatever_it_holds(
    tmp_path: Path, text: str, frame: dict[str, Any]
) -> None:
    """CMD-06"""
    (tmp_path / "Note.md").write_bytes(text.encode())

    command = ObsidianCommand(InProcess({"vault": str(tmp_path), **frame}))

    assert command.shows("Note.md", text.encode())


@given(
    body=st.lists(st.sampled_from(["\n", "\r\n", "a", "# b\n", *(f"{line}\n" for line in fake_obsidian.NOISE)])),
    frame=st.fixed_dictionaries(
        {"noise": st.sampled_from([[], ["stdout"]]), "crlf": st.booleans(), "blank": st.booleans()}
    ),
    line_end=st.booleans(),
)
@examples(200)
def test_no_frame_around_a_note_ever_hides_it(body: list[str], frame: dict[str, Any], line_end: bool) -> None:
    """CMD-06"""
    text, knobs = "".join(body), {**frame, "line_end": line_end}

    printed = fake_obsidian.framed(text, knobs)

    answer = ProgramAnswer(ProgramRequest("read"), printed, 0)
    assert answer.matches_file(text.encode()) or not printed
    assert not answer.matches_file(text.encode() + b"b")


@given(st.text(alphabet=st.sampled_from("ab\\ntr\r\n\t\"'=🎉 "), max_size=40))
@examples(200)
def test_what_can_be_carried_is_not_expanded(text: str) -> None:
    """CMD-05"""
    call = fake_obsidian.Call({"vault": "."}, ["create", f"content={text}"])

    assert call.parameters["content"] == text or not can_carry(text)


def test_reading_a_missing_note_says_so(desk: Desk) -> None:
    with pytest.raises(NoteNotFound) as raised:
        desk.command().shows("Ghost.md", b"x")

    assert raised.value.data == {"path": "Ghost.md"}


def test_reading_a_folder_says_so(desk: Desk) -> None:
    with pytest.raises(NoteNotFound):
        desk.command().shows("Projects", b"x")


def test_a_note_is_read_although_the_command_ends_with_a_failure_status(desk: Desk) -> None:
    assert desk.command(status=1).shows("Alpha.md", ALPHA.encode())


@pytest.mark.parametrize("knobs", [{"cut": 40}, {"damage": True}], ids=["cut", "damaged"])
def test_an_answer_that_is_not_the_whole_note_does_not_show_it(desk: Desk, knobs: dict[str, Any]) -> None:
    desk.write("Long.md", "ä" * 9000)

    assert not desk.command(only=["read"], **knobs).shows("Long.md", ("ä" * 9000).encode())


def test_a_note_that_is_not_utf8_is_not_shown_as_it_is(desk: Desk) -> None:
    desk.write("Latin.md", b"caf\xe9\n")

    assert not desk.command().shows("Latin.md", b"caf\xe9\n")


def test_a_long_note_is_shown_whole(desk: Desk) -> None:
    text = "".join(f"line {number} äöü\n" for number in range(20_000))
    desk.write("Long.md", text)

    assert desk.command().shows("Long.md", text.encode())


# The moods in which nothing is answered

DOWN: list[tuple[dict[str, Any], type[AppError]]] = [
    *NO_ANSWER,
    ({"answers": {"read": "What?", "create": "What?", "search": "What?", "file": "What?"}}, AppCommandFailed),
    ({"cold": 9}, AppCommandFailed),
]


@pytest.mark.parametrize(("knobs", "error"), DOWN, ids=[json.dumps(knobs) for knobs, _ in DOWN])
def test_each_mood_has_its_error_for_changing_and_asking(
    desk: Desk, knobs: dict[str, Any], error: type[AppError]
) -> None:
    """CMD-03, CMD-04"""
    before = desk.files()
    command = desk.command(**knobs)

    for call in (
        lambda: command.create("New.md", "text"),
        lambda: command.search("Alpha"),
    ):
        with pytest.raises(AppError) as raised:
            call()
        assert type(raised.value) is error

    assert desk.files() == before


@pytest.mark.parametrize("mood", [{"down": "exit"}, {"down": "gui"}, {"disabled": True}, {"crash": 134}, {"limit": 10}])
def test_a_change_that_never_reached_the_app_is_a_failure(desk: Desk, mood: dict[str, Any]) -> None:
    before = desk.files()

    with pytest.raises(AppError):
        desk.command(only=["create"], **mood).create("New.md", "text")

    assert desk.files() == before


@pytest.mark.parametrize("mood", [{"down": "gui"}, {"mute": True, "only": ["version"]}])
def test_silence_means_that_the_app_is_down_when_its_process_is_gone(desk: Desk, mood: dict[str, Any]) -> None:
    answers = iter([True, False])

    with pytest.raises(ObsidianNotRunning):
        desk.command(running=lambda: next(answers), **mood).version()


def test_nothing_is_called_while_the_app_is_not_running(desk: Desk) -> None:
    """CMD-02"""
    with pytest.raises(ObsidianNotRunning):
        desk.command(running=lambda: False).shows("Alpha.md", b"x")

    assert desk.calls() == []


def test_a_switched_off_command_line_says_where_to_turn_it_on(desk: Desk) -> None:
    with pytest.raises(AppCommandFailed, match="Settings > General"):
        desk.command(disabled=True).version()


@pytest.mark.parametrize("hint", ["plugin", "mean"])
def test_a_vault_that_is_not_open_yet_is_asked_twice_at_once(desk: Desk, hint: str) -> None:
    """CMD-08"""
    assert desk.command(cold=1, cold_hint=hint).search("Lonely") == ("Lonely.md",)
    assert desk.commands() == ["search", "search"]


def test_a_closed_vault_gets_a_change_once(desk: Desk) -> None:
    desk.command(cold=1).append("Lonely.md", "more")

    assert desk.files()["Lonely.md"] == b"nothing here\nmore"


def test_a_closed_vault_gives_its_note(desk: Desk) -> None:
    assert desk.command(cold=1).shows("Alpha.md", ALPHA.encode())


def test_a_command_that_the_app_does_not_have_is_asked_twice_and_not_more(desk: Desk) -> None:
    with pytest.raises(AppCommandFailed, match="commands"):
        desk.command(cold=9).commands()

    assert desk.commands() == ["commands", "commands"]


# Time


@needs("named pipes")
def test_a_call_that_hangs_is_ended_with_everything_it_started(desk: Desk) -> None:
    """PROG-04"""
    hold = desk.folder / "hold"
    os.mkfifo(hold)
    with os.fdopen(os.open(hold, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as reader:
        with pytest.raises(OperationTimeout):
            desk.command(timeout=2.0, hang=True, hold=str(hold)).version()

        assert reader.read() == b"x", "the grandchild had started"
        assert select.select([reader], [], [], 5)[0], "the end of the file: nobody holds it open any more"
        assert reader.read() == b""


def test_a_slow_answer_within_the_limit_is_an_answer(desk: Desk) -> None:
    assert desk.command(slow=0.2).version() == "1.12.7"


def test_one_limit_covers_all_calls_of_an_operation(desk: Desk) -> None:
    """CMD-02"""
    with pytest.raises(OperationTimeout):
        desk.command(slow=0.4, timeout=0.6).create("New.md", "x")


def test_a_vault_is_asked_one_call_at_a_time(desk: Desk) -> None:
    """CMD-02"""

    class Program:
        """Counts how many calls it serves at once; each waits for a moment in which another could come."""

        def __init__(self) -> None:
            self.now = self.most = 0
            self.lock = threading.Lock()

        def run_program(self, arguments: Sequence[str], timeout: float) -> ProgramResult:  # noqa: ARG002
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            threading.Event().wait(0.02)
            with self.lock:
                self.now -= 1
            return ProgramResult(b"1.12.7\n", b"", 0)

    program = Program()
    command = ObsidianCommand(program)
    threads = [threading.Thread(target=command.version) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)

    assert program.most == 1


def test_who_waits_too_long_for_the_vault_gets_a_timeout() -> None:
    started, release = threading.Event(), threading.Event()

    class Program:
        def run_program(self, arguments: Sequence[str], timeout: float) -> ProgramResult:  # noqa: ARG002
            started.set()
            release.wait(10)
            return ProgramResult(b"1.12.7\n", b"", 0)

    command = ObsidianCommand(Program(), timeout=0.2)
    first = threading.Thread(target=command.version)
    first.start()
    started.wait(5)
    try:
        with pytest.raises(OperationTimeout):
            command.version()
    finally:
        release.set()
        first.join(timeout=10)


# Changing


def test_a_note_is_created_with_its_text(desk: Desk) -> None:
    text = 'First line\n\n- "quoted", a=b, $HOME `x` 🎉\n'

    desk.command().create("New/Note.md", text)

    assert desk.files()["New/Note.md"] == text.encode()


def test_an_existing_note_is_refused_before_the_call(desk: Desk) -> None:
    before = desk.files()

    with pytest.raises(NoteExists):
        desk.command().create("Alpha.md", "new")

    assert desk.files() == before
    assert desk.commands() == ["file"]


def test_a_note_is_overwritten_on_purpose(desk: Desk) -> None:
    desk.command().create("Alpha.md", "new", overwrite=True)

    assert desk.files()["Alpha.md"] == b"new"


def test_a_numbered_sibling_goes_to_the_trash_and_the_note_counts_as_existing(desk: Desk) -> None:
    """CMD-07: another program creates the note between our question and our call."""
    with pytest.raises(NoteExists) as raised:
        desk.command(race={"New.md": "theirs"}).create("New.md", "ours")

    assert raised.value.data == {"path": "New.md"}
    assert desk.files() == {
        **{path: text.encode() for path, text in NOTES.items()},
        "New.md": b"theirs",
        ".trash/New 1.md": b"ours",
    }


def test_a_numbered_sibling_that_cannot_be_removed_is_named(desk: Desk) -> None:
    with pytest.raises(NoteExists) as raised:
        desk.command(race={"New.md": "theirs"}, answers={"delete": "Error: EBUSY"}).create("New.md", "ours")

    assert raised.value.data == {"path": "New.md", "leftover": "New 1.md"}


def test_a_success_line_for_another_file_is_a_failure(desk: Desk) -> None:
    with pytest.raises(AppCommandFailed) as raised:
        desk.command(answers={"append": "Appended to: Other.md"}).append("Lonely.md", "more")

    assert raised.value.data == {"path": "Lonely.md", "written": "Other.md"}


def test_text_is_added_at_the_end(desk: Desk) -> None:
    command = desk.command()

    command.append("Lonely.md", "a\nb")
    command.append("Lonely.md", "c", inline=True)

    assert desk.files()["Lonely.md"] == b"nothing here\na\nbc"


def test_a_change_is_recognised_behind_noise_and_with_a_failure_status(desk: Desk) -> None:
    noisy: dict[str, Any] = {"noise": ["stdout", "stderr"], "crlf": True, "blank": True, "status": 1}

    desk.command(**noisy).append("Lonely.md", "more")
    desk.command(**noisy).create("New.md", "x")

    assert desk.files()["Lonely.md"].endswith(b"more")
    assert desk.files()["New.md"] == b"x"


@pytest.mark.parametrize("arrow", ["->", "→"])
def test_a_note_is_moved(desk: Desk, arrow: str) -> None:
    command = desk.command(arrow=arrow)

    command.move("Alpha.md", "Projects/v1.2.md")

    assert desk.files()["Projects/v1.2.md"] == ALPHA.encode()


def test_a_note_is_not_moved_onto_another(desk: Desk) -> None:
    before = desk.files()

    with pytest.raises(NoteExists):
        desk.command().move("Alpha.md", "Lonely.md")
    with pytest.raises(NoteNotFound):
        desk.command().move("Ghost.md", "Other.md")
    with pytest.raises(AppCommandFailed, match="folder"):
        desk.command().move("Alpha.md", "No such folder/Alpha.md")

    assert desk.files() == before


def test_a_note_goes_to_the_trash_or_for_good(desk: Desk) -> None:
    command = desk.command()

    command.delete("Alpha.md")
    command.delete("Lonely.md", permanent=True)

    assert desk.files()[".trash/Alpha.md"] == ALPHA.encode()
    assert not desk.files().keys() & {"Alpha.md", "Lonely.md", ".trash/Lonely.md"}
    with pytest.raises(NoteNotFound):
        command.delete("Alpha.md")


def test_a_change_that_was_made_silently_is_a_failure_that_says_so(desk: Desk) -> None:
    with pytest.raises(AppCommandFailed, match="look before trying again"):
        desk.command(mute=True).append("Lonely.md", "more")

    assert desk.files()["Lonely.md"] == b"nothing here\nmore"


def test_a_javascript_error_of_a_change_is_a_failure(desk: Desk) -> None:
    with pytest.raises(AppCommandFailed, match="getParentPrefix"):
        desk.command(type_error=True, only=["create"]).create("New.md", "x")


REFUSALS: list[tuple[str, str, Callable[[ObsidianCommand], object], type[AppError]]] = [
    ("create", "Error: EACCES: permission denied, open 'x'", lambda c: c.create("New.md", "x"), PermissionDenied),
    ("create", "Error: File already exists.", lambda c: c.create("New.md", "x"), NoteExists),
    ("append", 'Error: File "Lonely.md" not found.', lambda c: c.append("Lonely.md", "x"), NoteNotFound),
    ("append", "ReferenceError: x is not defined", lambda c: c.append("Lonely.md", "x"), AppCommandFailed),
    ("search", 'Error: Folder "Projects" not found.', lambda c: c.search("x", "Projects"), NoteNotFound),
    ("orphans", "Error: whatever", lambda c: c.orphans(), AppCommandFailed),
    ("version", "Error: later", lambda c: c.version(), AppCommandFailed),
    ("version", "unknown", lambda c: c.version(), AppCommandFailed),
    ("file", "path\tOther.md\nsize\t3", lambda c: c.create("New.md", "x"), AppCommandFailed),
    ("read", "Error: later", lambda c: c.shows("Lonely.md", b"x"), AppCommandFailed),
    ("search", '{"total": 1}', lambda c: c.search("x"), AppCommandFailed),
    ("command", "Fine.", lambda c: c.run_command("app:reload"), AppCommandFailed),
    ("history:read", "No history found.", lambda c: c.history_read("Alpha.md"), AppCommandFailed),
    ("eval", "", lambda c: c.evaluate("1"), AppCommandFailed),
    ("create", "Created: Elsewhere.md", lambda c: c.create("New.md", "x"), AppCommandFailed),
]


@pytest.mark.parametrize(("command", "text", "call", "error"), REFUSALS)
def test_each_refusal_and_each_unknown_answer_has_its_error(
    desk: Desk, command: str, text: str, call: Callable[[ObsidianCommand], object], error: type[AppError]
) -> None:
    """CMD-03, CMD-04"""
    with pytest.raises(AppError) as raised:
        call(desk.quick(answers={command: text}))

    assert type(raised.value) is error


@pytest.mark.parametrize(
    "text",
    [r"\times", r"C:\new\table", r"a \r b", "x" * 4000, '"' * 2000, "ä" * 1600, "a\0b", "lone \udce9"],
    ids=["latex", "windows", "return", "long", "quotes", "umlauts", "nul", "surrogate"],
)
def test_a_text_that_the_command_would_change_is_refused_before_anything_is_asked(desk: Desk, text: str) -> None:
    """CMD-05"""
    before, command = desk.files(), desk.command()

    assert not can_carry(text)
    for change, name in ((command.create, "New.md"), (command.append, "Lonely.md")):
        with pytest.raises(AppCommandFailed) as raised:
            change(name, text)
        assert raised.value.data["reason"] == "cannot_carry"
    assert desk.files() == before
    assert desk.calls() == []


@pytest.mark.parametrize(
    "text", ["", "plain", "two\nlines\r\n", r"\alpha \beta \\", "x" * 3000, "tab\there", "🎉" * 700]
)
def test_a_text_that_the_command_carries_arrives_as_it_is(desk: Desk, text: str) -> None:
    assert can_carry(text)

    desk.command().create("New.md", text)

    assert desk.files()["New.md"] == text.encode()


def test_a_value_is_never_read_as_another_parameter(desk: Desk) -> None:
    """CMD-01"""
    desk.write("path=Alpha.md", "odd name")
    command = desk.command()

    assert command.shows("path=Alpha.md", b"odd name")
    command.append("Lonely.md", "overwrite path=Alpha.md")
    command.append("Lonely.md", "--copy", inline=True)
    assert command.search("path=Alpha.md nothing") == ("Lonely.md",)
    assert desk.files()["Lonely.md"] == b"nothing here\noverwrite path=Alpha.md--copy"
    assert desk.files()["Alpha.md"] == ALPHA.encode()


@pytest.mark.parametrize("path", ["../outside.md", "/etc/passwd", "C:\\x.md", ".obsidian/app.json", "a\0.md"])
def test_a_path_outside_the_vault_never_reaches_the_command(desk: Desk, path: str) -> None:
    """CMD-01"""
    command = desk.command()

    for call in (
        partial(command.shows, data=b"x"),
        command.create,
        command.delete,
        command.open,
        command.history,
        command.backlinks,
    ):
        with pytest.raises(PermissionDenied):
            call(path)
    with pytest.raises(PermissionDenied):
        command.move("Alpha.md", path)
    assert desk.calls() == []


def test_names_that_the_command_would_misread_are_refused(desk: Desk) -> None:
    command = desk.command()

    for name in ("Note", "data.txt"):
        with pytest.raises(InvalidName):
            command.create(name)
    with pytest.raises(InvalidName):
        command.move("Alpha.md", "Folder")
    with pytest.raises(InvalidArguments):
        command.append("Alpha.md", "")
    for empty in (
        lambda: command.search(" "),
        lambda: command.run_command(""),
        lambda: command.history_read("Alpha.md", 0),
    ):
        with pytest.raises(InvalidArguments):
            empty()
    assert desk.calls() == []


def test_without_a_vault_name_none_is_sent_and_an_empty_one_is_refused(desk: Desk) -> None:
    desk.command(vault=None).search("Alpha")

    assert desk.calls()[0]["argv"] == ["search", "query=Alpha", "format=json"]
    with pytest.raises(VaultNotFound):
        desk.command(vault=" ")


# Asking


@pytest.mark.parametrize(
    "frame", [{}, {"noise": ["stdout"], "crlf": True, "blank": True, "status": 3}], ids=["plain", "noisy"]
)
def test_questions_have_typed_answers(desk: Desk, frame: dict[str, Any]) -> None:
    """CMD-10"""
    command = desk.quick(**frame)

    assert command.search("beta") == ("Alpha.md", "Projects/Beta.md")
    assert command.search("beta", "Projects") == ("Projects/Beta.md",)
    assert command.backlinks("Projects/Beta.md") == ("Alpha.md",)
    assert command.links("Alpha.md") == ("Projects/Beta.md",)
    assert command.orphans() == ("Alpha.md", "Lonely.md", "pic.png")
    assert command.deadends() == ("Lonely.md", "Projects/Beta.md", "pic.png")
    assert command.version() == "1.12.7"


def test_sources_are_told_apart_although_a_name_holds_a_comma(desk: Desk) -> None:
    desk.write("Milk, eggs.md", "[[Nowhere]]")

    assert desk.quick().list_unresolved_links() == {"Nowhere": ("Alpha.md", "Milk, eggs.md")}


def test_nothing_found_is_an_empty_answer_even_where_json_was_asked_for(desk: Desk) -> None:
    command = desk.quick()

    assert command.search("zebra") == ()
    assert command.backlinks("Lonely.md") == ()
    assert command.links("Lonely.md") == ()
    assert desk.quick(answers={"orphans": "No orphans found."}).orphans() == ()


def test_an_empty_list_that_was_lost_is_a_failure(desk: Desk) -> None:
    command = desk.command(mute=True)

    for call in (command.orphans, command.deadends, command.commands, command.plugins):
        with pytest.raises(AppCommandFailed):
            call()


def test_a_list_from_a_program_that_crashed_is_a_failure(desk: Desk) -> None:
    with pytest.raises(AppCommandFailed):
        desk.command(status=134).orphans()


@pytest.mark.parametrize("data", ['{"a": 1}', "[1]", '[{"file": 3}]', '[{"count": 1}]', '["a.md"'])
def test_data_of_an_unknown_shape_is_a_failure(desk: Desk, data: str) -> None:
    with pytest.raises(AppCommandFailed):
        desk.quick(answers={"backlinks": data}).backlinks("Alpha.md")


def test_a_question_about_a_missing_file_says_so(desk: Desk) -> None:
    command = desk.quick()

    for call in (
        command.backlinks,
        command.links,
        command.history,
        command.history_read,
        command.open,
    ):
        with pytest.raises(NoteNotFound):
            call("Ghost.md")


# What only the app has


def test_commands_are_listed_and_run(desk: Desk) -> None:
    command = desk.quick()

    assert command.commands() == ("app:reload", "daily-notes", "editor:toggle-bold")
    assert command.run_command("app:reload") == "Executed: app:reload"
    with pytest.raises(AppCommandFailed, match="no command 'nope'"):
        command.run_command("nope")


def test_a_note_is_opened(desk: Desk) -> None:
    assert desk.command().open("Alpha.md") == "Alpha.md"
    assert desk.calls()[-1]["argv"] == ["vault=Notes", "open", "path=Alpha.md"]


def test_older_versions_are_listed_and_read(desk: Desk) -> None:
    command = desk.quick(history={"Alpha.md": ["newer\nText\n", "Error: of mine\nolder"]})

    assert command.history("Alpha.md") == (
        Version(1, "1\t2026-01-01 09:01\t11 B"),
        Version(2, "2\t2026-01-01 09:02\t20 B"),
    )
    assert command.history("Lonely.md") == ()
    assert command.history_read("Alpha.md", 2) == "Error: of mine\nolder"
    with pytest.raises(AppCommandFailed, match="Version 3"):
        command.history_read("Alpha.md", 3)


def test_plugins_and_the_state_of_sync_are_told(desk: Desk) -> None:
    known = [
        {"id": "dataview", "name": "Dataview", "version": "0.5.67", "enabled": True},
        {"id": "templates", "enabled": False},
    ]
    command = desk.quick(plugins=known)

    assert [(plugin.id, plugin.name, plugin.version, plugin.enabled) for plugin in command.plugins()] == [
        ("dataview", "Dataview", "0.5.67", True),
        ("templates", None, None, False),
    ]
    assert command.sync_status() == "Status: synced\nRemote vault: Notes"


def test_javascript_arrives_as_it_is_and_its_value_comes_back(desk: Desk) -> None:
    code = r'[1, 2].join("\n") + "\t" + "ä"'
    command = desk.command(evals={"1 + 1": "2", code: "one\n=> two"}, console=["plugin says: hi", "and more"])

    assert command.evaluate("1 + 1") == "2"
    assert command.evaluate(code) == "one\n=> two"
    with pytest.raises(AppCommandFailed, match="oops is not defined"):
        command.evaluate("oops")


# Around the program


def test_the_program_gets_a_closed_stdin_and_what_a_client_stripped(desk: Desk) -> None:
    """PROG-02"""
    home, user = ("USERPROFILE", "USERNAME") if sys.platform == "win32" else ("HOME", "USER")
    desk.command(environment={"ELECTRON_RUN_AS_NODE": "1", home: " "}).version()

    call = desk.calls()[0]
    assert call["stdin"]
    assert call["argv"] == ["version"]
    assert call["env"][home].strip()
    assert call["env"][user]
    assert "ELECTRON_RUN_AS_NODE" not in call["env"]


def test_a_program_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    program = ObsidianProgram((str(tmp_path / "obsidian"),), {})

    with pytest.raises(AppCommandFailed, match="Command line interface"):
        ObsidianCommand(program).version()


@needs("permissions of POSIX")
def test_a_program_that_may_not_be_started_says_so(tmp_path: Path) -> None:
    file = tmp_path / "obsidian"
    file.write_text("#!/bin/sh\n", encoding="utf-8", newline="\n")

    with pytest.raises(PermissionDenied):
        ObsidianCommand(ObsidianProgram((str(file),), {})).version()
