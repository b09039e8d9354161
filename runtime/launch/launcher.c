/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/launch/control.h"
#include "runtime/launch/drain.h"
#include "runtime/names/requests.h"
#include "runtime/names/limits.h"
#include "runtime/base/container.h"

/* The stages of a locality are OUTSIDE -> MEMBER -> FINISHED -> RELEASED -> LEFT. Some steps are
 * taken for all localities together. When all are members, ADDRESSES is sent to all. When all have
 * finished, the drain begins. At its end, EXIT is sent to all. When all have left or ended, all are
 * OUTSIDE again, in the next epoch.
 *
 * If the job keeps going, one that dies as a member, once ADDRESSES was sent, is DEAD from then on.
 * The steps are taken without the dead ones. There is no next epoch then. */
enum stage { OUTSIDE, MEMBER, FINISHED, RELEASED, LEFT, DEAD };

struct locality {
    enum stage stage;
    bool ended;
    bool was_released; /* in some epoch */
    bool cannot_join;  /* it has read its WELCOME, but its start has failed */
    uint32_t order;    /* the number of its death; 0: it is not dead */
    unsigned char *address;
    size_t address_bytes;
    char *failure;
};

struct cohort__launcher {
    struct cohort__launcher_options options;
    struct cohort__launcher_handlers handlers;
    struct cohort__drain drain;
    struct cohort__packer packer;
    uint32_t epoch;
    uint32_t num_in_stage[DEAD + 1];
    uint32_t num_deaths;
    bool broken;
    bool has_begun;                    /* ADDRESSES was sent */
    struct cohort__registry_home home; /* of all names, if the job keeps going */
    struct cohort__launcher_host *hosts;
    struct locality localities[];
};

/* The context for reading a message. */
struct incoming {
    struct cohort__launcher *launcher;
    uint32_t rank;
};

static void pack(struct cohort__launcher *launcher, const struct cohort__control *control)
{
    cohort__packer_reset(&launcher->packer);
    cohort__control_pack(&launcher->packer, control);
}

static void send_packed(struct cohort__launcher *launcher, uint32_t rank)
{
    const struct cohort__packer *packer = &launcher->packer;
    if (!packer->status)
        launcher->handlers.send(launcher->handlers.context, rank, packer->data, packer->bytes);
}

static void send_to(struct cohort__launcher *launcher, uint32_t rank,
                    const struct cohort__control *control)
{
    pack(launcher, control);
    send_packed(launcher, rank);
}

/* Packs the message only once, since ADDRESSES is long if there are many localities. */
static void send_to_all(struct cohort__launcher *launcher, const struct cohort__control *control)
{
    pack(launcher, control);
    for (uint32_t rank = 0; rank < launcher->options.size; rank++)
        if (!launcher->localities[rank].ended)
            send_packed(launcher, rank);
}

static void set_stage(struct cohort__launcher *launcher, uint32_t rank, enum stage stage)
{
    struct locality *locality = &launcher->localities[rank];
    launcher->num_in_stage[locality->stage]--;
    launcher->num_in_stage[stage]++;
    locality->stage = stage;
}

static uint32_t num_living(const struct cohort__launcher *launcher)
{
    return launcher->options.size - launcher->num_in_stage[DEAD];
}

/* All but the dead ones. */
static bool all_in(const struct cohort__launcher *launcher, enum stage stage)
{
    return launcher->num_in_stage[stage] == num_living(launcher);
}

/* RANK has died, as the next one, unless it was told before. */
static void pack_death(struct cohort__launcher *launcher, uint32_t rank, const char *text)
{
    struct locality *dead = &launcher->localities[rank];
    if (dead->order == 0)
        dead->order = ++launcher->num_deaths;
    struct cohort__control died = {
        .kind = COHORT__CONTROL_DIED, .rank = rank, .order = dead->order, .text = text};
    pack(launcher, &died);
}

static void tell_death(struct cohort__launcher *launcher, uint32_t rank, const char *text)
{
    pack_death(launcher, rank, text);
    for (uint32_t peer = 0; peer < launcher->options.size; peer++)
        if (peer != rank && !launcher->localities[peer].ended)
            send_packed(launcher, peer);
}

