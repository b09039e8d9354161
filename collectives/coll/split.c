/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/split.h"

#include "collectives/coll/division.h"

cohort_future *cohort_comm_split(cohort_comm **ret_comm, cohort_comm *comm, int32_t color,
                                 int32_t key, uint64_t generation)
{
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
    /* The texts differ, since the call like the last one is found by them, see call.c. */
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

cohort_future *cohort_comm_dup(cohort_comm **ret_comm, cohort_comm *comm, uint64_t generation)
{
    return cohort__division_start(&(struct cohort__division_call){
        .function = "cohort_comm_dup",
        .purpose = COHORT__PURPOSE_DUP,
        .comm = comm,
        .ret_comm = ret_comm,
        .generation = generation,
    });
}
