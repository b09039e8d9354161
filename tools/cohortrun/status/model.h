/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: who waits for whom in a job, from looks at its localities. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_MODEL_H
#define COHORT_TOOLS_COHORTRUN_STATUS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/status/look.h"

#define STATUS_NEVER UINT64_MAX /* an age that is not known */
#define STATUS_NOWHERE UINT32_MAX

/* What is known of a job. */
struct status_locality {
    int pid;           /* 0: it has not been started */
    const char *host;  /* that it is on; NULL: this one, or that is not known */
    const char *core;  /* the core file that this is from; NULL: none */
    int signal;        /* that has made it; 0: none, or that is not known */
    const char *end;   /* "locality 1 (pid 7) exited with status 0"; NULL: it runs */
    struct look *look; /* NULL: it could not be read */
    const char *why;   /* it could not be read; not NULL then */
};

struct status_job {
    int pid;             /* of cohortrun; 0: a program alone, or core files */
    const char *program; /* as it was started */
    uint32_t num;        /* localities */
    struct status_locality *localities;
    uint32_t num_cores; /* 0: it is not read from core files */
};

/* A task that waits: where it is, and for what; or an input of what one waits for. */
struct status_task {
    uint32_t rank;
    const struct look_wait *wait;
};

/* What the task of a site does that has not come. */
enum status_fate {
    STATUS_WAITS,    /* see its wait */
    STATUS_RUNS,     /* it does not wait; or it has ended */
    STATUS_COMPUTES, /* the same, and a worker has not turned its loop for a while */
    STATUS_STOPPED,  /* its process is; its task may wait */
    STATUS_RETURNED, /* its program has returned */
    STATUS_ENDED,    /* its locality has */
    STATUS_LEFT,     /* it has no line: it has left, or its locality can't be read */
};

struct status_site {
    uint32_t site;
    uint32_t rank;        /* its locality; STATUS_NOWHERE: not known */
    uint64_t last_called; /* generation; 0: none */
    enum status_fate fate;
    uint64_t age; /* of the fate */
    const struct look_wait *wait;
    const struct look_worker *worker; /* that computes; NULL: none does */
};

/* A communicator of which some sites have called what others have not. */
struct status_comm {
    uint64_t instance;
    const char *name;
    bool is_ambiguous; /* another one has the same name */
    uint32_t num_sites;
    uint64_t generation; /* the first that some have called and others have not */
    uint32_t num_come;
    uint32_t num_waiting;               /* of those, in a collective */
    uint64_t age;                       /* of the oldest of these waits */
    struct status_site *missing;        /* by site; of those that have no line only the first */
    uint32_t num_listed;                /* STATUS_MAX_MISSING */
    uint64_t num_missing;               /* 0: all have called, and some still wait */
    const struct look_account *account; /* what a site that has come says; NULL: none does */
};

struct status_join {
    uint32_t site; /* of a shrink or an agreement: in its communicator */
    uint32_t rank;
    uint64_t age;
    const struct look_wait *wait; /* of a task that waits for it; NULL: none does */
};

/* A communicator that is being created, or what the sites of one that live do without the dead. */
struct status_creation {
    const char *name; /* of a shrink or an agreement: of the communicator whose sites these are */
    uint32_t num_sites;
    enum cohort__join_kind kind;
    uint64_t parent;             /* of a shrink or an agreement: that communicator; else 0 */
    struct status_site *missing; /* of a shrink or an agreement: sites that live, and have not */
    uint32_t num_missing;        /* called, as far as they have a line; by site */
    struct status_join *joins;   /* by site */
    uint32_t num_joins;
    uint64_t age;          /* of the oldest */
    const char *alike;     /* another name, perhaps this one mistyped; NULL: none */
    bool is_alike_pending; /* it is being created, too; else it exists */
    uint32_t alike_sites;  /* its num_sites */
    uint32_t *returned;    /* localities that have not joined, and whose programs have returned */
    uint32_t num_returned;
    bool lacks_last; /* only sites above all that have joined are missing */
};

/* Tasks that wait at the same place for the same kind of thing. */
struct status_group {
    uint32_t rank; /* of the first, whose look explains these: */
    const struct look_wait *wait;
    uint64_t num;
    uint32_t num_localities;
    uint64_t age; /* of the oldest */
};

enum { STATUS_MAX_MISSING = 64, STATUS_MAX_CYCLE = 64 };

/* Tasks each of which waits for the next one, and the last one for the first. */
struct status_cycle {
    struct status_task tasks[STATUS_MAX_CYCLE];
    uint32_t num;
    bool is_certain; /* a deadlock, and not only perhaps */
};

struct status_model {
    const struct status_job *job;
    struct status_comm *comms; /* by age, the oldest first */
    struct status_creation *creations;
    struct status_group *groups; /* the largest first */
    struct status_cycle *cycles;
    uint32_t num_comms, num_creations, num_groups, num_cycles;
    struct status_index *index; /* sites, communicators and creations in order */
};

/* The worker that has computed for longest without a pause. NULL: none has. */
const struct look_worker *status_find_busy(const struct look *look);

/* Makes the model of JOB, which has to stay. COHORT_ERR_NO_MEMORY. */
cohort_status status_model_create(struct status_model **ret_model, const struct status_job *job);

/* NULL is fine. */
void status_model_destroy(struct status_model *model);

/* For what a task waits, and which other tasks, if that is known. */
struct status_target {
    const struct status_comm *comm;         /* a collective of it, by those that are missing */
    const struct status_creation *creation; /* those that are missing there */
    uint64_t task; /* of the same locality, which is to end, or to let a mutex go */
    const struct look_inputs *inputs;   /* of a combinator, or the end of a scope */
    const struct look_pending *pending; /* what it is; NULL: not known */
    const char *name;                   /* of the communicator of that, or of COMM */
    struct status_task peer; /* of a get or a set: the task of the other site; no wait: it does not
                              * wait */
    bool has_peer;
    struct status_task serving; /* of a remote call: the task that works on it; no wait: that is not
                                 * known, or it does not wait */
};

/* The targets of TASK's wait; all zero: nothing is known. */
struct status_target status_model_target(const struct status_model *model, struct status_task task);

/* The line of a site, which one of its localities has. */
struct status_entry {
    uint32_t rank;
    const struct cohort__site_line *site;
};

/* The lines of the sites of the communicator INSTANCE, *RET_NUM of them, by number of the site. */
const struct status_entry *status_find_sites(const struct status_index *index, uint64_t instance,
                                             uint32_t *ret_num);

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

/* Memory for NUM of BYTES each, all zero; 0 is fine. NULL: there is none. */
void *status_allocate(size_t num, size_t bytes);

/* Finds the deadlocks of MODEL, which has all else. COHORT_ERR_NO_MEMORY. */
cohort_status status_find_cycles(struct status_model *model);

#endif
