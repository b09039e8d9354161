/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/shape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

const char *const shape_names[] = {"stencil", "nearest",    "fft", "tree",
                                   "random",  "all_to_all", NULL};

static unsigned distance(unsigned a, unsigned b)
{
    return a > b ? a - b : b - a;
}

/* One in four, the same ones in every run. */
static bool is_chosen(unsigned set, unsigned input, unsigned column)
{
    uint32_t mixed = ((set * SHAPE_WIDTH + input) * SHAPE_WIDTH + column) * 2654435769u;
    return mixed >> 30 == 0;
}

static bool needs(const char *name, unsigned set, unsigned column, unsigned input)
{
    unsigned far = distance(column, input);
    if (strcmp(name, "stencil") == 0)
        return far <= 1;
    if (strcmp(name, "nearest") == 0)
        return far <= 2;
    if (strcmp(name, "fft") == 0)
        return far == 0 || far == 1u << set;
    if (strcmp(name, "tree") == 0)
        return input == column / 2;
    if (strcmp(name, "random") == 0)
        return far == 0 || (far <= 2 && is_chosen(set, input, column));
    return true; /* all_to_all */
}

void shape_init(struct shape *shape, const char *name)
{
    bool is_same = strcmp(name, "fft") != 0 && strcmp(name, "random") != 0;
    memset(shape, 0, sizeof(*shape));
    shape->name = name;
    shape->num_sets = is_same ? 1 : SHAPE_MAX_SETS;
    for (unsigned i = 0; i < shape->num_sets; i++)
        for (unsigned column = 0; column < SHAPE_WIDTH; column++)
            for (unsigned input = 0; input < SHAPE_WIDTH; input++) {
                if (!needs(name, i, column, input))
                    continue;
                struct shape_columns *inputs = &shape->sets[i].inputs[column];
                struct shape_columns *outputs = &shape->sets[i].outputs[input];
                inputs->columns[inputs->num++] = input;
                outputs->columns[outputs->num++] = column;
            }
}

const struct shape_set *shape_set(const struct shape *shape, unsigned step)
{
    return &shape->sets[step % shape->num_sets];
}
