/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what the ledger of one locality says at this moment. */
#include "tools/cohortrun/status/look.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger_read.h"

/* A process that goes wrong may have filled all of its region with lines. */
enum { MAX_LINES = 1 << 20 };

/* A copy is a list of records: the kind (u32; 0: the head), the bytes (u32), and so many bytes, a
 * line of the ledger of that kind or one of these; zeroes at its end are left out. */
struct head_record {
    uint64_t cycles, mono; /* as of when the ages are; see cohort__ledger_nanoseconds */
    uint64_t tick_age;     /* of a process that is dead */
    uint32_t state;        /* a letter, as in /proc */
    uint32_t is_damaged;
    struct cohort__ledger_head ledger;
};

struct worker_record {
    unsigned char line[offsetof(struct cohort__worker_line, events)];
    char state; /* as in /proc */
    char kernel_function[40];
};

struct reading {
    struct look *look;
    struct cohort__ledger_view view; /* of which there is only the head */
    uint64_t cycles, mono;           /* now */
    bool has_no_memory;
};

static uint64_t age_of(const struct reading *reading, uint64_t mono)
{
    return mono < reading->mono ? reading->mono - mono : 0;
}

static uint64_t age_of_cycles(const struct reading *reading, uint64_t cycles)
{
    return age_of(reading, cohort__ledger_nanoseconds(&reading->view, reading->cycles,
                                                      reading->mono, cycles));
}

/* Room for one more in ARRAY, which has NUM of BYTES each. NULL: there is none. */
static void *append(struct reading *reading, void *array, uint32_t *num, size_t bytes)
{
    char **memory = array;
    if (*num == MAX_LINES) {
        reading->look->is_cut = true;
        return NULL;
    }
    if ((*num & (*num - 1)) == 0) {
        void *larger = realloc(*memory, (*num ? 2 * (size_t)*num : 1) * bytes);
        reading->has_no_memory |= !larger;
        if (!larger)
            return NULL;
        *memory = larger;
    }
    return memset(*memory + (size_t)(*num)++ * bytes, 0, bytes);
}

static void take_site(void *context, const void *line)
{
    struct reading *reading = context;
    struct look *look = reading->look;
    struct cohort__site_line *site = append(reading, &look->sites, &look->num_sites, sizeof(*site));
    if (site)
        memcpy(site, line, sizeof(*site));
}

static void take_group(void *context, const void *line)
{
    struct reading *reading = context;
    struct look *look = reading->look;
    struct cohort__group_line *group =
        append(reading, &look->groups, &look->num_groups, sizeof(*group));
    if (!group)
        return;
    memcpy(group, line, sizeof(*group));
    group->name[sizeof(group->name) - 1] = '\0';
}

static void take_join(void *context, const void *line)
{
    struct reading *reading = context;
    const struct cohort__join_line *from = line;
    struct look_join *join =
        append(reading, &reading->look->joins, &reading->look->num_joins, sizeof(*join));
    if (!join)
        return;
    *join = (struct look_join){.age = age_of(reading, from->since),
                               .future = from->future,
                               .site = from->site,
                               .num_sites = from->num_sites,
                               .kind = from->kind <= COHORT__JOIN_AGREEMENT
                                           ? (enum cohort__join_kind)from->kind
                                           : COHORT__JOIN_NAME,
                               .parent = from->parent,
                               .of_site = from->of_site};
    snprintf(join->name, sizeof(join->name), "%.*s", (int)sizeof(from->name), from->name);
}

