/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/runtime/io/run_io.h"

/* --- libuv's thread, of which there is one here, in the hands of the test --- */

static sem_t has_begun, may_end;
static atomic_bool is_slow;  /* what begins waits: fsync, and the others below */
static atomic_bool is_short; /* reads and writes move only so much: */
enum { SHORT = 1000 };
static atomic_bool is_full; /* the disk, for writes behind that */

#define REPLACES_THE_SYSTEMS __attribute__((visibility("default")))

static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    CHECK(function != NULL);
    return function;
}

static void hold_thread(void)
{
    sem_post(&has_begun);
    while (sem_wait(&may_end))
        ;
}

static void wait_for_thread(void)
{
    while (sem_wait(&has_begun))
        ;
}

static void let_thread_go_on(void)
{
    sem_post(&may_end);
}

static char folder[] = "/tmp/cohort-test-XXXXXX";
static char path[64]; /* of a file in it */

REPLACES_THE_SYSTEMS int open64(const char *name, int flags, ...)
{
    int (*function)(const char *, int, ...);
    va_list args;
    *(void **)&function = real("open64");
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    if (is_slow && strcmp(name, path) == 0)
        hold_thread();
    return function(name, flags, mode);
}

REPLACES_THE_SYSTEMS int fsync(int fd)
{
    int (*function)(int);
    *(void **)&function = real("fsync");
    if (is_slow)
        hold_thread();
    return function(fd);
}

REPLACES_THE_SYSTEMS ssize_t pread64(int fd, void *buffer, size_t bytes, off64_t offset)
{
    ssize_t (*function)(int, void *, size_t, off64_t);
    *(void **)&function = real("pread64");
    if (is_slow)
        hold_thread();
    return function(fd, buffer, is_short && bytes > SHORT ? SHORT : bytes, offset);
}

REPLACES_THE_SYSTEMS ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset)
{
    ssize_t (*function)(int, const void *, size_t, off64_t);
    *(void **)&function = real("pwrite64");
    if (is_full && offset >= SHORT) {
        errno = ENOSPC;
        return -1;
    }
    if (is_slow)
        hold_thread();
    return function(fd, data, is_short && bytes > SHORT ? SHORT : bytes, offset);
}

/* --- a folder --- */

static void remove_all(void)
{
    unlink(path);
    rmdir(folder);
}

static cohort_file *open_new(void)
{
    cohort_file *file;
    CHECK_OK(cohort_await(cohort_file_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600, &file)));
    return file;
}

/* --- data --- */

enum { MUCH = 100000 };

