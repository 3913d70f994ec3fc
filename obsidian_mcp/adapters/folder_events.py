"""What the system reports of a folder and all below it: watchdog, its threads, errors and log."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import warnings
import weakref

from obsidian_mcp import TYPE_CHECKING, logger

from .watch_limits import check_room

if TYPE_CHECKING:
    from typing import Protocol

    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

    class Receiver(Protocol):
        """Takes what the system reports, in threads of watchdog's."""

        def report(self, path: str, *, is_folder: bool = False, goes: bool = False) -> None:
            """Note that the file or folder at an absolute path may have changed. `goes`: a folder
            moved or went."""

        def note_lost_events(self) -> None:
            """Note that the system has dropped reports."""

        def note_broken_watch(self) -> None:
            """Note that a thread that brought reports has ended of an error."""


GOING = ("moved", "deleted")
"""Types of watchdog's events; a folder that moves to where nobody watches yet is said to be
deleted."""
WAKE_SECONDS = 0.2
"""On Windows watchdog reports changes when none has come for so long."""
WATCHES_EACH_FOLDER = sys.platform not in ("darwin", "win32")
"""Whether the system watches each folder by itself, and watchdog has to know where each is now.
Elsewhere one handle watches a folder with all below it."""

_starting = threading.Lock()
"""Held while watchdog starts its threads, so that those of two vaults are not taken for one
another's."""


class FolderEvents:
    """A watch of a folder and of all below it, hidden folders included."""

    def __init__(self, root: str, receiver: Receiver) -> None:
        """Begin to watch. Raises: whatever the system's watcher raises."""
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer
        from watchdog.utils import BaseThread

        # it finds a new folder twice, and prints the list of all folders then
        warnings.filterwarnings("ignore", "Callback with id .* already exists", RuntimeWarning)
        logging.getLogger("watchdog.observers.inotify").addFilter(_is_news)
        self.receiver = receiver
        self._is_broken = False

        class VaultEvents(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                goes = event.is_directory and event.event_type in GOING
                for path in (event.src_path, event.dest_path):
                    if path:
                        receiver.report(os.fsdecode(path), is_folder=event.is_directory, goes=goes)

        with _starting:
            before = threading.enumerate()
            self._observer: BaseObserver = Observer(timeout=WAKE_SECONDS)
            self._observer.schedule(VaultEvents(), root, recursive=True, event_filter=_changes())
            self._observer.start()
            self._threads: list[threading.Thread] = [
                thread
                for thread in threading.enumerate()
                if isinstance(thread, BaseThread) and thread not in before
            ]
        check_room(self._observer)
        _losses.add(self)

    @property
    def is_alive(self) -> bool:
        """Whether all threads run that watchdog has started to bring the reports."""
        return not self._is_broken and all(thread.is_alive() for thread in self._threads)

    def answers(self) -> bool:
        return self.is_alive

    def ask_to_renew(self) -> bool:
        return False  # its own process watches anew

    def stop(self) -> None:
        """Let go of the folder; the threads end by themselves.

        After a folder left the vault and another one at its place was deleted, watchdog misses it
        (7.1: a KeyError); they stay idle then.
        """
        with contextlib.suppress(KeyError):
            for emitter in list(self._observer.emitters):
                emitter.stop()
        threading.Thread(target=self._observer.stop, name="watcher-end", daemon=True).start()

    def note_death(self, thread: threading.Thread | None) -> bool:
        """Note that a thread ends of an error; return whether it brought reports of this folder."""
        if thread not in self._threads:
            return False
        self._is_broken = True
        self.receiver.note_broken_watch()
        return True


class _Losses(logging.Handler):
    """Notices that the system dropped events, because its queue of 16 384 was full: watchdog only
    logs that; and that a thread of watchdog's dies, as where a folder was moved over another one
    and is deleted (7.1: a KeyError)."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._watches: weakref.WeakSet[FolderEvents] = weakref.WeakSet()
        self._otherwise = threading.excepthook

    def add(self, watch: FolderEvents) -> None:
        self.acquire()  # `emit` is called with it
        try:
            self._watches.add(watch)
            if threading.excepthook != self.note_death:
                self._otherwise, threading.excepthook = threading.excepthook, self.note_death
        finally:
            self.release()
        logging.getLogger("watchdog.observers").addHandler(self)

    def note_death(self, death: threading.ExceptHookArgs) -> None:
        """Tell the watch of a thread that ends of an error; those of other threads are shown as
        before."""
        if any(watch.note_death(death.thread) for watch in list(self._watches)):
            logger(__name__).info(
                "A thread of watchdog's ended (%r); its folder is watched anew.", death.exc_value
            )
        else:
            self._otherwise(death)

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower():
            for watch in list(self._watches):
                watch.receiver.note_lost_events()


_losses = _Losses()


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a message is no error of watchdog's about an event that it held back until it
    was stopped."""
    return "when the thread is inactive" not in record.getMessage()


def _changes() -> list[type[FileSystemEvent]]:
    """Return the events to subscribe to: not those of reading, which would wake two threads for
    every note read, and of modified folders, because the change inside is reported too."""
    from watchdog import events

    return [
        events.FileAttribEvent,
        events.FileCreatedEvent,
        events.FileModifiedEvent,
        events.FileClosedEvent,
        events.FileMovedEvent,
        events.FileDeletedEvent,
        events.DirCreatedEvent,
        events.DirMovedEvent,
        events.DirDeletedEvent,
    ]
