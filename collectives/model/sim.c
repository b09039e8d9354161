/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/sim.h"

#include <stdlib.h>

#include "collectives/model/sim_steps.h"

/* Times whose relative difference is smaller than this differ only by rounding. They count as one
 * instant. */
static const double rounding = 1e-12;

/* The resources that only one job can hold at a time: each site's port for sending, port for
 * receiving and processor. After those of all sites come the links that several routes share. */
enum own { SEND_PORT, RECV_PORT, PROCESSOR, NUM_OWN };

struct resource {
    struct cohort__sim_heap queue; /* the jobs that wait for it, by their order */
    bool is_taken;
};

/* What takes time: a message or a reduction. */
struct job {
    uint64_t order;   /* jobs with a lower order go first */
    uint32_t step;    /* its SEND or REDUCE */
    uint8_t missing;  /* how many ends are not ready */
    bool was_delayed; /* by a link */
};

#define NO_JOB UINT32_MAX

struct simulation {
    const struct cohort__network *network;
    const struct cohort__sim_costs *costs;
    struct cohort__sim_steps steps;
    struct job *jobs;
    uint32_t num_jobs;
    uint32_t *job_of; /* the job of each SEND, RECV and REDUCE */
    struct resource *resources;
    size_t num_resources;
    double now;
    uint32_t num_over; /* how many steps are done */
    uint32_t *news;    /* done steps whose successors have not been told yet */
    uint32_t num_news;
    uint32_t *ready; /* jobs that have become ready at this instant */
    uint32_t num_ready;
    uint64_t num_ordered;               /* how many jobs have become ready so far */
    struct cohort__sim_heap ends;       /* running jobs, by the time of their end */
    struct cohort__sim_heap candidates; /* what may start now, by order: a job, or (num_jobs + its
                                         * number) a resource that has become free and has a
                                         * queue */
    bool has_begun[COHORT__LAST_PHASE + 1];
    bool out_of_memory;
    struct cohort__sim_result result;
};

/* An iterator over the resources of a job. */
struct needs {
    const struct cohort__sim_step *step;
    struct cohort__route route;
    uint32_t num_seen;
};

static struct needs needs_begin(const struct simulation *self, uint32_t job)
{
    const struct cohort__sim_step *step = &self->steps.steps[self->jobs[job].step];
    struct needs needs = {.step = step};
    if (step->kind == COHORT__STEP_SEND)
        needs.route = cohort__route_begin(self->network, step->site, step->peer);
    return needs;
}

/* The number of the next resource. Ports come before links. False at the end. */
static bool needs_next(const struct simulation *self, struct needs *needs, size_t *ret_resource)
{
    const struct cohort__sim_step *step = needs->step;
    uint32_t seen = needs->num_seen++;
    uint64_t link;
    if (step->kind == COHORT__STEP_REDUCE) {
        *ret_resource = (size_t)step->site * NUM_OWN + PROCESSOR;
        return seen == 0;
    }
    if (seen < 2) {
        *ret_resource = seen == 0 ? (size_t)step->site * NUM_OWN + SEND_PORT
                                  : (size_t)step->peer * NUM_OWN + RECV_PORT;
        return true;
    }
    while (cohort__route_next(&needs->route, &link)) {
        *ret_resource = (size_t)self->network->num_sites * NUM_OWN + link;
        if (link < self->network->num_shared)
            return true;
    }
    return false;
}

static void candidate_add(struct simulation *self, uint64_t order, uint64_t what)
{
    self->out_of_memory |= !cohort__sim_heap_push(&self->candidates, (double)order, what);
}

/* The first job in the queue of a resource, if there is one, may start unless it waits for others.
 */
static void queue_candidate(struct simulation *self, size_t number)
{
    const struct cohort__sim_heap *queue = &self->resources[number].queue;
    if (queue->count > 0)
        candidate_add(self, self->jobs[queue->entries[0].value].order, self->num_jobs + number);
}

static void release(struct simulation *self, uint32_t job)
{
    struct needs needs = needs_begin(self, job);
    size_t number;
    while (needs_next(self, &needs, &number)) {
        struct resource *resource = &self->resources[number];
        resource->is_taken = false;
        queue_candidate(self, number);
    }
}

static void phase_begin(struct simulation *self, const struct cohort__sim_step *step)
{
    struct cohort__sim_phase *phase = &self->result.phases[step->phase];
    if (!self->has_begun[step->phase])
        phase->start = self->now;
    self->has_begun[step->phase] = true;
    if (step->kind == COHORT__STEP_SEND) {
        phase->messages++;
        phase->bytes += step->bytes;
    }
}

