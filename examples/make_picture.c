/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the picture that the examples work on: a ball above a tiled floor. Only whole numbers are
 * used, so it is the same everywhere. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/number.h"
#include "examples/pgm.h"

static const char usage[] =
    "usage: make_picture [--width COLUMNS] [--height ROWS] [--depth 8|16] OUT.pgm";

enum { MAX_SIDE = 32768, WHITE = 65535 };

struct options {
    uint64_t width;
    uint64_t height;
    uint64_t depth;
    const char *out;
};

/* Sky that gets lighter towards the horizon, and tiles in perspective below it. */
static int64_t background(int64_t x, int64_t y, int64_t width, int64_t height)
{
    int64_t horizon = height * 5 / 9;
    if (y < horizon)
        return WHITE / 5 + WHITE * 3 / 5 * y / horizon;
    int64_t below = y - horizon + height / 40 + 1;
    int64_t across = (2 * x - width) * 3 / below + 1000;
    int64_t along = 4 * height / below;
    int64_t tile = (across / 2 + along) % 2 ? WHITE * 2 / 5 : WHITE / 8;
    return tile + WHITE / 3 * (y - horizon) / (height - horizon);
}

/* The light comes from the upper left. */
static int64_t shade(int64_t x, int64_t y, int64_t width, int64_t height)
{
    int64_t radius = (width < height ? width : height) * 2 / 7 + 1;
    int64_t dx = x - width * 3 / 5;
    int64_t dy = y - height * 2 / 5;
    if (dx * dx + dy * dy > radius * radius)
        return background(x, y, width, height);
    int64_t from_light_x = dx + radius * 2 / 5;
    int64_t from_light_y = dy + radius * 2 / 5;
    int64_t away = from_light_x * from_light_x + from_light_y * from_light_y;
    int64_t light = WHITE - WHITE * away / (2 * radius * radius);
    return light > WHITE / 16 ? light : WHITE / 16;
}

static void draw(struct pgm *picture)
{
    uint8_t *narrow = picture->samples;
    uint16_t *wide = picture->samples;
    for (size_t y = 0; y < picture->height; y++)
        for (size_t x = 0; x < picture->width; x++) {
            int64_t sample =
                shade((int64_t)x, (int64_t)y, (int64_t)picture->width, (int64_t)picture->height);
            if (picture->maxval > 255)
                *wide++ = (uint16_t)sample;
            else
                *narrow++ = (uint8_t)(sample / 256);
        }
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {{"width", required_argument, NULL, 'w'},
                                          {"height", required_argument, NULL, 'h'},
                                          {"depth", required_argument, NULL, 'd'},
                                          {0}};
    bool is_right = true;
    for (int option; is_right && (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == 'w')
            is_right = number_parse(optarg, 1, MAX_SIDE, &options->width);
        else if (option == 'h')
            is_right = number_parse(optarg, 1, MAX_SIDE, &options->height);
        else if (option == 'd')
            is_right = number_parse(optarg, 8, 16, &options->depth) && options->depth % 8 == 0;
        else
            is_right = false;
    }
    if (!is_right || optind + 1 != argc)
        return false;
    options->out = argv[optind];
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.width = 211, .height = 157, .depth = 8};
    if (!parse_options(argc, argv, &options)) {
        fprintf(stderr, "%s\n", usage);
        return 2;
    }
    struct pgm picture = {.width = options.width,
                          .height = options.height,
                          .maxval = options.depth == 16 ? 65535 : 255};
    picture.samples = calloc(picture.width * picture.height, pgm_sample_bytes(picture.maxval));
    if (!picture.samples) {
        fprintf(stderr, "make_picture: no memory for %zu x %zu samples\n", picture.width,
                picture.height);
        return 1;
    }
    draw(&picture);
    cohort_status status = pgm_write(options.out, &picture);
    if (status)
        fprintf(stderr, "make_picture: %s\n", cohort_error_message());
    pgm_fini(&picture);
    return status ? 1 : 0;
}
