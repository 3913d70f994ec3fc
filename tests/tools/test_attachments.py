"""Images, PDF files and other attachments (specs/attachments.md)."""

from __future__ import annotations

import base64
import io
import json
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from obsidian_mcp.adapters import media_process
from obsidian_mcp.adapters.outside import OutsideFiles
from obsidian_mcp.app import App
from obsidian_mcp.core.files import media
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.errors import (
    AppError,
    InvalidArguments,
    InvalidName,
    NoteNotFound,
    NotShowable,
    OperationTimeout,
    PermissionDenied,
    StorageFailed,
)
from obsidian_mcp.tools.outcome import Outcome
from obsidian_mcp.tools.registry import call
from tests import forked
from tests.conftest import app_on
from tests.serve.mcp.test_resources import PIXEL, started
from tests.system import can

NOISE = bytes((number * 7919) >> 3 & 0xFF for number in range(4096))


def png(width: int, height: int, row: bytes = NOISE, level: int = 0) -> bytes:
    """A picture that does not compress well."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    line = (row * (width * 3 // len(row) + 1))[: width * 3]
    lines = b"".join(b"\0" + line[number % 97 :] + line[: number % 97] for number in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines, level))
        + chunk(b"IEND", b"")
    )


def pdf(*pages: str) -> bytes:
    """A document with one line of text on each page."""
    return pdf_of(*(f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode() for text in pages))


def pdf_bomb(size: int) -> bytes:
    """A document with a page whose text takes many seconds and so many bytes, several times, to read."""
    return pdf_of(b"BT /F1 12 Tf 72 720 Td " + b"(ab) Tj " * (size // 8) + b" ET")


def pdf_of(*streams: bytes) -> bytes:
    """A document with one page for each stream of drawing instructions, which are compressed."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, stream in enumerate(streams):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        data = zlib.compress(stream, 9)
        head = f"<< /Length {len(data)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + data + b"\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + end.encode()


@pytest.fixture
def app(basic: Path) -> Iterator[App]:
    (basic / "img").mkdir()
    (basic / "img/pixel.png").write_bytes(PIXEL)
    (basic / "img/Unused.JPG").write_bytes(b"\xff\xd8\xff")
    (basic / "paper.pdf").write_bytes(pdf("First page", "Second page", "Third page"))
    (basic / "Pictures.md").write_text(
        "![[pixel.png|100]] ![[Alpha]] [the paper](paper.pdf) ![[gone.png]] [[Home]]\n", encoding="utf-8"
    )
    opened = app_on(basic)
    yield opened
    opened.vaults.close()


def ask(app: App, **arguments: Any) -> Outcome:
    return call(app, "obsidian_attachments", arguments)


def paths(app: App, **arguments: Any) -> list[str]:
    listed = ask(app, **arguments).data["names"].items()
    return [f"{folder}{name}".removeprefix("/") for folder, names in listed for name in names]


def test_attachments_are_listed_and_found_by_path_and_kind(app: App) -> None:
    """ATT-01"""
    everything = ["Attachments/wheel.svg", "img/Unused.JPG", "img/pixel.png", "paper.pdf"]

    assert paths(app) == everything
    assert paths(app, query="IMG/") == ["img/Unused.JPG", "img/pixel.png"]
    assert paths(app, query="pdf") == ["paper.pdf"]
    assert paths(app, query="image") == everything[:3]
    assert paths(app, limit=1, offset=1) == everything[1:2]
    assert ask(app, limit=1).data["next_offset"] == 1


def test_those_that_nothing_links_to_are_found(app: App) -> None:
    """ATT-02"""
    assert paths(app, unused=True) == ["Attachments/wheel.svg", "img/Unused.JPG"]


def test_what_a_note_embeds_is_said_with_what_it_is(app: App) -> None:
    """ATT-03"""
    data = ask(app, note="Pictures").data

    assert [(entry["path"], entry["kind"], entry["link"]) for entry in data["attachments"]] == [
        ("img/pixel.png", "image", "![[pixel.png|100]]"),
        ("Projects/Alpha.md", "note", "![[Alpha]]"),
        ("paper.pdf", "pdf", "[the paper](paper.pdf)"),
    ]
    assert data["missing"] == ["![[gone.png]]"]


