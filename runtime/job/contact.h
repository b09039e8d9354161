/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_CONTACT_H
#define COHORT_RUNTIME_JOB_CONTACT_H

#include <stddef.h>

#include "runtime/job/settings.h"
#include "runtime/launch/bootstrap.h"
#include "runtime/net/net.h"
#include "runtime/proc/positions.h"
#include "runtime/wire/schema.h"

/* What each locality of a job shows the others at its start (cohort__bootstrap_exchange): where it
 * is, with which cores, what it says of named levels, and the address of its transport. In msgpack.
 */
struct cohort__contact {
    struct cohort__position position;
    struct cohort__bytes levels; /* that the user names (runtime/base/named_levels.h) */
    struct cohort__bytes address;
};

enum { COHORT__CONTACT_VERSION = 5 };

/* PACKER's status says whether that has succeeded. */
void cohort__contact_pack(struct cohort__packer *packer, const struct cohort__contact *contact);

/* Reads DATA, the contact of locality RANK, and checks all of it. The address and the
 * levels are in DATA.
 * COHORT_ERR_PROTOCOL, COHORT_ERR_NO_MEMORY. */
cohort_status cohort__contact_read(const void *data, size_t bytes, uint32_t rank,
                                   struct cohort__contact *ret_contact);

/* Shows the others that this locality is at POSITION, says LEVELS and has NET's address, and waits
 * for their contacts. Then PROCESS knows their positions and levels, and NET their addresses. The
 * loop's holder, once. COHORT_ERR_BAD_PARAMETER, everywhere: the levels don't fit together. */
cohort_status cohort__contacts_exchange(struct cohort__bootstrap *bootstrap,
                                        const struct cohort__position *position,
                                        struct cohort__word levels, struct cohort__process *process,
                                        struct cohort__net *net);

/* Where this locality is: where it was started, or where TOPOLOGY, if it is set, says.
 * COHORT_ERR_BAD_PARAMETER: the topology has too few places for the job, or takes localities of
 * different hosts for those of one. */
cohort_status cohort__position_find(const struct cohort__bootstrap *bootstrap,
                                    const struct cohort__topology *topology,
                                    struct cohort__position *ret_position);

#endif
