/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cohort/status.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/variable.h"
#include "runtime/launch/bootstrap_private.h"
#include "runtime/launch/business_card.h"
#include "runtime/launch/control.h"
#include "runtime/launch/grace.h"
#include "runtime/launch/hub_share.h"
#include "runtime/launch/place.h"
#include "runtime/launch/pmix_client.h"
#include "runtime/launch/pmix_library.h"
#include "runtime/wire/pack.h"

struct cohort__pmix_client;

/* The localities of a job that a launcher other than cohortrun has started. */
struct cohort__pmix_roster {
    uint64_t key;         /* random, the same in all localities */
    uint64_t listener_id; /* the listener of this host's first locality */
    struct cohort__place place;
    uint32_t *processes; /* PMIx's rank of each locality */
    char host_address[COHORT__CONTROL_MAX_HOST_ADDRESS];
};

struct cohort__pmix_client;

/* A death or a loss of the launcher, as PMIx reports it. */
struct cohort__pmix_event {
    pmix_status_t status;
    bool launcher_lost; /* if false, another process has died */
    uint32_t process;
};

/* Has to stay valid until the client is closed. */
struct cohort__pmix_events {
    const struct cohort__pmix_client *client;
    void (*came)(void *context, const struct cohort__pmix_event *event);
    void *context;
};

static const char card_name[] = "cohort.card";

/* CONTEXT is an array with room for the cards of all. */
static cohort_status take_card(void *context, uint32_t process, const void *data, size_t bytes)
{
    struct cohort__business_card *cards = context;
    char what[64];
    snprintf(what, sizeof(what), "%s of process %u", card_name, (unsigned)process);
    return cohort__schema_unpack(&cohort__business_card_schema, data, bytes, what, &cards[process]);
}

static cohort_status show_card(struct cohort__pmix_client *client,
                               const struct cohort__business_card *own,
                               struct cohort__business_card *cards)
{
    struct cohort__packer packer = {0};
    cohort__schema_pack(&packer, &cohort__business_card_schema, own);
    cohort_status status = packer.status;
    if (!status)
        status = cohort__pmix_client_exchange(client, card_name, packer.data, packer.bytes,
                                              take_card, cards);
    cohort__packer_fini(&packer);
    return status;
}

/* The loopback address, or if there are other hosts, the address from which the first of them is
 * reached. */
static cohort_status find_address(const struct cohort__business_card *cards, uint32_t size,
                                  const char *own_host, struct cohort__pmix_roster *roster)
{
    snprintf(roster->host_address, sizeof(roster->host_address), "127.0.0.1");
    for (uint32_t process = 0; process < size; process++)
        if (strcmp(cards[process].host, own_host) != 0)
            return cohort__place_address(cards[process].name, roster->host_address,
                                         sizeof(roster->host_address));
    return COHORT_OK;
}

static cohort_status draw_card(struct cohort__business_card *card)
{
    if (getrandom(&card->key, sizeof(card->key), 0) != sizeof(card->key))
        return cohort_fail(COHORT_ERR_SYSTEM, "random number for the job: %s", strerror(errno));
    gethostname(card->name, sizeof(card->name) - 1);
    return cohort__place_identify(card->host);
}

/* Shows this locality's card, which contains LISTENER_ID, waits for the cards of all others, and
 * reads them. Once. */
static cohort_status pmix_roster_make(struct cohort__pmix_client *client, uint64_t listener_id,
                                      struct cohort__pmix_roster *ret_roster)
{
    struct cohort__business_card own = {.listener_id = listener_id};
    struct cohort__pmix_roster roster = {0};
    struct cohort__business_card *cards = calloc(client->size, sizeof(*cards));
    const char **hosts = calloc(client->size, sizeof(*hosts));
    roster.processes = calloc(client->size, sizeof(*roster.processes));
    cohort_status status = COHORT_OK;
    if (!cards || !hosts || !roster.processes)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "cards of the localities: out of memory");
    if (!status)
        status = draw_card(&own);
    if (!status)
        status = show_card(client, &own, cards);
    for (uint32_t process = 0; !status && process < client->size; process++)
        hosts[process] = cards[process].host;
    if (!status)
        status = cohort__place_find(hosts, client->size, client->me.rank, &roster.place,
                                    roster.processes);
    if (!status)
        status = find_address(cards, client->size, own.host, &roster);
    if (!status) {
        roster.key = cards[0].key;
        roster.listener_id =
            cards[roster.processes[roster.place.rank - roster.place.slot]].listener_id;
        *ret_roster = roster;
    } else {
        free(roster.processes);
    }
    free(hosts);
    free(cards);
    return status;
}

