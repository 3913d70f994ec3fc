"""Byte fidelity: the difference between before and after is exactly the request, for every tool that writes.

Each property generates notes as people and programs leave them (CRLF, byte order mark, no last newline, comments and
quotes in YAML, `007`, trailing spaces, bytes that are not UTF-8), calls the tool, and says independently of the
program's own code which bytes may differ (specs/safety.md SAFE-01).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools.registry import call
from tests.examples import examples
from tests.vaults import contents

pytestmark = pytest.mark.usefixtures("disk_of_macos")

QUICK = examples(30, suppress_health_check=list(HealthCheck))

NEWLINES = st.sampled_from([b"\n", b"\r\n"])
LINES = st.sampled_from(
    [
        b"",
        b"text  ",
        b"\ttabbed\t",
        b"> quoted   ",
        b"- [ ] a task #todo ",
        b"caf\xe9 is not UTF-8 \xff\xfe",
        "日本 é e\u0301 😀\u2028 still this line".encode(),
        b"007 and 2026-03-16 and yes",
        b"[[Other note]] and ![[pic.png|100]] <!-- c --> %%hidden%%",
        b"| a | b |",
        b"```js",
        b"a\rlone carriage return",
        b"\x0b\x0c",
        b"$x_1$ \\# not a tag",
    ]
)
PROPERTIES = st.sampled_from(
    [
        b"rating: 007",
        b"due: 2026-03-16 # keep this",
        b"title: 'single ''quoted'''",
        b'alias: "double \\"quoted\\""',
        b"list: [a, 'b',  c ]  ",
        b"tags:\n  - one\n  -   two  # second",
        b"# a comment of its own",
        b"flow: {a: 1, b: [x, y]}",
        b"text: |\n  several\n  lines\n",
        b"empty:",
        b"on: yes",
        b"KEY with spaces  :   v  ",
        "日本: はい".encode(),
        b"link: '[[Other note]]'",
        b"",
    ]
)


@st.composite
def notes(draw: st.DrawFn, *, frontmatter: bool | None = None) -> bytes:
    """A note with line ends of one kind and perhaps a few of the other."""
    newline = draw(NEWLINES)
    parts: list[bytes] = []
    if draw(st.booleans()) if frontmatter is None else frontmatter:
        chosen = draw(st.lists(PROPERTIES, max_size=6, unique_by=lambda line: line.split(b":")[0]))
        parts += [b"---", *b"\n".join(chosen).split(b"\n")] if chosen else [b"---"]
        parts.append(b"---")
    parts += draw(st.lists(LINES, max_size=8))
    text = newline.join(parts) + (newline if draw(st.booleans()) and parts else b"")
    if draw(st.booleans()) and text.count(newline) > 2:
        text = text[::-1].replace(newline[::-1], b"\n", 1)[::-1]
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text


WORDS = st.text(st.sampled_from("abc é日😀'\":#[]-"), min_size=1, max_size=12).filter(lambda text: text.strip() == text)


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).data


@pytest.fixture
def note(app: App, basic: Path) -> Path:
    return basic / "Generated.md"


def put(app: App, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    app.vaults.get().look_for(path.name)


def newline_of(data: bytes) -> bytes:
    crlf = data.count(b"\r\n")
    return b"\r\n" if crlf > data.count(b"\n") - crlf else b"\n"


@QUICK
@given(before=notes(), text=WORDS)
def test_what_is_appended_stands_after_every_old_byte(app: App, note: Path, before: bytes, text: str) -> None:
    """EDIT-10"""
    put(app, note, before)
    run(app, "edit_note", name="Generated", operation="append", content=text)
    added = note.read_bytes().removeprefix(before)

    assert note.read_bytes().startswith(before)
    ended = before.endswith(b"\n")
    empty = before in (b"", b"\xef\xbb\xbf")
    newline = newline_of(before)
    added = added.removeprefix(b"" if ended or empty else newline)
    own = text.encode() + (newline if ended else b"")
    assert added in (own, newline + own)
    run(app, "undo")
    assert note.read_bytes() == before


@QUICK
@given(before=notes(), text=WORDS)
def test_what_is_prepended_parts_the_old_bytes_in_two(app: App, note: Path, before: bytes, text: str) -> None:
    """EDIT-10"""
    put(app, note, before)
    run(app, "edit_note", name="Generated", operation="prepend", content=text)
    after = note.read_bytes()
    newline = newline_of(before)
    ends = (b"", newline, newline * 2)
    forms = [first + text.encode() + last for first in ends for last in ends]

    assert any(after == before[:at] + form + before[at:] for at in range(len(before) + 1) for form in forms)
    run(app, "undo")
    assert note.read_bytes() == before


@QUICK
@given(before=notes(), text=WORDS, data=st.data())
def test_a_replaced_text_is_the_only_difference(app: App, note: Path, before: bytes, text: str, data: Any) -> None:
    marker = "⟦marked⟧"
    at = data.draw(st.sampled_from([0, len(before), *[i for i, byte in enumerate(before) if byte == 10]]))
    at = max(at, 3) if before.startswith(b"\xef\xbb\xbf") else at
    before = before[:at] + marker.encode() + before[at:]
    put(app, note, before)
    run(app, "edit_note", name="Generated", operation="replace_text", find=marker, content=text)

    assert note.read_bytes() == before.replace(marker.encode(), text.encode())
    run(app, "undo")
    assert note.read_bytes() == before


@QUICK
@given(
    head=notes(),
    inner=st.lists(LINES.filter(bytes.strip), min_size=1, max_size=3),
    tail=notes(frontmatter=False),
    text=WORDS,
)
@pytest.mark.parametrize("operation", ["replace_section", "append_section", "prepend_section"])
def test_an_edited_section_leaves_all_others_alone(
    app: App, note: Path, operation: str, head: bytes, inner: list[bytes], tail: bytes, text: str
) -> None:
    """EDIT-10"""
    newline = b"\n"
    inner = [line for line in inner if not line.startswith((b"```", b"|", b">"))] or [b"inner"]
    assume(b"```" not in head and b"%%" not in head and b"<!--" not in head and b"$" not in head)
    start = head + (b"" if not head or head.endswith(b"\n") or head == b"\xef\xbb\xbf" else newline) + newline
    section = newline.join([b"# Marked heading", b"", *inner, b"", b""])
    rest = b"# Next" + newline + tail.removeprefix(b"\xef\xbb\xbf")
    before = start + section + rest
    put(app, note, before)
    run(app, "edit_note", name="Generated", operation=operation, section="Marked heading", content=text)
    after = note.read_bytes()

    assert after.startswith(start + b"# Marked heading\n".replace(b"\n", newline))
    assert after.endswith(newline + rest)
    between = after[len(start) + len(b"# Marked heading") + len(newline) : len(after) - len(rest)]
    old = newline.join([b"", *inner, b"", b""])
    assert text.encode() in between
    if operation != "replace_section":
        old, unified = old.replace(b"\r\n", b"\n"), between.replace(b"\r\n", b"\n")
        own = text.encode() + b"\n"
        assert old in [unified.replace(form, b"", 1) for form in (own, own + b"\n", b"\n" + own)]
    run(app, "undo")
    assert note.read_bytes() == before


VALUES = st.one_of(
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.text(max_size=15).filter(lambda text: "\0" not in text),
    st.sampled_from(
        ["007", "yes", "null", "2026-03-16", "- x", "#no", "a: b", "'", '"', " lead", "trail ", "[[L]]", "~"]
    ),
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=6), max_size=4),
)


@QUICK
@given(before=notes(frontmatter=True), value=VALUES)
def test_a_new_property_is_added_and_reads_back_equal(app: App, note: Path, before: bytes, value: Any) -> None:
    put(app, note, before)
    try:
        old = run(app, "get_properties", name="Generated")
        run(app, "set_properties", names=["Generated"], properties={"brand new": value})
    except AppError as error:
        assert error.error_code == "PROPERTIES_UNREADABLE"  # noqa: PT017  the other outcome is tested below
        assert note.read_bytes() == before
        return
    after = note.read_bytes()
    new = run(app, "get_properties", name="Generated")["properties"]

    assert new["brand new"] == value or value != value
    assert {key: found for key, found in new.items() if key != "brand new"} == old.get("properties", {})
    kept = before.split(b"\n")
    changed = after.split(b"\n")
    assert is_subsequence(kept, changed), (before, after)
    run(app, "set_properties", names=["Generated"], properties={"brand new": None})
    if old.get("properties"):
        assert note.read_bytes() == before
    run(app, "undo")
    run(app, "undo")
    assert note.read_bytes() == before


def is_subsequence(wanted: list[bytes], lines: list[bytes]) -> bool:
    remaining = iter(lines)
    return all(line in remaining for line in wanted)


@QUICK
@given(before=notes(frontmatter=True), value=VALUES, data=st.data())
def test_setting_or_removing_a_property_touches_its_lines_alone(
    app: App, note: Path, before: bytes, value: Any, data: Any
) -> None:
    put(app, note, before)
    try:
        old = run(app, "get_properties", name="Generated").get("properties", {})
    except AppError:
        return
    assume(old)
    name = data.draw(st.sampled_from(sorted(old)))
    remove = data.draw(st.booleans())
    try:
        if remove:
            run(app, "set_properties", names=["Generated"], properties={name: None})
        else:
            run(app, "set_properties", names=["Generated"], properties={name: value})
    except AppError as error:
        assert error.error_code == "PROPERTIES_UNREADABLE"  # noqa: PT017  nothing may have changed then
        assert note.read_bytes() == before
        return
    new = run(app, "get_properties", name="Generated").get("properties", {})
    assert {key: found for key, found in new.items() if key != name} == {k: v for k, v in old.items() if k != name}
    assert (name not in new) if remove else (new[name] == value)
    own = name.encode()
    lines = before.split(b"\n")
    at = next(number for number, line in enumerate(lines) if line.lstrip(b"\"'").startswith(own))
    last = at + 1
    while last < len(lines) and (
        lines[last].startswith((b" ", b"\t")) or (not lines[last].strip() and b"|" in lines[at])
    ):
        last += 1
    others = lines[:at] + lines[last:]
    if remove and len(old) == 1:  # the block goes with its last property
        others = [line for line in others if line.strip(b"\xef\xbb\xbf\r") != b"---"]
    bom = b"\xef\xbb\xbf"
    kept = [line.removeprefix(bom) for line in others if line.strip(bom + b"\r")]
    assert is_subsequence(kept, note.read_bytes().removeprefix(bom).split(b"\n")), note.read_bytes()
    assert note.read_bytes().startswith(bom) is before.startswith(bom)
    if note.read_bytes() != before:
        run(app, "undo")
    assert note.read_bytes() == before


@QUICK
@given(before=notes(), content=notes(frontmatter=False))
def test_an_overwritten_note_is_the_new_text_with_the_old_note_s_ways(
    app: App, note: Path, before: bytes, content: bytes
) -> None:
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    put(app, note, before)
    run(app, "create_note", name="Generated", content=text, overwrite=True)
    bom = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
    wanted = text.encode()
    if newline_of(before) == b"\r\n":
        wanted = wanted.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    elif b"\n" in before and b"\r\n" not in before:
        wanted = wanted.replace(b"\r\n", b"\n")

    assert note.read_bytes() == bom + wanted
    if note.read_bytes() != before:
        run(app, "undo")
    assert note.read_bytes() == before


@QUICK
@given(before=notes(), permanent=st.booleans())
def test_a_deleted_note_comes_back_byte_for_byte(app: App, note: Path, before: bytes, permanent: bool) -> None:
    put(app, note, before)
    run(app, "delete_note", name="Generated", permanent=permanent)
    assert not note.exists()
    run(app, "undo")
    assert note.read_bytes() == before


@QUICK
@given(linking=notes(), own=notes())
def test_a_move_changes_links_and_no_other_byte_in_any_file(
    app: App, basic: Path, note: Path, linking: bytes, own: bytes
) -> None:
    shutil.rmtree(basic / "Sub folder", ignore_errors=True)  # of an example that failed
    put(app, basic / "Generated.md", own)
    put(app, basic / "Other note.md", b"target\r\n")
    linking += b"\n\n[[Other note]]\r\n![[Other note#x|y]]  \n[a](Other%20note.md) \xff"
    put(app, basic / "Linking.md", linking)
    before = contents(basic)
    run(app, "move_note", name="Other note", to="Sub folder/Renamed")
    after = contents(basic)

    assert after.pop("Sub folder/Renamed.md") == before.pop("Other note.md")
    for path, data in before.items():
        back = after[path].replace(b"(Renamed.md)", b"(Other%20note.md)")
        back = back.replace(b"[[Renamed", b"[[Other note")
        assert back == data, path
    run(app, "undo")
    for path, data in before.items():
        assert (basic / path).read_bytes() == data
    assert (basic / "Other note.md").read_bytes() == b"target\r\n"
    assert not (basic / "Sub folder").exists()


@QUICK
@given(before=notes())
def test_a_renamed_tag_changes_its_name_and_no_other_byte(app: App, note: Path, before: bytes) -> None:
    before += b"\n\n#unusual/deep and #unusual, not #unusually \xff\r\n"
    put(app, note, before)
    run(app, "rename_tag", tag="unusual", to="usual")

    assert note.read_bytes() == before.replace(b"#unusual/", b"#usual/").replace(b"#unusual,", b"#usual,") or (
        note.read_bytes() == before and (b"```" in before or b"%%" in before or b"$" in before)
    )
    if note.read_bytes() != before:
        run(app, "undo")
    assert note.read_bytes() == before


MENTIONS = st.lists(
    st.sampled_from(
        [
            b"A heron, the HERON: Grey Heron!",
            b"- [ ] see a heron \xf0\x9f\x93\x85 2026-11-22",
            b"| heron | b |",
            b"| - | - |",
            b"`heron` [heron](x.md) #heron <https://heron.example/heron>",
            b"\xff heron \xfe",
        ]
    ),
    min_size=1,
    max_size=6,
)


@QUICK
@given(before=notes(), mentions=MENTIONS)
def test_linked_mentions_get_brackets_and_no_other_byte_changes(
    app: App, basic: Path, note: Path, before: bytes, mentions: list[bytes]
) -> None:
    """LINK-31"""
    (basic / "Heron.md").write_bytes(b"---\naliases: [grey heron]\n---\n")
    app.vaults.get().look_for("Heron.md")
    before += b"\n\n" + b"\n".join(mentions)
    put(app, note, before)
    answer = run(app, "link_mentions", name="Heron")
    after = note.read_bytes()

    assert re.sub(rb"\[\[Heron(?:\\?\|([^\]]+))?\]\]", lambda link: link[1] or b"Heron", after) == before
    assert answer["linked"] == after.count(b"[[") - before.count(b"[[")
    assert run(app, "link_mentions", name="Heron")["linked"] == 0
    assert note.read_bytes() == after
    if answer["linked"]:
        run(app, "undo")
    assert note.read_bytes() == before


@QUICK
@given(before=notes(), new=st.text(st.sampled_from("abcé日😀"), min_size=1, max_size=8))
def test_a_renamed_heading_changes_its_line_and_its_links(
    app: App, basic: Path, note: Path, before: bytes, new: str
) -> None:
    assume(b"```" not in before and b"%%" not in before and b"$" not in before)
    before += b"\n\n## Marked heading  \r\nbelow\n"
    put(app, note, before)
    linking = b"\xef\xbb\xbf[[Generated#Marked heading]] \xff 007\r\n[[Generated]]"
    put(app, basic / "Linking.md", linking)
    run(app, "edit_note", name="Generated", operation="rename_heading", section="Marked heading", content=new)

    assert note.read_bytes() == before.replace(b"Marked heading", new.encode())
    assert (basic / "Linking.md").read_bytes() == linking.replace(b"Marked heading", new.encode())
    run(app, "undo")
    assert note.read_bytes() == before
    assert (basic / "Linking.md").read_bytes() == linking


@QUICK
@given(
    indent=st.sampled_from(["\t", "  ", ""]),
    newline=st.sampled_from(["\n", "\r\n"]),
    ending=st.sampled_from(["", "\n", "\r\n\r\n"]),
    escaped=st.booleans(),
    bom=st.booleans(),
)
def test_a_canvas_keeps_its_layout_when_a_file_on_it_moves(
    app: App, basic: Path, indent: str, newline: str, ending: str, escaped: bool, bom: bool
) -> None:
    text = newline.join(
        [
            "{",
            f'{indent}"nodes":[',
            f'{indent}{indent}{{"id":"1","type":"file","file":"Other note.md","x":-0.0,"y":1e3,"width":40.0}},',
            f'{indent}{indent}{{"id":"2","type":"text","text":"[[Other note]] \\u00e9 \\/ \\n007","x":1}}',
            f'{indent}],   "edges":[],',
            f'{indent}"unknown": {{"b":1,"a":[ ]}}',
            "}",
        ]
    )
    if escaped:
        text = text.replace("é", "\\u00e9")
    before = (b"\xef\xbb\xbf" if bom else b"") + (text + ending).encode()
    put(app, basic / "Other note.md", b"target")
    put(app, basic / "Layout.canvas", before)
    run(app, "move_note", name="Other note", to="/Renamed")
    after = (basic / "Layout.canvas").read_bytes()
    assert after == before.replace(b"Other note", b"Renamed")
    run(app, "undo")
    assert (basic / "Layout.canvas").read_bytes() == before