def test_a_small_image_is_shown_as_it_is(app: App) -> None:
    """ATT-04"""
    shown = ask(app, name="pixel.png").picture

    assert shown is not None
    assert (shown.mime, shown.image) == ("image/png", PIXEL)


def test_a_file_of_the_root_is_reached_by_its_path_though_another_has_its_name(app: App, basic: Path) -> None:
    """NAME-03: it was said to be ambiguous, with the advice to give the path that had been given"""
    (basic / "img").mkdir(exist_ok=True)
    for path in ("plan.png", "img/plan.png"):
        (basic / path).write_bytes(PIXEL)
    app.vaults.get().refresh()

    assert ask(app, name="plan.png").data["path"] == "plan.png"
    assert ask(app, name="img/plan.png").data["path"] == "img/plan.png"
    moved = call(app, "obsidian_move_note", {"name": "plan.png", "to": "Plan of the root.png"}).data
    assert moved["path"] == "plan.png"


@pytest.mark.parametrize(("width", "height"), [(2400, 30), (900, 700), (3000, 1000)])
def test_a_large_image_is_shrunk_to_what_hosts_take(app: App, basic: Path, width: int, height: int) -> None:
    """ATT-04"""
    pytest.importorskip("PIL", reason="Pillow, of the extra `media`, is not installed")
    data = png(width, height)
    (basic / "big.png").write_bytes(data)
    outcome = ask(app, name="big.png")

    assert outcome.picture is not None
    assert outcome.data["shrunk"] is True
    assert (outcome.data["width"], outcome.data["height"]) == (width, height)
    assert len(outcome.picture.image) <= 700_000
    size = media.picture_size(outcome.picture.image)
    assert size is not None
    assert max(size) <= 2000
    assert abs(size[0] / size[1] - width / height) < 0.05 * width / height
    assert (basic / "big.png").read_bytes() == data


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n" + b"x" * 100, b"not an image"])
def test_an_image_that_is_none_is_refused_in_a_sentence(app: App, basic: Path, data: bytes) -> None:
    pytest.importorskip("PIL", reason="Pillow, of the extra `media`, is not installed")
    (basic / "bad.gif").write_bytes(data)

    with pytest.raises(NotShowable, match="cannot be opened") as refused:
        ask(app, name="bad.gif")
    assert "object at" not in str(refused.value)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_the_size_is_read_from_every_kind_of_image(kind: str) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow, of the extra `media`, is not installed")
    out = io.BytesIO()
    image.new("RGB", (321, 123)).save(out, kind)

    assert media.picture_size(out.getvalue()) == (321, 123)
    for length in range(40):
        media.picture_size(out.getvalue()[:length])  # whatever it says of a torn file, it does not fail


def test_the_text_of_a_pdf_comes_page_by_page(app: App) -> None:
    """ATT-05"""
    pytest.importorskip("pypdf", reason="pypdf, of the extra `media`, is not installed")
    every = ask(app, name="paper.pdf")
    some = ask(app, name="paper.pdf", pages="2-2")

    assert every.text == "--- page 1 ---\nFirst page\n\n--- page 2 ---\nSecond page\n\n--- page 3 ---\nThird page\n"
    assert every.data["total_pages"] == 3
    assert some.text == "--- page 2 ---\nSecond page\n"
    assert ask(app, name="paper.pdf", pages="3").text == "--- page 3 ---\nThird page\n"
    assert ask(app, name="paper.pdf", pages="2-").data["pages"] == "2-3"


def test_a_long_pdf_says_where_to_read_on(app: App, basic: Path) -> None:
    pytest.importorskip("pypdf", reason="pypdf, of the extra `media`, is not installed")
    (basic / "long.pdf").write_bytes(pdf(*["word " * 5_000] * 4))
    first = ask(app, name="long.pdf").data
    second = ask(app, name="long.pdf", pages=first["next_pages"]).data

    assert (first["pages"], first["next_pages"]) == ("1-1", "2-4")
    assert (second["pages"], second["next_pages"]) == ("2-2", "3-4")


