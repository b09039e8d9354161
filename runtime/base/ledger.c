/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/ledger.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/memory_file.h"
#include "runtime/base/trace_format.h"

/* modules -------------------------------------------------------------------------------------- */

/* The lines of the modules, anew whenever the loader has loaded or unloaded one. */
enum { MOST_MODULES = 4096 };

static struct {
    pthread_mutex_t lock;
    unsigned long long num_changes; /* of the loader's, when they were written */
    struct cohort__module_line *lines[MOST_MODULES];
    unsigned num;
} modules = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note_build_id(struct cohort__module_line *line, const char *notes, size_t bytes)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof(note));
        size_t name = sizeof(note), description = name + ((note.n_namesz + 3) & ~3U);
        size_t end = description + ((note.n_descsz + 3) & ~3U);
        if (end > bytes)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + name, "GNU", 4) == 0 && note.n_descsz <= sizeof(line->build_id)) {
            memcpy(line->build_id, notes + description, note.n_descsz);
            line->build_id_bytes = note.n_descsz;
            return;
        }
        notes += end;
        bytes -= end;
    }
}

/* The program's own name is empty. Others may be relative to the folder of now. */
static void note_path(struct cohort__module_line *line, const char *name)
{
    char path[PATH_MAX];
    ssize_t bytes = -1;
    if (*name == '\0' && (bytes = readlink("/proc/self/exe", path, sizeof(path) - 1)) > 0)
        path[bytes] = '\0';
    if (bytes > 0 || (*name != '\0' && *name != '/' && realpath(name, path)))
        name = path;
    memcpy(line->path, name, strnlen(name, sizeof(line->path) - 1)); /* it was all zero */
}

static int add(struct dl_phdr_info *info, size_t info_bytes, void *context)
{
    uint64_t begin = UINT64_MAX, end = 0;
    (void)info_bytes;
    (void)context;
    struct cohort__module_line *line =
        modules.num < MOST_MODULES ? cohort__ledger_take(COHORT__LEDGER_MODULES) : NULL;
    if (!line)
        return 1;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && at < begin)
            begin = at;
        if (header->p_type == PT_LOAD && at + header->p_memsz > end)
            end = at + header->p_memsz;
        if (header->p_type == PT_NOTE && line->build_id_bytes == 0)
            note_build_id(line, (const char *)info->dlpi_addr + header->p_vaddr, header->p_memsz);
    }
    note_path(line, info->dlpi_name);
    line->bias = info->dlpi_addr;
    atomic_store_explicit(&line->end, end, memory_order_relaxed);
    atomic_store_explicit(&line->begin, begin, memory_order_release);
    modules.lines[modules.num++] = line;
    return 0;
}

static int count_changes(struct dl_phdr_info *info, size_t info_bytes, void *context)
{
    unsigned long long *ret_num = context;
    (void)info_bytes;
    *ret_num = info->dlpi_adds + info->dlpi_subs;
    return 1; /* it is the same in all */
}

/* With the lock. */
static void give_back(void)
{
    while (modules.num > 0)
        cohort__ledger_give_back(COHORT__LEDGER_MODULES, modules.lines[--modules.num]);
    modules.num_changes = 0;
}

/* Writes a line for each module, if some were loaded or unloaded since the last call. */
static void note_modules(void)
{
    unsigned long long num_changes = 0;
    dl_iterate_phdr(count_changes, &num_changes);
    pthread_mutex_lock(&modules.lock);
    if (num_changes != modules.num_changes) {
        give_back();
        dl_iterate_phdr(add, NULL);
        modules.num_changes = num_changes;
    }
    pthread_mutex_unlock(&modules.lock);
}

/* Gives these lines back. */
static void forget_modules(void)
{
    pthread_mutex_lock(&modules.lock);
    give_back();
    pthread_mutex_unlock(&modules.lock);
}

/* chunks and lines ----------------------------------------------------------------------------- */

/* A chunk of a kind has as much as all those before it, so that there are few, and core files, in
 * which a chunk is in full, stay small; but not more than this. */
enum { MOST_CHUNK_BYTES = 8 << 20, LINE_ALIGNMENT = 64 };

