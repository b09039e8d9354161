#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/layers.svg: the table of permitted includes, as a picture. Fails if it is out of date.

usage: layers_picture.py ROOT [--write]"""
import os
import sys
import textwrap
from html import escape

import house
from include_graph import LAYERS, PROGRAMS

PATH = "docs/layers.svg"
BASE = "base"

# The column of a layer, from the left. Its row follows from what it uses.
COLUMNS = {"wire": 1, "net": 1, "names": 2, "launch": 1, "remote": 2, "job": 1, "task": 2,
           "loop": 2, "io": 0,
           "proc": 1, "comm": 3, "plan": 3, "exec": 3, "coll": 3, "algo": 4, "model": 4}
FIRST, LAST = 0, 5  # the columns of programs

PURPOSES = {
    "base": "status, errors, slabs, queues, clock, log: every layer may use it",
    "task": "futures, fibers, workers",
    "loop": "libuv: timers, streams",
    "io": "TCP and files for tasks",
    "wire": "the envelope, msgpack",
    "net": "carries bytes: shm, ofi",
    "names": "the home of names",
    "proc": "messages of localities",
    "remote": "calls of functions there",
    "launch": "who is in a job, its end",
    "job": "cohort_main",
    "plan": "a site's steps, as data",
    "algo": "one file an algorithm",
    "model": "which one is fastest",
    "comm": "endpoints, groups, gate",
    "exec": "runs plans, meetings",
    "coll": "the public collectives",
}

BOX_WIDTH, BOX_HEIGHT = 186, 80
GAP_X, GAP_Y = 44, 30
MARGIN, HEAD = 16, 62
SHIFT = 34  # how far an arrow's end is shifted to the side that it comes from
LINE_HEIGHT = 17

RUNTIME, COLLECTIVES = "#dbe9f8", "#fde6cc"
PROGRAM = "#eeeeee"
LINE, TEXT, FAINT = "#444444", "#1a1a1a", "#555555"


class Picture:
    """SVG with one element in each line."""

    def __init__(self, width, height):
        self.width = width
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="DejaVu Sans, Arial, sans-serif">',
            "<title>The layers of Cohort, and which of them may use which</title>",
            '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
            f'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{LINE}"/></marker>'
            "</defs>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>']

    def box(self, x, y, width, height, fill):
        self.lines.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" '
                          f'fill="{fill}" stroke="{LINE}"/>')

    def text(self, x, y, text, size, colour=TEXT, bold=False, anchor="middle"):
        weight = ' font-weight="bold"' if bold else ""
        self.lines.append(f'<text x="{x}" y="{y}" font-size="{size}"{weight} fill="{colour}" '
                          f'text-anchor="{anchor}">{escape(text)}</text>')

    def texts(self, x, y, lines):
        """The LINES of text, with size, colour and weight, centred at X and Y."""
        y += 5 - LINE_HEIGHT * (len(lines) - 1) // 2
        for text, size, colour, bold in lines:
            self.text(x, y, text, size, colour, bold)
            y += LINE_HEIGHT

    def arrow(self, points, dashed=False):
        path = "M" + "L".join(f"{x} {y}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.lines.append(f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.4"{dash} '
                          'marker-end="url(#end)"/>')

    def end(self):
        return "\n".join([*self.lines, "</svg>", ""])


def uses(layer):
    """What LAYER may include besides itself."""
    return [] if layer == BASE else [*LAYERS[layer][1], BASE]


def below(layer):
    """All layers that LAYER uses directly or indirectly."""
    found = set(uses(layer))
    for used in uses(layer):
        found |= below(used)
    return found


def depth(layer):
    return 1 + max(depth(used) for used in uses(layer)) if uses(layer) else 0


def reduced(used):
    """Those of the layers USED that no other one of them uses."""
    return [layer for layer in used if not any(layer in below(other) for other in used)]


def layer_of_header(path):
    return next(layer for layer, (folder, _) in LAYERS.items() if path.startswith(folder + "/"))


def groups():
    """Programs that may use the same: their names, layers and further headers, by side."""
    found = {}
    for name, rights in PROGRAMS.items():
        found.setdefault(rights, []).append(name.removeprefix("tools/").rstrip("/-"))
    sides = {FIRST: [], LAST: []}
    for (layers, headers), names in found.items():
        touched = [*layers, *map(layer_of_header, headers)]
        is_runtime = all(LAYERS[layer][0].startswith("runtime/") for layer in touched)
        sides[FIRST if is_runtime else LAST].append((names, layers, headers))
    for side in sides.values():
        side.sort(key=lambda group: -max(depth(layer) for layer in (*group[1], BASE,
                                         *map(layer_of_header, group[2]))))
    sides[FIRST].append((["examples", "other tools"], None, ()))
    return sides


def small(words, start=""):
    """Lines of small text, or none where there are no WORDS."""
    wrapped = textwrap.wrap(start + " ".join(words), 29) if words else []
    return [(line, 11, FAINT, False) for line in wrapped]


class Drawing:
    def __init__(self):
        self.top = max(map(depth, LAYERS))
        width = 2 * MARGIN + (LAST + 1) * BOX_WIDTH + LAST * GAP_X
        height = self.y(-1) + MARGIN - GAP_Y
        self.picture = Picture(width, height)
        self.boxes = {}  # by layer: x, y, width

    def x(self, column):
        return MARGIN + column * (BOX_WIDTH + GAP_X)

    def y(self, row):
        return HEAD + (self.top - row) * (BOX_HEIGHT + GAP_Y)

    def place(self):
        self.boxes[BASE] = self.x(1), self.y(0), 4 * BOX_WIDTH + 3 * GAP_X
        for layer, column in COLUMNS.items():
            self.boxes[layer] = self.x(column), self.y(depth(layer)), BOX_WIDTH

    def line(self, name, points, dashed=False):
        """An arrow that may cross other arrows, but no box except the two at its ends."""
        for layer, (x, y, width) in self.boxes.items():
            for (x1, y1), (x2, y2) in zip(points, points[1:]):
                if max(x1, x2) > x and min(x1, x2) < x + width and \
                   max(y1, y2) > y and min(y1, y2) < y + BOX_HEIGHT:
                    sys.exit(f"{name}: the line crosses {layer}: change COLUMNS")
        self.picture.arrow(points, dashed)

    def connect(self, layer, used):
        x, y, width = self.boxes[layer]
        to_x, to_y, to_width = self.boxes[used]
        middle, to_middle = x + width // 2, to_x + to_width // 2
        bottom = y + BOX_HEIGHT
        side = (to_x > x) - (to_x < x)
        if used == BASE or side == 0:
            points = [(middle, bottom), (middle, to_y)]
        elif to_y - bottom == GAP_Y:
            turn = bottom + GAP_Y // 2
            points = [(middle + side * SHIFT, bottom), (middle + side * SHIFT, turn),
                      (to_middle - side * SHIFT, turn), (to_middle - side * SHIFT, to_y)]
        else:
            beside = y + BOX_HEIGHT // 2
            points = [(x + width if side > 0 else x, beside), (to_middle, beside),
                      (to_middle, to_y)]
        self.line(f"{layer} to {used}", points)

    def layer(self, layer):
        x, y, width = self.boxes[layer]
        folder = LAYERS[layer][0]
        fill = RUNTIME if folder.startswith("runtime/") else COLLECTIVES
        self.picture.box(x, y, width, BOX_HEIGHT, fill)
        lines = [(folder, 15, TEXT, True), (PURPOSES[layer], 13, TEXT, False)]
        lines += small([used for used in uses(layer) if used != BASE], "uses ")
        self.picture.texts(x + width // 2, y + BOX_HEIGHT // 2, lines)

    def reach(self, column, lane, from_y, layer, dashed):
        """An arrow from a group of programs at FROM_Y, down the LANE at X, to the side of LAYER."""
        x, y, width = self.boxes[layer]
        y += BOX_HEIGHT // 2
        start, end = (self.x(1) - GAP_X, x) if column == FIRST else (self.x(LAST), x + width)
        self.line(f"a program to {layer}", [(start, from_y), (lane, from_y), (lane, y), (end, y)],
                  dashed)

    def group(self, column, row, lanes, group):
        names, layers, headers = group
        x, y = self.x(column), self.y(row)
        middle = y + BOX_HEIGHT // 2
        if headers:
            lane = lanes.pop(0)
            for layer in dict.fromkeys(map(layer_of_header, headers)):
                self.reach(column, lane, middle - 10, layer, True)
        if layers:
            lane = lanes.pop(0)
            for layer in reduced(layers):
                self.reach(column, lane, middle + 10, layer, False)
        lines = [(line, 13, TEXT, True)
                 for line in textwrap.wrap(", ".join(names), 22, break_on_hyphens=False)]
        lines += small(layers or (), "uses ")
        short = ["/".join(path.split("/")[1:]) for path in headers]
        lines += small(short, "and " if layers else "")
        if layers is None:
            lines += small(["public", "headers", "only"])
        self.picture.box(x, y, BOX_WIDTH, BOX_HEIGHT, PROGRAM)
        self.picture.texts(x + BOX_WIDTH // 2, middle, lines)

    def groups(self, column, side):
        """From the top row down. The lane of the first one is the nearest to the layers."""
        num = sum(bool(layers) + bool(headers) for _, layers, headers in side)
        steps = [GAP_X * (i + 1) // (num + 1) for i in range(num)]
        lanes = [self.x(1) - step if column == FIRST else self.x(LAST) - GAP_X + step
                 for step in steps]
        for i, group in enumerate(side):
            self.group(column, self.top - i, lanes, group)

    def legend(self):
        x = MARGIN
        for fill, what in ((RUNTIME, "the runtime"), (COLLECTIVES, "the collectives"),
                           (PROGRAM, "programs")):
            self.picture.box(x, 14, 22, 16, fill)
            self.picture.text(x + 28, 27, what, 13, anchor="start")
            x += 160
        self.picture.text(x, 27, "'uses': all whose headers it may include, besides base and the "
                          "public headers.", 13, anchor="start")
        self.picture.text(MARGIN, 48, "An arrow goes from the user to the used one. It is left out "
                          "where another way leads there. Dashed: single headers, which the box "
                          "names.", 13, anchor="start")

    def draw(self):
        self.place()
        self.legend()
        for layer in LAYERS:
            for used in reduced(uses(layer)):
                self.connect(layer, used)
        for layer in LAYERS:
            self.layer(layer)
        for column, side in groups().items():
            self.groups(column, side)
        return self.picture.end()


def complaints():
    for layer in LAYERS:
        if layer not in PURPOSES or layer not in (BASE, *COLUMNS):
            yield f"{layer}: give it a purpose and a column in layers_picture.py"
    for layer in PURPOSES:
        if layer not in LAYERS:
            yield f"{layer}: is no layer any more; take it out of layers_picture.py"


def main():
    root = sys.argv[1]
    wrong = list(complaints())
    if wrong:
        house.finish(wrong, len(LAYERS))
    picture = Drawing().draw()
    path = os.path.join(root, PATH)
    if "--write" in sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(picture)
    elif not os.path.exists(path) or house.read(root, PATH) != picture:
        wrong.append(f"{PATH}: stale; make it anew by "
                     "python3 -B tests/house/layers_picture.py . --write")
    house.finish(wrong, len(LAYERS))


if __name__ == "__main__":
    main()
