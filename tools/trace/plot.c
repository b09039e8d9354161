/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: draws what the localities did, and who made whom wait. */
#include "tools/trace/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/ledger_format.h"

/* A band for each locality, of columns of equal time. In each column it says how many tasks ran,
 * waited for other localities, or for operations, on average. */
enum { COLUMNS = 1000, BAND = 60, GAP = 14, LEFT = 110, TOP = 60, CELL = 24, MOST_CELLS = 64 };

enum state { RUNS, FOR_OTHERS, FOR_OPERATION, STATES };

static const struct {
    const char *name, *colour;
} states[STATES] = {
    {"runs", "#4c9a5b"},
    {"waits for other localities", "#c8452f"},
    {"waits for operations", "#e8a33d"},
};

struct band {
    double ns[STATES][COLUMNS];
};

struct drawing {
    const struct model *model;
    const struct trace *trace;
    struct band *bands; /* of each locality */
    double width;       /* of a column, ns */
    const struct wait *wait;
    FILE *file;
};

static void add(struct drawing *drawing, uint32_t rank, enum state state, uint64_t begin,
                uint64_t end)
{
    uint32_t band = model_locality(drawing->model, rank);
    double at = (double)(begin - drawing->model->begin);
    const double last = (double)(end - drawing->model->begin);
    for (int column = (int)(at / drawing->width); band != NONE && column < COLUMNS; column++) {
        double to = column == COLUMNS - 1 ? last : (column + 1) * drawing->width;
        to = to < last ? to : last;
        drawing->bands[band].ns[state][column] += to > at ? to - at : 0;
        at = to > at ? to : at; /* the quotient may have been rounded down */
        if (at >= last)
            break;
    }
}

static void add_blame(void *context, const struct blame *blame)
{
    struct drawing *drawing = context;
    uint32_t rank = drawing->wait->rank;
    if (blame->kind == BLAME_OPERATION)
        add(drawing, rank, FOR_OPERATION, blame->at, blame->at + blame->ns);
    else if (blame->kind == BLAME_MISSING ||
             (blame->kind == BLAME_TASK && drawing->model->tasks[blame->task].rank != rank))
        add(drawing, rank, FOR_OTHERS, blame->at, blame->at + blame->ns);
}

/* What runs in place of another task is a part of that. */
static void add_task(struct drawing *drawing, const struct task *task)
{
    uint64_t at = task->begin;
    for (uint32_t i = 0; i < task->num_waits && !task->is_in_place; i++) {
        const struct wait *wait = &drawing->model->waits[task->waits[i]];
        add(drawing, task->rank, RUNS, at, wait->begin);
        at = wait->end;
    }
    if (!task->is_in_place)
        add(drawing, task->rank, RUNS, at, task->end);
}

static void add_all(struct drawing *drawing)
{
    const struct model *model = drawing->model;
    for (uint32_t i = 0; i < model->num_tasks; i++)
        add_task(drawing, &model->tasks[i]);
    for (uint32_t i = 0; i < model->num_waits; i++) {
        drawing->wait = &model->waits[i];
        if (drawing->wait->what != COHORT__WAIT_YIELD)
            blame_wait(model, i, true, add_blame, drawing);
    }
}

static double sum_of(const struct band *band, int column)
{
    double sum = 0;
    for (int state = 0; state < STATES; state++)
        sum += band->ns[state][column];
    return sum;
}

static double most_of(const struct drawing *drawing, const struct band *band)
{
    double most = drawing->width;
    for (int column = 0; column < COLUMNS; column++)
        most = sum_of(band, column) > most ? sum_of(band, column) : most;
    return most;
}

/* The states are on top of each other; each is one line along its upper side, and back. */
static void draw_state(const struct drawing *drawing, const struct band *band, int state,
                       double bottom)
{
    double most = most_of(drawing, band);
    bool has_any = false;
    for (int column = 0; column < COLUMNS; column++)
        has_any |= band->ns[state][column] > 0;
    if (!has_any)
        return;
    fprintf(drawing->file, "<path fill=\"%s\" d=\"M%d %.1f", states[state].colour, LEFT, bottom);
    for (int column = 0; column < COLUMNS; column++) {
        double sum = 0;
        for (int below = 0; below <= state; below++)
            sum += band->ns[below][column];
        fprintf(drawing->file, "V%.1fh1", bottom - BAND * sum / most);
    }
    fprintf(drawing->file, "V%.1fz\"/>\n", bottom);
}

static void text(const struct drawing *drawing, double x, double y, const char *anchor,
                 const char *text)
{
    fprintf(drawing->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *text; text++)
        if (strchr("<>&\"", *text))
            fprintf(drawing->file, "&#%d;", *text);
        else
            fputc((unsigned char)*text < 0x80 && *text >= ' ' ? *text : '?', drawing->file);
    fprintf(drawing->file, "</text>\n");
}