_Static_assert(sizeof(struct cohort__ledger_head) == COHORT__LEDGER_HEAD_BYTES, "a page");
_Static_assert(sizeof(((struct cohort__worker_line *)0)->events) == 1 << 16, "see event_place");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "see event_place");

/* A line that was given back: its first word is 0. */
struct free_line {
    _Atomic uint64_t first;
    struct free_line *next;
};

struct chunk {
    char *memory;
    size_t bytes;
};

/* The lines of a kind that are free: those that were given back, then those from `next` to `end`,
 * which were never taken. */
struct supply {
    struct free_line *given_back;
    char *next, *end;
    size_t bytes; /* of all chunks */
};

static struct {
    pthread_mutex_t lock;
    bool has_begun;
    bool is_parents; /* this is a child of the process that writes it */
    int memory;      /* -1: there was no memory, all lines are private */
    dev_t device;
    ino_t inode;
    uint64_t region; /* where it begins in the memory */
    uint32_t next_page;
    struct cohort__ledger_head *head; /* NULL with memory -1 */
    struct chunk chunks[COHORT__LEDGER_CHUNKS];
    struct supply supplies[COHORT__LEDGER_NUM_KINDS];
    struct cohort__words_line *words; /* taken beforehand, for signal handlers; not counted */
    size_t num_taken;
} ledger = {.lock = PTHREAD_MUTEX_INITIALIZER, .memory = -1};

_Thread_local struct cohort__worker_line *cohort__ledger_thread
    __attribute__((tls_model("initial-exec")));

uint32_t cohort__ledger_stride(uint32_t kind)
{
    static const uint32_t strides[COHORT__LEDGER_NUM_KINDS] = {
        [COHORT__LEDGER_WORKERS] = sizeof(struct cohort__worker_line),
        [COHORT__LEDGER_WAITS] = sizeof(struct cohort__wait_line),
        [COHORT__LEDGER_SITES] = sizeof(struct cohort__site_line),
        [COHORT__LEDGER_GROUPS] = sizeof(struct cohort__group_line),
        [COHORT__LEDGER_JOINS] = sizeof(struct cohort__join_line),
        [COHORT__LEDGER_MODULES] = sizeof(struct cohort__module_line),
        [COHORT__LEDGER_PENDING] = sizeof(struct cohort__pending_line),
        [COHORT__LEDGER_TRACE] = sizeof(struct cohort__trace_block),
        [COHORT__LEDGER_COUNTERS] = sizeof(struct cohort__counters_line),
        [COHORT__LEDGER_WORDS] = sizeof(struct cohort__words_line),
        [COHORT__LEDGER_INPUTS] = sizeof(struct cohort__inputs_line),
    };
    return kind < COHORT__LEDGER_NUM_KINDS ? strides[kind] : 0;
}

/* Memory ------------------------------------------------------------------------------------- */

/* -1: the error is set. */
static int create_memory(uint32_t num_slots)
{
    const char *what;
    int memory = cohort__memory_file_create(COHORT__LEDGER_NAME,
                                            num_slots * COHORT__LEDGER_REGION_BYTES, "", 0, &what);
    bool is_full = errno == ENOMEM || errno == EMFILE || errno == ENFILE;
    if (memory < 0)
        cohort_fail(is_full ? COHORT_ERR_NO_MEMORY : COHORT_ERR_SYSTEM, "ledger: %s: %s", what,
                    strerror(errno));
    return memory;
}

cohort_status cohort__ledger_create(int *ret_memory, uint32_t num_slots)
{
    if (num_slots == 0 || num_slots > COHORT__LEDGER_MAX_SLOTS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "ledger for %u localities, not 1 to %d",
                           (unsigned)num_slots, COHORT__LEDGER_MAX_SLOTS);
    int memory = create_memory(num_slots);
    if (memory < 0)
        return cohort__error_slot()->status;
    *ret_memory = memory;
    return COHORT_OK;
}

