/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/status/look.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/ledger.h"
#include "runtime/base/ledger_read.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"
#include "tools/cohortrun/status/symbols.h"
#include "tests/support/thread.h"

/* This process writes a ledger, and looks at it. */

static struct look *look_here(void)
{
    struct look *look = NULL;
    uint32_t slot;
    int memory;
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(look_read(&look, memory, slot, getpid()));
    close(memory);
    return look;
}

static struct cohort__wait_line *wait_line(uintptr_t task, uintptr_t what)
{
    struct cohort__wait_line *line = cohort__ledger_take(COHORT__LEDGER_WAITS);
    CHECK(line);
    line->caller = 0x10;
    line->what = what;
    line->function = 0x20;
    line->task = task;
    line->since = cohort__clock_cycles();
    return line;
}

TEST(head)
{
    cohort__ledger_introduce(3, 8, 9, 1);
    cohort__ledger_enter_stage(COHORT__LEDGER_RETURNED, COHORT_ERR_STATE);
    struct look *look = look_here();
    CHECK_INT(look->rank, 3);
    CHECK_INT(look->size, 8);
    CHECK_INT(look->stage, COHORT__LEDGER_RETURNED);
    CHECK_INT(look->status, COHORT_ERR_STATE);
    CHECK(look->stage_age < 60 * UINT64_C(1000000000));
    CHECK(!look->is_cut && !look->is_stopped);
    look_destroy(look);
    look_destroy(NULL);
}

TEST(waits)
{
    struct cohort__wait_line *lines[] = {wait_line(0x300, 0x900 + COHORT__WAIT_MUTEX),
                                         wait_line(0x100, COHORT__WAIT_YIELD),
                                         wait_line(0x200 + 1, 0x910 + COHORT__WAIT_GET)};
    lines[2]->outer = 0x700;
    lines[2]->outermost = 0x800;
    struct look *look = look_here();
    CHECK_INT(look->num_waits, 3);
    CHECK_INT(look->num_nested, 1);
    const struct look_wait *wait = look_find_wait(look, 0x300);
    CHECK(wait && wait->kind == COHORT__WAIT_MUTEX && wait->what == 0x900 && wait->caller == 0x10);
    CHECK(wait->function == 0x20 && wait->outer == 0 && wait->age < UINT64_C(60000000000));
    CHECK_INT(look_find_wait(look, 0x100)->kind, COHORT__WAIT_YIELD);
    wait = look_find_wait(look, 0x200);
    CHECK(wait && wait->outer == 0x700 && wait->what == 0x910);
    CHECK(look_find_wait(look, 0x700) == wait); /* it waits where the one that it runs waits */
    CHECK(look_find_wait(look, 0x800) == wait);
    CHECK(!look_find_wait(look, 0x400) && !look_find_wait(look, 0));
    look_destroy(look);
    for (int i = 0; i < 3; i++)
        cohort__ledger_give_back(COHORT__LEDGER_WAITS, lines[i]);
    look = look_here();
    CHECK_INT(look->num_waits, 0);
    CHECK(!look_find_wait(look, 0x300));
    look_destroy(look);
}

