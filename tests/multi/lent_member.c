/* SPDX-License-Identifier: Apache-2.0 */
/* A locality with memory of cohort_memory_alloc. Its argument says what it does with it; every
 * locality that is through prints "done". */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cohort/cohort.h>

enum { BLOCK = 100000, ROUNDS = 30 };

static cohort_comm *comm;
static uint64_t generation;

static cohort_status begin(void)
{
    cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                   .this_site = cohort_locality()};
    return cohort_await(cohort_comm_create(&comm, "lent", &options));
}

static cohort_status allocate(unsigned char **ret_block, size_t bytes)
{
    void *block = NULL;
    cohort_status status = cohort_memory_alloc(&block, bytes);
    if (!status)
        *ret_block = block;
    return status;
}

/* All_to_all of blocks, which say from whom, to whom and in which round. KILLED: the locality that
 * ends in the middle; or none. */
static cohort_status exchange(uint32_t killed)
{
    const uint32_t num = cohort_num_localities(), me = cohort_locality();
    unsigned char *in = NULL, *out = NULL;
    cohort_status status = begin();
    if (!status)
        status = allocate(&in, (size_t)num * BLOCK);
    if (!status)
        status = allocate(&out, (size_t)num * BLOCK);
    for (uint32_t round = 1; !status && round <= ROUNDS; round++) {
        for (uint32_t site = 0; site < num; site++)
            memset(in + site * BLOCK, (int)(round + 7 * me + 31 * site), BLOCK);
        cohort_future *done = cohort_all_to_all(comm, in, out, BLOCK, COHORT_BYTE, ++generation);
        if (me == killed && round == ROUNDS / 2)
            raise(SIGKILL);
        status = cohort_await(done);
        for (size_t at = 0; !status && at < (size_t)num * BLOCK; at++)
            if (out[at] != (unsigned char)(round + 7 * (at / BLOCK) + 31 * me))
                return cohort_fail(COHORT_ERR_PROTOCOL, "wrong in round %u at %zu", round, at);
    }
    cohort_memory_free(in);
    cohort_memory_free(out);
    cohort_comm_unref(comm);
    return status;
}

/* What was given back is given back again, or an address within a block. */
static cohort_status misuse(bool twice)
{
    unsigned char *block = NULL;
    cohort_status status = allocate(&block, BLOCK);
    if (!status && twice)
        cohort_memory_free(block);
    if (!status)
        cohort_memory_free(twice ? block : block + 64);
    return status;
}

/* A child has its parent's memory, and gives none of it back. */
static cohort_status share_with_child(void)
{
    unsigned char *block = NULL, *none = NULL;
    cohort_status status = allocate(&block, BLOCK);
    int end = 0;
    if (status)
        return status;
    block[0] = 1;
    pid_t child = fork();
    if (child == 0) {
        block[1] = 2;
        cohort_memory_free(block);
        _exit(allocate(&none, 1) == COHORT_ERR_STATE ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &end, 0) != child || end != 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "the child has ended with %d", end);
    if (block[0] != 1 || block[1] != 2)
        return cohort_fail(COHORT_ERR_PROTOCOL, "the child's byte is missing");
    cohort_memory_free(block);
    return COHORT_OK;
}

static cohort_status refuse(void)
{
    void *block = NULL;
    if (cohort_memory_alloc(NULL, 1) != COHORT_ERR_BAD_PARAMETER ||
        cohort_memory_alloc(&block, 0) != COHORT_ERR_BAD_PARAMETER || block)
        return cohort_fail(COHORT_ERR_PROTOCOL, "taken");
    cohort_memory_free(NULL);
    return cohort_memory_alloc(&block, SIZE_MAX);
}

static cohort_status program(void *arg)
{
    const char *how = arg;
    unsigned char *block = NULL;
    cohort_status status = COHORT_ERR_BAD_PARAMETER;
    if (strcmp(how, "exchange") == 0 || strcmp(how, "limited") == 0)
        status = exchange(UINT32_MAX);
    else if (strcmp(how, "killed") == 0)
        status = exchange(1);
    else if (strcmp(how, "twice") == 0 || strcmp(how, "within") == 0)
        status = misuse(strcmp(how, "twice") == 0);
    else if (strcmp(how, "left") == 0)
        status = allocate(&block, BLOCK);
    else if (strcmp(how, "much") == 0)
        status = allocate(&block, 2 << 20);
    else if (strcmp(how, "child") == 0)
        status = share_with_child();
    else if (strcmp(how, "refused") == 0)
        status = refuse();
    if (!status)
        puts("done");
    return status;
}

int main(int argc, char **argv)
{
    void *block = NULL;
    const rlim_t much = (rlim_t)1 << 50; /* sanitizers take as much; limited it is all the same */
    if (argc > 1 && strcmp(argv[1], "limited") == 0 &&
        setrlimit(RLIMIT_AS, &(struct rlimit){much, much}) != 0)
        return 2;
    if (cohort_memory_alloc(&block, 1) != COHORT_ERR_STATE)
        return 3;
    int status = cohort_main(argc, argv, program, argv[1]);
    return cohort_memory_alloc(&block, 1) == COHORT_ERR_STATE ? status : 3;
}
