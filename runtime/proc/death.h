/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_DEATH_H
#define COHORT_RUNTIME_PROC_DEATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/wire/pack.h"

/* The death of a locality, as one locality reports it to another one. A locality that leaves
 * because of a death says so in its message, since this may arrive before the launcher's news.
 *
 * Deaths are ordered as the launcher has reported them, which is the same order in all localities.
 * Deaths that it has not reported (or does not number, like PMIx) come after these, in the order in
 * which this locality noticed them. */
struct cohort__envelope;
struct cohort__process;

enum { COHORT__DEATH_NOTICED = 0x40000000 };

struct cohort__death {
    uint32_t rank;
    uint32_t order; /* the launcher's, from 1; or our own, from COHORT__DEATH_NOTICED */
    char why[256];  /* "was killed by signal 9" */
};

/* Sets DEATH->why to WHY, of BYTES, shortened where it is too long. */
void cohort__death_set_why(struct cohort__death *death, const char *why, size_t bytes);

/* Appends DEATH to PACKER. The packer's status says whether that succeeded. */
void cohort__death_pack(struct cohort__packer *packer, const struct cohort__death *death);

/* Sends ENVELOPE, which says that something doesn't exist any more, to locality RANK. The first
 * death that is known here, if any, goes with it. */
void cohort__death_send(struct cohort__process *process, uint32_t rank,
                        const struct cohort__envelope *envelope);

/* Records the death that is reported in the payload of such a message. BYTES 0: there is none.
 * True: the message is ahead of the launcher, whose word is awaited, since the job goes on without
 * the dead. */
bool cohort__death_receive(struct cohort__process *process, const void *data, size_t bytes);

#endif
