/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_FINGERPRINT_H
#define COHORT_COLLECTIVES_COMM_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* What a site called, in 64 bits that travel with every message: two sites agree if their numbers
 * are equal, and if they are not, the numbers say what differs. From the low bits up:
 *   4 collective    8 algorithm    8 datatype    8 operation    36 count
 * Where a field is too narrow (user's datatypes and operations, counts from 2^35 on), its top bit
 * is set and a hash fills the rest. What all sites of a communicator have agreed on at its
 * creation, the root among it, is not in it. */
struct cohort__fingerprint_parts {
    uint32_t collective;
    uint32_t algorithm; /* its row */
    uint64_t datatype;
    uint32_t op;      /* 0: none; 1..127 built in; else user's */
    uint64_t op_hash; /* of a user's name and commutativity */
    uint64_t count;
};
uint64_t cohort__fingerprint(const struct cohort__fingerprint_parts *parts);

/* Writes in words what was called, for instance "all_reduce(linear) of 10 double with sum". Names
 * of collectives, algorithms and operations are looked up by these. */
struct cohort__fingerprint_names {
    const char *(*collective)(uint32_t collective);
    const char *(*algorithm)(uint32_t row);
    const char *(*op)(uint32_t op);
};
void cohort__fingerprint_set_names(const struct cohort__fingerprint_names *names);
void cohort__fingerprint_describe(uint64_t fingerprint, char *text, size_t bytes);

#endif