static void take_wait(void *context, const void *line)
{
    struct reading *reading = context;
    const struct cohort__wait_line *from = line;
    const uint64_t is_inner = COHORT__WAIT_LINE_IS_INNER;
    const uint64_t is_in_scope = COHORT__WAIT_LINE_IS_IN_SCOPE;
    const uint64_t is_in_range = COHORT__WAIT_LINE_IS_IN_RANGE;
    struct look_wait *wait =
        append(reading, &reading->look->waits, &reading->look->num_waits, sizeof(*wait));
    const uint64_t kinds = COHORT__WAIT_KINDS - 1;
    if (wait)
        *wait = (struct look_wait){.age = age_of_cycles(reading, from->since),
                                   .caller = from->caller,
                                   .what = from->what & ~kinds,
                                   .kind = (enum cohort__wait_kind)(from->what & kinds),
                                   .function = from->function,
                                   .task = from->task & ~(is_inner | is_in_scope | is_in_range),
                                   .outer = from->task & is_inner ? from->outer : 0,
                                   .outermost = from->task & is_inner ? from->outermost : 0,
                                   .scope = from->task & is_in_scope ? from->scope : 0,
                                   .range = from->task & is_in_range ? from->range : 0};
}

static void list_input(struct reading *reading, uint64_t age, uint64_t seen, uint64_t what)
{
    const uint64_t kinds = COHORT__WAIT_KINDS - 1;
    struct look *look = reading->look;
    struct look_wait *input =
        append(reading, &look->listed, &look->num_listed, sizeof(*look->listed));
    if (input)
        *input = (struct look_wait){.age = age,
                                    .seen = seen,
                                    .what = what & ~kinds,
                                    .kind = (enum cohort__wait_kind)(what & kinds)};
}

static void take_inputs(void *context, const void *line)
{
    struct reading *reading = context;
    const struct cohort__inputs_line *from = line;
    struct look *look = reading->look;
    const uint64_t age = age_of_cycles(reading, from->since);
    const uint64_t seen = age_of_cycles(reading, from->seen_at);
    struct look_wait *wait =
        from->function ? append(reading, &look->waits, &look->num_waits, sizeof(*look->waits))
                       : NULL;
    struct look_inputs *inputs =
        append(reading, &look->inputs, &look->num_inputs, sizeof(*look->inputs));
    if (wait)
        *wait = (struct look_wait){.age = age,
                                   .what = from->of,
                                   .kind = COHORT__WAIT_SEVERAL,
                                   .function = from->function,
                                   .task = from->of,
                                   .scope = from->scope};
    if (!inputs)
        return;
    *inputs = (struct look_inputs){.age = age,
                                   .seen = seen,
                                   .of = from->of,
                                   .scope = from->kind == COHORT__INPUTS_FUTURES ? 0 : from->scope,
                                   .is_cancelled = from->kind == COHORT__INPUTS_CANCELLED,
                                   .is_range = from->kind == COHORT__INPUTS_RANGE,
                                   .num = from->num,
                                   .wanted = from->wanted,
                                   .first = look->num_listed};
    for (uint32_t i = 0; i < COHORT__LEDGER_INPUTS_MOST && from->what[i]; i++)
        list_input(reading, age, seen, from->what[i]);
    inputs->num_listed = look->num_listed - inputs->first;
}

static void take_serve(struct reading *reading, const struct cohort__pending *of, uint64_t at)
{
    struct look_serve *serve =
        append(reading, &reading->look->serves, &reading->look->num_serves, sizeof(*serve));
    if (serve)
        *serve = (struct look_serve){.age = age_of_cycles(reading, at),
                                     .task = of->future,
                                     .number = of->number,
                                     .from = of->site};
}

