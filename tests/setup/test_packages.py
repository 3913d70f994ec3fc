"""What is published: the Claude Desktop extension, the registry's entry, the container (specs/install.md, PACK)."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from obsidian_mcp import __version__
from obsidian_mcp.tools.offer import profile
from obsidian_mcp.tools.registry import TOOLS
from tests import forked
from tests.generated import ROOT, advice
from tests.release import faults
from tests.serve.raw import RawServer
from tests.system import SYSTEM_ENVIRONMENT

BUNDLE_KB = 1_700
"""Most kilobytes of the extension; a sixth of it are docstrings, which say why the code is so. The console, with what
it reviews, takes 50."""


@pytest.fixture
def staged(built: Path, tmp_path: Path) -> Path:
    """A copy of them, for a test that starts what is in it."""
    return Path(shutil.copytree(built, tmp_path / "extension"))


def read(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def test_the_extension_says_what_the_program_says_of_itself(built: Path) -> None:
    """PACK-01"""
    manifest = read(built)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = tomllib.loads((built / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert (manifest["manifest_version"], manifest["server"]["type"]) == ("0.4", "uv")
    assert (manifest["version"], needed["version"]) == (__version__, __version__)
    assert [tool["name"] for tool in manifest["tools"]] == list(TOOLS)
    assert all(tool["description"] for tool in manifest["tools"])
    assert needed["dependencies"] == project["dependencies"]
    assert needed["requires-python"] == project["requires-python"]


def test_the_extension_holds_the_whole_package_and_nothing_of_this_computer(built: Path) -> None:
    package = ROOT / "obsidian_mcp"
    expected = {path.relative_to(ROOT) for path in package.rglob("*.py")}

    assert {path.relative_to(built) for path in (built / "obsidian_mcp").rglob("*.py")} == expected
    assert not list(built.rglob("__pycache__"))
    for name in ("manifest.json", "pyproject.toml", "server.py"):
        assert str(ROOT) not in (built / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("switch", "writes"), [("false", True), ("true", False)])
def test_what_the_extension_starts_serves_the_chosen_folder(
    staged: Path, basic: Path, switch: str, writes: bool
) -> None:
    """POL-20"""
    config = read(staged)["server"]["mcp_config"]
    values = {
        "__dirname": str(staged),
        "user_config.vault": str(basic),
        "user_config.read_only": switch,
        "user_config.hidden": "Projects, *last newline*",
        "user_config.confirm_delete": "true",
    }
    questions = read(staged)["user_config"]
    assert {f"user_config.{name}" for name in questions} == values.keys() - {"__dirname"}
    assert questions["hidden"]["default"] == "", "else Claude Desktop would pass the placeholder on"

    def filled(text: str) -> str:
        return re.sub(r"\$\{([^}]+)\}", lambda match: values[match[1]], text)

    command, *arguments = config["command"], *map(filled, config["args"])
    assert (command, arguments[:3]) == ("uv", ["run", "--directory", str(staged)])  # uv's part is done by hand here
    environ = {key: filled(value) for key, value in config["env"].items()} | {"HOME": str(basic.parent)}
    with RawServer([sys.executable, *arguments[3:]], env=environ, cwd=staged) as server:
        assert server.initialize()["result"]["serverInfo"]["version"] == __version__
        names = {tool["name"] for tool in server.call("tools/list")["result"]["tools"]}
        assert ("obsidian_create_note" in names) is writes
        assert "result" in server.call("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Home"}})
        for hidden in ("No last newline", "Projects/Alpha"):
            called = server.call("tools/call", {"name": "obsidian_read_note", "arguments": {"name": hidden}})
            assert "FILE_NOT_FOUND" in json.dumps(called)
        if writes:
            called = server.call("tools/call", {"name": "obsidian_delete_note", "arguments": {"name": "Home"}})
            assert "CONFIRMATION_REQUIRED" in json.dumps(called)
        assert server.close() == 0


def test_the_extension_is_small(built: Path, tmp_path: Path) -> None:
    """PACK-01: the vendor's tool, which packs it in the same way, is tried by `make foreign`."""
    packed = Path(shutil.make_archive(str(tmp_path / "extension"), "zip", built))

    assert packed.stat().st_size <= BUNDLE_KB * 1_000


def test_the_icon_has_the_size_that_hosts_ask_for() -> None:
    head = (ROOT / "packaging/icon.png").read_bytes()[:24]

    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(head[16:20]), int.from_bytes(head[20:24])) == (512, 512)


