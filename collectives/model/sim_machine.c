/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/sim_machine.h"

#include <stdlib.h>

#include "collectives/model/sim_cores.h"
#include "collectives/model/sim_steps.h"

/* How far it is from one site to another. */
static enum cohort__distance sim_distance(const struct cohort__sim_machine *machine, uint32_t from,
                                          uint32_t to)
{
    uint32_t per_host = machine->localities * machine->tasks;
    if (from / per_host != to / per_host)
        return COHORT__DISTANCE_HOSTS;
    return from / machine->tasks != to / machine->tasks ? COHORT__DISTANCE_LOCALITIES
                                                        : COHORT__DISTANCE_TASKS;
}

/* Hosts that share cores are namespaces of one machine: no wire is between them, and what their
 * messages wait for is work of these cores. */
static bool has_wire(const struct cohort__sim_machine *machine, enum cohort__distance distance)
{
    return distance != COHORT__DISTANCE_HOSTS || !machine->is_shared;
}

/* Between the SEND and the RECV of a message: once, and for each byte. */
static double sim_startup(const struct cohort__sim_machine *machine, enum cohort__distance distance)
{
    return has_wire(machine, distance) ? machine->parameters->terms[distance][COHORT__TERM_STARTUP]
                                       : 0;
}

static double sim_per_byte(const struct cohort__sim_machine *machine,
                           enum cohort__distance distance)
{
    return has_wire(machine, distance) ? machine->parameters->terms[distance][COHORT__TERM_BYTE]
                                       : 0;
}

/* The work of one end of a message. */
static double half(const struct cohort__sim_machine *machine, const struct cohort__sim_step *step)
{
    enum cohort__distance distance = sim_distance(machine, step->site, step->peer);
    const double *terms = machine->parameters->terms[distance];
    double message = terms[COHORT__TERM_MESSAGE], moved = terms[COHORT__TERM_MOVED];
    if (!has_wire(machine, distance)) {
        message += terms[COHORT__TERM_STARTUP];
        moved += terms[COHORT__TERM_BYTE];
    }
    return (message + moved * (double)step->bytes) / 2;
}

/* The work of STEP at its site: a SEND, RECV, REDUCE or MEET; 0 for others. */
static double sim_work(const struct cohort__sim_machine *machine,
                       const struct cohort__sim_step *step)
{
    const double *terms = machine->parameters->terms[COHORT__DISTANCE_TASKS];
    double bytes = (double)step->bytes;
    switch (step->kind) {
    case COHORT__STEP_SEND:
    case COHORT__STEP_RECV:
        return half(machine, step);
    case COHORT__STEP_REDUCE:
        return (terms[COHORT__TERM_COMBINED] + terms[COHORT__TERM_REDUCED]) * bytes;
    case COHORT__STEP_MEET:
        return terms[COHORT__TERM_MESSAGE];
    default:
        return 0;
    }
}

/* What is to be done when all are there of a meeting, of which STEP is one's MEET. */
static double sim_movement(const struct cohort__sim_machine *machine,
                           const struct cohort__sim_step *step)
{
    const double *terms = machine->parameters->terms[COHORT__DISTANCE_TASKS];
    const struct cohort__request request = {
        .collective = step->collective,
        .num_sites = machine->tasks,
        .root = step->peer,
        .arity = 2,
        .bytes = step->bytes,
        .commutative = true,
        .can_meet = true,
    };
    struct cohort__cost cost =
        cohort__algorithm_cost(cohort__algorithm_find(request.collective, "shared"), &request);
    return terms[COHORT__TERM_STARTUP] * cost.startups + terms[COHORT__TERM_BYTE] * cost.bytes +
           terms[COHORT__TERM_REDUCED] * cost.reduced + terms[COHORT__TERM_MOVED] * cost.moved +
           terms[COHORT__TERM_COMBINED] * cost.combined;
}

/* A work is a SEND, RECV, REDUCE or MEET, by the number of the step, or the start of a site: the
 * number of steps + the site. */

enum { IS_READY = 1, IS_WORKED = 2, IS_TURN = 4 };

/* A step that is over, and the work that has ended it. */
struct news {
    uint32_t step;
    uint32_t by;
};

/* Those who have come to a meeting. */
struct meeting {
    uint32_t num;
    uint32_t latest; /* its MEET; the one before it is that step's `peer` */
};