static void break_job(struct cohort__launcher *launcher, uint32_t rank, const char *text)
{
    tell_death(launcher, rank, text);
    if (launcher->broken)
        return;
    launcher->broken = true;
    launcher->handlers.broken(launcher->handlers.context, rank, text);
}

static void welcome_host(struct cohort__launcher *launcher, uint32_t index)
{
    const struct cohort__launcher_host *host = &launcher->hosts[index];
    for (uint32_t slot = 0; slot < host->num; slot++) {
        if (launcher->localities[host->first + slot].ended)
            continue;
        send_to(launcher, host->first + slot,
                &(struct cohort__control){
                    .kind = COHORT__CONTROL_WELCOME,
                    .version = COHORT__CONTROL_VERSION,
                    .rank = host->first + slot,
                    .size = launcher->options.size,
                    .key = launcher->options.key,
                    .epoch = launcher->epoch,
                    .workers = launcher->options.workers,
                    .sharing = host->num,
                    .num_hosts = launcher->options.num_hosts,
                    .host = index,
                    .slot = slot,
                    .host_address = host->address,
                    .keeps_going = launcher->options.keeps_going,
                });
    }
}

static void welcome(struct cohort__launcher *launcher)
{
    for (uint32_t index = 0; index < launcher->options.num_hosts; index++)
        welcome_host(launcher, index);
}

static cohort_status copy_hosts(struct cohort__launcher *launcher)
{
    struct cohort__launcher_host one = {0, launcher->options.size, "127.0.0.1"};
    if (launcher->options.num_hosts == 0) {
        launcher->options.hosts = &one;
        launcher->options.num_hosts = 1;
    }
    size_t bytes = launcher->options.num_hosts * sizeof(*launcher->hosts);
    launcher->hosts = malloc(bytes);
    if (!launcher->hosts)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "launcher: out of memory");
    memcpy(launcher->hosts, launcher->options.hosts, bytes);
    launcher->options.hosts = launcher->hosts;
    return COHORT_OK;
}

cohort_status cohort__launcher_create(struct cohort__launcher **ret_launcher,
                                      const struct cohort__launcher_options *options,
                                      const struct cohort__launcher_handlers *handlers)
{
    struct cohort__launcher *launcher =
        calloc(1, sizeof(*launcher) + options->size * sizeof(launcher->localities[0]));
    if (!launcher)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "launcher: out of memory");
    launcher->options = *options;
    launcher->handlers = *handlers;
    launcher->epoch = 1;
    launcher->num_in_stage[OUTSIDE] = options->size;
    cohort__registry_home_init(&launcher->home, COHORT__HOME_LAUNCHER, options->size);
    cohort_status status = copy_hosts(launcher);
    if (status) {
        cohort__launcher_destroy(launcher);
        return status;
    }
    welcome(launcher);
    *ret_launcher = launcher;
    return COHORT_OK;
}

void cohort__launcher_destroy(struct cohort__launcher *launcher)
{
    if (!launcher)
        return;
    for (uint32_t rank = 0; rank < launcher->options.size; rank++) {
        free(launcher->localities[rank].address);
        free(launcher->localities[rank].failure);
    }
    cohort__packer_fini(&launcher->packer);
    cohort__registry_home_fini(&launcher->home);
    free(launcher->hosts);
    free(launcher);
}

/* Some locality has joined, but RANK has ended without joining. The others would wait for RANK for
 * ever. */
static void break_unjoined(struct cohort__launcher *launcher, uint32_t rank)
{
    char text[80];
    snprintf(text, sizeof(text), "locality %u ended without joining the job", (unsigned)rank);
    break_job(launcher, rank, text);
}

static void send_addresses(struct cohort__launcher *launcher)
{
    uint32_t size = launcher->options.size;
    struct cohort__bytes *addresses = calloc(size, sizeof(*addresses));
    if (!addresses) {
        break_job(launcher, 0, "the launcher is out of memory");
        return;
    }
    for (uint32_t rank = 0; rank < size; rank++)
        addresses[rank] = (struct cohort__bytes){launcher->localities[rank].address,
                                                 launcher->localities[rank].address_bytes};
    send_to_all(launcher, &(struct cohort__control){.kind = COHORT__CONTROL_ADDRESSES,
                                                    .size = size,
                                                    .addresses = addresses});
    free(addresses);
    launcher->has_begun = true;
}