@pytest.mark.parametrize("pages", ["0", "4", "5-9", "3-2", "x", "1,2", "-2"])
def test_pages_that_there_are_not_are_refused(app: App, pages: str) -> None:
    pytest.importorskip("pypdf", reason="pypdf, of the extra `media`, is not installed")
    with pytest.raises(InvalidArguments):
        ask(app, name="paper.pdf", pages=pages)


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.4", b"junk" * 100, pdf("One")[:200], pdf("One").replace(b"Kids", b"Cats")]
)
def test_a_broken_pdf_is_refused_in_a_sentence(app: App, basic: Path, data: bytes) -> None:
    pytest.importorskip("pypdf", reason="pypdf, of the extra `media`, is not installed")
    (basic / "broken.pdf").write_bytes(data)
    try:
        answer = ask(app, name="broken.pdf").text  # some flaws are forgiven
    except (NotShowable, InvalidArguments) as error:
        answer = error.message

    assert answer


def test_other_files_say_what_they_are(app: App, basic: Path) -> None:
    (basic / "song.mp3").write_bytes(b"\xff\xfb\x00")
    (basic / "data.csv").write_bytes(b"a,b\n1,2\n")
    (basic / "noise.bin").write_bytes(b"\0\1\2")

    assert ask(app, name="song.mp3").data["note"] == "Sound and film cannot be shown to a model."
    assert ask(app, name="data.csv").text == "a,b\n1,2\n"
    assert str(ask(app, name="wheel.svg").text).startswith("<svg")
    with pytest.raises(NotShowable):
        ask(app, name="noise.bin")
    with pytest.raises(NoteNotFound):
        ask(app, name="nothing.png")


# --- adding


def add(app: App, **arguments: Any) -> dict[str, Any]:
    return call(app, "obsidian_add_attachment", arguments).data


DATA = base64.b64encode(PIXEL).decode()


def test_a_file_for_a_note_that_is_missing_is_not_added(app: App, basic: Path) -> None:
    """ATT-06"""
    before = sorted(basic.rglob("*"))
    with pytest.raises(NoteNotFound):
        add(app, name="new.png", data=DATA, note="No such note")
    assert sorted(basic.rglob("*")) == before


@pytest.mark.parametrize(
    ("setting", "note", "expected"),
    [
        ("/", "", "new.png"),
        ("Files/media", "", "Files/media/new.png"),
        ("./", "Alpha", "Projects/new.png"),
        ("./img", "Alpha", "Projects/img/new.png"),
        ("./img", "", "img/new.png"),
    ],
)
def test_an_added_file_goes_where_the_settings_of_the_app_say(
    app: App, basic: Path, setting: str, note: str, expected: str
) -> None:
    """ATT-06: semantics 6.2."""
    (basic / ".obsidian").mkdir(exist_ok=True)
    settings = json.dumps({"attachmentFolderPath": setting})
    (basic / ".obsidian/app.json").write_text(settings, encoding="utf-8")

    assert add(app, name="new.png", data=DATA, note=note)["path"] == expected
    assert (basic / expected).read_bytes() == PIXEL


def test_nothing_is_replaced_and_the_embed_leads_to_the_new_file(app: App, basic: Path) -> None:
    """ATT-06"""
    other = base64.b64encode(PIXEL + b"\0").decode()
    first = add(app, name="img/pixel.png", data=f"data:image/png;base64,{other[:20]}\n{other[20:]}")
    second = add(app, name="Other/pixel.png", data=DATA)

    assert (first["path"], first["embed"]) == ("img/pixel 1.png", "![[pixel 1.png]]")
    assert (second["path"], second["embed"]) == ("Other/pixel.png", "![[Other/pixel.png]]")
    assert (basic / "img/pixel.png").read_bytes() == PIXEL


def test_a_name_that_links_cannot_hold_is_changed_as_in_the_app(app: App) -> None:
    """ATT-06: semantics 6.8."""
    added = add(app, name="Files/Plan #2: a^b [x].png", data=DATA)
    assert (added["path"], added["embed"]) == ("Files/Plan 2 a b [x].png", "![[Plan 2 a b [x].png]]")


