/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/launch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/list.h"
#include "runtime/base/random.h"
#include "runtime/launch/control.h"
#include "runtime/launch/launcher.h"
#include "runtime/names/limits.h"
#include "runtime/names/home.h"
#include "runtime/proc/registry.h"
#include "tests/support/test.h"

enum { READ_ONE_IN = 3 };
/* So long one who is accused may take to end by itself, or its accuser. */
static const uint64_t GRACE = 20000000;

struct letter {
    struct cohort__list link;
    size_t bytes;
    unsigned char data[];
};

/* What the launcher knows of a locality, and the lines between them. */
struct line {
    struct launch *launch;
    uint32_t rank;
    struct cohort__process *process;
    struct cohort__list up, down; /* under the lock */
    atomic_bool has_ended;        /* nothing is written any more; written under it */
    atomic_bool is_noticed;       /* by the launcher, who has read what there was */
    atomic_bool may_end;
    uint64_t kill_at; /* as cohort__clock_now, or 0: not accused */
    uint32_t accused_by;
};

struct launch {
    pthread_mutex_t lock;
    struct cohort__random random;
    struct cohort__launcher *launcher;
    uint64_t resume_at; /* as cohort__clock_now, or 0 */
    void (*kill)(void *context, uint32_t rank);
    void *context;
    bool keeps_going;
    uint32_t num_lines;
    struct line lines[];
};

static void do_nothing(void)
{
}

static void (*enter)(void) = do_nothing;
static void (*leave)(void) = do_nothing;

void launch_watch(void (*enters)(void), void (*leaves)(void))
{
    enter = enters;
    leave = leaves;
}

/* Lines -------------------------------------------------------------------------------------- */

static void put(struct line *line, struct cohort__list *list, const void *data, size_t bytes)
{
    struct letter *letter = test_malloc(sizeof(*letter) + bytes);
    letter->bytes = bytes;
    memcpy(letter->data, data, bytes);
    pthread_mutex_lock(&line->launch->lock);
    if (line->has_ended)
        free(letter);
    else
        cohort__list_push_back(list, &letter->link);
    pthread_mutex_unlock(&line->launch->lock);
}

static struct letter *get(struct line *line, struct cohort__list *list)
{
    pthread_mutex_lock(&line->launch->lock);
    struct cohort__list *link = cohort__list_pop_front(list);
    pthread_mutex_unlock(&line->launch->lock);
    return link ? COHORT_CONTAINER_OF(link, struct letter, link) : NULL;
}

static void drop(struct line *line, struct cohort__list *list)
{
    for (struct letter *letter; (letter = get(line, list));)
        free(letter);
}

static void say(struct line *line, const struct cohort__control *control)
{
    struct cohort__packer packer = {0};
    enter();
    cohort__control_pack(&packer, control);
    CHECK_OK(packer.status);
    put(line, &line->up, packer.data, packer.bytes);
    cohort__packer_fini(&packer);
    leave();
}

/* A locality --------------------------------------------------------------------------------- */

/* The launcher's text begins with the name of who has died. */
static void died(struct line *line, const struct cohort__control *control)
{
    struct cohort__death death = {.rank = control->rank, .order = control->order};
    char name[32];
    size_t bytes = (size_t)snprintf(name, sizeof(name), "locality %u ", control->rank);
    CHECK(strlen(control->text) > bytes);
    cohort__death_set_why(&death, control->text + bytes, strlen(control->text) - bytes);
    cohort__process_death_told(line->process, &death);
}

static cohort_status hear(void *context, const struct cohort__control *control)
{
    struct line *line = context;
    struct cohort__process_traffic traffic;
    leave();
    switch (control->kind) {
    case COHORT__CONTROL_DIED:
        died(line, control);
        break;
    case COHORT__CONTROL_LETTER:
        cohort__registry_message(cohort__process_registry(line->process), COHORT__HOME_LAUNCHER,
                                 control->letter.data, control->letter.bytes);
        break;
    case COHORT__CONTROL_COUNT:
        traffic = cohort__process_traffic(line->process);
        say(line, &(struct cohort__control){.kind = COHORT__CONTROL_COUNTS,
                                            .round = control->round,
                                            .sent = traffic.sent,
                                            .received = traffic.received,
                                            .busy = traffic.busy});
        break;
    case COHORT__CONTROL_EXIT:
        line->may_end = true;
        break;
    default: /* what a locality knows here by itself */
        break;
    }
    enter();
    return COHORT_OK;
}

