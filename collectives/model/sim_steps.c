/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/sim_steps.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"

static bool is_before(struct cohort__sim_entry a, struct cohort__sim_entry b)
{
    return a.key < b.key || (a.key <= b.key && a.value < b.value);
}

bool cohort__sim_heap_push(struct cohort__sim_heap *heap, double key, uint64_t value)
{
    if (heap->count == heap->capacity) {
        size_t capacity = 2 * heap->capacity + 4;
        void *entries = realloc(heap->entries, capacity * sizeof(*heap->entries));
        if (!entries)
            return false;
        heap->entries = entries;
        heap->capacity = capacity;
    }
    struct cohort__sim_entry entry = {key, value};
    size_t at = heap->count++;
    for (; at > 0 && is_before(entry, heap->entries[(at - 1) / 2]); at = (at - 1) / 2)
        heap->entries[at] = heap->entries[(at - 1) / 2];
    heap->entries[at] = entry;
    return true;
}

struct cohort__sim_entry cohort__sim_heap_pop(struct cohort__sim_heap *heap)
{
    struct cohort__sim_entry first = heap->entries[0];
    struct cohort__sim_entry last = heap->entries[--heap->count];
    size_t at = 0;
    for (size_t next = 1; next < heap->count; next = 2 * at + 1) {
        if (next + 1 < heap->count && is_before(heap->entries[next + 1], heap->entries[next]))
            next++;
        if (!is_before(heap->entries[next], last))
            break;
        heap->entries[at] = heap->entries[next];
        at = next;
    }
    heap->entries[at] = last;
    return first;
}

void cohort__sim_heap_fini(struct cohort__sim_heap *heap)
{
    free(heap->entries);
}

#define NO_PARTNER UINT32_MAX

cohort_status cohort__sim_steps_fail(const struct cohort__sim_steps *steps, uint32_t step,
                                     const char *what)
{
    const struct cohort__sim_step *at = &steps->steps[step];
    uint32_t index = step - steps->first[at->site];
    if (at->kind == COHORT__STEP_SEND || at->kind == COHORT__STEP_RECV)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "plan %s, site %u, step %u (%s %u, phase %u): %s", steps->name, at->site,
                           index, at->kind == COHORT__STEP_SEND ? "SEND to" : "RECV from", at->peer,
                           at->phase, what);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "plan %s, site %u, step %u (phase %u): %s",
                       steps->name, at->site, index, at->phase, what);
}

static cohort_status no_memory(uint32_t num_sites)
{
    return cohort_fail(COHORT_ERR_NO_MEMORY, "simulation of %u sites: no memory for their steps",
                       num_sites);
}

/* Makes room for COUNT more items, and one. False if memory ran out, or if there are too many items
 * for their numbers. */
static bool reserve(void **items, size_t *capacity, uint32_t used, uint32_t count, size_t bytes)
{
    size_t needed = (size_t)used + count + 1;
    if (needed >= UINT32_MAX)
        return false;
    if (needed <= *capacity)
        return true;
    size_t larger = needed + needed / 2;
    void *moved = realloc(*items, larger * bytes);
    if (!moved)
        return false;
    *items = moved;
    *capacity = larger;
    return true;
}

static bool is_sound(const struct cohort__plan *plan, const struct cohort__step *step)
{
    bool is_message = step->kind == COHORT__STEP_SEND || step->kind == COHORT__STEP_RECV;
    bool is_meet = step->kind == COHORT__STEP_MEET && step->tag < COHORT__PLAN_MEETINGS &&
                   step->collective < COHORT__EXCHANGE;
    return (step->kind <= COHORT__STEP_DONE || is_meet) && step->phase <= COHORT__LAST_PHASE &&
           (!is_message || (step->peer < plan->num_sites && step->peer != plan->this_site));
}

