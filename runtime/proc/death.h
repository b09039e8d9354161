/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_DEATH_H
#define COHORT_RUNTIME_PROC_DEATH_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/wire/pack.h"

/* A locality that is dead, as one locality tells it to another one: who has left because of it says
 * so, since its message may be faster than the launcher's news.
 *
 * Deaths are in the order in which the launcher has told them, which is the same everywhere. Those
 * that it has not told (or does not number, like PMIx) come behind, in the order in which they were
 * noticed here. */
struct cohort__envelope;
struct cohort__process;

enum { COHORT__DEATH_NOTICED = 0x40000000 };

struct cohort__death {
    uint32_t rank;
    uint32_t order; /* 1 and up; COHORT__DEATH_NOTICED and up: of this locality's own */
    char why[160];  /* "was killed by signal 9" */
};

/* Appends DEATH to PACKER, whose status tells of success. */
void cohort__death_pack(struct cohort__packer *packer, const struct cohort__death *death);

/* Sends ENVELOPE, which says that something is not there any more, to locality RANK; along with it
 * goes the first death that is known here, if there is one. */
void cohort__death_send(struct cohort__process *process, uint32_t rank,
                        const struct cohort__envelope *envelope);

/* Takes note of the death in such a message's payload; BYTES 0: none is told. */
void cohort__death_receive(struct cohort__process *process, const void *data, size_t bytes);

#endif
