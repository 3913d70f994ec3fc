"""Fixtures of the whole suite: copies of fixture vaults, and the App on them."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import hypothesis
import pytest

from obsidian_mcp import compose, config
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.app import App
from obsidian_mcp.core.vault.vault import Vault

from .disks import OtherDisk
from .examples import CHECKED, EXPLORED, USUAL
from .system import can
from .vaults import vault_on

if TYPE_CHECKING:
    from obsidian_mcp.app import Vaults

FIXTURES = Path(__file__).parent.parent / "vault_fixtures"

VaultCopy = Callable[[str], Path]

# A busy machine is no failure, and `make test` is red for a change only: it tries the same examples each time. Of an
# example that fails, the line `@reproduce_failure` that repeats it is printed, too.
hypothesis.settings.register_profile("same", deadline=None, print_blob=True, derandomize=True, max_examples=USUAL)
hypothesis.settings.register_profile("check", hypothesis.settings.get_profile("same"), max_examples=CHECKED)
hypothesis.settings.register_profile("explore", deadline=None, print_blob=True, max_examples=EXPLORED)
hypothesis.settings.load_profile("same")

# The usual thresholds are for small programs: with all modules and tests loaded, looking for cycles took a tenth of the
# processor time. While modules and tests are being loaded there is no garbage.
gc.set_threshold(100_000, 10, 20)
gc.disable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write every generated file anew, and test nothing else")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(asyncio, "ProactorEventLoop"):  # it leaves the socket of a connection that the client reset open
        config.addinivalue_line("filterwarnings", "ignore:unclosed (transport <_Proactor|<socket):ResourceWarning")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --update, run only what writes generated files."""
    gc.enable()
    if config.getoption("--update"):
        writing = [item for item in items if "update" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=[item for item in items if item not in writing])
        items[:] = writing


def pytest_runtest_teardown() -> None:
    """Undo the `gc.freeze` of a program that ran in this process. In Python 3.14 the collector does not see frozen
    dictionaries, and Hypothesis warns when it does not find who refers to its random numbers."""
    gc.unfreeze()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _log_skipped(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    _log_skipped(report)


def _log_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Add the reason of a skipped test to the file that `tests/check.py` reads at its end."""
    log = os.environ.get("SKIPPED_LOG")
    if log and report.skipped and isinstance(report.longrepr, tuple):
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(" ".join(report.longrepr[2].removeprefix("Skipped: ").split()) + "\n")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether generated files are written anew instead of compared."""
    return bool(request.config.getoption("--update"))


@pytest.fixture(params=["this disk", *(["a disk of macOS"] if can("names that differ in case") else [])])
def each_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Runs a test once on this system's disk, and once on one that knows no case and stores names in NFD."""
    if request.param != "this disk":
        OtherDisk(tmp_path, monkeypatch)


@pytest.fixture
def disk_of_macos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test once, on the second disk of `each_disk`: for tests that would take too long twice."""
    OtherDisk(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def macos_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on that disk, for a vault that the tests of a file share."""
    folder = tmp_path_factory.mktemp("macos")
    with pytest.MonkeyPatch.context() as patch:
        OtherDisk(folder, patch)
        yield folder


@pytest.fixture
def vault_copy(tmp_path: Path) -> VaultCopy:
    """Copies a fixture vault to a fresh folder."""

    def copy(name: str) -> Path:
        return _copy_vault(name, tmp_path / name)

    return copy


class _Kept(NamedTuple):
    """A file or folder of a fixture vault."""

    path: str
    data: bytes | None
    """None for a folder."""
    times: tuple[int, int]


@cache
def _read_vault(name: str) -> list[_Kept]:
    """Return what a fixture vault holds, folders before what is in them."""
    root = FIXTURES / name
    return [
        _Kept(
            path.relative_to(root).as_posix(),
            None if path.is_dir() else path.read_bytes(),
            (path.stat().st_atime_ns, path.stat().st_mtime_ns),
        )
        for path in sorted(root.rglob("*"))
    ]


def _copy_vault(name: str, target: Path) -> Path:
    """Write a fixture vault to a new folder. Thousands of tests do it, so it is read once."""
    target.mkdir()
    for kept in _read_vault(name):
        path = target / kept.path
        if kept.data is None:
            path.mkdir()
        else:
            path.write_bytes(kept.data)
            os.utime(path, ns=kept.times)
    return target


@pytest.fixture
def basic(vault_copy: VaultCopy) -> Path:
    return vault_copy("basic")


_made: list[App] = []
"""The Apps of `app_on` that are to be closed."""


def app_on(*vaults: Path, **changed: Any) -> App:
    """An App without a watcher, and with nothing of this machine's own in it; `changed` are settings (`Config`), and
    `serving` as `compose.build` takes it. It is closed after the test that makes it; one that a fixture of a module
    makes, by that fixture."""
    beside, serving = vaults[0].parent, changed.pop("serving", False)
    settings = config.Config(tuple(map(str, vaults)), environ={"HOME": str(beside)})
    made = compose.build(
        settings.replace(
            named_cache=str(beside / "cache"),
            named_state=str(beside / "state"),
            named_policy=str(beside / "policy.toml"),
            **changed,
        ),
        serving=serving,
    )
    _made.append(made)
    return made


@pytest.fixture(autouse=True)
def _close_apps() -> Iterator[None]:
    """Close the Apps that the test made, also where it failed: what the collector finds open fails a later test."""
    before = len(_made)
    yield
    while len(_made) > before:
        _made.pop().vaults.close()


@pytest.fixture(scope="module")
def shared_basic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `basic`, one for all tests of a file."""
    return _copy_vault("basic", tmp_path_factory.mktemp("shared") / "basic")


@pytest.fixture(scope="module")
def shared_app(shared_basic: Path) -> Iterator[App]:
    """As `app`, for the tests of a file that leave its notes as they are: one for all of them."""
    opened = app_on(shared_basic)
    yield opened
    opened.vaults.close()


@pytest.fixture
def opened(root: Path) -> Iterator[Callable[..., Vault]]:
    """Opens the vault of the test's own fixture `root`, on another disk where one is given; closes it at the end."""
    vaults: list[Vault] = []

    def open_vault(disk: Disk | None = None) -> Vault:
        vaults.append(vault_on(disk or Disk(root)))
        return vaults[-1]

    yield open_vault
    for vault in vaults:
        vault.close()


@pytest.fixture
def app(basic: Path) -> Iterator[App]:
    opened = app_on(basic)
    yield opened
    opened.vaults.close()


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.total_changes  # noqa: B018
    except sqlite3.ProgrammingError:
        return False
    return True


@pytest.fixture
def unclosed(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[sqlite3.Connection]]:
    """Returns the connections of SQLite that the test opened and nobody closed. Python 3.13 warns of those that the
    collector finds, in whatever test runs then; this names the test that opened them, on every version."""
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def recorded(*given: Any, **named: Any) -> sqlite3.Connection:
        made.append(connect(*given, **named))
        return made[-1]

    monkeypatch.setattr("sqlite3.connect", recorded)
    return lambda: [connection for connection in made if is_open(connection)]


class DeletingVaults(NamedTuple):
    """Vaults of which another program deletes a file after every look at the folder."""

    vaults: Vaults
    file: Path

    def get(self, name: str = "", *, listed: bool = True) -> Vault:
        vault = self.vaults.get(name, listed=listed)
        self.file.unlink(missing_ok=True)
        return vault

    def __getattr__(self, name: str) -> Any:
        return getattr(self.vaults, name)
