/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/movement.h"

#include <string.h>

#include "collectives/comm/blobs.h"
#include "collectives/exec/kernels.h"
#include "runtime/base/copier.h"

static size_t block_bytes(const struct cohort__movement *movement)
{
    return movement->terms.count * movement->terms.element;
}

/* Where the block for ROW is in the input of SITE. */
static const unsigned char *input(const struct cohort__movement *movement, uint32_t site,
                                  uint32_t row)
{
    size_t stride = movement->is_posted[site] ? block_bytes(movement) : movement->terms.stride;
    return movement->in[site] + row * stride;
}

/* Parts ------------------------------------------------------------------------------------ */

static uint32_t num_copies(const struct cohort__movement *movement)
{
    return movement->terms.kind->has_columns ? movement->num_sites : 1;
}

/* Whether each row is one part: most calls have so few bytes, and need none of the divisions. */
static inline bool has_small_rows(const struct cohort__movement *movement)
{
    const size_t bytes = block_bytes(movement);
    return bytes <= COHORT__PART_BYTES && bytes * num_copies(movement) <= COHORT__PART_BYTES;
}

/* How a row is cut into parts: its copies into groups, and each copy into segments. */
struct cut {
    uint32_t copies;       /* in a row */
    uint32_t group_copies; /* in a group; the last one may have fewer */
    uint32_t num_groups;
    size_t segment_bytes;
    uint64_t num_segments;
};

static struct cut cut_of(const struct cohort__movement *movement)
{
    size_t bytes = block_bytes(movement);
    struct cut cut = {.copies = num_copies(movement)};
    cut.group_copies = 1;
    cut.segment_bytes = COHORT__PART_BYTES / movement->terms.element * movement->terms.element;
    if (cut.segment_bytes == 0)
        cut.segment_bytes = movement->terms.element;
    if (bytes <= COHORT__PART_BYTES) {
        cut.segment_bytes = bytes;
        size_t fitting = bytes > 0 ? COHORT__PART_BYTES / bytes : cut.copies;
        cut.group_copies = fitting < cut.copies ? (uint32_t)fitting : cut.copies;
    }
    cut.num_segments = bytes <= COHORT__PART_BYTES ? 1 : (bytes - 1) / cut.segment_bytes + 1;
    cut.num_groups = (cut.copies - 1) / cut.group_copies + 1;
    return cut;
}

/* The rows that this locality writes. Other localities write those of their sites. */
static uint32_t num_local_rows(const struct cohort__movement *movement)
{
    uint32_t num = 0;
    const bool has_rows = movement->terms.kind->has_rows;
    if (!has_rows || !movement->has_far)
        return has_rows ? movement->num_sites : 1;
    for (uint32_t site = 0; site < movement->num_sites; site++)
        num += movement->out[site] != NULL;
    return num;
}

static uint32_t local_row(const struct cohort__movement *movement, uint32_t index)
{
    uint32_t row = 0;
    if (!movement->has_far)
        return index;
    while (!movement->out[row] || index-- > 0)
        row++;
    return row;
}

uint64_t cohort__movement_num_parts(const struct cohort__movement *movement)
{
    if (block_bytes(movement) == 0)
        return 0;
    if (has_small_rows(movement))
        return num_local_rows(movement);
    struct cut cut = cut_of(movement);
    return (uint64_t)num_local_rows(movement) * cut.num_groups * cut.num_segments;
}