static double duration(const struct simulation *self, const struct cohort__sim_step *step)
{
    const struct cohort__sim_costs *costs = self->costs;
    double bytes = (double)step->bytes;
    if (step->kind == COHORT__STEP_REDUCE)
        return costs->reduce * bytes;
    if (cohort__network_is_inside(self->network, step->site, step->peer))
        return costs->inside_startup + costs->inside_per_byte * bytes;
    return costs->startup + costs->per_byte * bytes;
}

static void start(struct simulation *self, uint32_t job)
{
    struct needs needs = needs_begin(self, job);
    size_t number;
    while (needs_next(self, &needs, &number))
        self->resources[number].is_taken = true;
    phase_begin(self, needs.step);
    if (needs.step->kind == COHORT__STEP_SEND && self->result.contenders == 0)
        self->result.contenders = 1;
    double end = self->now + duration(self, needs.step);
    self->out_of_memory |= !cohort__sim_heap_push(&self->ends, end, job);
}

static void wait_for(struct simulation *self, uint32_t job, size_t number)
{
    struct resource *resource = &self->resources[number];
    self->out_of_memory |=
        !cohort__sim_heap_push(&resource->queue, (double)self->jobs[job].order, job);
    if (number < (size_t)self->network->num_sites * NUM_OWN)
        return;
    if (!self->jobs[job].was_delayed)
        self->result.delayed++;
    self->jobs[job].was_delayed = true;
    if (resource->queue.count + 1 > self->result.contenders)
        self->result.contenders = (uint32_t)resource->queue.count + 1;
}

/* Starts JOB, or puts it into the queue of the first resource that is taken. */
static void try_job(struct simulation *self, uint32_t job)
{
    struct needs needs = needs_begin(self, job);
    size_t number;
    while (needs_next(self, &needs, &number)) {
        if (self->resources[number].is_taken) {
            wait_for(self, job, number);
            return;
        }
    }
    start(self, job);
}

/* Tries the first job in the queue of a resource that has become free, unless the resource is taken
 * again. If this job has to wait for another resource, the next job becomes a candidate. */
static void try_queue(struct simulation *self, size_t number)
{
    struct resource *resource = &self->resources[number];
    if (resource->is_taken || resource->queue.count == 0)
        return;
    try_job(self, (uint32_t)cohort__sim_heap_pop(&resource->queue).value);
    if (!resource->is_taken)
        queue_candidate(self, number);
}

static void step_over(struct simulation *self, uint32_t step)
{
    self->num_over++;
    self->news[self->num_news++] = step;
}

/* STEP has nothing more to wait for at its own site. */
static void step_ready(struct simulation *self, uint32_t step)
{
    uint32_t job = self->job_of[step];
    if (job == NO_JOB)
        step_over(self, step);
    else if (--self->jobs[job].missing == 0)
        self->ready[self->num_ready++] = job;
}

static void tell_successors(struct simulation *self)
{
    const struct cohort__sim_steps *steps = &self->steps;
    while (self->num_news > 0) {
        const struct cohort__sim_step *step = &steps->steps[self->news[--self->num_news]];
        for (uint32_t i = step[0].first_successor; i < step[1].first_successor; i++)
            if (--steps->steps[steps->successors[i]].num_waits == 0)
                step_ready(self, steps->successors[i]);
    }
}

static void finish(struct simulation *self, uint32_t job)
{
    uint32_t number = self->jobs[job].step;
    const struct cohort__sim_step *step = &self->steps.steps[number];
    self->result.phases[step->phase].end = self->now;
    release(self, job);
    step_over(self, number);
    if (step->kind == COHORT__STEP_SEND)
        step_over(self, step->partner);
}

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Gives the jobs that have become ready their order. Jobs are numbered by site and step. */
static void admit_ready(struct simulation *self)
{
    qsort(self->ready, self->num_ready, sizeof(*self->ready), by_number);
    for (uint32_t i = 0; i < self->num_ready; i++) {
        self->jobs[self->ready[i]].order = self->num_ordered++;
        candidate_add(self, self->jobs[self->ready[i]].order, self->ready[i]);
    }
    self->num_ready = 0;
}

static void start_what_can(struct simulation *self)
{
    admit_ready(self);
    while (self->candidates.count > 0) {
        uint64_t what = cohort__sim_heap_pop(&self->candidates).value;
        if (what < self->num_jobs)
            try_job(self, (uint32_t)what);
        else
            try_queue(self, what - self->num_jobs);
    }
}