struct run {
    const struct cohort__sim_machine *machine;
    struct cohort__sim_steps steps;
    struct cohort__sim_cores cores;
    struct cohort__sim_heap events; /* by time; a work and whether it ends: 2 work + 1, or begins */
    uint32_t num_works;
    double *starts; /* of each work, with a turn before it */
    double *ends;
    uint32_t *causes; /* of each work: the one whose end let it start */
    uint8_t *flags;   /* of each work */
    uint8_t *reaches; /* of each site: the farthest distance of its messages */
    struct meeting *meetings;
    double *links; /* of each host: until when the link up is taken, and the link down */
    struct news *news;
    uint32_t num_news;
    uint32_t num_over; /* steps */
    uint32_t latest;   /* the work that ended last */
    double now;
    bool out_of_memory;
    struct cohort__sim_account account;
};

uint32_t cohort__sim_machine_sites(const struct cohort__sim_machine *machine)
{
    return machine->hosts * machine->localities * machine->tasks;
}

static bool is_start(const struct run *self, uint32_t work)
{
    return work >= self->steps.num_steps;
}

static uint32_t site_of(const struct run *self, uint32_t work)
{
    return is_start(self, work) ? work - self->steps.num_steps : self->steps.steps[work].site;
}

static enum cohort__distance distance_of(const struct run *self, uint32_t work)
{
    const struct cohort__sim_step *step = &self->steps.steps[work];
    if (is_start(self, work))
        return (enum cohort__distance)self->reaches[site_of(self, work)];
    if (step->kind == COHORT__STEP_SEND || step->kind == COHORT__STEP_RECV)
        return sim_distance(self->machine, step->site, step->peer);
    return COHORT__DISTANCE_TASKS;
}

static const double *terms_of(const struct run *self, uint32_t work)
{
    return self->machine->parameters->terms[distance_of(self, work)];
}

static void push_event(struct run *self, double time, uint32_t work, bool is_end)
{
    self->out_of_memory |= !cohort__sim_heap_push(&self->events, time, 2 * (uint64_t)work + is_end);
}

/* Works ------------------------------------------------------------------------------------- */

static struct meeting *meeting_of(struct run *self, const struct cohort__sim_step *step)
{
    uint32_t locality = step->site / self->machine->tasks;
    return &self->meetings[(size_t)locality * COHORT__PLAN_MEETINGS + step->partner];
}

static double duration(struct run *self, uint32_t work)
{
    const struct cohort__sim_step *step = &self->steps.steps[work];
    if (is_start(self, work))
        return terms_of(self, work)[COHORT__TERM_SITE];
    double time = sim_work(self->machine, step);
    /* A locality does one work at a time, so the last one to begin is the last one to come. */
    if (step->kind == COHORT__STEP_MEET && ++meeting_of(self, step)->num == self->machine->tasks)
        time += sim_movement(self->machine, step);
    return time;
}

static void go(struct run *self, struct cohort__sim_go go)
{
    double turn = go.is_turn ? self->machine->turn : 0;
    double time = duration(self, go.work);
    self->flags[go.work] |= go.is_turn ? IS_TURN : 0;
    self->starts[go.work] = self->now;
    self->ends[go.work] = self->now + turn + time;
    self->account.busy += turn + time;
    push_event(self, self->ends[go.work], go.work, true);
}

/* WORK can be done, since CAUSE is over. */
static void add_work(struct run *self, uint32_t work, uint32_t cause)
{
    struct cohort__sim_go next;
    self->causes[work] = cause;
    if (cohort__sim_cores_add(&self->cores, site_of(self, work) / self->machine->tasks, work,
                              &next))
        go(self, next);
}

/* Steps ------------------------------------------------------------------------------------- */

static void step_over(struct run *self, uint32_t step, uint32_t by)
{
    self->num_over++;
    self->news[self->num_news++] = (struct news){step, by};
}

/* STEP waits for no other step of its site any more; BY is the work that has ended the last one. */
static void step_ready(struct run *self, uint32_t step, uint32_t by)
{
    switch (self->steps.steps[step].kind) {
    case COHORT__STEP_RECV:
        self->flags[step] |= IS_READY;
        if (self->flags[step] & IS_WORKED)
            step_over(self, step, by);
        break;
    case COHORT__STEP_SEND:
    case COHORT__STEP_REDUCE:
    case COHORT__STEP_MEET:
        add_work(self, step, by);
        break;
    default:
        step_over(self, step, by);
    }
}

static void tell_successors(struct run *self)
{
    const struct cohort__sim_steps *steps = &self->steps;
    while (self->num_news > 0) {
        struct news news = self->news[--self->num_news];
        const struct cohort__sim_step *step = &steps->steps[news.step];
        for (uint32_t i = step[0].first_successor; i < step[1].first_successor; i++)
            if (--steps->steps[steps->successors[i]].num_waits == 0)
                step_ready(self, steps->successors[i], news.by);
    }
}