static cohort_status hello(struct cohort__launcher *launcher, uint32_t rank,
                           const struct cohort__control *control)
{
    struct locality *locality = &launcher->localities[rank];
    if (locality->stage != OUTSIDE)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "joins the job again; the program that joined before has not left it");
    if (control->version != COHORT__CONTROL_VERSION)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "speaks version %u of the control protocol, cohortrun version %d",
                           (unsigned)control->version, COHORT__CONTROL_VERSION);
    free(locality->address);
    locality->address = malloc(control->address.bytes + 1);
    if (!locality->address)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    if (control->address.bytes > 0)
        memcpy(locality->address, control->address.data, control->address.bytes);
    locality->address_bytes = control->address.bytes;
    free(locality->failure); /* of an earlier program */
    locality->failure = NULL;
    locality->cannot_join = false;
    set_stage(launcher, rank, MEMBER);
    for (uint32_t peer = 0; peer < launcher->options.size; peer++)
        if (launcher->localities[peer].ended && launcher->localities[peer].stage == OUTSIDE)
            break_unjoined(launcher, peer);
    if (all_in(launcher, MEMBER) && !launcher->broken)
        send_addresses(launcher);
    return COHORT_OK;
}

static void ask_for_counts(struct cohort__launcher *launcher)
{
    send_to_all(launcher,
                &(struct cohort__control){.kind = COHORT__CONTROL_COUNT,
                                          .round = cohort__drain_begin(&launcher->drain)});
}

static void release(struct cohort__launcher *launcher)
{
    for (uint32_t rank = 0; rank < launcher->options.size; rank++) {
        if (launcher->localities[rank].ended)
            continue;
        set_stage(launcher, rank, RELEASED);
        launcher->localities[rank].was_released = true;
        send_to(launcher, rank, &(struct cohort__control){.kind = COHORT__CONTROL_EXIT});
    }
}

/* After a death, releases the survivors as soon as all their programs have returned. Doesn't wait
 * for messages in flight. */
static void release_survivors(struct cohort__launcher *launcher)
{
    for (uint32_t rank = 0; rank < launcher->options.size; rank++)
        if (!launcher->localities[rank].ended && launcher->localities[rank].stage != FINISHED)
            return;
    release(launcher);
}

/* If all have finished: begins the drain, or begins it anew after a death. COUNT comes behind DIED,
 * so all answers leave out what went to and came from the same dead ones. */
static void begin_drain(struct cohort__launcher *launcher)
{
    if (!all_in(launcher, FINISHED) || launcher->broken)
        return;
    if (launcher->num_in_stage[DEAD] == 0)
        cohort__drain_init(&launcher->drain, launcher->options.size);
    else
        cohort__drain_restart(&launcher->drain, num_living(launcher));
    ask_for_counts(launcher);
}

static cohort_status finished(struct cohort__launcher *launcher, uint32_t rank)
{
    if (launcher->localities[rank].stage != MEMBER)
        return cohort_fail(COHORT_ERR_PROTOCOL, "has finished without being in the job");
    set_stage(launcher, rank, FINISHED);
    if (launcher->broken)
        release_survivors(launcher);
    begin_drain(launcher);
    return COHORT_OK;
}

static cohort_status counts(struct cohort__launcher *launcher,
                            const struct cohort__control *control)
{
    if (launcher->broken)
        return COHORT_OK; /* a locality has died meanwhile */
    if (!all_in(launcher, FINISHED))
        return cohort_fail(COHORT_ERR_PROTOCOL, "sends counts that nobody has asked for");
    switch (cohort__drain_answer(&launcher->drain, control->round, control->sent, control->received,
                                 control->busy)) {
    case COHORT__DRAIN_WAIT:
        break;
    case COHORT__DRAIN_AGAIN: {
        uint64_t pause = cohort__drain_pause_ns(&launcher->drain);
        if (pause == 0)
            ask_for_counts(launcher);
        else
            launcher->handlers.pause(launcher->handlers.context, pause);
        break;
    }
    case COHORT__DRAIN_DONE:
        release(launcher);
        break;
    }
    return COHORT_OK;
}

void cohort__launcher_resume(struct cohort__launcher *launcher)
{
    if (all_in(launcher, FINISHED) && !launcher->broken)
        ask_for_counts(launcher);
}

/* A locality has died, so there is no next epoch. Programs that wait for it read this instead of a
 * WELCOME. */
