/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_NUMBER_H
#define COHORT_EXAMPLES_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <cohort/cohort.h>

/* Reads a decimal number from MIN to MAX, the whole of TEXT and nothing but digits. */
bool number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number);

/* NUMBER as the result of a remote task: 8 bytes. COHORT_ERR_NO_MEMORY. */
cohort_status number_give(uint64_t number, cohort_object *ret_out);

#endif
