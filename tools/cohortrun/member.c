/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the process that has joined the job, where a script has started it. */
#include "tools/cohortrun/member.h"

#include <stdbool.h>

#include "runtime/launch/control.h"
#include "runtime/loop/ending.h"
#include "tools/cohortrun/descendants.h"
#include "tools/cohortrun/guarded.h"

/* A script whose last command has been killed ends within some milliseconds. */
static const uint64_t settle_ns = 250000000;

static void stop_watching(struct member *member)
{
    deadline_clear(&member->settle);
    cohort__ending_close(member->ending);
    member->ending = NULL;
}

static void ended(void *context)
{
    struct member *member = context;
    deadline_set(&member->settle, settle_ns);
}

static void settled(void *context)
{
    struct member *member = context;
    stop_watching(member);
    member->lost = member->said;
    member->said = 0;
    member->changed(member->context);
}

void member_init(struct member *member, struct cohort__loop *loop, const struct guarded *guarded,
                 void (*changed)(void *context), void *context)
{
    *member =
        (struct member){.loop = loop, .guarded = guarded, .changed = changed, .context = context};
    deadline_init(&member->settle, loop, settled, member);
}

/* A HELLO may be read before the guardian has told what it has started. */
static void watch(struct member *member)
{
    const int top = member->guarded->pid;
    if (member->said == 0 || top == 0 || member->ending || member->guarded->end != GUARDED_RUNS)
        return;
    if (member->said == top || !descendants_include(top, member->said))
        return;
    (void)!cohort__ending_open(&member->ending, member->loop, member->said, ended, member);
}

static cohort_status take(void *context, const struct cohort__control *control)
{
    struct member *member = context;
    if (control->kind != COHORT__CONTROL_HELLO && control->kind != COHORT__CONTROL_BYE)
        return COHORT_OK;
    stop_watching(member);
    member->said = control->kind == COHORT__CONTROL_HELLO ? (int)control->pid : 0;
    bool was_lost = member->lost != 0;
    member->lost = 0;
    if (was_lost)
        member->changed(member->context);
    watch(member);
    return COHORT_OK;
}

void member_heard(struct member *member, const void *message, size_t bytes)
{
    /* What makes no sense is for the launcher to refuse. */
    (void)!cohort__control_read(message, bytes, "a locality", take, member);
}

void member_guarded_changed(struct member *member)
{
    if (member->guarded->end == GUARDED_RUNS)
        watch(member);
    else
        stop_watching(member);
}

void member_close(struct member *member)
{
    stop_watching(member);
}