static void tell_deaths_again(struct cohort__launcher *launcher)
{
    char text[80];
    for (uint32_t rank = 0; rank < launcher->options.size; rank++) {
        if (launcher->localities[rank].stage != DEAD)
            continue;
        snprintf(text, sizeof(text), "locality %u has died before this program has started",
                 (unsigned)rank);
        tell_death(launcher, rank, text);
    }
}

static void leave(struct cohort__launcher *launcher, uint32_t rank)
{
    set_stage(launcher, rank, LEFT);
    if (!all_in(launcher, LEFT) || launcher->broken)
        return;
    if (num_living(launcher) < launcher->options.size) {
        tell_deaths_again(launcher);
        return;
    }
    for (uint32_t peer = 0; peer < launcher->options.size; peer++)
        set_stage(launcher, peer, OUTSIDE);
    launcher->epoch++;
    launcher->has_begun = false;
    cohort__registry_home_fini(&launcher->home);
    cohort__registry_home_init(&launcher->home, COHORT__HOME_LAUNCHER, launcher->options.size);
    welcome(launcher);
}

static cohort_status bye(struct cohort__launcher *launcher, uint32_t rank)
{
    if (launcher->localities[rank].stage != RELEASED)
        return cohort_fail(COHORT_ERR_PROTOCOL, "leaves the job without being allowed to");
    leave(launcher, rank);
    return COHORT_OK;
}

/* Becomes a part of a line. */
static char *copy_line(const struct cohort__control *control)
{
    char *line = strdup(control->text);
    for (char *c = line; c && *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return line;
}

static cohort_status aborted(struct cohort__launcher *launcher, uint32_t rank,
                             const struct cohort__control *control)
{
    char *reason = copy_line(control);
    launcher->handlers.aborted(launcher->handlers.context, rank, (int)control->code,
                               reason ? reason : "");
    free(reason);
    return COHORT_OK;
}

static cohort_status failed(struct cohort__launcher *launcher, uint32_t rank,
                            const struct cohort__control *control)
{
    struct locality *locality = &launcher->localities[rank];
    free(locality->failure);
    locality->failure = copy_line(control);
    locality->cannot_join = locality->stage == OUTSIDE || locality->stage == LEFT;
    return COHORT_OK;
}

enum { RETURNED_BYTES = 200 };

static bool has_returned(const struct cohort__launcher *launcher, uint32_t rank)
{
    enum stage stage = launcher->localities[rank].stage;
    return stage >= FINISHED && stage != DEAD;
}

/* Writes the ranks of those whose programs have returned: "0, 2-5 and more". */
static void list_returned(const struct cohort__launcher *launcher, char *text, size_t bytes)
{
    const uint32_t size = launcher->options.size;
    enum { MORE_BYTES = 40 };
    size_t used = 0;
    text[0] = '\0';
    if (launcher->num_in_stage[OUTSIDE] + launcher->num_in_stage[MEMBER] == num_living(launcher))
        return; /* mostly */
    for (uint32_t rank = 0, end; rank < size; rank = end) {
        end = rank + 1;
        if (!has_returned(launcher, rank))
            continue;
        while (end < size && has_returned(launcher, end))
            end++;
        if (used + MORE_BYTES > bytes) {
            snprintf(text + used, bytes - used, " and more");
            return;
        }
        used += (size_t)snprintf(text + used, bytes - used, end - rank > 1 ? "%s%u-%u" : "%s%u",
                                 used ? ", " : "", (unsigned)rank, (unsigned)(end - 1));
    }
}

static cohort_status returned_asked(struct cohort__launcher *launcher, uint32_t rank)
{
    char text[RETURNED_BYTES];
    if (launcher->localities[rank].stage != MEMBER && launcher->localities[rank].stage != FINISHED)
        return cohort_fail(COHORT_ERR_PROTOCOL, "asks without being in the job");
    list_returned(launcher, text, sizeof(text));
    send_to(launcher, rank,
            &(struct cohort__control){.kind = COHORT__CONTROL_RETURNED, .text = text});
    return COHORT_OK;
}

/* ACCUSED can't go on, as BY says. It is not dead before its process has ended. */
static void accuse(struct cohort__launcher *launcher, uint32_t accused, uint32_t by, bool at_fault,
                   const char *text)
{
    if (launcher->has_begun && !launcher->broken && cohort__launcher_is_member(launcher, accused))
        launcher->handlers.accused(launcher->handlers.context, accused, by, at_fault, text);
}

static cohort_status accused(struct cohort__launcher *launcher, uint32_t by,
                             const struct cohort__control *control)
{
    char text[600], whom[32] = "it";
    if (control->rank >= launcher->options.size)
        return cohort_fail(COHORT_ERR_PROTOCOL, "accuses locality %u of %u",
                           (unsigned)control->rank, (unsigned)launcher->options.size);
    if (control->rank != by)
        snprintf(whom, sizeof(whom), "locality %u", (unsigned)control->rank);
    snprintf(text, sizeof(text), "locality %u says that %s %s", (unsigned)by, whom, control->text);
    accuse(launcher, control->rank, by, control->at_fault, text);
    return COHORT_OK;
}

/* Sends what the home answers. */
static void deliver(struct cohort__launcher *launcher, struct cohort__list *outbox)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(outbox))) {
        struct cohort__registry_letter *answer =
            COHORT_CONTAINER_OF(link, struct cohort__registry_letter, link);
        pack(launcher,
             &(struct cohort__control){.kind = COHORT__CONTROL_LETTER,
                                       .letter = {answer->packer.data, answer->packer.bytes}});
        for (uint32_t i = 0; i < answer->num_ranks; i++)
            if (!answer->packer.status && !launcher->localities[answer->ranks[i]].ended)
                send_packed(launcher, answer->ranks[i]);
        cohort__registry_letter_destroy(answer);
    }
}

