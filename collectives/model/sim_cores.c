/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/sim_cores.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

static uint32_t *new_list(size_t num)
{
    uint32_t *list = malloc((num + 1) * sizeof(*list));
    if (list)
        memset(list, 0xff, (num + 1) * sizeof(*list)); /* NO_WORK, NOBODY */
    return list;
}

bool cohort__sim_cores_init(struct cohort__sim_cores *cores, uint32_t num_localities,
                            uint32_t per_pool, uint32_t num_cores, uint32_t num_works)
{
    size_t num_pools = num_localities / per_pool;
    size_t in_all = num_pools * (num_cores < per_pool ? num_cores : per_pool);
    *cores = (struct cohort__sim_cores){
        .per_pool = per_pool,
        .num_cores = num_cores < per_pool ? num_cores : per_pool,
        .first = new_list(num_localities),
        .last = new_list(num_localities),
        .next = new_list(num_works),
        .core = new_list(num_localities),
        .is_on = calloc(num_localities, sizeof(bool)),
        .user = new_list(in_all),
        .is_taken = calloc(in_all, sizeof(bool)),
        .pool_first = new_list(num_pools),
        .pool_last = new_list(num_pools),
        .next_locality = new_list(num_localities),
    };
    return cores->first && cores->last && cores->next && cores->core && cores->is_on &&
           cores->user && cores->is_taken && cores->pool_first && cores->pool_last &&
           cores->next_locality;
}

void cohort__sim_cores_fini(struct cohort__sim_cores *cores)
{
    free(cores->first);
    free(cores->last);
    free(cores->next);
    free(cores->core);
    free(cores->is_on);
    free(cores->user);
    free(cores->is_taken);
    free(cores->pool_first);
    free(cores->pool_last);
    free(cores->next_locality);
}

static void push(uint32_t *first, uint32_t *last, uint32_t *next, uint32_t item)
{
    next[item] = NOBODY;
    if (*first == NOBODY)
        *first = item;
    else
        next[*last] = item;
    *last = item;
}

static uint32_t pop(uint32_t *first, const uint32_t *next)
{
    uint32_t item = *first;
    *first = next[item];
    return item;
}

/* A free core of LOCALITY's pool: the one that it had last, or else the first one. NOBODY: none is
 * free. */
static uint32_t find_core(const struct cohort__sim_cores *cores, uint32_t locality)
{
    uint32_t first = locality / cores->per_pool * cores->num_cores, found = NOBODY;
    if (cores->num_cores == cores->per_pool)
        return locality; /* each has its own */
    if (cores->core[locality] != NOBODY && !cores->is_taken[cores->core[locality]])
        return cores->core[locality];
    for (uint32_t i = cores->num_cores; i-- > 0;)
        if (!cores->is_taken[first + i])
            found = first + i;
    return found;
}

/* LOCALITY, which has work, gets CORE. */
static void go(struct cohort__sim_cores *cores, uint32_t locality, uint32_t core,
               struct cohort__sim_go *ret)
{
    uint32_t user = cores->user[core];
    cores->core[locality] = core;
    cores->user[core] = locality;
    cores->is_taken[core] = true;
    *ret = (struct cohort__sim_go){
        .locality = locality,
        .work = pop(&cores->first[locality], cores->next),
        .is_turn = user != locality && user != NOBODY,
    };
}

bool cohort__sim_cores_add(struct cohort__sim_cores *cores, uint32_t locality, uint32_t work,
                           struct cohort__sim_go *ret)
{
    uint32_t pool = locality / cores->per_pool;
    push(&cores->first[locality], &cores->last[locality], cores->next, work);
    if (cores->is_on[locality])
        return false;
    cores->is_on[locality] = true;
    uint32_t core = find_core(cores, locality);
    if (core != NOBODY) {
        go(cores, locality, core, ret);
        return true;
    }
    push(&cores->pool_first[pool], &cores->pool_last[pool], cores->next_locality, locality);
    return false;
}

bool cohort__sim_cores_over(struct cohort__sim_cores *cores, uint32_t locality,
                            struct cohort__sim_go *ret)
{
    uint32_t pool = locality / cores->per_pool, core = cores->core[locality];
    if (cores->first[locality] != COHORT__NO_WORK) {
        go(cores, locality, core, ret);
        return true;
    }
    cores->is_on[locality] = false;
    cores->is_taken[core] = false;
    if (cores->pool_first[pool] == NOBODY)
        return false;
    go(cores, pop(&cores->pool_first[pool], cores->next_locality), core, ret);
    return true;
}
