/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a job that has died, from core files of its localities. */
#include "tools/cohortrun/status_cores.h"

#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/ledger_read.h"
#include "tools/cohortrun/core.h"

/* A job is not larger: what says so is damaged. */
enum { MOST_LOCALITIES = 1 << 20 };

struct file {
    const char *path;
    struct core core;
    struct cohort__ledger_head head;
};

struct status_cores {
    struct status_job job;
    uint32_t num;
    struct file files[];
};

static cohort_status open_file(struct file *file, const char *path)
{
    struct cohort__ledger_view view;
    file->path = path;
    cohort_status status = core_read(&file->core, path);
    if (status)
        return status;
    status = cohort__ledger_view_init(&view, file->core.memory, 0);
    if (status)
        return cohort_fail(status, "%s: %s", path, cohort_error_message());
    file->head = view.head;
    if (view.head.size == 0 || view.head.size > MOST_LOCALITIES || view.head.rank >= view.head.size)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: its ledger is damaged: locality %u of %u",
                           path, (unsigned)view.head.rank, (unsigned)view.head.size);
    return COHORT_OK;
}

static cohort_status check_fit(const struct file *first, const struct file *other)
{
    const struct cohort__ledger_head *a = &first->head, *b = &other->head;
    if (a->key != b->key || a->size != b->size)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s is of a job of %u localities, and %s of another one, of %u",
                           first->path, (unsigned)a->size, other->path, (unsigned)b->size);
    if (a->epoch != b->epoch)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s is of program %u of its job, and %s of program %u", first->path,
                           (unsigned)a->epoch, other->path, (unsigned)b->epoch);
    if (a->rank == b->rank)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s and %s are both of locality %u",
                           first->path, other->path, (unsigned)a->rank);
    return COHORT_OK;
}

/* The ages that are said are those at the last moment that any of the processes knew. */
static uint64_t find_now(const struct status_cores *cores)
{
    uint64_t now = 0;
    for (uint32_t i = 0; i < cores->num; i++)
        if (cores->files[i].head.last.real > now)
            now = cores->files[i].head.last.real;
    return now;
}

static cohort_status look_at(struct status_cores *cores, const struct file *file, uint64_t now)
{
    struct status_locality *locality = &cores->job.localities[file->head.rank];
    locality->pid = file->head.pid;
    locality->core = file->path;
    locality->signal = file->core.signal;
    cohort_status status = look_read_dead(&locality->look, file->core.memory, 0, now);
    return status ? cohort_fail(status, "%s: %s", file->path, cohort_error_message()) : COHORT_OK;
}

static cohort_status read_files(struct status_cores *cores, const char *const *paths)
{
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; i < cores->num && !status; i++) {
        status = open_file(&cores->files[i], paths[i]);
        for (uint32_t k = 0; k < i && !status; k++)
            status = check_fit(&cores->files[k], &cores->files[i]);
    }
    if (status)
        return status;
    struct status_job *job = &cores->job;
    job->num = cores->files[0].head.size;
    job->num_cores = cores->num;
    job->program = cores->files[0].core.program;
    job->localities = calloc(job->num, sizeof(*job->localities));
    if (!job->localities)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    for (uint32_t rank = 0; rank < job->num; rank++)
        job->localities[rank].why = "no core file of it is given";
    const uint64_t now = find_now(cores);
    for (uint32_t i = 0; i < cores->num && !status; i++)
        status = look_at(cores, &cores->files[i], now);
    return status;
}

cohort_status status_cores_create(struct status_cores **ret_cores, const char *const *paths,
                                  uint32_t num)
{
    struct status_cores *cores = calloc(1, sizeof(*cores) + num * sizeof(cores->files[0]));
    if (!cores)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    cores->num = num;
    for (uint32_t i = 0; i < num; i++)
        cores->files[i].core.memory = -1;
    cohort_status status = read_files(cores, paths);
    if (status)
        status_cores_destroy(cores);
    else
        *ret_cores = cores;
    return status;
}

void status_cores_destroy(struct status_cores *cores)
{
    if (!cores)
        return;
    for (uint32_t i = 0; i < cores->num; i++)
        if (cores->files[i].core.memory >= 0)
            close(cores->files[i].core.memory);
    for (uint32_t rank = 0; cores->job.localities && rank < cores->job.num; rank++)
        look_destroy(cores->job.localities[rank].look);
    free(cores->job.localities);
    free(cores);
}

const struct status_job *status_cores_job(const struct status_cores *cores)
{
    return &cores->job;
}