static void take_pending(void *context, const void *line)
{
    struct reading *reading = context;
    const struct cohort__pending_line *from = line;
    const uint64_t kinds = COHORT__WAIT_KINDS - 1;
    struct look *look = reading->look;
    for (uint32_t i = 0; i < from->num && i < COHORT__LEDGER_PENDING_MOST; i++) {
        const struct cohort__pending *of = &from->of[i];
        const uint32_t kind = of->kind & kinds;
        if (kind == COHORT__WAIT_TASK) {
            take_serve(reading, of, from->at);
            continue;
        }
        if (kind == COHORT__WAIT_REMOTE && !of->future)
            continue;
        struct look_pending *pending =
            append(reading, &look->pendings, &look->num_pendings, sizeof(*pending));
        if (pending)
            *pending = (struct look_pending){.age = age_of_cycles(reading, from->at),
                                             .instance = from->instance,
                                             .future = of->future & ~kinds,
                                             .number = of->number,
                                             .site = from->site,
                                             .peer = of->site,
                                             .kind = (enum cohort__wait_kind)kind,
                                             .needs_all = of->kind & COHORT__PENDING_NEEDS_ALL,
                                             .has_come = of->kind & COHORT__PENDING_HAS_COME,
                                             .has_more = from->num > COHORT__LEDGER_PENDING_MOST};
        if (pending && kind == COHORT__WAIT_REMOTE)
            snprintf(pending->name, sizeof(pending->name), "%.*s", COHORT__LEDGER_PENDING_NAME - 1,
                     from->text + i * COHORT__LEDGER_PENDING_NAME);
    }
    struct look_account *account =
        from->described ? append(reading, &look->accounts, &look->num_accounts, sizeof(*account))
                        : NULL;
    if (!account)
        return;
    *account = (struct look_account){
        .instance = from->instance, .generation = from->described, .site = from->site};
    snprintf(account->text, sizeof(account->text), "%.*s", (int)sizeof(account->text) - 1,
             from->text);
}

bool look_is_blocked(const struct look_worker *worker)
{
    return worker->index != UINT32_MAX && (worker->state == 'S' || worker->state == 'D') &&
           !worker->is_idle && worker->age >= LOOK_BUSY_NS;
}

bool look_is_busy(const struct look_worker *worker)
{
    const bool is_stopped_in_task =
        (worker->state == 'T' || worker->state == 't') && worker->function && !worker->is_idle;
    return worker->index != UINT32_MAX && (worker->state == 'R' || is_stopped_in_task) &&
           worker->age >= LOOK_BUSY_NS;
}

/* What is no name of a function is left out: "0" where the kernel does not say it. */
static void take_kernel_function(struct look_worker *worker, const struct worker_record *from)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    char *name = worker->kernel_function;
    snprintf(name, sizeof(worker->kernel_function), "%.*s", (int)sizeof(from->kernel_function),
             from->kernel_function);
    if (name[strspn(name, letters)] != '\0' || name[0] == '0')
        name[0] = '\0';
}

static void take_worker(void *context, const void *record)
{
    struct reading *reading = context;
    const struct cohort__worker_line *from = record;
    const struct worker_record *seen = record;
    struct look_worker *worker =
        append(reading, &reading->look->workers, &reading->look->num_workers, sizeof(*worker));
    if (!worker)
        return;
    *worker = (struct look_worker){.thread = from->thread,
                                   .age = from->seen_at ? age_of_cycles(reading, from->seen_at) : 0,
                                   .index = from->index,
                                   .function = from->function,
                                   .state = seen->state,
                                   .is_idle = from->is_idle};
    take_kernel_function(worker, seen);
}

static void take_module(void *context, const void *line)
{
    struct reading *reading = context;
    struct look *look = reading->look;
    struct cohort__module_line *module =
        append(reading, &look->modules, &look->num_modules, sizeof(*module));
    if (!module)
        return;
    memcpy(module, line, sizeof(*module));
    module->path[sizeof(module->path) - 1] = '\0';
    if (module->build_id_bytes > sizeof(module->build_id))
        module->build_id_bytes = 0;
}

static void take_words(void *context, const void *line)
{
    struct reading *reading = context;
    const struct cohort__words_line *from = line;
    snprintf(reading->look->words, sizeof(reading->look->words), "%.*s", (int)sizeof(from->text),
             from->text);
}

static uint64_t address_of(uint64_t task)
{
    return task & COHORT__LEDGER_ADDRESS;
}

