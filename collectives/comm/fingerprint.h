/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_FINGERPRINT_H
#define COHORT_COLLECTIVES_COMM_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/named_levels.h"

/* What a site has called: all that has to be equal at all sites of the call. What may differ
 * between sites (the sizes of a v-variant) is not in it. */
struct cohort__signature {
    uint64_t datatype;
    uint64_t count;
    uint64_t op;       /* 0: none; a built-in one's number; or cohort__signature_of_users_op() */
    uint32_t place;    /* the root, or the distance of a shift; else 0 */
    uint8_t algorithm; /* the number of its row */
    uint8_t inner;     /* for a composed row: that of the row among the leaders, + 1; else 0 */
    bool count_is_hash : 1; /* `count` is a hash of the counts of all sites */
    uint8_t purpose : 4;    /* enum cohort__purpose */
    uint8_t checked : 1;    /* an agreement comes first */
    uint8_t collective : 5;
    uint8_t variant : 3; /* enum cohort__variant */
};

/* What the library itself has called the collective for. */
enum cohort__purpose {
    COHORT__PURPOSE_NONE, /* the user has called it */
    COHORT__PURPOSE_SPLIT,
    COHORT__PURPOSE_DUP,
    COHORT__PURPOSE_LOCALITY, /* a split by localities, by domains, by hosts */
    COHORT__PURPOSE_DOMAIN,
    COHORT__PURPOSE_HOST,
    COHORT__PURPOSE_NAMED, /* and by the first named level, by the second one, ... */
    COHORT__NUM_PURPOSES = COHORT__PURPOSE_NAMED + COHORT__NAMED_LEVELS_MAX
};

/* The level of the machine that a split is by. */
static inline bool cohort__purpose_is_level(enum cohort__purpose purpose, uint32_t *ret_level)
{
    bool is_level = purpose >= COHORT__PURPOSE_LOCALITY;
    if (is_level)
        *ret_level = purpose - COHORT__PURPOSE_LOCALITY;
    return is_level;
}

/* The `op` of a user's operation. HASH is that of its name and commutativity. */
static inline uint64_t cohort__signature_of_users_op(uint64_t hash)
{
    return hash | UINT64_C(1) << 63;
}

/* The signature in 64 bits, which travel with every message. Two sites agree if their numbers are
 * equal. The low 9 bits are what phase 0 compares: 5 for the collective, 3 for the variant, 1 for
 * checked. The others are a hash of the whole signature. */
uint64_t cohort__fingerprint(const struct cohort__signature *signature);

/* Whether sites with these fingerprints understand each other in PHASE. Phase 0 is the agreement:
 * sites have not agreed on datatypes yet, and a site whose arguments are wrong must be heard, too.
 * So in phase 0 it is enough that the collective, the variant and `checked` are equal. */
bool cohort__fingerprint_fits(uint64_t mine, uint64_t theirs, unsigned phase);

/* How the blocks of a call are described. */
enum cohort__variant {
    COHORT__VARIANT_EQUAL,   /* all of one size */
    COHORT__VARIANT_COUNTS,  /* a count each: "gatherv" */
    COHORT__VARIANT_TYPES,   /* a count and a datatype each: "all_to_allw" */
    COHORT__VARIANT_OBJECTS, /* as large as what is in them: "gather of objects" */
    COHORT__VARIANT_SPARSE,  /* the same, and most are empty: "all_to_all_sparse" */
};

/* Writes in words what was called, for instance "reduce (linear) of 10 double with sum, root 3", at
 * most COHORT__SIGNATURE_TEXT bytes. These words are sent to sites that have called something else.
 * Names of collectives, algorithms and operations come from these functions. `place` says what a
 * signature's place is ("root"), or returns NULL if the collective has none. `may_end_alone`: a
 * site may complete before others have called. */
enum { COHORT__SIGNATURE_TEXT = 144 };
struct cohort__signature_names {
    const char *(*collective)(uint32_t collective);
    const char *(*algorithm)(uint32_t row);
    const char *(*op)(uint32_t op);
    const char *(*place)(uint32_t collective);
    const char *(*suffix)(uint32_t collective, enum cohort__variant variant); /* of the name */
    bool (*may_end_alone)(uint32_t collective);
};
void cohort__signature_set_names(const struct cohort__signature_names *names);
void cohort__signature_describe(const struct cohort__signature *signature, char *text,
                                size_t bytes);

/* Only the name: "reduce", or "split: all_gather". */
void cohort__signature_name(const struct cohort__signature *signature, char *text, size_t bytes);

bool cohort__signature_may_end_alone(const struct cohort__signature *signature);

#endif
