/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"
#include "tests/coll/random_call.h"
#include "tests/support/test.h"

/* Types, operations, and the correct results of calls. */

enum {
    MINLOC = 10, /* the others that are built in: random_op() */
    MAXLOC,
    AFFINE,
    MIX,
    NUM_BUILTIN = AFFINE,
    RUBBISH = 0xee,
};
_Static_assert(MIX + 1 == RANDOM_NUM_OPS, "all operations");

static const struct {
    cohort_datatype datatype; /* 0: a user's type */
    size_t bytes;
    bool is_signed, is_floating, is_complex, is_indexed;
} types[RANDOM_NUM_TYPES] = {
    {COHORT_BYTE, 1, false, false, false, false},
    {COHORT_INT8, 1, true, false, false, false},
    {COHORT_INT16, 2, true, false, false, false},
    {COHORT_INT32, 4, true, false, false, false},
    {COHORT_INT64, 8, true, false, false, false},
    {COHORT_UINT8, 1, false, false, false, false},
    {COHORT_UINT16, 2, false, false, false, false},
    {COHORT_UINT32, 4, false, false, false, false},
    {COHORT_UINT64, 8, false, false, false, false},
    {COHORT_FLOAT, 4, true, true, false, false},
    {COHORT_DOUBLE, 8, true, true, false, false},
    {COHORT_FLOAT_COMPLEX, 8, true, true, true, false},
    {COHORT_DOUBLE_COMPLEX, 16, true, true, true, false},
    {COHORT_INT32_INDEXED, 8, true, false, false, true},
    {COHORT_INT64_INDEXED, 16, true, false, false, true},
    {COHORT_FLOAT_INDEXED, 8, true, true, false, true},
    {COHORT_DOUBLE_INDEXED, 16, true, true, false, true},
    {0, 3, false, false, false, false},
    {0, 12, false, false, false, false},
    {0, 40, false, false, false, false},
};

static cohort_op *affine, *mix;

/* Elements are pairs (a, b) of halves, which mean x -> a x + b. The left map is applied first. */
static uint64_t compose(uint64_t left, uint64_t right)
{
    uint32_t a = (uint32_t)left, b = (uint32_t)(left >> 32);
    uint32_t c = (uint32_t)right, d = (uint32_t)(right >> 32);
    return (uint64_t)(uint32_t)(a * c) | (uint64_t)(uint32_t)(a * d + b) << 32;
}

static cohort_status run_affine(void *result, const void *left, const void *right, size_t count,
                                cohort_datatype datatype, void *arg)
{
    for (size_t at = 0; at < count * sizeof(uint64_t); at += sizeof(uint64_t)) {
        uint64_t first, second; /* which may be at any address */
        memcpy(&first, (const char *)left + at, sizeof(first));
        memcpy(&second, (const char *)right + at, sizeof(second));
        first = compose(first, second);
        memcpy((char *)result + at, &first, sizeof(first));
    }
    return COHORT_OK;
}

static cohort_status run_mix(void *result, const void *left, const void *right, size_t count,
                             cohort_datatype datatype, void *arg)
{
    for (size_t i = 0; i < count * cohort_datatype_size(datatype); i++)
        ((uint8_t *)result)[i] =
            (uint8_t)(((const uint8_t *)left)[i] + ((const uint8_t *)right)[i]);
    return COHORT_OK;
}

void random_ops_init(void)
{
    CHECK_OK(cohort_op_create(
        &affine, &(struct cohort_op_options){.name = "affine", .function = run_affine}));
    CHECK_OK(cohort_op_create(&mix, &(struct cohort_op_options){
                                        .name = "mix", .function = run_mix, .commutative = true}));
}

void random_ops_fini(void)
{
    cohort_op_unref(affine);
    cohort_op_unref(mix);
}

cohort_datatype random_datatype(const struct random_call *call)
{
    if (random_kind_is_of_objects(call->kind))
        return COHORT_BYTE;
    cohort_datatype datatype = types[call->type].datatype;
    return call->kind == RANDOM_ALL_TO_ALLW ? COHORT_INT64
           : datatype                       ? datatype
                                            : cohort_datatype_of_bytes(types[call->type].bytes);
}

size_t random_element(const struct random_call *call)
{
    return cohort_datatype_size(random_datatype(call));
}

bool random_has_users_type(const struct random_call *call)
{
    return random_datatype(call) > COHORT_DOUBLE_INDEXED;
}

/* NULL if the operation is not for the type. No operation is used whose floating-point result
 * depends on the order. */