static int compare_waits(const void *left, const void *right)
{
    const uint64_t a = address_of(((const struct look_wait *)left)->task);
    const uint64_t b = address_of(((const struct look_wait *)right)->task);
    return a < b ? -1 : a > b;
}

static int compare_pendings(const void *left, const void *right)
{
    const struct look_pending *a = left, *b = right;
    return a->future < b->future ? -1 : a->future > b->future;
}

static int compare_inputs(const void *left, const void *right)
{
    const struct look_inputs *a = left, *b = right;
    return a->of < b->of ? -1 : a->of > b->of;
}

void look_sort(struct look *look)
{
    if (look->num_inputs > 0)
        qsort(look->inputs, look->num_inputs, sizeof(*look->inputs), compare_inputs);
    if (look->num_pendings > 0)
        qsort(look->pendings, look->num_pendings, sizeof(*look->pendings), compare_pendings);
    if (look->num_waits > 0)
        qsort(look->waits, look->num_waits, sizeof(*look->waits), compare_waits);
    look->num_nested = 0;
    for (uint32_t i = 0; i < look->num_waits; i++)
        look->num_nested += look->waits[i].outer != 0;
}

static void take_head(void *context, const void *record)
{
    struct reading *reading = context;
    const struct head_record *from = record;
    const struct cohort__ledger_head *head = &from->ledger;
    struct look *look = reading->look;
    const uint32_t stage = head->stage;
    memcpy(&reading->view.head, head, sizeof(*head));
    reading->cycles = from->cycles;
    reading->mono = from->mono;
    look->rank = head->rank;
    look->size = head->size;
    look->pid = head->pid;
    look->stage =
        stage <= COHORT__LEDGER_OVER ? (enum cohort__ledger_stage)stage : COHORT__LEDGER_STARTING;
    look->stage_age = age_of(reading, head->stage_at);
    look->status = head->status;
    look->num_tasks = head->tasks;
    look->acts_outside = head->acts_outside;
    look->tick_age = from->tick_age;
    look->is_cut = head->is_cut || from->is_damaged;
    look->is_stopped = from->state == 'T' || from->state == 't';
}

/* By kind: what takes its records, and their bytes. Of the others nothing is copied. */
static const struct taker {
    void (*take)(void *context, const void *record);
    size_t bytes;
} takers[COHORT__LEDGER_NUM_KINDS] = {
    [0] = {take_head, sizeof(struct head_record)},
    [COHORT__LEDGER_WORKERS] = {take_worker, sizeof(struct worker_record)},
    [COHORT__LEDGER_WAITS] = {take_wait, sizeof(struct cohort__wait_line)},
    [COHORT__LEDGER_SITES] = {take_site, sizeof(struct cohort__site_line)},
    [COHORT__LEDGER_GROUPS] = {take_group, sizeof(struct cohort__group_line)},
    [COHORT__LEDGER_JOINS] = {take_join, sizeof(struct cohort__join_line)},
    [COHORT__LEDGER_MODULES] = {take_module, sizeof(struct cohort__module_line)},
    [COHORT__LEDGER_PENDING] = {take_pending, sizeof(struct cohort__pending_line)},
    [COHORT__LEDGER_WORDS] = {take_words, sizeof(struct cohort__words_line)},
    [COHORT__LEDGER_INPUTS] = {take_inputs, sizeof(struct cohort__inputs_line)},
};

/* Takes the first record of the LEFT bytes at NEXT. Returns how many it has; 0: it makes no sense.
 */
static size_t take_record(struct reading *reading, const char *next, size_t left)
{
    _Alignas(64) char record[sizeof(struct head_record)]; /* the largest */
    uint32_t head[2];
    if (left < sizeof(head))
        return 0;
    memcpy(head, next, sizeof(head));
    const uint32_t kind = head[0], bytes = head[1];
    if (kind >= COHORT__LEDGER_NUM_KINDS || !takers[kind].take || bytes > takers[kind].bytes ||
        bytes > left - sizeof(head))
        return 0;
    memset(record, 0, takers[kind].bytes);
    memcpy(record, next + sizeof(head), bytes);
    takers[kind].take(reading, record);
    return sizeof(head) + bytes;
}

