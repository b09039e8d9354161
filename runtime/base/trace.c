/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/descriptors.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger.h"
#include "runtime/base/log.h"

/* What a thread writes with. It outlives the thread: another one takes it over. */
struct writer {
    struct writer *next;
    struct cohort__trace_block *block; /* NULL: there is no file */
    _Atomic uint32_t num; /* records in it; all, and it could not be written: the end */
    uint32_t thread;
    uint64_t sequence;
    _Atomic uint64_t lost;
    _Atomic uint64_t counts[COHORT__NUM_COUNTERS];
    bool is_free; /* under the lock */
};

static struct {
    pthread_mutex_t lock;
    pthread_key_t key;
    struct writer *writers;
    uint32_t num_writers;
    int part;
    bool has_begun;
    bool has_file;
    bool uses_clock; /* the processor's counter is not to be trusted */
    uint64_t most_blocks;
    _Atomic uint64_t num_blocks;
    atomic_bool is_said;
    char path[4096 + 32];
    struct cohort__trace_head head;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER, .part = -1};

bool cohort__trace_is_on;

/* For initial-exec see error.c. */
static _Thread_local struct writer *mine __attribute__((tls_model("initial-exec")));

/* Records ------------------------------------------------------------------------------------- */

static uint64_t cycles(void)
{
    return trace.uses_clock ? cohort__clock_now() : cohort__clock_cycles();
}

/* Once. */
static void say_full(const char *why)
{
    if (!atomic_exchange(&trace.is_said, true))
        cohort__log(COHORT__LOG_WARN,
                    "locality %u: COHORT_TRACE: %s: %s; the trace has only what was before",
                    (unsigned)trace.head.rank, trace.path, why);
}

/* Writes the block to the part. False: there is no room. */
static bool spool(struct writer *writer)
{
    uint64_t index = atomic_fetch_add_explicit(&trace.num_blocks, 1, memory_order_relaxed);
    if (index >= trace.most_blocks) {
        say_full("it is as long as COHORT_TRACE_MIB allows");
        return false;
    }
    if (cohort__descriptor_write(trace.part, writer->block, sizeof(*writer->block),
                                 COHORT__TRACE_HEAD_BYTES + index * COHORT__TRACE_BLOCK_BYTES))
        return true;
    say_full(strerror(errno));
    return false;
}

/* For a holder of the ledger the block is the one that it was until `sequence` is the next one: it
 * is taken once. */
static void begin_block(struct writer *writer)
{
    struct cohort__trace_block *block = writer->block;
    for (uint32_t i = 0; i < COHORT__TRACE_BLOCK_RECORDS; i++)
        atomic_store_explicit(&block->records[i].at, 0, memory_order_relaxed);
    atomic_store_explicit(&block->sequence, ++writer->sequence, memory_order_release);
    atomic_store_explicit(&writer->num, 0, memory_order_relaxed);
}

static void put(struct writer *writer, uint64_t at, uint64_t head, uint64_t a, uint64_t b)
{
    if (!writer->block)
        return;
    uint32_t num = atomic_load_explicit(&writer->num, memory_order_relaxed);
    if (num == COHORT__TRACE_BLOCK_RECORDS) {
        uint64_t lost = atomic_load_explicit(&writer->lost, memory_order_relaxed);
        atomic_store_explicit(&writer->lost, lost + 1, memory_order_relaxed);
        return;
    }
    struct cohort__trace_record *record = &writer->block->records[num];
    atomic_store_explicit(&record->head, head, memory_order_relaxed);
    atomic_store_explicit(&record->a, a, memory_order_relaxed);
    atomic_store_explicit(&record->b, b, memory_order_relaxed);
    atomic_store_explicit(&record->at, at, memory_order_release);
    atomic_store_explicit(&writer->num, num + 1, memory_order_relaxed);
    if (num + 1 == COHORT__TRACE_BLOCK_RECORDS && spool(writer))
        begin_block(writer);
}

static uint64_t head_of(uint32_t kind_small, uint64_t value)
{
    return kind_small | value << 16;
}

static void put_text(struct writer *writer, enum cohort__trace_kind kind, const void *text,
                     size_t bytes)
{
    const unsigned char *from = text;
    for (size_t done = 0; done < bytes;) {
        size_t n =
            bytes - done < COHORT__TRACE_TEXT_BYTES ? bytes - done : COHORT__TRACE_TEXT_BYTES;
        unsigned char packed[24] = {0};
        uint64_t words[3];
        memcpy(packed + 2, from + done, n);
        packed[0] = (unsigned char)kind;
        packed[1] = (unsigned char)n;
        words[0] = 0;
        for (unsigned i = 0; i < 8; i++)
            words[0] |= (uint64_t)packed[i] << 8 * i;
        memcpy(words + 1, packed + 8, 16);
        put(writer, cycles(), words[0], words[1], words[2]);
        done += n;
    }
}

