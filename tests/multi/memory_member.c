/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cohort/cohort.h>

/* Localities read and write each other's memory, in a real job. The first argument says what they
 * do. */

static const char *mode;
static cohort_comm *comm;
static uint64_t generation;
static cohort_memory_handle *handles; /* of all localities */

enum { MIB = 1 << 20, LARGEST = 6 * MIB, COUNTER = 0, DATA = 64, NUM_ADDS = 1000 };

static void report(const char *what, cohort_status status)
{
    printf("%s: %s%s%s\n", what, cohort_status_name(status), status ? ": " : "",
           status ? cohort_error_message() : "");
}

static void must(cohort_status status, const char *what)
{
    if (!status)
        return;
    printf("%s: %s\n", what, cohort_error_message());
    fflush(stdout);
    exit(3);
}

static void fill(unsigned char *data, size_t bytes, uint32_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)((i + seed * 77) * 0x9e3779b1u >> 11);
}

/* All localities have come here. */
static void meet(void)
{
    must(cohort_await(cohort_barrier(comm, ++generation)), "barrier");
}

/* A block of each locality, which all share. */
static unsigned char *share_all(size_t bytes)
{
    cohort_memory_handle own;
    void *memory;
    handles = calloc(cohort_num_localities(), sizeof(*handles));
    if (!handles)
        abort();
    must(cohort_memory_alloc(&memory, bytes), "alloc");
    memset(memory, 0, bytes);
    must(cohort_memory_share(&own, memory, bytes), "share");
    must(cohort_await(
             cohort_all_gather(comm, &own, handles, sizeof(own), COHORT_UINT8, ++generation)),
         "all_gather");
    return memory;
}

/* Puts to the next locality, reads it in the one after that. */
static void move(unsigned char *owned, unsigned char *mine, unsigned char *want, size_t bytes)
{
    const uint32_t num = cohort_num_localities(), self = cohort_locality();
    const uint32_t seed = (uint32_t)bytes % 1000;
    fill(mine, bytes, seed + self);
    must(cohort_await(cohort_memory_put(&handles[(self + 1) % num], DATA, mine, bytes)), "put");
    meet();
    fill(want, bytes, seed + (self + num - 1) % num);
    if (memcmp(owned + DATA, want, bytes) != 0)
        printf("put of %zu bytes is wrong\n", bytes);
    for (uint32_t i = 0; i < num; i++) {
        fill(want, bytes, seed + (i + num - 1) % num);
        memset(mine, 0, bytes);
        must(cohort_await(cohort_memory_get(&handles[i], DATA, mine, bytes)), "get");
        if (memcmp(mine, want, bytes) != 0)
            printf("get of %zu bytes from %u is wrong\n", bytes, (unsigned)i);
    }
    meet();
}

static void add_up(unsigned char *owned)
{
    const uint32_t num = cohort_num_localities();
    static cohort_future *futures[NUM_ADDS];
    uint64_t last = 0, before = 0;
    for (uint32_t i = 0; i < NUM_ADDS; i++)
        futures[i] = cohort_memory_add(&handles[i % num], COUNTER, 1, NULL);
    for (uint32_t i = 0; i < 100; i++) { /* beside the owner's own, and those of others */
        (void)__atomic_fetch_add((uint64_t *)(void *)(owned + COUNTER), 1, __ATOMIC_SEQ_CST);
        must(cohort_await(cohort_memory_add(&handles[0], COUNTER, 0, &before)), "add");
        if (before < last)
            printf("a counter runs back\n");
        last = before;
    }
    must(cohort_await(cohort_when_all(futures, NUM_ADDS)), "adds");
    meet();
    uint64_t sum = 0, one;
    for (uint32_t i = 0; i < num; i++) {
        must(cohort_await(cohort_memory_get(&handles[i], COUNTER, &one, sizeof(one))), "get");
        sum += one;
    }
    if (sum != (uint64_t)num * (NUM_ADDS + 100))
        printf("the sum is %llu\n", (unsigned long long)sum);
    meet();
}

static void use_all(void)
{
    static const size_t sizes[] = {0, 1, 8, 65, 4096, 1 << 16, 65537, MIB, MIB + 12, LARGEST, 3};
    unsigned char *owned = share_all(LARGEST + DATA);
    unsigned char *mine = malloc(LARGEST), *want = malloc(LARGEST);
    if (!mine || !want)
        abort();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        move(owned, mine, want, sizes[i]);
    add_up(owned);
    cohort_memory_free(owned);
    free(mine);
    free(want);
    if (cohort_locality() == 0)
        printf("used\n");
}

