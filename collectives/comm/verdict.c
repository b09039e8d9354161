/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cohort/comm.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/hold.h"
#include "collectives/comm/message.h"
#include "collectives/comm/remote.h"
#include "collectives/comm/tally.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/log.h"
#include "runtime/base/map.h"
#include "runtime/proc/send.h"
#include "runtime/task/fork.h"
#include "runtime/wire/schema.h"

/* What a message of kind VERDICT is: its `tag`. */
enum { ASK = 1, FREEZE, VOTE, RESULT, PASSED };

/* What it says without a payload: its `handle`. */
enum {
    WITH_PAYLOAD,
    ALL_GONE, /* VOTE: there is no such group */
    AS_IT_IS, /* RESULT: nothing is taken back */
};

struct verdicts {
    struct cohort__annex annex; /* first */
    /* All under the group's lock. */
    struct cohort__list list;     /* of those that are not released */
    struct cohort__list released; /* and of those that are */
    struct cohort__map map;       /* of both, by generation */
};

struct verdict {
    struct cohort__list link;
    struct cohort__map_node node;
    struct cohort__group *group; /* a reference */
    uint64_t generation;
    bool is_decider;
    struct cohort__plea plea; /* the decider's */

    /* Under the group's lock. */
    enum cohort__outcome outcome;
    struct cohort__error error;  /* fixed once there is an outcome, as are the words */
    struct cohort__packer words; /* the decider's: the payload of the RESULT */
    struct cohort__tally tally;  /* of the sites here; at the decider of all */
    bool has_voted;              /* for the sites here */
    bool has_told;               /* the outcome to all sites that are made */
    bool is_nonsense;            /* a vote made no sense, so nothing is taken back */
    bool is_released;            /* by a death or a revocation, or since all have left */
    uint32_t num_busy;           /* sites that freeze or are being told; and go_on itself */
    uint32_t num_holding;        /* sites where something is held back */
    uint32_t num_votes_missing;  /* the decider's: localities */
    uint32_t num_others_holding; /* the same: localities that have not said that they have passed */
    struct cohort__hold *to_tell; /* go_on's own, in a chain */
    struct cohort__hold holds[];  /* of the sites here, in their order */
};

static struct verdict *verdict_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct verdict, link);
}

static uint32_t locality_at(const struct cohort__group *group, uint32_t index)
{
    return group->membership->locality_of[cohort__group_first_site(group, index)];
}

static uint32_t decider_of(const struct cohort__group *group)
{
    uint32_t lowest = locality_at(group, 0);
    for (uint32_t i = 1; i < group->num_localities; i++)
        if (locality_at(group, i) < lowest)
            lowest = locality_at(group, i);
    return lowest;
}

static bool is_broken(const struct cohort__group *group)
{
    uint32_t site;
    struct cohort__death death;
    return cohort__remote_is_revoked(group) || cohort__remote_first_death(group, &site, &death);
}

/* Messages ---------------------------------------------------------------------------------- */

/* WORDS: NULL if HANDLE says all. Without memory for them there are none. */
static void send(const struct cohort__group *group, uint32_t rank, uint64_t generation,
                 uint32_t tag, uint64_t handle, const struct cohort__packer *words)
{
    const bool are_there = words && !words->status;
    cohort__send_control(group->commons->process, rank,
                         &(struct cohort__envelope){
                             .kind = COHORT__KIND_VERDICT,
                             .instance = group->membership->instance,
                             .generation = generation,
                             .source_site = group->local.sites[0],
                             .dest_site = COHORT__NO_SITE,
                             .tag = tag,
                             .handle = handle,
                         },
                         are_there ? words->data : NULL, are_there ? words->bytes : 0);
}

static void send_all(const struct cohort__group *group, uint64_t generation, uint32_t tag,
                     uint64_t handle, const struct cohort__packer *words)
{
    for (uint32_t i = 0; i < group->num_localities; i++)
        if (locality_at(group, i) != group->rank)
            send(group, locality_at(group, i), generation, tag, handle, words);
}

/* Without the vote the others would wait for ever. */
static void send_vote(const struct verdict *verdict)
{
    const struct cohort__group *group = verdict->group;
    struct cohort__packer words = {0};
    cohort__tally_pack(&verdict->tally, &words);
    if (words.status)
        cohort__process_give_up(group->commons->process, decider_of(group),
                                "can't be told: out of memory here");
    else
        send(group, decider_of(group), verdict->generation, VOTE, WITH_PAYLOAD, &words);
    cohort__packer_fini(&words);
}