TEST(communicators)
{
    struct cohort__site_line *site = cohort__ledger_take(COHORT__LEDGER_SITES);
    struct cohort__group_line *group = cohort__ledger_take(COHORT__LEDGER_GROUPS);
    struct cohort__join_line *join = cohort__ledger_take(COHORT__LEDGER_JOINS);
    site->last_called = 7;
    site->task = 0x100;
    site->site = 2;
    site->rank = 3;
    group->num_sites = 4;
    memset(group->name, 'x', sizeof(group->name)); /* without an end */
    join->site = 5;
    join->num_sites = 6;
    join->future = 0x900;
    join->kind = COHORT__JOIN_SHRINK;
    join->parent = 77;
    join->of_site = 8;
    snprintf(join->name, sizeof(join->name), "row");
    site->instance = group->instance = 9;
    join->since = cohort__clock_now();
    struct look *look = look_here();
    CHECK(look->num_sites == 1 && look->num_groups == 1 && look->num_joins == 1);
    CHECK(look->sites[0].instance == 9 && look->sites[0].last_called == 7);
    CHECK(look->sites[0].task == 0x100 && look->sites[0].site == 2 && look->sites[0].rank == 3);
    CHECK(look->groups[0].instance == 9 && look->groups[0].num_sites == 4);
    CHECK_INT(strlen(look->groups[0].name), sizeof(look->groups[0].name) - 1);
    CHECK(look->joins[0].site == 5 && look->joins[0].num_sites == 6);
    CHECK_INT(look->joins[0].kind, COHORT__JOIN_SHRINK);
    CHECK(look->joins[0].parent == 77 && look->joins[0].of_site == 8);
    CHECK(look->joins[0].future == 0x900 && look->joins[0].age < UINT64_C(60000000000));
    CHECK_TEXT(look->joins[0].name, "row");
    look_destroy(look);
    cohort__ledger_give_back(COHORT__LEDGER_SITES, site);
    cohort__ledger_give_back(COHORT__LEDGER_GROUPS, group);
    cohort__ledger_give_back(COHORT__LEDGER_JOINS, join);
}

/* What is in flight explains a wait only if it was seen after that began. */
TEST(pending)
{
    struct cohort__pending_line *line = cohort__ledger_take(COHORT__LEDGER_PENDING);
    struct cohort__wait_line *before = wait_line(0x100, 0x900 + COHORT__WAIT_COLLECTIVE);
    line->num = 2 + COHORT__LEDGER_PENDING_MOST; /* of which so many have a place */
    line->instance = 9;
    line->site = 1;
    line->of[0].future = 0x910;
    line->of[0].number = 5;
    line->of[0].site = 2;
    line->of[0].kind = COHORT__WAIT_GET;
    line->of[1].future = 0x900;
    line->of[1].number = 7;
    line->of[1].kind = COHORT__WAIT_COLLECTIVE;
    line->described = 7;
    snprintf(line->text, sizeof(line->text), "waits for site 0");
    while (line->at <= before->since)
        line->at = cohort__clock_cycles();
    struct cohort__wait_line *after = wait_line(0x200, 0x910 + COHORT__WAIT_GET);
    struct cohort__wait_line *other = wait_line(0x300, 0x900 + COHORT__WAIT_GET);
    while (after->since <= line->at)
        after->since = cohort__clock_cycles();
    other->since = before->since;
    struct look *look = look_here();
    const struct look_pending *pending = look_find_pending(look, look_find_wait(look, 0x100));
    CHECK(pending && pending->number == 7 && pending->instance == 9);
    CHECK(!look_find_pending(look, look_find_wait(look, 0x200)));
    CHECK(!look_find_pending(look, look_find_wait(look, 0x300))); /* of another kind */
    CHECK_INT(look->num_pendings, COHORT__LEDGER_PENDING_MOST);
    CHECK(look->num_accounts == 1 && look->accounts[0].generation == 7);
    CHECK_TEXT(look->accounts[0].text, "waits for site 0");
    look_destroy(look);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, before);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, after);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, other);
    cohort__ledger_give_back(COHORT__LEDGER_PENDING, line);
}

