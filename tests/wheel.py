"""The wheel as a person installs it: into an empty environment, from the package index. `make wheel` and CI run it.

    python -m tests.wheel

It checks that both commands start, that `install --dry-run` and `doctor` work, that nothing of the tests came along,
and that the wheel, what it needs and the start stay within the budgets below.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

from obsidian_mcp import DISTRIBUTION, __version__

ROOT = Path(__file__).parents[1]
WHEEL_KB = 1_700
"""Most kilobytes of the wheel; the console takes 50."""
ENVIRONMENT_MB = 60
"""Most megabytes of the wheel unpacked with everything that it needs, without compiled files: 54.7 on Linux, about 58.5
on Windows, where pywin32 comes with mcp."""
HELP_RATIO = 6.0
"""Most times that `--help` may take of what a bare Python takes."""
IMPORT_RATIO = 2.5
"""Most times that importing `obsidian_mcp.__main__` may take of that."""


def run(*command: str | Path, environ: Mapping[str, str] | None = None) -> str:
    """Return what a command printed. Raises: SystemExit with its output where it failed."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, encoding="utf-8", env=environ, timeout=600, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def size(folder: Path) -> int:
    """Return the bytes of the files below a folder that an installation brings, without compiled files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def seconds(*command: str | Path) -> float:
    """Return the median time of five runs."""
    times = []
    for _ in range(5):
        started = perf_counter()
        run(*command)
        times.append(perf_counter() - started)
    return median(times)


def require(name: str, figure: float, limit: float, unit: str) -> None:
    """Print a figure beside its budget. Raises: SystemExit above it."""
    print(f"{name}: {figure:.1f} {unit} of at most {limit:g}", flush=True)
    if figure > limit:
        sys.exit(f"{name} is above its budget.")


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ROOT)
        (wheel,) = folder.glob("*.whl")
        assert wheel.name == f"{DISTRIBUTION.replace('-', '_')}-{__version__}-py3-none-any.whl"
        with zipfile.ZipFile(wheel) as archive:
            tops = {name.split("/")[0] for name in archive.namelist()}
        assert tops == {"obsidian_mcp", f"{DISTRIBUTION.replace('-', '_')}-{__version__}.dist-info"}, tops
        require("wheel", wheel.stat().st_size / 1_000, WHEEL_KB, "kB")

        venv.create(folder / "env")
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "env")
        scripts = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        python = scripts / "python"
        run(*pip, "install", "-q", wheel)
        run(*pip, "check")
        packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        require("installed", size(packages) / 1_000_000, ENVIRONMENT_MB, "MB")

        vault = folder / "vault"
        (vault / ".obsidian").mkdir(parents=True)
        (vault / "One.md").write_text("# One\n", encoding="utf-8")
        environ = {**os.environ, "HOME": str(folder / "home"), "USERPROFILE": str(folder / "home")}
        environ |= {"APPDATA": str(folder / "home"), "LOCALAPPDATA": str(folder / "home"), "PYTHONUTF8": "1"}
        (folder / "home").mkdir()
        assert "Usage" in run(scripts / DISTRIBUTION, "--help", environ=environ)
        assert run(scripts / "obsidian-mcp", "--vault", vault, "read", "One", environ=environ).strip() == "# One"
        shown = run(scripts / DISTRIBUTION, "install", "cursor", "--vault", vault, "--dry-run", environ=environ)
        assert str(vault) in shown
        assert "One.md" not in run(scripts / DISTRIBUTION, "--vault", vault, "doctor", environ=environ)
        bare = seconds(python, "-c", "pass")
        imported = seconds(python, "-c", "import obsidian_mcp.__main__")
        require("import, in starts of Python", imported / bare, IMPORT_RATIO, "times")
        shown_help = seconds(scripts / "obsidian-mcp", "--help")
        require("--help, in starts of Python", shown_help / bare, HELP_RATIO, "times")
    print(f"{DISTRIBUTION} {__version__} installs and starts on Python {sys.version.split()[0]}.", flush=True)


if __name__ == "__main__":
    main()