const cohort_op *random_op(const struct random_call *call)
{
    const cohort_op *const builtin[NUM_BUILTIN] = {
        COHORT_BITWISE_AND, COHORT_BITWISE_OR,  COHORT_BITWISE_XOR, COHORT_PRODUCT,
        COHORT_SUM,         COHORT_MIN,         COHORT_MAX,         COHORT_LOGICAL_AND,
        COHORT_LOGICAL_OR,  COHORT_LOGICAL_XOR, COHORT_MINLOC,      COHORT_MAXLOC,
    };
    bool is_user = types[call->type].datatype == 0;
    bool is_byte = types[call->type].datatype == COHORT_BYTE;
    bool is_indexed = types[call->type].is_indexed;
    bool is_location = call->op == MINLOC || call->op == MAXLOC;
    bool is_sum_or_product = call->op == 3 || call->op == 4;
    if (call->op == MIX)
        return mix;
    if (call->op == AFFINE)
        return types[call->type].bytes == 8 && !types[call->type].is_floating && !is_indexed
                   ? affine
                   : NULL;
    if (is_indexed || is_location)
        return is_indexed && is_location ? builtin[call->op] : NULL;
    if (is_user || (is_byte && call->op > 2))
        return NULL;
    if (types[call->type].is_complex ? !is_sum_or_product
                                     : types[call->type].is_floating && call->op < 4)
        return NULL;
    return builtin[call->op];
}

/* Blocks ------------------------------------------------------------------------------------- */

static void add(struct random_side *side, uint32_t peer, size_t count)
{
    side->blocks[side->num++] = (struct random_block){.peer = peer, .count = count};
}

static void place(struct random_side *side, bool is_spread)
{
    for (uint32_t i = 0; i < side->num; i++) {
        struct random_block *block = &side->blocks[is_spread ? side->num - 1 - i : i];
        block->offset = side->end;
        side->end += block->count + is_spread;
    }
}

/* How many elements go from FROM to TO, for the kinds that have blocks. */
static size_t count_of(const struct random_call *call, uint32_t from, uint32_t to)
{
    switch (call->kind) {
    case RANDOM_GATHERV:
    case RANDOM_GATHER_OBJECTS:
    case RANDOM_BROADCAST_OBJECT:
    case RANDOM_ALL_GATHERV:
    case RANDOM_ALL_GATHER_OBJECTS:
        return call->counts[from][0];
    case RANDOM_SCATTERV:
    case RANDOM_SCATTER_OBJECTS:
    case RANDOM_REDUCE_SCATTERV:
        return call->counts[0][to];
    case RANDOM_ALL_TO_ALLV:
    case RANDOM_ALL_TO_ALLW:
    case RANDOM_ALL_TO_ALL_OBJECTS:
    case RANDOM_ALL_TO_ALL_SPARSE:
        return call->counts[from][to];
    default:
        return call->count;
    }
}

static void add_from_each(const struct random_call *call, uint32_t site, struct random_side *out)
{
    for (uint32_t peer = 0; peer < call->num_sites; peer++)
        add(out, peer, count_of(call, peer, site));
}

static void add_to_each(const struct random_call *call, uint32_t site, struct random_side *in)
{
    for (uint32_t peer = 0; peer < call->num_sites; peer++)
        add(in, peer, count_of(call, site, peer));
}

/* One block with the whole input of a reduction. */
static void lay_out_reduction(const struct random_call *call, uint32_t site, struct random_side *in,
                              struct random_side *out)
{
    bool is_scattered = call->kind == RANDOM_REDUCE_SCATTER || call->kind == RANDOM_REDUCE_SCATTERV;
    size_t total = 0;
    for (uint32_t peer = 0; peer < call->num_sites && is_scattered; peer++)
        total += count_of(call, site, peer);
    add(in, UINT32_MAX, is_scattered ? total : call->count);
    if (call->kind != RANDOM_REDUCE || site == call->root)
        add(out, UINT32_MAX, is_scattered ? count_of(call, site, site) : call->count);
}

static void lay_out_exchange(const struct random_call *call, uint32_t site, struct random_side *in,
                             struct random_side *out)
{
    for (uint32_t i = 0; i < call->num_edges; i++) {
        const struct random_edge *edge = &call->edges[i];
        if (edge->from == site)
            add(in, edge->to, edge->count);
        if (edge->to == site)
            add(out, edge->from, edge->count);
    }
}