/* Life -------------------------------------------------------------------------------------- */

static void destroy(struct verdict *verdict)
{
    for (uint32_t i = 0; verdict && i < verdict->group->local.num; i++)
        cohort__hold_fini(&verdict->holds[i]);
    if (!verdict)
        return;
    cohort__packer_fini(&verdict->words);
    cohort__error_fini(&verdict->error);
    free(verdict);
}

static void verdicts_destroy(struct cohort__annex *annex)
{
    struct verdicts *verdicts = (struct verdicts *)annex;
    struct cohort__list *link;
    cohort__list_splice_back(&verdicts->list, &verdicts->released);
    while ((link = cohort__list_pop_front(&verdicts->list)))
        destroy(verdict_of(link));
    cohort__map_fini(&verdicts->map);
    free(verdicts);
}

/* NULL: there is none yet. */
static struct verdicts *verdicts_of(const struct cohort__group *group)
{
    return (struct verdicts *)atomic_load(&group->verdicts);
}

static struct verdicts *verdicts_make(struct cohort__group *group)
{
    pthread_mutex_lock(&group->lock);
    struct verdicts *verdicts = verdicts_of(group);
    if (!verdicts && (verdicts = calloc(1, sizeof(*verdicts)))) {
        verdicts->annex.destroy = verdicts_destroy;
        cohort__list_init(&verdicts->list);
        cohort__list_init(&verdicts->released);
        cohort__map_init(&verdicts->map);
        atomic_store(&group->verdicts, &verdicts->annex);
    }
    pthread_mutex_unlock(&group->lock);
    return verdicts;
}

/* With the lock held. */
static struct verdict *find(const struct cohort__group *group, uint64_t generation)
{
    const struct verdicts *verdicts = verdicts_of(group);
    struct cohort__map_node *node =
        verdicts ? cohort__map_find(&verdicts->map, cohort__hash_u64(generation), NULL, NULL)
                 : NULL;
    return node ? COHORT_CONTAINER_OF(node, struct verdict, node) : NULL;
}

static void on_done(struct cohort__hold *hold);
static void on_over(struct cohort__hold *hold);

static struct verdict *create(struct cohort__group *group, uint64_t generation)
{
    uint32_t num = group->local.num;
    struct verdict *verdict = calloc(1, sizeof(*verdict) + num * sizeof(verdict->holds[0]));
    cohort_status status = verdict && verdicts_make(group) ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    if (verdict) {
        verdict->group = group;
        verdict->generation = generation;
        verdict->is_decider = group->rank == decider_of(group);
        verdict->num_votes_missing = group->num_localities - 1;
        verdict->num_others_holding = group->num_localities - 1;
    }
    for (uint32_t i = 0; !status && i < num; i++)
        status = cohort__hold_init(&verdict->holds[i], generation, on_done, on_over);
    if (!status)
        return verdict;
    destroy(verdict);
    return NULL;
}

/* Deciding ---------------------------------------------------------------------------------- */

static void describe_plea(const struct cohort__plea *plea, char *text, size_t bytes)
{
    switch (plea->kind) {
    case COHORT__PLEA_DEADLINE:
        snprintf(text, bytes, "the deadline of site %" PRIu32 " is over, %g s after its call",
                 plea->site, (double)plea->nanoseconds * 1e-9);
        break;
    case COHORT__PLEA_SCOPE:
        snprintf(text, bytes, "the scope of the task of site %" PRIu32 " is cancelled", plea->site);
        break;
    default:
        snprintf(text, bytes, "site %" PRIu32 " has cancelled it", plea->site);
    }
}

/* With the lock held, at the decider: all votes are there. */
static void decide(struct verdict *verdict)
{
    const struct cohort__group *group = verdict->group;
    bool is_late = verdict->plea.kind == COHORT__PLEA_DEADLINE;
    char roll_call[360], why[100];
    verdict->outcome = COHORT__OUTCOME_LEFT;
    if (verdict->is_nonsense || !cohort__tally_refuses(&verdict->tally))
        return;
    verdict->outcome = COHORT__OUTCOME_REFUSED;
    cohort__tally_describe(&verdict->tally, verdict->generation, group->membership->locality_of,
                           roll_call, sizeof(roll_call));
    describe_plea(&verdict->plea, why, sizeof(why));
    cohort__error_set(&verdict->error, is_late ? COHORT_ERR_TIMEOUT : COHORT_ERR_CANCELLED,
                      "communicator \"%.60s\", %s; %s", group->name, roll_call, why);
    cohort__message_pack_error(&verdict->words, &verdict->error);
}

