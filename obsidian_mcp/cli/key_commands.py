"""Commands about the API keys of the HTTP server (specs/policy.md KEY-…)."""

from __future__ import annotations

from collections.abc import Sequence

from .answers import format_answer
from .options import Options
from .stdout import write_answer


def list_keys(options: Options, *, limit: int | None = None, json: bool = False) -> None:
    """List keys and the programs that signed in, with what each opens and its last use."""
    from dataclasses import asdict

    from obsidian_mcp.setup.admissions import list_admissions

    admissions = list_admissions(options.config())[:limit]
    rows = [asdict(admission) for admission in admissions]
    remark = "" if rows else "There are no keys. Make one: obsidian-mcp keys add NAME\n"
    # a column in which every row says the same usual thing says nothing to a person
    usual = {"tools": "all", "limits": "none", "since": "", "ends": ""}
    columns = [
        name
        for name in (rows[0] if rows else ())
        if any(row[name] != usual.get(name) for row in rows)
    ]
    lines = [{name: row[name] for name in columns} for row in rows]
    write_answer(
        {"keys": rows}, format_answer({"keys": lines}) if rows else "", remark, as_json=json
    )


def add(
    options: Options,
    *,
    name: str,
    vault: Sequence[str] = (),
    folder: str = "",
    read_only: bool = False,
    tools: str = "",
    days: int = 0,
    json: bool = False,
) -> None:
    """Make a key and print it this once: the policy file gets only its hash."""
    from obsidian_mcp.setup.api_keys import KeyLimits, add_key

    limits = KeyLimits(
        vaults=tuple(vault),
        folder=folder or options.scope,
        read_only=read_only or options.read_only,
        tools=tools or options.tools,
        days=days,
    )
    file, key = add_key(options.config(), name, limits)
    send = (
        f"Its hash is in {file}; a running server takes it. Send the key as: Authorization: "
        "Bearer KEY\n"
    )
    write_answer({"name": name, "key": key, "file": str(file)}, f"{key}\n", send, as_json=json)


def remove(options: Options, *, name: str, json: bool = False) -> None:
    """End a key or a program's grant: a running server refuses it from now on, and ends its
    sessions."""
    from obsidian_mcp.setup.admissions import end_admission

    ended = end_admission(options.config(), name)
    report = f"Removed {ended}. A running server refuses it now.\n"
    write_answer({"removed": name}, report, as_json=json)