static void lay_out_rooted(const struct random_call *call, uint32_t site, struct random_side *in,
                           struct random_side *out)
{
    bool is_root = site == call->root;
    switch (call->kind) {
    case RANDOM_BROADCAST:
    case RANDOM_BROADCAST_OBJECT:
        add(is_root ? in : out, is_root ? UINT32_MAX : call->root,
            count_of(call, call->root, site));
        break;
    case RANDOM_GATHER:
    case RANDOM_GATHERV:
    case RANDOM_GATHER_OBJECTS:
        add(in, call->root, count_of(call, site, call->root));
        if (is_root)
            add_from_each(call, site, out);
        break;
    default:
        if (is_root)
            add_to_each(call, site, in);
        add(out, call->root, count_of(call, call->root, site));
        break;
    }
}

/* Whether the blocks of IN, or of OUT, may have displacements. */
static bool has_displacements(enum random_kind kind, uint32_t site, uint32_t root, bool is_out)
{
    switch (kind) {
    case RANDOM_GATHERV:
        return is_out && site == root;
    case RANDOM_SCATTERV:
        return !is_out && site == root;
    case RANDOM_ALL_GATHERV:
        return is_out;
    default:
        return kind == RANDOM_ALL_TO_ALLV || kind == RANDOM_ALL_TO_ALLW || kind == RANDOM_EXCHANGE;
    }
}

void random_lay_out(const struct random_call *call, uint32_t site, struct random_side *in,
                    struct random_side *out)
{
    uint32_t num_sites = call->num_sites;
    in->num = out->num = 0;
    in->end = out->end = 0;
    if (random_kind_reduces(call->kind)) {
        lay_out_reduction(call, site, in, out);
    } else if (random_kind_is_rooted(call->kind)) {
        lay_out_rooted(call, site, in, out);
    } else if (call->kind == RANDOM_EXCHANGE) {
        lay_out_exchange(call, site, in, out);
    } else if (call->kind == RANDOM_SHIFT) {
        int64_t num = num_sites, by = (call->q % num + num) % num;
        add(in, (uint32_t)((site + by) % num), call->count);
        add(out, (uint32_t)((site + num - by) % num), call->count);
    } else if (call->kind > RANDOM_CHECK) {
        bool is_for_each = call->kind == RANDOM_ALL_TO_ALL || call->kind == RANDOM_ALL_TO_ALLV ||
                           call->kind == RANDOM_ALL_TO_ALLW ||
                           call->kind == RANDOM_ALL_TO_ALL_OBJECTS ||
                           call->kind == RANDOM_ALL_TO_ALL_SPARSE;
        if (is_for_each)
            add_to_each(call, site, in);
        else
            add(in, UINT32_MAX, count_of(call, site, site));
        add_from_each(call, site, out);
    }
    place(in, call->is_spread && has_displacements(call->kind, site, call->root, false));
    place(out, call->is_spread && has_displacements(call->kind, site, call->root, true));
}

bool random_depends(const struct random_call *call, uint32_t site, uint32_t other)
{
    struct random_side in, out;
    if (site == other)
        return false;
    if (call->kind == RANDOM_BARRIER || call->is_checked || call->is_checked_anyway)
        return true;
    random_lay_out(call, site, &in, &out);
    bool is_prefix = call->kind == RANDOM_SCAN || call->kind == RANDOM_EXCLUSIVE_SCAN;
    for (uint32_t i = 0; i < out.num; i++) {
        bool is_of_all = out.blocks[i].peer == UINT32_MAX && (!is_prefix || other < site);
        if (out.blocks[i].count > 0 && (out.blocks[i].peer == other || is_of_all))
            return true;
    }
    return false;
}

/* Contents ----------------------------------------------------------------------------------- */

/* The number itself, a part of a complex one, a value or its index. */
static size_t part_bytes(uint32_t type)
{
    return types[type].bytes / (types[type].is_complex || types[type].is_indexed ? 2 : 1);
}

static void put_floating(uint32_t type, unsigned char *place, double value)
{
    float single = (float)value;
    memcpy(place, part_bytes(type) == 4 ? (void *)&single : (void *)&value, part_bytes(type));
}

static double get_floating(uint32_t type, const unsigned char *place)
{
    float single;
    double value;
    if (part_bytes(type) == 8) {
        memcpy(&value, place, sizeof(value));
        return value;
    }
    memcpy(&single, place, sizeof(single));
    return single;
}

/* Floating-point numbers are small, so that their sums are exact. Complex ones are 2 + i in one of
 * four directions. So their products are exact, too, and no part is a zero, whose sign would
 * depend on the order. */
static void put_complex(uint32_t type, unsigned char *place, uint64_t hash)
{
    static const double directions[4][2] = {{2, 1}, {-1, 2}, {-2, -1}, {1, -2}};
    put_floating(type, place, directions[hash % 4][0]);
    put_floating(type, place + part_bytes(type), directions[hash % 4][1]);
}

