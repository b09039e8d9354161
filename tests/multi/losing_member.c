/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cohort/cohort.h>

#include "runtime/base/ledger_format.h"
#include "runtime/base/random.h"

/* A job of one site in each locality, which loses one or two of them in each round (cohortrun
 * --keep-going), until one is left. All draw from the same seed who dies in a round, and where: in
 * its calls, while the others agree, or while they shrink. The others make communicators, use them,
 * give up and go on with those that are left.
 *
 * With two more arguments nobody has to die: a communicator is revoked and made anew, ROUNDS times
 * one after the other, and in every tenth of the first MOST rounds one dies.
 *
 * usage: losing_member SEED [ROUNDS MOST]    With MEASURE in the environment, site 0 prints in each
 * round how many mappings and descriptors it has, how many KiB of memory the localities share, and
 * how many are its own. */

enum {
    DUPS = 3,
    BLOCK = 100000 / sizeof(uint64_t),
    MOST_YIELDS = 12,
    MESSAGES = 50,
    ROUNDS_A_DEATH = 10,
    MESSAGE_BYTES = 4000
};

enum point {
    NOWHERE,
    BEFORE_CALLS,
    IN_DUP,
    IN_CALLS,
    BEFORE_AGREE,
    IN_AGREE,
    BEFORE_SHRINK,
    IN_SHRINK
};

struct round {
    uint32_t number;
    enum point point; /* where this site dies */
    uint32_t num_yields;
    uint64_t *in, *out;
};

static uint64_t seed;
static uint32_t num_renewals, most_deadly;

static void die_if(const struct round *round, enum point point)
{
    if (round->point != point)
        return;
    for (uint32_t i = 0; i < round->num_yields; i++)
        cohort_yield();
    raise(SIGKILL);
}

/* The same draws at all sites. One dies in the calls, and perhaps another one later. */
static void draw(struct round *round, cohort_comm *comm)
{
    const uint32_t num = cohort_comm_num_sites(comm), me = cohort_comm_this_site(comm);
    struct cohort__random random = cohort__random_seeded(seed * 1000 + round->number);
    const uint32_t first = (uint32_t)cohort__random_below(&random, num);
    const uint32_t second = (uint32_t)cohort__random_below(&random, num);
    const enum point points[] = {(enum point)(BEFORE_CALLS + cohort__random_below(&random, 3)),
                                 (enum point)(BEFORE_AGREE + cohort__random_below(&random, 4))};
    const bool has_second = cohort__random_below(&random, 2) == 0 && second != first && num > 2;
    round->num_yields = (uint32_t)cohort__random_below(&random, MOST_YIELDS);
    round->point = NOWHERE;
    if (me == first)
        round->point = points[0];
    else if (has_second && me == second)
        round->point = points[1];
}

static cohort_status sum(cohort_comm *comm, const struct round *round, uint64_t generation)
{
    const uint64_t num = cohort_comm_num_sites(comm);
    for (size_t i = 0; i < BLOCK; i++)
        round->in[i] = cohort_comm_this_site(comm) + i;
    cohort_future *called = cohort_all_reduce(comm, round->in, round->out, BLOCK, COHORT_UINT64,
                                              COHORT_SUM, generation);
    die_if(round, IN_CALLS);
    cohort_status status = cohort_await(called);
    for (size_t i = 0; i < BLOCK && !status; i++)
        if (round->out[i] != num * (num - 1) / 2 + num * i)
            abort();
    return status;
}

static cohort_status use_dup(cohort_comm *comm, const struct round *round, uint64_t generation)
{
    cohort_comm *dup = NULL;
    cohort_future *made = cohort_comm_dup(&dup, comm, generation);
    die_if(round, IN_DUP);
    cohort_status status = cohort_await(made);
    if (!status)
        status = sum(dup, round, 1);
    cohort_comm_unref(dup);
    return status;
}

/* Messages in a ring of sites, as many as fill the memory for messages to the next one. */
static cohort_status pass_on(cohort_comm *comm, const struct round *round)
{
    const uint32_t num = cohort_comm_num_sites(comm), me = cohort_comm_this_site(comm);
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; i < MESSAGES && !status; i++) {
        cohort_future *set = cohort_channel_set(comm, (me + 1) % num, i, round->in, MESSAGE_BYTES);
        cohort_future *get =
            cohort_channel_get(comm, (me + num - 1) % num, i, round->out, MESSAGE_BYTES, NULL);
        status = cohort_await(set);
        const cohort_status got = cohort_await(get);
        status = status ? status : got;
    }
    return status;
}

static cohort_status call_all(cohort_comm *comm, const struct round *round)
{
    cohort_status status = pass_on(comm, round);
    die_if(round, BEFORE_CALLS);
    for (uint64_t i = 1; i <= DUPS && !status; i++)
        status = use_dup(comm, round, i);
    return status ? status : sum(comm, round, DUPS + 1);
}

static cohort_status shrink(cohort_comm **comm, const struct round *round)
{
    cohort_comm *next = NULL;
    die_if(round, BEFORE_SHRINK);
    cohort_future *shrunk = cohort_comm_shrink(&next, *comm);
    die_if(round, IN_SHRINK);
    cohort_status status = cohort_await(shrunk);
    if (status)
        return status;
    cohort_comm_unref(*comm);
    *comm = next;
    return COHORT_OK;
}