/* Counters ------------------------------------------------------------------------------------ */

static void count(struct writer *writer, unsigned counter, uint64_t by)
{
    uint64_t num = atomic_load_explicit(&writer->counts[counter], memory_order_relaxed);
    atomic_store_explicit(&writer->counts[counter], num + by, memory_order_relaxed);
}

static void count_of_collective(struct writer *writer, unsigned first, uint64_t collective)
{
    if (collective < COHORT__COUNTED_COLLECTIVES)
        count(writer, first + (unsigned)collective, 1);
}

/* What the counters want of a record: see trace_format.h. */
static void count_record(struct writer *writer, uint32_t kind_small, uint64_t a, uint64_t b)
{
    const uint32_t small = kind_small >> 8;
    switch (kind_small & 0xff) {
    case COHORT__TRACE_BEGIN:
        count(writer, COHORT__COUNTER_TASKS_IN_PLACE, small == 1);
        break;
    case COHORT__TRACE_SUSPEND:
        count(writer,
              a % COHORT__WAIT_KINDS == COHORT__WAIT_YIELD ? COHORT__COUNTER_YIELDS
                                                           : COHORT__COUNTER_SUSPENSIONS,
              1);
        break;
    case COHORT__TRACE_SLEEP:
        count(writer, COHORT__COUNTER_THREAD_SLEEPS, 1);
        break;
    case COHORT__TRACE_CALL:
        count_of_collective(writer, COHORT__COUNTER_CALLED, small);
        break;
    case COHORT__TRACE_ENDED:
        count_of_collective(writer, COHORT__COUNTER_ENDED, b);
        count(writer, COHORT__COUNTER_COLLECTIVES_FAILED, small != COHORT_OK);
        break;
    case COHORT__TRACE_SENT:
        count(writer, COHORT__COUNTER_BYTES_SENT, b);
        break;
    case COHORT__TRACE_RECEIVED:
        count(writer, COHORT__COUNTER_BYTES_RECEIVED, b);
        break;
    default:
        break;
    }
}

void cohort__trace_sum(struct cohort__counters *counters)
{
    pthread_mutex_lock(&trace.lock);
    for (struct writer *writer = trace.writers; writer; writer = writer->next)
        for (unsigned i = 0; i < COHORT__NUM_COUNTERS; i++)
            counters->of[i] += atomic_load_explicit(&writer->counts[i], memory_order_relaxed);
    pthread_mutex_unlock(&trace.lock);
}

/* Writers ------------------------------------------------------------------------------------- */

static void introduce(struct writer *writer)
{
    char name[32] = "";
    prctl(PR_GET_NAME, name);
    put(writer, cycles(), head_of(COHORT__TRACE_THREAD, 0), (uint64_t)syscall(SYS_gettid), 0);
    put_text(writer, COHORT__TRACE_TEXT, name, strlen(name));
}

static void on_thread_end(void *arg)
{
    struct writer *writer = arg;
    pthread_mutex_lock(&trace.lock);
    writer->is_free = true;
    pthread_mutex_unlock(&trace.lock);
    mine = NULL;
}

/* With the lock. NULL: no memory. */
static struct writer *take_writer(void)
{
    for (struct writer *writer = trace.writers; writer; writer = writer->next)
        if (writer->is_free) {
            writer->is_free = false;
            return writer;
        }
    struct writer *writer = calloc(1, sizeof(*writer));
    if (writer && trace.has_file && !(writer->block = cohort__ledger_take(COHORT__LEDGER_TRACE))) {
        free(writer);
        writer = NULL;
    }
    if (!writer)
        return NULL;
    writer->thread = trace.num_writers++;
    if (writer->block)
        atomic_store_explicit(&writer->block->thread, writer->thread + 1, memory_order_relaxed);
    writer->next = trace.writers;
    trace.writers = writer;
    return writer;
}

/* NULL: no memory; the next record tries again. */
static __attribute__((noinline)) struct writer *begin_thread(void)
{
    pthread_mutex_lock(&trace.lock);
    struct writer *writer = take_writer();
    pthread_mutex_unlock(&trace.lock);
    if (!writer)
        return NULL;
    mine = writer;
    pthread_setspecific(trace.key, writer);
    introduce(writer);
    return writer;
}

static struct writer *my_writer(void)
{
    return mine ? mine : begin_thread();
}

/* The thread may be another one at the next record, so this is never a part of its callers. */
__attribute__((noinline, cold)) void cohort__trace_write(uint32_t kind_small, uint64_t value,
                                                         uint64_t a, uint64_t b)
{
    int saved_errno = errno;
    struct writer *writer = my_writer();
    if (writer) {
        count_record(writer, kind_small, a, b);
        put(writer, cycles(), head_of(kind_small, value), a, b);
    }
    errno = saved_errno;
}