static void accuse(void *context, uint32_t rank, bool at_fault, const char *why)
{
    say(context,
        &(struct cohort__control){
            .kind = COHORT__CONTROL_ACCUSE, .rank = rank, .at_fault = at_fault, .text = why});
}

static void write_letter(void *context, const void *data, size_t bytes)
{
    say(context,
        &(struct cohort__control){.kind = COHORT__CONTROL_LETTER, .letter = {data, bytes}});
}

void launch_set_options(struct launch *launch, uint32_t rank,
                        struct cohort__process_options *options)
{
    options->accuse = accuse;
    options->letter = launch->keeps_going ? write_letter : NULL;
    options->launcher = &launch->lines[rank];
}

/* For what still runs of it. */
static void break_names(struct line *line)
{
    static const char text[] = "this locality has ended";
    struct cohort__packer packer = {0};
    cohort__pack_map(&packer, 3);
    cohort__pack_field_unsigned(&packer, "type", COHORT__REGISTRY_BROKEN);
    cohort__pack_field_signed(&packer, "status", COHORT_ERR_PEER_DIED);
    cohort__pack_field_bytes(&packer, "text", text, sizeof(text) - 1);
    cohort__registry_message(cohort__process_registry(line->process), COHORT__HOME_LAUNCHER,
                             packer.data, packer.bytes);
    cohort__packer_fini(&packer);
}

/* The launcher ------------------------------------------------------------------------------- */

static void on_send(void *context, uint32_t rank, const void *message, size_t bytes)
{
    struct launch *launch = context;
    put(&launch->lines[rank], &launch->lines[rank].down, message, bytes);
}

static void on_pause(void *context, uint64_t nanoseconds)
{
    ((struct launch *)context)->resume_at = cohort__clock_after(nanoseconds);
}

/* Only because of a death, and in a job that goes on because nobody is left. */
static void on_broken(void *context, uint32_t rank, const char *text)
{
    const struct launch *launch = context;
    bool any = false, all = true;
    for (uint32_t i = 0; i < launch->num_lines; i++) {
        any |= launch->lines[i].has_ended;
        all &= launch->lines[i].has_ended;
    }
    if (launch->keeps_going ? !all : !any)
        FAIL("the job of locality %u breaks: %s", rank, text);
}

static void on_died(void *context, uint32_t rank, uint32_t num_living, const char *text)
{
}

static void on_accused(void *context, uint32_t rank, uint32_t by, bool at_fault, const char *text)
{
    struct line *line = &((struct launch *)context)->lines[rank];
    (void)at_fault; /* all are on one host */
    if (line->kill_at > 0)
        return;
    line->kill_at = cohort__clock_after(GRACE);
    line->accused_by = by;
}

static void on_aborted(void *context, uint32_t rank, int code, const char *reason)
{
    FAIL("locality %u aborts with %d: %s", rank, code, reason);
}

/* The accused one lives, and so does its accuser. */
static bool is_to_be_killed(const struct launch *launch, const struct line *line)
{
    return line->kill_at > 0 && !line->has_ended && !launch->lines[line->accused_by].is_noticed &&
           cohort__clock_now() >= line->kill_at;
}

static void notice(struct launch *launch, struct line *line)
{
    char text[64];
    snprintf(text, sizeof(text), "locality %u was killed", (unsigned)line->rank);
    line->is_noticed = true;
    drop(line, &line->up);
    cohort__launcher_ended(launch->launcher, line->rank, true, text);
}

/* It may notice that somebody has ended before it has read all that this one has written. */
static void turn_line(struct launch *launch, struct line *line)
{
    struct letter *letter = line->is_noticed ? NULL : get(line, &line->up);
    if (letter)
        cohort__launcher_message(launch->launcher, line->rank, letter->data, letter->bytes);
    if (!line->is_noticed && line->has_ended &&
        (!letter || cohort__random_below(&launch->random, READ_ONE_IN) == 0))
        notice(launch, line);
    free(letter);
    letter = cohort__random_below(&launch->random, READ_ONE_IN) ? NULL : get(line, &line->down);
    if (letter && !line->has_ended)
        CHECK_OK(cohort__control_read(letter->data, letter->bytes, "the launcher", hear, line));
    free(letter);
    if (is_to_be_killed(launch, line))
        launch->kill(launch->context, line->rank);
}