/* What is in flight explains a wait only if it is of the same kind. */
TEST(pending_kinds)
{
    static const enum cohort__wait_kind kinds[] = {COHORT__WAIT_COLLECTIVE, COHORT__WAIT_GET,
                                                   COHORT__WAIT_SET, COHORT__WAIT_REMOTE};
    enum { NUM = NUM_OF(kinds) };
    struct cohort__wait_line *wait = wait_line(0x100, 0);
    struct cohort__pending_line *line = cohort__ledger_take(COHORT__LEDGER_PENDING);
    line->num = 1;
    line->of[0].future = 0x900;
    while (line->at <= wait->since)
        line->at = cohort__clock_cycles();
    for (int i = 0; i < COHORT__WAIT_KINDS; i++)
        for (int k = 0; k < 2 * NUM; k++) {
            const bool needs_all = k >= NUM;
            wait->what = 0x900 + (uintptr_t)i;
            line->of[0].kind = kinds[k % NUM] | (needs_all ? COHORT__PENDING_NEEDS_ALL : 0U);
            struct look *look = look_here();
            const struct look_pending *pending =
                look_find_pending(look, look_find_wait(look, 0x100));
            CHECK_INT(pending != NULL, i == (int)kinds[k % NUM]);
            CHECK(!pending || (pending->kind == kinds[k % NUM] && pending->needs_all == needs_all));
            look_destroy(look);
        }
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, wait);
    cohort__ledger_give_back(COHORT__LEDGER_PENDING, line);
}

/* Which task works on a call of another locality, if it has not ended since. */
TEST(serving)
{
    struct cohort__wait_line *before = wait_line(0x100 | UINT64_C(7) << 48, 0x900);
    struct cohort__pending_line *line = cohort__ledger_take(COHORT__LEDGER_PENDING);
    line->num = 2;
    for (uint32_t i = 0; i < 2; i++) {
        line->of[i].kind = COHORT__WAIT_TASK;
        line->of[i].site = 3;
        line->of[i].number = 7 + i;
        line->of[i].future = 0x100 + 0x100 * i;
    }
    while (line->at <= before->since)
        line->at = cohort__clock_cycles();
    struct cohort__wait_line *after = wait_line(0x200, 0x900);
    while (after->since <= line->at)
        after->since = cohort__clock_cycles();
    struct look *look = look_here();
    CHECK(look->num_serves == 2 && look->num_pendings == 0);
    const struct look_wait *wait = look_find_serving(look, 3, 7);
    CHECK(wait && wait->task == (0x100 | UINT64_C(7) << 48));
    CHECK(!look_find_serving(look, 3, 8)); /* that task has begun to wait since */
    CHECK(!look_find_serving(look, 3, 9) && !look_find_serving(look, 2, 7));
    look_destroy(look);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, before);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, after);
    cohort__ledger_give_back(COHORT__LEDGER_PENDING, line);
}

/* Of one that is dead ages are as of a moment that is given. */
TEST(dead)
{
    struct cohort__wait_line *line = wait_line(0x100, 0x900);
    struct cohort__ledger_view view;
    struct look *look = NULL;
    uint32_t slot;
    int memory;
    while (cohort__clock_cycles() <= line->since)
        ;
    cohort__ledger_tick(1, 12, true);
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(cohort__ledger_view_init(&view, memory, slot));
    const uint64_t last = view.head.last.real, hour = UINT64_C(3600000000000);
    CHECK_OK(look_read_dead(&look, memory, slot, last + hour));
    CHECK(look->num_waits == 1 && look->num_tasks == 12 && look->acts_outside);
    CHECK(look->tick_age == hour);
    CHECK(look->waits[0].age > hour && look->waits[0].age < hour + hour / 60);
    look_destroy(look);
    CHECK_OK(look_read_dead(&look, memory, slot, 0)); /* not before its last tick */
    CHECK(look->tick_age == 0 && look->waits[0].age > 0 && look->waits[0].age < hour / 60);
    look_destroy(look);
    close(memory);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, line);
}

