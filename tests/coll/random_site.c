/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/coll/random_site.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

enum { RUBBISH = 0xee };

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes); /* no larger than used: sanitizers see accesses beyond */
    CHECK(memory || bytes == 0);
    return memory;
}

static unsigned char *allocate_skewed(const struct random_site *site, size_t bytes)
{
    const size_t all = bytes + site->skew;
    void *memory = site->memory.alloc ? site->memory.alloc(site->memory.locality, all > 0 ? all : 1)
                                      : allocate(all);
    return (unsigned char *)memory + site->skew;
}

static void free_skewed(const struct random_site *site, unsigned char *memory)
{
    if (site->memory.alloc)
        site->memory.free(site->memory.locality, memory - site->skew);
    else
        free(memory - site->skew);
}

static bool has_elements(const struct random_side *side)
{
    for (uint32_t i = 0; i < side->num; i++)
        if (side->blocks[i].count > 0)
            return true;
    return false;
}

/* Wrong arguments ---------------------------------------------------------------------------- */

static bool is_ragged(enum random_kind kind)
{
    return kind >= RANDOM_GATHERV && kind <= RANDOM_EXCHANGE;
}

static bool can_overlap(const struct random_call *call, uint32_t site,
                        const struct random_side *out)
{
    uint32_t num = 0;
    for (uint32_t i = 0; i < out->num; i++)
        num += out->blocks[i].count > 0;
    return is_ragged(call->kind) && call->kind != RANDOM_REDUCE_SCATTERV &&
           (call->kind != RANDOM_GATHERV || site == call->root) && num > 1;
}

bool random_can_reject(const struct random_call *call, uint32_t site, enum random_reject reject)
{
    struct random_side in, out;
    enum random_kind kind = call->kind;
    bool is_root = site == call->root, has_objects = random_kind_is_of_objects(kind);
    random_lay_out(call, site, &in, &out);
    switch (reject) {
    case RANDOM_REJECT_NO_IN:
        return has_elements(&in) && !has_objects;
    case RANDOM_REJECT_NO_OUT:
        return has_elements(&out) && !has_objects && (kind != RANDOM_EXCLUSIVE_SCAN || site > 0);
    case RANDOM_REJECT_TYPE:
        return kind != RANDOM_BARRIER && !has_objects && kind != RANDOM_ALL_TO_ALLW;
    case RANDOM_REJECT_SITE:
        return kind == RANDOM_EXCHANGE && in.num > 0;
    case RANDOM_REJECT_OVERLAP:
        return can_overlap(call, site, &out);
    case RANDOM_REJECT_OWN:
        return kind == RANDOM_ALL_TO_ALLV || kind == RANDOM_ALL_TO_ALLW ||
               (is_root && (kind == RANDOM_GATHERV || kind == RANDOM_SCATTERV));
    case RANDOM_REJECT_OBJECT:
        return has_objects && in.num > 0;
    case RANDOM_REJECT_ROLE:
        return random_kind_is_rooted(kind);
    case RANDOM_REJECT_ROWS:
        return !random_kind_has_rows(kind);
    default:
        return true;
    }
}

/* Calling ------------------------------------------------------------------------------------ */

/* The arrays that describe the blocks of IN or OUT, with an entry for each site or for each
 * neighbour. */
struct arrays {
    size_t counts[RANDOM_SITES], displacements[RANDOM_SITES];
    cohort_datatype types[RANDOM_SITES];
    cohort_neighbour neighbours[RANDOM_BLOCKS];
    const size_t *displaced; /* or NULL */
};

/* In all_to_allw a block consists of 8-byte elements, or of twice as many 4-byte elements. */
static cohort_datatype type_of(uint32_t from, uint32_t to, bool is_out)
{
    const cohort_datatype all[] = {COHORT_INT64, COHORT_INT32, cohort_datatype_of_bytes(8)};
    return all[(from * 3 + to * 5 + is_out) % 3];
}