/* The last one gives its block back, and takes another one. */
static void use_what_was_given_back(void)
{
    const uint32_t last = cohort_num_localities() - 1;
    void *owned = share_all(4096), *next = NULL;
    uint64_t value = 1;
    if (cohort_locality() == last) {
        cohort_memory_free(owned);
        must(cohort_memory_alloc(&next, 4096), "alloc");
        memset(next, 0, 4096);
    }
    meet();
    if (cohort_locality() == 0) {
        report("get", cohort_await(cohort_memory_get(&handles[last], 0, &value, 8)));
        report("put", cohort_await(cohort_memory_put(&handles[last], 8, &value, 8)));
        report("add", cohort_await(cohort_memory_add(&handles[last], 16, 1, NULL)));
        report("behind", cohort_await(cohort_memory_add(&handles[last], 4096, 1, NULL)));
    }
    meet();
    for (size_t i = 0; next && i < 4096; i++)
        if (((unsigned char *)next)[i])
            printf("somebody has written\n");
    cohort_memory_free(next ? next : owned);
}

/* The owner dies while others use its memory: when all have begun to. */
static void lose_owner(void)
{
    enum { BYTES = 4 * MIB, BEGUN = 16 };
    void *owned = share_all(BYTES), *mine = malloc(BYTES);
    const cohort_memory_handle *handle = &handles[1];
    cohort_status status = COHORT_OK;
    if (!mine)
        abort();
    memset(mine, 1, BYTES);
    must(cohort_await(cohort_memory_add(handle, BEGUN, 1, NULL)), "add");
    status = cohort_await(cohort_memory_add(handle, BEGUN, 1, NULL)); /* the first one is over */
    if (cohort_locality() == 1) {
        const uint64_t *num_begun = (uint64_t *)(void *)((unsigned char *)owned + BEGUN);
        while (__atomic_load_n(num_begun, __ATOMIC_SEQ_CST) < 2 * (uint64_t)cohort_num_localities())
            cohort_yield();
        raise(SIGKILL);
    }
    for (uint64_t turn = 0; !status; turn++) {
        status = cohort_await(turn % 3 == 0   ? cohort_memory_put(handle, DATA, mine, BYTES - DATA)
                              : turn % 3 == 1 ? cohort_memory_get(handle, 0, mine, 8)
                                              : cohort_memory_add(handle, 8, 1, NULL));
        cohort_yield();
    }
    report("lost", status);
    report("again", cohort_await(cohort_memory_get(handle, 0, mine, 8)));
    cohort_memory_free(owned);
    free(mine);
}

static void use_in_child(void)
{
    cohort_memory_handle handle;
    void *owned = share_all(4096);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        report("share", cohort_memory_share(&handle, owned, 1));
        report("get", cohort_await(cohort_memory_get(&handles[0], 0, &handle, 1)));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    cohort_memory_free(owned);
}

static cohort_status program(void *arg)
{
    must(
        cohort_await(cohort_comm_create(&comm, "memory",
                                        &(cohort_comm_options){.num_sites = cohort_num_localities(),
                                                               .this_site = cohort_locality()})),
        "create");
    if (strcmp(mode, "use") == 0 || strcmp(mode, "limited") == 0)
        use_all();
    else if (strcmp(mode, "given_back") == 0)
        use_what_was_given_back();
    else if (strcmp(mode, "lose") == 0)
        lose_owner();
    else if (strcmp(mode, "child") == 0)
        use_in_child();
    cohort_comm_unref(comm);
    free(handles);
    return COHORT_OK;
}

static void report_state(const char *when)
{
    cohort_memory_handle handle = {0};
    report(when, cohort_memory_share(&handle, &handle, 1));
    report(when, cohort_await(cohort_memory_add(&handle, 0, 1, NULL)));
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "";
    /* Then there is ordinary memory only. */
    const struct rlimit much = {(rlim_t)1 << 46, (rlim_t)1 << 46};
    if (strcmp(mode, "limited") == 0 && setrlimit(RLIMIT_AS, &much) != 0)
        return 2;
    if (strcmp(mode, "state") == 0)
        report_state("before");
    int status = cohort_main(argc, argv, program, NULL);
    if (strcmp(mode, "state") == 0)
        report_state("after");
    return status;
}
