"""How answers are printed: lines, JSON, cells with tabs or commas, in the app's order (HEADLESS-07)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from obsidian_mcp.core.tasks.collation import collation_key


def order(text: str) -> tuple[object, str]:
    """The sort key of the app's lists."""
    return collation_key(unicodedata.normalize("NFKC", text)), text


def in_order(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=order)


def lines(texts: Iterable[str], empty: str = "") -> str:
    """One text a line; `empty` where there is none."""
    return "\n".join(texts) or empty


def pairs(values: Mapping[str, object]) -> str:
    """Lines of `key TAB value`."""
    return "\n".join(f"{key}\t{value}" for key, value in values.items())


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def rows(found: Sequence[Mapping[str, str]], form: str) -> str:
    """Rows as `json`, `csv` or, for any other format, cells with tabs between them."""
    if form == "json":
        return as_json(found)
    if form == "csv":
        return "\n".join(",".join(map(_quoted, row.values())) for row in found)
    return "\n".join("\t".join(row.values()) for row in found)


def _quoted(cell: str) -> str:
    if any(char in cell for char in ',"\n\r'):
        return '"' + cell.replace('"', '""') + '"'
    return cell
