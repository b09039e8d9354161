/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "runtime/launch/bootstrap_private.h"

/* A program that was started without a launcher that it could join: a job of one locality. */

/* How many processes a launcher that speaks no PMIx has started; 0: there is none, or that is not
 * known. MPICH's and its descendants set the first variable, Slurm the second one. */
static unsigned long num_started(const char **ret_variable)
{
    static const char *const variables[] = {"PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);
        *ret_variable = variables[i];
        if (value && strtoul(value, NULL, 10) > 1)
            return strtoul(value, NULL, 10);
    }
    return 0;
}

/* Several jobs of one locality each are hardly ever what was meant, and nobody would notice. */
static cohort_status check_alone(void)
{
    const char *alone = getenv("COHORT_ALONE"), *variable = NULL;
    unsigned long num = num_started(&variable);
    if (alone && *alone && strcmp(alone, "0") != 0 && strcmp(alone, "1") != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_ALONE is \"%.40s\", not 0 or 1", alone);
    if (num == 0 || (alone && strcmp(alone, "1") == 0))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_NOT_SUPPORTED,
                       "%s says that this is one of %lu processes, but their launcher speaks no "
                       "PMIx, so each would be a job of one locality; start the job with cohortrun "
                       "-n %lu, or with %s, or set COHORT_ALONE=1 if jobs of one are meant",
                       variable, num, num,
                       getenv("SLURM_PROCID") ? "srun --mpi=pmix" : "a launcher that speaks PMIx");
}

static cohort_status exchange(struct cohort__bootstrap *bootstrap, const void *address,
                              size_t bytes)
{
    return cohort__bootstrap_store_addresses(bootstrap, &(struct cohort__bytes){address, bytes}, 1);
}

static void counted(struct cohort__bootstrap *bootstrap)
{
    if (cohort__bootstrap_round_answer(bootstrap, bootstrap->counts.sent,
                                       bootstrap->counts.received, bootstrap->counts.busy))
        cohort__bootstrap_release(bootstrap);
}

static void failed(struct cohort__bootstrap *bootstrap, const char *text)
{
    (void)bootstrap, (void)text;
}

static void close_alone(struct cohort__bootstrap *bootstrap)
{
    free(bootstrap);
}

static const struct cohort__bootstrap_way way = {
    .exchange = exchange,
    .finished = cohort__bootstrap_round_begin,
    .counted = counted,
    .failed = failed,
    .close = close_alone,
};

cohort_status cohort__bootstrap_open_alone(struct cohort__bootstrap **ret_bootstrap)
{
    cohort_status status = check_alone();
    if (status)
        return status;
    struct cohort__bootstrap *bootstrap = calloc(1, sizeof(*bootstrap));
    if (!bootstrap)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "bootstrap: out of memory");
    bootstrap->way = &way;
    bootstrap->job = (struct cohort__bootstrap_job){.size = 1,
                                                    .epoch = 1,
                                                    .sharing = 1,
                                                    .num_hosts = 1,
                                                    .host_address = "127.0.0.1",
                                                    .may_begin_again = true};
    if (getrandom(&bootstrap->job.key, sizeof(bootstrap->job.key), 0) !=
        sizeof(bootstrap->job.key)) {
        free(bootstrap);
        return cohort_fail(COHORT_ERR_SYSTEM, "random number for the job: %s", strerror(errno));
    }
    cohort__drain_init(&bootstrap->drain, 1);
    *ret_bootstrap = bootstrap;
    return COHORT_OK;
}
