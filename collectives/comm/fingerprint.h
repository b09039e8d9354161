/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_FINGERPRINT_H
#define COHORT_COLLECTIVES_COMM_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a site has called: all that has to be equal at all sites of the call. What may differ
 * between them (the sizes of a v-variant) is not in it. */
struct cohort__signature {
    uint64_t datatype;
    uint64_t count;
    uint64_t op;    /* 0: none; the number of a built-in one; or cohort__signature_of_users_op() */
    uint32_t place; /* the root, or how far it shifts; else 0 */
    uint8_t algorithm;  /* its row */
    uint8_t inner;      /* the row among leaders, of one that is composed; else 0 */
    bool count_is_hash; /* of the counts of all sites */
    uint8_t collective : 5;
    uint8_t variant : 2; /* enum cohort__variant */
    uint8_t checked : 1; /* agreement comes first */
};

/* A user's operation, by the HASH of its name and commutativity. */
static inline uint64_t cohort__signature_of_users_op(uint64_t hash)
{
    return hash | UINT64_C(1) << 63;
}

/* The same in 64 bits, which travel with every message: two sites agree if their numbers are equal.
 * The low 8 bits are what phase 0 compares: 5 collective, 2 variant, 1 checked. The others are a
 * hash of all of it. */
uint64_t cohort__fingerprint(const struct cohort__signature *signature);

/* Whether sites with these fingerprints understand each other in PHASE. In phase 0 they have yet to
 * agree on datatypes, and one whose arguments are wrong has to be heard, too: there the collective,
 * the variant and that there is an agreement are enough. */
bool cohort__fingerprint_fits(uint64_t mine, uint64_t theirs, unsigned phase);

/* How the blocks of a call are described. */
enum cohort__variant {
    COHORT__VARIANT_EQUAL,   /* all of one size */
    COHORT__VARIANT_COUNTS,  /* a count each: "gatherv" */
    COHORT__VARIANT_TYPES,   /* a count and a datatype each: "all_to_allw" */
    COHORT__VARIANT_OBJECTS, /* as large as what is in them: "gather of objects" */
};

/* Writes in words what was called, for instance "reduce (linear) of 10 double with sum, root 3", at
 * most COHORT__SIGNATURE_TEXT bytes. These words go to sites that have called something else. Names
 * of collectives, algorithms and operations are looked up by these: `place` says what a place is
 * ("root"), or NULL where there is none. */
enum { COHORT__SIGNATURE_TEXT = 144 };
struct cohort__signature_names {
    const char *(*collective)(uint32_t collective);
    const char *(*algorithm)(uint32_t row);
    const char *(*op)(uint32_t op);
    const char *(*place)(uint32_t collective);
    const char *(*suffix)(uint32_t collective, enum cohort__variant variant); /* of the name */
};
void cohort__signature_set_names(const struct cohort__signature_names *names);
void cohort__signature_describe(const struct cohort__signature *signature, char *text,
                                size_t bytes);

#endif