__attribute__((noinline, cold)) void cohort__trace_add(enum cohort__counter counter, uint64_t by)
{
    int saved_errno = errno;
    struct writer *writer = my_writer();
    if (writer)
        count(writer, counter, by);
    errno = saved_errno;
}

bool cohort__trace_has_file(void)
{
    return trace.has_file;
}

/* What a thread writes first, its introduction, would be later than the record of this time: those
 * who read take no record of a thread to be earlier than the one before it. */
__attribute__((noinline, cold)) uint64_t cohort__trace_now(void)
{
    int saved_errno = errno;
    uint64_t now = cohort__trace_is_on && my_writer() ? cycles() : 0;
    errno = saved_errno;
    return now;
}

__attribute__((noinline, cold)) void cohort__trace_write_more(uint64_t at, uint32_t kind_small,
                                                              uint64_t value, uint64_t a,
                                                              uint64_t b, uint64_t c, uint64_t d)
{
    int saved_errno = errno;
    struct writer *writer = my_writer();
    if (writer) {
        at = at ? at : cycles();
        count_record(writer, kind_small, a, b);
        put(writer, at, head_of(COHORT__TRACE_MORE, 0), c, d);
        put(writer, at, head_of(kind_small, value), a, b);
    }
    errno = saved_errno;
}

__attribute__((noinline, cold)) void cohort__trace_write_text(enum cohort__trace_kind kind,
                                                              const void *text, size_t bytes)
{
    int saved_errno = errno;
    struct writer *writer = my_writer();
    if (writer)
        put_text(writer, kind, text, bytes);
    errno = saved_errno;
}

/* The whole ----------------------------------------------------------------------------------- */

/* The tightest of three. */
void cohort__trace_tick(void)
{
    uint64_t best = UINT64_MAX, at = 0, mono = 0;
    if (!cohort__trace_is_on || !trace.has_file)
        return;
    struct writer *writer = my_writer(); /* its introduction is not later, see trace_now */
    for (int i = 0; i < 3; i++) {
        uint64_t before = cycles(), now = cohort__clock_now(), after = cycles();
        if (after - before < best) {
            best = after - before;
            at = before + best / 2;
            mono = now;
        }
    }
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    if (writer)
        put(writer, at, head_of(COHORT__TRACE_CLOCK, 0), mono,
            (uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec);
}

static void read_line(const char *path, char *text, size_t bytes)
{
    text[0] = '\0';
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, bytes - 1) : 0;
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

/* Each start of a kernel has one, and within that each time namespace may have moved it. */
void cohort__trace_clock_name(char text[COHORT__TRACE_CLOCK_NAME])
{
    char boot[40], moved[COHORT__TRACE_CLOCK_NAME];
    long long seconds, nanoseconds;
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
    read_line("/proc/self/timens_offsets", moved, sizeof(moved));
    snprintf(text, COHORT__TRACE_CLOCK_NAME, "%s", boot);
    if (*boot && sscanf(moved, "monotonic %lld %lld", &seconds, &nanoseconds) == 2 &&
        (seconds || nanoseconds))
        snprintf(text, COHORT__TRACE_CLOCK_NAME, "%s %lld %lld", boot, seconds, nanoseconds);
}

/* Only a counter that the kernel uses as its own clock runs evenly, and alike on all cores. */
static bool has_good_cycles(void)
{
#if defined(__x86_64__)
    char name[32];
    read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
              sizeof(name));
    return strcmp(name, "tsc") == 0;
#else
    return true;
#endif
}

static void find_build_id(const struct dl_phdr_info *info, const unsigned char **ret_id,
                          size_t *ret_bytes)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const unsigned char *notes = (const unsigned char *)(info->dlpi_addr + segment->p_vaddr);
        for (size_t at = 0;
             segment->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) < segment->p_memsz;) {
            ElfW(Nhdr) note;
            memcpy(&note, notes + at, sizeof(note));
            size_t id = at + sizeof(note) + ((note.n_namesz + 3U) & ~3U);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= 20) {
                *ret_id = notes + id;
                *ret_bytes = note.n_descsz;
                return;
            }
            at = id + ((note.n_descsz + 3U) & ~3U);
        }
    }
}

static int write_module(struct dl_phdr_info *info, size_t size, void *context)
{
    uint64_t begin = UINT64_MAX, end = 0;
    const unsigned char *id = NULL;
    size_t id_bytes = 0;
    const char *path = info->dlpi_name;
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        begin = from < begin ? from : begin;
        end = from + segment->p_memsz > end ? from + segment->p_memsz : end;
    }
    if (!*path)
        path = trace.head.program;
    if (begin >= end || *path != '/')
        return 0;
    find_build_id(info, &id, &id_bytes);
    cohort__trace_write(COHORT__TRACE_MODULE, info->dlpi_addr, begin, end);
    cohort__trace_write_text(COHORT__TRACE_TEXT, path, strlen(path));
    cohort__trace_write_text(COHORT__TRACE_BUILD_ID, id, id_bytes);
    return 0;
}

