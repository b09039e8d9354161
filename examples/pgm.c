/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/pgm.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/draft.h"
#include "examples/source.h"

size_t pgm_sample_bytes(unsigned maxval)
{
    return maxval > 255 ? 2 : 1;
}

unsigned pgm_sample(const struct pgm *picture, size_t column, size_t row)
{
    size_t index = row * picture->width + column;
    return picture->maxval > 255 ? ((const uint16_t *)picture->samples)[index]
                                 : ((const uint8_t *)picture->samples)[index];
}

void pgm_fini(struct pgm *picture)
{
    free(picture->samples);
    picture->samples = NULL;
}

/* Reading ------------------------------------------------------------------------------------- */

struct reader {
    const char *path;
    FILE *file;
    uint64_t bytes; /* of the whole file */
};

static cohort_status malformed(const struct reader *reader, const char *what)
{
    if (ferror(reader->file))
        return cohort_fail(COHORT_ERR_SYSTEM, "%s: cannot read: %s", reader->path, strerror(errno));
    if (feof(reader->file))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: truncated: it ends within the header",
                           reader->path);
    return cohort_fail(COHORT_ERR_PROTOCOL, "%s: malformed: %s", reader->path, what);
}

static bool is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next character of the header. A comment goes from '#' to the end of its line, and counts as
 * only that end. */
static int next_character(struct reader *reader)
{
    int c = getc(reader->file);
    if (c == '#')
        while (c != '\n' && c != '\r' && c != EOF)
            c = getc(reader->file);
    return c;
}

/* Reads a number from 1 to MAX, with the space in front of it and the one character after it. */
static cohort_status read_number(struct reader *reader, const char *name, uint64_t max,
                                 uint64_t *ret_number)
{
    char what[80];
    uint64_t number = 0;
    int c = next_character(reader);
    while (is_space(c))
        c = next_character(reader);
    bool is_number = c >= '0' && c <= '9';
    for (; c >= '0' && c <= '9'; c = next_character(reader))
        if (number <= max) /* else it is too large already */
            number = 10 * number + (uint64_t)(c - '0');
    if (!is_number || !is_space(c)) {
        snprintf(what, sizeof(what), "the %s is no number", name);
        return malformed(reader, what);
    }
    if (number < 1 || number > max) {
        snprintf(what, sizeof(what), "the %s is not within 1 to %llu", name,
                 (unsigned long long)max);
        return malformed(reader, what);
    }
    *ret_number = number;
    return COHORT_OK;
}

static cohort_status read_header(struct reader *reader, struct pgm *picture)
{
    uint64_t width, height, maxval;
    if (getc(reader->file) != 'P' || getc(reader->file) != '5' || !is_space(next_character(reader)))
        return malformed(reader, "no binary PGM, it doesn't begin with P5");
    cohort_status status = read_number(reader, "width", PGM_MAX_SIDE, &width);
    if (!status)
        status = read_number(reader, "height", PGM_MAX_SIDE, &height);
    if (!status)
        status = read_number(reader, "maxval", 65535, &maxval);
    if (status)
        return status;
    *picture = (struct pgm){.width = width, .height = height, .maxval = (unsigned)maxval};
    return COHORT_OK;
}

/* Whether what follows the header is as large as the header says. */
static cohort_status check_size(struct reader *reader, const struct pgm *picture)
{
    /* Two sides of 31 bits and 2 bytes: no overflow. */
    uint64_t expected =
        (uint64_t)picture->width * picture->height * pgm_sample_bytes(picture->maxval);
    off_t header = ftello(reader->file);
    if (header < 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "%s: cannot read: %s", reader->path, strerror(errno));
    uint64_t present = reader->bytes > (uint64_t)header ? reader->bytes - (uint64_t)header : 0;
    if (present < expected)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "%s: truncated: %llu bytes of %llu expected after the header",
                           reader->path, (unsigned long long)present, (unsigned long long)expected);
    if (present > expected)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "%s: malformed: %llu bytes after the picture's %llu", reader->path,
                           (unsigned long long)(present - expected), (unsigned long long)expected);
    return COHORT_OK;
}

/* From the order of bytes in the file, which is big-endian, to the machine's. */
static void decode(struct pgm *picture)
{
    uint16_t *samples = picture->samples;
    size_t count = picture->width * picture->height;
    for (size_t i = 0; picture->maxval > 255 && i < count; i++)
        samples[i] = be16toh(samples[i]);
}

static cohort_status check_samples(const struct reader *reader, const struct pgm *picture)
{
    for (size_t row = 0; row < picture->height; row++)
        for (size_t column = 0; column < picture->width; column++)
            if (pgm_sample(picture, column, row) > picture->maxval)
                return cohort_fail(
                    COHORT_ERR_PROTOCOL,
                    "%s: malformed: the sample in column %zu of row %zu is %u, above the maxval %u",
                    reader->path, column, row, pgm_sample(picture, column, row), picture->maxval);
    return COHORT_OK;
}

static cohort_status read_samples(struct reader *reader, struct pgm *picture)
{
    size_t bytes = picture->width * picture->height * pgm_sample_bytes(picture->maxval);
    picture->samples = malloc(bytes);
    if (!picture->samples)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for its %zu bytes", reader->path,
                           bytes);
    size_t got = fread(picture->samples, 1, bytes, reader->file);
    if (ferror(reader->file))
        return cohort_fail(COHORT_ERR_SYSTEM, "%s: cannot read: %s", reader->path, strerror(errno));
    if (got < bytes)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: truncated while it was read", reader->path);
    decode(picture);
    return check_samples(reader, picture);
}

cohort_status pgm_read(const char *path, struct pgm *ret_picture)
{
    struct reader reader = {.path = path};
    struct pgm picture = {0};
    cohort_status status = source_open(path, &reader.file, &reader.bytes);
    if (status)
        return status;
    status = read_header(&reader, &picture);
    if (!status)
        status = check_size(&reader, &picture);
    if (!status)
        status = read_samples(&reader, &picture);
    fclose(reader.file);
    if (status)
        pgm_fini(&picture);
    else
        *ret_picture = picture;
    return status;
}

/* Writing ------------------------------------------------------------------------------------- */

static void write_samples(FILE *file, const struct pgm *picture)
{
    size_t count = picture->width * picture->height;
    const uint16_t *samples = picture->samples;
    if (picture->maxval <= 255) {
        fwrite(picture->samples, 1, count, file);
        return;
    }
    for (size_t i = 0; i < count && !ferror(file); i++) {
        uint16_t sample = htobe16(samples[i]);
        fwrite(&sample, sizeof(sample), 1, file);
    }
}

/* Write errors are found later, by draft_commit. */
cohort_status pgm_write(const char *path, const struct pgm *picture)
{
    struct draft draft;
    cohort_status status = draft_open(&draft, path);
    if (status)
        return status;
    fprintf(draft.file, "P5\n%zu %zu\n%u\n", picture->width, picture->height, picture->maxval);
    write_samples(draft.file, picture);
    status = draft_commit(&draft);
    draft_fini(&draft);
    return status;
}