static cohort_status run(struct simulation *self)
{
    const struct cohort__sim_steps *steps = &self->steps;
    for (uint32_t i = 0; i < steps->num_steps; i++)
        if (steps->steps[i].num_waits == 0)
            step_ready(self, i);
    tell_successors(self);
    start_what_can(self);
    while (self->ends.count > 0 && !self->out_of_memory) {
        self->now = self->ends.entries[0].key;
        double instant = self->now + rounding * self->now;
        while (self->ends.count > 0 && self->ends.entries[0].key <= instant)
            finish(self, (uint32_t)cohort__sim_heap_pop(&self->ends).value);
        tell_successors(self);
        start_what_can(self);
    }
    if (self->out_of_memory)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "simulation of %u sites: no memory for its events",
                           steps->num_sites);
    for (uint32_t i = 0; i < steps->num_steps && self->num_over < steps->num_steps; i++)
        if (steps->steps[i].num_waits > 0)
            return cohort__sim_steps_fail(steps, i, "never starts: deadlock");
    self->result.time = self->now;
    return COHORT_OK;
}

static void add_job(struct simulation *self, uint32_t step, uint8_t missing)
{
    self->job_of[step] = self->num_jobs;
    self->jobs[self->num_jobs++] = (struct job){.step = step, .missing = missing};
}

static bool init_jobs(struct simulation *self)
{
    const struct cohort__sim_steps *steps = &self->steps;
    bool reduces = self->costs->reduce > 0;
    size_t num_jobs = steps->num_messages;
    for (uint32_t i = 0; reduces && i < steps->num_steps; i++)
        num_jobs += steps->steps[i].kind == COHORT__STEP_REDUCE;
    self->jobs = calloc(num_jobs + 1, sizeof(*self->jobs));
    self->ready = calloc(num_jobs + 1, sizeof(*self->ready));
    self->job_of = calloc(steps->num_steps + (size_t)1, sizeof(*self->job_of));
    self->news = calloc(steps->num_steps + (size_t)1, sizeof(*self->news));
    if (!self->jobs || !self->ready || !self->job_of || !self->news)
        return false;
    for (uint32_t i = 0; i < steps->num_steps; i++) {
        uint8_t kind = steps->steps[i].kind;
        self->job_of[i] = NO_JOB;
        if (kind == COHORT__STEP_SEND || (kind == COHORT__STEP_REDUCE && reduces))
            add_job(self, i, kind == COHORT__STEP_SEND ? 2 : 1);
    }
    for (uint32_t i = 0; i < steps->num_steps; i++)
        if (steps->steps[i].kind == COHORT__STEP_RECV)
            self->job_of[i] = self->job_of[steps->steps[i].partner];
    return true;
}

static cohort_status init(struct simulation *self)
{
    self->num_resources = (size_t)self->network->num_sites * NUM_OWN + self->network->num_shared;
    self->resources = calloc(self->num_resources, sizeof(*self->resources));
    if (!self->resources || !init_jobs(self))
        return cohort_fail(COHORT_ERR_NO_MEMORY, "simulation of %u sites: no memory",
                           self->network->num_sites);
    self->result.messages = self->steps.num_messages;
    for (uint32_t i = 0; i < self->steps.num_steps; i++)
        if (self->steps.steps[i].kind == COHORT__STEP_SEND)
            self->result.bytes += self->steps.steps[i].bytes;
    self->result.memory = self->steps.memory;
    self->result.memory_site = self->steps.memory_site;
    self->result.tmp_bytes = self->steps.tmp_bytes;
    self->result.tmp_site = self->steps.tmp_site;
    return COHORT_OK;
}

/* What goes over each link, which does not depend on time. */
struct counting {
    const struct cohort__network *network;
    const struct cohort__sim_steps *steps;
    struct cohort__sim_result *result;
    size_t capacity; /* of result->links */
};

static void count_message(struct cohort__sim_link *at, uint64_t link, size_t bytes)
{
    at->link = link;
    at->bytes += bytes;
    at->messages++;
}

/* Moves LINK to the result, if anything went over it. */
static bool collect(struct counting *counting, struct cohort__sim_link *link)
{
    struct cohort__sim_result *result = counting->result;
    if (link->messages == 0)
        return true;
    if (result->num_links == counting->capacity) {
        size_t capacity = counting->capacity + counting->capacity / 2 + 64;
        void *larger = realloc(result->links, capacity * sizeof(*result->links));
        if (!larger)
            return false;
        result->links = larger;
        counting->capacity = capacity;
    }
    if (link->bytes > result->busiest.bytes || result->busiest.messages == 0)
        result->busiest = *link;
    result->links[result->num_links++] = *link;
    *link = (struct cohort__sim_link){0};
    return true;
}

/* Counts the links that several routes share. */
static bool count_shared(struct counting *counting)
{
    const struct cohort__network *network = counting->network;
    struct cohort__sim_link *links = calloc(network->num_shared + 1, sizeof(*links));
    bool ok = links != NULL;
    for (uint32_t i = 0; ok && i < counting->steps->num_steps; i++) {
        const struct cohort__sim_step *step = &counting->steps->steps[i];
        if (step->kind != COHORT__STEP_SEND)
            continue;
        struct cohort__route route = cohort__route_begin(network, step->site, step->peer);
        uint64_t link;
        while (cohort__route_next(&route, &link))
            if (link < network->num_shared)
                count_message(&links[link], link, step->bytes);
    }
    for (uint64_t link = 0; ok && link < network->num_shared; link++)
        ok = collect(counting, &links[link]);
    free(links);
    return ok;
}

