/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_FINGERPRINT_H
#define COHORT_COLLECTIVES_COMM_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a site called, in 64 bits that travel with every message: two sites agree if their numbers
 * are equal, and if they are not, the numbers say what differs. From the low bits up:
 *   5 collective    8 algorithm    8 datatype    7 operation    7 place    2 variant    1 checked
 *   26 count
 * Where a field is too narrow (user's datatypes and operations, places from 64 on, counts from 2^25
 * on), its top bit is set and a hash fills the rest. What may differ between the sites of one call
 * (the sizes of a v-variant) is not in it. */
struct cohort__fingerprint_parts {
    uint32_t collective;
    uint32_t algorithm; /* its row */
    uint64_t datatype;
    uint32_t op;      /* 0: none; 1..63 built in; else user's */
    uint64_t op_hash; /* of a user's name and commutativity */
    uint32_t place;   /* the root, or how far it shifts; else 0 */
    uint32_t variant; /* enum cohort__variant */
    bool checked;     /* agreement comes first */
    uint64_t count;
    bool count_is_hash; /* of the counts of all sites */
};
uint64_t cohort__fingerprint(const struct cohort__fingerprint_parts *parts);

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
 * most COHORT__FINGERPRINT_TEXT bytes. Names of collectives, algorithms and operations are looked
 * up by these: `place` says what a place is ("root"), or NULL where there is none. */
enum { COHORT__FINGERPRINT_TEXT = 144 };
struct cohort__fingerprint_names {
    const char *(*collective)(uint32_t collective);
    const char *(*algorithm)(uint32_t row);
    const char *(*op)(uint32_t op);
    const char *(*place)(uint32_t collective);
    const char *(*suffix)(uint32_t collective, enum cohort__variant variant); /* of the name */
};
void cohort__fingerprint_set_names(const struct cohort__fingerprint_names *names);
void cohort__fingerprint_describe(uint64_t fingerprint, char *text, size_t bytes);

#endif
