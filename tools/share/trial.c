/* SPDX-License-Identifier: Apache-2.0 */
/* tools: times single algorithms in a communicator. */
#include "tools/share/trial.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_CALLS = 1000 };

/* What site 0 tells the others to do. 0 calls: this is the end. */
struct order {
    struct trial trial;
    uint64_t calls;
    uint64_t num_rows; /* 0: CALLS calls of TRIAL. Else these take TURNS turns, see alternate. */
    uint64_t turns;
    uint32_t rows[TRIAL_MAX_ROWS];
};

struct site {
    const struct trial_group *group;
    cohort_comm *comm;
    uint32_t index;
    uint64_t generation;
    double *in, *out; /* room for `elements` */
    size_t elements;
};

struct trial_lead {
    struct site site; /* first */
};

uint64_t trial_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double trial_median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

uint64_t trial_calls(double call_ns, double round_ns)
{
    double calls = round_ns / (call_ns > 1 ? call_ns : 1);
    return calls < 1 ? 1 : calls > MAX_CALLS ? MAX_CALLS : (uint64_t)calls;
}

static bool has_blocks(uint32_t collective)
{
    return collective == COHORT__ALL_TO_ALL || collective == COHORT__ALL_GATHER ||
           collective == COHORT__REDUCE_SCATTER || collective == COHORT__GATHER ||
           collective == COHORT__SCATTER;
}

/* The elements of the larger of a site's two buffers. */
static size_t elements_of(const struct site *site, const struct trial *trial)
{
    size_t count = trial->bytes / sizeof(double);
    bool is_root = site->index == site->group->options.root_site;
    bool is_rooted = cohort__collective_is_rooted((enum cohort__collective)trial->collective);
    return has_blocks(trial->collective) && (is_root || !is_rooted)
               ? count * site->group->options.num_sites
               : count;
}

/* Makes buffers for TRIAL, and writes to all their pages: a page that is only read has no memory of
 * its own yet. */
static cohort_status make_room(struct site *site, const struct trial *trial)
{
    size_t elements = elements_of(site, trial);
    if (elements <= site->elements)
        return COHORT_OK;
    free(site->in);
    free(site->out);
    site->elements = 0;
    site->in = malloc(elements * sizeof(double));
    site->out = malloc(elements * sizeof(double));
    if (!site->in || !site->out)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for two buffers of %zu bytes",
                           elements * sizeof(double));
    for (size_t i = 0; i < elements; i++)
        site->in[i] = site->out[i] = 1;
    site->elements = elements;
    return COHORT_OK;
}

static cohort_future *start_rooted(const struct site *site, const struct trial *trial)
{
    cohort_comm *comm = site->comm;
    size_t count = trial->bytes / sizeof(double);
    bool is_root = site->index == site->group->options.root_site;
    uint64_t generation = site->generation;
    switch (trial->collective) {
    case COHORT__GATHER:
        return is_root
                   ? cohort_gather_here(comm, site->in, site->out, count, COHORT_DOUBLE, generation)
                   : cohort_gather_there(comm, site->in, count, COHORT_DOUBLE, generation);
    case COHORT__SCATTER:
        return is_root
                   ? cohort_scatter_to(comm, site->in, site->out, count, COHORT_DOUBLE, generation)
                   : cohort_scatter_from(comm, site->out, count, COHORT_DOUBLE, generation);
    case COHORT__BROADCAST:
        return is_root ? cohort_broadcast_to(comm, site->in, count, COHORT_DOUBLE, generation)
                       : cohort_broadcast_from(comm, site->out, count, COHORT_DOUBLE, generation);
    default:
        return is_root ? cohort_reduce_here(comm, site->in, site->out, count, COHORT_DOUBLE,
                                            COHORT_MAX, generation)
                       : cohort_reduce_there(comm, site->in, count, COHORT_DOUBLE, COHORT_MAX,
                                             generation);
    }
}

/* The next call. Reductions are by maximum, so that values don't grow. */
static cohort_future *start(const struct site *site, const struct trial *trial)
{
    cohort_comm *comm = site->comm;
    const double *in = site->in;
    double *out = site->out;
    size_t count = trial->bytes / sizeof(double);
    uint64_t generation = site->generation;
    switch (trial->collective) {
    case COHORT__ALL_GATHER:
        return cohort_all_gather(comm, in, out, count, COHORT_DOUBLE, generation);
    case COHORT__ALL_REDUCE:
        return cohort_all_reduce(comm, in, out, count, COHORT_DOUBLE, COHORT_MAX, generation);
    case COHORT__ALL_TO_ALL:
        return cohort_all_to_all(comm, in, out, count, COHORT_DOUBLE, generation);
    case COHORT__BARRIER:
        return cohort_barrier(comm, generation);
    case COHORT__REDUCE_SCATTER:
        return cohort_reduce_scatter(comm, in, out, count, COHORT_DOUBLE, COHORT_MAX, generation);
    case COHORT__SCAN:
        return cohort_scan(comm, in, out, count, COHORT_DOUBLE, COHORT_MAX, generation);
    case COHORT__EXCLUSIVE_SCAN:
        return cohort_exclusive_scan(comm, in, out, count, COHORT_DOUBLE, COHORT_MAX, generation);
    case COHORT__SHIFT:
        return cohort_shift(comm, in, out, count, COHORT_DOUBLE, 1, generation);
    default:
        return start_rooted(site, trial);
    }
}

