/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/bfs_flood.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "examples/bfs_graph.h"
#include "examples/number.h"

/* Vertices that were reached from others at the level above. A wave is so short that a call copies
 * it: a longer one would have to stay until the scope's await has returned. */
enum { WAVE_STEPS = 31 };
struct wave {
    uint32_t level;
    uint32_t num;
    struct {
        uint32_t vertex, parent;
    } steps[WAVE_STEPS];
};
_Static_assert(sizeof(struct wave) <= COHORT_REMOTE_COPIED_BYTES, "a wave is copied");

static struct {
    /* By vertex of this part: its level in the upper half, its parent in the lower one. So a
     * shorter way is a smaller number. */
    _Atomic uint64_t *marks;
    /* By vertex of the whole graph: the least level at which this part has sent it in a wave. */
    _Atomic uint32_t *sent;
    size_t num_sent;
    _Atomic uint64_t num_visits;
} part;

#define NO_MARK UINT64_MAX

static size_t wave_bytes(uint32_t num)
{
    return offsetof(struct wave, steps) + num * sizeof(((struct wave *)0)->steps[0]);
}

/* The waves that a task is about to send, one for each locality. */
struct shore {
    cohort_scope *scope;
    uint32_t level;
    struct wave *waves;
};

static cohort_status send(struct shore *shore, uint32_t locality)
{
    struct wave *wave = &shore->waves[locality];
    cohort_object in = {wave, wave_bytes(wave->num)};
    if (wave->num == 0)
        return COHORT_OK;
    wave->level = shore->level;
    cohort_status status = cohort_scope_async_at(shore->scope, locality, "bfs.flood", &in);
    wave->num = 0;
    return status;
}

static cohort_status reach(struct shore *shore, uint64_t vertex, uint64_t parent)
{
    uint32_t locality = bfs_graph_owner(vertex);
    struct wave *wave = &shore->waves[locality];
    /* Two tasks that send it at the same time do no harm. */
    if (atomic_load_explicit(&part.sent[vertex], memory_order_relaxed) <= shore->level)
        return COHORT_OK;
    atomic_store_explicit(&part.sent[vertex], shore->level, memory_order_relaxed);
    wave->steps[wave->num].vertex = (uint32_t)vertex;
    wave->steps[wave->num].parent = (uint32_t)parent;
    return ++wave->num == WAVE_STEPS ? send(shore, locality) : COHORT_OK;
}

static cohort_status go_on(struct shore *shore, size_t index)
{
    size_t num;
    const uint64_t *targets = bfs_graph_targets(index, &num);
    cohort_status status = COHORT_OK;
    for (size_t i = 0; !status && i < num; i++)
        status = reach(shore, targets[i], bfs_graph_vertex(index));
    return status;
}

/* Whether MARK is less than what vertex INDEX had. */
static bool lower(size_t index, uint64_t mark)
{
    uint64_t old = atomic_load_explicit(&part.marks[index], memory_order_relaxed);
    while (mark >> 32 < old >> 32)
        if (atomic_compare_exchange_weak(&part.marks[index], &old, mark))
            return true;
    return false;
}

/* Those in WAVE that are reached for the first time, or by a shorter way, go on. */
static cohort_status take(struct shore *shore, const struct wave *wave)
{
    cohort_status status = COHORT_OK;
    size_t index;
    for (uint32_t i = 0; !status && i < wave->num; i++) {
        if (!bfs_graph_find(wave->steps[i].vertex, &index))
            return cohort_fail(COHORT_ERR_PROTOCOL, "vertex %u is not of locality %u",
                               (unsigned)wave->steps[i].vertex, (unsigned)cohort_locality());
        if (!lower(index, (uint64_t)wave->level << 32 | wave->steps[i].parent))
            continue;
        atomic_fetch_add_explicit(&part.num_visits, 1, memory_order_relaxed);
        status = go_on(shore, index);
    }
    for (uint32_t i = 0; !status && i < cohort_num_localities(); i++)
        status = send(shore, i);
    return status;
}

