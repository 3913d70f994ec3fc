"""What has to be so before a version is published: the release workflow runs it with the tag's name.

python -m tests.release v0.1.0
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from obsidian_mcp import __version__

ROOT = Path(__file__).parents[1]


def faults(tag: str, owner: str, changelog: str, status: int) -> list[str]:
    """Return what forbids publishing. `status`: what `packaging/owner.py --check` ended with."""
    found = []
    if tag != f"v{__version__}":
        found.append(f"The tag is {tag}, and the program's version {__version__}: change obsidian_mcp/__init__.py.")
    if f"## [{__version__}]" not in changelog and f"## {__version__}" not in changelog:
        found.append(f"CHANGELOG.md has no section about {__version__}.")
    if f"## [{__version__}] - unreleased" in changelog:
        found.append(f"CHANGELOG.md says that {__version__} is unreleased: write the day.")
    if owner == "OWNER":
        found.append("packaging/owner.txt still has the placeholder OWNER: write the account that publishes into it.")
    if status:
        found.append("Some files name another account than packaging/owner.txt: run `make update`.")
    return found


def main() -> int:
    owner = (ROOT / "packaging/owner.txt").read_text(encoding="utf-8").strip()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    checked = subprocess.run([sys.executable, ROOT / "packaging/owner.py", "--check"], check=False)
    found = faults(sys.argv[1], owner, changelog, checked.returncode)
    print("\n".join(found) or f"{sys.argv[1]} can be published.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