/* With the lock held: HOLD is frozen, in its endpoint's turn. One that was made late was counted
 * before, as what it is now: a site that has not called. */
static void count(struct verdict *verdict, struct cohort__hold *hold)
{
    char name[COHORT__TALLY_NAME];
    bool may_end_alone;
    if (hold->is_counted)
        return;
    hold->is_counted = true;
    verdict->num_holding += !cohort__hold_is_over(hold);
    cohort__hold_name(hold, name, sizeof(name), &may_end_alone);
    cohort__tally_add(&verdict->tally, hold->comm->this_site, hold->vote, name, may_end_alone);
}

/* Going on ---------------------------------------------------------------------------------- */

enum step { NOTHING, SEND_VOTE, TELL, FORGET };

/* With the lock held: what has to be done now, without the lock. Until it is done, VERDICT is
 * busy. */
static enum step next_step(struct verdict *verdict)
{
    bool is_awaited = verdict->is_decider && verdict->num_votes_missing > 0;
    bool is_held_elsewhere = verdict->is_decider && verdict->num_others_holding > 0;
    if (verdict->num_busy > 0)
        return NOTHING;
    if (verdict->outcome == COHORT__OUTCOME_OPEN && verdict->is_released)
        verdict->outcome = COHORT__OUTCOME_LEFT;
    else if (verdict->outcome == COHORT__OUTCOME_OPEN && verdict->is_decider && !is_awaited)
        decide(verdict);
    if (verdict->outcome == COHORT__OUTCOME_OPEN && (verdict->is_decider || verdict->has_voted))
        return NOTHING;
    verdict->num_busy = 1;
    if (verdict->outcome == COHORT__OUTCOME_OPEN) {
        verdict->has_voted = true;
        return SEND_VOTE;
    }
    if (!verdict->has_told) {
        verdict->has_told = true;
        for (uint32_t i = 0; i < verdict->group->local.num; i++) {
            struct cohort__hold *hold = &verdict->holds[i];
            if (!hold->comm)
                continue;
            hold->is_told = true;
            hold->next = verdict->to_tell;
            verdict->to_tell = hold;
            verdict->num_busy++;
        }
        return TELL;
    }
    if (verdict->num_holding == 0 && (verdict->is_released || !is_held_elsewhere)) {
        cohort__list_remove(&verdict->link);
        cohort__map_remove(&verdicts_of(verdict->group)->map, &verdict->node);
        return FORGET;
    }
    verdict->num_busy = 0;
    return NOTHING;
}

/* Not those who are made meanwhile: each of them is told as it has frozen. */
static void tell(struct verdict *verdict)
{
    struct cohort__group *group = verdict->group;
    bool is_refused = verdict->outcome == COHORT__OUTCOME_REFUSED;
    if (verdict->is_decider)
        send_all(group, verdict->generation, RESULT, is_refused ? WITH_PAYLOAD : AS_IT_IS,
                 is_refused ? &verdict->words : NULL);
    for (struct cohort__hold *hold; (hold = verdict->to_tell);) {
        verdict->to_tell = hold->next;
        cohort__hold_tell(hold, verdict->outcome, &verdict->error);
    }
}

static void forget(struct verdict *verdict)
{
    struct cohort__group *group = verdict->group;
    if (!verdict->is_decider && !verdict->is_released)
        send(group, decider_of(group), verdict->generation, PASSED, 0, NULL);
    destroy(verdict);
    cohort__group_unref(group);
}

/* With the lock held, which it releases. Then VERDICT may be gone. */
static void go_on(struct verdict *verdict)
{
    struct cohort__group *group = verdict->group;
    enum step step;
    while ((step = next_step(verdict)) != NOTHING) {
        pthread_mutex_unlock(&group->lock);
        if (step == FORGET) {
            forget(verdict);
            return;
        }
        if (step == TELL)
            tell(verdict);
        else
            send_vote(verdict);
        pthread_mutex_lock(&group->lock);
        verdict->num_busy--;
    }
    pthread_mutex_unlock(&group->lock);
}

