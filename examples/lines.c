/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "examples/source.h"

int line_compare(const struct line *left, const struct line *right)
{
    size_t common = left->length < right->length ? left->length : right->length;
    int order = common ? memcmp(left->text, right->text, common) : 0;
    return order ? order : (left->length > right->length) - (left->length < right->length);
}

static int compare(const void *left, const void *right)
{
    return line_compare(left, right);
}

size_t lines_count(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += text[i] == '\n';
    return count;
}

void lines_split(const char *text, size_t bytes, struct line *ret_lines)
{
    const char *end = text + bytes;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        *ret_lines++ = (struct line){text, (size_t)(newline - text)};
        text = newline + 1;
    }
}

void lines_sort(struct line *lines, size_t count)
{
    if (count)
        qsort(lines, count, sizeof(*lines), compare);
}

size_t lines_join(const struct line *lines, size_t count, char *text)
{
    const char *begin = text;
    for (size_t i = 0; i < count; i++) {
        if (lines[i].length)
            memcpy(text, lines[i].text, lines[i].length);
        text += lines[i].length;
        *text++ = '\n';
    }
    return (size_t)(text - begin);
}

cohort_status lines_sorted(const char *text, size_t bytes, char **ret_sorted)
{
    size_t count = lines_count(text, bytes);
    struct line *lines = calloc(count + 1, sizeof(*lines));
    char *sorted = malloc(bytes + 1);
    if (!lines || !sorted) {
        free(lines);
        free(sorted);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory to sort %zu lines of %zu bytes", count,
                           bytes);
    }
    lines_split(text, bytes, lines);
    lines_sort(lines, count);
    lines_join(lines, count, sorted);
    free(lines);
    *ret_sorted = sorted;
    return COHORT_OK;
}

size_t lines_next(const char *text, size_t bytes, size_t offset)
{
    if (offset == 0 || offset >= bytes)
        return offset < bytes ? offset : bytes;
    const char *newline = memchr(text + offset - 1, '\n', bytes - offset + 1);
    return newline ? (size_t)(newline - text) + 1 : bytes;
}

static cohort_status read_all(FILE *file, const char *path, char *text, size_t bytes,
                              size_t *ret_bytes)
{
    size_t got = fread(text, 1, bytes, file);
    if (ferror(file))
        return cohort_fail(COHORT_ERR_SYSTEM, "%s: cannot read: %s", path, strerror(errno));
    if (got < bytes)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: truncated while it was read", path);
    if (bytes && text[bytes - 1] != '\n')
        text[bytes++] = '\n';
    *ret_bytes = bytes;
    return COHORT_OK;
}

cohort_status lines_read(const char *path, char **ret_text, size_t *ret_bytes)
{
    FILE *file;
    uint64_t bytes;
    cohort_status status = source_open(path, &file, &bytes);
    if (status)
        return status;
    char *text = malloc(bytes + 1);
    if (!text)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for its %zu bytes", path,
                             (size_t)bytes);
    if (!status)
        status = read_all(file, path, text, bytes, ret_bytes);
    fclose(file);
    if (status)
        free(text);
    else
        *ret_text = text;
    return status;
}
