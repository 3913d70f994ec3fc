"""The vault's folder on disk (specs/files.md)."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from obsidian_mcp.adapters import place
from obsidian_mcp.adapters.cloud import is_in_cloud
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.place import RELATIVE_CALLS, TEMP_PREFIX, DiskPlace, long_path
from obsidian_mcp.adapters.renames import exchange
from obsidian_mcp.errors import (
    InvalidName,
    NoteExists,
    NoteNotFound,
    PermissionDenied,
    StaleEtag,
    StorageFailed,
    VaultNotFound,
)
from tests.disks import make_junctions
from tests.system import can, needs
from tests.vaults import contents


@pytest.fixture(params=[*(["openat"] if RELATIVE_CALLS else []), "paths"])
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Disk:
    """By the calls that walk from folder to folder, and as on systems without them."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "n.md").write_bytes(b"old")
    return Disk(tmp_path, relative_calls=request.param == "openat")


def listing(disk: Disk) -> list[str]:
    return sorted(file.disk for file in disk.scan())


def everything(disk: Disk) -> list[str]:
    return sorted(path.relative_to(disk.root).as_posix() for path in disk.root.rglob("*"))


def test_hidden_files_and_folders_are_not_listed(disk: Disk) -> None:
    """FILE-06"""
    for name in (".obsidian/app.json", "a/.x.md", ".trash/n.md", "b.md"):
        path = disk.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")

    assert listing(disk) == ["a/n.md", "b.md"]
    assert disk.subfolders("") == ["a"]


def test_a_write_replaces_the_whole_content_and_leaves_nothing_else(disk: Disk) -> None:
    """FILE-01, SAFE-10"""
    disk.write("a/n.md", b"new \xff\r\n")

    assert (disk.root / "a/n.md").read_bytes() == b"new \xff\r\n"
    assert everything(disk) == ["a", "a/n.md"]


@needs("permissions of POSIX")
def test_a_write_keeps_the_mode_of_the_file(disk: Disk) -> None:
    (disk.root / "a/n.md").chmod(0o640)

    disk.write("a/n.md", b"new")

    assert stat.S_IMODE((disk.root / "a/n.md").stat().st_mode) == 0o640


def test_a_new_file_gets_its_folders_and_never_replaces_another(disk: Disk) -> None:
    """FILE-03"""
    disk.create("x/y/z.md", b"1")

    with pytest.raises(NoteExists):
        disk.create("a/n.md", b"2")
    assert disk.read_file("a/n.md") == b"old"
    assert everything(disk) == ["a", "a/n.md", "x", "x/y", "x/y/z.md"]


def test_a_move_makes_folders_and_never_replaces_another_file(disk: Disk) -> None:
    disk.move("a/n.md", "b/c/m.md")
    disk.create("a/n.md", b"2")

    assert disk.read_file("b/c/m.md") == b"old"
    with pytest.raises(NoteExists):
        disk.move("a/n.md", "b/c/m.md")
    (disk.root / "a/link.md").hardlink_to(disk.root / "a/n.md")
    with pytest.raises(NoteExists):  # one file with two names, and still no change of case
        disk.move("a/n.md", "a/link.md")
    disk.move("a/n.md", "a/N.md")
    assert listing(disk) == ["a/N.md", "a/link.md", "b/c/m.md"]


def test_a_move_replaces_no_file_whose_name_differs_from_the_new_one_in_case(disk: Disk) -> None:
    (disk.root / "a/M.md").write_bytes(b"another")
    refused = pytest.raises(NoteExists) if (disk.root / "a/m.md").exists() else contextlib.nullcontext()
    with refused:  # on a disk that knows no case
        disk.move("a/n.md", "a/m.md")
    assert (disk.root / "a/M.md").read_bytes() == b"another"