/* Few values and few indices, so that many are equal. */
static void put_indexed(uint32_t type, unsigned char *place, uint64_t hash)
{
    static const double values[] = {-3, 2, 7, 0.0, -0.0, (double)NAN};
    int64_t value = (int64_t)(hash % 6) - 3, index = (int64_t)(hash / 8 % 4) - 1;
    memcpy(place, &value, part_bytes(type));
    if (types[type].is_floating)
        put_floating(type, place, values[hash % 6]);
    memcpy(place + part_bytes(type), &index, part_bytes(type));
}

/* What comparisons treat in a way of its own. One NaN in so many elements: many results have none.
 */
static void put_special(uint32_t type, unsigned char *place, uint64_t hash)
{
    static const double values[] = {3, -2, 0.0, -0.0, (double)INFINITY, -(double)INFINITY};
    put_floating(type, place, hash % 23 == 0 ? -(double)NAN : values[hash % 6]);
}

static void put_hash(const struct random_call *call, unsigned char *place, uint64_t hash)
{
    uint32_t type = call->type;
    if (types[type].is_complex)
        put_complex(type, place, hash);
    else if (types[type].is_indexed)
        put_indexed(type, place, hash);
    else if (call->op == 5 || call->op == 6)
        put_special(type, place, hash);
    else
        put_floating(type, place, (double)(hash % 16));
}

unsigned char *random_input(const struct random_call *call, uint64_t key, uint32_t site)
{
    struct random_side in, out;
    random_lay_out(call, site, &in, &out);
    size_t element = random_element(call), bytes = in.end * element;
    bool has_numbers = random_kind_reduces(call->kind) &&
                       (types[call->type].is_floating || types[call->type].is_indexed);
    unsigned char *input = test_malloc(bytes + 1);
    uint64_t hash = cohort__hash_mix(key, site);
    for (size_t i = 0; i < bytes; i += has_numbers ? element : 8) {
        hash = cohort__hash_mix(hash, i);
        if (has_numbers)
            put_hash(call, input + i, hash);
        else
            memcpy(input + i, &hash, bytes - i < 8 ? bytes - i : 8);
    }
    return input;
}

/* Zero-extends or sign-extends, as the type requires. */
static uint64_t get_integer(uint32_t type, const unsigned char *place)
{
    uint64_t value = 0;
    size_t bytes = part_bytes(type);
    memcpy(&value, place, bytes);
    if (types[type].is_signed && bytes < 8 && value >> (8 * bytes - 1))
        value |= ~UINT64_C(0) << 8 * bytes;
    return value;
}

static bool is_less(uint32_t type, uint64_t left, uint64_t right)
{
    return types[type].is_signed ? (int64_t)left < (int64_t)right : left < right;
}

static uint64_t combine_integers(const struct random_call *call, uint64_t left, uint64_t right)
{
    switch (call->op) {
    case 0:
        return left & right;
    case 1:
        return left | right;
    case 2:
        return left ^ right;
    case 3:
        return left * right;
    case 4:
        return left + right;
    case 5:
        return is_less(call->type, left, right) ? left : right;
    case 6:
        return is_less(call->type, left, right) ? right : left;
    case 7:
        return left && right;
    case 8:
        return left || right;
    case 9:
        return !left != !right;
    default:
        return compose(left, right);
    }
}

/* -0.0 is below 0.0. */
static bool is_below(double left, double right)
{
    return left < right || (left == right && signbit(left) && !signbit(right));
}

static double combine_floating(uint32_t op, double left, double right)
{
    if ((op == 5 || op == 6) && (isnan(left) || isnan(right)))
        return (double)NAN;
    switch (op) {
    case 4:
        return left + right;
    case 5:
        return is_below(right, left) ? right : left;
    case 6:
        return is_below(left, right) ? right : left;
    case 7:
        return left != 0 && right != 0;
    case 8:
        return left != 0 || right != 0;
    default:
        return (left != 0) != (right != 0);
    }
}

static void combine_complex(const struct random_call *call, unsigned char *result,
                            const unsigned char *right)
{
    uint32_t type = call->type;
    size_t part = part_bytes(type);
    double a = get_floating(type, result), b = get_floating(type, result + part);
    double c = get_floating(type, right), d = get_floating(type, right + part);
    put_floating(type, result, call->op == 4 ? a + c : a * c - b * d);
    put_floating(type, result + part, call->op == 4 ? b + d : a * d + b * c);
}

