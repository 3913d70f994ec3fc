"""The compose file: the server with sign-in behind Caddy, and what brings the vault (specs/install.md PACK-12)."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from obsidian_mcp.cli import command_table, grammar
from obsidian_mcp.config import Config
from tests.generated import ROOT
from tests.system import SYSTEM_ENVIRONMENT

PACKAGING = ROOT / "packaging"
SERVICES: dict[str, Any] = yaml.safe_load((PACKAGING / "compose.yaml").read_text(encoding="utf-8"))["services"]


def test_the_server_starts_with_sign_in_where_caddy_alone_reaches_it() -> None:
    """PACK-12"""
    server, caddy = SERVICES["obsidian-mcp"], SERVICES["caddy"]
    command, words = command_table.find_command(server["command"])
    options = grammar.values(command, grammar.scan(command, words))
    proxied = re.findall(r"reverse_proxy 127\.0\.0\.1:(\d+)", (PACKAGING / "Caddyfile").read_text(encoding="utf-8"))

    assert options["oauth"] is options["trusted_proxy"] is True
    assert "host" not in options
    assert [str(port) for port in options["port"]] == proxied
    assert server["network_mode"] == "service:caddy"
    assert {port.partition("/")[0] for port in caddy["ports"]} == {"80:80", "443:443"}
    given = {"${SITE:?the name that leads to this machine}": "notes.example.com", "${OBSIDIAN_MCP_API_KEY:-}": ""}
    environ = dict(server["environment"])
    for written, value in given.items():
        environ = {name: text.replace(written, value) for name, text in environ.items()}
    settings = Config(environ=environ)
    assert settings.http.public_url == "https://notes.example.com"
    assert settings.http.keys == ()
    assert settings.policy_file == Path("/data/policy.toml")


def test_what_brings_the_vault_is_switched_on_by_a_profile_and_writes_to_the_same_place() -> None:
    """PACK-12"""
    (vault,) = (mount for mount in SERVICES["obsidian-mcp"]["volumes"] if mount.endswith(":/vault"))
    for name in ("git", "sync"):
        assert SERVICES[name]["profiles"] == [name]
        assert vault in SERVICES[name]["volumes"]
        assert SERVICES[name]["user"] == SERVICES["obsidian-mcp"]["user"]
        assert SERVICES[name]["working_dir"] == "/vault"
    assert re.search(r"obsidian-headless@\d", SERVICES["sync"]["build"]["dockerfile_inline"])
    for mount in [*SERVICES["git"]["volumes"], *SERVICES["caddy"]["volumes"]]:
        source = mount.partition(":")[0]
        assert not source.startswith("./") or (PACKAGING / source).is_file(), source


@pytest.mark.skipif(shutil.which("git") is None or shutil.which("sh") is None, reason="needs git and a shell")
class TestWithGit:
    """What the profile `git` does, once."""

    @pytest.fixture
    def environ(self, tmp_path: Path) -> dict[str, str]:
        person = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        (tmp_path / "config").write_text("[init]\ndefaultBranch = main\n", encoding="utf-8")
        settings = {"GIT_CONFIG_GLOBAL": str(tmp_path / "config"), "GIT_CONFIG_NOSYSTEM": "1", "GIT_SECONDS": "0"}
        return {
            **SYSTEM_ENVIRONMENT,
            **person,
            **settings,
            "HOME": str(tmp_path),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }

    @pytest.fixture
    def remote(self, tmp_path: Path, environ: dict[str, str]) -> Path:
        """A repository with one note, and a person's clone of it, `person`."""
        remote, person = tmp_path / "remote.git", tmp_path / "person"
        self.git(tmp_path, environ, "init", "--bare", str(remote))
        self.git(tmp_path, environ, "clone", str(remote), str(person))
        self.write(person, environ, "Note.md", "one\n")
        return remote

    def git(self, folder: Path, environ: dict[str, str], *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=folder, env=environ, capture_output=True, text=True, encoding="utf-8", check=True
        )
        return done.stdout

    def write(self, clone: Path, environ: dict[str, str], name: str, text: str) -> None:
        """Write a note of the person, and send it."""
        (clone / name).write_text(text, encoding="utf-8")
        self.git(clone, environ, "add", "--all")
        self.git(clone, environ, "commit", "--message", "x")
        self.git(clone, environ, "push", "origin", "HEAD:main")

    def step(self, vault: Path, environ: dict[str, str], remote: Path) -> int:
        script = ["sh", str(PACKAGING / "sync-with-git.sh")]
        environ = {**environ, "GIT_URL": str(remote)}
        return subprocess.run(script, cwd=vault, env=environ, capture_output=True, check=False).returncode

    def test_an_empty_volume_is_filled_and_changes_go_both_ways(
        self, tmp_path: Path, environ: dict[str, str], remote: Path
    ) -> None:
        """PACK-12"""
        vault, person = tmp_path / "vault", tmp_path / "person"
        vault.mkdir()
        assert self.step(vault, environ, remote) == 0
        assert (vault / "Note.md").read_text(encoding="utf-8") == "one\n"

        (vault / "New.md").write_text("of the assistant\n", encoding="utf-8")
        self.write(person, environ, "Note.md", "two\n")
        assert self.step(vault, environ, remote) == 0
        assert (vault / "Note.md").read_text(encoding="utf-8") == "two\n"
        self.git(person, environ, "pull", "--no-rebase", "origin", "main")
        assert (person / "New.md").read_text(encoding="utf-8") == "of the assistant\n"

    def test_a_conflict_leaves_both_sides_as_they_are(
        self, tmp_path: Path, environ: dict[str, str], remote: Path
    ) -> None:
        """PACK-12"""
        vault, person = tmp_path / "vault", tmp_path / "person"
        vault.mkdir()
        self.step(vault, environ, remote)
        (vault / "Note.md").write_text("of the assistant\n", encoding="utf-8")
        self.write(person, environ, "Note.md", "of the person\n")
        self.step(vault, environ, remote)

        assert (vault / "Note.md").read_text(encoding="utf-8") == "of the assistant\n"
        assert not (vault / ".git/MERGE_HEAD").exists()
        assert self.git(person, environ, "show", "origin/main:Note.md") == "of the person\n"

    def test_without_a_repository_it_says_what_is_missing(self, tmp_path: Path, environ: dict[str, str]) -> None:
        """PACK-12"""
        script = ["sh", str(PACKAGING / "sync-with-git.sh")]
        done = subprocess.run(
            script, cwd=tmp_path, env=environ, capture_output=True, text=True, encoding="utf-8", check=False
        )
        assert (done.returncode, "Set GIT_URL" in done.stderr) == (2, True)