/* Counts the links from SITE to each other site. LINKS has one for each site, all zero before and
 * after. */
static bool count_direct(struct counting *counting, uint32_t site, struct cohort__sim_link *links,
                         uint32_t *peers)
{
    const struct cohort__sim_steps *steps = counting->steps;
    size_t num_peers = 0;
    bool ok = true;
    for (uint32_t i = steps->first[site]; i < steps->first[site + 1]; i++) {
        const struct cohort__sim_step *step = &steps->steps[i];
        uint64_t link;
        if (step->kind != COHORT__STEP_SEND)
            continue;
        struct cohort__route route = cohort__route_begin(counting->network, site, step->peer);
        cohort__route_next(&route, &link);
        if (link < counting->network->num_shared)
            continue;
        if (links[step->peer].messages == 0)
            peers[num_peers++] = step->peer;
        count_message(&links[step->peer], link, step->bytes);
    }
    qsort(peers, num_peers, sizeof(*peers), by_number);
    for (size_t i = 0; i < num_peers && ok; i++)
        ok = collect(counting, &links[peers[i]]);
    return ok;
}

/* Site by site: for all sites at once the array would have num_sites squared entries. */
static bool count_all_direct(struct counting *counting)
{
    uint32_t num_sites = counting->network->num_sites;
    struct cohort__sim_link *links = calloc(num_sites, sizeof(*links));
    uint32_t *peers = calloc(num_sites, sizeof(*peers));
    bool ok = links && peers;
    for (uint32_t site = 0; site < num_sites && ok; site++)
        ok = count_direct(counting, site, links, peers);
    free(links);
    free(peers);
    return ok;
}

static cohort_status count_links(struct simulation *self)
{
    const struct cohort__network *network = self->network;
    struct counting counting = {network, &self->steps, &self->result, 0};
    if (count_shared(&counting) &&
        (network->num_links == network->num_shared || count_all_direct(&counting)))
        return COHORT_OK;
    cohort__sim_result_fini(&self->result);
    return cohort_fail(COHORT_ERR_NO_MEMORY, "simulation of %u sites: no memory for its links",
                       network->num_sites);
}

static void fini(struct simulation *self)
{
    cohort__sim_steps_fini(&self->steps);
    cohort__sim_heap_fini(&self->ends);
    cohort__sim_heap_fini(&self->candidates);
    free(self->jobs);
    free(self->ready);
    free(self->job_of);
    free(self->news);
    for (size_t i = 0; self->resources && i < self->num_resources; i++)
        cohort__sim_heap_fini(&self->resources[i].queue);
    free(self->resources);
}

cohort_status cohort__simulate(const struct cohort__network *network,
                               const struct cohort__sim_costs *costs,
                               cohort__sim_get_plan *get_plan, void *argument,
                               struct cohort__sim_result *ret_result)
{
    struct simulation self = {.network = network, .costs = costs};
    cohort_status status =
        cohort__sim_steps_init(&self.steps, network->num_sites, get_plan, argument);
    if (status != COHORT_OK)
        return status;
    if (self.steps.num_meets > 0)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER,
                             "plan %s: on a network nobody meets: that needs a machine",
                             self.steps.name);
    if (status == COHORT_OK)
        status = init(&self);
    if (status == COHORT_OK)
        status = run(&self);
    if (status == COHORT_OK)
        status = count_links(&self);
    if (status == COHORT_OK)
        *ret_result = self.result;
    fini(&self);
    return status;
}

struct row {
    const struct cohort__algorithm *algorithm;
    struct cohort__request request;
};

static cohort_status build_row(void *argument, uint32_t site, struct cohort__plan **ret_plan)
{
    struct row *row = argument;
    row->request.this_site = site;
    return cohort__algorithm_build(row->algorithm, &row->request, ret_plan);
}

cohort_status cohort__simulate_algorithm(const struct cohort__network *network,
                                         const struct cohort__sim_costs *costs,
                                         const struct cohort__algorithm *algorithm,
                                         const struct cohort__request *request,
                                         struct cohort__sim_result *ret_result)
{
    struct row row = {.algorithm = algorithm, .request = *request};
    if (request->num_sites != network->num_sites)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "simulation of %s: a network of %u sites for a call of %u",
                           algorithm->name, network->num_sites, request->num_sites);
    return cohort__simulate(network, costs, build_row, &row, ret_result);
}

void cohort__sim_result_fini(struct cohort__sim_result *result)
{
    free(result->links);
    result->links = NULL;
}
