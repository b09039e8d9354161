/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what the files of the model share: sites, waits and communicators in order. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_PRIVATE_H
#define COHORT_TOOLS_COHORTRUN_STATUS_PRIVATE_H

#include "tools/cohortrun/status_model.h"

/* For the files of the model only. status_model.c finds communicators, status_creations.c those
 * that are being created, status_groups.c counts tasks, status_cycles.c finds deadlocks, and
 * status_stuck.c which of them are certain. */

struct status_entry {
    uint32_t rank;
    const struct look_site *site;
};

struct status_future {
    uint32_t rank;
    uint64_t future;
    struct status_creation *creation;
    struct status_join *join;
};

struct status_index {
    struct status_entry *sites;   /* by instance and number of the site */
    struct status_entry *by_task; /* by locality and task */
    uint32_t num_sites;
    const struct look_group **groups; /* by instance, each once */
    uint32_t num_groups;
    struct status_future *futures; /* of creations, by locality and address */
    uint32_t num_futures;
    struct status_comm **comms; /* of the model, by instance */
    uint32_t num_comms;
};

/* Memory for NUM of BYTES each, all zero; 0 is fine. NULL: there is none. */
void *status_allocate(size_t num, size_t bytes);

/* The communicator INSTANCE. NULL: no locality says anything of it. */
const struct look_group *status_find_group(const struct status_index *index, uint64_t instance);

/* The lines of its sites, *RET_NUM of them, by number of the site. */
const struct status_entry *status_find_sites(const struct status_index *index, uint64_t instance,
                                             uint32_t *ret_num);

/* What the task of a site does. */
struct status_site status_describe_site(const struct status_job *job,
                                        const struct status_entry *entry);

cohort_status status_find_creations(struct status_model *model);
void status_free_creations(struct status_model *model);
cohort_status status_find_groups(struct status_model *model);
cohort_status status_find_cycles(struct status_model *model);

/* A task waits for another one, or for an input of what it waits for, which stands for a task. */
struct status_edge {
    struct status_task task; /* no wait: it does not wait, or is not known */
    bool is_site;            /* for a site, which this task has called for last */
};

/* Calls VISIT for each task that TASK is known to wait for. Returns how many of these have to be
 * stuck, at least, so that TASK is: 1 if it needs all of them. 0: it may go on even so. */
typedef void status_visit_edge(void *context, const struct status_edge *edge);
uint64_t status_follow(const struct status_model *model, struct status_task task,
                       status_visit_edge *visit, void *context);

/* Which tasks can't go on any more; see status_stuck.c. COHORT_ERR_NO_MEMORY. */
struct status_stuck;
cohort_status status_stuck_create(struct status_stuck **ret_stuck,
                                  const struct status_model *model);
void status_stuck_destroy(struct status_stuck *stuck);
bool status_is_stuck(const struct status_stuck *stuck, struct status_task task);

/* The join that has FUTURE in locality RANK. NULL: none. */
const struct status_future *status_find_future(const struct status_index *index, uint32_t rank,
                                               uint64_t future);

#endif