cohort_status cohort__movement_perform(const struct cohort__movement *movement, uint64_t part)
{
    const struct cohort__movement_kind *kind = movement->terms.kind;
    size_t bytes = block_bytes(movement);
    if (has_small_rows(movement))
        return kind->perform(movement, kind->has_rows ? local_row(movement, (uint32_t)part) : 0, 0,
                             num_copies(movement), 0, bytes);
    struct cut cut = cut_of(movement);
    size_t offset = part % cut.num_segments * cut.segment_bytes;
    uint64_t group = part / cut.num_segments;
    uint32_t first = (uint32_t)(group % cut.num_groups) * cut.group_copies;
    uint32_t end = first + cut.group_copies < cut.copies ? first + cut.group_copies : cut.copies;
    size_t left = bytes - offset;
    uint32_t row = kind->has_rows ? local_row(movement, (uint32_t)(group / cut.num_groups)) : 0;
    return kind->perform(movement, row, first, end, offset,
                         left < cut.segment_bytes ? left : cut.segment_bytes);
}

size_t cohort__movement_bytes(const struct cohort__movement *movement)
{
    return block_bytes(movement) * num_local_rows(movement) * num_copies(movement);
}

/* Copies ----------------------------------------------------------------------------------- */

/* Gives the slots at TO the objects of those at FROM, and takes a reference to each: their sites
 * may give theirs back as soon as the meeting is over. */
static void share(unsigned char *to, const unsigned char *from, size_t bytes)
{
    struct cohort__blob **slots = (struct cohort__blob **)(void *)to;
    struct cohort__blob *const *others = (struct cohort__blob *const *)(const void *)from;
    for (size_t i = 0; i < bytes / sizeof(struct cohort__blob *); i++) {
        struct cohort__blob *before = slots[i];
        slots[i] = cohort__blob_ref(others[i]);
        cohort__blob_unref(before);
    }
}

/* Copies of common small sizes need no call of a function. */
static inline void move(const struct cohort__movement *movement, unsigned char *to,
                        const unsigned char *from, size_t bytes)
{
    if (movement->terms.of_objects)
        share(to, from, bytes);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else if (to != from && movement->is_past_caches)
        cohort__copy_past(to, from, bytes);
    else if (to != from)
        cohort__copy(to, from, bytes);
}

static cohort_status gather(const struct cohort__movement *movement, uint32_t row, uint32_t first,
                            uint32_t end, size_t offset, size_t bytes)
{
    (void)row;
    uint32_t root = movement->terms.root;
    if (!movement->out[root])
        return COHORT_OK;
    for (uint32_t site = first; site < end; site++) {
        unsigned char *to = movement->out[root] + site * movement->terms.stride;
        bool in_place = site == root && movement->in[root] == movement->out[root];
        if (!in_place)
            move(movement, to + offset, movement->in[site] + offset, bytes);
    }
    return COHORT_OK;
}

static cohort_status scatter(const struct cohort__movement *movement, uint32_t row, uint32_t first,
                             uint32_t end, size_t offset, size_t bytes)
{
    (void)row;
    uint32_t root = movement->terms.root;
    for (uint32_t site = first; site < end; site++)
        if (movement->out[site] &&
            movement->out[site] != movement->in[root]) /* else the root leaves its block there */
            move(movement, movement->out[site] + offset, input(movement, root, site) + offset,
                 bytes);
    return COHORT_OK;
}

static cohort_status broadcast(const struct cohort__movement *movement, uint32_t row,
                               uint32_t first, uint32_t end, size_t offset, size_t bytes)
{
    (void)row;
    for (uint32_t site = first; site < end; site++)
        if (site != movement->terms.root && movement->out[site])
            move(movement, movement->out[site] + offset,
                 movement->in[movement->terms.root] + offset, bytes);
    return COHORT_OK;
}

/* A row is a target. */
static cohort_status all_gather(const struct cohort__movement *movement, uint32_t row,
                                uint32_t first, uint32_t end, size_t offset, size_t bytes)
{
    for (uint32_t site = first; site < end; site++) {
        bool in_place = movement->in[site] == movement->out[site];
        const unsigned char *from =
            movement->in[site] + (in_place ? site * movement->terms.stride : 0);
        move(movement, movement->out[row] + site * movement->terms.stride + offset, from + offset,
             bytes);
    }
    return COHORT_OK;
}

