/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/hub.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/net/shm_memory.h"
#include "tests/support/test.h"

enum { FIRST = 100 }; /* where inherited descriptors are put: beyond the test's own */

static struct cohort__hub *create(uint32_t size)
{
    struct cohort__hub *hub = NULL;
    CHECK_OK(cohort__hub_create(&hub, size));
    CHECK_INT(hub->size, size);
    return hub;
}

static struct cohort__shm_head head_of(const struct cohort__hub *hub)
{
    struct cohort__shm_head head;
    CHECK_INT(pread(hub->memory, &head, sizeof head, 0), sizeof head);
    CHECK_INT(head.size, hub->size);
    return head;
}

static uint64_t id_of(const struct cohort__hub *hub)
{
    return head_of(hub).id;
}

#define TEST_HUB(name)                                                                             \
    TEST_WITH(name, int, before, test_num_entries("/proc/self/fd"),                                \
              CHECK_INT(test_num_entries("/proc/self/fd"), before))

TEST_HUB(create)
{
    struct cohort__hub *none = NULL;
    CHECK_INT(cohort__hub_create(&none, 0), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort__hub_create(&none, COHORT__HUB_MAX_SLOTS + 1), COHORT_ERR_BAD_PARAMETER,
                "4097");
    CHECK(!none);
    struct cohort__hub *hub = create(5);
    CHECK_INT(test_num_entries("/proc/self/fd"), before + 6);
    CHECK(fcntl(hub->memory, F_GETFD) & FD_CLOEXEC);
    for (uint32_t slot = 0; slot < 5; slot++)
        CHECK(fcntl(hub->doorbells[slot], F_GETFD) & FD_CLOEXEC);
    struct cohort__hub *other = create(1);
    CHECK(id_of(hub) != id_of(other));
    cohort__hub_destroy(hub);
    cohort__hub_destroy(other);
    cohort__hub_destroy(NULL);
}

/* No process can truncate memory that others have mapped, nor make it writable for itself. */
TEST(sealed)
{
    struct cohort__hub *hub = create(3);
    struct stat stat;
    CHECK_INT(fstat(hub->memory, &stat), 0);
    CHECK_INT(stat.st_size, (long long)cohort__shm_memory_bytes(3, head_of(hub).heap_bytes));
    CHECK_INT(stat.st_blocks > 64, 0); /* memory that is not used takes no blocks */
    CHECK_INT(ftruncate(hub->memory, 0), -1);
    CHECK_INT(errno, EPERM);
    CHECK_INT(ftruncate(hub->memory, stat.st_size + 65536), -1);
    CHECK_INT(fcntl(hub->memory, F_ADD_SEALS, F_SEAL_WRITE), -1);
    CHECK_INT(errno, EPERM);
    cohort__hub_destroy(hub);
}

/* Makes HUB's descriptors look inherited. The hub itself is destroyed. */
static void put_at(struct cohort__hub *hub, int first)
{
    CHECK_INT(dup2(hub->memory, first), first);
    for (uint32_t slot = 0; slot < hub->size; slot++)
        CHECK_INT(dup2(hub->doorbells[slot], first + 1 + (int)slot), first + 1 + (int)slot);
    cohort__hub_destroy(hub);
}

static void doorbells_at(int *doorbells, int first, uint32_t size)
{
    for (uint32_t slot = 0; slot < size; slot++)
        doorbells[slot] = first + 1 + (int)slot;
}

TEST(adopt)
{
    int before = test_num_entries("/proc/self/fd"), doorbells[4];
    struct cohort__hub *hub = create(4), *adopted = NULL;
    uint64_t id = id_of(hub);
    put_at(hub, FIRST);
    doorbells_at(doorbells, FIRST, 4);
    CHECK_OK(cohort__hub_adopt(&adopted, FIRST, doorbells, 4));
    CHECK(id_of(adopted) == id);
    CHECK(fcntl(FIRST, F_GETFD) & FD_CLOEXEC);
    CHECK(fcntl(FIRST + 4, F_GETFD) & FD_CLOEXEC);
    cohort__hub_destroy(adopted);
    CHECK_INT(test_num_entries("/proc/self/fd"), before);
}

static void expect_no_hub(uint32_t size)
{
    struct cohort__hub *none = NULL;
    int doorbells[8];
    doorbells_at(doorbells, FIRST, size);
    CHECK_FAILS(cohort__hub_adopt(&none, FIRST, doorbells, size), COHORT_ERR_PROTOCOL,
                "descriptor 100");
    CHECK(!none);
}

TEST_HUB(adopt_wrong)
{
    put_at(create(4), FIRST);
    expect_no_hub(3); /* of another size; the named descriptors are closed */
    close(FIRST + 4);
    put_at(create(4), FIRST);
    close(FIRST + 2); /* one doorbell was closed */
    expect_no_hub(4);
    expect_no_hub(4); /* all were closed */
    put_at(create(4), FIRST);
    CHECK_INT(dup2(STDIN_FILENO, FIRST), FIRST); /* the memory is something else */
    expect_no_hub(4);
    put_at(create(4), FIRST);
    uint32_t magic = 0; /* of another version */
    CHECK_INT(pwrite(FIRST, &magic, sizeof magic, 0), sizeof magic);
    expect_no_hub(4);
}

