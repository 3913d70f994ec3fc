"""The subjects of commits that are not pushed yet: those that can still be written anew."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SUBJECT_COLUMNS = 72
"""What `git log --oneline` and the pages of a host show whole."""


def long_subjects(repository: Path) -> list[str]:
    """Return number and subject of the commits that no branch of a remote has and whose subject is too long.

    What is pushed stays as it is, because history is not rewritten. So there is nothing to check where
    there is no git, in an unpacked archive, without a remote, and in CI's checkout of what was pushed.
    """
    if not (repository / ".git").exists() or not _git(repository, "for-each-ref", "--count=1", "refs/remotes"):
        return []
    commits = _git(repository, "log", "--no-merges", "--format=%h %s", "HEAD", "--not", "--remotes")
    return [commit for commit in commits if len(commit.partition(" ")[2]) > SUBJECT_COLUMNS]


def _git(repository: Path, *words: str) -> list[str]:
    """Return the lines that git prints; none where there is no git, or no commit."""
    program = shutil.which("git")
    if program is None:
        return []
    done = subprocess.run(
        [program, "-C", str(repository), *words], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    return done.stdout.splitlines() if done.returncode == 0 else []
