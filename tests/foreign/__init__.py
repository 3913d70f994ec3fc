"""Tests with other people's programs, for which Node, packages of npm and Chromium are needed (`make foreign`)."""
