"""The neighbourhood as SVG: each cluster a ring of recipes, joined by what they share; the rest below as a list.

The layout follows from the data alone, so that two drawings of one library are the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from xml.sax.saxutils import escape, quoteattr

from vancectl.lint.neighbours import Cluster, Link, Neighbourhood
from vancectl.text.printable import plain_line

WIDTH = 1200
_MARGIN, _GAP = 32, 28
_CHARACTER, _LINE = 7.4, 20  # of the 13 px font, on average and line to line
_LEAST_RADIUS, _ARC = 46, 84  # a ring of few recipes, and the room that each one takes on a larger ring
_LONGEST = 32
# Told apart also by people who see red and green alike (Okabe and Ito).
_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#8c6d00",
    "#56b4e9",
    "#5b4fa2",
    "#444444",
    "#a3c400",
    "#9c5a3c",
)
_TRIGGER, _ALIKE, _INK, _FAINT = "#b3261e", "#5f6b7a", "#1b1f24", "#5f6b7a"


@dataclass(frozen=True, slots=True)
class _Ring:
    """A cluster with its place in its own box."""

    cluster: Cluster
    order: tuple[str, ...]
    radius: float
    width: float
    height: float


def draw(neighbourhood: Neighbourhood) -> str:
    """A whole SVG document."""
    engines = sorted(set(neighbourhood.engines.values()))
    colours = {engine: _COLOURS[number % len(_COLOURS)] for number, engine in enumerate(engines)}
    body: list[str] = []
    total = sum(len(cluster.recipes) for cluster in neighbourhood.clusters)
    many = total + len(neighbourhood.alone)
    body.append(_text(_MARGIN, 44, "Recipes that lie close together", size=20, weight="bold"))
    told = (
        f"{total} of {many} recipes in {len(neighbourhood.clusters)} clusters; close is {neighbourhood.close:.0%} alike"
    )
    body.append(_text(_MARGIN, 66, told, colour=_FAINT))
    y = _legend(body, colours, 92)
    x, row = float(_MARGIN), 0.0
    for ring in (_ring(cluster) for cluster in neighbourhood.clusters):
        if x > _MARGIN and x + ring.width > WIDTH - _MARGIN:
            x, y, row = float(_MARGIN), y + row + _GAP, 0.0
        body.extend(_draw_ring(ring, x, y, neighbourhood.engines, colours))
        x, row = x + ring.width + _GAP, max(row, ring.height)
    y = _draw_alone(body, neighbourhood, colours, y + row + _GAP)
    width = max(WIDTH, *(ring.width + 2 * _MARGIN for ring in map(_ring, neighbourhood.clusters)), WIDTH)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y + _MARGIN:.0f}" '
        f'viewBox="0 0 {width:.0f} {y + _MARGIN:.0f}" role="img" font-family="Helvetica, Arial, sans-serif" '
        'font-size="13">'
    )
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{escape(told)}</title>", ground, *body, "</svg>"]) + "\n"


def _legend(body: list[str], colours: dict[str, str], y: float) -> float:
    """What lines and colours mean; returns where the next thing may begin."""
    body.append(_line(_MARGIN, y, _MARGIN + 34, y, _TRIGGER, 3, dashed=True))
    body.append(_text(_MARGIN + 42, y + 4, "a phrase of one also hits the other"))
    body.append(_line(_MARGIN + 290, y, _MARGIN + 324, y, _ALIKE, 4))
    body.append(_text(_MARGIN + 332, y + 4, "descriptions alike, the thicker the more"))
    x, y = float(_MARGIN), y + 26
    for engine, colour in colours.items():
        shown = _short(engine)
        width = len(shown) * _CHARACTER + 40
        if x + width > WIDTH - _MARGIN:
            x, y = float(_MARGIN), y + _LINE
        body.append(_dot(x + 6, y, colour))
        body.append(_text(x + 18, y + 4, shown))
        x += width
    return y + 2 * _GAP


def _ring(cluster: Cluster) -> _Ring:
    order = _around(cluster)
    radius = max(_LEAST_RADIUS, len(order) * _ARC / (2 * pi))
    label = max(len(_short(name)) for name in order) * _CHARACTER + 14
    height = 64 if len(order) == 2 else 2 * radius + 64  # a pair is a line
    return _Ring(cluster, order, radius, 2 * (radius + label), height)


def _around(cluster: Cluster) -> tuple[str, ...]:
    """Close ones beside each other, so that few lines cross the ring."""
    weights: dict[str, dict[str, float]] = {name: {} for name in cluster.recipes}
    for link in cluster.links:
        weights[link.left][link.right] = weights[link.right][link.left] = link.weight
    left = sorted(cluster.recipes, key=lambda name: (-sum(weights[name].values()), name))
    order = [left.pop(0)]
    while left:
        last = weights[order[-1]]
        nearest = min(left, key=lambda name: (-last.get(name, 0.0), left.index(name)))
        left.remove(nearest)
        order.append(nearest)
    return tuple(order)


def _draw_ring(ring: _Ring, left: float, top: float, engines: dict[str, str], colours: dict[str, str]) -> Iterator[str]:
    middle_x, middle_y = left + ring.width / 2, top + ring.height / 2
    places = {}
    for number, name in enumerate(ring.order):
        # Two stand side by side, more begin at the top.
        angle = (pi if len(ring.order) == 2 else -pi / 2) + 2 * pi * number / len(ring.order)
        places[name] = (middle_x + ring.radius * cos(angle), middle_y + ring.radius * sin(angle), angle)
    for link in reversed(ring.cluster.links):  # the closest on top
        yield from _draw_link(link, places)
    for name, (x, y, angle) in places.items():
        yield _dot(x, y, colours[engines[name]])
        side = cos(angle)
        anchor = "middle" if abs(side) < 0.2 else "start" if side > 0 else "end"
        away = 0 if anchor == "middle" else 12 if side > 0 else -12
        down = 4 if anchor != "middle" else -12 if sin(angle) < 0 else 22
        yield _text(x + away, y + down, _short(name), anchor=anchor, title=name)


def _draw_link(link: Link, places: dict[str, tuple[float, float, float]]) -> Iterator[str]:
    (x1, y1, _), (x2, y2, _) = places[link.left], places[link.right]
    told = [f"{link.left} and {link.right}: {link.likeness:.0%} alike"]
    told += [f"“{each.phrase}” of {each.recipe} also hits {each.other}" for each in link.shared]
    yield f"<g><title>{escape(plain_line('; '.join(told)))}</title>"
    if link.shared:
        yield _line(x1, y1, x2, y2, _TRIGGER, 3, dashed=True)
        label, colour = f"{len(link.shared)}×", _TRIGGER
    else:
        yield _line(x1, y1, x2, y2, _ALIKE, 1 + 6 * link.likeness)
        label, colour = f"{link.likeness:.0%}", _INK
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    width = len(label) * 6.5 + 6
    yield f'<rect x="{x - width / 2:.1f}" y="{y - 8:.1f}" width="{width:.1f}" height="16" rx="3" fill="#ffffff"/>'
    yield _text(x, y + 4, label, size=11, anchor="middle", colour=colour)
    yield "</g>"


def _draw_alone(body: list[str], neighbourhood: Neighbourhood, colours: dict[str, str], y: float) -> float:
    """The recipes that nothing lies close to, in columns; returns where the drawing ends."""
    if not neighbourhood.alone:
        return y
    body.append(_text(_MARGIN, y + 8, f"By themselves ({len(neighbourhood.alone)})", weight="bold"))
    y += 36
    column = max(len(_short(name)) for name in neighbourhood.alone) * _CHARACTER + 52
    columns = max(1, int((WIDTH - 2 * _MARGIN) // column))
    rows = -(-len(neighbourhood.alone) // columns)
    for number, name in enumerate(neighbourhood.alone):
        x, below = _MARGIN + number // rows * column, y + number % rows * _LINE
        body.append(_dot(x + 6, below - 4, colours[neighbourhood.engines[name]]))
        body.append(_text(x + 18, below, _short(name), title=name))
    return y + rows * _LINE


def _short(name: str) -> str:
    line = plain_line(name)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float, *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="7 4"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:.1f}" stroke-linecap="round"{dashes}/>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 0,
    weight: str = "",
    anchor: str = "",
    colour: str = _INK,
    title: str = "",
) -> str:
    looks: Sequence[tuple[str, str]] = (
        ("font-size", str(size) if size else ""),
        ("font-weight", weight),
        ("text-anchor", anchor),
        ("fill", colour),
    )
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in looks if value)
    hint = f"<title>{escape(plain_line(title))}</title>" if title and title != text else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{hint}{escape(plain_line(text))}</text>'
