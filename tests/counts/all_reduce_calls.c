/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "tests/support/sites.h"

/* usage: all_reduce_calls SITES [deadline] CALLS: all_reduces of 8 bytes, one after the other,
 * among tasks of this locality; with a deadline that never comes. instructions.py and
 * deadline_instructions.py count what one call takes. */

/* A worker that is busy polls by the clock, so a slow run has more polls. What libuv takes for them
 * is left out: nothing comes from outside while the calls are made. */
static atomic_bool is_calling;

/* Found before libuv's own one. */
int uv_run(uv_loop_t *loop, uv_run_mode mode)
{
    static _Atomic(int (*)(uv_loop_t *, uv_run_mode)) real;
    if (mode == UV_RUN_NOWAIT && atomic_load(&is_calling))
        return 0;
    if (!atomic_load(&real))
        atomic_store(&real, (int (*)(uv_loop_t *, uv_run_mode))dlsym(RTLD_NEXT, "uv_run"));
    return atomic_load(&real)(loop, mode);
}

struct program {
    uint32_t num_sites;
    uint64_t num_calls;
    uint64_t deadline; /* 0: none */
};

static cohort_status repeat(cohort_comm *comm, void *arg)
{
    const struct program *program = arg;
    double in = cohort_comm_this_site(comm), out = 0;
    cohort_status status = COHORT_OK;
    atomic_store(&is_calling, true);
    for (uint64_t generation = 1; !status && generation <= program->num_calls; generation++)
        status = cohort_await(
            cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, generation));
    atomic_store(&is_calling, false);
    if (!status && out != program->num_sites * (program->num_sites - 1) / 2.0)
        status = cohort_fail(COHORT_ERR_MISMATCH, "the sum of the sites is %g", out);
    return status;
}

static cohort_status run(void *arg)
{
    const struct program *program = arg;
    return sites_run(&(struct sites){
        .name = "calls",
        .options = {.num_sites = program->num_sites, .deadline = program->deadline},
        .run = repeat,
        .arg = arg,
    });
}

int main(int argc, char **argv)
{
    static const uint64_t hour_ns = UINT64_C(3600000000000);
    struct program program = {0};
    bool has_deadline = argc == 4 && strcmp(argv[2], "deadline") == 0;
    if (argc != 3 && !has_deadline) {
        fprintf(stderr, "usage: all_reduce_calls SITES [deadline] CALLS\n");
        return 2;
    }
    program.num_sites = (uint32_t)strtoul(argv[1], NULL, 10);
    program.num_calls = strtoull(argv[argc - 1], NULL, 10);
    program.deadline = has_deadline ? hour_ns : 0;
    return cohort_main(argc, argv, run, &program);
}