/* Whether the value at RIGHT comes before that at LEFT. */
static bool is_before(const struct random_call *call, const unsigned char *right,
                      const unsigned char *left)
{
    if (!types[call->type].is_floating)
        return call->op == MINLOC ? (int64_t)get_integer(call->type, right) <
                                        (int64_t)get_integer(call->type, left)
                                  : (int64_t)get_integer(call->type, right) >
                                        (int64_t)get_integer(call->type, left);
    double a = get_floating(call->type, left), b = get_floating(call->type, right);
    if (isnan(a) || isnan(b))
        return isnan(b) && !isnan(a);
    return call->op == MINLOC ? is_below(b, a) : is_below(a, b);
}

static void combine_indexed(const struct random_call *call, unsigned char *result,
                            const unsigned char *right)
{
    uint32_t type = call->type;
    size_t part = part_bytes(type);
    bool is_equal = !is_before(call, right, result) && !is_before(call, result, right);
    int64_t index = (int64_t)get_integer(type, result + part);
    int64_t other = (int64_t)get_integer(type, right + part);
    uint64_t bits = 0, other_bits = 0;
    memcpy(&bits, result, part);
    memcpy(&other_bits, right, part);
    if (is_before(call, right, result) ||
        (is_equal && (other < index || (other == index && other_bits < bits))))
        memcpy(result, right, types[type].bytes);
}

/* RESULT is also the left operand. */
static void combine(const struct random_call *call, unsigned char *result,
                    const unsigned char *right)
{
    uint32_t type = call->type;
    if (call->op == MIX) {
        for (size_t i = 0; i < types[type].bytes; i++)
            result[i] = (unsigned char)(result[i] + right[i]);
    } else if (types[type].is_complex) {
        combine_complex(call, result, right);
    } else if (types[type].is_indexed) {
        combine_indexed(call, result, right);
    } else if (types[type].is_floating) {
        put_floating(
            type, result,
            combine_floating(call->op, get_floating(type, result), get_floating(type, right)));
    } else {
        uint64_t value =
            combine_integers(call, get_integer(type, result), get_integer(type, right));
        memcpy(result, &value, types[type].bytes);
    }
}

static void reduce(const struct random_call *call, uint32_t site, unsigned char *const *inputs,
                   const struct random_side *out, unsigned char *output)
{
    bool is_scattered = call->kind == RANDOM_REDUCE_SCATTER || call->kind == RANDOM_REDUCE_SCATTERV;
    uint32_t end = call->kind == RANDOM_SCAN             ? site + 1
                   : call->kind == RANDOM_EXCLUSIVE_SCAN ? site
                                                         : call->num_sites;
    size_t element = random_element(call), first = 0;
    for (uint32_t peer = 0; peer < site && is_scattered; peer++)
        first += count_of(call, site, peer);
    for (size_t i = 0; i < out->end && end > 0; i++) {
        unsigned char *place = output + i * element;
        memcpy(place, inputs[0] + (first + i) * element, element);
        for (uint32_t other = 1; other < end; other++)
            combine(call, place, inputs[other] + (first + i) * element);
    }
}

/* The NUMBERth block of IN that is for SITE. */
static const struct random_block *block_for(const struct random_side *in, uint32_t site,
                                            uint32_t number)
{
    for (uint32_t i = 0; i < in->num; i++)
        if ((in->blocks[i].peer == site || in->blocks[i].peer == UINT32_MAX) && number-- == 0)
            return &in->blocks[i];
    FAIL("the test's own mistake: no such block");
}

static void move(const struct random_call *call, uint32_t site, unsigned char *const *inputs,
                 const struct random_side *out, unsigned char *output)
{
    uint32_t num_before[RANDOM_SITES] = {0};
    size_t element = random_element(call);
    for (uint32_t i = 0; i < out->num; i++) {
        const struct random_block *block = &out->blocks[i];
        struct random_side in, unused;
        random_lay_out(call, block->peer, &in, &unused);
        const struct random_block *source = block_for(&in, site, num_before[block->peer]++);
        CHECK_INT((long long)source->count, (long long)block->count);
        memcpy(output + block->offset * element, inputs[block->peer] + source->offset * element,
               block->count * element);
    }
}

unsigned char *random_output(const struct random_call *call, uint32_t site,
                             unsigned char *const *inputs)
{
    struct random_side in, out;
    random_lay_out(call, site, &in, &out);
    size_t bytes = out.end * random_element(call);
    unsigned char *output = test_malloc(bytes + 1);
    memset(output, RUBBISH, bytes);
    if (random_kind_reduces(call->kind))
        reduce(call, site, inputs, &out, output);
    else
        move(call, site, inputs, &out, output);
    return output;
}