/* The site's first steps can start. */
static void site_started(struct run *self, uint32_t site, uint32_t by)
{
    const struct cohort__sim_steps *steps = &self->steps;
    for (uint32_t i = steps->first[site]; i < steps->first[site + 1]; i++)
        if (--steps->steps[i].num_waits == 0)
            step_ready(self, i, by);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* When the message of SEND, which has been sent now, comes to its receiver. */
static double arrival(struct run *self, uint32_t send)
{
    const struct cohort__sim_step *step = &self->steps.steps[send];
    enum cohort__distance distance = distance_of(self, send);
    double startup = sim_startup(self->machine, distance);
    double time = sim_per_byte(self->machine, distance) * (double)step->bytes;
    if (distance != COHORT__DISTANCE_HOSTS)
        return self->now + startup + time;
    uint32_t per_host = self->machine->localities * self->machine->tasks;
    double *up = &self->links[2 * (size_t)(step->site / per_host)];
    double *down = &self->links[2 * (size_t)(step->peer / per_host) + 1];
    *up = larger(*up, self->now) + time;
    *down = larger(*up + startup, *down + time);
    return *down;
}

static void meet_over(struct run *self, uint32_t work)
{
    struct cohort__sim_step *step = &self->steps.steps[work];
    struct meeting *meeting = meeting_of(self, step);
    step->peer = meeting->latest;
    meeting->latest = work;
    if (meeting->num < self->machine->tasks)
        return;
    for (uint32_t i = work; i != COHORT__NO_WORK; i = self->steps.steps[i].peer)
        step_over(self, i, work);
}

static void work_over(struct run *self, uint32_t work)
{
    const struct cohort__sim_step *step = &self->steps.steps[work];
    struct cohort__sim_go next;
    self->latest = work;
    if (is_start(self, work)) {
        site_started(self, site_of(self, work), work);
    } else if (step->kind == COHORT__STEP_RECV) {
        self->flags[work] |= IS_WORKED;
        if (self->flags[work] & IS_READY)
            step_over(self, work, work);
    } else if (step->kind == COHORT__STEP_MEET) {
        meet_over(self, work);
    } else {
        step_over(self, work, work);
    }
    if (!is_start(self, work) && step->kind == COHORT__STEP_SEND)
        push_event(self, arrival(self, work), step->partner, false);
    tell_successors(self);
    if (cohort__sim_cores_over(&self->cores, site_of(self, work) / self->machine->tasks, &next)) {
        self->causes[next.work] = work; /* it has waited for this one, or follows it */
        go(self, next);
    }
}

/* Whether some of a locality's sites don't come to the meeting of MEET. */
static bool is_missed(struct run *self, const struct cohort__sim_step *step)
{
    return step->kind == COHORT__STEP_MEET && meeting_of(self, step)->num < self->machine->tasks;
}

/* All steps must be over. */
static cohort_status check_end(struct run *self)
{
    const struct cohort__sim_steps *steps = &self->steps;
    bool is_complete = self->num_over == steps->num_steps;
    for (uint32_t i = 0; i < steps->num_steps && !is_complete; i++)
        if (steps->steps[i].num_waits == 0 && is_missed(self, &steps->steps[i]))
            return cohort__sim_steps_fail(steps, i, "not all of the locality meet");
    for (uint32_t i = 0; i < steps->num_steps && !is_complete; i++)
        if (steps->steps[i].num_waits > 0)
            return cohort__sim_steps_fail(steps, i, "never starts: deadlock");
    return COHORT_OK;
}

static cohort_status run(struct run *self)
{
    const struct cohort__sim_steps *steps = &self->steps;
    for (uint32_t site = 0; site < steps->num_sites; site++) {
        uint32_t work = steps->num_steps + site;
        push_event(self, terms_of(self, work)[COHORT__TERM_CALL], work, false);
    }
    while (self->events.count > 0 && !self->out_of_memory) {
        struct cohort__sim_entry event = cohort__sim_heap_pop(&self->events);
        uint32_t work = (uint32_t)(event.value / 2);
        self->now = event.key;
        if (event.value % 2)
            work_over(self, work);
        else
            add_work(self, work,
                     is_start(self, work) ? COHORT__NO_WORK : steps->steps[work].partner);
    }
    if (self->out_of_memory)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "simulation of %u sites: no memory for its events",
                           steps->num_sites);
    return check_end(self);
}

/* The critical path ------------------------------------------------------------------------- */