/* If there is no memory here, others would wait for ever. */
static void check_home(struct cohort__launcher *launcher, cohort_status status)
{
    if (status == COHORT_ERR_NO_MEMORY)
        break_job(launcher, 0, "the launcher is out of memory");
}

static cohort_status letter(struct cohort__launcher *launcher, uint32_t rank,
                            const struct cohort__control *control)
{
    struct cohort__list outbox;
    char returned[RETURNED_BYTES];
    cohort__list_init(&outbox);
    if (!cohort__launcher_is_member(launcher, rank))
        return COHORT_OK; /* it says that its sites leave, which all do */
    list_returned(launcher, returned, sizeof(returned));
    cohort_status status = cohort__home_take_letter(&launcher->home, rank, control->letter.data,
                                                    control->letter.bytes, returned, &outbox);
    deliver(launcher, &outbox);
    check_home(launcher, status);
    return status == COHORT_ERR_NO_MEMORY ? COHORT_OK : status;
}

static cohort_status dispatch(void *context, const struct cohort__control *control)
{
    struct cohort__launcher *launcher = ((struct incoming *)context)->launcher;
    uint32_t rank = ((struct incoming *)context)->rank;
    switch (control->kind) {
    case COHORT__CONTROL_HELLO:
        return hello(launcher, rank, control);
    case COHORT__CONTROL_FINISHED:
        return finished(launcher, rank);
    case COHORT__CONTROL_COUNTS:
        return counts(launcher, control);
    case COHORT__CONTROL_FAILED:
        return failed(launcher, rank, control);
    case COHORT__CONTROL_BYE:
        return bye(launcher, rank);
    case COHORT__CONTROL_ASK_RETURNED:
        return returned_asked(launcher, rank);
    case COHORT__CONTROL_ACCUSE:
        return accused(launcher, rank, control);
    case COHORT__CONTROL_ABORT:
        return aborted(launcher, rank, control);
    case COHORT__CONTROL_LETTER:
        return letter(launcher, rank, control);
    default:
        return cohort_fail(COHORT_ERR_PROTOCOL, "sent %s, which only the launcher may",
                           cohort__control_kind_name(control->kind));
    }
}

void cohort__launcher_message(struct cohort__launcher *launcher, uint32_t rank, const void *message,
                              size_t bytes)
{
    char name[32], text[600];
    struct incoming incoming = {launcher, rank};
    if (launcher->localities[rank].stage == DEAD)
        return; /* the others have been told that it says nothing any more */
    snprintf(name, sizeof(name), "locality %u", (unsigned)rank);
    if (cohort__control_read(message, bytes, name, dispatch, &incoming) == COHORT_OK)
        return;
    snprintf(text, sizeof(text), "%s: %s", name, cohort_error_message());
    if (launcher->options.keeps_going && launcher->has_begun && !launcher->broken &&
        cohort__launcher_is_member(launcher, rank))
        accuse(launcher, rank, rank, true, text);
    else
        break_job(launcher, rank, text);
}

