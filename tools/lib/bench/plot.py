"""Cycles per packet against number of flows, as SVG."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 860, 520
LEFT, RIGHT, TOP, BOTTOM = 76, 170, 64, 66
COLOURS = {"zonelb": "#c2410c", "floor": "#9a9a9a"}
PEER_COLOURS = ("#1d4ed8", "#15803d", "#6b7280", "#7e22ce")
STYLE = ('text { font: 14px "DejaVu Sans", Verdana, Helvetica, sans-serif; fill: #222 } '
         ".title { font-size: 18px; font-weight: bold } .small { font-size: 12px; fill: #555 } "
         ".value { font-size: 12px; fill: #555; paint-order: stroke; stroke: #fff; stroke-width: 3px } "
         ".grid { stroke: #e2e2e2 } .axis { stroke: #444 } path { fill: none }")
CYCLES = (5, 10, 20, 50, 100, 200, 500, 1000)


def short(number):
    for factor, unit in ((10**6, "M"), (10**3, "k")):
        if number >= factor:
            return f"{number / factor:g}{unit}"
    return f"{number:g}"


class Axes:
    """Both logarithmic: the peers' figures span two decades."""

    def __init__(self, flows, cycles):
        self.x_range = 0, math.ceil(math.log10(max(flows)))
        low = max([tick for tick in CYCLES if tick <= min(cycles)] or [CYCLES[0]])
        high = min([tick for tick in CYCLES if tick >= max(cycles)] or [CYCLES[-1]])
        self.y_range = math.log10(low), math.log10(high)

    def x(self, flows):
        low, high = self.x_range
        return LEFT + (math.log10(flows) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, cycles):
        low, high = self.y_range
        return HEIGHT - BOTTOM - (math.log10(cycles) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def draw(self):
        parts = []
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        for decade in range(self.x_range[0], self.x_range[1] + 1):
            x = self.x(10**decade)
            parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
            parts.append(text(x, bottom + 20, short(10**decade), "middle"))
        for tick in CYCLES:
            if self.y_range[0] <= math.log10(tick) <= self.y_range[1]:
                y = self.y(tick)
                parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
                parts.append(text(LEFT - 8, y + 5, str(tick), "end"))
        parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>')
        parts.append(text((LEFT + right) / 2, bottom + 44, "flows", "middle"))
        middle = (TOP + bottom) / 2
        parts.append(f'<text x="22" y="{middle}" text-anchor="middle" transform="rotate(-90 22 {middle})">'
                     "cycles per packet</text>")
        return parts


def text(x, y, content, anchor="start", kind=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"' + (f' class="{kind}"' if kind else "")
            + f">{escape(content)}</text>")


def line(axes, points, colour, dashes, values):
    """A line through points, a mark on each measured one, its value beside the mark if wanted."""
    places = [(axes.x(flows), axes.y(cycles)) for flows, cycles in points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    parts = [f'<path d="{path}" stroke="{colour}" stroke-width="2.5"'
             + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>"]
    for (x, y), (_, cycles) in zip(places, points):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
        if values:
            parts.append(text(x, y - 9, f"{cycles:.0f}", "middle", "value"))
    return parts


def spread(wanted, gap=18):
    """Labels' heights, in order of the wish, at least `gap` apart."""
    places = {}
    last = -math.inf
    for name, y in sorted(wanted, key=lambda pair: pair[1]):
        last = places[name] = max(y, last + gap)
    return places


def svg(title, subtitle, ours, floor, peers):
    """`ours`, `floor`: [(flows, cycles)]; `peers`: cases.Peer."""
    lines = [("zonelb", ours, COLOURS["zonelb"], "", True), ("floor, same run", floor, COLOURS["floor"], "2 4", False)]
    lines += [(peer.name, peer.points, colour, "8 4", False) for peer, colour in zip(peers, PEER_COLOURS)]
    points = [point for _, of_line, *_ in lines for point in of_line]
    axes = Axes([flows for flows, _ in points], [cycles for _, cycles in points])
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}">', f"<style>{STYLE}</style>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
             text(LEFT, 28, title, kind="title"), text(LEFT, 48, subtitle, kind="small")]
    parts += axes.draw()
    for _, of_line, colour, dashes, values in lines:
        parts += line(axes, of_line, colour, dashes, values)
    labels = spread([(name, axes.y(of_line[-1][1]) + 5) for name, of_line, *_ in lines])
    for name, of_line, colour, *_ in lines:
        x = axes.x(of_line[-1][0]) + 12
        parts.append(f'<text x="{x:.1f}" y="{labels[name]:.1f}" style="fill:{colour}">{escape(name)}</text>')
    return "\n".join(parts) + "\n</svg>\n"
