/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_PARAMETERS_H
#define COHORT_COLLECTIVES_MODEL_PARAMETERS_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "collectives/algo/algorithm.h"

/* The costs of the machine. predict.h says how the time of a call is computed from them. Times are
 * in nanoseconds. */

/* The coefficients of struct cohort__cost. The first four are for the critical path of a call. The
 * other four are for work, which the cores share. */
enum cohort__term {
    COHORT__TERM_CALL,     /* once for a call */
    COHORT__TERM_STARTUP,  /* t_s */
    COHORT__TERM_BYTE,     /* t_w */
    COHORT__TERM_REDUCED,  /* t_r: for a byte */
    COHORT__TERM_SITE,     /* for each site that takes part */
    COHORT__TERM_MESSAGE,  /* for each message of any site */
    COHORT__TERM_MOVED,    /* for each byte in these messages */
    COHORT__TERM_COMBINED, /* for each byte that any site reduces */
    COHORT__NUM_TERMS
};

/* The points at which measurements correct the model: 2, 4, ... 32 sites, and blocks of 8, 64, ...
 * 2^21 bytes. */
enum {
    COHORT__KNOTS_SITES = 5,
    COHORT__KNOTS_BYTES = 7,
    COHORT__KNOTS = COHORT__KNOTS_SITES * COHORT__KNOTS_BYTES,
    COHORT__MAX_ROWS = 120, /* of the table of algorithms */
};

struct cohort__parameters {
    double cores;   /* shared by all localities */
    double workers; /* of each locality */
    double terms[COHORT__NUM_DISTANCES][COHORT__NUM_TERMS];
    /* For each row of the table at each knot (by sites, then by bytes): the ratio of the measured
     * time to the predicted one, as its binary logarithm in sixteenths (16: twice as long). 0 where
     * nothing is known. */
    int8_t factors[COHORT__NUM_DISTANCES][COHORT__MAX_ROWS][COHORT__KNOTS];
};

/* The parameters for a machine that was not measured. */
void cohort__parameters_default(struct cohort__parameters *ret_parameters);

/* "tasks", "startup" and so on. */
const char *cohort__distance_name(enum cohort__distance distance);
const char *cohort__term_name(enum cohort__term term);

/* Converts RATIO to the nearest factor (16 times its binary logarithm), and back. */
int8_t cohort__factor_of_ratio(double ratio);
double cohort__factor_ratio(int8_t factor);

/* Encodes the parameters as bytes that have the same meaning on every machine, with the exact bits
 * of the doubles. Rows without factors take no room. */
enum { COHORT__PARAMETERS_MAX_BYTES = 13600 };
size_t cohort__parameters_encode(const struct cohort__parameters *parameters,
                                 unsigned char ret_bytes[COHORT__PARAMETERS_MAX_BYTES]);

/* COHORT_ERR_PROTOCOL: DATA can't come from cohort__parameters_encode. */
cohort_status cohort__parameters_decode(struct cohort__parameters *ret_parameters,
                                        const unsigned char *data, size_t bytes);

#endif
