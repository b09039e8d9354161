/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what the localities of this host have counted with COHORT_STATS. */
#include "tools/cohortrun/tally.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/ledger_read.h"
#include "runtime/launch/control.h"
#include "tools/cohortrun/deadline.h"

static const uint64_t interval_ns = 1000000000;

struct tally {
    struct tally_options options;
    struct deadline next;
    uint64_t counted_at[]; /* of each locality; 0: it has counted nothing yet */
};

bool tally_is_wanted(const char *setting)
{
    return setting && *setting && strcmp(setting, "0") != 0;
}

/* A ledger may say anything: it is about the locality that it belongs to. */
static void take(void *context, const void *line)
{
    cohort__counters_take(context, line);
}

static void look_at(struct tally *tally, uint32_t slot)
{
    struct cohort__ledger_view view;
    struct cohort__counters now = {.at = 0};
    if (tally->options.ledger < 0 || cohort__ledger_view_init(&view, tally->options.ledger, slot))
        return;
    (void)!cohort__ledger_each(&view, COHORT__LEDGER_COUNTERS, take, &now);
    if (now.at == 0 || now.at == tally->counted_at[slot])
        return;
    tally->counted_at[slot] = now.at;
    now.rank = tally->options.first + slot;
    tally->options.counted(tally->options.context, &now);
}

static void look_at_all(void *context)
{
    struct tally *tally = context;
    for (uint32_t slot = 0; slot < tally->options.num; slot++)
        look_at(tally, slot);
    deadline_set(&tally->next, interval_ns);
}

struct tally *tally_create(const struct tally_options *options)
{
    struct tally *tally = calloc(1, sizeof(*tally) + options->num * sizeof(tally->counted_at[0]));
    if (!tally)
        return NULL;
    tally->options = *options;
    deadline_init(&tally->next, options->loop, look_at_all, tally);
    deadline_set(&tally->next, interval_ns);
    return tally;
}

void tally_look(struct tally *tally, uint32_t rank)
{
    if (tally && rank - tally->options.first < tally->options.num)
        look_at(tally, rank - tally->options.first);
}

void tally_close(struct tally *tally)
{
    if (tally)
        deadline_clear(&tally->next);
}

void tally_destroy(struct tally *tally)
{
    free(tally);
}

static const struct cohort__field fields[] = {
    COHORT__FIELD(struct cohort__counters, at, UINT64_MAX),
    COHORT__FIELD(struct cohort__counters, rank, COHORT__CONTROL_MAX_LOCALITIES - 1),
    COHORT__FIELD(struct cohort__counters, of, UINT64_MAX),
};
const struct cohort__schema tally_schema = COHORT__SCHEMA(struct cohort__counters, fields, 0);
