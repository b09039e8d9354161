/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a composed row within a host: the members of a tier, each in a locality of its own,
 * leave notes where the others can read them. One note has as many readers as there are. */
#include "collectives/algo/pattern/levels.h"

#include <stdlib.h>

/* Each site leaves at most one note on the way up, since it brings something to one leader only.
 * On the way down it leaves one for each tier that it leads: in a domain, and in a host. */
enum { NOTE_UP = 0, NOTE_DOWN = 1 };

/* The number of the notes of TIER on the way down, or of any tier on the way up. */
static uint32_t number_of(const struct cohort__levels *levels, uint32_t tier, unsigned phase)
{
    bool has_localities = levels->used[0] == COHORT__LEVEL_LOCALITY;
    return phase == COHORT__LEVELS_UP ? NOTE_UP : NOTE_DOWN + tier - has_localities;
}

/* Whether LEVEL is one of localities within a host. */
static bool is_in_host(const struct cohort__machine *machine, uint32_t level)
{
    uint32_t host = cohort__machine_find(machine, "host");
    return level != COHORT__LEVEL_LOCALITY && host < cohort__machine_num_levels(machine) &&
           level <= host;
}

bool cohort__levels_notes_fit(const struct cohort__request *request, uint32_t level,
                              enum cohort__collective collective, size_t bytes)
{
    bool is_kind = collective == COHORT__REDUCE || collective == COHORT__BROADCAST ||
                   collective == COHORT__GATHER || collective == COHORT__SCATTER ||
                   collective == COHORT__ALL_GATHER ||
                   (collective == COHORT__REDUCE_SCATTER && request->commutative);
    return is_kind && request->meets && is_in_host(request->machine, level) &&
           bytes <= COHORT__LEVELS_NOTE_BYTES;
}

/* The bytes of the longest note. SIZE_MAX: not all members know it. */
static size_t longest(const struct cohort__levels *levels, uint32_t tier,
                      const struct cohort__tier_part *part)
{
    size_t ragged = part->most_bytes > 0 ? part->most_bytes : SIZE_MAX;
    switch (part->collective) {
    case COHORT__REDUCE:
    case COHORT__BROADCAST:
        return part->bytes;
    case COHORT__GATHER:
        return part->is_ragged ? ragged : part->bytes;
    case COHORT__SCATTER:
        return part->is_ragged ? ragged : levels->tiers[tier].num * part->bytes;
    case COHORT__ALL_GATHER:
    case COHORT__REDUCE_SCATTER:
        return ragged;
    default:
        return SIZE_MAX;
    }
}

bool cohort__levels_notes_can(struct cohort__levels *levels, uint32_t tier,
                              const struct cohort__tier_part *part)
{
    if (!levels->request->has_notes || tier == levels->num_used ||
        cohort__levels_piece(levels, part) > 0 ||
        number_of(levels, tier, part->phase) >= COHORT__ROW_NOTES ||
        !cohort__levels_notes_fit(levels->request, levels->used[tier], part->collective,
                                  longest(levels, tier, part)))
        return false;
    unsigned *noted = &levels->noted[part->phase == COHORT__LEVELS_DOWN];
    bool is_first = !(*noted & 1u << tier);
    *noted |= 1u << tier;
    return is_first;
}

/* One part, as this site carries it out. */
struct notes {
    struct cohort__levels *levels;
    const struct cohort__tier *tier;
    const struct cohort__tier_part *part;
    uint32_t *sites; /* the members */
    uint32_t number;
    uint32_t after;
};

static uint32_t range(const struct notes *self, struct cohort__area area, size_t bytes)
{
    return cohort__plan_range(self->levels->builder, area.space, area.offset, bytes);
}

/* What is in PARTS, or in blocks of equal size, of member RANK. */
static struct cohort__part part_of(const struct notes *self, const struct cohort__part *parts,
                                   uint32_t rank)
{
    return parts ? parts[rank]
                 : (struct cohort__part){rank, rank * self->part->bytes, self->part->bytes};
}

