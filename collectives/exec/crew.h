/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_CREW_H
#define COHORT_COLLECTIVES_EXEC_CREW_H

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/task/work.h"

struct cohort__crew;
struct cohort__commons;

/* Works that share the parts of something. There is at most one for each worker. A work does one
 * part, then posts itself again, so that other works run in between. The members are a part of the
 * crew, so that nothing has to be allocated when it starts; more would hardly be faster, as they
 * share the memory. Not measured. */
enum { COHORT__CREW_MEMBERS = 64 };

struct cohort__crew_member {
    struct cohort__work work;
    struct cohort__crew *crew;
};

struct cohort__crew {
    struct cohort__commons *commons; /* counts the works that are not done */
    void (*post)(struct cohort__work *work);
    void (*perform)(struct cohort__crew *crew, uint64_t part);
    void (*over)(struct cohort__crew *crew); /* all parts are done; may start or free the crew */
    uint64_t num_parts;
    _Atomic uint64_t next_part;
    _Atomic uint32_t num_at_work;
    struct cohort__crew_member members[COHORT__CREW_MEMBERS];
};

/* Has PERFORM called for each of NUM_PARTS parts, at least 1, by works that are posted by POST:
 * cohort__work_post if PERFORM may call an operation of the user's, else cohort__chore_post. Then
 * has OVER called once. Any thread. */
void cohort__crew_start(struct cohort__crew *crew, struct cohort__commons *commons,
                        void (*post)(struct cohort__work *work), uint64_t num_parts,
                        void (*perform)(struct cohort__crew *crew, uint64_t part),
                        void (*over)(struct cohort__crew *crew));

#endif
