/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/splitters.h"

#include <stdlib.h>
#include <string.h>

static struct line line_of(const struct splitter *splitter)
{
    return (struct line){splitter->text, splitter->length};
}

/* Splitters that are SPLITTER_NONE come last. */
static int compare(const void *left, const void *right)
{
    const struct splitter *a = left;
    const struct splitter *b = right;
    if (a->length == SPLITTER_NONE || b->length == SPLITTER_NONE)
        return (a->length == SPLITTER_NONE) - (b->length == SPLITTER_NONE);
    struct line line_a = line_of(a);
    struct line line_b = line_of(b);
    return line_compare(&line_a, &line_b);
}

void splitters_sample(const struct line *lines, size_t count, struct splitter *ret_samples,
                      size_t num)
{
    memset(ret_samples, 0, num * sizeof(*ret_samples));
    for (size_t i = 0; i < num; i++) {
        struct splitter *sample = &ret_samples[i];
        sample->length = SPLITTER_NONE;
        if (!count)
            continue;
        const struct line *line = &lines[(2 * i + 1) * count / (2 * num)];
        sample->length = (uint16_t)(line->length < SPLITTER_BYTES ? line->length : SPLITTER_BYTES);
        if (sample->length)
            memcpy(sample->text, line->text, sample->length);
    }
}

size_t splitters_choose(struct splitter *samples, size_t num_samples, size_t num_buckets)
{
    size_t num = 0;
    qsort(samples, num_samples, sizeof(*samples), compare);
    while (num < num_samples && samples[num].length != SPLITTER_NONE)
        num++;
    if (!num)
        return 0;
    /* In place: if there are more samples than buckets, they move down, else up. */
    if (num >= num_buckets)
        for (size_t b = 1; b < num_buckets; b++)
            samples[b - 1] = samples[b * num / num_buckets];
    else
        for (size_t b = num_buckets - 1; b > 0; b--)
            samples[b - 1] = samples[b * num / num_buckets];
    return num_buckets - 1;
}

void splitters_divide(const struct splitter *splitters, size_t num_splitters,
                      const struct line *lines, size_t count, size_t *ret_bytes, size_t num_buckets)
{
    size_t bucket = 0;
    memset(ret_bytes, 0, num_buckets * sizeof(*ret_bytes));
    for (size_t i = 0; i < count; i++) {
        for (; bucket < num_splitters; bucket++) {
            struct line splitter = line_of(&splitters[bucket]);
            if (line_compare(&lines[i], &splitter) < 0)
                break;
        }
        ret_bytes[bucket] += lines[i].length + 1;
    }
}