cohort_status look_make(struct look **ret_look, const void *copy, size_t bytes)
{
    struct reading reading = {.look = calloc(1, sizeof(*reading.look))};
    size_t done = 0, taken = 1;
    cohort_status status = COHORT_OK;
    while (reading.look && done < bytes && taken > 0) {
        taken = take_record(&reading, (const char *)copy + done, bytes - done);
        done += taken;
    }
    if (!reading.look || reading.has_no_memory)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    else if (reading.view.head.version != COHORT__LEDGER_VERSION)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "the daemon there is of another version");
    else if (done < bytes)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "a look at a locality makes no sense");
    if (status) {
        look_destroy(reading.look);
        return status;
    }
    look_sort(reading.look);
    *ret_look = reading.look;
    return COHORT_OK;
}

/* Copying ------------------------------------------------------------------------------------ */

struct copying {
    FILE *to;
    int pid;
    uint32_t kind;
    uint32_t num; /* lines of that kind, so far */
};

/* The letter of /proc/PID/task/THREAD/stat. */
static char read_state(int pid, uint64_t thread)
{
    char path[80], text[512];
    snprintf(path, sizeof(path), "/proc/%d/task/%llu/stat", pid, (unsigned long long)thread);
    int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return '?';
    ssize_t bytes = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *end = strrchr(text, ')'); /* of the name, in which there may be anything */
    return end && end[1] == ' ' && end[2] ? end[2] : '?';
}

/* Where THREAD sleeps in the kernel, which may not say so. */
static void read_kernel_function(int pid, uint64_t thread, char *ret_name, size_t bytes)
{
    char path[80];
    snprintf(path, sizeof(path), "/proc/%d/task/%llu/wchan", pid, (unsigned long long)thread);
    int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = fd < 0 ? 0 : read(fd, ret_name, bytes - 1);
    if (fd >= 0)
        close(fd);
    ret_name[got > 0 ? got : 0] = '\0';
}

static void put(FILE *to, uint32_t kind, const void *record, size_t bytes)
{
    while (bytes > 0 && ((const char *)record)[bytes - 1] == 0)
        bytes--;
    const uint32_t head[2] = {kind, (uint32_t)bytes};
    fwrite(head, sizeof(head), 1, to);
    fwrite(record, bytes, 1, to);
}

static void put_worker(const struct copying *copying, const struct cohort__worker_line *line)
{
    struct worker_record record = {.state = read_state(copying->pid, line->thread)};
    memcpy(record.line, line, sizeof(record.line));
    if ((record.state == 'S' || record.state == 'D') && !line->is_idle)
        read_kernel_function(copying->pid, line->thread, record.kernel_function,
                             sizeof(record.kernel_function));
    put(copying->to, COHORT__LEDGER_WORKERS, &record, sizeof(record));
}

/* Of more lines than a look takes one is copied, so that it knows that there are more. */
static void put_line(void *context, const void *line)
{
    struct copying *copying = context;
    if (copying->num++ > MAX_LINES)
        return;
    if (copying->kind == COHORT__LEDGER_WORKERS)
        put_worker(copying, line);
    else
        put(copying->to, copying->kind, line, takers[copying->kind].bytes);
}