static void note_moment(struct cohort__ledger_moment *moment)
{
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    atomic_store_explicit(&moment->cycles, cohort__clock_cycles(), memory_order_relaxed);
    atomic_store_explicit(&moment->mono, cohort__clock_now(), memory_order_relaxed);
    atomic_store_explicit(&moment->real,
                          (uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec,
                          memory_order_relaxed);
}

/* In the child, in the only thread that it has. Another one may have held the lock. */
static void on_fork(void)
{
    pthread_mutex_init(&ledger.lock, NULL);
    ledger.is_parents = ledger.has_begun;
}

/* With the lock. */
static bool watch_forks(void)
{
    static bool is_watched;
    is_watched = is_watched || pthread_atfork(NULL, NULL, on_fork) == 0;
    return is_watched;
}

/* With the lock. Takes MEMORY if it returns true. */
static bool begin(int memory, uint64_t region)
{
    struct stat stat;
    if (!watch_forks() || fstat(memory, &stat) != 0)
        return false;
    struct cohort__ledger_head *head =
        mmap(NULL, sizeof(*head), PROT_READ | PROT_WRITE, MAP_SHARED, memory, (off_t)region);
    if (head == MAP_FAILED)
        return false;
    head->version = COHORT__LEDGER_VERSION;
    head->pid = getpid();
    head->size = 1;
    note_moment(&head->first);
    note_moment(&head->last);
    atomic_store_explicit(&head->stage_at, cohort__clock_now(), memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    head->magic = COHORT__LEDGER_MAGIC;
    ledger.memory = memory;
    ledger.device = stat.st_dev;
    ledger.inode = stat.st_ino;
    ledger.region = region;
    ledger.next_page = 1;
    ledger.head = head;
    return true;
}

/* With the lock. A failure leaves the caller's error as it is: lines are private then. */
static void begin_own(void)
{
    const char *what;
    int saved_errno = errno;
    int memory =
        cohort__memory_file_create(COHORT__LEDGER_NAME, COHORT__LEDGER_REGION_BYTES, "", 0, &what);
    ledger.has_begun = true;
    if (memory >= 0 && !begin(memory, 0))
        close(memory);
    errno = saved_errno;
}

/* With the lock. Whether this process may write into the ledger. */
static bool is_ours(void)
{
    if (!ledger.has_begun)
        begin_own();
    return ledger.head && !ledger.is_parents;
}

static cohort_status adopt(int memory, uint32_t slot)
{
    uint64_t region = slot * COHORT__LEDGER_REGION_BYTES;
    if (!cohort__memory_file_holds(memory, region + COHORT__LEDGER_REGION_BYTES))
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "descriptor %d is no ledger of %u localities or more; was it closed?",
                           memory, (unsigned)slot + 1);
    if (ledger.has_begun)
        return cohort_fail(COHORT_ERR_STATE, "ledger: this process has one already");
    if (fcntl(memory, F_SETFD, FD_CLOEXEC) != 0 ||
        fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)region,
                  (off_t)COHORT__LEDGER_REGION_BYTES) != 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "ledger: clearing it: %s", strerror(errno));
    if (!begin(memory, region))
        return cohort_fail(COHORT_ERR_NO_MEMORY, "ledger: mmap: %s", strerror(errno));
    ledger.has_begun = true;
    return COHORT_OK;
}

cohort_status cohort__ledger_adopt(int memory, uint32_t slot)
{
    pthread_mutex_lock(&ledger.lock);
    cohort_status status = adopt(memory, slot);
    pthread_mutex_unlock(&ledger.lock);
    if (status)
        close(memory);
    return status;
}

/* The standard descriptors are never accepted: with a wrong text they would be closed. */
cohort_status cohort__ledger_inherit(void)
{
    const char *text = getenv(COHORT__LEDGER_VARIABLE);
    char *rest, *end;
    if (!text)
        return COHORT_OK;
    long memory = strtol(text, &rest, 10);
    long slot = *rest == ' ' ? strtol(rest + 1, &end, 10) : -1;
    if (memory <= STDERR_FILENO || memory > INT_MAX || slot < 0 ||
        slot >= COHORT__LEDGER_MAX_SLOTS || *end != '\0')
        return cohort_fail(COHORT_ERR_PROTOCOL, COHORT__LEDGER_VARIABLE " is '%s'", text);
    unsetenv(COHORT__LEDGER_VARIABLE);
    return cohort__ledger_adopt((int)memory, (uint32_t)slot);
}

