"""Plant faults in a copy of the core, and print which of them the tests catch.

    python -m tests.planted                                      60 faults, always the same ones
    python -m tests.planted --number 20 --seed 7                 others
    python -m tests.planted --in core/note/canvas_layout.py:141  every fault of that line
    python -m tests.planted --list                               the faults alone; runs no test

For each fault those files of tests are run that run its line. A fault that survives is printed with
its difference: a test is missing, or the code is superfluous, or the fault changes nothing that
anybody can see. The program ends with 1 if fewer than 90 % are caught. It takes about a quarter of
an hour of one processor.
"""

from __future__ import annotations

import argparse
import difflib
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path, PurePosixPath

from tests.check import memory_folder

from .faults import Fault, all_faults
from .trial import Copy

ROOT = Path(__file__).parents[2]
CORE = "obsidian_mcp/core"
SHARE_TO_CATCH = 0.9


def core_sources() -> Iterator[tuple[PurePosixPath, str]]:
    for path in sorted((ROOT / CORE).rglob("*.py")):
        yield PurePosixPath(path.relative_to(ROOT).as_posix()), path.read_text("utf-8")


def choose_faults(faults: Sequence[Fault], number: int, seed: int) -> list[Fault]:
    """Return faults at random: of each kind about as many, and of a function one at most."""
    chance = random.Random(seed)
    by_kind: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        by_kind[fault.kind].append(fault)
    for faults_of_kind in by_kind.values():
        chance.shuffle(faults_of_kind)
    chosen: list[Fault] = []
    functions: set[tuple[str, str]] = set()
    for kind in cycle(sorted(by_kind)):
        if len(chosen) == number or not any(by_kind.values()):
            break
        while by_kind[kind]:
            fault = by_kind[kind].pop()
            if (fault.file, fault.function) not in functions:
                functions.add((fault.file, fault.function))
                chosen.append(fault)
                break
    return chosen


def faults_at(faults: Sequence[Fault], place: str) -> list[Fault]:
    """Return the faults of files whose path ends with, or has a folder, `PATH[:LINE]`."""
    path, _, line = place.partition(":")
    return [
        fault
        for fault in faults
        if fault.file.endswith(f"/{path}") or f"/{path.strip('/')}/" in fault.file
        if not line or fault.line == int(line)
    ]


def difference(fault: Fault, root: Path) -> str:
    source = (root / fault.file).read_text("utf-8")
    lines = difflib.unified_diff(
        source.splitlines(), fault.plant(source).splitlines(), fault.file, fault.file, lineterm=""
    )
    return "\n".join(lines)


def plant(faults: Sequence[Fault]) -> bool:
    """Try the faults one after the other; True if enough of them are caught."""
    survivors = []
    with tempfile.TemporaryDirectory(dir=memory_folder(), prefix="planted-") as folder:
        copy = Copy(ROOT, Path(folder))
        print("Running the tests without a fault …", flush=True)
        for name in copy.record():
            print(f"  fails without a fault, and is left out: {name}", flush=True)
        for number, fault in enumerate(faults, 1):
            outcome = copy.try_fault(fault)
            result = f"caught by {outcome.caught_by}" if outcome.caught_by else "SURVIVED"
            effort = f"{outcome.files} files of tests run it, {outcome.seconds:.0f} s"
            print(f"{number}. {fault}\n   {result} ({effort})", flush=True)
            if not outcome.caught_by:
                survivors.append(fault)
                print(difference(fault, copy.root), flush=True)
    caught = len(faults) - len(survivors)
    print(f"\n{caught} of {len(faults)} faults were caught ({caught / len(faults):.0%}).")
    for fault in survivors:
        print(f"survived: {fault}")
    return caught >= SHARE_TO_CATCH * len(faults)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.planted",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--number", type=int, default=60, help="how many faults (60)")
    parser.add_argument("--seed", type=int, default=1, help="which faults (1)")
    parser.add_argument("--in", dest="place", metavar="PATH[:LINE]", help="every fault there")
    parser.add_argument("--list", action="store_true", help="print the faults, run no test")
    options = parser.parse_args(arguments)
    faults = all_faults(core_sources())
    if options.place:
        faults = faults_at(faults, options.place)
    else:
        faults = choose_faults(faults, options.number, options.seed)
    if not faults:
        parser.error(f"there is no place for a fault in {options.place or CORE}")
    if options.list:
        for fault in faults:
            print(f"{fault}\n{difference(fault, ROOT)}")
        return 0
    return not plant(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