TEST(worker)
{
    struct cohort__worker_line *line = cohort__ledger_take(COHORT__LEDGER_WORKERS);
    line->seen_at = cohort__clock_cycles();
    line->index = 4;
    line->thread = (uint64_t)gettid();
    struct look *look = look_here();
    CHECK_INT(look->num_workers, 1);
    CHECK_INT(look->workers[0].index, 4);
    CHECK_INT(look->workers[0].state, 'R'); /* it is this one */
    look_destroy(look);
    line->thread = UINT32_MAX; /* there is none with this number */
    look = look_here();
    CHECK_INT(look->workers[0].state, '?');
    look_destroy(look);
    cohort__ledger_give_back(COHORT__LEDGER_WORKERS, line);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *want_mutex(void *arg)
{
    struct cohort__worker_line *line = arg;
    atomic_store(&line->thread, (uint64_t)gettid());
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* A thread that has something to do waits for a mutex, and has not turned its loop for long. */
TEST(blocked)
{
    struct cohort__worker_line *line = cohort__ledger_take(COHORT__LEDGER_WORKERS);
    struct look *look;
    char state = 'R';
    line->seen_at = 1;
    pthread_mutex_lock(&mutex);
    pthread_t thread = new_thread(want_mutex, line);
    while (state != 'S') {
        look = look_here();
        state = look->num_workers > 0 ? look->workers[0].state : 'R';
        if (state == 'S')
            CHECK(look_is_blocked(&look->workers[0]));
        look_destroy(look);
    }
    look = look_here();
    struct look_worker worker = look->workers[0];
    look_destroy(look);
    CHECK(worker.kernel_function[0] == '\0' || strstr(worker.kernel_function, "futex"));
    worker.is_idle = true;
    CHECK(!look_is_blocked(&worker));
    worker.is_idle = false;
    worker.index = UINT32_MAX;
    CHECK(!look_is_blocked(&worker));
    worker.index = 0;
    worker.age = LOOK_BUSY_NS - 1;
    CHECK(!look_is_blocked(&worker));
    line->is_idle = 1;
    line->seen_at = 0; /* it has not begun */
    look = look_here();
    CHECK(look->workers[0].is_idle && look->workers[0].age == 0);
    look_destroy(look);
    pthread_mutex_unlock(&mutex);
    end_thread(thread);
    cohort__ledger_give_back(COHORT__LEDGER_WORKERS, line);
}

/* --- names of functions, of this program --- */

static void check_name(const struct cohort__module_line *module, uintptr_t address,
                       const char *want)
{
    struct symbols *symbols = symbols_create();
    char text[128];
    symbols_name(symbols, module, address, text, sizeof(text));
    CHECK_TEXT(text, want);
    symbols_name(symbols, module, address, text, sizeof(text)); /* again, from what is kept */
    CHECK_TEXT(text, want);
    symbols_destroy(symbols);
}

TEST(symbols)
{
    const uintptr_t here = (uintptr_t)check_name;
    char want[64];
    struct look *look = look_here();
    const struct cohort__module_line *module = look_find_module(look, here);
    CHECK(module);
    check_name(module, here, "check_name");
    check_name(module, here + 4, "check_name+0x4");
    CHECK(!look_find_module(look, 0));
    check_name(NULL, 0x7f, "0x7f");
    /* A file that is another one, or none, or is gone, has no names for us. */
    struct cohort__module_line wrong = *module;
    const char *base = strrchr(module->path, '/') + 1;
    snprintf(want, sizeof(want), "%s+0x%llx", base, (unsigned long long)(here - module->bias));
    wrong.build_id[0] ^= 1;
    check_name(&wrong, here, module->build_id_bytes ? want : "check_name");
    wrong = *module;
    snprintf(wrong.path, sizeof(wrong.path), "/proc/self/environ");
    snprintf(want, sizeof(want), "environ+0x%llx", (unsigned long long)(here - module->bias));
    check_name(&wrong, here, want);
    snprintf(wrong.path, sizeof(wrong.path), "/none/environ");
    check_name(&wrong, here, want);
    /* Without memory for symbols. */
    char text[64];
    symbols_name(NULL, &wrong, here, text, sizeof(text));
    CHECK_TEXT(text, want);
    CHECK(!symbols_line(NULL, module, here, text, sizeof(text)));
    look_destroy(look);
}

static uintptr_t __attribute__((noinline)) return_address(void)
{
    return (uintptr_t)__builtin_return_address(0);
}

/* The line is that of the call, or none is known; never one of a file that is another one. */
TEST(lines)
{
    struct look *look = look_here();
    struct symbols *symbols = symbols_create();
    struct cohort__module_line wrong;
    char text[64] = "", want[64];
    const int line = __LINE__ + 1;
    const uintptr_t here = return_address();
    const struct cohort__module_line *module = look_find_module(look, here);
    if (symbols_line(symbols, module, here, text, sizeof(text))) {
        snprintf(want, sizeof(want), "test_look.c:%d", line);
        CHECK_TEXT(text, want);
    }
    wrong = *module;
    wrong.build_id[0] ^= 1;
    CHECK(module->build_id_bytes == 0 || !symbols_line(symbols, &wrong, here, text, sizeof(text)));
    CHECK(!symbols_line(symbols, NULL, here, text, sizeof(text)));
    symbols_destroy(symbols);
    look_destroy(look);
}

static struct cohort__inputs_line *inputs_line(uintptr_t of, uintptr_t function)
{
    struct cohort__inputs_line *line = cohort__ledger_take(COHORT__LEDGER_INPUTS);
    CHECK(line);
    line->of = of;
    line->function = function;
    line->num = 12;
    line->wanted = 11;
    for (unsigned i = 0; i < COHORT__LEDGER_INPUTS_MOST - 1; i++)
        line->what[i] = 0x900 + 0x10 * i + COHORT__WAIT_GET;
    line->since = cohort__clock_cycles() - cohort__clock_cycles_of(2000000000);
    line->seen_at = cohort__clock_cycles() - cohort__clock_cycles_of(100000000);
    return line;
}

static void check_inputs(const struct look *look, const struct look_inputs *inputs)
{
    CHECK(inputs && inputs->num == 12 && inputs->wanted == 11 && inputs->scope == 0);
    CHECK_INT(inputs->num_listed, COHORT__LEDGER_INPUTS_MOST - 1);
    CHECK(inputs->first + inputs->num_listed <= look->num_listed);
    for (unsigned i = 0; i < inputs->num_listed; i++) {
        const struct look_wait *input = &look->listed[inputs->first + i];
        CHECK(input->what == 0x900 + 0x10 * i && input->kind == COHORT__WAIT_GET);
        CHECK(look_is_listed(look, input) && !look_has_to_begin(input));
        CHECK(look_node(look, look_number(look, input)) == input);
    }
}

/* Those of a combinator, of a task that has yet to begin, and of a scope. */
TEST(inputs)
{
    struct cohort__wait_line *wait = wait_line(0x300 + 2 + 4, 0x7000 + COHORT__WAIT_SEVERAL);
    struct cohort__inputs_line *lines[] = {inputs_line(0x8000, 0x20), inputs_line(0x7000, 0),
                                           inputs_line(0x6000, 0)};
    wait->since = lines[1]->since; /* before the line was seen */
    wait->range = 0x4000;
    wait->scope = lines[0]->scope = lines[2]->scope = 0x5000;
    lines[2]->kind = COHORT__INPUTS_CANCELLED;
    lines[2]->what[0] = 0;
    struct look *look = look_here();
    CHECK(look->num_inputs == 3 && look->num_waits == 2);
    const struct look_wait *first = look_find_wait(look, 0x300);
    CHECK(first && first->scope == 0x5000 && first->range == 0x4000);
    CHECK(!look_has_to_begin(first));
    CHECK(!look_is_listed(look, first) && look_node(look, look_number(look, first)) == first);
    check_inputs(look, look_find_inputs(look, first));
    const struct look_wait *task = look_find_wait(look, 0x8000);
    CHECK(task && look_has_to_begin(task) && task->scope == 0x5000 && task->function == 0x20);
    check_inputs(look, look_find_inputs(look, task));
    const struct look_wait end = {.age = 1000000000, .what = 0x6000, .kind = COHORT__WAIT_SEVERAL};
    const struct look_wait later = {.age = 50000000, .what = 0x6000, .kind = COHORT__WAIT_SEVERAL};
    CHECK(!look_find_inputs(look, &later)); /* the line is of one that had the address before */
    const struct look_inputs *scope = look_find_inputs(look, &end);
    CHECK(scope && scope->scope == 0x5000 && scope->is_cancelled && scope->num_listed == 0);
    const struct look_wait other = {.what = 0x7000, .kind = COHORT__WAIT_PLAIN};
    CHECK(!look_find_inputs(look, &other));
    look_destroy(look);
    for (int i = 0; i < 3; i++)
        cohort__ledger_give_back(COHORT__LEDGER_INPUTS, lines[i]);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, wait);
    look = look_here();
    CHECK(look->num_inputs == 0 && look->num_listed == 0 && !look_find_inputs(look, &end));
    look_destroy(look);
}

/* --- copies --- */

static char *copy_here(size_t *ret_bytes)
{
    char *copy = NULL;
    uint32_t slot;
    int memory;
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(look_copy(&copy, ret_bytes, memory, slot, getpid()));
    close(memory);
    return copy;
}

/* The bytes of the first record of COPY, with its kind and length in front. */
static size_t bytes_of_first(const char *copy)
{
    uint32_t bytes;
    memcpy(&bytes, copy + 4, sizeof(bytes));
    return 8 + bytes;
}

/* From a part of a copy there is a look only where a record ends. */
TEST(copied)
{
    struct cohort__wait_line *line = wait_line(0x300, 0x900 + COHORT__WAIT_MUTEX);
    struct look *look = NULL;
    size_t bytes, next = 0;
    char *copy = copy_here(&bytes);
    for (size_t cut = 0; cut <= bytes; cut++) {
        char *part = malloc(cut + 1); /* so that reading behind it is noticed */
        CHECK(part);
        memcpy(part, copy, cut);
        const bool is_end = cut > 0 && cut == next;
        CHECK_INT(look_make(&look, part, cut), is_end ? COHORT_OK : COHORT_ERR_PROTOCOL);
        if (is_end && cut == bytes)
            CHECK(look_find_wait(look, 0x300)->what == 0x900 && look->num_modules > 0);
        if (is_end)
            look_destroy(look);
        if (cut == next && cut < bytes)
            next += bytes_of_first(copy + cut);
        free(part);
    }
    CHECK_INT(next, bytes);
    const uint32_t kinds[] = {COHORT__LEDGER_TRACE, COHORT__LEDGER_NUM_KINDS, UINT32_MAX};
    for (size_t i = 0; i < NUM_OF(kinds); i++) {
        memcpy(copy + bytes_of_first(copy), &kinds[i], sizeof(kinds[i]));
        CHECK_FAILS(look_make(&look, copy, bytes), COHORT_ERR_PROTOCOL, "makes no sense");
    }
    free(copy);
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, line);
}

