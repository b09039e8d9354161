/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/pattern/cost.h"
#include "collectives/plan/machine.h"
#include "collectives/plan/partition.h"

static const char over_budget[] = "it needs more memory than the budget";

bool cohort__select_is_flat(uint32_t num_sites, uint32_t arity, uint32_t flat_fallback_threshold)
{
    struct cohort__range all = {.first = 0, .count = num_sites};
    return num_sites < flat_fallback_threshold || cohort__partition_is_leaf(all, arity);
}

/* The request without what differs from site to site. Blocks of different sizes are treated as if
 * each had the mean size. */
static struct cohort__request common_request(const struct cohort__request *request)
{
    struct cohort__request common = *request;
    const struct cohort__part *parts =
        request->collective == COHORT__REDUCE_SCATTER ? request->in_parts : request->out_parts;
    common.this_site = 0;
    common.in_parts = common.out_parts = NULL;
    common.num_in_parts = common.num_out_parts = 0;
    if (parts && (request->collective == COHORT__ALL_GATHER ||
                  request->collective == COHORT__REDUCE_SCATTER)) {
        size_t element = cohort__request_element(request);
        double sum = 0;
        for (uint32_t site = 0; site < request->num_sites; site++)
            sum += (double)parts[site].bytes;
        common.bytes = (size_t)(sum / request->num_sites / (double)element) * element;
    }
    return common;
}

static const char *refusal(const struct cohort__question *question,
                           const struct cohort__candidate *candidate)
{
    const struct cohort__algorithm *algorithm = candidate->algorithm;
    const char *why = cohort__algorithm_refuses(algorithm, question->request);
    if (why)
        return why;
    if (candidate->inner_refused)
        return candidate->inner_refused;
    if (question->is_ragged && !algorithm->ragged)
        return "it needs blocks of one size";
    if (question->is_reproducible && cohort__collective_reduces(algorithm->collective) &&
        !algorithm->ordered)
        return "its result is not reproducible";
    if (question->forced && question->forced != algorithm)
        return "another one is forced";
    if (!question->forced && algorithm->stages && question->request->can_meet &&
        !question->request->meets && !question->is_ragged)
        return "the sites can meet";
    if (!question->forced && candidate->share_cores)
        return "several leaders of a host would share cores";
    if (!question->forced && question->mode == COHORT__MODE_FLAT && algorithm->hierarchical)
        return "the communicator is flat";
    if (question->memory_budget > 0 && candidate->is_priced &&
        candidate->cost.memory + question->memory_beside > (double)question->memory_budget)
        return over_budget;
    return NULL;
}

/* Composed rows ------------------------------------------------------------------------------ */

bool cohort__stage_meets(const struct cohort__question *question, const struct cohort__stage *stage)
{
    return question->request->meets && stage->distance == COHORT__DISTANCE_TASKS &&
           !stage->is_ragged;
}

/* Whether the sites of STAGE share memory and need no messages. Notes are priced as a board is, and
 * taken to be there: sites of different hosts have to find the same price. */
static bool is_shared(const struct cohort__question *question, const struct cohort__stage *stage)
{
    return stage->is_noted || cohort__stage_meets(question, stage);
}

static struct cohort__request stage_request(const struct cohort__question *question,
                                            const struct cohort__stage *stage)
{
    const struct cohort__request *request = question->request;
    return (struct cohort__request){
        .collective = stage->collective,
        .num_sites = stage->num_sites,
        .arity = request->arity,
        .bytes = stage->bytes,
        .element = request->element,
        .commutative = request->commutative,
        .can_meet = is_shared(question, stage),
    };
}

static bool has_blocks(enum cohort__collective collective)
{
    return collective == COHORT__GATHER || collective == COHORT__SCATTER ||
           collective == COHORT__ALL_GATHER || collective == COHORT__ALL_TO_ALL ||
           collective == COHORT__REDUCE_SCATTER;
}

