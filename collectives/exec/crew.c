/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/crew.h"

#include "collectives/comm/commons.h"
#include "runtime/base/container.h"
#include "runtime/task/scheduler.h"

static void run_member(struct cohort__work *work)
{
    struct cohort__crew *crew = COHORT_CONTAINER_OF(work, struct cohort__crew_member, work)->crew;
    struct cohort__commons *commons = crew->commons; /* the crew may be gone at the end */
    uint64_t part = atomic_fetch_add(&crew->next_part, 1);
    if (part < crew->num_parts) {
        crew->perform(crew, part);
        crew->post(work);
        return;
    }
    if (atomic_fetch_sub(&crew->num_at_work, 1) == 1)
        crew->over(crew);
    cohort__commons_count_work(commons, -1);
}

void cohort__crew_start(struct cohort__crew *crew, struct cohort__commons *commons,
                        void (*post)(struct cohort__work *work), uint64_t num_parts,
                        void (*perform)(struct cohort__crew *crew, uint64_t part),
                        void (*over)(struct cohort__crew *crew))
{
    uint32_t num = cohort__scheduler_num_workers();
    if (num > COHORT__CREW_MEMBERS)
        num = COHORT__CREW_MEMBERS;
    if (num > num_parts)
        num = (uint32_t)num_parts;
    crew->commons = commons;
    crew->post = post;
    crew->perform = perform;
    crew->over = over;
    crew->num_parts = num_parts;
    atomic_store(&crew->next_part, 0);
    atomic_store(&crew->num_at_work, num);
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__crew_member *member = &crew->members[i];
        *member = (struct cohort__crew_member){.work.run = run_member, .crew = crew};
        cohort__commons_count_work(commons, 1);
        post(&member->work);
    }
}