static uint32_t post(const struct notes *self, uint32_t reader, uint32_t block)
{
    uint32_t step = cohort__plan_post(self->levels->builder, self->part->phase, self->number,
                                      reader, self->sites, self->tier->num, &block, 1);
    cohort__plan_after(self->levels->builder, step, self->after);
    return step;
}

static uint32_t read(const struct notes *self, uint32_t rank, size_t offset, uint32_t to,
                     uint32_t left, uint32_t after)
{
    uint32_t step = cohort__plan_read(self->levels->builder, self->part->phase, self->number,
                                      self->sites[rank], offset, to, left);
    cohort__plan_after(self->levels->builder, step, after);
    return step;
}

static bool is_same(struct cohort__area left, struct cohort__area right)
{
    return left.space == right.space && left.offset == right.offset;
}

/* The leader reads the notes one after the other, by rank, so that an operation that doesn't
 * commute, whose leader is rank 0, has its order. */
static uint32_t reduce(const struct notes *self)
{
    const struct cohort__tier *tier = self->tier;
    uint32_t left = range(self, self->part->in, self->part->bytes);
    if (tier->this_rank != tier->leader)
        return post(self, self->sites[tier->leader], left);
    uint32_t to = range(self, self->part->out, self->part->bytes), end = self->after;
    for (uint32_t rank = 0; rank < tier->num; rank++) {
        if (rank == tier->leader)
            continue;
        end = read(self, rank, 0, to, left, end);
        left = to;
    }
    return end;
}

/* This site's own block goes from FROM to TO, unless it is there. Returns a step that is done when
 * that and STEP are. */
static uint32_t keep_own(const struct notes *self, struct cohort__area to, struct cohort__area from,
                         size_t bytes, uint32_t step)
{
    if (is_same(to, from) || bytes == 0)
        return step;
    uint32_t copy =
        cohort__levels_copy(self->levels, self->part->phase, to, from, bytes, self->after);
    cohort__plan_after(self->levels->builder, copy, step);
    return copy;
}

static uint32_t gather(const struct notes *self)
{
    const struct cohort__tier *tier = self->tier;
    struct cohort__plan_builder *builder = self->levels->builder;
    if (tier->this_rank != tier->leader)
        return post(self, self->sites[tier->leader],
                    range(self, self->part->in, self->part->bytes));
    uint32_t end = cohort__plan_join(builder, self->part->phase);
    cohort__plan_after(builder, end, self->after);
    for (uint32_t rank = 0; rank < tier->num; rank++) {
        struct cohort__part own = part_of(self, self->part->out_parts, rank);
        struct cohort__area to = {self->part->out.space, self->part->out.offset + own.offset};
        uint32_t step =
            rank == tier->leader
                ? keep_own(self, to, self->part->in, own.bytes, COHORT__NO_STEP)
                : read(self, rank, 0, range(self, to, own.bytes), COHORT__NO_BLOCK, self->after);
        cohort__plan_after(builder, end, step);
    }
    return end;
}

static uint32_t scatter(const struct notes *self)
{
    const struct cohort__tier *tier = self->tier;
    size_t offset =
        self->part->is_ragged ? self->part->own_offset : tier->this_rank * self->part->bytes;
    if (tier->this_rank != tier->leader)
        return read(self, tier->leader, offset, range(self, self->part->out, self->part->bytes),
                    COHORT__NO_BLOCK, self->after);
    const struct cohort__part own = part_of(self, self->part->in_parts, tier->this_rank);
    struct cohort__area from = {self->part->in.space, self->part->in.offset + own.offset};
    struct cohort__part last = part_of(self, self->part->in_parts, tier->num - 1);
    uint32_t step =
        post(self, COHORT__EVERYBODY, range(self, self->part->in, last.offset + last.bytes));
    return keep_own(self, self->part->out, from, own.bytes, step);
}

