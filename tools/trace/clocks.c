/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: how the clocks of hosts stand to each other. */
#include "tools/trace/clocks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "tools/trace/keyed.h"

/* Clocks drift apart, by 0.1 ms in 10 s at worst. So the offset of two hosts is found for each
 * window of time, and lies on a line between two windows. */
static const uint64_t window_ns = 5000000000;

static const int64_t slack_ns = 20000;

enum { NO_HOST = UINT32_MAX };

/* A message, of which one end was seen. */
struct message {
    struct keyed keyed; /* of the two localities and its number, and a hash of the same */
    uint64_t sent;
    uint32_t host;
};

/* From one host to another: the least that `received` was behind `sent` in a window, by their own
 * clocks. Window 0 is all. */
struct lag {
    struct keyed keyed; /* from times 2^32, plus to; the window + 1, or 0 */
    int64_t least;
};

struct survey {
    struct part *parts;
    const uint32_t *hosts;
    uint32_t num_parts, num_hosts;
    struct cohort__map messages, lags;
    uint32_t *by_rank; /* the host of each locality; NO_HOST: its part is not here */
    uint32_t size;
    const struct trace_pings *pings; /* NULL: there are none */
    uint32_t pinger;                 /* the host of cohortrun; num_hosts: no part is of that */
    uint32_t *followed; /* which host each follows; the first one itself; NO_HOST: none */
    uint32_t *order;    /* the hosts that follow one, behind that */
    uint32_t num_ordered;
    int64_t *by;       /* by how much each was moved */
    uint64_t *bounds;  /* to within how much that is known */
    int64_t *quickest; /* the least bound of a window */
};