static cohort_status store(void *arg)
{
    static char data[MUCH], buffer[MUCH + 100];
    cohort_file *file = open_new();
    uint64_t size = 1;
    size_t bytes = 1;
    for (int i = 0; i < MUCH; i++)
        data[i] = (char)(i ^ i >> 8);
    CHECK_OK(cohort_await(cohort_file_size(file, &size)));
    CHECK_INT(size, 0);
    CHECK_OK(cohort_await(cohort_file_read(file, 0, buffer, 10, &bytes)));
    CHECK_INT(bytes, 0);
    CHECK_OK(cohort_await(cohort_file_write(file, 50, data, MUCH)));
    CHECK_OK(cohort_await(cohort_file_write(file, 7, NULL, 0)));
    CHECK_OK(cohort_await(cohort_file_sync(file)));
    CHECK_OK(cohort_await(cohort_file_size(file, &size)));
    CHECK_INT(size, MUCH + 50);
    CHECK_OK(cohort_await(cohort_file_read(file, 50, buffer, sizeof(buffer), &bytes)));
    CHECK_INT(bytes, MUCH);
    CHECK(memcmp(data, buffer, MUCH) == 0);
    CHECK_OK(cohort_await(cohort_file_read(file, MUCH, buffer, 20, &bytes)));
    CHECK_INT(bytes, 20);
    CHECK(memcmp(data + MUCH - 50, buffer, 20) == 0);
    CHECK_OK(cohort_await(cohort_file_read(file, 0, buffer, 50, &bytes)));
    CHECK(bytes == 50 && buffer[0] == 0 && buffer[49] == 0);
    CHECK_OK(cohort_await(cohort_file_read(file, 0, NULL, 0, &bytes)));
    CHECK_INT(bytes, 0);
    CHECK_OK(cohort_await(cohort_file_read(file, (uint64_t)1 << 50, buffer, 1, &bytes)));
    CHECK_INT(bytes, 0);
    CHECK_OK(cohort_await(cohort_file_close(file)));
    cohort_file_unref(file);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(store)
{
    run_io(store);
    is_short = true;
    run_io(store);
    is_short = false;
}

/* --- what goes wrong --- */

static cohort_status wrong_calls(void *arg)
{
    char missing[80], text[200], byte = 'x';
    size_t bytes = 77;
    uint64_t size = 77;
    cohort_file *file = (void *)&wrong_calls;
    snprintf(missing, sizeof(missing), "%s/no", folder);
    snprintf(text, sizeof(text), "cohort_file_open: %s: no such file or directory (ENOENT)",
             missing);
    check_fails(cohort_file_open(missing, O_RDONLY, 0, &file), COHORT_ERR_SYSTEM, text);
    check_fails(cohort_file_open(folder, O_WRONLY, 0, &file), COHORT_ERR_SYSTEM, "(EISDIR)");
    check_fails(cohort_file_open(NULL, O_RDONLY, 0, &file), COHORT_ERR_BAD_PARAMETER,
                "path is NULL");
    check_fails(cohort_file_open(path, O_RDONLY, 0, NULL), COHORT_ERR_BAD_PARAMETER,
                "ret_file is NULL");
    char long_path[600] = "";
    memset(long_path, 'x', sizeof(long_path) - 1);
    check_fails(cohort_file_open(long_path, O_RDONLY, 0, &file), COHORT_ERR_SYSTEM,
                "(ENAMETOOLONG)"); /* the reason is there, however long the path is */
    CHECK(file == (void *)&wrong_calls);
    check_fails(cohort_file_read(NULL, 0, &byte, 1, &bytes), COHORT_ERR_BAD_PARAMETER,
                "file is NULL");
    check_fails(cohort_file_write(NULL, 0, &byte, 1), COHORT_ERR_BAD_PARAMETER, "file is NULL");
    check_fails(cohort_file_sync(NULL), COHORT_ERR_BAD_PARAMETER, "file is NULL");
    check_fails(cohort_file_size(NULL, &size), COHORT_ERR_BAD_PARAMETER, "file is NULL");
    check_fails(cohort_file_close(NULL), COHORT_ERR_BAD_PARAMETER, "file is NULL");
    CHECK(!cohort_file_ref(NULL));
    cohort_file_unref(NULL);

    cohort_file_unref(open_new());
    CHECK_OK(cohort_await(cohort_file_open(path, O_RDONLY, 0, &file)));
    check_fails(cohort_file_read(file, 0, NULL, 1, &bytes), COHORT_ERR_BAD_PARAMETER,
                "buffer is NULL");
    check_fails(cohort_file_read(file, 0, &byte, 1, NULL), COHORT_ERR_BAD_PARAMETER,
                "ret_bytes is NULL");
    check_fails(cohort_file_read(file, INT64_MAX, &byte, 1, &bytes), COHORT_ERR_BAD_PARAMETER,
                "above INT64_MAX");
    check_fails(cohort_file_read(file, UINT64_MAX, &byte, 1, &bytes), COHORT_ERR_BAD_PARAMETER,
                "above INT64_MAX");
    check_fails(cohort_file_write(file, 0, NULL, 1), COHORT_ERR_BAD_PARAMETER, "data is NULL");
    check_fails(cohort_file_size(file, NULL), COHORT_ERR_BAD_PARAMETER, "ret_bytes is NULL");
    snprintf(text, sizeof(text), "cohort_file_write: %s: bad file descriptor (EBADF)", path);
    check_fails(cohort_file_write(file, 0, &byte, 1), COHORT_ERR_SYSTEM, text);
    CHECK(bytes == 77 && size == 77);
    CHECK_OK(cohort_await(cohort_file_close(file)));
    CHECK_OK(cohort_await(cohort_file_close(file)));
    check_fails(cohort_file_read(file, 0, &byte, 1, &bytes), COHORT_ERR_GONE, "it was closed here");
    check_fails(cohort_file_sync(file), COHORT_ERR_GONE, "it was closed here");
    check_fails(cohort_file_size(file, &size), COHORT_ERR_GONE, "it was closed here");
    cohort_file_unref(file);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(wrong_calls, run_io(wrong_calls))

static cohort_status no_memory(void *arg)
{
    char byte = 'x';
    size_t bytes = 77;
    uint64_t size = 77;
    cohort_file *file = open_new(), *none = NULL;
    has_no_memory = true;
    check_fails(cohort_file_open(path, O_RDONLY, 0, &none), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_file_read(file, 0, &byte, 1, &bytes), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_file_write(file, 0, &byte, 1), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_file_sync(file), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_file_size(file, &size), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_file_close(file), COHORT_ERR_NO_MEMORY, "out of memory");
    cohort_file_unref(file);
    has_no_memory = false;
    CHECK(!none && bytes == 77 && size == 77);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(no_memory)
{
    run_io_with(1, false, no_memory);
    CHECK_TEXT(logged, "");
}

/* Root may open all, so it is somebody else for a moment. */
TEST_TASK(not_permitted, run_io_with(1, false, task))
{
    cohort_file *file = NULL;
    cohort_file_unref(open_new());
    CHECK_INT(chmod(path, 0), 0);
    uid_t user = geteuid();
    CHECK(user != 0 || seteuid(65534) == 0);
    check_fails(cohort_file_open(path, O_RDONLY, 0, &file), COHORT_ERR_SYSTEM,
                ": permission denied (EACCES)");
    CHECK(user != 0 || seteuid(user) == 0);
    CHECK_INT(unlink(path), 0);
    CHECK(!file);
}

/* The system says only when a file is closed that something was wrong: here its descriptor. */
TEST_TASK(bad_close, run_io_with(1, false, task))
{
    int fd = dup(0);
    close(fd);
    cohort_file *file = open_new(); /* with that descriptor, the first that is free */
    CHECK_INT(close(fd), 0);
    cohort_future *close = cohort_file_close(file);
    check_fails(close, COHORT_ERR_SYSTEM, ": bad file descriptor (EBADF)");
    check_fails(cohort_file_sync(file), COHORT_ERR_GONE, "it was closed here");
    check_fails(cohort_file_close(file), COHORT_ERR_SYSTEM, "cohort_file_close: /tmp/cohort-test-");
    cohort_file_unref(file);
}

/* --- who waits for whom --- */

/* What has begun ends before the file is closed, and is not cancelled. */
static cohort_status sync_in_scope(void *arg)
{
    CHECK_OK(cohort_await(cohort_file_sync(arg)));
    CHECK(cohort_cancelled());
    return COHORT_OK;
}

TEST_TASK(slow, run_io_with(2, true, task))
{
    cohort_file *file = open_new();
    is_slow = true;
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, sync_in_scope, file));
    cohort_yield();
    wait_for_thread();
    cohort_scope_cancel(scope);
    cohort_future *close = cohort_file_close(file);
    let_begin();
    CHECK(!cohort_future_ready(close));
    check_fails(cohort_file_sync(file), COHORT_ERR_GONE, "it was closed here");
    is_slow = false;
    let_thread_go_on();
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK_OK(cohort_await(close));
    cohort_file_unref(file);
}

struct buffer {
    cohort_file *file;
    char byte;
    size_t bytes;
};

static cohort_future *call_read(void *arg)
{
    struct buffer *buffer = arg;
    return cohort_file_read(buffer->file, 0, &buffer->byte, 1, &buffer->bytes);
}

static cohort_future *call_open(void *arg)
{
    struct buffer *buffer = arg;
    return cohort_file_open(path, O_RDONLY, 0, &buffer->file);
}

/* What waits for a thread is cancelled, while the only one is busy. */
static cohort_status cancel(void *arg)
{
    struct buffer buffer = {.file = open_new()}, none = {.file = NULL};
    is_slow = true;
    cohort_future *sync = cohort_file_sync(buffer.file);
    let_begin();
    wait_for_thread();
    check_cancel(call_read, &buffer, NULL);
    check_cancel(call_open, &none, NULL);
    CHECK(!none.file);
    CHECK(!cohort_future_ready(sync));
    is_slow = false;
    let_thread_go_on();
    CHECK_OK(cohort_await(sync));
    cohort_file_unref(buffer.file);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(cancel)
{
    run_io_with(1, false, cancel);
    CHECK_TEXT(logged, "");
    run_io_with(2, true, cancel);
    CHECK_TEXT(logged, "");
}

/* What has been done in part goes on, in a cancelled scope, too. */
struct partly {
    cohort_file *file;
    cohort_task_function *function;
    bool is_cancelled_between; /* two parts; else in the first one */
};

static cohort_status read_in_scope(void *arg)
{
    static char buffer[3 * SHORT];
    const struct partly *partly = arg;
    size_t bytes = 0;
    buffer[3 * SHORT - 1] = '\0';
    CHECK_OK(cohort_await(cohort_file_read(partly->file, 0, buffer, 3 * SHORT, &bytes)));
    CHECK(cohort_cancelled() && bytes == 3 * SHORT && buffer[3 * SHORT - 1] == 'z');
    return COHORT_OK;
}

/* libuv says nothing of an error behind what it has written. */
static cohort_status overfill_in_scope(void *arg)
{
    static const char data[3 * SHORT];
    const struct partly *partly = arg;
    check_fails(cohort_file_write(partly->file, 0, data, 3 * SHORT), COHORT_ERR_SYSTEM, "(ENOSPC)");
    CHECK(cohort_cancelled());
    return COHORT_OK;
}

static void cancel_partly(struct partly *partly)
{
    cohort_future *sync = NULL;
    is_slow = true;
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, partly->function, partly));
    cohort_yield();
    let_begin();
    wait_for_thread(); /* in the first part */
    if (partly->is_cancelled_between) {
        sync = cohort_file_sync(partly->file);
        let_begin();
        let_thread_go_on();
        wait_for_thread(); /* in the sync; the second part is to wait for that */
        let_begin();
        let_begin();
    }
    cohort_scope_cancel(scope);
    let_begin();
    is_slow = false;
    let_thread_go_on();
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK_OK(sync ? cohort_await(sync) : COHORT_OK);
}