void cohort__select_stages(const struct cohort__question *question,
                           const struct cohort__algorithm *algorithm,
                           const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    algorithm->stages(request, ret_stages);
    for (uint32_t i = 0; i < ret_stages->num; i++) {
        struct cohort__stage *stage = &ret_stages->stages[i];
        if (!question->is_ragged || !has_blocks(stage->collective))
            continue;
        stage->is_ragged = true;
        stage->is_noted = false; /* it may be, but no row that shares has such a price */
    }
}

/* Why ALGORITHM can't do STAGE, or NULL if it can. */
static const char *stage_refuses(const struct cohort__question *question,
                                 const struct cohort__stage *stage,
                                 const struct cohort__algorithm *algorithm)
{
    struct cohort__request request = stage_request(question, stage);
    const char *why = cohort__algorithm_refuses(algorithm, &request);
    return why                                      ? why
           : stage->is_ragged && !algorithm->ragged ? "it needs blocks of one size"
                                                    : NULL;
}

/* The memory of STAGE where there are no notes, after all: it is done by messages then, by one of
 * two rows. What a budget allows has to be enough for that, too. */
static double memory_without_notes(const struct cohort__question *question,
                                   const struct cohort__stage *stage)
{
    static const char *const names[] = {"hierarchical", "linear"};
    struct cohort__request request = stage_request(question, stage);
    double most = 0;
    request.can_meet = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct cohort__algorithm *row = cohort__algorithm_find(stage->collective, names[i]);
        bool is_priced = row && !row->stages && !cohort__algorithm_refuses(row, &request);
        double memory = is_priced ? cohort__algorithm_cost(row, &request).memory : 0;
        most = memory > most ? memory : most;
    }
    return most;
}

/* The price of ROW for STAGE. False: it can't do it, or has none. */
static bool price_stage(const struct cohort__question *question, const struct cohort__stage *stage,
                        uint32_t row, struct cohort__cost *ret_cost, double *ret_time)
{
    const struct cohort__algorithm *algorithm = cohort__algorithms[row];
    struct cohort__request request = stage_request(question, stage);
    if (algorithm->stages || stage_refuses(question, stage, algorithm))
        return false;
    *ret_cost = stage->collective == COHORT__EXCHANGE ? stage->exchanged
                                                      : cohort__algorithm_cost(algorithm, &request);
    if (stage->is_noted)
        ret_cost->memory = memory_without_notes(question, stage);
    *ret_time = cohort__predict_stage(question->parameters, question->placement, stage, row,
                                      &request, ret_cost);
    return true;
}

/* Whether ROW may be what the row COMPOSED uses for STAGE. */
static bool may_use(const struct cohort__question *question,
                    const struct cohort__algorithm *composed, const struct cohort__stage *stage,
                    uint32_t row)
{
    const struct cohort__algorithm *algorithm = cohort__algorithms[row];
    bool is_forced = question->forced == composed && question->forced_inner > 0;
    if (stage->is_top)
        return cohort__algorithm_may_lead(algorithm, composed) &&
               (!is_forced || row + 1 == question->forced_inner);
    if (is_shared(question, stage))
        return algorithm->shared;
    return strcmp(algorithm->name, stage->is_ragged ? "linear" : "hierarchical") == 0;
}

/* The best row of COMPOSED for STAGE. Returns its number, or UINT32_MAX if none has a price. */
static uint32_t best_of_stage(const struct cohort__question *question,
                              const struct cohort__algorithm *composed,
                              const struct cohort__stage *stage, struct cohort__cost *ret_cost,
                              double *ret_time)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t row = 0; row < cohort__num_algorithms; row++) {
        struct cohort__cost cost;
        double time;
        if (!may_use(question, composed, stage, row) ||
            !price_stage(question, stage, row, &cost, &time) ||
            (best != UINT32_MAX && time >= *ret_time))
            continue;
        best = row;
        *ret_cost = cost;
        *ret_time = time;
    }
    return best;
}

