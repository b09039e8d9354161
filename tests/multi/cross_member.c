/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cohort/cohort.h>

#include "tests/cross/simulation.h"
#include "tests/cross/stage.h"
#include "tests/support/test.h"

/* The programs of tests/cross, each of whose localities is a process.
 *
 * cross_member SEED FILE       is a locality, in a job of the machine that SEED draws. FILE is
 * empty at first, and then what the localities share cross_member --machine SEED  prints how many
 * localities there are, whether they are on several hosts, and options for cohortrun cross_member
 * --print SEED    prints the program */

/* In FILE. */
struct shared {
    _Atomic uint32_t dead; /* localities, or just about to be, a bit each; the test reads it */
    struct facts facts;
    _Atomic int32_t pids[MAX_LOCALITIES]; /* of localities whose programs have begun */
};

static struct program program;
static struct shared *shared;

struct facts *stage_facts(void)
{
    return &shared->facts;
}

void stage_begin(const struct program *played)
{
    CHECK_INT(cohort_num_localities(), played->num_localities);
    shared->pids[cohort_locality()] = getpid();
}

void stage_end(void)
{
}

bool stage_has(uint32_t locality)
{
    return locality == cohort_locality();
}

cohort_future *stage_create_comm(uint32_t locality, cohort_comm **ret_comm, const char *name,
                                 const cohort_comm_options *options)
{
    CHECK(stage_has(locality));
    return cohort_comm_create(ret_comm, name, options);
}

cohort_future *stage_async_at(uint32_t locality, uint32_t to, const char *name,
                              const cohort_object *in, cohort_object *ret_out)
{
    CHECK(stage_has(locality));
    return cohort_async_at(to, name, in, ret_out);
}

cohort_future *stage_async_everywhere(uint32_t locality, const char *name, const cohort_object *in,
                                      cohort_object *ret_out)
{
    CHECK(stage_has(locality));
    return cohort_async_everywhere(name, in, ret_out);
}

cohort_future *stage_sites(uint32_t locality, const char *name, const cohort_sites_options *options,
                           cohort_site_function *function, void *arg)
{
    CHECK(stage_has(locality));
    return cohort_sites(name, options, function, arg);
}

uint32_t stage_failed_localities(uint32_t locality, uint32_t *ret_ranks, uint32_t capacity)
{
    CHECK(stage_has(locality));
    return cohort_failed_localities(ret_ranks, capacity);
}

cohort_status stage_scope_async_at(uint32_t locality, cohort_scope *scope, uint32_t to,
                                   const char *name, const cohort_object *in)
{
    CHECK(stage_has(locality));
    return cohort_scope_async_at(scope, to, name, in);
}

void *stage_memory_alloc(uint32_t locality, size_t bytes)
{
    void *memory = NULL;
    CHECK(stage_has(locality));
    CHECK_OK(cohort_memory_alloc(&memory, bytes));
    return memory;
}

void stage_memory_free(uint32_t locality, void *memory)
{
    CHECK(stage_has(locality));
    cohort_memory_free(memory);
}

cohort_status stage_memory_share(uint32_t locality, cohort_memory_handle *ret_handle,
                                 const void *memory, size_t bytes)
{
    CHECK(stage_has(locality));
    return cohort_memory_share(ret_handle, memory, bytes);
}

cohort_future *stage_memory_get(uint32_t locality, const cohort_memory_handle *handle,
                                size_t offset, void *to, size_t bytes)
{
    CHECK(stage_has(locality));
    return cohort_memory_get(handle, offset, to, bytes);
}

cohort_future *stage_memory_put(uint32_t locality, const cohort_memory_handle *handle,
                                size_t offset, const void *from, size_t bytes)
{
    CHECK(stage_has(locality));
    return cohort_memory_put(handle, offset, from, bytes);
}

cohort_future *stage_memory_add(uint32_t locality, const cohort_memory_handle *handle,
                                size_t offset, uint64_t value, uint64_t *ret_before)
{
    CHECK(stage_has(locality));
    return cohort_memory_add(handle, offset, value, ret_before);
}

void stage_kill(uint32_t locality)
{
    YIELD_WHILE(shared->pids[locality] == 0);
    if (!(atomic_fetch_or(&shared->dead, 1u << locality) >> locality & 1))
        CHECK_INT(kill(shared->pids[locality], SIGKILL), 0);
}

void stage_lose_link(void)
{
}

uint32_t stage_dead(void)
{
    return shared->dead;
}

static void share(const char *path)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    CHECK(file >= 0);
    CHECK_INT(ftruncate(file, sizeof(*shared)), 0);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(shared != MAP_FAILED);
    close(file);
}

static void draw(const char *seed)
{
    static struct choices choices;
    struct means means = simulation_means;
    means.has_places = false;
    choices_draw(&choices, strtoull(seed, NULL, 10));
    program_draw(&program, &choices, means);
}

/* One of several, or none; of a number that draws nothing else here. */
static void print_variables(void)
{
    static const char *const variables[] = {
        "", " -x COHORT_NET=ofi", " -x COHORT_TOPOLOGY=2x2x1", /* room for MAX_LOCALITIES */
    };
    uint64_t which = program.order / 12 % 6;
    if (which < NUM_OF(variables) && !program.is_spread)
        printf("%s", variables[which]);
}

static void print_machine(void)
{
    printf("%" PRIu32 " %d --workers %" PRIu32, program.num_localities, program.is_spread,
           program.num_workers);
    if (program.keeps_going)
        printf(" --keep-going");
    if (program.tasks_move)
        printf(" -x COHORT_TASKS=movable");
    if (program.progress_thread)
        printf(" -x COHORT_PROGRESS=thread");
    if (program.slow[0])
        printf(" -x COHORT_FAULT=seed:%" PRIu64 ",%s", program.seed, program.slow);
    if (program.eager_budget > 0)
        printf(" -x COHORT_EAGER_BUDGET=%zu", program.eager_budget);
    print_variables();
    printf("\n");
}

static cohort_status run(void *arg)
{
    play(&program);
    printf("locality %" PRIu32 " has played\n", cohort_locality());
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    CHECK_INT(argc, 3);
    draw(argv[argv[1][0] == '-' ? 2 : 1]);
    if (strcmp(argv[1], "--machine") == 0) {
        print_machine();
        return 0;
    }
    if (strcmp(argv[1], "--print") == 0) {
        program_print(&program);
        return 0;
    }
    share(argv[2]);
    play_register();
    return cohort_main(argc, argv, run, NULL);
}