/* Memory that can be truncated after the check is no hub, however correct it is now. */
TEST_HUB(adopt_unsealed)
{
    struct cohort__hub *hub = create(4);
    struct cohort__shm_head head;
    CHECK_INT(pread(hub->memory, &head, sizeof head, 0), sizeof head);
    put_at(hub, FIRST);
    int memory = memfd_create("unsealed", MFD_ALLOW_SEALING);
    CHECK_INT(ftruncate(memory, (off_t)cohort__shm_memory_bytes(4, head.heap_bytes)), 0);
    CHECK_INT(pwrite(memory, &head, sizeof head, 0), sizeof head);
    CHECK_INT(dup2(memory, FIRST), FIRST);
    close(memory);
    expect_no_hub(4);
}

TEST_HUB(inherit)
{
    struct cohort__hub *hub = create(2);
    unsetenv(COHORT__HUB_VARIABLE);
    put_at(hub, FIRST);
    CHECK_OK(cohort__hub_inherit(&hub));
    CHECK(!hub);
    setenv(COHORT__HUB_VARIABLE, "100 2", 1);
    CHECK_OK(cohort__hub_inherit(&hub));
    CHECK(hub);
    CHECK_INT(hub->memory, FIRST);
    CHECK_INT(hub->doorbells[1], FIRST + 2);
    CHECK(!getenv(COHORT__HUB_VARIABLE));
    cohort__hub_destroy(hub);
}

TEST_HUB(inherit_wrong)
{
    static const char *const texts[] = {
        "",       "100",          "100 ",          "x 2",
        "100 2 ", "100 2x",       "100 -1",        "100 0",
        "-1 2",   "100 4097",     "0 2",           "2 1",
        "100,2",  "2147483647 1", "99999999999 1", "100 99999999999",
    };
    struct cohort__hub *none = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        setenv(COHORT__HUB_VARIABLE, texts[i], 1);
        CHECK_FAILS(cohort__hub_inherit(&none), COHORT_ERR_PROTOCOL, COHORT__HUB_VARIABLE);
    }
    setenv(COHORT__HUB_VARIABLE, "100 2", 1); /* no such descriptors */
    CHECK_INT(cohort__hub_inherit(&none), COHORT_ERR_PROTOCOL);
    unsetenv(COHORT__HUB_VARIABLE);
    CHECK(!none);
}

/* Runs RUN in a child process, which has its own limits. */
static void in_child(void (*run)(void))
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run();
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void limit(int what, rlim_t soft, rlim_t hard)
{
    struct rlimit limit = {soft, hard};
    CHECK_INT(setrlimit(what, &limit), 0);
}

/* The limit of file sizes that programs may write is 0. */
static void with_soft_limit(void)
{
    struct rlimit now;
    limit(RLIMIT_FSIZE, 0, RLIM_INFINITY);
    cohort__hub_destroy(create(3));
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &now), 0);
    CHECK(now.rlim_cur == 0 && now.rlim_max == RLIM_INFINITY);
}

/* Then the hub can't be made, but the signal that kills such programs must not come. */
static void with_hard_limit(void)
{
    static const rlim_t limits[] = {0, 8, 65536};
    struct cohort__hub *none = NULL;
    sigset_t pending;
    int before = test_num_entries("/proc/self/fd");
    for (size_t i = 3; i-- > 0;) {
        limit(RLIMIT_FSIZE, limits[i], limits[i]);
        CHECK_FAILS(cohort__hub_create(&none, 3), COHORT_ERR_SYSTEM, strerror(EFBIG));
    }
    CHECK_INT(sigpending(&pending), 0);
    CHECK(!sigismember(&pending, SIGXFSZ));
    CHECK(!none);
    CHECK_INT(test_num_entries("/proc/self/fd"), before);
}

static void with_few_descriptors(void)
{
    struct cohort__hub *none = NULL;
    int before = test_num_entries("/proc/self/fd");
    limit(RLIMIT_NOFILE, 40, 40);
    CHECK_FAILS(cohort__hub_create(&none, 64), COHORT_ERR_NO_MEMORY, strerror(EMFILE));
    CHECK(!none);
    CHECK_INT(test_num_entries("/proc/self/fd"), before);
    cohort__hub_destroy(create(8));
}

TEST(limits)
{
    in_child(with_soft_limit);
    in_child(with_hard_limit);
    in_child(with_few_descriptors);
}

/* The most slots possible. The size of the memory is what it would be if all of it were used. */
TEST_HUB(large)
{
    struct rlimit now;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &now), 0);
    uint32_t size = now.rlim_cur > COHORT__HUB_MAX_SLOTS + 100 ? COHORT__HUB_MAX_SLOTS : 500;
    struct cohort__hub *hub = create(size);
    CHECK_INT(test_num_entries("/proc/self/fd"), before + 1 + (int)size);
    cohort__hub_destroy(hub);
}