/* What NUM segments take in a stage. */
struct flow {
    double first; /* one of them, alone */
    double all;   /* all, with nothing to wait for */
};

/* The best row of COMPOSED for a stage that NUM segments go through, what it costs for one, and its
 * times. As segments follow each other, messages of one fill the gaps between those of another: it
 * is the best row for the block in one, which is what all of them take. */
static uint32_t best_of_flow(const struct cohort__question *question,
                             const struct cohort__algorithm *composed,
                             const struct cohort__stage *stage, uint32_t num,
                             struct cohort__cost *ret_cost, struct flow *ret_flow)
{
    struct cohort__stage whole = *stage;
    whole.bytes *= num;
    uint32_t best = best_of_stage(question, composed, &whole, ret_cost, &ret_flow->all);
    ret_flow->first = ret_flow->all;
    if (best != UINT32_MAX && num > 1)
        price_stage(question, stage, best, ret_cost, &ret_flow->first);
    return best;
}

/* Notes which row the leaders use: BEST, or the one that is forced, though it may have no price.
 * It may also be refused. */
static void set_leaders(const struct cohort__question *question, const struct cohort__stage *stage,
                        uint32_t best, struct cohort__candidate *candidate)
{
    uint32_t sharing = cohort__placement_sharing(question->placement);
    candidate->num_leaders = stage->num_sites;
    candidate->share_cores =
        stage->at_once > 1 && (double)stage->at_once * sharing > question->parameters->cores;
    candidate->inner = best == UINT32_MAX ? 0 : best + 1;
    if (question->forced != candidate->algorithm || question->forced_inner == 0)
        return;
    candidate->inner = question->forced_inner;
    candidate->inner_refused =
        stage_refuses(question, stage, cohort__algorithms[question->forced_inner - 1]);
}

/* Chooses the row for the leaders, and adds up the stages. Of several segments the first one goes
 * through all stages, and the others follow as fast as the slowest stage lets them: while one is in
 * that, others are in theirs. But where hosts share their cores, all is work of these. */
static void price_stages(const struct cohort__question *question,
                         const struct cohort__request *common, struct cohort__candidate *candidate)
{
    struct cohort__stages stages;
    cohort__select_stages(question, candidate->algorithm, common, &stages);
    candidate->is_priced = true;
    candidate->cost = (struct cohort__cost){.memory = stages.memory};
    const uint32_t num_segments = stages.num_segments > 0 ? stages.num_segments : 1;
    const bool share_cores = cohort__placement_sharing(question->placement) > 1;
    double longest = 0, leaders_of_host = 1;
    for (uint32_t i = 0; i < stages.num; i++) {
        const struct cohort__stage *stage = &stages.stages[i];
        struct cohort__cost cost = {0};
        struct flow flow = {0};
        uint32_t row = UINT32_MAX;
        if (stage->num_sites > 1) {
            row = best_of_flow(question, candidate->algorithm, stage, num_segments, &cost, &flow);
            candidate->is_priced = candidate->is_priced && row != UINT32_MAX;
        }
        if (stage->is_top)
            set_leaders(question, stage, row, candidate);
        if (stage->is_top && stage->distance != COHORT__DISTANCE_HOSTS)
            leaders_of_host = (double)stage->num_sites * stage->at_once;
        double memory = candidate->cost.memory + num_segments * cost.memory;
        candidate->cost = cohort__cost_then(
            candidate->cost, cohort__cost_at_once(cost, (double)num_segments * stage->num_all));
        candidate->cost.memory = memory;
        candidate->time += share_cores ? num_segments * flow.first : flow.first;
        longest = flow.all - flow.first > longest ? flow.all - flow.first : longest;
    }
    candidate->time += share_cores ? 0 : longest;
    candidate->time += cohort__predict_copies(question->parameters, question->placement,
                                              leaders_of_host, stages.copied);
}