/* Whether the job can go on without RANK, which has died. */
static bool can_go_on(const struct cohort__launcher *launcher, uint32_t rank)
{
    return launcher->options.keeps_going && launcher->has_begun && !launcher->broken &&
           cohort__launcher_is_member(launcher, rank) && num_living(launcher) > 1;
}

static void go_on_without(struct cohort__launcher *launcher, uint32_t rank, const char *text)
{
    struct cohort__list outbox;
    set_stage(launcher, rank, DEAD);
    tell_death(launcher, rank, text);
    cohort__list_init(&outbox);
    cohort_status status = cohort__registry_home_died(&launcher->home, rank, &outbox);
    deliver(launcher, &outbox);
    check_home(launcher, status);
    launcher->handlers.died(launcher->handlers.context, rank, num_living(launcher), text);
    begin_drain(launcher);
}

static void lose(struct cohort__launcher *launcher, uint32_t rank, const char *text)
{
    if (can_go_on(launcher, rank))
        go_on_without(launcher, rank, text);
    else
        break_job(launcher, rank, text);
}

void cohort__launcher_ended(struct cohort__launcher *launcher, uint32_t rank, bool failed,
                            const char *text)
{
    struct locality *locality = &launcher->localities[rank];
    if (locality->ended)
        return;
    locality->ended = true;
    bool is_free = locality->was_released || !failed;
    if (cohort__launcher_is_member(launcher, rank) || locality->cannot_join || !is_free)
        lose(launcher, rank, text);
    else if (locality->stage == OUTSIDE && cohort__launcher_has_members(launcher))
        break_unjoined(launcher, rank);
    else if (locality->stage == RELEASED)
        leave(launcher, rank);
    if (launcher->broken)
        release_survivors(launcher);
}

void cohort__launcher_program_ended(struct cohort__launcher *launcher, uint32_t rank,
                                    const char *text)
{
    struct locality *locality = &launcher->localities[rank];
    if (!locality->ended && locality->stage == RELEASED)
        leave(launcher, rank);
    if (locality->ended || !cohort__launcher_is_member(launcher, rank))
        return;
    pack_death(launcher, rank, text); /* for the script's next program, instead of a WELCOME */
    send_packed(launcher, rank);
    locality->ended = true;
    lose(launcher, rank, text);
    if (launcher->broken)
        release_survivors(launcher);
}

void cohort__launcher_stop_going(struct cohort__launcher *launcher)
{
    launcher->options.keeps_going = false;
}

bool cohort__launcher_is_member(const struct cohort__launcher *launcher, uint32_t rank)
{
    enum stage stage = launcher->localities[rank].stage;
    return stage == MEMBER || stage == FINISHED;
}

bool cohort__launcher_is_released(const struct cohort__launcher *launcher, uint32_t rank)
{
    return launcher->localities[rank].was_released && launcher->localities[rank].stage != DEAD &&
           !cohort__launcher_is_member(launcher, rank);
}

bool cohort__launcher_is_failing(const struct cohort__launcher *launcher, uint32_t rank)
{
    const struct locality *locality = &launcher->localities[rank];
    return locality->failure &&
           (locality->cannot_join || cohort__launcher_is_member(launcher, rank));
}

bool cohort__launcher_is_awaited(const struct cohort__launcher *launcher, uint32_t rank)
{
    const struct locality *locality = &launcher->localities[rank];
    return cohort__launcher_is_member(launcher, rank) || locality->cannot_join ||
           (locality->stage == OUTSIDE && cohort__launcher_has_members(launcher));
}

uint32_t cohort__launcher_epoch(const struct cohort__launcher *launcher)
{
    return launcher->epoch;
}

bool cohort__launcher_has_members(const struct cohort__launcher *launcher)
{
    return launcher->num_in_stage[MEMBER] + launcher->num_in_stage[FINISHED] > 0;
}

const char *cohort__launcher_failure(const struct cohort__launcher *launcher, uint32_t rank)
{
    return launcher->localities[rank].failure;
}