/* HEAD has the moment. */
static cohort_status copy_view(char **ret_copy, size_t *ret_bytes,
                               const struct cohort__ledger_view *view, struct head_record *head,
                               int pid)
{
    char *copy = NULL;
    struct copying copying = {.to = open_memstream(&copy, ret_bytes), .pid = pid};
    cohort_status status = COHORT_OK;
    if (!copying.to)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    head->state = (unsigned char)read_state(pid, (uint64_t)pid);
    head->is_damaged = view->is_damaged;
    memcpy(&head->ledger, &view->head, sizeof(view->head));
    put(copying.to, 0, head, sizeof(*head));
    for (uint32_t kind = 1; kind < COHORT__LEDGER_NUM_KINDS && !status; kind++) {
        copying.kind = kind;
        copying.num = 0;
        if (takers[kind].take)
            status = cohort__ledger_each(view, (enum cohort__ledger_kind)kind, put_line, &copying);
    }
    const bool has_failed = ferror(copying.to);
    if ((fclose(copying.to) != 0 || has_failed) && !status)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    if (status)
        free(copy);
    else
        *ret_copy = copy;
    return status;
}

cohort_status look_copy(char **ret_copy, size_t *ret_bytes, int memory, uint32_t slot, int pid)
{
    struct cohort__ledger_view view;
    cohort_status status = cohort__ledger_view_init(&view, memory, slot);
    struct head_record head = {.cycles = cohort__clock_cycles(), .mono = cohort__clock_now()};
    return status ? status : copy_view(ret_copy, ret_bytes, &view, &head, pid);
}

/* -------------------------------------------------------------------------------------------- */

cohort_status look_read(struct look **ret_look, int memory, uint32_t slot, int pid)
{
    char *copy = NULL;
    size_t bytes;
    cohort_status status = look_copy(&copy, &bytes, memory, slot, pid);
    if (!status)
        status = look_make(ret_look, copy, bytes);
    free(copy);
    return status;
}

cohort_status look_read_dead(struct look **ret_look, int memory, uint32_t slot, uint64_t now)
{
    struct cohort__ledger_view view;
    char *copy = NULL;
    size_t bytes;
    cohort_status status = cohort__ledger_view_init(&view, memory, slot);
    if (status)
        return status;
    const struct cohort__ledger_moment *last = &view.head.last;
    const uint64_t since = now > last->real ? now - last->real : 0;
    struct head_record head = {.mono = last->mono + since, .tick_age = since};
    status = copy_view(&copy, &bytes, &view, &head, 0);
    if (!status)
        status = look_make(ret_look, copy, bytes);
    free(copy);
    return status;
}

bool look_read_words(int memory, uint32_t slot, char *ret_text, size_t bytes)
{
    struct cohort__ledger_view view;
    struct look look = {.words = ""};
    struct reading reading = {.look = &look};
    if (cohort__ledger_view_init(&view, memory, slot) ||
        cohort__ledger_each(&view, COHORT__LEDGER_WORDS, take_words, &reading) || !look.words[0])
        return false;
    snprintf(ret_text, bytes, "%s", look.words);
    return true;
}

void look_destroy(struct look *look)
{
    if (!look)
        return;
    free(look->sites);
    free(look->groups);
    free(look->joins);
    free(look->waits);
    free(look->inputs);
    free(look->listed);
    free(look->pendings);
    free(look->serves);
    free(look->accounts);
    free(look->workers);
    free(look->modules);
    free(look);
}

/* Whether SEEN, a task that waits, is TASK: one with that address, or, with a stamp, that one. */
static bool is_task(uint64_t seen, uint64_t task)
{
    return task == address_of(task) ? address_of(seen) == task : seen == task;
}

const struct look_wait *look_find_wait(const struct look *look, uint64_t task)
{
    struct look_wait key = {.task = task};
    const struct look_wait *wait = NULL;
    if (task && look->num_waits > 0)
        wait = bsearch(&key, look->waits, look->num_waits, sizeof(key), compare_waits);
    if (wait && !is_task(wait->task, task))
        wait = NULL;
    for (uint32_t i = 0; task && look->num_nested > 0 && !wait && i < look->num_waits; i++)
        if (is_task(look->waits[i].outer, task) || is_task(look->waits[i].outermost, task))
            wait = &look->waits[i];
    return wait;
}