static bool has_news(struct launch *launch)
{
    bool any = false;
    pthread_mutex_lock(&launch->lock);
    for (uint32_t i = 0; i < launch->num_lines; i++)
        any |= !cohort__list_is_empty(&launch->lines[i].up) ||
               !cohort__list_is_empty(&launch->lines[i].down) ||
               launch->lines[i].has_ended != launch->lines[i].is_noticed;
    pthread_mutex_unlock(&launch->lock);
    return any;
}

bool launch_turn(struct launch *launch)
{
    bool any = has_news(launch);
    enter();
    for (uint32_t i = 0; i < launch->num_lines; i++)
        if (cohort__random_below(&launch->random, READ_ONE_IN) == 0)
            turn_line(launch, &launch->lines[i]);
    if (launch->resume_at > 0 && cohort__clock_now() >= launch->resume_at) {
        launch->resume_at = 0;
        cohort__launcher_resume(launch->launcher);
    }
    leave();
    return any;
}

/* Begin and end ------------------------------------------------------------------------------ */

struct launch *launch_create(uint64_t seed, uint32_t num_localities, bool keeps_going,
                             void (*kill)(void *context, uint32_t rank), void *context)
{
    struct launch *launch =
        test_calloc(1, sizeof(*launch) + num_localities * sizeof(launch->lines[0]));
    pthread_mutex_init(&launch->lock, NULL);
    launch->random = cohort__random_seeded(seed);
    launch->kill = kill;
    launch->context = context;
    launch->keeps_going = keeps_going;
    launch->num_lines = num_localities;
    for (uint32_t rank = 0; rank < num_localities; rank++) {
        struct line *line = &launch->lines[rank];
        line->launch = launch;
        line->rank = rank;
        cohort__list_init(&line->up);
        cohort__list_init(&line->down);
    }
    return launch;
}

void launch_begin(struct launch *launch, struct cohort__process *const *processes)
{
    const struct cohort__launcher_options options = {.size = launch->num_lines,
                                                     .keeps_going = launch->keeps_going};
    const struct cohort__launcher_handlers handlers = {launch,  on_send,    on_pause,  on_broken,
                                                       on_died, on_accused, on_aborted};
    CHECK_OK(cohort__launcher_create(&launch->launcher, &options, &handlers));
    for (uint32_t rank = 0; rank < launch->num_lines; rank++) {
        launch->lines[rank].process = processes[rank];
        say(&launch->lines[rank], &(struct cohort__control){.kind = COHORT__CONTROL_HELLO,
                                                            .version = COHORT__CONTROL_VERSION});
    }
    while (launch_turn(launch))
        ;
}

void launch_ended(struct launch *launch, uint32_t rank)
{
    struct line *line = &launch->lines[rank];
    pthread_mutex_lock(&launch->lock);
    bool had_ended = line->has_ended;
    line->has_ended = true;
    pthread_mutex_unlock(&launch->lock);
    if (had_ended)
        return;
    enter();
    drop(line, &line->down);
    break_names(line);
    for (uint32_t peer = 0, order = 0; peer < launch->num_lines; peer++) {
        const struct cohort__death death = {peer, ++order, "is out of reach"};
        cohort__process_death_told(line->process, &death);
    }
    leave();
}

void launch_finish(struct launch *launch)
{
    for (uint32_t rank = 0; rank < launch->num_lines; rank++)
        say(&launch->lines[rank], &(struct cohort__control){.kind = COHORT__CONTROL_FINISHED});
}

bool launch_is_over(struct launch *launch)
{
    bool is_over = true;
    for (uint32_t rank = 0; rank < launch->num_lines; rank++)
        is_over &= launch->lines[rank].may_end || launch->lines[rank].is_noticed;
    return is_over;
}

void launch_destroy(struct launch *launch)
{
    if (!launch)
        return;
    cohort__launcher_destroy(launch->launcher);
    for (uint32_t rank = 0; rank < launch->num_lines; rank++) {
        drop(&launch->lines[rank], &launch->lines[rank].up);
        drop(&launch->lines[rank], &launch->lines[rank].down);
    }
    pthread_mutex_destroy(&launch->lock);
    free(launch);
}