static void describe(const struct random_site *site, const struct random_side *side, bool is_out,
                     struct arrays *arrays)
{
    bool has_types = site->call->kind == RANDOM_ALL_TO_ALLW;
    for (uint32_t i = 0; i < side->num; i++) {
        const struct random_block *block = &side->blocks[i];
        arrays->neighbours[i] = (cohort_neighbour){block->peer, block->offset, block->count};
        if (i >= RANDOM_SITES)
            continue;
        arrays->types[i] = type_of(site->site, i, is_out);
        arrays->counts[i] =
            has_types ? block->count * 8 / cohort_datatype_size(arrays->types[i]) : block->count;
        arrays->displacements[i] = block->offset * (has_types ? 8 : 1);
    }
    arrays->displaced = site->call->is_spread ? arrays->displacements : NULL;
}

static void make_wrong(const struct random_site *site, struct arrays *in, struct arrays *out)
{
    switch (site->reject) {
    case RANDOM_REJECT_SITE:
        in->neighbours[0].site = site->call->num_sites;
        break;
    case RANDOM_REJECT_OVERLAP:
        memset(out->displacements, 0, sizeof(out->displacements));
        out->displaced = out->displacements;
        for (uint32_t i = 0; i < RANDOM_BLOCKS; i++)
            out->neighbours[i].offset = 0;
        break;
    case RANDOM_REJECT_OWN:
        out->counts[site->site] += 2;
        break;
    default:
        break;
    }
}

/* Passes all sites' counts at one site, with other values than those of the blocks. */
static void fill_all_counts(const struct random_site *site, struct arrays *arrays)
{
    const struct random_call *call = site->call;
    for (uint32_t i = 0; i < call->num_sites; i++)
        arrays->counts[i] =
            call->kind == RANDOM_ALL_GATHERV ? call->counts[i][0] : call->counts[0][i];
}

/* The call has them no longer. */
static void forget_layouts(const cohort_layout_neighbour *neighbours, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        cohort_layout_unref((cohort_layout *)neighbours[i].layout);
}

static cohort_future *exchange_layouts(struct random_site *site, cohort_comm *comm, const void *in,
                                       void *out, cohort_datatype type)
{
    uint32_t num_to = site->in_side.num, num_from = site->out_side.num;
    cohort_future *done = cohort_exchange_layouts(comm, in, site->to, num_to, out, site->from,
                                                  num_from, type, site->generation);
    forget_layouts(site->to, num_to);
    forget_layouts(site->from, num_from);
    return done;
}

static cohort_future *call_ragged(struct random_site *site, cohort_comm *comm, const void *in,
                                  void *out, cohort_datatype type)
{
    struct arrays from = {.displaced = NULL}, into = {.displaced = NULL};
    uint64_t generation = site->generation;
    size_t in_count = site->in_side.num ? site->in_side.blocks[0].count : 0;
    size_t out_count = site->out_side.num ? site->out_side.blocks[0].count : 0;
    bool is_root = (site->site == site->call->root) != (site->reject == RANDOM_REJECT_ROLE);
    describe(site, &site->in_side, false, &from);
    describe(site, &site->out_side, true, &into);
    make_wrong(site, &from, &into);
    switch (site->call->kind) {
    case RANDOM_GATHERV:
        return is_root ? cohort_gatherv_here(comm, in, in_count, out, into.counts, into.displaced,
                                             type, generation)
                       : cohort_gatherv_there(comm, in, in_count, type, generation);
    case RANDOM_SCATTERV:
        out_count += site->reject == RANDOM_REJECT_OWN;
        return is_root ? cohort_scatterv_to(comm, in, from.counts, from.displaced, out, out_count,
                                            type, generation)
                       : cohort_scatterv_from(comm, out, out_count, type, generation);
    case RANDOM_ALL_GATHERV:
        return cohort_all_gatherv(comm, in, out, into.counts, into.displaced, type, generation);
    case RANDOM_REDUCE_SCATTERV:
        fill_all_counts(site, &from);
        return cohort_reduce_scatterv(comm, in, out, from.counts, type, random_op(site->call),
                                      generation);
    case RANDOM_ALL_TO_ALLV:
        return cohort_all_to_allv(comm, in, from.counts, from.displaced, out, into.counts,
                                  into.displaced, type, generation);
    case RANDOM_ALL_TO_ALLW: /* without displacements its blocks follow each other */
        return cohort_all_to_allw(comm, in, from.counts, from.displaced, from.types, out,
                                  into.counts, into.displaced, into.types, generation);
    default:
        if (site->to)
            return exchange_layouts(site, comm, in, out, type);
        return cohort_exchange(comm, in, from.neighbours, site->in_side.num, out, into.neighbours,
                               site->out_side.num, type, generation);
    }
}