def test_the_registrys_entry_agrees_with_the_project() -> None:
    """PACK-02"""
    entry = json.loads((ROOT / "packaging/server.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (package,) = entry["packages"]

    assert (entry["version"], package["version"]) == (__version__, __version__)
    assert package["identifier"] == project["name"]
    assert 1 <= len(entry["description"]) <= 100
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    dockerfile = (ROOT / "packaging/Dockerfile").read_text(encoding="utf-8")
    assert f'io.modelcontextprotocol.server.name="{entry["name"]}"' in dockerfile
    marks = re.findall(r"<!-- mcp-name: (\S+) -->", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert marks in ([], [entry["name"]])


def test_the_container_copies_only_files_that_are_there_and_starts_a_command_that_is() -> None:
    dockerfile = (ROOT / "packaging/Dockerfile").read_text(encoding="utf-8")
    ignored = (ROOT / "packaging/Dockerfile.dockerignore").read_text(encoding="utf-8").split()

    copied = [name for line in re.findall(r"^COPY (?!--)(.+) \S+$", dockerfile, re.MULTILINE) for name in line.split()]
    assert copied == ["pyproject.toml", "requirements.lock", "README.md", "LICENSE", "obsidian_mcp"]
    assert [f"!{name}" for name in copied] == [line for line in ignored if line.startswith("!")]
    assert all((ROOT / name).exists() for name in copied)

    named = set(re.findall(r"OBSIDIAN_[A-Z_]+", dockerfile))
    read_by_the_program = (ROOT / "obsidian_mcp/config.py").read_text(encoding="utf-8")
    for variable in named - {"OBSIDIAN_MCP_CACHE", "OBSIDIAN_MCP_STATE"}:
        assert f'"{variable}"' in read_by_the_program, variable
    arguments = json.loads(re.findall(r"^CMD (\[.+\])$", dockerfile, re.MULTILINE)[0])
    help_text = subprocess.run(
        [sys.executable, "-m", "obsidian_mcp", arguments[0], "--help"],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100"},
        check=True,
    ).stdout
    assert all(option in help_text for option in arguments if option.startswith("--"))


PLUGIN = ROOT / "packaging/claude-plugin"
PYTHON = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_the_plugin_for_claude_code_has_the_version_of_the_program_and_starts_its_command() -> None:
    """PACK-03"""
    plugin = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text(encoding="utf-8"))
    servers = json.loads((PLUGIN / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]

    assert plugin["version"] == __version__
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", plugin["name"])
    assert servers["obsidian"] == {"command": "obsidian-mcp", "args": ["--vault", "${user_config.vault}"]}
    hooks = (PLUGIN / "hooks/hooks.json").read_text(encoding="utf-8")
    assert set(plugin["userConfig"]) == set(re.findall(r"user_config\.(\w+)", json.dumps(servers) + hooks))


@pytest.mark.parametrize("skill", sorted((PLUGIN / "skills").glob("*/SKILL.md")), ids=lambda path: path.parent.name)
def test_a_skill_is_well_formed_and_names_only_tools_that_exist(skill: Path) -> None:
    """PACK-03"""
    text = skill.read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    facts = yaml.safe_load(head)

    assert facts["name"] == skill.parent.name
    assert re.fullmatch(r"[a-z0-9-]{1,64}", facts["name"])
    assert len(facts["description"]) <= 1024
    assert len(body.splitlines()) < 500
    assert set(re.findall(r"obsidian_[a-z_]+", text)) <= set(TOOLS)


def test_the_submission_to_chatgpt_is_what_the_registry_says() -> None:
    """PACK-07"""
    done = subprocess.run([sys.executable, "packaging/chatgpt.py", "--check"], cwd=ROOT, env=PYTHON, check=False)
    assert done.returncode == 0, advice(ROOT / "packaging/chatgpt-app-submission.json")

    submission = json.loads((ROOT / "packaging/chatgpt-app-submission.json").read_text(encoding="utf-8"))
    assert submission["schema_version"] == 1
    assert len(submission["app_info"]["subtitle"]) <= 30
    assert all(url.startswith("https://") for key, url in submission["app_info"].items() if key.endswith("_url"))
    assert set(submission["tools"]) == set(profile("standard"))
    for name, entry in submission["tools"].items():
        hints = TOOLS[name].published["annotations"]
        assert entry["annotations"] == {
            hint: hints[hint] for hint in ("readOnlyHint", "openWorldHint", "destructiveHint")
        }
        reasons = entry["justifications"]
        assert set(reasons) == {f"{hint}_justification" for hint in ("read_only", "open_world", "destructive")}
        assert ("changes nothing: it has no argument" in reasons["destructive_justification"]) is TOOLS[name].read_only
    assert len(submission["test_cases"]) >= 5
    assert len(submission["negative_test_cases"]) >= 3
    triggered = {tool for case in submission["test_cases"] for tool in case["tools_triggered"].split(", ")}
    assert triggered <= set(submission["tools"])


def test_the_marketplace_offers_the_plugin_for_claude_code() -> None:
    """PACK-08"""
    marketplace = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text(encoding="utf-8"))
    (offered,) = marketplace["plugins"]
    plugin = json.loads((ROOT / offered["source"] / ".claude-plugin/plugin.json").read_text(encoding="utf-8"))

    assert {key: offered[key] for key in ("name", "version", "description")} == {
        key: plugin[key] for key in ("name", "version", "description")
    }
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", marketplace["name"])
    assert marketplace["owner"]["name"]
    assert not (ROOT / ".mcp.json").exists()  # clients would take it for the configuration of this project


WORKFLOWS = ROOT / ".github/workflows"


def workflow(name: str) -> dict[Any, Any]:
    read: dict[Any, Any] = yaml.safe_load((WORKFLOWS / name).read_text(encoding="utf-8"))
    return read


def test_every_change_is_tested_on_three_systems_with_every_python_of_the_project() -> None:
    """PACK-10"""
    matrix = workflow("ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert matrix["os"] == ["ubuntu-latest", "windows-latest", "macos-latest"]
    named = [kind.rpartition(" ")[2] for kind in project["classifiers"] if re.search(r":: 3\.\d+$", kind)]
    assert matrix["python"] == named
    jobs = workflow("ci.yml")["jobs"]
    ran = {name: " ".join(step.get("run", "") for step in job["steps"]) for name, job in jobs.items()}
    steps = {step.get("run") for step in jobs["test"]["steps"]}
    assert {f"python -m tests.{gate}" for gate in ("check", "check foreign", "wheel", "demo")} <= steps
    assert jobs["bundle"]["strategy"]["matrix"]["os"] == matrix["os"]
    assert "packaging/bundle.py" in ran["bundle"]
    assert "pip_audit --requirement requirements.lock" in ran["audit"]
    gates = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()[-4:]
    assert gates == ["make test", "make foreign", "make wheel", "make demo"]


def test_a_release_publishes_the_wheel_the_extension_the_image_and_the_registrys_entry_with_what_they_are_made_of() -> (
    None
):
    """PACK-11"""
    jobs = workflow("release.yml")["jobs"]

    def done_in(name: str) -> str:
        return " ".join(step.get("run", step.get("uses", "")) for step in jobs[name]["steps"])

    for name, part in [
        ("build", "hatchling build"),
        ("build", "packaging/bundle.py"),
        ("build", "cyclonedx-py environment"),
        ("attest", "actions/attest-build-provenance@"),
        ("index", "pypa/gh-action-pypi-publish@"),
        ("container", "docker/build-push-action@"),
        ("registry", 'publisher" publish'),
        ("release", "gh release create"),
    ]:
        assert part in done_in(name), name
    assert jobs["index"]["permissions"] == {"id-token": "write"}  # trusted publishing: no password is kept
    assert (ROOT / "packaging/server.json").parent.name == jobs["registry"]["steps"][-1]["working-directory"]


@pytest.mark.parametrize("path", sorted(WORKFLOWS.glob("*.yml")), ids=lambda path: path.name)
def test_a_workflow_trusts_no_action_that_can_change_and_has_no_right_that_it_does_not_name(path: Path) -> None:
    """PACK-10"""
    read = workflow(path.name)
    steps = [step for job in read["jobs"].values() for step in job.get("steps", [])]

    assert read["permissions"] == {}
    assert all("permissions" in job for job in read["jobs"].values())
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    assert all("secrets." not in step.get("run", "") for step in steps)
    modules = {name for step in steps for name in re.findall(r"-m (tests\.\w+)", step.get("run", ""))}
    assert all((ROOT / f"{name.replace('.', '/')}.py").is_file() for name in modules)


def test_nothing_is_published_that_did_not_pass_every_check() -> None:
    """PACK-11"""
    jobs = workflow("release.yml")["jobs"]

    def before(name: str) -> set[str]:
        needs = jobs[name].get("needs", [])
        return {name}.union(*map(before, [needs] if isinstance(needs, str) else needs))

    assert jobs["checks"]["uses"] == "$/.github/workflows/ci.yml"
    assert {"workflow_call", "schedule"} <= set(workflow("ci.yml")[True])  # YAML 1.1 reads `on` as true
    assert all({"checks", "build"} <= before(name) for name in set(jobs) - {"checks", "build"})


def test_a_job_that_runs_packages_of_the_index_can_sign_nothing() -> None:
    """PACK-11"""
    for name, job in workflow("release.yml")["jobs"].items():
        if "id-token" in job["permissions"]:
            assert not re.search(r"\b(pip|make|python)\b", " ".join(step.get("run", "") for step in job["steps"])), name


def test_every_file_that_pins_a_version_is_kept_up_to_date() -> None:
    """PACK-13"""
    rules = json.loads((ROOT / ".github/renovate.json").read_text(encoding="utf-8"))
    (pattern,) = rules["pip_requirements"]["managerFilePatterns"]

    assert re.search(pattern.strip("/"), "requirements.lock")
    assert "docker:pinDigests" in rules["extends"]
    assert rules["ignorePaths"] == ["**/node_modules/**"]  # the usual ones leave out tests/foreign
    assert int(rules["minimumReleaseAge"].split()[0]) >= 7


@pytest.mark.parametrize(
    ("tag", "owner", "changelog", "status", "said"),
    [
        (f"v{__version__}", "someone", f"## [{__version__}] - today", 0, []),
        ("v9.9.9", "someone", f"## {__version__}", 0, ["The tag is v9.9.9"]),
        (f"v{__version__}", "someone", f"## [{__version__}] - unreleased", 0, ["is unreleased"]),
        (
            f"v{__version__}",
            "OWNER",
            "## Later",
            1,
            ["CHANGELOG.md has no section", "placeholder OWNER", "another account"],
        ),
    ],
)
def test_a_version_is_published_only_as_what_it_is(
    tag: str, owner: str, changelog: str, status: int, said: list[str]
) -> None:
    """PACK-11"""
    found = faults(tag, owner, changelog, status)

    assert len(found) == len(said)
    assert all(part in fault for part, fault in zip(said, found, strict=True))


def test_the_container_serves_the_vault_and_its_health_check_sees_whether_it_does(basic: Path, tmp_path: Path) -> None:
    """PACK-12: what the Dockerfile starts, with a free port and folders of the test"""
    dockerfile = (ROOT / "packaging/Dockerfile").read_text(encoding="utf-8")
    inside = re.sub(r"^ *#.*\n", "", dockerfile, flags=re.MULTILINE).replace("\\\n", " ")
    (settings,) = re.findall(r"^ENV (.+)$", inside, re.MULTILINE)
    environ = dict(setting.split("=", 1) for setting in settings.split())
    environ = {name: value.replace("/data", str(tmp_path)) for name, value in environ.items()}
    environ |= {"OBSIDIAN_VAULT_PATH": str(basic), "OBSIDIAN_MCP_API_KEY": "only-for-this-test-0123456789"}
    arguments = [
        part.replace("3000", "0") for part in json.loads(re.findall(r"^CMD (\[.+\])$", inside, re.MULTILINE)[0])
    ]
    (program, option, check) = json.loads(re.findall(r"^HEALTHCHECK .+ CMD +(\[.+\])$", inside, re.MULTILINE)[0])
    assert (Path(program).name, option) == ("python", "-c")

    command = [sys.executable, "-m", "obsidian_mcp", *arguments]
    process = forked.start(command, stderr=subprocess.PIPE, env={**SYSTEM_ENVIRONMENT, "PATH": "", **environ})
    assert process.stderr is not None
    try:
        port = process.stderr.readline().decode().strip().rpartition(":")[2]
        healthy = [sys.executable, "-c", check.replace(":3000", f":{port}")]
        assert subprocess.run(healthy, check=False).returncode == 0
    finally:
        process.kill()
        process.wait(20)
        process.stderr.close()
    assert subprocess.run(healthy, capture_output=True, check=False).returncode != 0
    assert {path.name for path in tmp_path.iterdir()} <= {"basic", "cache", "state"}


def test_the_container_runs_as_a_user_without_rights_that_it_does_not_need() -> None:
    """PACK-12"""
    service = yaml.safe_load((ROOT / "packaging/compose.yaml").read_text(encoding="utf-8"))["services"]["obsidian-mcp"]
    dockerfile = (ROOT / "packaging/Dockerfile").read_text(encoding="utf-8")

    assert re.search(r"^USER 1000:1000$", dockerfile, re.MULTILINE)
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "ports" not in service, "only Caddy is reached from outside"
    assert (ROOT / "packaging" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def test_a_plain_install_reads_the_text_of_pdfs() -> None:
    """ATT-13"""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert any(needed.startswith("pypdf>=") for needed in project["dependencies"])
    assert not any(needed.startswith("pypdf>=") for needed in project["optional-dependencies"]["media"])
