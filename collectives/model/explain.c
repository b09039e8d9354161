/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/plan/machine.h"

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