def test_an_added_file_can_be_taken_back(app: App, basic: Path) -> None:
    """ATT-07"""
    path = add(app, name="new.png", data=DATA)["path"]
    call(app, "obsidian_undo", {})

    assert not (basic / path).exists()


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"name": "a.png"}, InvalidArguments),
        ({"name": "a.png", "data": DATA, "source": "/x"}, InvalidArguments),
        ({"name": "a.png", "data": "not base64!"}, InvalidArguments),
        ({"name": "a.md", "data": DATA}, InvalidName),
        ({"name": "a", "data": DATA}, InvalidName),
        ({"name": "../a.png", "data": DATA}, PermissionDenied),
        ({"name": ".obsidian/a.png", "data": DATA}, PermissionDenied),
        ({"name": "/etc/a.png", "data": DATA}, PermissionDenied),
        ({"name": "a?.png", "data": DATA}, InvalidName),
    ],
)
def test_what_cannot_be_added_is_refused(app: App, arguments: dict[str, str], kind: type[AppError]) -> None:
    with pytest.raises(kind):
        add(app, **arguments)


def test_a_file_is_brought_in_only_from_an_allowed_folder(app: App, basic: Path, tmp_path: Path) -> None:
    """ATT-08"""
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    for folder in (allowed, other):
        folder.mkdir()
        (folder / "photo.png").write_bytes(PIXEL)
    outside = [other / "photo.png", allowed / "../other/photo.png"]
    if can("symbolic links"):
        outside.append(allowed / "way out.png")
        outside[-1].symlink_to(other / "photo.png")
    with pytest.raises(PermissionDenied, match="OBSIDIAN_MCP_IMPORT"):
        add(app, name="a.png", source=str(allowed / "photo.png"))
    open_app = app.replace(read_outside=OutsideFiles([allowed]).read_outside_file)

    assert add(open_app, name="a.png", source=str(allowed / "photo.png"))["path"] == "a.png"
    for source in outside:
        with pytest.raises(PermissionDenied):
            add(open_app, name="b.png", source=str(source))
    with pytest.raises(NoteNotFound):
        add(open_app, name="b.png", source=str(allowed / "none.png"))
    with pytest.raises(StorageFailed):
        OutsideFiles([allowed]).read_outside_file(str(allowed / "photo.png"), 10)


# --- on the wire


def test_a_client_gets_an_image_it_can_show(app: App, basic: Path) -> None:
    """ATT-04: Hosts that find structured content do not look at the rest."""
    with started(basic) as server:
        server.initialize()
        call_ = {"name": "obsidian_attachments", "arguments": {"name": "pixel.png"}}
        result = server.call("tools/call", call_)["result"]
        facts, image = result["content"]

        assert json.loads(facts["text"])["data"]["path"] == "img/pixel.png"
        assert (image["type"], image["mimeType"]) == ("image", "image/png")
        assert base64.b64decode(image["data"]) == PIXEL
        assert "structuredContent" not in result


def test_the_command_line_writes_an_image_to_a_file_and_its_facts_as_json(app: App, basic: Path) -> None:
    own = {"OBSIDIAN_MCP_CACHE": str(basic.parent / "c"), "OBSIDIAN_MCP_STATE": str(basic.parent / "s"), "PATH": ""}
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(basic), "attachments", "pixel.png"]
    image = forked.run(command, env=own)
    facts = forked.run([*command, "--json"], env=own)

    assert image.returncode == facts.returncode == 0
    assert image.stdout == PIXEL
    assert base64.b64decode(json.loads(facts.stdout)["base64"]) == PIXEL


def test_the_same_bytes_are_not_added_twice(app: App) -> None:
    """ATT-09"""
    given = {"name": "new.png", "data": base64.b64encode(PIXEL).decode()}
    first = call(app, "obsidian_add_attachment", given).to_full_data()
    again = call(app, "obsidian_add_attachment", given).to_full_data()
    other = call(app, "obsidian_add_attachment", {**given, "data": "eA=="}).to_full_data()
    assert (first["path"], again["path"], other["path"]) == ("new.png", "new.png", "new 1.png")
    assert "existing" not in first
    assert again["existing"]
    assert first["embed"] == "![[new.png]]"
    assert (
        call(app, "obsidian_add_attachment", {"name": "a.csv", "data": "eA=="}).to_full_data()["embed"] == "[[a.csv]]"
    )


