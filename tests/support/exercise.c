/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/exercise.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

const char *exercise_name(enum exercise_kind kind)
{
    static const char *const names[EXERCISE_NUM_KINDS] = {
        "gather",     "scatter",    "broadcast",          "reduce",     "ordered reduce",
        "all_gather", "all_reduce", "ordered all_reduce", "all_to_all", "barrier",
    };
    return names[kind];
}

/* The input of SITE at PLACE: nothing that another site, place or generation has. */
static uint64_t content(uint64_t generation, uint32_t site, size_t place)
{
    uint64_t value = generation * UINT64_C(0x9e3779b97f4a7c15) + site;
    value = (value ^ value >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + place;
    return (value ^ value >> 32) * UINT64_C(0x94d049bb133111eb);
}

/* An element as a map x -> ax + b over 32 bits; left first, then right. Associative, and not
 * commutative. */
static uint64_t compose(uint64_t left, uint64_t right)
{
    uint32_t a = (uint32_t)left, b = (uint32_t)(left >> 32);
    uint32_t c = (uint32_t)right, d = (uint32_t)(right >> 32);
    return (uint64_t)(uint32_t)(c * b + d) << 32 | (uint32_t)(a * c);
}

static cohort_status apply_compose(void *result, const void *left, const void *right, size_t count,
                                   cohort_datatype datatype, void *arg)
{
    (void)arg;
    CHECK(datatype == cohort_datatype_of_bytes(8));
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)result)[i] =
            compose(((const uint64_t *)left)[i], ((const uint64_t *)right)[i]);
    return COHORT_OK;
}

static bool is_ordered(enum exercise_kind kind)
{
    return kind == EXERCISE_REDUCE_ORDERED || kind == EXERCISE_ALL_REDUCE_ORDERED;
}

/* What all sites' inputs at PLACE reduce to. */
static uint64_t reduced(const struct exercise *exercise, size_t place)
{
    uint64_t result = content(exercise->generation, 0, place);
    for (uint32_t site = 1; site < cohort_comm_num_sites(exercise->comm); site++) {
        uint64_t next = content(exercise->generation, site, place);
        result = is_ordered(exercise->kind) ? compose(result, next) : result + next;
    }
    return result;
}

static uint64_t expected(const struct exercise *exercise, size_t place)
{
    const cohort_comm *comm = exercise->comm;
    uint32_t me = cohort_comm_this_site(comm), root = cohort_comm_root_site(comm);
    size_t count = exercise->count;
    uint32_t from = (uint32_t)(place / count);
    switch (exercise->kind) {
    case EXERCISE_GATHER:
    case EXERCISE_ALL_GATHER:
        return content(exercise->generation, from, place % count);
    case EXERCISE_SCATTER:
        return content(exercise->generation, root, me * count + place);
    case EXERCISE_BROADCAST:
        return content(exercise->generation, root, place);
    case EXERCISE_ALL_TO_ALL:
        return content(exercise->generation, from, me * count + place % count);
    default:
        return reduced(exercise, place);
    }
}

/* How many elements this site puts in and gets out. */
static void sizes(const struct exercise *exercise, size_t *ret_in, size_t *ret_out)
{
    const cohort_comm *comm = exercise->comm;
    size_t count = exercise->count, all = count * cohort_comm_num_sites(comm);
    bool is_root = cohort_comm_this_site(comm) == cohort_comm_root_site(comm);
    switch (exercise->kind) {
    case EXERCISE_GATHER:
        *ret_in = count, *ret_out = is_root ? all : 0;
        break;
    case EXERCISE_SCATTER:
        *ret_in = is_root ? all : 0, *ret_out = count;
        break;
    case EXERCISE_BROADCAST:
        *ret_in = is_root ? count : 0, *ret_out = is_root ? 0 : count;
        break;
    case EXERCISE_REDUCE:
    case EXERCISE_REDUCE_ORDERED:
        *ret_in = count, *ret_out = is_root ? count : 0;
        break;
    case EXERCISE_ALL_GATHER:
        *ret_in = count, *ret_out = all;
        break;
    case EXERCISE_ALL_TO_ALL:
        *ret_in = all, *ret_out = all;
        break;
    case EXERCISE_BARRIER:
        *ret_in = 0, *ret_out = 0;
        break;
    default:
        *ret_in = count, *ret_out = count;
        break;
    }
}