static void clear(void)
{
    for (uint32_t i = 0; i < COHORT__LEDGER_CHUNKS && ledger.chunks[i].memory; i++)
        munmap(ledger.chunks[i].memory, ledger.chunks[i].bytes);
    if (ledger.head) {
        munmap(ledger.head, sizeof(*ledger.head));
        close(ledger.memory);
    }
    memset(ledger.chunks, 0, sizeof(ledger.chunks));
    memset(ledger.supplies, 0, sizeof(ledger.supplies));
    ledger.head = NULL;
    ledger.words = NULL;
    ledger.memory = -1;
    ledger.has_begun = false;
}

void cohort__ledger_close(void)
{
    forget_modules();
    pthread_mutex_lock(&ledger.lock);
    if (ledger.num_taken == 0 && !ledger.is_parents)
        clear();
    pthread_mutex_unlock(&ledger.lock);
}

/* The head ----------------------------------------------------------------------------------- */

static void *take(uint32_t kind);

void cohort__ledger_introduce(uint32_t rank, uint32_t size, uint64_t key, uint32_t epoch)
{
    pthread_mutex_lock(&ledger.lock);
    if (is_ours()) {
        ledger.head->rank = rank;
        ledger.head->size = size;
        ledger.head->key = key;
        ledger.head->epoch = epoch;
        if (!ledger.words)
            ledger.words = take(COHORT__LEDGER_WORDS);
        else
            atomic_store_explicit(&ledger.words->at, 0, memory_order_relaxed);
    }
    pthread_mutex_unlock(&ledger.lock);
    note_modules();
}

void cohort__ledger_enter_stage(enum cohort__ledger_stage stage, cohort_status status)
{
    pthread_mutex_lock(&ledger.lock);
    if (is_ours()) {
        struct cohort__ledger_head *head = ledger.head;
        atomic_store_explicit(&head->status, (int32_t)status, memory_order_relaxed);
        atomic_store_explicit(&head->stage_at, cohort__clock_now(), memory_order_relaxed);
        atomic_store_explicit(&head->stage, (uint32_t)stage, memory_order_release);
    }
    pthread_mutex_unlock(&ledger.lock);
}

bool cohort__ledger_rank(uint32_t *ret_rank)
{
    const struct cohort__ledger_head *head = ledger.head;
    if (!head || head->size < 2)
        return false;
    *ret_rank = head->rank;
    return true;
}

void cohort__ledger_say(const char *text)
{
    struct cohort__words_line *words = ledger.words;
    if (!words || ledger.head->pid != getpid())
        return; /* of a child that is forked these are not the words */
    const size_t bytes = strnlen(text, sizeof(words->text) - 1);
    atomic_store_explicit(&words->at, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    memcpy(words->text, text, bytes);
    words->text[bytes] = '\0';
    atomic_store_explicit(&words->at, cohort__clock_now(), memory_order_release);
}

void cohort__ledger_tick(uint64_t moved, uint64_t tasks, bool acts_outside)
{
    pthread_mutex_lock(&ledger.lock);
    if (is_ours()) {
        note_moment(&ledger.head->last);
        atomic_store_explicit(&ledger.head->moved, moved, memory_order_relaxed);
        atomic_store_explicit(&ledger.head->tasks, tasks, memory_order_relaxed);
        atomic_store_explicit(&ledger.head->acts_outside, acts_outside, memory_order_relaxed);
    }
    pthread_mutex_unlock(&ledger.lock);
    note_modules();
}

/* Lines -------------------------------------------------------------------------------------- */

/* The program may have closed our descriptor, and it may be another file's by now. */
static bool is_still_open(void)
{
    struct stat stat;
    return fstat(ledger.memory, &stat) == 0 && stat.st_dev == ledger.device &&
           stat.st_ino == ledger.inode;
}

static size_t round_up(size_t bytes)
{
    const size_t page = COHORT__LEDGER_PAGE_BYTES;
    return (bytes + page - 1) & ~(page - 1);
}

/* One more chunk of KIND, with BYTES. */
static bool map_chunk(uint32_t kind, uint32_t stride, struct supply *supply, size_t bytes)
{
    struct cohort__ledger_head *head = ledger.head;
    uint32_t index = atomic_load_explicit(&head->num_chunks, memory_order_relaxed);
    uint64_t at = (uint64_t)ledger.next_page * COHORT__LEDGER_PAGE_BYTES;
    if (index == COHORT__LEDGER_CHUNKS || at + bytes > COHORT__LEDGER_REGION_BYTES ||
        !is_still_open())
        return false;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ledger.memory,
                        (off_t)(ledger.region + at));
    if (memory == MAP_FAILED)
        return false;
    supply->next = memory;
    supply->end = memory + bytes / stride * stride;
    supply->bytes += bytes;
    ledger.chunks[index] = (struct chunk){memory, bytes};
    struct cohort__ledger_chunk *chunk = &head->chunks[index];
    chunk->stride = stride;
    chunk->num = (uint32_t)(bytes / stride);
    chunk->page = ledger.next_page;
    atomic_store_explicit(&chunk->kind, kind, memory_order_release);
    atomic_store_explicit(&head->num_chunks, index + 1, memory_order_release);
    ledger.next_page += (uint32_t)(bytes / COHORT__LEDGER_PAGE_BYTES);
    return true;
}