def test_attachments_go_with_their_note_only_where_that_is_asked_and_nobody_else_has_them(
    app: App, basic: Path
) -> None:
    """ATT-10"""
    (basic / "Other.md").write_text("![[pixel.png]]", encoding="utf-8")
    assert "attachments" not in call(app, "obsidian_delete_note", {"name": "Pictures"}).to_full_data()
    call(app, "obsidian_undo", {})
    deleted = call(app, "obsidian_delete_note", {"name": "Pictures", "attachments": True}).to_full_data()
    assert deleted["attachments"] == ["paper.pdf"]
    assert (basic / "img/pixel.png").exists()
    assert not (basic / "paper.pdf").exists()
    call(app, "obsidian_undo", {})
    assert (basic / "paper.pdf").exists()
    assert (basic / "Pictures.md").exists()


def test_a_page_without_text_comes_as_an_image(app: App, basic: Path) -> None:
    """ATT-11"""
    pytest.importorskip("pypdfium2", reason="the extra media is not installed")
    (basic / "scan.pdf").write_bytes(pdf("", "", "Third"))
    picture = call(app, "obsidian_attachments", {"name": "scan.pdf", "pages": "1-2"})
    assert picture.picture is not None
    assert picture.picture.image.startswith((b"\x89PNG", b"\xff\xd8"))
    assert (picture.data["pages"], picture.data["next_pages"], picture.data["total_pages"]) == ("1", "2-2", 3)
    assert max(picture.data["width"], picture.data["height"]) <= 2000
    text = call(app, "obsidian_attachments", {"name": "scan.pdf"})
    assert "Third" in (text.text or "")
    assert text.data["note"] == "Pages without text: 1, 2. Ask for one of them alone to see its image."
    assert "note" not in call(app, "obsidian_attachments", {"name": "scan.pdf", "pages": "3"}).data


def test_a_pdf_that_takes_long_ends_with_the_call(app: App, basic: Path) -> None:
    """ATT-12, SAFE-17"""
    pytest.importorskip("pypdf", reason="pypdf, of the extra `media`, is not installed")
    (basic / "slow.pdf").write_bytes(pdf_bomb(50_000_000))
    begin = time.monotonic()

    with call_with(limit=Deadline(1)), pytest.raises(OperationTimeout):
        ask(app, name="slow.pdf")

    assert time.monotonic() - begin < 6  # without the limit: 10 s and more
    assert media_workers() == []


def media_workers() -> list[psutil.Process]:
    """Return the processes that this one has started to read files."""
    return [
        process
        for process in psutil.Process().children(recursive=True)
        if "obsidian_mcp.adapters.media_worker" in process.cmdline()
    ]


def test_a_pdf_that_takes_much_memory_is_refused(app: App, basic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ATT-12"""
    pytest.importorskip("pypdf", reason="pypdf, of the extra `media`, is not installed")
    monkeypatch.setattr(media_process, "MEMORY_BYTES", 200 * 2**20)
    (basic / "large.pdf").write_bytes(pdf_bomb(60_000_000))
    before = psutil.Process().memory_info().rss

    with pytest.raises(NotShowable, match="too much memory"):
        ask(app, name="large.pdf")

    assert psutil.Process().memory_info().rss < before + 100 * 2**20


def test_a_picture_of_many_pixels_takes_the_memory_of_one_copy(
    app: App, basic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ATT-04, ATT-12"""
    pytest.importorskip("PIL", reason="Pillow, of the extra `media`, is not installed")
    monkeypatch.setattr(media_process, "MEMORY_BYTES", 340 * 2**20)
    (basic / "large.png").write_bytes(png(5_000, 5_000, bytes(300), level=1))

    outcome = ask(app, name="large.png")

    assert outcome.picture is not None
    assert media.picture_size(outcome.picture.image) == (2_000, 2_000)