/* From the last site to the first. */
static cohort_future *call_sparse(struct random_site *site, cohort_comm *comm)
{
    cohort_site_object to[RANDOM_SITES];
    size_t num = 0;
    for (uint32_t i = site->call->num_sites; i-- > 0;)
        if (site->in_objects[i].bytes > 0)
            to[num++] = (cohort_site_object){i, site->in_objects[i]};
    return cohort_all_to_all_sparse(comm, to, num, &site->list, site->generation);
}

static cohort_future *call_objects(struct random_site *site, cohort_comm *comm)
{
    const cohort_object *in = site->in_objects;
    cohort_object *out = site->out_objects;
    uint64_t generation = site->generation;
    bool is_root = (site->site == site->call->root) != (site->reject == RANDOM_REJECT_ROLE);
    switch (site->call->kind) {
    case RANDOM_GATHER_OBJECTS:
        return is_root ? cohort_gather_objects_here(comm, in, out, generation)
                       : cohort_gather_objects_there(comm, in, generation);
    case RANDOM_SCATTER_OBJECTS:
        return is_root ? cohort_scatter_objects_to(comm, in, out, generation)
                       : cohort_scatter_objects_from(comm, out, generation);
    case RANDOM_BROADCAST_OBJECT:
        return is_root ? cohort_broadcast_object_to(comm, in, generation)
                       : cohort_broadcast_object_from(comm, out, generation);
    case RANDOM_ALL_GATHER_OBJECTS:
        return cohort_all_gather_objects(comm, in, out, generation);
    case RANDOM_ALL_TO_ALL_SPARSE:
        return call_sparse(site, comm);
    default:
        return cohort_all_to_all_objects(comm, in, out, generation);
    }
}

static cohort_future *call_rooted(struct random_site *site, cohort_comm *comm, const void *in,
                                  void *out, cohort_datatype type)
{
    const struct random_call *call = site->call;
    uint64_t generation = site->generation;
    bool is_root = (site->site == call->root) != (site->reject == RANDOM_REJECT_ROLE);
    switch (call->kind) {
    case RANDOM_GATHER:
        return is_root ? cohort_gather_here(comm, in, out, call->count, type, generation)
                       : cohort_gather_there(comm, in, call->count, type, generation);
    case RANDOM_SCATTER:
        return is_root ? cohort_scatter_to(comm, in, out, call->count, type, generation)
                       : cohort_scatter_from(comm, out, call->count, type, generation);
    case RANDOM_BROADCAST:
        return is_root ? cohort_broadcast_to(comm, in, call->count, type, generation)
                       : cohort_broadcast_from(comm, out, call->count, type, generation);
    default:
        return is_root
                   ? cohort_reduce_here(comm, in, out, call->count, type, random_op(call),
                                        generation)
                   : cohort_reduce_there(comm, in, call->count, type, random_op(call), generation);
    }
}

static cohort_future *call_for_all(struct random_site *site, cohort_comm *comm, const void *in,
                                   void *out, cohort_datatype type)
{
    const struct random_call *call = site->call;
    const cohort_op *op = random_op(call);
    uint64_t generation = site->generation;
    switch (call->kind) {
    case RANDOM_BARRIER:
        return cohort_barrier(comm, generation);
    case RANDOM_CHECK:
        return cohort_check_rooted(comm, type, generation);
    case RANDOM_ALL_GATHER:
        return cohort_all_gather(comm, in, out, call->count, type, generation);
    case RANDOM_ALL_REDUCE:
        return cohort_all_reduce(comm, in, out, call->count, type, op, generation);
    case RANDOM_ALL_TO_ALL:
        return cohort_all_to_all(comm, in, out, call->count, type, generation);
    case RANDOM_REDUCE_SCATTER:
        return cohort_reduce_scatter(comm, in, out, call->count, type, op, generation);
    case RANDOM_SCAN:
        return cohort_scan(comm, in, out, call->count, type, op, generation);
    case RANDOM_EXCLUSIVE_SCAN:
        return cohort_exclusive_scan(comm, in, out, call->count, type, op, generation);
    default:
        return cohort_shift(comm, in, out, call->count, type, call->q, generation);
    }
}