static cohort_status go_on(void *arg)
{
    struct partly partly = {.file = open_new(), .function = read_in_scope};
    CHECK_OK(cohort_await(cohort_file_write(partly.file, 3 * SHORT - 1, "z", 1)));
    is_short = true;
    cancel_partly(&partly);
    partly.is_cancelled_between = true;
    cancel_partly(&partly);
    is_full = true;
    partly = (struct partly){.file = partly.file, .function = overfill_in_scope};
    cancel_partly(&partly);
    is_full = is_short = false;
    cohort_file_unref(partly.file);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(go_on)
{
    run_io_with(1, false, go_on);
    CHECK_TEXT(logged, "");
}

/* --- the runtime's end --- */

static struct {
    cohort_file *file, *never;
    cohort_future *sync, *read, *open;
    char byte;
    size_t bytes;
    struct at_end at_end;
} left;

static cohort_status leave(void *arg)
{
    left.file = open_new();
    is_slow = true;
    left.sync = cohort_file_sync(left.file);
    left.read = cohort_file_read(left.file, 0, &left.byte, 1, &left.bytes);
    left.open = cohort_file_open(path, O_RDONLY, 0, &left.never);
    let_begin();
    wait_for_thread();
    is_slow = false;
    at_end_start(&left.at_end, left.open, let_thread_go_on);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(end)
{
    run_io_with(1, false, leave);
    at_end_join(&left.at_end);
    CHECK_CONTAINS(logged, "the program has left 1 file open at its end; closed now\n");
    CHECK_OK(cohort_await(left.sync)); /* it had begun */
    check_fails(left.read, COHORT_ERR_CANCELLED, ": the runtime has ended before");
    check_fails(left.open, COHORT_ERR_CANCELLED, ": the runtime has ended before");
    CHECK(!left.never);
    check_fails(cohort_file_sync(left.file), COHORT_ERR_STATE, "cohort_file_sync: ");
    cohort_file_unref(left.file);
    check_fails(cohort_file_open(path, O_RDONLY, 0, &left.file), COHORT_ERR_STATE,
                "cohort_file_open: the runtime is not up");
}

static bool is_open_here(void)
{
    bool any = false;
    for (int fd = 0; fd < 1000; fd++) {
        char link[40], target[sizeof(path)] = "";
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        any |= readlink(link, target, sizeof(target) - 1) > 0 && strcmp(target, path) == 0;
    }
    return any;
}

static cohort_status open_in_scope(void *arg)
{
    left.open = cohort_file_open(path, O_RDONLY, 0, &left.never);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* A thread opens it after the end; its scope was cancelled before. */
static cohort_status leave_opening(void *arg)
{
    left.file = open_new();
    is_slow = true;
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, open_in_scope, NULL));
    cohort_yield();
    let_begin();
    wait_for_thread();
    is_slow = false;
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    left.read = cohort_file_read(left.file, 0, &left.byte, 1, &left.bytes);
    let_begin();
    at_end_start(&left.at_end, left.read, let_thread_go_on);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(late_open)
{
    run_io_with(1, false, leave_opening);
    at_end_join(&left.at_end);
    check_fails(left.read, COHORT_ERR_CANCELLED, ": the runtime has ended before");
    check_fails(left.open, COHORT_ERR_CANCELLED, ": its scope was cancelled");
    cohort_file_unref(left.file);
    CHECK(!left.never && !is_open_here());
}

/* --- many --- */

enum { NUM_TASKS = 30, NUM_BLOCKS = 30 };

static cohort_status write_blocks(void *arg)
{
    struct buffer *buffer = arg;
    for (uint64_t i = 0; i < NUM_BLOCKS; i++) {
        char block[100], back[100];
        uint64_t offset = (i * NUM_TASKS + (uint64_t)buffer->byte) * sizeof(block);
        size_t bytes;
        memset(block, (int)(buffer->byte + i), sizeof(block));
        CHECK_OK(cohort_await(cohort_file_write(buffer->file, offset, block, sizeof(block))));
        CHECK_OK(cohort_await(cohort_file_read(buffer->file, offset, back, sizeof(back), &bytes)));
        CHECK(bytes == sizeof(back) && memcmp(block, back, bytes) == 0);
    }
    cohort_file_unref(buffer->file);
    return COHORT_OK;
}

static cohort_status many(void *arg)
{
    static struct buffer buffers[NUM_TASKS];
    cohort_future *futures[NUM_TASKS];
    cohort_file *file = open_new();
    for (int i = 0; i < NUM_TASKS; i++) {
        buffers[i] = (struct buffer){.file = cohort_file_ref(file), .byte = (char)i};
        futures[i] = cohort_async(write_blocks, &buffers[i]);
    }
    cohort_file_unref(file);
    return cohort_await(cohort_when_all(futures, NUM_TASKS)) || arg;
}

TEST_CALL(many, run_io(many))

int main(int argc, char **argv)
{
    setenv("UV_THREADPOOL_SIZE", "1", 1);
    setenv("UV_USE_IO_URING", "0", 1); /* libuv 1.45 and later would do without that thread */
    sem_init(&has_begun, 0, 0);
    sem_init(&may_end, 0, 0);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/file", folder);
    atexit(remove_all);
    return tests_run(argc, argv);
}