/* In the endpoint's turn: frozen, or told. A site that was made late is told at once. */
static void on_done(struct cohort__hold *hold)
{
    struct verdict *verdict = hold->owner;
    pthread_mutex_lock(&verdict->group->lock);
    count(verdict, hold);
    bool is_late = verdict->has_told && !hold->is_told;
    if (is_late) {
        hold->is_told = true;
        pthread_mutex_unlock(&verdict->group->lock);
        cohort__hold_tell(hold, verdict->outcome, &verdict->error);
        return;
    }
    verdict->num_busy--;
    go_on(verdict);
}

static void on_over(struct cohort__hold *hold)
{
    struct verdict *verdict = hold->owner;
    pthread_mutex_lock(&verdict->group->lock);
    verdict->num_holding--;
    go_on(verdict);
}

/* Beginning --------------------------------------------------------------------------------- */

/* With the lock held. VERDICT is busy until its caller has had all sites frozen. */
static void enlist(struct verdict *verdict)
{
    struct cohort__group *group = verdict->group;
    cohort__group_ref(group);
    cohort__list_push_back(&verdicts_of(group)->list, &verdict->link);
    cohort__map_insert(&verdicts_of(group)->map, &verdict->node,
                       cohort__hash_u64(verdict->generation));
    verdict->num_busy = 1;
    for (uint32_t i = 0; i < group->local.num; i++) {
        struct cohort__hold *hold = &verdict->holds[i];
        hold->owner = verdict;
        hold->comm = cohort__endpoint_at(group, group->local.sites[i]);
        verdict->num_busy += hold->comm != NULL;
        if (hold->comm)
            continue;
        hold->is_counted = true;
        verdict->num_holding++;
        cohort__tally_add(&verdict->tally, group->local.sites[i], COHORT__VOTE_NOT_CALLED, "",
                          false);
    }
}

static void send_freeze(const struct cohort__group *group, uint64_t generation)
{
    for (uint32_t i = 0; i < group->num_localities; i++)
        if (locality_at(group, i) != group->rank)
            send(group, locality_at(group, i), generation, FREEZE,
                 cohort__group_first_site(group, i), NULL);
}

/* Has the sites here frozen, unless there is a verdict on GENERATION already. PLEA: NULL where
 * another locality decides. */
static cohort_status begin(struct cohort__group *group, uint64_t generation,
                           const struct cohort__plea *plea)
{
    if (is_broken(group))
        return COHORT_OK; /* all calls fail anyway */
    struct verdict *verdict = create(group, generation);
    if (!verdict)
        return cohort_fail(COHORT_ERR_NO_MEMORY,
                           "communicator \"%.60s\", generation %" PRIu64
                           ": no memory to take it back",
                           group->name, generation);
    if (plea)
        verdict->plea = *plea;
    pthread_mutex_lock(&group->lock);
    bool is_there = find(group, generation) != NULL;
    if (!is_there)
        enlist(verdict);
    pthread_mutex_unlock(&group->lock);
    if (is_there) {
        destroy(verdict);
        return COHORT_OK;
    }
    if (verdict->is_decider)
        send_freeze(group, generation);
    for (uint32_t i = 0; i < group->local.num; i++)
        if (!verdict->holds[i].is_counted)
            cohort__hold_freeze(&verdict->holds[i]);
    cohort__group_ref(group);
    pthread_mutex_lock(&group->lock);
    verdict->num_busy--;
    go_on(verdict);
    cohort__verdicts_release(group, false); /* if that has just come */
    cohort__group_unref(group);
    return COHORT_OK;
}

static const struct cohort__field plea_fields[] = {
    COHORT__FIELD(struct cohort__plea, kind, COHORT__NUM_PLEAS - 1),
    COHORT__FIELD(struct cohort__plea, site, UINT32_MAX),
    COHORT__FIELD(struct cohort__plea, nanoseconds, UINT64_MAX),
};
static const struct cohort__schema plea_schema =
    COHORT__SCHEMA(struct cohort__plea, plea_fields, 0);

cohort_status cohort__verdict_ask(struct cohort__group *group, uint64_t generation,
                                  const struct cohort__plea *plea)
{
    if (group->rank == decider_of(group))
        return begin(group, generation, plea);
    struct cohort__packer words = {0};
    cohort__schema_pack(&words, &plea_schema, plea);
    cohort_status status = words.status;
    if (!status)
        send(group, decider_of(group), generation, ASK, WITH_PAYLOAD, &words);
    cohort__packer_fini(&words);
    return status;
}

