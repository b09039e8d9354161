/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/parameters.h"

#include <string.h>

enum { VERSION = 2, STEPS_PER_OCTAVE = 16 };

/* Measured on two cores, with localities that talk through tcp;ofi_rxm. Those between hosts are
 * of two hosts of one locality. */
static const double default_terms[COHORT__NUM_DISTANCES][COHORT__NUM_TERMS] = {
    [COHORT__DISTANCE_TASKS] =
        {
            [COHORT__TERM_CALL] = 100,
            [COHORT__TERM_STARTUP] = 20,
            [COHORT__TERM_BYTE] = 0.005,
            [COHORT__TERM_REDUCED] = 0.005,
            [COHORT__TERM_SITE] = 60,
            [COHORT__TERM_MESSAGE] = 90,
            [COHORT__TERM_MOVED] = 0.08,
            [COHORT__TERM_COMBINED] = 0.08,
        },
    [COHORT__DISTANCE_LOCALITIES] =
        {
            [COHORT__TERM_CALL] = 1000,
            [COHORT__TERM_STARTUP] = 8000,
            [COHORT__TERM_BYTE] = 0.05,
            [COHORT__TERM_REDUCED] = 0.02,
            [COHORT__TERM_SITE] = 500,
            [COHORT__TERM_MESSAGE] = 6500,
            [COHORT__TERM_MOVED] = 0.5,
            [COHORT__TERM_COMBINED] = 0.1,
        },
    [COHORT__DISTANCE_HOSTS] =
        {
            [COHORT__TERM_CALL] = 1000,
            [COHORT__TERM_STARTUP] = 5000,
            [COHORT__TERM_BYTE] = 0.5,
            [COHORT__TERM_REDUCED] = 0.02,
            [COHORT__TERM_SITE] = 500,
            [COHORT__TERM_MESSAGE] = 2500,
            [COHORT__TERM_MOVED] = 0.3,
            [COHORT__TERM_COMBINED] = 0.1,
        },
};

/* 2^(i/16) */
static const double steps[STEPS_PER_OCTAVE] = {
    1,
    1.0442737824274138,
    1.0905077326652577,
    1.1387886347566916,
    1.1892071150027210,
    1.2418578120734840,
    1.2968395546510096,
    1.3542555469368927,
    1.4142135623730951,
    1.4768261459394993,
    1.5422108254079407,
    1.6104903319492543,
    1.6817928305074290,
    1.7562521603732995,
    1.8340080864093424,
    1.9152065613971474,
};

void cohort__parameters_default(struct cohort__parameters *ret_parameters)
{
    memset(ret_parameters, 0, sizeof(*ret_parameters));
    ret_parameters->cores = 2;
    ret_parameters->workers = 1;
    memcpy(ret_parameters->terms, default_terms, sizeof(default_terms));
}

const char *cohort__distance_name(enum cohort__distance distance)
{
    static const char *const names[COHORT__NUM_DISTANCES] = {
        [COHORT__DISTANCE_TASKS] = "tasks",
        [COHORT__DISTANCE_LOCALITIES] = "localities",
        [COHORT__DISTANCE_HOSTS] = "hosts",
    };
    return names[distance];
}

const char *cohort__term_name(enum cohort__term term)
{
    static const char *const names[COHORT__NUM_TERMS] = {
        [COHORT__TERM_CALL] = "call",   [COHORT__TERM_STARTUP] = "startup",
        [COHORT__TERM_BYTE] = "byte",   [COHORT__TERM_REDUCED] = "reduced",
        [COHORT__TERM_SITE] = "site",   [COHORT__TERM_MESSAGE] = "message",
        [COHORT__TERM_MOVED] = "moved", [COHORT__TERM_COMBINED] = "combined",
    };
    return names[term];
}

