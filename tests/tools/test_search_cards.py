"""What searches find in canvases and drawings (DRAW-1, DRAW-4, DRAW-5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import NotText
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

pytestmark = pytest.mark.usefixtures("each_disk")

DRAWN = "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n\n## Text Elements\nKinetics ^M6JWXfuQ\n\n"
DRAWN += "%%\n## Drawing\nxyz\n%%\n"


def run(app: App, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def test_a_line_of_a_canvas_says_its_card(opened: Opened) -> None:
    """DRAW-5"""
    nodes = [
        {"id": f"card{n}", "type": "text", "text": text, "x": 0, "y": 0, "width": 1, "height": 1}
        for n, text in enumerate(("first\nline", "the zebra", "last"))
    ]
    app = opened({"B.canvas": json.dumps({"nodes": nodes}), "N.md": "# Head\na zebra"})
    hits = {hit["path"]: hit["snippets"][0] for hit in run(app, "search", query="zebra")["hits"]}
    assert hits["B.canvas"]["card"] == "card1"
    assert "heading" not in hits["B.canvas"]
    assert hits["N.md"]["heading"] == "Head"
    assert "card" not in hits["N.md"]


def test_the_text_of_a_drawing_is_found_and_not_edited(opened: Opened) -> None:
    """DRAW-1, DRAW-4"""
    app = opened({"D.md": DRAWN, "E.excalidraw": '{"elements":[{"type":"text","text":"Enzymes"}]}'})
    assert run(app, "search", query="kinetics")["hits"][0]["path"] == "D.md"
    assert run(app, "search", query="enzymes")["hits"][0]["path"] == "E.excalidraw"
    assert run(app, "search", query="M6JWXfuQ")["total"] == 0
    assert run(app, "search", query="xyz")["total"] == 0
    with pytest.raises(NotText, match="is a drawing"):
        run(app, "edit_note", name="D", operation="append", content="x")
    run(app, "edit_note", name="D", operation="prepend", content="x")
    assert app.vaults.get().read_content(app.vaults.get().find("D")).text.body == DRAWN.replace(
        "---\n# Exc", "---\nx\n# Exc"
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("replace", {"names": ["D"], "find": "Kinetics", "content": "x"}),
        ("compose_notes", {"action": "merge", "name": "N", "into": "D"}),
        ("compose_notes", {"action": "extract", "name": "D", "part": "Text Elements"}),
        ("compose_notes", {"action": "extract", "name": "N", "part": "1-1", "into": "D"}),
    ],
)
def test_no_tool_changes_the_data_of_a_drawing(opened: Opened, tool: str, arguments: dict[str, Any]) -> None:
    """DRAW-4"""
    app = opened({"D.md": DRAWN, "N.md": "text\n"})
    with pytest.raises(NotText, match="is a drawing"):
        run(app, tool, **arguments)
    assert app.vaults.get().read_content(app.vaults.get().find("D")).text.body == DRAWN
