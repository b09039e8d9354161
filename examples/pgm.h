/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_PGM_H
#define COHORT_EXAMPLES_PGM_H

#include <stddef.h>

#include <cohort/status.h>

/* A grey picture, and its file format: binary PGM ("P5"), of 8 and of 16 bits. */

struct pgm {
    size_t width;    /* 1 .. PGM_MAX_SIDE */
    size_t height;   /* 1 .. PGM_MAX_SIDE */
    unsigned maxval; /* of a sample: white; 1 .. 65535 */
    /* Rows from the top, without gaps: uint8_t, or uint16_t where maxval is above 255. */
    void *samples;
};

#define PGM_MAX_SIDE 2147483647

/* Bytes of one sample, in memory and in the file: 1 or 2. */
size_t pgm_sample_bytes(unsigned maxval);

/* The sample in COLUMN and ROW of PICTURE. */
unsigned pgm_sample(const struct pgm *picture, size_t column, size_t row);

/* Reads the regular file PATH, and is strict: the file has to be one whole picture and nothing
 * else. The format allows several pictures in one file, but here that is an error. Nothing is
 * allocated before the size of the file has confirmed what its header says. The caller calls
 * pgm_fini. Error messages begin with PATH and are one line. Like any reading of files, it blocks
 * the thread. */
cohort_status pgm_read(const char *path, struct pgm *ret_picture) COHORT_MUST_USE;

/* Writes PICTURE as PATH, which is replaced in one step, when all is written. On failure PATH is
 * what it was, and nothing else is left. */
cohort_status pgm_write(const char *path, const struct pgm *picture) COHORT_MUST_USE;

/* Frees the samples. */
void pgm_fini(struct pgm *picture);

#endif