/* Where there is little address space, a small one. */
static bool add_chunk(uint32_t kind, uint32_t stride, struct supply *supply)
{
    size_t least = round_up(stride);
    size_t bytes = supply->bytes > MOST_CHUNK_BYTES ? MOST_CHUNK_BYTES : supply->bytes;
    return (bytes > least && map_chunk(kind, stride, supply, bytes)) ||
           map_chunk(kind, stride, supply, least);
}

/* With the lock. NULL: there is no memory in the ledger. */
static void *take(uint32_t kind)
{
    struct supply *supply = &ledger.supplies[kind];
    uint32_t stride = cohort__ledger_stride(kind);
    struct free_line *line = supply->given_back;
    if (line) {
        supply->given_back = line->next;
        return memset(line, 0, stride);
    }
    if (supply->next == supply->end && !add_chunk(kind, stride, supply))
        return NULL;
    void *fresh = supply->next;
    supply->next += stride;
    return fresh;
}

/* With the lock. */
static bool is_in_ledger(const void *line)
{
    const char *at = line;
    for (uint32_t i = 0; i < COHORT__LEDGER_CHUNKS && ledger.chunks[i].memory; i++)
        if (at >= ledger.chunks[i].memory && at < ledger.chunks[i].memory + ledger.chunks[i].bytes)
            return true;
    return false;
}

static void *take_private(uint32_t kind)
{
    void *line = aligned_alloc(LINE_ALIGNMENT, cohort__ledger_stride(kind));
    return line ? memset(line, 0, cohort__ledger_stride(kind)) : NULL;
}

void *cohort__ledger_take(enum cohort__ledger_kind kind)
{
    int saved_errno = errno;
    pthread_mutex_lock(&ledger.lock);
    bool is_here = is_ours();
    void *line = is_here ? take(kind) : NULL;
    if (line)
        ledger.num_taken++;
    else if (is_here)
        atomic_store_explicit(&ledger.head->is_cut, 1, memory_order_relaxed);
    pthread_mutex_unlock(&ledger.lock);
    errno = saved_errno;
    return line ? line : take_private(kind);
}

void cohort__ledger_give_back(enum cohort__ledger_kind kind, void *line)
{
    if (!line)
        return;
    pthread_mutex_lock(&ledger.lock);
    bool is_private = !is_in_ledger(line);
    if (!is_private && !ledger.is_parents) {
        struct free_line *free_line = line;
        atomic_store_explicit(&free_line->first, 0, memory_order_relaxed);
        free_line->next = ledger.supplies[kind].given_back;
        ledger.supplies[kind].given_back = free_line;
        ledger.num_taken--;
    }
    pthread_mutex_unlock(&ledger.lock);
    if (is_private)
        free(line);
}