/* Buffers ------------------------------------------------------------------------------------ */

enum in_place {
    NEVER,
    INPUT,   /* all of IN is at the beginning of OUT */
    OWN,     /* the site's own block is at its place in OUT */
    WHOLE,   /* the blocks of IN are at the places of the blocks of OUT */
    STAYS_IN /* what would be written to OUT stays in IN */
};

static bool have_same_blocks(const struct random_side *left, const struct random_side *right)
{
    for (uint32_t i = 0; i < left->num; i++)
        if (left->blocks[i].count != right->blocks[i].count)
            return false;
    return true;
}

static enum in_place in_place_of(const struct random_site *site)
{
    bool is_root = site->site == site->call->root;
    if (!site->is_in_place || site->reject)
        return NEVER;
    switch (site->call->kind) {
    case RANDOM_REDUCE:
        return is_root ? INPUT : NEVER;
    case RANDOM_ALL_REDUCE:
    case RANDOM_REDUCE_SCATTER:
    case RANDOM_REDUCE_SCATTERV:
    case RANDOM_SCAN:
    case RANDOM_EXCLUSIVE_SCAN:
        return INPUT;
    case RANDOM_GATHER:
    case RANDOM_GATHERV:
        return is_root ? OWN : NEVER;
    case RANDOM_ALL_GATHER:
    case RANDOM_ALL_GATHERV:
        return OWN;
    case RANDOM_ALL_TO_ALL:
    case RANDOM_ALL_TO_ALLV:
    case RANDOM_ALL_TO_ALLW:
        return have_same_blocks(&site->in_side, &site->out_side) ? WHOLE : NEVER;
    case RANDOM_SCATTER:
    case RANDOM_SCATTERV:
        return is_root ? STAYS_IN : NEVER;
    default:
        return NEVER;
    }
}

/* Allocates OUT, and writes the part of the input that is in place there. */
static void make_out(struct random_site *site, enum in_place in_place, const unsigned char *input)
{
    size_t element = random_element(site->call);
    size_t in_bytes = site->in_side.end * element;
    site->out_bytes = site->out_side.end * element;
    if (in_place == INPUT && in_bytes > site->out_bytes)
        site->out_bytes = in_bytes;
    site->out = allocate_skewed(site, site->out_bytes);
    for (size_t i = 0; i < site->out_bytes; i++)
        site->out[i] = RUBBISH;
    const struct random_block *own = &site->out_side.blocks[site->site];
    if (in_place == INPUT || in_place == WHOLE)
        memcpy(site->out, input, in_bytes);
    else if (in_place == OWN)
        memcpy(site->out + own->offset * element, input, own->count * element);
    site->before = allocate(site->out_bytes);
    if (site->out_bytes > 0)
        memcpy(site->before, site->out, site->out_bytes);
}

static void make_objects(struct random_site *site)
{
    site->in_objects = test_calloc(RANDOM_SITES, sizeof(*site->in_objects));
    site->out_objects = test_calloc(RANDOM_SITES, sizeof(*site->out_objects));
    for (uint32_t i = 0; i < site->in_side.num; i++) {
        const struct random_block *block = &site->in_side.blocks[i];
        site->in_objects[i] = (cohort_object){site->in + block->offset, block->count};
    }
    if (site->reject == RANDOM_REJECT_OBJECT)
        site->in_objects[0] = (cohort_object){NULL, 5};
}

bool random_site_takes_rows(const struct random_site *site)
{
    bool is_gather = site->call->kind == RANDOM_GATHER || site->call->kind == RANDOM_GATHERV;
    bool has = random_kind_has_rows(site->call->kind) &&
               (!is_gather || site->site == site->call->root) && site->reject != RANDOM_REJECT_ROLE;
    return site->reject == RANDOM_REJECT_ROWS || (has && site->has_rows);
}

/* Layouts ------------------------------------------------------------------------------------- */

static bool may_have_layouts(enum random_kind kind)
{
    return kind > RANDOM_CHECK && kind != RANDOM_ALL_TO_ALLW && !random_kind_is_of_objects(kind);
}