static cohort_status call(struct site *site, const struct trial *trial)
{
    site->generation++;
    const cohort_call_options options = {.algorithm = cohort__algorithms[trial->row]->name};
    cohort_status status = cohort_comm_next_call(site->comm, &options);
    return status ? status : cohort_await(start(site, trial));
}

/* The algorithm of orders and barriers, which is the same whatever is being measured. */
static cohort_status next_is_linear(struct site *site)
{
    return cohort_comm_next_call(site->comm, &(cohort_call_options){.algorithm = "linear"});
}

static cohort_status agree(struct site *site, struct order *order)
{
    uint64_t generation = ++site->generation;
    size_t words = sizeof(*order) / sizeof(uint64_t);
    cohort_status status = next_is_linear(site);
    if (status)
        return status;
    return cohort_await(
        site->index == site->group->options.root_site
            ? cohort_broadcast_to(site->comm, order, words, COHORT_UINT64, generation)
            : cohort_broadcast_from(site->comm, order, words, COHORT_UINT64, generation));
}

static cohort_status meet(struct site *site)
{
    cohort_status status = next_is_linear(site);
    return status ? status : cohort_await(cohort_barrier(site->comm, ++site->generation));
}

/* Whether no site can complete before all have begun. */
static bool synchronises(uint32_t collective)
{
    return collective == COHORT__ALL_GATHER || collective == COHORT__ALL_REDUCE ||
           collective == COHORT__ALL_TO_ALL || collective == COHORT__REDUCE_SCATTER ||
           collective == COHORT__BARRIER;
}

/* If site 0 may complete long before the others, the time ends when all have completed. */
static cohort_status obey(struct site *site, const struct order *order, uint64_t *ret_elapsed_ns)
{
    cohort_status status = make_room(site, &order->trial);
    if (!status)
        status = meet(site);
    uint64_t start_ns = trial_now();
    for (uint64_t i = 0; !status && i < order->calls; i++)
        status = call(site, &order->trial);
    if (!status && !synchronises(order->trial.collective))
        status = meet(site);
    *ret_elapsed_ns = trial_now() - start_ns;
    return status;
}

/* A call that no site leaves before all have come, or one with a barrier behind it. */
static cohort_status call_in_step(struct site *site, const struct trial *trial)
{
    cohort_status status = call(site, trial);
    return status || synchronises(trial->collective) ? status : meet(site);
}

/* What a row does in its turn. Site 0 may leave a call long before the others do, and what is left
 * is then in the time of the next one. So a row's first call is not timed. */
static cohort_status take_turn(struct site *site, const struct trial *trial, uint64_t calls,
                               double *ret_ns)
{
    cohort_status status = call_in_step(site, trial);
    uint64_t start_ns = trial_now();
    for (uint64_t i = 0; !status && i < calls; i++)
        status = call_in_step(site, trial);
    *ret_ns = (double)(trial_now() - start_ns) / (double)calls;
    return status;
}

/* RET_NS: as trial_alternate's, or NULL. */
static cohort_status alternate(struct site *site, const struct order *order, double *ret_ns)
{
    struct trial trial = order->trial;
    cohort_status status = make_room(site, &trial);
    if (!status)
        status = meet(site);
    for (uint64_t turn = 0; turn < order->turns; turn++)
        for (uint64_t i = 0; !status && i < order->num_rows; i++) {
            uint64_t place = (turn + i) % order->num_rows;
            double ns;
            trial.row = order->rows[place];
            status = take_turn(site, &trial, order->calls, &ns);
            if (ret_ns)
                ret_ns[place * order->turns + turn] = ns;
        }
    return status;
}

cohort_comm *trial_comm(struct trial_lead *lead)
{
    return lead->site.comm;
}

struct cohort__request trial_request(struct trial_lead *lead, const struct trial *trial)
{
    const cohort_comm *comm = lead->site.comm;
    enum cohort__collective collective = (enum cohort__collective)trial->collective;
    return (struct cohort__request){
        .collective = collective,
        .num_sites = cohort_comm_num_sites(comm),
        .arity = cohort_comm_arity(comm),
        .shift = collective == COHORT__SHIFT ? 1 % cohort_comm_num_sites(comm) : 0,
        .bytes = trial->bytes,
        .element = cohort__collective_reduces(collective) ? sizeof(double) : 1,
        .commutative = true,
        .can_meet =
            cohort_algorithm_check(lead->site.comm, cohort__collective_name(collective), "shared",
                                   trial->bytes / sizeof(double), COHORT_DOUBLE, NULL) == COHORT_OK,
    };
}

