#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The picture docs/hierarchy.svg: all_to_all of 64 sites, as cohort-compare measures it.

usage: hierarchy_picture.py COHORT_COMPARE FILE.svg [OPTION...]

Runs `cohort-compare hierarchy` (two minutes; on a machine that does nothing else) with these
options (--quick, --rounds R), and draws a frame for each number of localities and workers:
trees, and what the library chooses, as a multiple of the flat algorithm's time. Below the frames
are the date, the commit of this checkout and the machine."""
import json
import math
import subprocess
import sys

from origin import origin

TITLE = "all_to_all: what the library chooses, beside a flat call and forced trees"
SUBTITLE = "64 sites; the time of a call as a multiple of the flat one's; lower is faster"
# Localities, workers of each, title. Two rows of frames.
FRAMES = [(1, 1, "1 process, 1 worker"), (1, 2, "1 process, 2 workers"),
          (4, 1, "4 processes, 1 worker each"), (4, 2, "4 processes, 2 workers each")]
ARITIES = (2, 4, 8)
CHOSEN = 4  # the arity with which the library's choice is drawn, the default
TREE, CHOICE, FLAT = "#8a8a8a", "#0072b2", "#1a1a1a"

LEFT, TOP = 70, 100    # of the first frame
WIDE, TALL = 330, 190  # a frame
STEP_X, STEP_Y = 480, 250
LABEL_GAP = 14         # between the labels of two curves


def text_at(x, y, text, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{text}</text>'


def size_text(size):
    return f"{size} B" if size < 1024 else f"{size // 1024} KiB"


def curves_of(results, localities, workers):
    """Name, colour, width and points (bytes, multiple of flat) of each curve of a frame."""
    times = {one["size"]: one["figures"] for one in results
             if (one["localities"], one["workers"]) == (localities, workers)}

    def points(column):
        return [(size, times[size][column] / times[size]["flat"]) for size in sorted(times)]

    found = [(f"tree of {arity}", TREE, 1.5, points(f"tree_{arity}")) for arity in ARITIES]
    return [*found, ("flat", FLAT, 1.5, points("flat")),
            ("chosen", CHOICE, 3, points(f"chosen_{CHOSEN}"))]


class Frame:
    """A frame at X and Y. Both axes are logarithmic, and the same in all frames; LOW and HIGH are
    the exponents of two at the ends of the upright one."""

    def __init__(self, x, y, sizes, low, high):
        self.x, self.y = x, y
        self.sizes = sizes
        self.low, self.high = low, high

    def across(self, size):
        first, last = math.log(self.sizes[0]), math.log(self.sizes[-1])
        return self.x + WIDE * (math.log(size) - first) / (last - first)

    def down(self, multiple):
        return self.y + TALL - TALL * (math.log2(multiple) - self.low) / (self.high - self.low)

    @staticmethod
    def multiple(exponent):
        return f"{2 ** exponent} x" if exponent >= 0 else f"1/{2 ** -exponent} x"

    def axes(self, title):
        lines = [text_at(self.x, self.y - 10, title, 'font-size="14" font-weight="bold"')]
        for size in self.sizes:
            lines.append(text_at(self.across(size), self.y + TALL + 18, size_text(size),
                                 'text-anchor="middle"'))
        for exponent in range(self.low, self.high + 1):
            at = self.down(2.0 ** exponent)
            lines += [f'<path d="M{self.x} {at:.1f}h{WIDE}" stroke="#e5e5e5"/>',
                      text_at(self.x - 8, at + 4, self.multiple(exponent), 'text-anchor="end"')]
        return lines

    def curves(self, curves):
        """Each with its name at its right end; names that would overlap are moved apart."""
        lines, ends = [], []
        for name, colour, width, points in curves:
            path = " ".join(f"{self.across(size):.1f},{self.down(one):.1f}"
                            for size, one in points)
            lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                         f'stroke-width="{width}"/>')
            ends.append((self.down(points[-1][1]) + 4, name, colour))
        at = -math.inf
        for down, name, colour in sorted(ends):
            at = max(down, at + LABEL_GAP)
            weight = ' font-weight="bold"' if colour == CHOICE else ""
            lines.append(text_at(self.x + WIDE + 8, at, name, f'fill="{colour}"{weight}'))
        return lines


def draw(report):
    every = [curves_of(report["results"], *frame[:2]) for frame in FRAMES]
    multiples = [one for curves in every for _, _, _, points in curves for _, one in points]
    sizes = [size for size, _ in every[0][0][3]]
    low, high = math.floor(math.log2(min(*multiples, 0.5))), math.ceil(math.log2(max(multiples)))
    width, height = LEFT + 2 * STEP_X - 30, TOP + 2 * STEP_Y + 30
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f"<title>{TITLE}</title>", '<rect width="100%" height="100%" fill="#ffffff"/>',
             text_at(LEFT, 28, TITLE, 'font-size="18" font-weight="bold"'),
             text_at(LEFT, 48, SUBTITLE, 'font-size="13" fill="#555555"')]
    for i, (curves, (_, _, title)) in enumerate(zip(every, FRAMES)):
        frame = Frame(LEFT + i % 2 * STEP_X, TOP + i // 2 * STEP_Y, sizes, low, high)
        lines += frame.axes(title) + frame.curves(curves)
    lines.append(text_at(LEFT, height - 44, "bytes for each pair of sites", 'font-size="13"'))
    return [*lines, text_at(LEFT, height - 16, origin(report), 'fill="#555555"'), "</svg>"]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    compare, path, *options = sys.argv[1:]
    ran = subprocess.run([compare, "--json", *options, "hierarchy"], stdout=subprocess.PIPE,
                         text=True)
    if ran.returncode:
        sys.exit(f"{compare} hierarchy: status {ran.returncode}")
    lines = draw(json.loads(ran.stdout))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