static cohort_status agree(cohort_comm *comm, const struct round *round, uint64_t value,
                           cohort_agreed *ret_agreed)
{
    die_if(round, BEFORE_AGREE);
    cohort_future *agreed = cohort_comm_agree(comm, value, ret_agreed);
    die_if(round, IN_AGREE);
    return cohort_await(agreed);
}

static uint32_t count_entries(const char *path)
{
    uint32_t num = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        num++;
    closedir(directory);
    return num;
}

static uint32_t count_lines(const char *path)
{
    uint32_t num = 0;
    FILE *file = fopen(path, "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        num += c == '\n';
    fclose(file);
    return num;
}

/* Of all files without a name that this process has open, but for the ledger, in which the rings of
 * events fill. */
static long long count_shared_kib(void)
{
    long long blocks = 0;
    for (int fd = 0; fd < 1024; fd++) {
        char path[64], target[64] = "";
        struct stat file;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "memfd:") &&
            !strstr(target, COHORT__LEDGER_NAME) && fstat(fd, &file) == 0)
            blocks += file.st_blocks;
    }
    return blocks / 2;
}

static long long count_own_kib(void)
{
    long long kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file) && sscanf(line, "RssAnon: %lld", &kib) != 1)
        continue;
    fclose(file);
    return kib;
}

static void measure(cohort_comm *comm)
{
    if (!getenv("MEASURE") || cohort_comm_this_site(comm) != 0)
        return;
    printf("left %" PRIu32 ": mappings %" PRIu32 ", descriptors %" PRIu32
           ", shared %lld, own %lld\n",
           cohort_comm_num_sites(comm), count_lines("/proc/self/maps"),
           count_entries("/proc/self/fd"), count_shared_kib(), count_own_kib());
}

/* A round. *RET_OVER: one is left. */
static cohort_status lose(cohort_comm **comm, struct round *round, bool *ret_over)
{
    cohort_agreed agreed;
    round->point = NOWHERE;
    cohort_status status = agree(*comm, round, 1, &agreed); /* in what may have a dead one */
    if (status || (*ret_over = cohort_comm_num_sites(*comm) - agreed.num_failed == 1))
        return status;
    if (agreed.num_failed == 0)
        draw(round, *comm);
    cohort_status done = call_all(*comm, round);
    if (done) /* others may wait for messages of those that live */
        status = cohort_await(cohort_comm_revoke(*comm));
    if (!status)
        status = agree(*comm, round, done ? 0 : 1, &agreed);
    if (!status && agreed.value)
        return cohort_fail(COHORT_ERR_FAILED, "round %" PRIu32 ": all is well", round->number);
    if (!status)
        status = shrink(comm, round);
    if (!status)
        measure(*comm);
    return status;
}

/* One of those that live, and where it dies. */
static void draw_for_renewal(struct round *round, cohort_comm *comm)
{
    round->point = NOWHERE;
    if (round->number % ROUNDS_A_DEATH != 0 || round->number > most_deadly)
        return;
    struct cohort__random random = cohort__random_seeded(seed * 1000 + round->number);
    const uint32_t victim = (uint32_t)cohort__random_below(&random, cohort_comm_num_sites(comm));
    const enum point point = (enum point)(BEFORE_AGREE + cohort__random_below(&random, 4));
    round->num_yields = (uint32_t)cohort__random_below(&random, MOST_YIELDS);
    if (victim == cohort_comm_this_site(comm))
        round->point = point;
}

/* One site revokes, and the others wait in vain for its call. */
static cohort_status break_off(cohort_comm *comm, const struct round *round)
{
    const uint32_t revoker = round->number % cohort_comm_num_sites(comm);
    if (cohort_comm_this_site(comm) == revoker)
        return cohort_await(cohort_comm_revoke(comm));
    cohort_status status = cohort_await(cohort_barrier(comm, 2));
    if (status == COHORT_ERR_REVOKED || (status == COHORT_ERR_PEER_DIED && most_deadly > 0))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_FAILED, "round %" PRIu32 ": the barrier ends with %s",
                       round->number, cohort_status_name(status));
}

/* A round: those that live go on with a communicator in which all have had a right result. */
static cohort_status renew(cohort_comm **comm, struct round *round)
{
    cohort_agreed agreed = {0};
    draw_for_renewal(round, *comm);
    cohort_status status = break_off(*comm, round);
    while (!status && agreed.value == 0) {
        status = shrink(comm, round);
        if (!status)
            status = agree(*comm, round, sum(*comm, round, 1) ? 0 : 1, &agreed);
    }
    if (!status)
        measure(*comm);
    return status;
}

static cohort_status run(void *arg)
{
    const cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                         .this_site = cohort_locality()};
    cohort_comm *comm = NULL;
    bool is_over = false;
    struct round round = {.in = malloc(BLOCK * sizeof(uint64_t)),
                          .out = malloc(BLOCK * sizeof(uint64_t))};
    cohort_status status = round.in && round.out ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    if (!status)
        status = cohort_await(cohort_comm_create(&comm, "all", &options));
    while (!status && !is_over) {
        round.number++;
        status = num_renewals ? renew(&comm, &round) : lose(&comm, &round, &is_over);
        is_over |= round.number == num_renewals;
    }
    if (!status)
        printf("locality %" PRIu32 " is left\n", cohort_locality());
    cohort_comm_unref(comm);
    free(round.in);
    free(round.out);
    return status;
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    if (argc > 3) {
        num_renewals = (uint32_t)strtoul(argv[2], NULL, 10);
        most_deadly = (uint32_t)strtoul(argv[3], NULL, 10);
    }
    return cohort_main(argc, argv, run, NULL);
}