uint32_t trial_rows(struct trial_lead *lead, const struct trial *trial, uint32_t *ret_rows,
                    uint32_t max)
{
    const char *collective = cohort__collective_name((enum cohort__collective)trial->collective);
    uint32_t num = 0;
    for (uint32_t row = 0; row < cohort__num_algorithms && num < max; row++)
        if (cohort__algorithms[row]->collective == trial->collective &&
            !cohort_algorithm_check(trial_comm(lead), collective, cohort__algorithms[row]->name,
                                    trial->bytes / sizeof(double), COHORT_DOUBLE, NULL))
            ret_rows[num++] = row;
    return num;
}

double trial_memory(struct trial_lead *lead, const struct trial *trial)
{
    struct cohort__request request = trial_request(lead, trial);
    const struct cohort__algorithm *row = cohort__algorithms[trial->row];
    double blocks = has_blocks(trial->collective) ? request.num_sites : 1;
    double buffers = 2 * blocks * (double)trial->bytes;
    if (cohort__collective_is_rooted(request.collective))
        return buffers + request.num_sites * 2.0 * (double)trial->bytes +
               (!row->stages ? request.num_sites * cohort__algorithm_cost(row, &request).memory
                             : 0);
    return request.num_sites *
           (buffers + (!row->stages ? cohort__algorithm_cost(row, &request).memory : 0));
}

cohort_status trial_time(struct trial_lead *lead, const struct trial *trial, uint64_t calls,
                         double *ret_ns)
{
    struct order order = {.trial = *trial, .calls = calls};
    uint64_t elapsed_ns;
    cohort_status status = agree(&lead->site, &order);
    if (!status)
        status = obey(&lead->site, &order, &elapsed_ns);
    if (!status)
        *ret_ns = (double)elapsed_ns / (double)calls;
    return status;
}

cohort_status trial_alternate(struct trial_lead *lead, const struct trial *trial,
                              const uint32_t *rows, uint32_t num, uint64_t turns, uint64_t calls,
                              double *ret_ns)
{
    struct order order = {.trial = *trial, .calls = calls, .num_rows = num, .turns = turns};
    if (num > TRIAL_MAX_ROWS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%u rows can't take turns, at most %d",
                           (unsigned)num, TRIAL_MAX_ROWS);
    memcpy(order.rows, rows, num * sizeof(*rows));
    cohort_status status = agree(&lead->site, &order);
    return status ? status : alternate(&lead->site, &order, ret_ns);
}

static cohort_status follow(struct site *site)
{
    cohort_status status = COHORT_OK;
    for (;;) {
        struct order order = {0};
        uint64_t elapsed_ns;
        status = agree(site, &order);
        if (status || order.calls == 0)
            return status;
        status = order.num_rows ? alternate(site, &order, NULL) : obey(site, &order, &elapsed_ns);
        if (status)
            return status;
    }
}

static cohort_status take_part(struct site *site)
{
    const struct trial_group *group = site->group;
    if (site->index != group->options.root_site)
        return follow(site);
    struct trial_lead lead = {*site};
    cohort_status status = group->lead(&lead, group->arg);
    struct order end = {0};
    if (!status)
        status = agree(&lead.site, &end);
    *site = lead.site;
    return status;
}

static cohort_status run_site(void *arg)
{
    struct site *site = arg;
    cohort_comm_options options = site->group->options;
    options.this_site = site->index;
    cohort_status status =
        cohort_await(cohort_comm_create(&site->comm, site->group->name, &options));
    if (!status)
        status = take_part(site);
    cohort_comm_unref(site->comm);
    free(site->in);
    free(site->out);
    return status;
}

static bool is_here(const struct trial_group *group, uint32_t site)
{
    return cohort_locality() == site / group->per_locality;
}

cohort_status trial_group_run(const struct trial_group *group)
{
    uint32_t num_sites = group->options.num_sites, num_here = 0;
    struct site *sites = calloc(num_sites, sizeof(*sites));
    cohort_future **futures = calloc(num_sites, sizeof(*futures));
    cohort_status status = COHORT_OK;
    if (!sites || !futures)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u sites", num_sites);
    for (uint32_t i = 0; !status && i < num_sites; i++) {
        if (!is_here(group, i))
            continue;
        sites[num_here] = (struct site){.group = group, .index = i};
        futures[num_here] = cohort_async(run_site, &sites[num_here]);
        num_here++;
    }
    if (!status && num_here > 0)
        status = cohort_await(cohort_when_all(futures, num_here));
    free(sites);
    free(futures);
    return status;
}