@pytest.mark.parametrize("kind", [OSError, PermissionError, type("com_error", (Exception,), {}), RuntimeError])
def test_a_file_that_the_systems_bin_does_not_take_goes_to_the_vaults_trash(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    """FILE-09: COM's errors on Windows are no OSErrors"""

    def refuse(path: Path) -> None:
        raise kind("Not implemented")

    monkeypatch.setattr("send2trash.send2trash", refuse)
    disk.create("n.md", b"1")

    assert disk.trash("n.md", system=True) == ".trash/n.md"
    assert (disk.root / ".trash/n.md").read_bytes() == b"1"
    assert not (disk.root / "n.md").exists()


def test_trash_inside_the_vault_numbers_equal_names(disk: Disk) -> None:
    """FILE-09"""
    places = []
    for content in (b"1", b"2", b"3"):
        disk.write("a/n.md", content)
        places.append(disk.trash("a/n.md", system=False))

        (disk.root / "LICENSE").write_bytes(content)
        places.append(disk.trash("LICENSE", system=False))

    notes, others = places[::2], places[1::2]
    assert notes == [".trash/n.md", ".trash/n 2.md", ".trash/n 3.md"]
    assert others == [".trash/LICENSE", ".trash/LICENSE 2", ".trash/LICENSE 3"]
    assert (disk.root / ".trash/n 2.md").read_bytes() == b"2"
    assert listing(disk) == []


def test_a_missing_file_is_told(disk: Disk) -> None:
    assert disk.stat("x.md") is None
    assert disk.stat("a") is None
    for action in (disk.read_file, disk.delete):
        with pytest.raises(NoteNotFound):
            action("x.md")


@pytest.mark.parametrize("piece", [1, 4, 10, 11, 100])
def test_a_file_that_comes_in_pieces_is_read_whole(disk: Disk, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    data = b"0123456789"
    (disk.root / "a/n.md").write_bytes(data)
    whole = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, most: whole(descriptor, min(most, piece)))

    assert disk.read_file("a/n.md") == data
    assert [disk.head("a/n.md", most) for most in (0, 3, 10, 50)] == [b"", data[:3], data, data]


@pytest.mark.parametrize("said", [0, 4, 20])
def test_a_file_that_grows_or_shrinks_while_it_is_read_is_read_to_its_end(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, said: int
) -> None:
    (disk.root / "a/n.md").write_bytes(b"0123456789")
    real = os.fstat

    def before(descriptor: int) -> SimpleNamespace:
        return SimpleNamespace(st_mode=real(descriptor).st_mode, st_size=said)

    monkeypatch.setattr(os, "fstat", before)
    assert disk.read_file("a/n.md") == b"0123456789"


def test_a_vault_has_one_path_however_its_folder_is_spelled(tmp_path: Path) -> None:
    """SAFE-08"""
    vault = tmp_path / "Vault"
    vault.mkdir()
    spellings = [vault / ".." / "Vault"]
    if not can("names that differ in case"):
        spellings.append(tmp_path / "vAULT")
    if can("symbolic links"):
        (tmp_path / "link").symlink_to(vault)
        spellings.append(tmp_path / "link")
    assert {Disk(spelling).root for spelling in spellings} == {Disk(vault).root}


@pytest.mark.parametrize(
    ("path", "extended"),
    [
        (r"C:\Notes", r"\\?\C:\Notes"),
        (r"\\server\share\Notes", r"\\?\UNC\server\share\Notes"),
        (r"\\wsl$\Ubuntu\Notes", r"\\?\UNC\wsl$\Ubuntu\Notes"),
        (r"\\?\C:\Notes", r"\\?\C:\Notes"),
    ],
)
def test_windows_gets_paths_in_the_form_that_has_no_limit(path: str, extended: str) -> None:
    """FILE-12"""
    assert long_path(Path(path)) == (extended if os.name == "nt" else path)


def test_a_file_that_another_program_has_open_on_windows_is_tried_again(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FILE-11"""
    monkeypatch.setattr(place, "REPLACES_OPEN_FILES", False)
    (disk.root / "a/n.md").write_bytes(b"1")

    def busy(times: int, call: Callable[..., Any]) -> Callable[..., Any]:
        left = [times]

        def refused(*arguments: Any, **named: Any) -> Any:
            if left[0] and arguments[0] not in (str(disk.root), "a"):  # only the file itself
                left[0] -= 1
                error = PermissionError(errno.EACCES, "in use")
                error.winerror = 32  # type: ignore[attr-defined, unused-ignore]
                raise error
            return call(*arguments, **named)

        return refused

    for name in ("replace", "rename", "unlink"):
        monkeypatch.setattr(os, name, busy(3, getattr(os, name)))
    disk.write("a/n.md", b"2")
    disk.move("a/n.md", "a/N.txt")
    disk.delete("a/N.txt")
    assert listing(disk) == []
    monkeypatch.setattr(os, "unlink", busy(3, os.unlink))
    disk.create("a/n.md", b"3")
    assert everything(disk) == ["a", "a/n.md"]  # and no temporary file

    monkeypatch.setattr(os, "open", busy(10**9, os.open))
    with pytest.raises(PermissionDenied, match=r"Another program has 'a/n\.md' open"):
        disk.read_file("a/n.md")


LOOKS: dict[str, Callable[[Disk], object]] = {
    "read": lambda disk: disk.read_file("a/n.md"),
    "head": lambda disk: disk.head("a/n.md", 3),
    "stat": lambda disk: disk.stat("a/n.md") is not None and b"old",
    "exists": lambda disk: disk.exists("a/n.md") and b"old",
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_file_is_there_in_the_moment_in_which_windows_replaces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """FILE-11"""
    (tmp_path / "a").mkdir()
    hidden = tmp_path / f"a/{TEMP_PREFIX}n.md.replaced"
    hidden.write_bytes(b"old")
    disk = Disk(tmp_path, relative_calls=False)
    seconds = [0.0]

    def wait(pause: float) -> None:
        seconds[0] += pause
        if seconds[0] > 0.1 and look:
            hidden.rename(tmp_path / "a/n.md")

    monkeypatch.setattr(place, "time", SimpleNamespace(monotonic=lambda: seconds[0], sleep=wait))
    assert (listing(disk), disk.filter_exact_spellings(["a/n.md"])) == (["a/n.md"], {"a/n.md"})
    assert LOOKS[look](disk) == b"old"
    assert listing(disk) == ["a/n.md"]

    (tmp_path / "a/n.md").unlink()
    begun = seconds[0]
    assert not disk.exists("a/n.md")
    assert seconds[0] == begun, "a file that is not there is not waited for"
    hidden.write_bytes(b"old")
    look = ""  # nobody goes on: a process died
    with pytest.raises(NoteNotFound):
        disk.read_file("a/n.md")
    assert begun + 1 < seconds[0] < begun + 1.1


@pytest.mark.parametrize("relative_calls", [RELATIVE_CALLS, False])
def test_hidden_files_of_other_programs_are_no_files_that_are_being_replaced(
    tmp_path: Path, relative_calls: bool
) -> None:
    """FILE-11"""
    for name in (".a.replaced", f"{TEMP_PREFIX}.replaced", ".the-plans-of-2026.md.replaced", f"{TEMP_PREFIX}n.md.tmp"):
        (tmp_path / name).write_bytes(b"theirs")
    disk = Disk(tmp_path, relative_calls=relative_calls)
    assert listing(disk) == []

    (tmp_path / f"{TEMP_PREFIX}n.md.replaced").write_bytes(b"left by Windows")
    assert listing(disk) == ([] if relative_calls else ["n.md"]), "only who can wait for it may say that it is there"


def test_a_file_over_the_limit_is_not_loaded(disk: Disk) -> None:
    """FILE-07"""
    with pytest.raises(StorageFailed):
        disk.read_file("a/n.md", limit=2)


@needs("symbolic links")
def test_symbolic_links_are_neither_listed_nor_followed(disk: Disk, tmp_path_factory: pytest.TempPathFactory) -> None:
    """FILE-06"""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_bytes(b"secret")
    (disk.root / "link.md").symlink_to(outside / "secret.md")
    (disk.root / "folder").symlink_to(outside)
    (disk.root / "loop").symlink_to(disk.root)
    (disk.root / "own.md").symlink_to(disk.root / "a/n.md")

    assert listing(disk) == ["a/n.md"]
    for path in ("link.md", "folder/secret.md", "own.md", "loop/a/n.md"):
        for action in (
            disk.read_file,
            disk.stat,
            disk.delete,
            lambda p: disk.write(p, b"x"),
            lambda p: disk.create(p, b""),
            lambda p: disk.move(p, "moved.md"),
            lambda p: disk.trash(p, system=False),
        ):
            with pytest.raises(PermissionDenied, match="Give the path of the real file"):
                action(path)
    with pytest.raises(PermissionDenied):
        disk.move("a/n.md", "folder/n.md")
    assert (outside / "secret.md").read_bytes() == b"secret"
    assert sorted(path.name for path in outside.iterdir()) == ["secret.md"]


def test_junctions_of_windows_are_neither_listed_nor_followed(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """SAFE-15: `mklink /J` needs no privilege, and Python takes what it makes for a folder"""
    (disk.root / "j").mkdir()
    (disk.root / "j" / "secret.md").write_bytes(b"secret")
    (disk.root / "empty").mkdir()
    disk = Disk(disk.root, relative_calls=False)
    make_junctions(monkeypatch, disk.root / "j", disk.root / "empty")

    assert listing(disk) == ["a/n.md"]
    assert disk.subfolders("") == ["a"]
    assert list(disk.scan("j")) == []
    for action in (
        disk.read_file,
        disk.stat,
        disk.exists,
        disk.delete,
        lambda path: disk.write(path, b"x"),
        lambda path: disk.create(path, b""),
        lambda path: disk.move(path, "moved.md"),
        lambda path: disk.move("a/n.md", path),
        lambda path: disk.trash(path, system=False),
        lambda path: disk.trash(path, system=True),
    ):
        with pytest.raises(PermissionDenied, match="Give the path of the real file"):
            action("j/secret.md")
    disk.remove_folder("empty")
    assert (disk.root / "empty").is_dir()
    assert (disk.root / "j" / "secret.md").read_bytes() == b"secret"


@needs("permissions that bind us")
def test_what_the_system_forbids_is_permission_denied(disk: Disk) -> None:
    (disk.root / "a").chmod(0o500)
    with pytest.raises(PermissionDenied):
        disk.create("a/m.md", b"")
    (disk.root / "a").chmod(0o700)


@needs("names that are not UTF-8")
def test_a_name_that_is_not_utf8_is_listed_and_read(disk: Disk) -> None:
    raw = os.fsencode(disk.root) + b"/b\xff.md"
    try:
        descriptor = os.open(raw, os.O_CREAT | os.O_WRONLY)
    except OSError as error:
        pytest.skip(f"this disk takes no such name: {error}")
    os.write(descriptor, b"x")
    os.close(descriptor)

    assert listing(disk) == ["a/n.md", "b\udcff.md"]
    assert disk.read_file("b\udcff.md") == b"x"


def test_a_full_disk_changes_nothing_and_leaves_nothing(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFailed, match="full"):
        disk.write("a/n.md", b"new")
    with pytest.raises(StorageFailed, match="full"):
        disk.create("b.md", b"new")
    assert disk.read_file("a/n.md") == b"old"
    assert everything(disk) == ["a", "a/n.md"]


def test_a_disk_without_hard_links_still_never_replaces(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    disk.create("b.md", b"1")
    with pytest.raises(NoteExists):
        disk.create("b.md", b"2")
    assert disk.read_file("b.md") == b"1"
    assert everything(disk) == ["a", "a/n.md", "b.md"]


class Swapping(Disk):
    """Between the walk to a folder and what is done there, the folder `a` becomes a link that leads outside."""

    def __init__(self, root: Path, outside: Path) -> None:
        super().__init__(root)
        self.outside = outside

    @contextlib.contextmanager
    def place(self, disk: str, *, make: bool = False) -> Iterator[DiskPlace]:
        with super().place(disk, make=make) as place:
            if not (self.root / "a").is_symlink():
                (self.root / "a").rename(self.root / "aside")
                (self.root / "a").symlink_to(self.outside)
            yield place

    def swap_back(self) -> None:
        (self.root / "a").unlink()
        (self.root / "aside").rename(self.root / "a")


@needs("symbolic links", "calls relative to an open folder")
def test_a_folder_that_becomes_a_link_at_the_worst_moment_leads_nowhere(tmp_path: Path) -> None:
    """SAFE-15: folders are opened one below the other, so that what was checked is what is used."""
    for action in ("read", "head", "write", "create", "move in", "move out", "delete", "trash"):
        assert_it_stays_inside(tmp_path / action, action)


def assert_it_stays_inside(folder: Path, action: str) -> None:
    outside = folder / "outside"
    outside.mkdir(parents=True)
    (outside / "n.md").write_bytes(b"secret")
    root = folder / "vault"
    (root / "a").mkdir(parents=True)
    (root / "a/n.md").write_bytes(b"old")
    (root / "b.md").write_bytes(b"b")
    disk = Swapping(root, outside)
    match action:
        case "read":
            assert disk.read_file("a/n.md") == b"old"
        case "head":
            assert disk.head("a/n.md", 3) == b"old"
        case "write":
            disk.write("a/n.md", b"new", b"old")
        case "create":
            disk.create("a/m.md", b"made")
        case "move in":
            with contextlib.suppress(PermissionDenied):
                disk.move("b.md", "a/b.md")
        case "move out":
            disk.move("a/n.md", "m.md")
        case "delete":
            disk.delete("a/n.md")
        case "trash":
            disk.trash("a/n.md", system=False)

    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"n.md": b"secret"}
    with pytest.raises(PermissionDenied):
        disk.read_file("a/n.md")
    disk.swap_back()
    assert b"secret" not in {path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("path", ["../x.md", "a/../../x.md", "", "a/", ".", "a/."])
def test_no_part_of_a_path_leads_up(disk: Disk, path: str) -> None:
    for action in (
        disk.read_file,
        disk.stat,
        disk.delete,
        lambda p: disk.write(p, b"x"),
        lambda p: disk.create(p, b""),
    ):
        with pytest.raises(PermissionDenied):
            action(path)


@needs("named pipes")
def test_a_named_pipe_is_no_note_and_holds_nobody_up(disk: Disk) -> None:
    os.mkfifo(disk.root / "pipe.md")

    assert listing(disk) == ["a/n.md"]
    assert disk.stat("pipe.md") is None
    with pytest.raises(NoteNotFound):
        disk.read_file("pipe.md")


def test_a_write_is_refused_when_the_file_is_another_one_in_the_last_moment(disk: Disk) -> None:
    with pytest.raises(StaleEtag):
        disk.write("a/n.md", b"new", b"older")
    with pytest.raises(StaleEtag):
        disk.write("a/n.md", b"new", b"ol")
    disk.write("a/n.md", b"new", b"old")

    assert disk.read_file("a/n.md") == b"new"
    assert everything(disk) == ["a", "a/n.md"]


@needs("symbolic links", "calls relative to an open folder")
def test_a_link_that_takes_a_note_s_place_in_the_last_moment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAFE-08"""
    disk = Disk(tmp_path)
    disk.create("n.md", b"old")
    disk.create("other.md", b"other")

    def swapped(place: DiskPlace, name: str) -> bool:
        if not (tmp_path / "n.md").is_symlink():
            (tmp_path / "n.md").unlink()
            (tmp_path / "n.md").symlink_to("other.md")
        return exchange(place, name)

    monkeypatch.setattr("obsidian_mcp.adapters.disk.exchange", swapped)
    with pytest.raises(PermissionDenied, match="symbolic link"):
        disk.write("n.md", b"new", b"old")
    assert everything(disk) == ["n.md", "other.md"]
    assert (tmp_path / "n.md").read_bytes() == b"other"


def test_an_evicted_note_of_icloud_is_neither_overwritten_nor_said_to_be_missing(disk: Disk) -> None:
    """SAFE-14"""
    (disk.root / "a/.evicted.md.icloud").write_bytes(b"bplist00")
    before = everything(disk)
    for action in (
        disk.read_file,
        disk.exists,
        lambda p: disk.write(p, b"x"),
        lambda p: disk.create(p, b""),
        lambda p: disk.move("a/n.md", p),
        lambda p: disk.move(p, "b.md"),
    ):
        with pytest.raises(StorageFailed, match="not downloaded"):
            action("a/evicted.md")

    assert everything(disk) == before
    assert disk.stat("a/evicted.md") is None


def test_a_file_that_is_only_in_the_cloud_is_neither_read_nor_overwritten(disk: Disk) -> None:
    """SAFE-14"""
    away = (disk.root / "a/n.md").stat().st_ino
    clouded = Disk(disk.root, in_cloud=lambda facts: facts.st_ino == away)
    for action in (clouded.read_file, lambda p: clouded.head(p, 1), lambda p: clouded.write(p, b"x")):
        with pytest.raises(StorageFailed, match="not downloaded"):
            action("a/n.md")

    assert clouded.stat("a/n.md") is not None
    assert disk.read_file("a/n.md") == b"old"


@pytest.mark.parametrize(
    ("facts", "away"),
    [
        (SimpleNamespace(st_flags=0x40000000), True),
        (SimpleNamespace(st_flags=0x20), False),
        (SimpleNamespace(st_file_attributes=0x400000 | 0x20), True),
        (SimpleNamespace(st_file_attributes=0x1000), True),
        (SimpleNamespace(st_file_attributes=0x20), False),
        (SimpleNamespace(), False),
    ],
)
def test_the_systems_say_what_is_only_in_the_cloud(facts: Any, away: bool) -> None:
    """SAFE-14"""
    assert is_in_cloud(facts) is away


def test_nothing_replaces_what_appeared_in_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FILE-03"""
    disk = Disk(tmp_path)
    disk.create("a.md", b"a")
    disk.create("b.md", b"b")
    monkeypatch.setattr(DiskPlace, "exists", lambda _: False)
    with pytest.raises(NoteExists):
        disk.move("a.md", "b.md")
    with pytest.raises(NoteExists):
        disk.create("b.md", b"c")
    assert everything(disk) == ["a.md", "b.md"]
    assert (disk.read_file("a.md"), disk.read_file("b.md")) == (b"a", b"b")


@needs("calls relative to an open folder")
def test_every_change_is_on_the_disk_when_it_returns_and_leaves_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FILE-01"""
    (tmp_path / ".trash").mkdir()
    disk = Disk(tmp_path)
    synced: set[str] = set()
    sync = os.fsync

    def recorded(descriptor: int) -> None:
        facts = os.fstat(descriptor)
        folders = [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir())]
        synced.update(path.name for path in folders if os.path.samestat(path.stat(), facts))
        if stat.S_ISREG(facts.st_mode):
            synced.add("the file")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", recorded)
    open_before = len(list(Path("/dev/fd").iterdir()))
    for action, folders in (
        (lambda: disk.create("made/new/n.md", b"1"), {tmp_path.name, "made", "new", "the file"}),
        (lambda: disk.write("made/new/n.md", b"2"), {"new", "the file"}),
        (lambda: disk.write("made/new/n.md", b"3", b"2"), {"new", "the file"}),
        (lambda: disk.move("made/new/n.md", "made/n.md"), {"made", "new"}),
        (lambda: disk.trash("made/n.md", system=False), {"made", ".trash"}),
        (lambda: disk.create("n.md", b""), {tmp_path.name, "the file"}),
        (lambda: disk.read_file("n.md"), set[str]()),
        (lambda: list(disk.scan()), set[str]()),
        (lambda: disk.delete("n.md"), {tmp_path.name}),
    ):
        synced.clear()
        action()
        assert synced == folders
    assert len(list(Path("/dev/fd").iterdir())) == open_before


@pytest.mark.parametrize("relative_calls", {can("calls relative to an open folder"), False})
def test_nothing_is_made_below_a_file(tmp_path: Path, relative_calls: bool) -> None:
    """FILE-08"""
    disk = Disk(tmp_path, relative_calls=relative_calls)
    disk.create("a.md", b"a")
    disk.create("b.md", b"b")
    with pytest.raises(InvalidName, match="is a file, not a folder"):
        disk.create("a.md/x.md", b"")
    with pytest.raises(InvalidName, match="is a file, not a folder"):
        disk.move("b.md", "a.md/x/b.md")
    assert listing(disk) == ["a.md", "b.md"]


def test_a_file_that_cannot_be_looked_at_is_not_said_to_be_missing(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """FILE-08"""
    look = os.stat

    def failing(path: Any, **options: Any) -> os.stat_result:
        if str(path).endswith("n.md"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return look(path, **options)

    with monkeypatch.context() as broken:
        broken.setattr(os, "stat", failing)
        for action in (
            disk.stat,
            disk.exists,
            disk.delete,
            lambda p: disk.create(p, b""),
            lambda p: disk.write(p, b""),
        ):
            with pytest.raises(StorageFailed, match="input/output"):
                action("a/n.md")
    assert disk.read_file("a/n.md") == b"old"


@pytest.fixture
def known(tmp_path: Path) -> Disk:
    """Of a vault with a settings folder and one note, which was listed."""
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    (root / "n.md").write_bytes(b"n")
    disk = Disk(root)
    assert listing(disk) == ["n.md"]
    return disk


def test_a_vault_whose_disk_is_gone_is_not_an_empty_vault(known: Disk, tmp_path: Path) -> None:
    """SAFE-16"""
    disk, root = known, known.root
    root.rename(tmp_path / "away")
    for _ in range(2):
        for action in (disk.read_file, disk.stat, disk.delete, lambda p: disk.create(p, b""), lambda _: listing(disk)):
            with pytest.raises(VaultNotFound):
                action("n.md")
        root.mkdir(exist_ok=True)  # the mount point without the disk
    assert list(root.iterdir()) == []
    root.rmdir()
    (tmp_path / "away").rename(root)
    assert disk.read_file("n.md") == b"n"


def test_a_vault_that_loses_its_settings_folder_is_still_there(known: Disk) -> None:
    """SAFE-16"""
    (known.root / ".obsidian").rmdir()
    assert listing(known) == ["n.md"]
    assert not known.exists("gone.md")


@pytest.mark.parametrize(
    ("number", "error", "words"),
    [(errno.EROFS, StorageFailed, "read-only"), (errno.EACCES, PermissionDenied, "permissions")],
)
def test_what_the_system_says_of_opening_a_file_is_told_in_words(
    disk: Disk, number: int, error: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FILE-08: on a disk that is mounted read-only the permissions were blamed"""
    opened = os.open

    def failing(path: str, flags: int, *arguments: int, **options: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) == os.O_WRONLY:
            raise OSError(number, os.strerror(number))
        return opened(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(error, match=words):
        disk.write("a/n.md", b"x")
    monkeypatch.undo()
    assert disk.read_file("a/n.md") == b"old"


@pytest.mark.parametrize(
    ("number", "error", "words"),
    [
        (errno.EROFS, StorageFailed, "read-only"),
        (errno.ENOSPC, StorageFailed, "full"),
        (errno.EACCES, PermissionDenied, "permissions"),
        (errno.ESTALE, StorageFailed, "not connected"),
        (errno.EIO, StorageFailed, "input/output"),
    ],
)
def test_what_the_system_says_is_told_in_words_and_nothing_changes(
    disk: Disk, number: int, error: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FILE-08"""

    def failing(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(error, match=words):
        disk.write("a/n.md", b"x")
    with pytest.raises(error, match=words):
        disk.create("b.md", b"x")
    assert everything(disk) == ["a", "a/n.md"]
    assert disk.read_file("a/n.md") == b"old"


@pytest.mark.parametrize("end", ["aside", "replaced"])
def test_what_a_dead_writer_left_hidden_between_two_steps_has_its_own_name_again(disk: Disk, end: str) -> None:
    """SAFE-03: a rename in two steps, and the replacing of Windows, where the tests of kills
    come upon it"""
    folder = disk.root / "a"
    hidden = folder / f"{TEMP_PREFIX}n.md.{end}"
    (folder / "n.md").rename(hidden)
    (folder / f"{TEMP_PREFIX}0.tmp").write_bytes(b"half")
    disk.sweep("a/other.md")
    assert contents(folder) == {"n.md": b"old"}

    hidden.write_bytes(b"older")
    (folder / f"{TEMP_PREFIX}0.tmp").write_bytes(b"half")
    disk.sweep("a/other.md")
    kept = {hidden.name: b"older"} if end == "aside" else {}  # of a rename it may be the only copy
    assert contents(folder) == {"n.md": b"old", **kept}