/* Each by itself, or both in one array. */
static void lay_out(struct random_site *site, struct cohort__random *random, bool lays_in,
                    bool lays_out)
{
    const size_t element = random_element(site->call);
    const size_t in_num = site->in_side.end, out_num = site->out_bytes / element;
    struct random_lying *in = &site->in_lying, *out = &site->out_lying;
    /* In blocks of different sizes there may be more than the call needs. */
    size_t most = is_ragged(site->call->kind) ? 3 : 1;
    in->num = in_num + cohort__random_below(random, most);
    out->num = out_num + cohort__random_below(random, most);
    site->is_one_array = lays_in && lays_out && cohort__random_below(random, 3) == 0;
    if (site->is_one_array) {
        cohort_layout *layouts[2];
        size_t *places[2];
        random_layouts_of_one(random, (const size_t[2]){in->num, out->num}, layouts, places);
        in->layout = layouts[0], in->places = places[0];
        out->layout = layouts[1], out->places = places[1];
        random_lying_share_array(out, in, element);
    } else {
        if (lays_in) {
            in->layout = random_layout(random, in->num, &in->places);
            random_lying_make_array(in, element);
        }
        if (lays_out) {
            out->layout = random_layout(random, out->num, &out->places);
            random_lying_make_array(out, element);
        }
    }
    if (lays_in)
        random_lying_put(in, site->in, in_num);
    if (lays_out)
        random_lying_put(out, site->out, out_num);
}

/* BLOCK, whose elements lie as LYING says, or one behind the other. Its layout begins with its
 * first place, or IS_AT_BEGIN of the array. The caller gives the layout back. */
static cohort_layout_neighbour neighbour_of(const struct random_lying *lying,
                                            const struct random_block *block, bool is_at_begin)
{
    cohort_layout_block *runs = calloc(block->count + 1, sizeof(*runs));
    size_t begin = SIZE_MAX;
    cohort_layout *layout;
    CHECK(runs);
    for (size_t i = 0; i < block->count; i++) {
        size_t at = block->offset + i;
        runs[i] = (cohort_layout_block){lying->places ? lying->places[at] : at, 1};
        begin = runs[i].offset < begin ? runs[i].offset : begin;
    }
    begin = is_at_begin || block->count == 0 ? 0 : begin;
    for (size_t i = 0; i < block->count; i++)
        runs[i].offset -= begin;
    CHECK_OK(cohort_layout_create_blocks(&layout, runs, block->count));
    free(runs);
    return (cohort_layout_neighbour){block->peer, begin, layout};
}

/* Each gets all elements of SIDE if its blocks are to OVERLAP. */
static cohort_layout_neighbour *find_neighbours(const struct random_side *side,
                                                const struct random_lying *lying, bool is_at_begin,
                                                bool overlap)
{
    cohort_layout_neighbour *neighbours = test_calloc(side->num + 1, sizeof(*neighbours));
    for (uint32_t i = 0; i < side->num; i++) {
        const struct random_block all = {side->blocks[i].peer, 0, side->end};
        neighbours[i] = neighbour_of(lying, overlap ? &all : &side->blocks[i], is_at_begin);
    }
    return neighbours;
}

static void lay_out_exchange(struct random_site *site)
{
    bool is_at_begin = site->layouts % 2, overlap = site->reject == RANDOM_REJECT_OVERLAP;
    site->to = find_neighbours(&site->in_side, &site->in_lying, is_at_begin, false);
    site->from = find_neighbours(&site->out_side, &site->out_lying, is_at_begin, overlap);
    if (site->reject == RANDOM_REJECT_SITE)
        site->to[0].site = site->call->num_sites;
}

static void draw_layouts(struct random_site *site, enum in_place in_place, bool has_in,
                         bool has_out)
{
    struct cohort__random random = cohort__random_seeded(site->layouts);
    if (site->layouts == 0 || !may_have_layouts(site->call->kind))
        return;
    bool is_in = in_place == INPUT || in_place == OWN || in_place == WHOLE;
    bool is_left_alone = site->call->kind == RANDOM_EXCLUSIVE_SCAN && site->site == 0 && !is_in;
    bool lays_in = has_in && !is_in && cohort__random_below(&random, 3) > 0;
    bool lays_out =
        has_out && in_place != STAYS_IN && !is_left_alone && cohort__random_below(&random, 3) > 0;
    lay_out(site, &random, lays_in, lays_out);
    if (site->call->kind == RANDOM_EXCHANGE && (lays_in || lays_out))
        lay_out_exchange(site);
}

