/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are read, written, cancelled, closed and given up at any moment, by tasks, by threads
 * outside, and by the end of the runtime. A write that has not succeeded has done nothing, and no
 * descriptor is lost. */
#include "cohort/file.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/random.h"
#include "runtime/base/sanitizer.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/io/run_io.h"

enum {
    SCALE = COHORT__TSAN || COHORT__ASAN ? 6 : 1,
    NUM_TASKS = 16,
    NUM_THREADS = 2,
    NUM_USERS = NUM_TASKS + NUM_THREADS,
    NUM_ROUNDS = 24 / SCALE,
    NUM_CALLS = 30,
    NUM_RUNTIMES = 60 / SCALE,
    BLOCK_BYTES = 3000,
    SEED = 4711,
};

static char folder[] = "/tmp/cohort-test-XXXXXX";
static char path[64]; /* of a file in it */

static void remove_all(void)
{
    unlink(path);
    rmdir(folder);
}

/* --- tasks and threads that share a file --- */

/* Who uses the file. Each writes only its own block, so it knows what is in there. */
struct user {
    cohort_file *file; /* a reference of its own */
    uint64_t place;
    struct cohort__random random;
    char content;
    char data[BLOCK_BYTES], back[BLOCK_BYTES];
    uint64_t size;
};

/* What may become of a call when others cancel and close. */
static bool is_success(cohort_status status)
{
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE);
    return status == COHORT_OK;
}

static uint64_t offset_of(const struct user *user)
{
    return user->place * BLOCK_BYTES;
}

static void check_content(const struct user *user, const char *block)
{
    for (int i = 0; i < BLOCK_BYTES; i++)
        CHECK_INT(block[i], user->content);
}

static void use_once(struct user *user)
{
    uint64_t kind = cohort__random_below(&user->random, 60);
    size_t bytes = 0;
    if (kind < 25) {
        char content = (char)(user->content + 1);
        memset(user->data, content, BLOCK_BYTES);
        if (is_success(cohort_await(
                cohort_file_write(user->file, offset_of(user), user->data, BLOCK_BYTES))))
            user->content = content;
    } else if (kind < 50) {
        if (is_success(cohort_await(
                cohort_file_read(user->file, offset_of(user), user->back, BLOCK_BYTES, &bytes)))) {
            CHECK_INT((long long)bytes, BLOCK_BYTES);
            check_content(user, user->back);
        }
    } else if (kind < 54) {
        if (is_success(cohort_await(cohort_file_size(user->file, &user->size))))
            CHECK_INT((long long)user->size, (long long)NUM_USERS * BLOCK_BYTES);
    } else if (kind < 58) {
        cohort_future_unref(cohort_file_sync(user->file));
    } else if (kind == 58) {
        cohort_file *other;
        if (is_success(cohort_await(cohort_file_open(path, O_RDONLY, 0, &other))))
            cohort_file_unref(other);
    } else if (cohort__random_below(&user->random, 3) == 0) {
        CHECK_OK(cohort_await(cohort_file_close(user->file)));
    }
}

static cohort_status use(void *arg)
{
    struct user *user = arg;
    for (int i = 0; i < NUM_CALLS && !cohort_cancelled(); i++)
        use_once(user);
    return COHORT_OK;
}

static void *use_in_thread(void *arg)
{
    struct user *user = arg;
    use(user);
    cohort_file_unref(user->file);
    return NULL;
}

static cohort_status use_in_scope(void *arg)
{
    struct user *user = arg;
    cohort_scope *scope;
    uint64_t how = cohort__random_below(&user->random, 3);
    uint64_t limit = how == 0 ? 1 + cohort__random_below(&user->random, 1000000) : 0;
    uint64_t num_yields = cohort__random_below(&user->random, 200);
    CHECK_OK(cohort_scope_create(&(cohort_scope_options){.limit_nanoseconds = limit}, &scope));
    cohort_status status = cohort_scope_async(scope, use, user);
    CHECK(status == COHORT_OK || (limit > 0 && status == COHORT_ERR_CANCELLED));
    for (uint64_t i = 0; how == 1 && i < num_yields; i++)
        cohort_yield();
    if (how == 1)
        cohort_scope_cancel(scope);
    status = cohort_scope_await(scope);
    CHECK(status == COHORT_OK || (how == 0 && status == COHORT_ERR_TIMEOUT) ||
          (how == 1 && status == COHORT_ERR_CANCELLED));
    cohort_file_unref(user->file);
    return COHORT_OK;
}