void cohort__verdicts_join(struct cohort_comm *comm)
{
    struct cohort__group *group = comm->group;
    struct cohort__hold *joined = NULL;
    /* Of its site, among those that are here. */
    const uint32_t place =
        cohort__machine_rank(group->machine, COHORT__LEVEL_LOCALITY, comm->this_site);
    pthread_mutex_lock(&group->lock);
    const struct verdicts *verdicts = verdicts_of(group);
    for (struct cohort__map_node *node = verdicts ? cohort__map_first(&verdicts->map) : NULL; node;
         node = cohort__map_next(&verdicts->map, node)) {
        struct verdict *verdict = COHORT_CONTAINER_OF(node, struct verdict, node);
        struct cohort__hold *hold = &verdict->holds[place];
        if (hold->comm)
            continue;
        hold->comm = comm;
        hold->next = joined;
        joined = hold;
        verdict->num_busy++;
    }
    pthread_mutex_unlock(&group->lock);
    for (struct cohort__hold *hold; (hold = joined);) {
        joined = hold->next;
        cohort__hold_freeze(hold);
    }
}

void cohort__verdicts_release(struct cohort__group *group, bool have_all_left)
{
    struct verdicts *verdicts = verdicts_of(group);
    struct cohort__list *link;
    if (!verdicts || (!have_all_left && !is_broken(group)))
        return;
    pthread_mutex_lock(&group->lock);
    while ((link = cohort__list_pop_front(&verdicts->list))) {
        cohort__list_push_back(&verdicts->released, link);
        verdict_of(link)->is_released = true;
        go_on(verdict_of(link));
        pthread_mutex_lock(&group->lock);
    }
    pthread_mutex_unlock(&group->lock);
}

/* Arrivals ---------------------------------------------------------------------------------- */

static cohort_status take_ask(struct cohort__group *group, const struct cohort__arrival *arrival)
{
    struct cohort__plea plea;
    if (group->rank != decider_of(group))
        return cohort_fail(COHORT_ERR_PROTOCOL, "another locality decides");
    cohort_status status = cohort__schema_unpack(
        &plea_schema, arrival->data, arrival->envelope.payload_bytes, "ASK of a verdict", &plea);
    if (!status && plea.site >= group->membership->num_sites)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "ASK of a verdict: site %" PRIu32, plea.site);
    return status ? status : begin(group, arrival->envelope.generation, &plea);
}

static cohort_status take_freeze(struct cohort__group *group, const struct cohort__arrival *arrival)
{
    if (arrival->envelope.source_locality != decider_of(group))
        return cohort_fail(COHORT_ERR_PROTOCOL, "another locality decides");
    return begin(group, arrival->envelope.generation, NULL);
}

/* None of the sites of locality RANK is there any more. */
static void add_gone(const struct cohort__group *group, uint32_t rank, struct cohort__tally *tally)
{
    for (uint32_t i = 0; i < group->num_localities; i++) {
        struct cohort__members members =
            cohort__machine_members(group->machine, COHORT__LEVEL_LOCALITY, i);
        for (uint32_t k = 0; locality_at(group, i) == rank && k < members.num; k++)
            cohort__tally_add(tally, members.sites[k], COHORT__VOTE_GONE, "", false);
    }
}

static cohort_status take_vote(struct cohort__group *group, const struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    struct cohort__tally tally = {0};
    cohort_status status = COHORT_OK;
    if (envelope->handle == WITH_PAYLOAD)
        status = cohort__tally_unpack(&tally, arrival->data, envelope->payload_bytes,
                                      group->membership->num_sites);
    else if (envelope->handle == ALL_GONE)
        add_gone(group, envelope->source_locality, &tally);
    if (status == COHORT_ERR_NO_MEMORY)
        return status;
    pthread_mutex_lock(&group->lock);
    struct verdict *verdict = find(group, envelope->generation);
    if (!verdict || !verdict->is_decider || verdict->num_votes_missing == 0) {
        pthread_mutex_unlock(&group->lock);
        return status;
    }
    verdict->num_votes_missing--;
    verdict->num_others_holding -= envelope->handle == ALL_GONE && verdict->num_others_holding > 0;
    verdict->is_nonsense |= status != COHORT_OK;
    cohort__tally_merge(&verdict->tally, &tally);
    go_on(verdict);
    return status;
}