TEST(other_version)
{
    struct look *look = NULL;
    size_t bytes;
    char *copy = copy_here(&bytes);
    const uint64_t magic = COHORT__LEDGER_MAGIC;
    char *head = memmem(copy, bytes, &magic, sizeof(magic));
    CHECK(head);
    head[offsetof(struct cohort__ledger_head, version)]++;
    CHECK_FAILS(look_make(&look, copy, bytes), COHORT_ERR_PROTOCOL, "of another version");
    free(copy);
}

/* What the kernel says, or a daemon in its place. */
TEST(kernel_function)
{
    static const char *const names[][2] = {
        {"futex_wait_queue", "futex_wait_queue"},
        {"0", ""},
        {"\033[1m", ""},
        {"a123456789b123456789c123456789d123456789", "a123456789b123456789c123456789d12345678"}};
    enum { LINE = offsetof(struct cohort__worker_line, events) };
    size_t bytes;
    char *copy = copy_here(&bytes);
    const size_t before = bytes_of_first(copy);
    for (int i = 0; i < 4; i++) {
        struct look *look = NULL;
        const size_t length = strlen(names[i][0]);
        const uint32_t head[2] = {COHORT__LEDGER_WORKERS, (uint32_t)(LINE + 1 + length)};
        char made[8192] = "";
        CHECK(before + sizeof(head) + head[1] < sizeof(made));
        memcpy(made, copy, before);
        memcpy(made + before, head, sizeof(head));
        made[before + sizeof(head) + LINE] = 'S';
        memcpy(made + before + sizeof(head) + LINE + 1, names[i][0], length);
        CHECK_OK(look_make(&look, made, before + sizeof(head) + head[1]));
        CHECK(look->num_workers == 1 && look->workers[0].state == 'S');
        CHECK_TEXT(look->workers[0].kernel_function, names[i][1]);
        look_destroy(look);
    }
    free(copy);
}

