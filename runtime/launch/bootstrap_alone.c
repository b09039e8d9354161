/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "runtime/launch/bootstrap_private.h"

/* A program that was started without a launcher: a job of one locality. */

static cohort_status exchange(struct cohort__bootstrap *bootstrap, const void *address,
                              size_t bytes)
{
    return cohort__bootstrap_store_addresses(bootstrap,
                                             &(struct cohort__control_address){address, bytes}, 1);
}

static void counted(struct cohort__bootstrap *bootstrap)
{
    cohort__bootstrap_round_answer(bootstrap, bootstrap->counts.sent, bootstrap->counts.received,
                                   bootstrap->counts.busy);
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
    .may_begin_again = true,
};

cohort_status cohort__bootstrap_open_alone(struct cohort__bootstrap **ret_bootstrap)
{
    struct cohort__bootstrap *bootstrap = calloc(1, sizeof(*bootstrap));
    if (!bootstrap)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "bootstrap: out of memory");
    bootstrap->way = &way;
    bootstrap->size = bootstrap->epoch = bootstrap->sharing = bootstrap->num_hosts = 1;
    snprintf(bootstrap->host_address, sizeof(bootstrap->host_address), "127.0.0.1");
    if (getrandom(&bootstrap->key, sizeof(bootstrap->key), 0) != sizeof(bootstrap->key)) {
        free(bootstrap);
        return cohort_fail(COHORT_ERR_SYSTEM, "random number for the job: %s", strerror(errno));
    }
    cohort__drain_init(&bootstrap->drain, 1);
    *ret_bootstrap = bootstrap;
    return COHORT_OK;
}
