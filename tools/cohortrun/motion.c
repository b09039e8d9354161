/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: whether anything moves on this host, and when to say that nothing does. */
#include "tools/cohortrun/motion.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/base/ledger_read.h"
#include "tools/cohortrun/locality.h"

/* A process computes if it has had a fiftieth of a core. Idle ones have a ten-thousandth. Where
 * many others want the cores, each may have had less: then all of them together count. */
enum { COMPUTES_PART = 50, IDLE_PART = 1000 };

/* Looking at what all tasks wait for may take a hundredth of the time of a core. */
enum { READING_PART = 100 };

/* What was seen of a locality. */
struct seen {
    uint64_t moved;
    uint64_t cpu; /* nanoseconds */
    uint32_t stage;
    bool is_written; /* by a program that is not over */
};

struct motion {
    const struct locality *localities;
    uint32_t num;
    int memory;
    uint64_t looked_at; /* 0: never */
    uint64_t next_read; /* of what tasks wait for; */
    bool is_expecting;  /* what that has found, or may have come since */
    struct seen seen[];
};

struct motion *motion_create(const struct locality *localities, uint32_t num, int memory)
{
    struct motion *motion = calloc(1, sizeof(*motion) + num * sizeof(motion->seen[0]));
    if (motion) {
        motion->localities = localities;
        motion->num = num;
        motion->memory = memory;
    }
    return motion;
}

void motion_destroy(struct motion *motion)
{
    free(motion);
}

static uint64_t cpu_by(clockid_t clock)
{
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* 0: there is no such process. */
static uint64_t cpu_of(int pid)
{
    clockid_t clock;
    return pid > 0 && clock_getcpuclockid(pid, &clock) == 0 ? cpu_by(clock) : 0;
}

/* The program that writes the ledger may be a child of the one that was started, a shell. */
static struct seen see(const struct motion *motion, uint32_t slot)
{
    struct cohort__ledger_view view;
    const int pid = motion->localities[slot].guarded.pid;
    struct seen seen = {.cpu = cpu_of(pid)};
    if (motion->memory < 0 || cohort__ledger_view_init(&view, motion->memory, slot))
        return seen;
    seen.moved = view.head.moved;
    seen.stage = view.head.stage;
    seen.is_written = seen.stage < COHORT__LEDGER_OVER;
    seen.cpu += view.head.pid != pid ? cpu_of(view.head.pid) : 0;
    return seen;
}

static bool runs(const struct motion *motion, uint32_t slot)
{
    return motion->localities[slot].guarded.end == GUARDED_RUNS;
}

/* Notes what is there now. Returns whether something has moved in ELAPSED nanoseconds. */
static bool see_all(struct motion *motion, uint64_t elapsed)
{
    bool has_moved = false;
    uint64_t total = 0;
    for (uint32_t slot = 0; slot < motion->num; slot++) {
        struct seen *before = &motion->seen[slot], now = {0};
        if (runs(motion, slot))
            now = see(motion, slot);
        const uint64_t cpu = now.cpu > before->cpu ? now.cpu - before->cpu : 0;
        total += cpu;
        has_moved |= now.moved != before->moved || now.stage != before->stage ||
                     now.is_written != before->is_written || cpu > elapsed / COMPUTES_PART;
        *before = now;
    }
    return has_moved || total > elapsed / COMPUTES_PART + motion->num * (elapsed / IDLE_PART);
}

static void look_for_outside(void *context, const void *line)
{
    const struct cohort__wait_line *wait = line;
    bool *is_expecting = context;
    *is_expecting |= (wait->what & (COHORT__WAIT_KINDS - 1)) == COHORT__WAIT_OUTSIDE;
}

/* Whether a task waits for something from outside. */
static bool is_expecting(struct motion *motion, uint64_t now)
{
    if (now < motion->next_read)
        return motion->is_expecting;
    /* Not by the clock: beside others that want the core that is many times as long. */
    const uint64_t begin = cpu_by(CLOCK_THREAD_CPUTIME_ID);
    motion->is_expecting = false;
    for (uint32_t slot = 0; slot < motion->num && !motion->is_expecting; slot++) {
        struct cohort__ledger_view view;
        if (motion->seen[slot].is_written &&
            cohort__ledger_view_init(&view, motion->memory, slot) == COHORT_OK)
            (void)!cohort__ledger_each(&view, COHORT__LEDGER_WAITS, look_for_outside,
                                       &motion->is_expecting);
    }
    motion->next_read = now + READING_PART * (cpu_by(CLOCK_THREAD_CPUTIME_ID) - begin);
    return motion->is_expecting;
}

enum motion_result motion_look(struct motion *motion, uint64_t now)
{
    const bool is_first = motion->looked_at == 0;
    bool is_written = false;
    const bool has_moved = is_first | see_all(motion, now - motion->looked_at);
    motion->looked_at = now;
    motion->is_expecting |= has_moved;
    for (uint32_t slot = 0; slot < motion->num; slot++)
        is_written |= motion->seen[slot].is_written;
    if (!is_written)
        return MOTION_UNKNOWN;
    return has_moved || is_expecting(motion, now) ? MOTION_MOVES : MOTION_STILL;
}

enum { LOOKS = 5 }; /* so many within the limit at first */
static const uint64_t least_ns = 20000000;

void stall_init(struct stall *stall, uint64_t limit_ns)
{
    const uint64_t interval = limit_ns / LOOKS;
    *stall =
        (struct stall){.limit = limit_ns, .interval = interval > least_ns ? interval : least_ns};
}

void stall_moved(struct stall *stall)
{
    if (stall->is_said && stall->limit < UINT64_MAX / 4)
        stall->limit *= 2;
    stall->is_said = false;
    stall->quiet = 0;
}

bool stall_still(struct stall *stall, uint64_t elapsed)
{
    stall->quiet += elapsed < 2 * stall->interval ? elapsed : 2 * stall->interval;
    if (stall->is_said || stall->quiet < stall->limit)
        return false;
    stall->is_said = true;
    return true;
}