static bool ends(const char *text, size_t bytes)
{
    return strnlen(text, bytes) < bytes;
}

/* What those who read a look rely on. */
static void check_sound(const struct look *look)
{
    CHECK(ends(look->words, sizeof(look->words)));
    for (uint32_t i = 0; i < look->num_groups; i++)
        CHECK(ends(look->groups[i].name, sizeof(look->groups[i].name)));
    for (uint32_t i = 0; i < look->num_joins; i++)
        CHECK(ends(look->joins[i].name, sizeof(look->joins[i].name)) &&
              (unsigned)look->joins[i].kind <= COHORT__JOIN_AGREEMENT);
    for (uint32_t i = 0; i < look_num_nodes(look); i++)
        CHECK((unsigned)look_node(look, i)->kind < COHORT__WAIT_KINDS);
    for (uint32_t i = 0; i < look->num_inputs; i++)
        CHECK(look->inputs[i].first <= look->num_listed &&
              look->inputs[i].num_listed <= look->num_listed - look->inputs[i].first);
    for (uint32_t i = 0; i < look->num_pendings; i++)
        CHECK(ends(look->pendings[i].name, sizeof(look->pendings[i].name)) &&
              (unsigned)look->pendings[i].kind < COHORT__WAIT_KINDS);
    for (uint32_t i = 0; i < look->num_accounts; i++)
        CHECK(ends(look->accounts[i].text, sizeof(look->accounts[i].text)));
    for (uint32_t i = 0; i < look->num_modules; i++)
        CHECK(ends(look->modules[i].path, sizeof(look->modules[i].path)) &&
              look->modules[i].build_id_bytes <= sizeof(look->modules[i].build_id));
}