/* IN: a wave. */
static cohort_status flood(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct wave wave;
    (void)ret_out;
    (void)context;
    if (in->bytes > sizeof(wave) || in->bytes < wave_bytes(0))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no wave", in->bytes);
    memcpy(&wave, in->data, in->bytes);
    if (wave.num > WAVE_STEPS || in->bytes != wave_bytes(wave.num))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no wave", in->bytes);
    struct shore shore = {.scope = cohort_scope_current(),
                          .level = wave.level + 1,
                          .waves = malloc(cohort_num_localities() * sizeof(*shore.waves))};
    if (!shore.waves)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a wave to each locality");
    for (uint32_t i = 0; i < cohort_num_localities(); i++)
        shore.waves[i].num = 0;
    cohort_status status = take(&shore, &wave);
    free(shore.waves);
    return status;
}

static cohort_status dry(const cohort_object *in, cohort_object *ret_out, void *context)
{
    (void)in;
    (void)ret_out;
    (void)context;
    bfs_graph_clear();
    for (size_t i = 0; i < bfs_graph_num_vertices(); i++)
        atomic_store_explicit(&part.marks[i], NO_MARK, memory_order_relaxed);
    for (size_t i = 0; i < part.num_sent; i++)
        atomic_store_explicit(&part.sent[i], BFS_NO_LEVEL, memory_order_relaxed);
    atomic_store(&part.num_visits, 0);
    return COHORT_OK;
}

/* The marks become the tree. OUT: how many vertices are in it. */
static cohort_status settle(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint64_t num = 0;
    (void)in;
    (void)context;
    for (size_t i = 0; i < bfs_graph_num_vertices(); i++) {
        uint64_t mark = atomic_load_explicit(&part.marks[i], memory_order_relaxed);
        if (mark == NO_MARK)
            continue;
        bfs_graph_set_parent(i, mark & UINT32_MAX);
        num++;
    }
    return number_give(num, ret_out);
}

static cohort_status count_visits(const cohort_object *in, cohort_object *ret_out, void *context)
{
    (void)in;
    (void)context;
    return number_give(atomic_load(&part.num_visits), ret_out);
}

cohort_status bfs_flood_begin(uint32_t scale)
{
    part.num_sent = (size_t)1 << scale;
    part.marks = calloc(bfs_graph_num_vertices() + 1, sizeof(*part.marks));
    part.sent = calloc(part.num_sent, sizeof(*part.sent));
    return part.marks && part.sent
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the levels of 2^%u vertices",
                             (unsigned)scale);
}

void bfs_flood_end(void)
{
    free(part.marks);
    free(part.sent);
}

cohort_status bfs_flood(uint64_t root, uint64_t limit_nanoseconds, bfs_step *step,
                        uint64_t *ret_num_vertices, uint64_t *ret_num_visits)
{
    const struct wave wave = {.num = 1, .steps[0] = {(uint32_t)root, (uint32_t)root}};
    const cohort_scope_options options = {.limit_nanoseconds = limit_nanoseconds};
    cohort_scope *scope;
    cohort_status status = step("bfs.dry", NULL, NULL);
    if (!status)
        status = cohort_scope_create(&options, &scope);
    if (status)
        return status;
    status = cohort_scope_async_at(scope, bfs_graph_owner(root), "bfs.flood",
                                   &(cohort_object){(void *)(uintptr_t)&wave, wave_bytes(1)});
    cohort_status ended = cohort_scope_await(scope); /* nobody is on the way any more */
    status = ended ? ended : status;
    if (!status)
        status = step("bfs.settle", NULL, ret_num_vertices);
    return status ? status : step("bfs.count_visits", NULL, ret_num_visits);
}

cohort_status bfs_flood_register(void)
{
    cohort_status status = cohort_remote_register("bfs.flood", flood, NULL);
    if (!status)
        status = cohort_remote_register("bfs.dry", dry, NULL);
    if (!status)
        status = cohort_remote_register("bfs.settle", settle, NULL);
    return status ? status : cohort_remote_register("bfs.count_visits", count_visits, NULL);
}