double cohort__factor_ratio(int8_t factor)
{
    int octaves = (factor + 128) / STEPS_PER_OCTAVE - 128 / STEPS_PER_OCTAVE;
    double ratio = steps[factor - octaves * STEPS_PER_OCTAVE];
    for (; octaves > 0; octaves--)
        ratio *= 2;
    for (; octaves < 0; octaves++)
        ratio /= 2;
    return ratio;
}

/* Returns the lowest factor such that RATIO is not above the geometric mean of its ratio and the
 * next one's. */
int8_t cohort__factor_of_ratio(double ratio)
{
    int low = INT8_MIN, high = INT8_MAX;
    while (low < high) {
        int middle = low + (high - low) / 2;
        double here = cohort__factor_ratio((int8_t)middle);
        double next = cohort__factor_ratio((int8_t)(middle + 1));
        if (here * next < ratio * ratio)
            low = middle + 1;
        else
            high = middle;
    }
    return (int8_t)low;
}

static unsigned char *put_double(unsigned char *at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    for (unsigned i = 0; i < 8; i++)
        *at++ = (unsigned char)(bits >> (8 * i));
    return at;
}

static const unsigned char *get_double(const unsigned char *at, double *ret_value)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; i++)
        bits |= (uint64_t)*at++ << (8 * i);
    memcpy(ret_value, &bits, sizeof(bits));
    return at;
}

/* The layout: version, the doubles, then for each row that has factors: distance, row, factors. */
enum {
    FIXED_BYTES = 1 + 8 * (2 + COHORT__NUM_DISTANCES * COHORT__NUM_TERMS),
    ROW_BYTES = 2 + COHORT__KNOTS
};
_Static_assert(FIXED_BYTES + COHORT__NUM_DISTANCES * COHORT__MAX_ROWS * ROW_BYTES <=
                   COHORT__PARAMETERS_MAX_BYTES,
               "the largest parameters have room");

size_t cohort__parameters_encode(const struct cohort__parameters *parameters,
                                 unsigned char ret_bytes[COHORT__PARAMETERS_MAX_BYTES])
{
    static const int8_t none[COHORT__KNOTS];
    unsigned char *at = ret_bytes;
    *at++ = VERSION;
    at = put_double(at, parameters->cores);
    at = put_double(at, parameters->workers);
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
            at = put_double(at, parameters->terms[distance][term]);
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        for (unsigned row = 0; row < COHORT__MAX_ROWS; row++) {
            if (memcmp(parameters->factors[distance][row], none, sizeof(none)) == 0)
                continue;
            *at++ = (unsigned char)distance;
            *at++ = (unsigned char)row;
            memcpy(at, parameters->factors[distance][row], sizeof(none));
            at += sizeof(none);
        }
    return (size_t)(at - ret_bytes);
}

static cohort_status nonsense(const char *why)
{
    return cohort_fail(COHORT_ERR_PROTOCOL, "parameters of the model from another site: %s", why);
}

cohort_status cohort__parameters_decode(struct cohort__parameters *ret_parameters,
                                        const unsigned char *data, size_t bytes)
{
    const unsigned char *at = data, *end = data + bytes;
    if (bytes < FIXED_BYTES || (bytes - FIXED_BYTES) % ROW_BYTES != 0)
        return nonsense("of no possible size");
    if (*at++ != VERSION)
        return nonsense("of another version");
    for (const unsigned char *row = data + FIXED_BYTES; row < end; row += ROW_BYTES)
        if (row[0] >= COHORT__NUM_DISTANCES || row[1] >= COHORT__MAX_ROWS)
            return nonsense("of an unknown row");
    memset(ret_parameters, 0, sizeof(*ret_parameters));
    at = get_double(at, &ret_parameters->cores);
    at = get_double(at, &ret_parameters->workers);
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
            at = get_double(at, &ret_parameters->terms[distance][term]);
    for (; at < end; at += ROW_BYTES)
        memcpy(ret_parameters->factors[at[0]][at[1]], at + 2, COHORT__KNOTS);
    return COHORT_OK;
}