const struct look_inputs *look_find_inputs(const struct look *look, const struct look_wait *wait)
{
    const struct look_inputs key = {.of = wait->what};
    if (wait->kind != COHORT__WAIT_SEVERAL || look->num_inputs == 0)
        return NULL;
    const struct look_inputs *inputs =
        bsearch(&key, look->inputs, look->num_inputs, sizeof(key), compare_inputs);
    return inputs && inputs->seen < wait->age ? inputs : NULL;
}

uint32_t look_num_nodes(const struct look *look)
{
    return look->num_waits + look->num_listed;
}

bool look_is_listed(const struct look *look, const struct look_wait *wait)
{
    const uintptr_t at = (uintptr_t)wait, begin = (uintptr_t)look->listed;
    return at >= begin && at < begin + look->num_listed * sizeof(*wait);
}

uint32_t look_number(const struct look *look, const struct look_wait *wait)
{
    return (uint32_t)(look_is_listed(look, wait) ? look->num_waits + (wait - look->listed)
                                                 : wait - look->waits);
}

const struct look_wait *look_node(const struct look *look, uint32_t number)
{
    return number < look->num_waits ? &look->waits[number]
                                    : &look->listed[number - look->num_waits];
}

bool look_has_to_begin(const struct look_wait *wait)
{
    return wait->task && wait->what == wait->task && wait->kind == COHORT__WAIT_SEVERAL;
}

/* The memory of a future that has ended is used again, so what was seen before the wait began is
 * of another one. But a remote call is listed only until it ends. */
const struct look_pending *look_find_pending(const struct look *look, const struct look_wait *wait)
{
    const struct look_pending key = {.future = wait->what};
    const bool is_known_kind = wait->kind == COHORT__WAIT_COLLECTIVE ||
                               wait->kind == COHORT__WAIT_GET || wait->kind == COHORT__WAIT_SET ||
                               wait->kind == COHORT__WAIT_REMOTE;
    const struct look_pending *pending =
        is_known_kind && wait->what && look->num_pendings > 0
            ? bsearch(&key, look->pendings, look->num_pendings, sizeof(key), compare_pendings)
            : NULL;
    if (!pending || pending->kind != wait->kind)
        return NULL;
    return wait->kind == COHORT__WAIT_REMOTE || pending->age < wait->age ? pending : NULL;
}

/* Its address may be another task's by now. So it tells something only if the wait has been there
 * since before. */
const struct look_wait *look_find_serving(const struct look *look, uint32_t from, uint64_t number)
{
    const struct look_wait *wait = NULL;
    for (uint32_t i = 0; i < look->num_serves && !wait; i++)
        if (look->serves[i].from == from && look->serves[i].number == number) {
            wait = look_find_wait(look, look->serves[i].task);
            if (wait && wait->age <= look->serves[i].age)
                wait = NULL;
        }
    return wait;
}

bool look_is_quiet(const struct look *look)
{
    uint64_t num_known = 0; /* between an outer task and the outermost one there may be others */
    uint32_t num_workers = 0;
    for (uint32_t i = 0; i < look->num_waits; i++) {
        const struct look_wait *wait = &look->waits[i];
        num_known += (wait->function != 0) + (wait->outer != 0) +
                     (wait->outermost != 0 && wait->outermost != wait->outer);
    }
    for (uint32_t i = 0; i < look->num_workers; i++) {
        const struct look_worker *worker = &look->workers[i];
        if (worker->index != UINT32_MAX && !worker->is_idle)
            return false;
        num_workers += worker->index != UINT32_MAX;
    }
    return num_workers > 0 && !look->is_cut && !look->acts_outside &&
           look->stage == COHORT__LEDGER_RUNNING && num_known > 0 && num_known >= look->num_tasks;
}

const struct cohort__module_line *look_find_module(const struct look *look, uint64_t address)
{
    for (uint32_t i = 0; i < look->num_modules; i++)
        if (address >= look->modules[i].begin && address < look->modules[i].end)
            return &look->modules[i];
    return NULL;
}