static uint32_t broadcast(const struct notes *self)
{
    const struct cohort__tier *tier = self->tier;
    if (tier->this_rank == tier->leader)
        return post(self, COHORT__EVERYBODY, range(self, self->part->in, self->part->bytes));
    return read(self, tier->leader, 0, range(self, self->part->out, self->part->bytes),
                COHORT__NO_BLOCK, self->after);
}

/* Each member leaves all blocks for all others, and reduces its own. Whose block is empty reads
 * nothing of a note, but says that it has. */
static uint32_t reduce_scatter(const struct notes *self)
{
    const struct cohort__tier *tier = self->tier;
    const struct cohort__part *parts = self->part->in_parts, *own = &parts[tier->this_rank];
    size_t bytes = parts[tier->num - 1].offset + parts[tier->num - 1].bytes;
    uint32_t posted = post(self, COHORT__EVERYBODY, range(self, self->part->in, bytes));
    struct cohort__area from = {self->part->in.space, self->part->in.offset + own->offset};
    uint32_t left = range(self, from, own->bytes), end = self->after;
    uint32_t to = range(self, self->part->out, own->bytes);
    for (uint32_t i = 1; i < tier->num; i++) {
        uint32_t rank = (tier->this_rank + i) % tier->num;
        end = read(self, rank, own->offset, to, own->bytes ? left : COHORT__NO_BLOCK, end);
        left = to;
    }
    cohort__plan_after(self->levels->builder, end, posted);
    return end;
}

/* Each member leaves its block, unless that is empty, for all others. */
static uint32_t all_gather(const struct notes *self)
{
    const struct cohort__tier *tier = self->tier;
    struct cohort__plan_builder *builder = self->levels->builder;
    uint32_t end = cohort__plan_join(builder, self->part->phase);
    cohort__plan_after(builder, end, self->after);
    for (uint32_t i = 0; i < tier->num; i++) {
        uint32_t rank = (tier->this_rank + i) % tier->num, step;
        const struct cohort__part *part = &self->part->out_parts[rank];
        struct cohort__area to = {self->part->out.space, self->part->out.offset + part->offset};
        if (part->bytes == 0)
            continue;
        if (i == 0)
            step =
                keep_own(self, to, self->part->in, part->bytes,
                         post(self, COHORT__EVERYBODY, range(self, self->part->in, part->bytes)));
        else
            step = read(self, rank, 0, range(self, to, part->bytes), COHORT__NO_BLOCK, self->after);
        cohort__plan_after(builder, end, step);
    }
    return end;
}

uint32_t cohort__levels_notes(struct cohort__levels *levels, uint32_t tier,
                              const struct cohort__tier_part *part, uint32_t after)
{
    struct notes self = {
        .levels = levels,
        .tier = &levels->tiers[tier],
        .part = part,
        .sites = malloc(levels->tiers[tier].num * sizeof(*self.sites)),
        .number = number_of(levels, tier, part->phase),
        .after = after,
    };
    uint32_t end = COHORT__NO_STEP;
    if (!self.sites) {
        cohort__plan_builder_fail(levels->builder);
        return end;
    }
    for (uint32_t rank = 0; rank < self.tier->num; rank++)
        self.sites[rank] = cohort__levels_member(levels, tier, rank);
    if (part->collective == COHORT__REDUCE)
        end = reduce(&self);
    else if (part->collective == COHORT__GATHER)
        end = gather(&self);
    else if (part->collective == COHORT__SCATTER)
        end = scatter(&self);
    else if (part->collective == COHORT__REDUCE_SCATTER)
        end = reduce_scatter(&self);
    else if (part->collective == COHORT__ALL_GATHER)
        end = all_gather(&self);
    else
        end = broadcast(&self);
    free(self.sites);
    return end;
}