/* From the last state to the first, so that each covers what is above it. */
static void draw_bands(const struct drawing *drawing)
{
    char line[64];
    for (uint32_t i = 0; i < drawing->trace->num_localities; i++) {
        double bottom = TOP + (i + 1.0) * (BAND + GAP) - GAP;
        snprintf(line, sizeof(line), "locality %u", (unsigned)drawing->trace->localities[i].rank);
        text(drawing, LEFT - 8, bottom - BAND / 2.0, "end", line);
        for (int state = STATES - 1; state >= 0; state--)
            draw_state(drawing, &drawing->bands[i], state, bottom);
        fprintf(drawing->file, "<path stroke=\"#888\" d=\"M%d %.1fh%d\"/>\n", LEFT, bottom,
                COLUMNS);
    }
}

static void draw_legend(const struct drawing *drawing)
{
    char line[64];
    for (int state = 0; state < STATES; state++) {
        fprintf(drawing->file, "<rect x=\"%d\" y=\"14\" width=\"12\" height=\"12\" fill=\"%s\"/>\n",
                LEFT + state * 220, states[state].colour);
        text(drawing, LEFT + state * 220 + 18, 25, "start", states[state].name);
    }
    text(drawing, LEFT, TOP - 8, "start", "0 s");
    snprintf(line, sizeof(line), "%.3f s",
             (double)(drawing->model->end - drawing->model->begin) / 1e9);
    text(drawing, LEFT + COLUMNS, TOP - 8, "end", line);
}

/* Rows made columns wait: the darker, the longer. */
static void draw_pairs(const struct drawing *drawing, const struct sums *sums, double top)
{
    const uint32_t num = drawing->trace->num_localities;
    uint64_t most = 1;
    char line[32];
    for (uint32_t i = 0; i < sums->num_pairs; i++)
        if (sums->pairs[i].maker != sums->pairs[i].waiter && sums->pairs[i].ns > most)
            most = sums->pairs[i].ns;
    text(drawing, LEFT, top, "start", "which locality (row) made which one (column) wait, seconds");
    for (uint32_t i = 0; i < num; i++) {
        snprintf(line, sizeof(line), "%u", (unsigned)drawing->trace->localities[i].rank);
        text(drawing, LEFT - 8, top + 24 + CELL * (i + 0.7), "end", line);
        text(drawing, LEFT + 2 * CELL * (i + 0.5), top + 18, "middle", line);
    }
    for (uint32_t i = 0; i < sums->num_pairs; i++) {
        const struct sum_pair *pair = &sums->pairs[i];
        uint32_t row = model_locality(drawing->model, pair->maker),
                 column = model_locality(drawing->model, pair->waiter);
        if (row == NONE || column == NONE || row == column)
            continue;
        double x = LEFT + 2.0 * CELL * column, y = top + 24 + CELL * row;
        fprintf(drawing->file,
                "<rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" fill=\"#c8452f\" "
                "fill-opacity=\"%.2f\"/>\n",
                x, y, 2 * CELL, CELL, (double)pair->ns / (double)most);
        snprintf(line, sizeof(line), "%.3f", (double)pair->ns / 1e9);
        text(drawing, x + CELL, y + 0.7 * CELL, "middle", line);
    }
}

static void draw(const struct drawing *drawing, const struct sums *sums)
{
    const uint32_t num = drawing->trace->num_localities;
    const bool has_pairs = num > 1 && num <= MOST_CELLS;
    double bottom = TOP + num * (double)(BAND + GAP) + 20;
    double width = LEFT + COLUMNS + 20;
    if (has_pairs && LEFT + 2.0 * CELL * num + 20 > width)
        width = LEFT + 2.0 * CELL * num + 20;
    fprintf(drawing->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "font-family=\"DejaVu Sans, Arial, sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, bottom + (has_pairs ? 40.0 + CELL * num : 0));
    draw_legend(drawing);
    draw_bands(drawing);
    if (has_pairs)
        draw_pairs(drawing, sums, bottom);
    fprintf(drawing->file, "</svg>\n");
}

cohort_status plot_write(const struct model *model, const struct sums *sums, const char *path)
{
    struct drawing drawing = {.model = model, .trace = model->trace};
    drawing.width = (double)(model->end - model->begin) / COLUMNS;
    drawing.width = drawing.width > 1 ? drawing.width : 1;
    drawing.bands = calloc(model->trace->num_localities, sizeof(*drawing.bands));
    if (!drawing.bands)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory to draw it", path);
    add_all(&drawing);
    drawing.file = fopen(path, "we");
    bool is_good = drawing.file != NULL;
    if (is_good) {
        draw(&drawing, sums);
        is_good = !ferror(drawing.file);
        is_good &= fclose(drawing.file) == 0;
    }
    cohort_status status =
        is_good ? COHORT_OK : cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", path, strerror(errno));
    free(drawing.bands);
    return status;
}