/* What a work takes without a turn. A meeting's movement counts as its last one's work. */
static void account_work(struct run *self, uint32_t work)
{
    double turn = self->flags[work] & IS_TURN ? self->machine->turn : 0;
    self->account.turns += turn;
    self->account.reaches[distance_of(self, work)].work +=
        self->ends[work] - self->starts[work] - turn;
}

/* From the last work back to the first one. Before each of them is its cause, or a message's way
 * from there. */
static void account_path(struct run *self)
{
    self->account.time = self->ends[self->latest];
    for (uint32_t work = self->latest;;) {
        uint32_t cause = self->causes[work];
        account_work(self, work);
        if (cause == COHORT__NO_WORK) {
            self->account.calls = self->starts[work];
            return;
        }
        self->account.reaches[distance_of(self, work)].wire +=
            self->starts[work] - self->ends[cause];
        work = cause;
    }
}

static void account_all(struct run *self)
{
    const struct cohort__sim_machine *machine = self->machine;
    const struct cohort__sim_steps *steps = &self->steps;
    double cores = (double)machine->cores * (machine->is_shared ? 1 : machine->hosts);
    account_path(self);
    for (uint32_t i = 0; i < steps->num_steps; i++)
        if (steps->steps[i].kind == COHORT__STEP_SEND) {
            self->account.reaches[distance_of(self, i)].messages++;
            self->account.reaches[distance_of(self, i)].bytes += steps->steps[i].bytes;
        }
    self->account.memory = steps->memory;
    self->account.tmp_bytes = steps->tmp_bytes;
    self->account.busy =
        self->account.time > 0 ? self->account.busy / self->account.time / cores : 0;
}

/* The beginning ----------------------------------------------------------------------------- */

/* Finds how far each site reaches, and lets its first steps wait for its start. */
static void prepare(struct run *self)
{
    struct cohort__sim_steps *steps = &self->steps;
    for (uint32_t i = 0; i < steps->num_steps; i++) {
        struct cohort__sim_step *step = &steps->steps[i];
        uint8_t distance = (uint8_t)distance_of(self, i);
        step->num_waits++;
        if (distance > self->reaches[step->site])
            self->reaches[step->site] = distance;
    }
    for (size_t i = 0; i < steps->num_sites / self->machine->tasks * COHORT__PLAN_MEETINGS; i++)
        self->meetings[i].latest = COHORT__NO_WORK;
}

static bool allocate(struct run *self)
{
    const struct cohort__sim_machine *machine = self->machine;
    uint32_t localities = machine->hosts * machine->localities;
    size_t works = self->num_works;
    self->starts = calloc(works, sizeof(*self->starts));
    self->ends = calloc(works, sizeof(*self->ends));
    self->causes = calloc(works, sizeof(*self->causes));
    self->flags = calloc(works, sizeof(*self->flags));
    self->reaches = calloc(self->steps.num_sites, sizeof(*self->reaches));
    self->meetings = calloc((size_t)localities * COHORT__PLAN_MEETINGS, sizeof(*self->meetings));
    self->links = calloc(2 * (size_t)machine->hosts, sizeof(*self->links));
    self->news = calloc(self->steps.num_steps + (size_t)1, sizeof(*self->news));
    return cohort__sim_cores_init(&self->cores, localities,
                                  machine->is_shared ? localities : machine->localities,
                                  machine->cores, self->num_works) &&
           self->starts && self->ends && self->causes && self->flags && self->reaches &&
           self->meetings && self->links && self->news;
}

static void fini(struct run *self)
{
    cohort__sim_steps_fini(&self->steps);
    cohort__sim_cores_fini(&self->cores);
    cohort__sim_heap_fini(&self->events);
    free(self->starts);
    free(self->ends);
    free(self->causes);
    free(self->flags);
    free(self->reaches);
    free(self->meetings);
    free(self->links);
    free(self->news);
}

cohort_status cohort__simulate_machine(const struct cohort__sim_machine *machine,
                                       cohort__sim_get_plan *get_plan, void *argument,
                                       struct cohort__sim_account *ret_account)
{
    struct run self = {.machine = machine};
    uint32_t num_sites = cohort__sim_machine_sites(machine);
    cohort_status status = cohort__sim_steps_init(&self.steps, num_sites, get_plan, argument);
    if (status)
        return status;
    self.num_works = self.steps.num_steps + num_sites;
    if (self.num_works < num_sites || !allocate(&self))
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "simulation of %u sites: no memory", num_sites);
    if (!status) {
        prepare(&self);
        status = run(&self);
    }
    if (!status) {
        account_all(&self);
        *ret_account = self.account;
    }
    fini(&self);
    return status;
}