static void pmix_roster_fini(struct cohort__pmix_roster *roster)
{
    free(roster->processes);
    roster->processes = NULL;
}

static bool is_loss(pmix_status_t status)
{
    enum { LOST_CONNECTION_TO_SERVER = -101 }; /* in PMIx 3 */
    return status == PMIX_ERR_LOST_CONNECTION || status == LOST_CONNECTION_TO_SERVER ||
           status == PMIX_ERR_UNREACH;
}

static bool is_death(pmix_status_t status)
{
    enum { PROC_ABORTED = -7 }; /* deprecated, but still sent */
    return status == PROC_ABORTED || status == PMIX_ERR_PROC_REQUESTED_ABORT ||
           status == PMIX_ERR_PROC_TERM_WO_SYNC || status == PMIX_ERR_PROC_KILLED_BY_CMD ||
           status == PMIX_ERR_PROC_ABORTED_BY_SIG || status == PMIX_ERR_EXIT_NONZERO_TERM;
}

static void tell(const struct cohort__pmix_events *events, pmix_status_t status,
                 const pmix_proc_t *whom)
{
    const pmix_proc_t *me = &events->client->me;
    bool peer_died = is_death(status) && whom && whom->rank < events->client->size &&
                     whom->rank != me->rank && strcmp(whom->nspace, me->nspace) == 0;
    if (is_loss(status) || peer_died)
        events->came(events->context,
                     &(struct cohort__pmix_event){.status = status,
                                                  .launcher_lost = !peer_died,
                                                  .process = peer_died ? whom->rank : 0});
}

static void notified(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t num_info, pmix_info_t *results, size_t num_results,
                     pmix_event_notification_cbfunc_fn_t done, void *context)
{
    (void)id, (void)results, (void)num_results;
    const struct cohort__pmix_events *events = NULL;
    const pmix_proc_t *whom = source;
    for (size_t i = 0; i < num_info; i++) {
        const pmix_value_t *value = &info[i].value;
        if (strcmp(info[i].key, PMIX_EVENT_RETURN_OBJECT) == 0)
            events = value->data.ptr;
        else if (strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 && value->type == PMIX_PROC)
            whom = value->data.proc;
    }
    if (events)
        tell(events, status, whom);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, context);
}

/* Registers CAME, which is called in PMIx's thread. To be called once. */
static cohort_status
pmix_events_listen(struct cohort__pmix_events *events, const struct cohort__pmix_client *client,
                   void (*came)(void *context, const struct cohort__pmix_event *event),
                   void *context)
{
    pmix_info_t self = {.key = PMIX_EVENT_RETURN_OBJECT,
                        .value = {.type = PMIX_POINTER, .data.ptr = events}};
    *events = (struct cohort__pmix_events){client, came, context};
    pmix_status_t status =
        client->library.register_event_handler(NULL, 0, &self, 1, notified, NULL, NULL);
    if (status >= 0) /* some versions return the handler's number */
        return COHORT_OK;
    return cohort__pmix_client_check(client, status, "events of the job");
}

/* A locality that a launcher other than cohortrun has started: Slurm, PRRTE, Open MPI's mpirun.
 *
 * Each locality sees the cards, addresses and counts of all. So each computes the same places and
 * the same result of the drain, and no locality has a special role. There is one exception: the
 * first locality of each host makes the hub that the localities of this host share. A launcher
 * usually ends the job when a locality has died. If it does not, it may report the death, or a
 * fence ends early, or the transport finds it out. Then the survivors go on for a while, so that
 * their programs can report the failure themselves, and have the launcher end the job.
 *
 * The end is a series of fences; tests/model/leave.pml is a model of it. The first one says that
 * all programs have returned. Then each round of the drain has one, behind which each finds the
 * counts of all. The round that finds the same counts as the one before is the last: the end is
 * *agreed* on. But another locality may not have been told yet that the fence is over. It would
 * find those gone that have been told, and take them for dead. So there is one more fence, and who
 * leaves after it knows that all have agreed. A locality that has agreed breaks nothing: whom it
 * finds gone has left; or has died since, and then the fence may never end, and it leaves without
 * it when the grace is over. */