/* Puts what has come to OUT there. */
static void take_up(const struct random_site *site, size_t first, size_t num)
{
    if (site->out_lying.places)
        random_lying_take(&site->out_lying, site->out, first, num);
}

/* Whether nothing has come to where the layout has no element, nor to IN in the same array. */
static bool is_layout_kept(const struct random_site *site)
{
    const struct random_lying *lying = &site->out_lying;
    return !lying->places ||
           random_lying_is_kept(lying, site->out_bytes / random_element(site->call),
                                site->is_one_array ? &site->in_lying : NULL, site->in,
                                site->in_side.end);
}

static void set_options(struct random_site *site, cohort_comm *comm)
{
    const struct random_call *call = site->call;
    const uint32_t beyond = call->num_sites;
    cohort_call_options options = {
        .algorithm = call->algorithm,
        .root_site = call->has_root ? &call->root : NULL,
        .check_asymmetric = call->is_checked && call->kind != RANDOM_CHECK,
        .reproducible = call->is_reproducible,
        .ret_rows = random_site_takes_rows(site) ? site->rows : NULL,
        .deadline = site->deadline,
    };
    if (site->reject == RANDOM_REJECT_ROOT)
        options.root_site = &beyond;
    if (site->reject == RANDOM_REJECT_ALGORITHM)
        options.algorithm = "no such algorithm";
    if (call->kind != RANDOM_EXCHANGE) { /* whose blocks have layouts of their own */
        options.in_layout = site->in_lying.layout;
        options.out_layout = site->out_lying.layout;
    }
    if (options.algorithm || options.root_site || options.check_asymmetric ||
        options.reproducible || options.ret_rows || options.in_layout || options.out_layout ||
        options.deadline)
        CHECK_OK(cohort_comm_next_call(comm, &options));
}

void random_site_prepare(struct random_site *site, const unsigned char *input)
{
    const struct random_call *call = site->call;
    random_lay_out(call, site->site, &site->in_side, &site->out_side);
    enum in_place in_place = in_place_of(site);
    size_t in_bytes = site->in_side.end * random_element(call);
    site->in = allocate_skewed(site, in_bytes);
    if (in_bytes > 0)
        memcpy(site->in, input, in_bytes);
    make_out(site, in_place, input);
    if (random_kind_is_of_objects(call->kind))
        make_objects(site);
    bool is_in = in_place == INPUT || in_place == OWN || in_place == WHOLE;
    /* A buffer without elements is NULL, also where its blocks have displacements. */
    bool gives = has_elements(&site->in_side);
    bool gets = has_elements(&site->out_side) || (is_in && gives);
    const void *in = is_in ? COHORT_IN_PLACE : gives ? site->in : NULL;
    void *out = in_place == STAYS_IN ? (void *)COHORT_IN_PLACE : gets ? site->out : NULL;
    in = site->reject == RANDOM_REJECT_NO_IN ? NULL : in;
    out = site->reject == RANDOM_REJECT_NO_OUT ? NULL : out;
    draw_layouts(site, in_place, gives, gets);
    if (site->in_lying.layout && in == site->in)
        in = site->in_lying.array;
    if (site->out_lying.layout && out == site->out)
        out = site->out_lying.array;
    site->given_in = in;
    site->given_out = out;
}

/* Nobody can ask about a sparse call. Nor about a check; but sites can't agree on a user's type. */
static void ask(struct random_site *site, cohort_comm *comm)
{
    const struct random_call *call = site->call;
    size_t counts[RANDOM_SITES];
    const cohort_call_question question = random_question(call, counts);
    site->is_known = call->kind != RANDOM_ALL_TO_ALL_SPARSE;
    if (call->kind == RANDOM_CHECK)
        site->asked = random_has_users_type(call) ? COHORT_ERR_NOT_SUPPORTED : COHORT_OK;
    else if (site->is_known)
        site->asked = cohort_call_check(comm, &question);
}