static struct cohort__candidate judge(const struct cohort__question *question,
                                      const struct cohort__request *common, uint32_t row)
{
    const struct cohort__algorithm *algorithm = cohort__algorithms[row];
    struct cohort__candidate candidate = {.algorithm = algorithm, .row = row};
    /* The cost formula of a row need not be right for requests that the row refuses. */
    if (!algorithm->stages && !cohort__algorithm_refuses(algorithm, common)) {
        candidate.is_priced = true;
        candidate.cost = cohort__algorithm_cost(algorithm, common);
        candidate.time = cohort__predict(question->parameters, question->placement, row, common,
                                         &candidate.cost);
    } else if (algorithm->stages && !cohort__algorithm_refuses(algorithm, common)) {
        price_stages(question, common, &candidate);
    }
    candidate.refused = refusal(question, &candidate);
    return candidate;
}

/* For COHORT__MODE_TREE: if a row over the tree can be chosen, the other rows can't be. */
static void prefer_trees(struct cohort__candidate *candidates, uint32_t num)
{
    bool has_tree = false;
    for (uint32_t i = 0; i < num; i++)
        has_tree = has_tree || (!candidates[i].refused && candidates[i].algorithm->hierarchical);
    for (uint32_t i = 0; i < num; i++)
        if (has_tree && !candidates[i].refused && !candidates[i].algorithm->hierarchical)
            candidates[i].refused = "the tree is forced";
}

/* Where not all sites know the sizes, nobody can predict which row is the fastest: others than
 * linear have to be forced. */
static void leave_linear(struct cohort__candidate *candidates, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        if (!candidates[i].refused && strcmp(candidates[i].algorithm->name, "linear") != 0)
            candidates[i].refused = "not all sites know the sizes of the blocks";
}

/* The order of choice. Rows without a predicted time come last, and "linear" is the first of
 * these. */
static bool is_before(const struct cohort__candidate *a, const struct cohort__candidate *b)
{
    if (!a->refused != !b->refused)
        return !a->refused;
    if (a->is_priced != b->is_priced)
        return a->is_priced;
    if (a->is_priced)
        return a->time < b->time;
    return strcmp(a->algorithm->name, "linear") == 0 && strcmp(b->algorithm->name, "linear") != 0;
}

/* Insertion sort: there are few rows, and equal ones stay in the order of the table. */
static void sort(struct cohort__candidate *candidates, uint32_t num)
{
    for (uint32_t i = 1; i < num; i++) {
        struct cohort__candidate moved = candidates[i];
        uint32_t place = i;
        for (; place > 0 && is_before(&moved, &candidates[place - 1]); place--)
            candidates[place] = candidates[place - 1];
        candidates[place] = moved;
    }
}

uint32_t cohort__select_candidates(const struct cohort__question *question,
                                   struct cohort__candidate ret_candidates[COHORT__MAX_CANDIDATES])
{
    struct cohort__request common = common_request(question->request);
    uint32_t num = 0;
    for (uint32_t row = 0; row < cohort__num_algorithms && num < COHORT__MAX_CANDIDATES; row++)
        if (cohort__algorithms[row]->collective == common.collective)
            ret_candidates[num++] = judge(question, &common, row);
    if (question->is_ragged && !question->are_sizes_known && !question->forced)
        leave_linear(ret_candidates, num);
    if (question->mode == COHORT__MODE_TREE && !question->forced)
        prefer_trees(ret_candidates, num);
    sort(ret_candidates, num);
    return num;
}

/* CANDIDATE is the row that is forced. */
static cohort_status cannot_force(const struct cohort__question *question,
                                  const struct cohort__candidate *candidate)
{
    char name[COHORT__ALGORITHM_NAME], leaders[32] = "";
    if (candidate->inner_refused && candidate->refused == candidate->inner_refused)
        snprintf(leaders, sizeof(leaders), "among %u leaders: ", candidate->num_leaders);
    return cohort_fail(
        COHORT_ERR_BAD_PARAMETER, "the algorithm %s of %s is not possible here: %s%s",
        cohort__algorithm_name(candidate->row, question->forced_inner, name),
        cohort__collective_name(question->request->collective), leaders, candidate->refused);
}