/* A copy whose lines have anything in them: of a daemon that is wrong, or a process that is. */
TEST(damaged)
{
    size_t whole;
    char *copy = copy_here(&whole);
    struct cohort__random random = cohort__random_seeded(4713);
    for (uint64_t round = 0; round < test_rounds(20000, 500); round++) {
        char made[32768];
        struct look *look = NULL;
        size_t bytes = bytes_of_first(copy);
        memcpy(made, copy, bytes);
        for (int i = 0; i < 12; i++) {
            const uint32_t kind = (uint32_t)cohort__random_below(&random, COHORT__LEDGER_NUM_KINDS);
            const uint32_t most =
                cohort__ledger_stride(kind) < 1500 ? cohort__ledger_stride(kind) : 64;
            const uint32_t head[2] = {kind, (uint32_t)cohort__random_below(&random, most + 1)};
            if (kind == 0 || kind == COHORT__LEDGER_TRACE || kind == COHORT__LEDGER_COUNTERS)
                continue;
            memcpy(made + bytes, head, sizeof(head));
            bytes += sizeof(head);
            for (uint32_t k = 0; k < head[1]; k++)
                made[bytes++] =
                    (char)(cohort__random_below(&random, 4) ? cohort__random_below(&random, 256)
                                                            : 0xff);
        }
        CHECK_OK(look_make(&look, made, bytes));
        check_sound(look);
        look_destroy(look);
    }
    free(copy);
}

TEST(not_begun)
{
    struct look *look = NULL;
    int memory;
    CHECK_OK(cohort__ledger_create(&memory, 2));
    CHECK_INT(look_read(&look, memory, 1, 0), COHORT_ERR_PROTOCOL);
    CHECK(!look);
    close(memory);
}