enum {
    FIRST_GRACE = 1000000000, /* ns; until the settings are read, as others may die before */
    MAX_NAME = 64,
    JOIN_SECONDS = 60, /* if COHORT_JOIN_TIMEOUT is not set */
    /* How long the sharing of memory may take. It is long, for machines that are overloaded or
     * stopped for a time. */
    SHARE_SECONDS = 30,
    SHARE_LOCALITIES_PER_SECOND = 10,
};

struct foreign {
    struct cohort__bootstrap base;
    struct cohort__pmix_client pmix;
    struct cohort__pmix_roster roster;
    struct cohort__hub_share share;
    atomic_bool has_finished;
    atomic_bool broken; /* a locality is gone, or the launcher is lost */
    char why[300];      /* the same, the first one that is gone; empty: none */
    bool has_said;      /* why this locality fails */
    bool has_agreed;    /* on the end of the job; the loop's */
    struct cohort__pmix_events events;
    pthread_mutex_t lock; /* guards what PMIx's thread does */
    bool deaf;            /* PMIx's thread must not queue requests any more */
    struct cohort__grace grace;
    atomic_bool grace_is_over;
    struct cohort__loop_request grace_over;

    /* There is only one fence at a time. */
    struct cohort__loop_request fenced;
    pmix_status_t fence_result;
    void (*after_fence)(struct foreign *foreign);
};

struct event {
    struct cohort__loop_request request;
    struct foreign *foreign;
    struct cohort__pmix_event what;
};

static struct foreign *foreign_of(struct cohort__bootstrap *bootstrap)
{
    return COHORT_CONTAINER_OF(bootstrap, struct foreign, base);
}

/* The rank of PMIx's PROCESS; the size of the job if it has none. */
static uint32_t locality_of(const struct foreign *foreign, uint32_t process)
{
    uint32_t rank = 0;
    while (rank < foreign->base.job.size && foreign->roster.processes[rank] != process)
        rank++;
    return rank;
}

/* Deaths -------------------------------------------------------------------------------------- */

static const char broken_text[] = "a locality has ended without leaving the job";

/* Prints one line, in the form that cohortrun uses. */
static void say(const struct foreign *foreign, const char *text)
{
    char line[COHORT__CONTROL_MAX_TEXT + 1];
    snprintf(line, sizeof(line), "%s", text);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    dprintf(STDERR_FILENO, "%s: locality %u: %s\n", program_invocation_name,
            (unsigned)foreign->base.job.rank, line);
}

/* Runs in the grace's thread, or where that can't be created. A locality whose program has finished
 * ends through the loop, and writes its trace first. Otherwise the program may still be computing,
 * so that nobody turns the loop. Then the process ends here. */
static void grace_over(void *context)
{
    struct foreign *foreign = context;
    if (atomic_exchange(&foreign->grace_is_over, true))
        return;
    if (atomic_load(&foreign->has_finished)) {
        cohort__loop_request(foreign->base.loop, &foreign->grace_over);
        return;
    }
    say(foreign, "is ended, since the job is broken");
    cohort__pmix_client_abort(&foreign->pmix, 1, broken_text);
}

static void run_grace_over(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct foreign *foreign = COHORT_CONTAINER_OF(request, struct foreign, grace_over);
    if (foreign->base.closing || foreign->base.released)
        return;
    cohort__bootstrap_release(&foreign->base);
}

static void break_job(struct foreign *foreign)
{
    atomic_store(&foreign->broken, true);
    if (!cohort__grace_begin(&foreign->grace, foreign->base.grace))
        grace_over(foreign);
}

static void broken(struct cohort__bootstrap *bootstrap, const char *why)
{
    struct foreign *foreign = foreign_of(bootstrap);
    snprintf(foreign->why, sizeof(foreign->why), "%s", why);
    break_job(foreign);
}

/* The job can't go on. The reason is in the error slot. */
static void lose(struct foreign *foreign)
{
    if (atomic_load(&foreign->broken))
        return;
    break_job(foreign);
    foreign->base.handlers.launcher_lost(foreign->base.handlers.context, cohort_error_message());
}

static void died(struct foreign *foreign, const struct cohort__pmix_event *what)
{
    char text[128];
    uint32_t rank = locality_of(foreign, what->process);
    if (rank == foreign->base.job.size)
        return;
    snprintf(text, sizeof(text), "has ended: the launcher says %s",
             foreign->pmix.library.error_string(what->status));
    break_job(foreign);
    foreign->base.handlers.died(foreign->base.handlers.context, rank, 0, text);
}