/* In the child, in the only thread that it has. */
static void on_fork(void)
{
    cohort__trace_is_on = false;
}

static void fill_head(const struct cohort__trace_options *options)
{
    struct cohort__trace_head *head = &trace.head;
    *head = (struct cohort__trace_head){
        .magic = COHORT__TRACE_MAGIC,
        .version = COHORT__TRACE_VERSION,
        .epoch = options->epoch,
        .key = options->key,
        .rank = options->rank,
        .size = options->size,
        .pid = getpid(),
    };
    cohort__trace_clock_name(head->clock);
    gethostname(head->host, sizeof(head->host) - 1);
    ssize_t bytes = readlink("/proc/self/exe", head->program, sizeof(head->program) - 1);
    head->program[bytes > 0 ? bytes : 0] = '\0';
}

/* What was there is not changed but replaced: somebody may still read it, or write it. */
static cohort_status open_part(const struct cohort__trace_options *options)
{
    int bytes = snprintf(trace.path, sizeof(trace.path), "%s.%u.part", options->file,
                         (unsigned)options->rank);
    errno = ENAMETOOLONG;
    if (bytes < (int)sizeof(trace.path) && (unlink(trace.path) == 0 || errno == ENOENT))
        trace.part = open(trace.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (trace.part >= 0 && cohort__descriptor_write(trace.part, &trace.head, sizeof(trace.head), 0))
        return COHORT_OK;
    cohort_status status =
        cohort_fail(COHORT_ERR_SYSTEM, "environment variable COHORT_TRACE: %s can't be written: %s",
                    trace.path, strerror(errno));
    if (trace.part >= 0)
        close(trace.part);
    trace.part = -1;
    return status;
}

cohort_status cohort__trace_check_file(const char *file)
{
    struct stat at;
    const size_t bytes = strlen(file);
    if ((bytes > 0 && file[bytes - 1] == '/') || (stat(file, &at) == 0 && S_ISDIR(at.st_mode)))
        return cohort_fail(
            COHORT_ERR_BAD_PARAMETER,
            "environment variable COHORT_TRACE is \"%.200s\", a folder; it has to be "
            "a file",
            file);
    return COHORT_OK;
}

cohort_status cohort__trace_begin(const struct cohort__trace_options *options)
{
    if (trace.has_begun)
        return cohort_fail(COHORT_ERR_STATE, "trace: there was one in this process already");
    fill_head(options);
    trace.has_file = options->file;
    cohort_status status = trace.has_file ? open_part(options) : COHORT_OK;
    if (status)
        return status;
    if (pthread_key_create(&trace.key, on_thread_end) != 0 ||
        pthread_atfork(NULL, NULL, on_fork) != 0) {
        if (trace.has_file)
            close(trace.part);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "trace: no memory to begin it");
    }
    trace.has_begun = true;
    trace.uses_clock = !has_good_cycles();
    trace.most_blocks = options->most_bytes / COHORT__TRACE_BLOCK_BYTES;
    cohort__trace_is_on = true;
    if (trace.has_file) {
        cohort__trace_tick();
        dl_iterate_phdr(write_module, NULL);
    }
    return COHORT_OK;
}

/* The blocks stay, since threads from outside may still point to them. */
bool cohort__trace_end(void)
{
    if (!cohort__trace_is_on)
        return false;
    if (!trace.has_file) {
        cohort__trace_is_on = false;
        return false;
    }
    cohort__trace_tick();
    dl_iterate_phdr(write_module, NULL); /* some may have been loaded meanwhile */
    cohort__trace_tick();
    cohort__trace_is_on = false;
    pthread_mutex_lock(&trace.lock);
    for (struct writer *writer = trace.writers; writer; writer = writer->next) {
        uint32_t num = atomic_load_explicit(&writer->num, memory_order_relaxed);
        bool is_lost = num > 0 && num < COHORT__TRACE_BLOCK_RECORDS && !spool(writer);
        trace.head.lost += atomic_load_explicit(&writer->lost, memory_order_relaxed);
        if (is_lost || num == COHORT__TRACE_BLOCK_RECORDS)
            trace.head.lost += num;
    }
    pthread_mutex_unlock(&trace.lock);
    trace.head.is_closed = 1;
    if (!cohort__descriptor_write(trace.part, &trace.head, sizeof(trace.head), 0))
        say_full(strerror(errno));
    close(trace.part);
    trace.part = -1;
    return true;
}
