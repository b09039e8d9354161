/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_FARM_HAND_H
#define COHORT_EXAMPLES_FARM_HAND_H

#include <stdint.h>

#include <cohort/cohort.h>

/* The sites of the farm's communicator, and what they say to each other. The dealer and the
 * collector are in locality 0, farm_hands hands in each locality. */

enum { FARM_DEALER = 0, FARM_COLLECTOR = 1, FARM_FIRST_HAND = 2, FARM_MOST_HANDS = 64 };

/* The tag of all messages:
 * - a hand asks the dealer for a strip: no bytes;
 * - the dealer tells it the number of one, a uint32_t; FARM_NO_STRIP: there are no more;
 * - the hand gives the collector a struct farm_strip. */
enum { FARM_TAG = 0 };
#define FARM_NO_STRIP UINT32_MAX

struct farm_strip {
    uint32_t number;
    uint8_t samples[]; /* row by row */
};

extern uint32_t farm_hands; /* in each locality */

/* In all localities. */
uint32_t farm_num_hands(void);

/* How long a struct farm_strip of STRIP is. */
size_t farm_strip_bytes(uint32_t strip);

/* Joins as one of the sites. */
cohort_future *farm_join(uint32_t site, cohort_comm **ret_comm) COHORT_MUST_USE;

/* Remote functions. `open` joins as the hands of this locality; `run` is one of them, whose number
 * among all, a uint32_t, is in IN; `close` gives their endpoints back. */
cohort_status farm_hand_open(const cohort_object *in, cohort_object *ret_out, void *context);
cohort_status farm_hand_run(const cohort_object *in, cohort_object *ret_out, void *context);
cohort_status farm_hand_close(const cohort_object *in, cohort_object *ret_out, void *context);

#endif