static cohort_status nothing_fits(const struct cohort__question *question,
                                  const struct cohort__candidate *candidates, uint32_t num)
{
    const char *collective = cohort__collective_name(question->request->collective);
    const struct cohort__candidate *least = NULL;
    char name[COHORT__ALGORITHM_NAME];
    for (uint32_t i = 0; i < num; i++) {
        const struct cohort__candidate *candidate = &candidates[i];
        if (candidate->algorithm == question->forced && candidate->refused != over_budget)
            return cannot_force(question, candidate);
        if (candidate->refused == over_budget &&
            (!least || candidate->cost.memory < least->cost.memory))
            least = candidate;
    }
    if (least)
        return cohort_fail(COHORT_ERR_NO_MEMORY,
                           "%s of %zu bytes a block at %u sites: algorithm %s, which %s, "
                           "takes %.0f bytes of memory at a site; the budget is %llu",
                           collective, question->request->bytes, question->request->num_sites,
                           cohort__algorithm_name(least->row, least->inner, name),
                           question->forced ? "is forced" : "needs least",
                           least->cost.memory + question->memory_beside,
                           (unsigned long long)question->memory_budget);
    return cohort_fail(COHORT_ERR_NOT_SUPPORTED, "no algorithm of %s can do this%s", collective,
                       question->is_reproducible ? " reproducibly" : "");
}

cohort_status cohort__select(const struct cohort__question *question,
                             struct cohort__candidate *ret_choice)
{
    struct cohort__candidate candidates[COHORT__MAX_CANDIDATES];
    uint32_t num = cohort__select_candidates(question, candidates);
    if (num == 0 || candidates[0].refused)
        return nothing_fits(question, candidates, num);
    *ret_choice = candidates[0];
    return COHORT_OK;
}

static void print_question(FILE *file, const struct cohort__question *question)
{
    const struct cohort__request *request = question->request;
    const struct cohort__placement *placement = question->placement;
    fprintf(file, "%s", cohort__collective_name(request->collective));
    if (request->collective != COHORT__BARRIER)
        fprintf(file, " of %zu bytes a block", request->bytes);
    fprintf(file, ", %u sites in %u localit%s, at most %u in one", placement->num_sites,
            placement->num_localities, placement->num_localities == 1 ? "y" : "ies",
            placement->largest);
    if (placement->sharing > 1)
        fprintf(file, ", up to %u hosts on the same cores", placement->sharing);
    if (question->memory_budget > 0)
        fprintf(file, ", memory budget %llu bytes", (unsigned long long)question->memory_budget);
    if (question->is_reproducible)
        fputs(", reproducible", file);
    fputc('\n', file);
}

/* The predicted costs of a call with CANDIDATE. */
static void print_figures(FILE *file, const struct cohort__candidate *candidate)
{
    const struct cohort__cost *cost = &candidate->cost;
    if (candidate->is_priced)
        fprintf(file, "%.2f us, %.0f startups, %.0f messages, %.0f bytes, %.0f bytes of memory",
                candidate->time / 1e3, cost->startups, cost->messages, cost->moved, cost->memory);
    else
        fputs("nothing is predicted", file);
}

static void print_other(FILE *file, const struct cohort__candidate *candidate)
{
    fprintf(file, "  %-16s ", candidate->algorithm->name);
    if (candidate->refused)
        fprintf(file, "no: %s%s", candidate->refused, candidate->is_priced ? "; " : "");
    if (!candidate->refused || candidate->is_priced)
        print_figures(file, candidate);
    fputc('\n', file);
}

static const char *reason(const struct cohort__question *question,
                          const struct cohort__candidate *candidates, uint32_t num)
{
    if (question->forced)
        return "forced";
    if (num < 2 || candidates[1].refused)
        return "the only one that can";
    return candidates[0].is_priced ? "predicted to be the fastest" : "nothing is predicted";
}