static cohort_status all_to_all(const struct cohort__movement *movement, uint32_t row,
                                uint32_t first, uint32_t end, size_t offset, size_t bytes)
{
    unsigned char *to = movement->out[row] + offset;
    for (uint32_t site = first; site < end; site++)
        move(movement, to + site * movement->terms.stride, input(movement, site, row) + offset,
             bytes);
    return COHORT_OK;
}

static cohort_status shift(const struct cohort__movement *movement, uint32_t row, uint32_t first,
                           uint32_t end, size_t offset, size_t bytes)
{
    (void)row;
    uint32_t num_sites = movement->num_sites;
    for (uint32_t site = first; site < end; site++) {
        uint32_t target = site < num_sites - movement->terms.shift
                              ? site + movement->terms.shift
                              : site + movement->terms.shift - num_sites;
        if (movement->out[target])
            move(movement, movement->out[target] + offset, movement->in[site] + offset, bytes);
    }
    return COHORT_OK;
}

/* Reductions ------------------------------------------------------------------------------- */

/* An operation with its kernel, found once for many pieces of one size. */
struct reduction {
    const struct cohort__movement *movement;
    cohort__kernel_function *kernel; /* of a built-in operation */
    size_t count;
};

static struct reduction reduction_of(const struct cohort__movement *movement, size_t bytes)
{
    struct reduction reduction = {.movement = movement, .count = bytes / movement->terms.element};
    if (cohort__op_is_builtin(movement->terms.op))
        reduction.kernel = cohort__kernel_find((enum cohort__kernel)movement->terms.op->number,
                                               movement->terms.datatype)
                               ->plain;
    return reduction;
}

static cohort_status apply(const struct reduction *reduction, unsigned char *to,
                           const unsigned char *left, const unsigned char *right)
{
    if (!reduction->kernel)
        return cohort__op_apply(reduction->movement->terms.op, to, left, right, reduction->count,
                                reduction->movement->terms.datatype);
    reduction->kernel(to, left, right, reduction->count);
    return COHORT_OK;
}

/* The first site from SITE on whose output is in this locality. num_sites: there is none. */
static uint32_t first_local(const struct cohort__movement *movement, uint32_t site)
{
    while (site < movement->num_sites && !movement->out[site])
        site++;
    return site;
}

/* Reduces BYTES at OFFSET of the blocks for ROW of all inputs into TO. */
static cohort_status fold(const struct cohort__movement *movement, unsigned char *to, uint32_t row,
                          size_t offset, size_t bytes)
{
    const unsigned char *left = input(movement, 0, row) + offset;
    struct reduction reduction = reduction_of(movement, bytes);
    if (movement->num_sites == 1)
        move(movement, to, left, bytes);
    for (uint32_t site = 1; site < movement->num_sites; site++) {
        cohort_status status = apply(&reduction, to, left, input(movement, site, row) + offset);
        if (status)
            return status;
        left = to;
    }
    return COHORT_OK;
}

void cohort__movement_fold(const struct cohort__movement *movement, unsigned char *to, size_t place,
                           size_t bytes)
{
    fold(movement, to, 0, place, bytes); /* only a user's operation may fail */
}

static cohort_status reduce(const struct cohort__movement *movement, uint32_t row, uint32_t first,
                            uint32_t end, size_t offset, size_t bytes)
{
    (void)row, (void)first, (void)end;
    unsigned char *to = movement->out[movement->terms.root];
    return to ? fold(movement, to + offset, 0, offset, bytes) : COHORT_OK;
}

static cohort_status all_reduce(const struct cohort__movement *movement, uint32_t row,
                                uint32_t first, uint32_t end, size_t offset, size_t bytes)
{
    (void)row, (void)first, (void)end;
    uint32_t site = first_local(movement, 0);
    const unsigned char *result = movement->out[site] + offset;
    cohort_status status = fold(movement, movement->out[site] + offset, 0, offset, bytes);
    for (site++; !status && site < movement->num_sites; site++)
        if (movement->out[site])
            move(movement, movement->out[site] + offset, result, bytes);
    return status;
}