static cohort_future *call(const struct exercise *exercise)
{
    cohort_comm *comm = exercise->comm;
    bool is_root = cohort_comm_this_site(comm) == cohort_comm_root_site(comm);
    const void *in = exercise->in;
    void *out = exercise->out;
    size_t count = exercise->count;
    uint64_t generation = exercise->generation;
    cohort_datatype type = COHORT_UINT64;
    const cohort_op *op = COHORT_SUM;
    cohort_op *users = NULL;
    if (is_ordered(exercise->kind)) {
        CHECK_INT(cohort_op_create(&users, &(struct cohort_op_options){.name = "compose",
                                                                       .function = apply_compose}),
                  COHORT_OK);
        type = cohort_datatype_of_bytes(8);
        op = users;
    }
    cohort_future *future = NULL;
    switch (exercise->kind) {
    case EXERCISE_GATHER:
        future = is_root ? cohort_gather_here(comm, in, out, count, type, generation)
                         : cohort_gather_there(comm, in, count, type, generation);
        break;
    case EXERCISE_SCATTER:
        future = is_root ? cohort_scatter_to(comm, in, out, count, type, generation)
                         : cohort_scatter_from(comm, out, count, type, generation);
        break;
    case EXERCISE_BROADCAST:
        future = is_root ? cohort_broadcast_to(comm, in, count, type, generation)
                         : cohort_broadcast_from(comm, out, count, type, generation);
        break;
    case EXERCISE_REDUCE:
    case EXERCISE_REDUCE_ORDERED:
        future = is_root ? cohort_reduce_here(comm, in, out, count, type, op, generation)
                         : cohort_reduce_there(comm, in, count, type, op, generation);
        break;
    case EXERCISE_ALL_GATHER:
        future = cohort_all_gather(comm, in, out, count, type, generation);
        break;
    case EXERCISE_ALL_REDUCE:
    case EXERCISE_ALL_REDUCE_ORDERED:
        future = cohort_all_reduce(comm, in, out, count, type, op, generation);
        break;
    case EXERCISE_ALL_TO_ALL:
        future = cohort_all_to_all(comm, in, out, count, type, generation);
        break;
    default:
        future = cohort_barrier(comm, generation);
        break;
    }
    cohort_op_unref(users); /* the call keeps its own reference */
    return future;
}

void exercise_begin(struct exercise *exercise, cohort_comm *comm, enum exercise_kind kind,
                    size_t count, uint64_t generation)
{
    *exercise =
        (struct exercise){.comm = comm, .kind = kind, .count = count, .generation = generation};
    size_t in, out;
    sizes(exercise, &in, &out);
    exercise->in = malloc((in + 1) * sizeof(uint64_t));
    exercise->out = malloc((out + 1) * sizeof(uint64_t));
    CHECK(exercise->in && exercise->out);
    for (size_t place = 0; place < in; place++)
        exercise->in[place] = content(generation, cohort_comm_this_site(comm), place);
    memset(exercise->out, 0xee, (out + 1) * sizeof(uint64_t));
    exercise->done = call(exercise);
}

cohort_status exercise_end(struct exercise *exercise)
{
    cohort_status status = cohort_await(exercise->done);
    size_t in, out;
    sizes(exercise, &in, &out);
    for (size_t place = 0; !status && place < out; place++)
        if (exercise->out[place] != expected(exercise, place))
            test_failed(__FILE__, __LINE__,
                        "%s of %zu, generation %llu, site %u of %u, root %u: element %zu is wrong",
                        exercise_name(exercise->kind), exercise->count,
                        (unsigned long long)exercise->generation,
                        cohort_comm_this_site(exercise->comm),
                        cohort_comm_num_sites(exercise->comm),
                        cohort_comm_root_site(exercise->comm), place);
    CHECK(exercise->out[out] == UINT64_C(0xeeeeeeeeeeeeeeee)); /* nothing behind the end */
    free(exercise->in);
    free(exercise->out);
    return status;
}