static void run_event(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct event *event = COHORT_CONTAINER_OF(request, struct event, request);
    struct foreign *foreign = event->foreign;
    /* Before the end of the exchange no handler may be called, and the exchange fails by itself. */
    bool matters = !foreign->base.closing && !foreign->base.released && foreign->base.addresses;
    if (matters && event->what.launcher_lost) {
        (void)cohort_fail(COHORT_ERR_NETWORK, "the launcher has ended");
        lose(foreign);
    } else if (matters) {
        died(foreign, &event->what);
    }
    free(event);
}

/* Runs in PMIx's thread. The grace begins at once, since perhaps nobody turns the loop. If it
 * can't, that is left to the loop: here nothing may wait for PMIx. */
static void event_came(void *context, const struct cohort__pmix_event *what)
{
    struct foreign *foreign = context;
    struct event *event = malloc(sizeof(*event)); /* if it fails, the end has no message */
    if (event)
        *event = (struct event){.request.run = run_event, .foreign = foreign, .what = *what};
    pthread_mutex_lock(&foreign->lock);
    if (!foreign->deaf) {
        (void)cohort__grace_begin(&foreign->grace, foreign->base.grace);
        if (event)
            cohort__loop_request(foreign->base.loop, &event->request);
        event = NULL;
    }
    pthread_mutex_unlock(&foreign->lock);
    free(event);
}

/* Exchanges ----------------------------------------------------------------------------------- */

/* Data that was put can't be replaced, so each round has a name of its own. Each program has names
 * of its own, too. Otherwise, in a script with several programs, one might get the data of the
 * program before it. */
static void name_address(const struct foreign *foreign, char name[MAX_NAME])
{
    snprintf(name, MAX_NAME, "cohort.%016llx.address", (unsigned long long)foreign->base.job.key);
}

static void name_counts(const struct foreign *foreign, char name[MAX_NAME])
{
    snprintf(name, MAX_NAME, "cohort.%016llx.counts.%llu",
             (unsigned long long)foreign->base.job.key,
             (unsigned long long)foreign->base.counts.round);
}

/* Puts the data of PACKER as NAME, and frees PACKER's memory. */
static cohort_status put_packed(struct foreign *foreign, const char *name,
                                struct cohort__packer *packer)
{
    cohort_status status = packer->status;
    if (!status)
        status = cohort__pmix_client_put(&foreign->pmix, name, packer->data, packer->bytes);
    cohort__packer_fini(packer);
    return status;
}

struct addresses {
    struct foreign *foreign;
    struct cohort__bytes *of; /* for each locality */
};

static cohort_status take_address(void *context, uint32_t process, const void *data, size_t bytes)
{
    struct addresses *addresses = context;
    uint32_t rank = locality_of(addresses->foreign, process);
    if (bytes > COHORT__CONTROL_MAX_ADDRESS)
        return cohort_fail(COHORT_ERR_PROTOCOL, "the address of locality %u has %zu bytes",
                           (unsigned)rank, bytes);
    void *copy = malloc(bytes + 1);
    if (!copy)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "addresses of the localities: out of memory");
    if (bytes > 0)
        memcpy(copy, data, bytes);
    addresses->of[rank] = (struct cohort__bytes){copy, bytes};
    return COHORT_OK;
}

/* Waits inside PMIx, since the loop has nothing else to do at that time. */
static cohort_status exchange(struct cohort__bootstrap *bootstrap, const void *address,
                              size_t bytes)
{
    struct foreign *foreign = foreign_of(bootstrap);
    struct addresses addresses = {foreign, calloc(bootstrap->job.size, sizeof(*addresses.of))};
    char name[MAX_NAME];
    name_address(foreign, name);
    if (!addresses.of)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "addresses of the localities: out of memory");
    cohort_status status =
        pmix_events_listen(&foreign->events, &foreign->pmix, event_came, foreign);
    if (!status)
        status = cohort__pmix_client_exchange(&foreign->pmix, name, address, bytes, take_address,
                                              &addresses);
    if (!status)
        status = cohort__bootstrap_store_addresses(bootstrap, addresses.of, bootstrap->job.size);
    for (uint32_t rank = 0; rank < bootstrap->job.size; rank++)
        free((void *)addresses.of[rank].data);
    free(addresses.of);
    return status;
}

/* The end ------------------------------------------------------------------------------------- */

