/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the message that says what a daemon is to start. */
#ifndef COHORT_TOOLS_COHORTRUN_ORDER_H
#define COHORT_TOOLS_COHORTRUN_ORDER_H

#include <stdint.h>

#include "cohort/status.h"
#include "runtime/wire/pack.h"
#include "tools/cohortrun/binding.h"

/* What a node daemon is told to start: NUM localities of the job, with cohortrun's own directory
 * and whole environment. It is sent as a msgpack map with these fields. */
struct order {
    uint32_t size;  /* of the job */
    uint32_t first; /* locality of the host */
    uint32_t num;
    struct binding_wish binding;
    const char *directory;
    const char *levels;       /* of the host, for COHORT_LEVELS; "": as in the environment */
    char *const *program;     /* or several, see command.h; NULL-terminated */
    uint32_t num_words;       /* of that; this and the next number are counted when it is packed */
    char *const *environment; /* "NAME=VALUE"; NULL-terminated */
    uint32_t num_variables;
};

/* Appends ORDER to PACKER, whose status says whether that succeeded. */
void order_pack(struct cohort__packer *packer, const struct order *order);

/* On success the order is one block of memory, which the caller frees. */
cohort_status order_read(struct order **ret_order, const void *message, size_t bytes);

#endif