static void append(struct cohort__sim_steps *self, const struct cohort__plan *plan)
{
    uint32_t first = self->num_steps;
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        self->steps[self->num_steps++] =
            (struct cohort__sim_step){.bytes = step->bytes,
                                      .site = plan->this_site,
                                      .peer = step->peer,
                                      .partner = step->tag,
                                      .num_waits = step->num_waits,
                                      .first_successor = self->num_successors,
                                      .kind = step->kind,
                                      .phase = step->phase,
                                      .collective = step->collective};
        for (uint32_t k = 0; k < step->num_successors; k++)
            self->successors[self->num_successors++] =
                first + plan->successors[step->first_successor + k];
        self->num_messages += step->kind == COHORT__STEP_SEND;
        self->num_meets += step->kind == COHORT__STEP_MEET;
    }
    self->steps[self->num_steps].first_successor = self->num_successors;
    self->first[plan->this_site + 1] = self->num_steps;
}

static void count_memory(struct cohort__sim_steps *self, const struct cohort__plan *plan)
{
    size_t memory = plan->in_bytes + plan->out_bytes + plan->tmp_bytes;
    if (memory > self->memory) {
        self->memory = memory;
        self->memory_site = plan->this_site;
    }
    if (plan->tmp_bytes > self->tmp_bytes) {
        self->tmp_bytes = plan->tmp_bytes;
        self->tmp_site = plan->this_site;
    }
}

static cohort_status take(struct cohort__sim_steps *self, uint32_t site,
                          const struct cohort__plan *plan)
{
    if (plan->num_sites != self->num_sites || plan->this_site != site)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "plan %s for site %u of %u is for site %u of %u", plan->name, site,
                           self->num_sites, plan->this_site, plan->num_sites);
    for (uint32_t i = 0; i < plan->num_steps; i++)
        if (!is_sound(plan, &plan->steps[i]))
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               "plan %s, site %u, step %u: no such kind, phase or peer", plan->name,
                               site, i);
    if (!reserve((void **)&self->steps, &self->step_capacity, self->num_steps, plan->num_steps,
                 sizeof(*self->steps)) ||
        !reserve((void **)&self->successors, &self->successor_capacity, self->num_successors,
                 plan->num_successors, sizeof(*self->successors)))
        return no_memory(self->num_sites);
    self->name = plan->name;
    append(self, plan);
    count_memory(self, plan);
    return COHORT_OK;
}

/* Matches SENDs and RECVs one receiver after the other, with a table of the RECVs of one site. */
struct matching {
    uint32_t *first; /* for each receiver, into sends; first[num_sites] is how many messages there
                      * are */
    uint32_t *sends; /* the numbers of the SENDs, by receiver */
    uint32_t *table; /* open addressing: the number of a RECV + 1, or 0 */
    size_t table_size;
};

static size_t slot_of(const struct matching *matching, uint32_t source, uint8_t phase, uint32_t tag)
{
    uint64_t hash = cohort__hash_mix((uint64_t)phase << 32 | source, tag);
    return (size_t)hash & (matching->table_size - 1);
}

static bool matching_init(struct matching *matching, const struct cohort__sim_steps *steps)
{
    matching->first = calloc(steps->num_sites + (size_t)2, sizeof(*matching->first));
    matching->sends = malloc((steps->num_messages + (size_t)1) * sizeof(*matching->sends));
    if (!matching->first || !matching->sends)
        return false;
    /* first[site + 1] is where the next SEND to site is stored. So at the end it is where the SENDs
     * to the next site begin. */
    for (uint32_t i = 0; i < steps->num_steps; i++)
        if (steps->steps[i].kind == COHORT__STEP_SEND)
            matching->first[steps->steps[i].peer + 2]++;
    for (uint32_t site = 0; site < steps->num_sites; site++)
        matching->first[site + 1] += matching->first[site];
    for (uint32_t i = 0; i < steps->num_steps; i++)
        if (steps->steps[i].kind == COHORT__STEP_SEND)
            matching->sends[matching->first[steps->steps[i].peer + 1]++] = i;
    return true;
}