static void fence_done(pmix_status_t result, void *context)
{
    struct foreign *foreign = context;
    pthread_mutex_lock(&foreign->lock);
    foreign->fence_result = result;
    if (!foreign->deaf)
        cohort__loop_request(foreign->base.loop, &foreign->fenced);
    pthread_mutex_unlock(&foreign->lock);
}

static void run_fenced(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct foreign *foreign = COHORT_CONTAINER_OF(request, struct foreign, fenced);
    if (foreign->base.closing || foreign->base.released)
        return;
    if (foreign->has_agreed)
        cohort__bootstrap_release(&foreign->base);
    else if (atomic_load(&foreign->broken))
        return;
    else if (cohort__pmix_client_check(&foreign->pmix, foreign->fence_result, "the end of the job"))
        lose(foreign);
    else
        foreign->after_fence(foreign);
}

static void fence(struct foreign *foreign, bool collect, void (*after)(struct foreign *foreign))
{
    foreign->after_fence = after;
    cohort__pmix_client_fence_begin(&foreign->pmix, collect, fence_done, foreign);
}

static void all_have_finished(struct foreign *foreign)
{
    cohort__bootstrap_round_begin(&foreign->base);
}

static void finished(struct cohort__bootstrap *bootstrap)
{
    struct foreign *foreign = foreign_of(bootstrap);
    atomic_store(&foreign->has_finished, true);
    if (!atomic_load(&foreign->broken))
        fence(foreign, false, all_have_finished);
}

/* On the loop, which sees nothing else until then. All have put theirs: who does not answer has
 * ended meanwhile, or its host is that slow. */
enum { COUNTS_SECONDS = 30 };

static cohort_status get_counts(struct foreign *foreign, uint32_t rank, const char *name,
                                struct cohort__pmix_counts *ret_counts)
{
    void *data;
    size_t bytes;
    cohort_status status = cohort__pmix_client_get(&foreign->pmix, foreign->roster.processes[rank],
                                                   name, COUNTS_SECONDS, &data, &bytes);
    if (status)
        return status;
    status = cohort__schema_unpack(&cohort__pmix_counts_schema, data, bytes, name, ret_counts);
    free(data);
    return status;
}

static void all_have_counted(struct foreign *foreign)
{
    char name[MAX_NAME];
    name_counts(foreign, name);
    for (uint32_t rank = 0; rank < foreign->base.job.size; rank++) {
        struct cohort__pmix_counts counts;
        if (get_counts(foreign, rank, name, &counts)) {
            lose(foreign);
            return;
        }
        foreign->has_agreed = cohort__bootstrap_round_answer(&foreign->base, counts.sent,
                                                             counts.received, counts.busy);
    }
    if (foreign->has_agreed)
        fence(foreign, false, NULL);
}

static void counted(struct cohort__bootstrap *bootstrap)
{
    struct foreign *foreign = foreign_of(bootstrap);
    struct cohort__packer packer = {0};
    char name[MAX_NAME];
    if (atomic_load(&foreign->broken))
        return;
    name_counts(foreign, name);
    cohort__schema_pack(&packer, &cohort__pmix_counts_schema,
                        &(struct cohort__pmix_counts){bootstrap->counts.sent,
                                                      bootstrap->counts.received,
                                                      bootstrap->counts.busy});
    if (put_packed(foreign, name, &packer))
        lose(foreign);
    else
        fence(foreign, true, all_have_counted);
}

/* Prints the text at once, since the launcher may end the job as soon as any locality has
 * failed. */
static void failed(struct cohort__bootstrap *bootstrap, const char *text)
{
    foreign_of(bootstrap)->has_said = true;
    say(foreign_of(bootstrap), text);
}

/* The launcher prints no text, so this locality does. */
static bool abort_foreign(struct cohort__bootstrap *bootstrap, int code, const char *reason)
{
    struct foreign *foreign = foreign_of(bootstrap);
    char text[COHORT__CONTROL_MAX_TEXT + 1];
    snprintf(text, sizeof(text), "aborted with status %d: %s", code, reason);
    say(foreign, text);
    cohort__pmix_client_abort(&foreign->pmix, code, text);
}

