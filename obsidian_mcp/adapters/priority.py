"""How a helper process lets others have the processors first. It loads nothing else: this is done before all else."""

import contextlib
import os


def give_way(niceness: int) -> None:
    """Be so much nicer than other processes; 0 changes nothing. Where the system can, only what nobody else wants is
    used: the thread of a call then never waits for the 3 ms that a nice process may keep a processor.
    """
    if not niceness:
        return
    if hasattr(os, "sched_setscheduler") and hasattr(os, "SCHED_IDLE"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            return
    if hasattr(os, "nice"):
        os.nice(niceness)