void random_site_call(struct random_site *site, cohort_comm *comm)
{
    const struct random_call *call = site->call;
    cohort_datatype type = site->reject == RANDOM_REJECT_TYPE ? 999 : random_datatype(call);
    const void *in = site->given_in;
    void *out = site->given_out;
    set_options(site, comm);
    ask(site, comm);
    site->done = is_ragged(call->kind)                   ? call_ragged(site, comm, in, out, type)
                 : random_kind_is_of_objects(call->kind) ? call_objects(site, comm)
                 : random_kind_is_rooted(call->kind)     ? call_rooted(site, comm, in, out, type)
                                                         : call_for_all(site, comm, in, out, type);
}

void random_site_begin(struct random_site *site, cohort_comm *comm, const unsigned char *input)
{
    random_site_prepare(site, input);
    random_site_call(site, comm);
}

/* What has come as block I of OUT. */
static cohort_object object_of(const struct random_site *site, uint32_t i)
{
    if (site->call->kind != RANDOM_ALL_TO_ALL_SPARSE)
        return site->out_objects[i];
    for (size_t k = 0; k < site->list.num; k++)
        if (site->list.list[k].site == site->out_side.blocks[i].peer)
            return site->list.list[k].object;
    return (cohort_object){0};
}

/* Checking ----------------------------------------------------------------------------------- */

static bool is_block_right(const struct random_site *site, const unsigned char *want, uint32_t i)
{
    const struct random_block *block = &site->out_side.blocks[i];
    size_t element = random_element(site->call), bytes = block->count * element;
    if (site->out_objects) {
        cohort_object object = object_of(site, i);
        return object.bytes == bytes &&
               (bytes == 0 || !memcmp(object.data, want + block->offset, bytes));
    }
    size_t offset = block->offset * element;
    return bytes == 0 || !memcmp(site->out + offset, want + offset, bytes);
}

const char *random_site_check_row(const struct random_site *site, const unsigned char *want,
                                  uint32_t row)
{
    if (row < site->out_side.num)
        take_up(site, site->out_side.blocks[row].offset, site->out_side.blocks[row].count);
    return is_block_right(site, want, row) ? NULL : "a row is wrong";
}

/* Whether the bytes between the blocks are unchanged. */
static bool are_gaps_right(const struct random_site *site)
{
    size_t element = random_element(site->call);
    for (size_t at = 0; at < site->out_side.end; at++) {
        bool is_gap = true;
        for (uint32_t i = 0; i < site->out_side.num; i++) {
            const struct random_block *block = &site->out_side.blocks[i];
            is_gap = is_gap && !(at >= block->offset && at < block->offset + block->count);
        }
        if (is_gap && memcmp(site->out + at * element, site->before + at * element, element))
            return false;
    }
    return true;
}

const char *random_site_check(const struct random_site *site, const unsigned char *want)
{
    bool is_left_alone = site->call->kind == RANDOM_EXCLUSIVE_SCAN && site->site == 0;
    if (in_place_of(site) == STAYS_IN)
        return NULL;
    take_up(site, 0, site->out_bytes / random_element(site->call));
    if (!is_layout_kept(site))
        return "something lies beside the layout";
    if (is_left_alone)
        return site->out_bytes && memcmp(site->out, site->before, site->out_bytes)
                   ? "what was to be left alone has changed"
                   : NULL;
    for (uint32_t i = 0; i < site->out_side.num; i++)
        if (!is_block_right(site, want, i))
            return "wrong data";
    if (site->call->is_spread && !site->out_objects && !are_gaps_right(site))
        return "a gap has been written to";
    return NULL;
}

void random_site_fini(struct random_site *site)
{
    if (site->out_objects)
        cohort_objects_fini(site->out_objects, RANDOM_SITES);
    cohort_site_objects_fini(&site->list);
    random_lying_fini(&site->in_lying);
    random_lying_fini(&site->out_lying);
    free(site->is_one_array ? NULL : site->in_lying.array);
    free(site->out_lying.array);
    free(site->to);
    free(site->from);
    free(site->in_objects);
    free(site->out_objects);
    free_skewed(site, site->in);
    free_skewed(site, site->out);
    free(site->before);
}