/* A row is a target. */
static cohort_status reduce_scatter(const struct cohort__movement *movement, uint32_t row,
                                    uint32_t first, uint32_t end, size_t offset, size_t bytes)
{
    (void)first, (void)end;
    return fold(movement, movement->out[row] + offset, row, offset, bytes);
}

/* Results between two sites of this locality are reduced in the place of the next one's output. An
 * exclusive scan leaves a site the result of those before it. */
static cohort_status scan(const struct cohort__movement *movement, uint32_t row, uint32_t first,
                          uint32_t end, size_t offset, size_t bytes)
{
    (void)row, (void)first, (void)end;
    const uint32_t before =
        movement->terms.kind == &cohort__movement_kinds[COHORT__EXCLUSIVE_SCAN] ? 1 : 0;
    struct reduction reduction = reduction_of(movement, bytes);
    cohort_status status = COHORT_OK;
    const unsigned char *left = movement->in[0] + offset;
    for (uint32_t site = before; !status && site < movement->num_sites; site++) {
        uint32_t target = first_local(movement, site);
        if (target == movement->num_sites)
            break;
        unsigned char *to = movement->out[target] + offset;
        if (site == before)
            move(movement, to, left, bytes);
        else
            status = apply(&reduction, to, left, movement->in[site - before] + offset);
        left = to;
    }
    return status;
}

static cohort_status nothing(const struct cohort__movement *movement, uint32_t row, uint32_t first,
                             uint32_t end, size_t offset, size_t bytes)
{
    (void)movement, (void)row, (void)first, (void)end, (void)offset, (void)bytes;
    return COHORT_OK;
}

const struct cohort__movement_kind cohort__movement_kinds[COHORT__NUM_COLLECTIVES] = {
    [COHORT__GATHER] = {.has_columns = true, .perform = gather, .in_blocks = 1},
    [COHORT__SCATTER] = {.has_columns = true, .has_source = true, .perform = scatter},
    [COHORT__BROADCAST] = {.has_columns = true,
                           .has_source = true,
                           .perform = broadcast,
                           .in_blocks = 1},
    [COHORT__REDUCE] = {.reads_late = true, .perform = reduce, .in_blocks = 1},
    [COHORT__ALL_GATHER] = {.has_rows = true,
                            .has_columns = true,
                            .perform = all_gather,
                            .in_blocks = 1},
    [COHORT__ALL_REDUCE] = {.perform = all_reduce, .in_blocks = 1},
    [COHORT__ALL_TO_ALL] = {.has_rows = true,
                            .has_columns = true,
                            .reads_late = true,
                            .perform = all_to_all},
    [COHORT__BARRIER] = {.perform = nothing, .in_blocks = 1},
    [COHORT__REDUCE_SCATTER] = {.has_rows = true, .reads_late = true, .perform = reduce_scatter},
    [COHORT__SCAN] = {.perform = scan, .in_blocks = 1},
    [COHORT__EXCLUSIVE_SCAN] = {.reads_late = true, .perform = scan, .in_blocks = 1},
    [COHORT__SHIFT] = {.has_columns = true, .reads_late = true, .perform = shift, .in_blocks = 1},
};

void cohort__movement_read(const struct cohort__movement *movement, size_t begin, size_t end)
{
    const struct cohort__movement_kind *kind = movement->terms.kind;
    size_t block = block_bytes(movement);
    if (kind->in_blocks) {
        kind->perform(movement, 0, 0, movement->num_sites, begin, end - begin);
        return;
    }
    for (uint32_t site = (uint32_t)(begin / block); begin < end; site++) {
        size_t next = (site + 1) * block < end ? (site + 1) * block : end;
        kind->perform(movement, 0, site, site + 1, begin - site * block, next - begin);
        begin = next;
    }
}
