/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/split.h"

#include <stdio.h>

#include "collectives/coll/division.h"
#include "collectives/comm/endpoint_misuse.h"

cohort_future *cohort_comm_split(cohort_comm **ret_comm, cohort_comm *comm, int32_t color,
                                 int32_t key, uint64_t generation)
{
    cohort__endpoint_check(comm, "cohort_comm_split");
    return cohort__division_start(&(struct cohort__division_call){
        .function = "cohort_comm_split",
        .purpose = COHORT__PURPOSE_SPLIT,
        .color = color,
        .key = key,
        .comm = comm,
        .ret_comm = ret_comm,
        .generation = generation,
    });
}

cohort_future *cohort_comm_split_level(cohort_comm **ret_comm, cohort_comm *comm,
                                       cohort_level level, uint64_t generation)
{
    cohort__endpoint_check(comm, "cohort_comm_split_level");
    /* The texts differ, since the call like the last one is found by them, see call_start.c. */
    static const char *const functions[] = {
        [COHORT_LEVEL_LOCALITY] = "cohort_comm_split_level by localities",
        [COHORT_LEVEL_DOMAIN] = "cohort_comm_split_level by domains",
        [COHORT_LEVEL_HOST] = "cohort_comm_split_level by hosts",
    };
    bool is_level = (unsigned)level < sizeof(functions) / sizeof(functions[0]);
    return cohort__division_start(&(struct cohort__division_call){
        .function = is_level ? functions[level] : "cohort_comm_split_level",
        .purpose = COHORT__PURPOSE_LOCALITY + (is_level ? level : COHORT_LEVEL_LOCALITY),
        .wrong = is_level ? NULL : "there is no such level",
        .comm = comm,
        .ret_comm = ret_comm,
        .generation = generation,
    });
}

/* "there is no level 'swich', only locality, domain, host, switch" */
static void describe_missing(const struct cohort__machine *machine, const char *name, char *text,
                             size_t bytes)
{
    int used = snprintf(text, bytes, "there is no level '%.60s', only", name);
    for (uint32_t i = 0; i < cohort__machine_num_levels(machine); i++)
        used += snprintf(text + used, bytes - (size_t)used, "%s %s", i > 0 ? "," : "",
                         cohort__machine_name(machine, i));
}

cohort_future *cohort_comm_split_named_level(cohort_comm **ret_comm, cohort_comm *comm,
                                             const char *name, uint64_t generation)
{
    cohort__endpoint_check(comm, "cohort_comm_split_named_level");
    /* As above. */
    static const char *const functions[] = {
        "cohort_comm_split_named_level by localities", "cohort_comm_split_named_level by domains",
        "cohort_comm_split_named_level by hosts",      "cohort_comm_split_named_level by level 1",
        "cohort_comm_split_named_level by level 2",    "cohort_comm_split_named_level by level 3",
        "cohort_comm_split_named_level by level 4",
    };
    enum { MOST_LEVELS = sizeof(functions) / sizeof(functions[0]) };
    _Static_assert(MOST_LEVELS == COHORT__NUM_PURPOSES - COHORT__PURPOSE_LOCALITY,
                   "a text for each level");
    char why[100 + 2 * COHORT__NAMED_LEVELS_LIST] = "no name of a level";
    const struct cohort__machine *machine = comm ? comm->group->machine : NULL;
    uint32_t level = machine && name ? cohort__machine_find(machine, name) : 0;
    bool is_level = machine && name && level < cohort__machine_num_levels(machine);
    if (machine && name && !is_level)
        describe_missing(machine, name, why, sizeof(why));
    return cohort__division_start(&(struct cohort__division_call){
        .function = is_level ? functions[level] : "cohort_comm_split_named_level",
        .purpose = COHORT__PURPOSE_LOCALITY + (is_level ? level : 0),
        .wrong = is_level ? NULL : why,
        .comm = comm,
        .ret_comm = ret_comm,
        .generation = generation,
    });
}

cohort_future *cohort_comm_dup(cohort_comm **ret_comm, cohort_comm *comm, uint64_t generation)
{
    cohort__endpoint_check(comm, "cohort_comm_dup");
    return cohort__division_start(&(struct cohort__division_call){
        .function = "cohort_comm_dup",
        .purpose = COHORT__PURPOSE_DUP,
        .comm = comm,
        .ret_comm = ret_comm,
        .generation = generation,
    });
}
