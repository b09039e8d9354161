/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what the localities of this host have counted with COHORT_STATS. */
#include "tools/cohortrun/stats_watch.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/ledger_read.h"
#include "runtime/launch/control.h"
#include "tools/cohortrun/timer.h"

static const uint64_t interval_ns = 1000000000;

struct stats_watch {
    struct stats_watch_options options;
    struct timer next;
    uint64_t counted_at[]; /* of each locality; 0: it has counted nothing yet */
};

bool stats_watch_is_wanted(const char *setting)
{
    return setting && *setting && strcmp(setting, "0") != 0;
}

/* A ledger may say anything: it is about the locality that it belongs to. */
static void take(void *context, const void *line)
{
    cohort__counters_take(context, line);
}

static void look_at(struct stats_watch *watch, uint32_t slot)
{
    struct cohort__ledger_view view;
    struct cohort__counters now = {.at = 0};
    if (watch->options.ledger < 0 || cohort__ledger_view_init(&view, watch->options.ledger, slot))
        return;
    (void)!cohort__ledger_each(&view, COHORT__LEDGER_COUNTERS, take, &now);
    if (now.at == 0 || now.at == watch->counted_at[slot])
        return;
    watch->counted_at[slot] = now.at;
    now.rank = watch->options.first + slot;
    watch->options.counted(watch->options.context, &now);
}

static void look_at_all(void *context)
{
    struct stats_watch *watch = context;
    for (uint32_t slot = 0; slot < watch->options.num; slot++)
        look_at(watch, slot);
    timer_set(&watch->next, interval_ns);
}

struct stats_watch *stats_watch_create(const struct stats_watch_options *options)
{
    struct stats_watch *watch =
        calloc(1, sizeof(*watch) + options->num * sizeof(watch->counted_at[0]));
    if (!watch)
        return NULL;
    watch->options = *options;
    timer_init(&watch->next, options->loop, look_at_all, watch);
    timer_set(&watch->next, interval_ns);
    return watch;
}

void stats_watch_look(struct stats_watch *watch, uint32_t rank)
{
    if (watch && rank - watch->options.first < watch->options.num)
        look_at(watch, rank - watch->options.first);
}

void stats_watch_close(struct stats_watch *watch)
{
    if (watch)
        timer_clear(&watch->next);
}

void stats_watch_destroy(struct stats_watch *watch)
{
    free(watch);
}

static const struct cohort__field fields[] = {
    COHORT__FIELD(struct cohort__counters, at, UINT64_MAX),
    COHORT__FIELD(struct cohort__counters, rank, COHORT__CONTROL_MAX_LOCALITIES - 1),
    COHORT__FIELD(struct cohort__counters, of, UINT64_MAX),
};
const struct cohort__schema stats_schema = COHORT__SCHEMA(struct cohort__counters, fields, 0);
