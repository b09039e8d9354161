#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/scale.md, by cohort-sim with the prices of the library.

usage: scale_picture.py COHORT_SIM bottlenecks|crossovers FILE.svg

bottlenecks: which level of a machine takes how much of the row `levels`.
crossovers: from which block on a row over all sites is faster than `levels`; and `shares`."""
import json
import math
import subprocess
import sys

MACHINES = ["2x4x1", "8x4x1", "64x16x4", "1000x64x16"]
# Collective, bytes of a block, title. Two rows of panels.
PANELS = [
    ("barrier", "8", "barrier"),
    ("broadcast", "8", "broadcast, 8 B"),
    ("all_reduce", "8", "all_reduce, 8 B"),
    ("all_gather", "8", "all_gather, 8 B a site"),
    ("broadcast", "1MiB", "broadcast, 1 MiB"),
    ("all_reduce", "64KiB", "all_reduce, 64 KiB"),
    ("all_reduce", "1MiB", "all_reduce, 1 MiB"),
    ("reduce_scatter", "8", "reduce_scatter, 8 B a site"),
]
COLUMNS = 4
LEVELS = [("tasks", "#e69f00", "in a locality: tasks that meet, reductions"),
          ("localities", "#56b4e9", "among localities of a host"),
          ("hosts", "#d55e00", "among hosts")]
REST = "#999999"  # the start of the call

LEFT, TOP = 96, 118       # of the first panel's bars
PANEL, ROW = 268, 182     # from one panel to the next
BAR, THICK, STEP = 166, 22, 32

# Collective, the row over all sites that levels is compared with, and the other row that follows
# the machine, if there is one.
CURVES_MACHINE = "8x16x4"
CURVES = [("all_reduce", "rabenseifner", "shares"), ("all_gather", "ring", "shares"),
          ("reduce_scatter", "ring", "shares"), ("all_to_all", "linear", None)]
SIZES = [8 << i for i in range(0, 14)]  # to 64 KiB
LOW, HIGH = 4, 2e6                      # microseconds on the axis
BOX, TALL, FRAME_TOP = 226, 220, 96


def simulate(program, collective, size, machine, row="levels"):
    """The time of a call in microseconds, and the parts of its critical path."""
    text = subprocess.run([program, collective, "--bytes", str(size), "--machine", machine,
                           "--algorithm", row, "--json"],
                          check=True, capture_output=True, text=True).stdout
    result = json.loads(text)["results"][0]
    if "time" not in result:
        raise SystemExit(f"{collective} of {size} on {machine}: {result}")
    parts = [result[name]["work"] + result[name]["wire"] for name, _, _ in LEVELS]
    return result["time"], parts


def time_text(microseconds):
    if microseconds < 1000:
        return f"{microseconds:.0f} µs"
    if microseconds < 1e6:
        return f"{microseconds / 1e3:.3g} ms"
    return f"{microseconds / 1e6:.3g} s"


def text_at(x, y, text, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{text}</text>'


def bar(x, y, time, parts):
    """A bar from X to X + BAR, cut into the shares of the levels, with the time behind it."""
    lines = [f'<rect x="{x}" y="{y}" width="{BAR}" height="{THICK}" fill="{REST}"/>']
    at = x
    for part, (_, colour, name) in zip(parts, LEVELS):
        share = part / time
        width = BAR * share
        lines.append(f'<rect x="{at:.1f}" y="{y}" width="{width:.1f}" height="{THICK}" '
                     f'fill="{colour}"><title>{name}: {share:.0%}</title></rect>')
        if share >= 0.2:
            lines.append(text_at(at + width / 2, y + 15, f"{share:.0%}",
                                 'text-anchor="middle" font-size="11"'))
        at += width
    lines.append(text_at(x + BAR + 5, y + 15, time_text(time), 'font-size="11"'))
    return lines


def legend():
    lines, x = [], LEFT
    for _, colour, name in LEVELS:
        lines.append(f'<rect x="{x}" y="58" width="14" height="14" fill="{colour}"/>')
        lines.append(text_at(x + 20, 70, name, 'font-size="13"'))
        x += 40 + 7 * len(name)
    return [*lines, f'<rect x="{x}" y="58" width="14" height="14" fill="{REST}"/>',
            text_at(x + 20, 70, "start of the call", 'font-size="13"')]


def panel(program, index, collective, size, title):
    x, y = LEFT + index % COLUMNS * PANEL, TOP + index // COLUMNS * ROW
    lines = [text_at(x, y - 10, title, 'font-size="14" font-weight="bold"')]
    for i, machine in enumerate(MACHINES):
        if index % COLUMNS == 0:
            lines.append(text_at(x - 6, y + i * STEP + 15, machine, 'text-anchor="end"'))
        lines += bar(x, y + i * STEP, *simulate(program, collective, size, machine))
    return lines


def bottlenecks(program):
    lines = picture(1180, 470, "Small blocks wait for the hosts; megabytes wait for every level",
                    "the critical path of the row levels, simulated: hosts x localities x tasks, "
                    "a core for each locality, the library's prices")
    lines += legend()
    for index, (collective, size, name) in enumerate(PANELS):
        lines += panel(program, index, collective, size, name)
    return lines


def size_text(size):
    return f"{size:.0f} B" if size < 1024 else f"{size / 1024:.3g} KiB"


def place(x, size, time):
    """Where a point is in the frame at X; both axes are logarithmic."""
    return (x + BOX * math.log(size / SIZES[0]) / math.log(SIZES[-1] / SIZES[0]),
            FRAME_TOP + TALL - TALL * math.log(time / LOW) / math.log(HIGH / LOW))


def crossing(one, other):
    """The size from which on OTHER is less, between two sizes by straight lines, or None."""
    gaps = [math.log(a / b) for a, b in zip(one, other)]
    for i in range(len(gaps) - 1, 0, -1):
        if gaps[i] > 0 >= gaps[i - 1]:
            return SIZES[i - 1] * 2 ** (-gaps[i - 1] / (gaps[i] - gaps[i - 1]))
    return None


def frame(x, collective, is_first):
    lines = [text_at(x, FRAME_TOP - 20, collective, 'font-size="14" font-weight="bold"'),
             f'<rect x="{x}" y="{FRAME_TOP}" width="{BOX}" height="{TALL}" fill="none" '
             'stroke="#999999"/>']
    for size in (8, 512, 8 << 10, 64 << 10):
        lines.append(text_at(place(x, size, LOW)[0], FRAME_TOP + TALL + 18, size_text(size),
                             'text-anchor="middle"'))
    for time in (10, 100, 1000, 1e4, 1e5, 1e6):
        y = place(x, SIZES[0], time)[1]
        lines.append(f'<path d="M{x} {y:.1f}h{BOX}" stroke="#e5e5e5"/>')
        if is_first:
            lines.append(text_at(x - 6, y + 4, time_text(time), 'text-anchor="end"'))
    return lines


def curve(x, times, row, colour, at, below):
    """The times of ROW, named at its point number AT."""
    points = [place(x, size, time) for size, time in zip(SIZES, times)]
    path = " ".join(f"{across:.1f},{down:.1f}" for across, down in points)
    across, down = points[at]
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>',
            text_at(across, down + (18 if below else -10), row,
                    f'fill="{colour}" font-size="13" font-weight="bold"')]


def curves(program, index, collective, rival, other):
    x = LEFT + index * PANEL
    lines = frame(x, collective, index == 0)
    times = {row: [simulate(program, collective, size, CURVES_MACHINE, row)[0] for size in SIZES]
             for row in ("levels", rival)}
    size = crossing(times["levels"], times[rival])
    if size:
        at = place(x, size, LOW)[0]
        lines += [f'<path d="M{at:.1f} {FRAME_TOP}v{TALL}" stroke="#666666" '
                  'stroke-dasharray="3 3"/>',
                  text_at(at, FRAME_TOP - 4, f"from {size_text(size)} on",
                          'text-anchor="middle" font-size="11"')]
    for row, colour in (("levels", "#d55e00"), (rival, "#0072b2")):
        is_upper = times[row][1] >= min(times["levels"][1], times[rival][1]) * 1.0001
        lines += curve(x, times[row], row, colour, 1, not is_upper)
    if other:
        found = [simulate(program, collective, size, CURVES_MACHINE, other)[0] for size in SIZES]
        lines += curve(x, found, other, "#009e73", 9, True)
    return lines


def crossovers(program):
    lines = picture(1180, 370,
                    "Large blocks: rows over all sites overtake levels, and shares later or never",
                    f"time of a call against bytes of a block, simulated on {CURVES_MACHINE} "
                    "(hosts x localities x tasks), a core for each locality, the library's prices")
    for index, (collective, rival, other) in enumerate(CURVES):
        lines += curves(program, index, collective, rival, other)
    return lines


def picture(width, height, title, subtitle):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
            f"<title>{title}</title>", '<rect width="100%" height="100%" fill="#ffffff"/>',
            text_at(LEFT, 26, title, 'font-size="18" font-weight="bold"'),
            text_at(LEFT, 45, subtitle, 'fill="#555555"')]


def main():
    kinds = {"bottlenecks": bottlenecks, "crossovers": crossovers}
    if len(sys.argv) != 4 or sys.argv[2] not in kinds:
        raise SystemExit(__doc__)
    lines = kinds[sys.argv[2]](sys.argv[1])
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