/* How the sites of STAGE do without messages, if they do. */
static const char *how_shared(const struct cohort__question *question,
                              const struct cohort__stage *stage)
{
    if (stage->is_noted && question->request->has_notes)
        return " by notes";
    return cohort__stage_meets(question, stage) ? ", whose sites meet" : "";
}

/* The stages of a composed row, one after the other. */
static void print_stages(FILE *file, const struct cohort__question *question,
                         const struct cohort__candidate *choice)
{
    struct cohort__stages stages;
    cohort__select_stages(question, choice->algorithm, question->request, &stages);
    if (stages.num_segments > 1)
        fprintf(file, "in %u segments: ", stages.num_segments);
    for (uint32_t i = 0; i < stages.num; i++) {
        const struct cohort__stage *stage = &stages.stages[i];
        const char *collective = cohort__collective_name(stage->collective);
        if (i > 0)
            fputs(", then ", file);
        if (stage->is_top)
            fprintf(file, "%s by %s among %u leaders", collective,
                    choice->inner ? cohort__algorithms[choice->inner - 1]->name : "linear",
                    stage->num_sites);
        else
            fprintf(file, "%s in each %s%s", collective, stage->level, how_shared(question, stage));
    }
}

/* What a row does at the levels of the machine. */
static void print_use_of_levels(FILE *file, const struct cohort__question *question,
                                const struct cohort__candidate *choice)
{
    if (choice->algorithm->stages)
        print_stages(file, question, choice);
    else if (!choice->algorithm->shared)
        fputs("not used: the sites send messages to each other", file);
    else if (question->placement->num_localities == 1)
        fputs("all sites meet in their locality", file);
    else
        fputs("the sites meet in each locality, and the localities on a board of their host", file);
}

/* The leaders that the machine's levels have for the call. */
static void print_levels(FILE *file, const struct cohort__question *question,
                         const struct cohort__machine *machine, uint64_t turn)
{
    const struct cohort__request *request = question->request;
    bool is_rooted = cohort__collective_is_rooted(request->collective);
    bool is_free = request->commutative || !cohort__collective_reduces(request->collective);
    cohort__machine_print(file, machine, is_rooted ? request->root : COHORT__NO_ROOT,
                          is_free ? turn : 0);
}

/* The choice, or why there is none. Returns whether there is one. */
static bool print_choice(FILE *file, const struct cohort__question *question,
                         const struct cohort__candidate *candidates, uint32_t num)
{
    struct cohort__candidate choice;
    if (cohort__select(question, &choice)) {
        fprintf(file, "none: %s\n", cohort_error_message());
        return false;
    }
    fprintf(file, "chosen: %s, %s\n  ", choice.algorithm->name, reason(question, candidates, num));
    print_figures(file, &choice);
    fputs("\n  levels: ", file);
    print_use_of_levels(file, question, &choice);
    fputc('\n', file);
    return true;
}

static void print(FILE *file, const struct cohort__question *question,
                  const struct cohort__machine *machine, uint64_t turn)
{
    struct cohort__candidate candidates[COHORT__MAX_CANDIDATES];
    uint32_t num = cohort__select_candidates(question, candidates), first = 0;
    print_question(file, question);
    if (print_choice(file, question, candidates, num))
        first = 1;
    if (first < num)
        fputs("others:\n", file);
    for (uint32_t i = first; i < num; i++)
        print_other(file, &candidates[i]);
    print_levels(file, question, machine, turn);
}

cohort_status cohort__explain(const struct cohort__question *question,
                              const struct cohort__machine *machine, uint64_t turn, char **ret_text)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    if (file)
        print(file, question, machine, turn);
    bool failed = !file || ferror(file);
    if (file && fclose(file))
        failed = true;
    if (failed) {
        free(text);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for an explanation");
    }
    *ret_text = text;
    return COHORT_OK;
}
