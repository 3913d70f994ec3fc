"""A server with a sign-in for the tests of one file, and its clock."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from obsidian_mcp.app import App
from tests.serve.http.oauth.flow import Browser, Program, signing_in


class Clock:
    """The time of day, which a test moves on."""

    def __init__(self) -> None:
        self._real = time.time
        self.ahead = 0.0

    def now(self) -> float:
        return self._real() + self.ahead

    def advance(self, seconds: float) -> None:
        self.ahead += seconds


@pytest.fixture(scope="module")
def clock() -> Iterator[Clock]:
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", clock.now)
        yield clock


@pytest.fixture(scope="module")
def client(shared_app: App, clock: Clock) -> Iterator[TestClient]:
    with signing_in(shared_app) as client:
        yield client


@pytest.fixture
def program(client: TestClient, clock: Clock) -> Program:
    """A program that has registered, in a minute of its own."""
    clock.advance(61)
    program = Program(client)
    assert program.register().status_code == 201
    return program


@pytest.fixture
def browser(client: TestClient) -> Browser:
    return Browser(client)