/* What makes no sense counts as a result that leaves all as it is. */
static cohort_status take_result(struct cohort__group *group, const struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    struct cohort__error error = {0};
    cohort_status status = COHORT_OK;
    if (envelope->handle == WITH_PAYLOAD && envelope->payload_bytes == 0)
        cohort__error_set(&error, COHORT_ERR_NO_MEMORY,
                          "communicator \"%.60s\", generation %" PRIu64
                          ": taken back; locality %" PRIu32 " has no memory to say why",
                          group->name, envelope->generation, envelope->source_locality);
    else if (envelope->handle == WITH_PAYLOAD)
        status = cohort__message_unpack_error(arrival->data, envelope->payload_bytes, &error);
    if (status == COHORT_ERR_NO_MEMORY)
        return status;
    pthread_mutex_lock(&group->lock);
    struct verdict *verdict = find(group, envelope->generation);
    if (verdict && !verdict->is_decider && verdict->outcome == COHORT__OUTCOME_OPEN) {
        verdict->outcome = error.status ? COHORT__OUTCOME_REFUSED : COHORT__OUTCOME_LEFT;
        verdict->error = error;
        error = (struct cohort__error){0};
        go_on(verdict);
    } else {
        pthread_mutex_unlock(&group->lock);
    }
    cohort__error_fini(&error);
    return status;
}

static cohort_status take_passed(struct cohort__group *group, uint64_t generation)
{
    pthread_mutex_lock(&group->lock);
    struct verdict *verdict = find(group, generation);
    if (verdict && verdict->is_decider && verdict->num_others_holding > 0) {
        verdict->num_others_holding--;
        go_on(verdict);
    } else {
        pthread_mutex_unlock(&group->lock);
    }
    return COHORT_OK;
}

bool cohort__verdict_arrive(struct cohort__group *group, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    cohort_status status = COHORT_OK;
    if (envelope->generation == 0 || envelope->generation > COHORT__GENERATION_MAX)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "there is no such generation");
    else if (envelope->tag == ASK)
        status = take_ask(group, arrival);
    else if (envelope->tag == FREEZE)
        status = take_freeze(group, arrival);
    else if (envelope->tag == VOTE)
        status = take_vote(group, arrival);
    else if (envelope->tag == RESULT)
        status = take_result(group, arrival);
    else if (envelope->tag == PASSED)
        status = take_passed(group, envelope->generation);
    else
        status = cohort_fail(COHORT_ERR_PROTOCOL, "there is no such message");
    if (status)
        cohort__log(COHORT__LOG_WARN,
                    "communicator \"%s\", generation %" PRIu64
                    ": a message of locality %u about taking it back (%u): %s",
                    group->name, envelope->generation, envelope->source_locality, envelope->tag,
                    cohort_error_message());
    cohort__arrival_release(arrival);
    return status != COHORT_ERR_NO_MEMORY;
}

void cohort__verdict_answer_gone(struct cohort__process *process,
                                 const struct cohort__envelope *envelope)
{
    if (envelope->tag == FREEZE)
        cohort__send_control(process, envelope->source_locality,
                             &(struct cohort__envelope){
                                 .kind = COHORT__KIND_VERDICT,
                                 .instance = envelope->instance,
                                 .generation = envelope->generation,
                                 .source_site = (uint32_t)envelope->handle,
                                 .dest_site = COHORT__NO_SITE,
                                 .tag = VOTE,
                                 .handle = ALL_GONE,
                             },
                             NULL, 0);
}

cohort_status cohort_comm_cancel(cohort_comm *comm, uint64_t generation)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_cancel");
    if (!comm)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_comm_cancel: no communicator");
    if (cohort__fork_is_child())
        return cohort__fork_refuse("cohort_comm_cancel");
    if (generation == 0 || generation > COHORT__GENERATION_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_comm_cancel: communicator \"%.60s\", site %" PRIu32
                           ": there is no generation %" PRIu64,
                           comm->group->name, comm->this_site, generation);
    const struct cohort__plea plea = {.kind = COHORT__PLEA_CANCEL, .site = comm->this_site};
    return cohort__verdict_ask(comm->group, generation, &plea);
}