/* A locality that can't leave the job properly ends it. */
static void close_foreign(struct cohort__bootstrap *bootstrap)
{
    struct foreign *foreign = foreign_of(bootstrap);
    if (!foreign->has_agreed && !foreign->has_said && *foreign->why)
        say(foreign, foreign->why);
    if (!foreign->has_agreed)
        cohort__pmix_client_abort(&foreign->pmix, 1, broken_text);
    cohort__pmix_client_close(&foreign->pmix);
    pthread_mutex_lock(&foreign->lock);
    foreign->deaf = true;
    pthread_mutex_unlock(&foreign->lock);
    cohort__grace_fini(&foreign->grace);
    cohort__loop_run_requests(bootstrap->loop); /* the events that have come until now */
    pmix_roster_fini(&foreign->roster);
    pthread_mutex_destroy(&foreign->lock);
    free(foreign);
}

void cohort__bootstrap_refuse_pmix(void)
{
    struct cohort__pmix_client client;
    struct cohort__error error = {0};
    cohort__error_copy(&error, cohort__error_slot());
    if (cohort__pmix_client_open(&client) == COHORT_OK) {
        dprintf(STDERR_FILENO, "%s: %s\n", program_invocation_name, cohort__error_message(&error));
        cohort__pmix_client_abort(&client, 1, broken_text);
    }
    cohort__error_copy(cohort__error_slot(), &error);
    cohort__error_fini(&error);
}

static const struct cohort__bootstrap_way way = {
    .exchange = exchange,
    .finished = finished,
    .counted = counted,
    .failed = failed,
    .broken = broken,
    .abort = abort_foreign,
    .close = close_foreign,
};

static void take_place(struct foreign *foreign)
{
    struct cohort__bootstrap_job *job = &foreign->base.job;
    const struct cohort__place *place = &foreign->roster.place;
    job->key = foreign->roster.key;
    job->rank = place->rank;
    job->size = foreign->pmix.size;
    job->epoch = 1;
    job->num_hosts = place->num_hosts;
    job->host = place->host;
    job->slot = place->slot;
    job->sharing = place->sharing;
    snprintf(job->host_address, sizeof(job->host_address), "%s", foreign->roster.host_address);
    cohort__drain_init(&foreign->base.drain, job->size);
}

/* A locality that is alone on its host has a hub as well, as it has with cohortrun. Only a job of
 * one locality has none, since there is nobody to send to. */
static cohort_status share(struct foreign *foreign)
{
    struct cohort__bootstrap *base = &foreign->base;
    if (base->job.size == 1)
        return COHORT_OK;
    uint64_t seconds = SHARE_SECONDS + base->job.sharing / SHARE_LOCALITIES_PER_SECOND;
    struct cohort__hub_party party = {.listener_id = foreign->roster.listener_id,
                                      .key = base->job.key,
                                      .rank = base->job.rank,
                                      .slot = base->job.slot,
                                      .size = base->job.sharing,
                                      .timeout_ns = seconds * 1000000000};
    return cohort__hub_share_meet(&foreign->share, &party, &base->hub);
}

static cohort_status join(struct foreign *foreign)
{
    cohort_status status = cohort__pmix_client_open(&foreign->pmix);
    if (!status)
        status = cohort__variable_number("COHORT_JOIN_TIMEOUT", 1, 24 * 3600, JOIN_SECONDS,
                                         &foreign->pmix.timeout);
    if (!status)
        status = cohort__hub_share_init(&foreign->share);
    if (status)
        return status;
    status = pmix_roster_make(&foreign->pmix, foreign->share.listener_id, &foreign->roster);
    if (!status) {
        take_place(foreign);
        status = share(foreign);
    }
    cohort__hub_share_fini(&foreign->share);
    return status;
}

cohort_status cohort__bootstrap_open_pmix(struct cohort__bootstrap **ret_bootstrap)
{
    struct foreign *foreign = calloc(1, sizeof(*foreign));
    if (!foreign)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "bootstrap: out of memory");
    foreign->base.way = &way;
    foreign->base.job.has_launcher = true;
    foreign->base.job.may_bind = true;
    foreign->fenced.run = run_fenced;
    foreign->grace_over.run = run_grace_over;
    pthread_mutex_init(&foreign->lock, NULL);
    foreign->base.grace = FIRST_GRACE;
    cohort__grace_init(&foreign->grace, grace_over, foreign);
    cohort_status status = join(foreign);
    if (status) {
        cohort__grace_fini(&foreign->grace);
        pmix_roster_fini(&foreign->roster);
        free(foreign);
        return status;
    }
    *ret_bootstrap = &foreign->base;
    return COHORT_OK;
}