/* Puts the RECVs of SITE into the table. */
static bool fill_table(struct matching *matching, const struct cohort__sim_steps *steps,
                       uint32_t site)
{
    size_t num_recvs = 0;
    for (uint32_t i = steps->first[site]; i < steps->first[site + 1]; i++)
        num_recvs += steps->steps[i].kind == COHORT__STEP_RECV;
    size_t size = 4;
    while (size < 2 * num_recvs)
        size *= 2;
    uint32_t *table = realloc(matching->table, size * sizeof(*table));
    if (!table)
        return false;
    memset(table, 0, size * sizeof(*table));
    matching->table = table;
    matching->table_size = size;
    for (uint32_t i = steps->first[site]; i < steps->first[site + 1]; i++) {
        const struct cohort__sim_step *step = &steps->steps[i];
        if (step->kind != COHORT__STEP_RECV)
            continue;
        size_t slot = slot_of(matching, step->peer, step->phase, step->partner);
        while (table[slot] != 0)
            slot = (slot + 1) & (size - 1);
        table[slot] = i + 1;
    }
    return true;
}

/* Takes the RECV for SEND out of the table, so that it is found only once. */
static uint32_t find_recv(struct matching *matching, const struct cohort__sim_steps *steps,
                          const struct cohort__sim_step *send)
{
    size_t slot = slot_of(matching, send->site, send->phase, send->partner);
    for (; matching->table[slot] != 0; slot = (slot + 1) & (matching->table_size - 1)) {
        uint32_t number = matching->table[slot] - 1;
        if (number == NO_PARTNER - 1)
            continue;
        const struct cohort__sim_step *recv = &steps->steps[number];
        if (recv->peer == send->site && recv->phase == send->phase &&
            recv->partner == send->partner) {
            matching->table[slot] = NO_PARTNER;
            return number;
        }
    }
    return NO_PARTNER;
}

static cohort_status match_receiver(struct matching *matching, struct cohort__sim_steps *steps,
                                    uint32_t site)
{
    if (!fill_table(matching, steps, site))
        return no_memory(steps->num_sites);
    for (uint32_t i = matching->first[site]; i < matching->first[site + 1]; i++) {
        struct cohort__sim_step *send = &steps->steps[matching->sends[i]];
        uint32_t recv = find_recv(matching, steps, send);
        if (recv == NO_PARTNER)
            return cohort__sim_steps_fail(steps, matching->sends[i], "nobody receives it");
        if (steps->steps[recv].bytes != send->bytes)
            return cohort__sim_steps_fail(steps, matching->sends[i],
                                          "the receiver expects another size");
        send->partner = recv;
        steps->steps[recv].partner = matching->sends[i];
    }
    for (uint32_t slot = 0; slot < matching->table_size; slot++)
        if (matching->table[slot] != 0 && matching->table[slot] != NO_PARTNER)
            return cohort__sim_steps_fail(steps, matching->table[slot] - 1, "nobody sends it");
    return COHORT_OK;
}

static cohort_status match(struct cohort__sim_steps *steps)
{
    struct matching matching = {0};
    cohort_status status =
        matching_init(&matching, steps) ? COHORT_OK : no_memory(steps->num_sites);
    for (uint32_t site = 0; site < steps->num_sites && status == COHORT_OK; site++)
        status = match_receiver(&matching, steps, site);
    free(matching.first);
    free(matching.sends);
    free(matching.table);
    return status;
}

cohort_status cohort__sim_steps_init(struct cohort__sim_steps *ret_steps, uint32_t num_sites,
                                     cohort__sim_get_plan *get_plan, void *argument)
{
    struct cohort__sim_steps steps = {.num_sites = num_sites, .name = "?"};
    cohort_status status = COHORT_OK;
    steps.first = calloc(num_sites + (size_t)1, sizeof(*steps.first));
    if (!steps.first)
        status = no_memory(num_sites);
    for (uint32_t site = 0; site < num_sites && status == COHORT_OK; site++) {
        struct cohort__plan *plan = NULL;
        status = get_plan(argument, site, &plan);
        if (status == COHORT_OK)
            status = take(&steps, site, plan);
        cohort__plan_unref(plan);
    }
    if (status == COHORT_OK)
        status = match(&steps);
    if (status == COHORT_OK)
        *ret_steps = steps;
    else
        cohort__sim_steps_fini(&steps);
    return status;
}

void cohort__sim_steps_fini(struct cohort__sim_steps *steps)
{
    free(steps->steps);
    free(steps->successors);
    free(steps->first);
}