static uint64_t pair(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

static bool note(struct survey *survey, uint64_t hosts, uint64_t window, int64_t lag)
{
    bool is_new;
    struct lag *found = keyed_get(&survey->lags, sizeof(*found), hosts, window, &is_new);
    if (found && (is_new || lag < found->least))
        found->least = lag;
    return found != NULL;
}

/* The windows are those of the sender: they are used when clocks are nearly equal. False: no
 * memory. */
static bool note_at(struct survey *survey, uint64_t hosts, uint64_t sent, int64_t lag)
{
    return note(survey, hosts, 0, lag) && note(survey, hosts, sent / window_ns + 1, lag);
}

static bool note_received(struct survey *survey, const struct message *message,
                          const struct event *event)
{
    uint64_t hosts = pair(message->host, survey->by_rank[event->rank]);
    int64_t lag = (int64_t)(event->at - message->sent);
    return note_at(survey, hosts, message->sent, lag);
}

/* Only messages between hosts. SENT is looked at before RECEIVED. */
static bool look(struct survey *survey, const struct event *event)
{
    bool is_sent = event->kind == COHORT__TRACE_SENT, is_new;
    uint64_t other = event->value;
    if ((!is_sent && event->kind != COHORT__TRACE_RECEIVED) || other >= survey->size ||
        survey->by_rank[other] == NO_HOST || survey->by_rank[other] == survey->by_rank[event->rank])
        return true;
    uint64_t localities =
        is_sent ? pair(event->rank, (uint32_t)other) : pair((uint32_t)other, event->rank);
    if (is_sent) {
        struct message *message =
            keyed_get(&survey->messages, sizeof(*message), localities, event->a, &is_new);
        if (message)
            *message = (struct message){message->keyed, event->at, survey->by_rank[event->rank]};
        return message != NULL;
    }
    const struct message *message = keyed_find(&survey->messages, localities, event->a);
    return !message || note_received(survey, message, event);
}

/* Both are messages like others. */
static bool look_at_ping(struct survey *survey, const struct trace_ping *ping)
{
    uint32_t pinger = survey->pinger,
             host = ping->rank < survey->size ? survey->by_rank[ping->rank] : NO_HOST;
    if (host == NO_HOST || host == pinger)
        return true;
    uint64_t near = (uint64_t)survey->by[pinger], far = (uint64_t)survey->by[host];
    uint64_t sent = ping->sent + near, answered = ping->answered + far;
    int64_t out = (int64_t)(ping->arrived + far - sent);
    int64_t back = (int64_t)(ping->returned + near - answered);
    return note_at(survey, pair(pinger, host), sent, out) &&
           note_at(survey, pair(host, pinger), answered, back);
}

static bool look_at_pings(struct survey *survey)
{
    for (size_t i = 0; survey->pings && i < survey->pings->num; i++)
        if (!look_at_ping(survey, &survey->pings->list[i]))
            return false;
    return true;
}

static bool look_at_all(struct survey *survey, enum cohort__trace_kind kind, struct stream *stream)
{
    for (uint32_t i = 0; i < survey->num_parts; i++)
        for (size_t block = 0; block < survey->parts[i].num_blocks; block = stream->end) {
            struct event event;
            stream_init(stream, &survey->parts[i], block);
            while (stream_next(stream, &event))
                if (event.kind == kind && !look(survey, &event))
                    return false;
        }
    return true;
}

/* By how much FROM's clock is ahead of TO's in a window, and how sure that is. False: not known. */
static bool offset_of(const struct survey *survey, uint32_t from, uint32_t to, uint64_t window,
                      int64_t *ret_ahead, int64_t *ret_bound)
{
    const struct lag *out = keyed_find(&survey->lags, pair(from, to), window);
    const struct lag *back = keyed_find(&survey->lags, pair(to, from), window);
    if (!out || !back)
        return false;
    *ret_ahead = back->least / 2 - out->least / 2; /* in what was damaged they may be any */
    *ret_bound = back->least / 2 + out->least / 2;
    return true;
}

/* The hosts, each behind the one that it follows: the next one is always that of which is known
 * most exactly how it stands to one before it. */
static void make_tree(struct survey *survey)
{
    survey->followed[survey->hosts[0]] = survey->hosts[0];
    survey->order[0] = survey->hosts[0];
    const uint32_t num = survey->num_hosts + 1; /* with that of cohortrun */
    for (survey->num_ordered = 1; survey->num_ordered < num; survey->num_ordered++) {
        int64_t least = INT64_MAX, ahead, bound;
        uint32_t from = NO_HOST, to = NO_HOST;
        for (uint32_t i = 0; i < survey->num_ordered; i++)
            for (uint32_t k = 0; k < num; k++)
                if (survey->followed[k] == NO_HOST &&
                    offset_of(survey, survey->order[i], k, 0, &ahead, &bound) && bound < least) {
                    least = bound;
                    from = survey->order[i];
                    to = k;
                }
        if (to == NO_HOST)
            return; /* the others have exchanged no messages with these */
        survey->followed[to] = from;
        survey->order[survey->num_ordered] = to;
    }
}

static void shift(const struct survey *survey, uint32_t host, int64_t by)
{
    for (uint32_t i = 0; i < survey->num_parts; i++)
        for (size_t k = 0; k < survey->parts[i].num_moments && survey->hosts[i] == host; k++)
            survey->parts[i].moments[k].mono += (uint64_t)by;
}

/* First, all hosts by what holds for the whole time. */
static void align_roughly(const struct survey *survey)
{
    for (uint32_t i = 1; i < survey->num_ordered; i++) {
        uint32_t host = survey->order[i], from = survey->followed[host];
        int64_t ahead = 0, bound = 0;
        offset_of(survey, from, host, 0, &ahead, &bound);
        survey->by[host] = survey->by[from] + ahead;
        survey->bounds[host] = survey->bounds[from] + (bound > 0 ? (uint64_t)bound : 0);
        shift(survey, host, survey->by[host]);
    }
}

/* A window in which only slow messages were seen says little. */
static bool is_sure(int64_t bound, int64_t quickest)
{
    return bound <= 2 * (quickest > 0 ? quickest : 0) + slack_ns;
}

/* How sure the surest window is for each host and the one that it follows. */
static void find_quickest(const struct survey *survey)
{
    const struct cohort__map_node *node;
    for (uint32_t host = 0; host <= survey->num_hosts; host++)
        survey->quickest[host] = INT64_MAX / 4;
    for (node = cohort__map_first(&survey->lags); node;
         node = cohort__map_next(&survey->lags, node)) {
        const struct keyed *keyed = keyed_of((struct cohort__map_node *)node);
        uint32_t from = (uint32_t)(keyed->first >> 32), to = (uint32_t)keyed->first;
        int64_t ahead, bound;
        if (keyed->second > 0 && survey->followed[to] == from &&
            offset_of(survey, from, to, keyed->second, &ahead, &bound) &&
            bound < survey->quickest[to])
            survey->quickest[to] = bound;
    }
}

/* What is left between HOST and the one that it follows in the window, or in the nearest one that
 * says it. */
static int64_t rest_to_next(const struct survey *survey, uint32_t host, uint64_t window)
{
    enum { FARTHEST = 20 };
    for (uint64_t i = 0; i < 2 * FARTHEST; i++) {
        uint64_t other = i % 2 ? window + (i + 1) / 2 : window - i / 2;
        int64_t ahead, bound;
        if (other > 0 && offset_of(survey, survey->followed[host], host, other, &ahead, &bound) &&
            is_sure(bound, survey->quickest[host]))
            return ahead;
    }
    return 0;
}

/* The same between HOST and the first one, along the tree. */
static int64_t rest_of(const struct survey *survey, uint32_t host, uint64_t window)
{
    int64_t rest = 0;
    for (; host != survey->hosts[0]; host = survey->followed[host])
        rest += rest_to_next(survey, host, window + 1);
    return rest;
}

/* Then the rest of each window, which holds in its middle. */
static void align_finely(const struct survey *survey, struct part *part, uint32_t host)
{
    for (size_t i = 0; i < part->num_moments && survey->followed[host] != NO_HOST; i++) {
        uint64_t at = part->moments[i].mono;
        uint64_t first = at > window_ns / 2 ? (at - window_ns / 2) / window_ns : 0;
        double share =
            ((double)at - (double)(first * window_ns + window_ns / 2)) / (double)window_ns;
        int64_t left = rest_of(survey, host, first), right = rest_of(survey, host, first + 1);
        share = share < 0 ? 0 : share;
        part->moments[i].mono += (uint64_t)(left + (int64_t)(share * (double)(right - left)));
    }
}

/* Without messages. */
static void correct_by_day(struct survey *survey, uint32_t host)
{
    const struct part *first = &survey->parts[0];
    for (uint32_t i = 0; i < survey->num_parts; i++) {
        struct part *part = &survey->parts[i];
        if (survey->hosts[i] != host || part->num_moments == 0 || first->num_moments == 0)
            continue;
        int64_t ahead = (int64_t)(part->moments[0].real - part->moments[0].mono) -
                        (int64_t)(first->moments[0].real - first->moments[0].mono);
        survey->by[host] = ahead;
        for (size_t k = 0; k < part->num_moments; k++)
            part->moments[k].mono += (uint64_t)ahead;
    }
}

static bool survey_messages(struct survey *survey)
{
    struct stream *stream = malloc(sizeof(*stream));
    keyed_free(&survey->messages);
    keyed_free(&survey->lags);
    cohort__map_init(&survey->messages);
    cohort__map_init(&survey->lags);
    bool is_good = stream && look_at_all(survey, COHORT__TRACE_SENT, stream) &&
                   look_at_all(survey, COHORT__TRACE_RECEIVED, stream) && look_at_pings(survey);
    free(stream);
    return is_good;
}

static bool align(struct survey *survey)
{
    for (uint32_t rank = 0; rank < survey->size; rank++)
        survey->by_rank[rank] = NO_HOST;
    for (uint32_t i = 0; i < survey->num_parts; i++)
        survey->by_rank[survey->parts[i].head.rank] = survey->hosts[i];
    for (uint32_t host = 0; host <= survey->num_hosts; host++)
        survey->followed[host] = NO_HOST;
    if (!survey_messages(survey))
        return false;
    make_tree(survey);
    for (uint32_t host = 0; host < survey->num_hosts; host++)
        if (survey->followed[host] == NO_HOST)
            correct_by_day(survey, host);
    align_roughly(survey);
    if (!survey_messages(survey))
        return false;
    find_quickest(survey);
    for (uint32_t i = 0; i < survey->num_parts; i++)
        align_finely(survey, &survey->parts[i], survey->hosts[i]);
    return true;
}

/* The host whose clock cohortrun has. */
static uint32_t find_pinger(const struct survey *survey)
{
    for (uint32_t i = 0; survey->pings && i < survey->num_parts; i++)
        if (*survey->parts[i].head.clock &&
            strcmp(survey->parts[i].head.clock, survey->pings->clock) == 0)
            return survey->hosts[i];
    return survey->num_hosts;
}

static void tell(const struct survey *survey, struct known_clock *ret_clocks)
{
    for (uint32_t host = 0; host < survey->num_hosts; host++)
        ret_clocks[host] = (struct known_clock){
            .known = host == survey->hosts[0]            ? COHORT__TRACE_CLOCK_SAME
                     : survey->followed[host] == NO_HOST ? COHORT__TRACE_CLOCK_DAY
                                                         : COHORT__TRACE_CLOCK_COMPARED,
            .ahead = -survey->by[host],
            .bound = survey->bounds[host],
        };
}

cohort_status clocks_align(struct part *parts, uint32_t num_parts, const uint32_t *clocks,
                           uint32_t num_clocks, const struct trace_pings *pings,
                           struct known_clock *ret_clocks)
{
    ret_clocks[0] = (struct known_clock){.known = COHORT__TRACE_CLOCK_SAME};
    if (num_clocks < 2)
        return COHORT_OK;
    struct survey survey = {
        .parts = parts,
        .hosts = clocks,
        .num_parts = num_parts,
        .num_hosts = num_clocks,
        .size = parts[0].head.size,
        .pings = pings,
        .by_rank = calloc(parts[0].head.size, sizeof(*survey.by_rank)),
        .followed = calloc(num_clocks + 1, sizeof(*survey.followed)),
        .order = calloc(num_clocks + 1, sizeof(*survey.order)),
        .by = calloc(num_clocks + 1, sizeof(*survey.by)),
        .bounds = calloc(num_clocks + 1, sizeof(*survey.bounds)),
        .quickest = calloc(num_clocks + 1, sizeof(*survey.quickest)),
    };
    survey.pinger = find_pinger(&survey);
    cohort__map_init(&survey.messages);
    cohort__map_init(&survey.lags);
    bool is_good = survey.by_rank && survey.followed && survey.order && survey.by &&
                   survey.bounds && survey.quickest && align(&survey);
    if (is_good)
        tell(&survey, ret_clocks);
    keyed_free(&survey.messages);
    keyed_free(&survey.lags);
    free(survey.by_rank);
    free(survey.followed);
    free(survey.order);
    free(survey.by);
    free(survey.bounds);
    free(survey.quickest);
    return is_good ? COHORT_OK
                   : cohort_fail(COHORT_ERR_NO_MEMORY, "trace: no memory to compare clocks");
}