/* By the system's own calls, when all users have ended. */
static void check_file(const struct user *users)
{
    char block[BLOCK_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    for (int i = 0; i < NUM_USERS; i++) {
        CHECK_INT(pread(fd, block, BLOCK_BYTES, (off_t)offset_of(&users[i])), BLOCK_BYTES);
        check_content(&users[i], block);
    }
    close(fd);
}

/* A worker that joined them itself would not turn the loop. */
static cohort_status join_all(void *arg)
{
    const pthread_t *threads = arg;
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
    return COHORT_OK;
}

static void run_round(struct user *users)
{
    cohort_future *futures[NUM_TASKS];
    pthread_t threads[NUM_THREADS];
    cohort_file *file;
    CHECK_OK(cohort_await(cohort_file_open(path, O_RDWR, 0, &file)));
    for (int i = 0; i < NUM_USERS; i++)
        users[i].file = cohort_file_ref(file);
    cohort_file_unref(file);
    for (int i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(use_in_thread, &users[NUM_TASKS + i]);
    for (int i = 0; i < NUM_TASKS; i++)
        futures[i] = cohort_async(use_in_scope, &users[i]);
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_TASKS)));
    CHECK_OK(cohort_blocking(join_all, threads));
    check_file(users);
}

static cohort_status mix(void *arg)
{
    struct user *users = calloc(NUM_USERS, sizeof(*users));
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(users && fd >= 0 && ftruncate(fd, (off_t)NUM_USERS * BLOCK_BYTES) == 0);
    close(fd);
    for (uint64_t i = 0; i < NUM_USERS; i++) {
        users[i].place = i;
        users[i].random = cohort__random_seeded(SEED + i);
    }
    for (int i = 0; i < NUM_ROUNDS; i++)
        run_round(users);
    free(users);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(mixed)
{
    fprintf(stderr, "seed %d\n", SEED);
    int before = 0;
    for (unsigned i = 0; i < 4; i++) {
        run_io_with(1 + i, i == 3, mix);
        CHECK_TEXT(logged, "");
        if (i == 0)
            before = test_num_entries("/proc/self/fd"); /* what libuv keeps is open now */
    }
    CHECK_INT(test_num_entries("/proc/self/fd"), before);
}

/* --- threads outside, while the runtime starts and stops --- */

static atomic_bool is_over;

static bool is_success_or_end(cohort_status status)
{
    CHECK(status == COHORT_OK || status == COHORT_ERR_STATE || status == COHORT_ERR_CANCELLED ||
          status == COHORT_ERR_GONE);
    return status == COHORT_OK;
}

/* The file may be of a runtime that has ended meanwhile. */
static void *use_all_the_time(void *arg)
{
    char data[100] = {0}, back[sizeof(data)];
    uint64_t offset = (uintptr_t)arg * sizeof(data);
    while (!atomic_load(&is_over)) {
        cohort_file *file;
        size_t bytes;
        if (!is_success_or_end(cohort_await(cohort_file_open(path, O_RDWR | O_CREAT, 0600, &file))))
            continue;
        cohort_future_unref(cohort_file_sync(file));
        bool is_written =
            is_success_or_end(cohort_await(cohort_file_write(file, offset, data, sizeof(data))));
        if (is_success_or_end(
                cohort_await(cohort_file_read(file, offset, back, sizeof(back), &bytes))) &&
            is_written)
            CHECK(bytes == sizeof(back) && memcmp(data, back, bytes) == 0);
        data[0] = (char)(data[0] + is_written);
        if (data[0] % 2)
            is_success_or_end(cohort_await(cohort_file_close(file)));
        cohort_file_unref(file);
    }
    return NULL;
}

static cohort_status look_on(void *arg)
{
    for (int i = 0; i < 20; i++)
        let_begin();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(stops)
{
    pthread_t threads[NUM_THREADS];
    int before = test_num_entries("/proc/self/fd");
    atomic_store(&is_over, false);
    for (uintptr_t i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(use_all_the_time, (void *)i);
    for (unsigned i = 0; i < NUM_RUNTIMES; i++)
        run_io_with(1 + i % 3, i % 2 == 1, look_on);
    atomic_store(&is_over, true);
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
    CHECK_INT(test_num_entries("/proc/self/fd"), before);
}

int main(int argc, char **argv)
{
    CHECK(mkdtemp(folder) != NULL);
    atexit(remove_all);
    snprintf(path, sizeof(path), "%s/file", folder);
    return tests_run(argc, argv);
}
