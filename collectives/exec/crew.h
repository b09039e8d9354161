/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_CREW_H
#define COHORT_COLLECTIVES_EXEC_CREW_H

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/task/work.h"

struct cohort__crew;
struct cohort__inbox;

/* Works that share the parts of something: at most one for each worker. Each does one part, then
 * makes way for others before the next. The members are a part of the crew, so that nothing has to
 * be allocated when it starts; more would hardly be faster, as they share the memory. Not
 * measured. */
enum { COHORT__CREW_MEMBERS = 64 };

struct cohort__crew_member {
    struct cohort__work work;
    struct cohort__crew *crew;
};

struct cohort__crew {
    struct cohort__inbox *inbox; /* counts those at work */
    void (*perform)(struct cohort__crew *crew, uint64_t part);
    void (*over)(struct cohort__crew *crew); /* all parts are done; it may start or free the crew */
    uint64_t num_parts;
    _Atomic uint64_t next_part;
    _Atomic uint32_t num_at_work;
    struct cohort__crew_member members[COHORT__CREW_MEMBERS];
};

/* Has PERFORM done for each of NUM_PARTS, of which there are some, then OVER once. */
void cohort__crew_start(struct cohort__crew *crew, struct cohort__inbox *inbox, uint64_t num_parts,
                        void (*perform)(struct cohort__crew *crew, uint64_t part),
                        void (*over)(struct cohort__crew *crew));

#endif
