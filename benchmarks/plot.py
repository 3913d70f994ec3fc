"""Curves of cost against the size of the vault, both on logarithmic scales, as one SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, MARGIN = 420, 300, 56
COLOURS = ["#7c3aed", "#888888", "#0ea5e9", "#f59e0b", "#10b981", "#ef4444", "#92400e"]
"""Ours first, the bare server second."""
Points = Sequence[tuple[int, float]]


def svg(panels: Mapping[str, Mapping[str, Points]]) -> str:
    """One panel for each thing measured, side by side."""
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    colour = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    total = WIDTH * max(1, len(panels))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{HEIGHT + 40}" font-family="sans-serif">',
        "<style>text{font-size:12px}</style>",
        f'<rect width="{total}" height="{HEIGHT + 40}" fill="white"/>',
    ]
    for number, (what, curves) in enumerate(panels.items()):
        unit = "MB" if what.startswith("memory") else "ms"
        parts.append(f'<g transform="translate({number * WIDTH},0)">{panel(f"{what}, {unit}", curves, colour)}</g>')
    x = 10
    for name in names:
        parts.append(f'<rect x="{x}" y="{HEIGHT + 14}" width="12" height="12" fill="{colour[name]}"/>')
        parts.append(f'<text x="{x + 18}" y="{HEIGHT + 25}">{escape(name)}</text>')
        x += 40 + 8 * len(name)
    return "\n".join([*parts, "</svg>", ""])


def panel(title: str, curves: Mapping[str, Points], colour: Mapping[str, str]) -> str:
    sizes = sorted({size for points in curves.values() for size, _ in points})
    values = [value for points in curves.values() for _, value in points if value > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 1e-9)
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def across(size: int) -> float:
        return MARGIN + (WIDTH - MARGIN - 30) * ((math.log10(size) - first) / ((last - first) or 1))

    def up(value: float) -> float:
        return HEIGHT - 36 - (HEIGHT - 76) * ((math.log10(value) - low) / ((high - low) or 1))

    parts = [f'<text x="{MARGIN}" y="22" font-weight="bold">{escape(title)}</text>']
    for power in range(low, high + 1):
        y = up(10.0**power)
        parts.append(f'<line x1="{MARGIN}" x2="{WIDTH - 30}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    parts += [f'<text x="{across(size):.1f}" y="{HEIGHT - 14}" text-anchor="middle">{size}</text>' for size in sizes]
    for name, points in curves.items():
        line = " ".join(f"{across(size):.1f},{up(value):.1f}" for size, value in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour[name]}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{across(size):.1f}" cy="{up(value):.1f}" r="3" fill="{colour[name]}"/>'
            for size, value in points
        ]
    return "".join(parts)
