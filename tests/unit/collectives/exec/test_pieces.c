/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

/* Lists of blocks of random shapes, strided and ragged, compared with a list of the addresses of
 * all their bytes. */

enum { BLOCKS_MAX = 6, BYTES_MAX = 1024, SPACE_BYTES = 8192 };

/* One list, laid out in TMP or OUT without overlaps. */
struct shape {
    struct cohort__plan plan;
    struct cohort__block blocks[BLOCKS_MAX];
    uint32_t refs[BLOCKS_MAX];
    unsigned char *bases[3];
    unsigned char *memory;
    struct cohort__pieces pieces;
    size_t bytes;
    unsigned char *bytes_at[BYTES_MAX]; /* each byte, in the order of the list */
};

static void list_bytes(struct shape *shape, const struct cohort__block *block)
{
    for (size_t i = 0; i < block->count; i++)
        for (size_t j = 0; j < block->bytes; j++)
            shape->bytes_at[shape->bytes++] =
                shape->bases[block->space] + block->offset + i * block->stride + j;
}

/* BYTES bytes in random pieces, among them blocks without bytes and with stride 0. */
static void shape_init(struct shape *shape, size_t bytes, struct cohort__random *random)
{
    memset(shape, 0, sizeof(*shape));
    shape->memory = test_calloc(1, SPACE_BYTES + 1);
    shape->bases[COHORT__SPACE_OUT] = shape->memory;
    shape->bases[COHORT__SPACE_TMP] = shape->memory + SPACE_BYTES / 2;
    size_t used[3] = {0}, left = bytes;
    uint32_t num = 0;
    while (num < BLOCKS_MAX && (left > 0 || cohort__random_below(random, 3) == 0)) {
        struct cohort__block *block = &shape->blocks[num];
        block->space = cohort__random_below(random, 2) ? COHORT__SPACE_OUT : COHORT__SPACE_TMP;
        bool is_last = num == BLOCKS_MAX - 1;
        size_t share = is_last ? left : cohort__random_below(random, left + 1);
        size_t piece = share ? 1 + cohort__random_below(random, share) : 0;
        block->count =
            piece ? (uint32_t)(share / piece) : (uint32_t)cohort__random_below(random, 3);
        block->bytes = piece;
        if (is_last)
            block->count = 1, block->bytes = left;
        block->stride = block->count > 1 ? block->bytes + cohort__random_below(random, 2) * 2 : 0;
        block->offset = used[block->space] + cohort__random_below(random, 8);
        used[block->space] = block->offset + block->bytes +
                             (block->count > 1 ? (block->count - 1) * block->stride : 0);
        CHECK(used[block->space] <= SPACE_BYTES / 2);
        left -= block->count * block->bytes;
        num++;
    }
    /* The list refers to the blocks in any order. */
    for (uint32_t i = 0; i < num; i++) {
        uint32_t other = (uint32_t)cohort__random_below(random, i + 1);
        shape->refs[i] = shape->refs[other];
        shape->refs[other] = i;
    }
    for (uint32_t i = 0; i < num; i++)
        list_bytes(shape, &shape->blocks[shape->refs[i]]);
    CHECK_INT(shape->bytes, bytes);
    shape->plan.blocks = shape->blocks;
    shape->plan.block_refs = shape->refs;
    struct cohort__step step = {.first_block = 0, .num_blocks = num};
    shape->pieces = cohort__pieces_of_step(&shape->plan, &step, shape->bases);
}

static void shape_fini(struct shape *shape)
{
    free(shape->memory);
}

static void fill(unsigned char *memory, size_t bytes, struct cohort__random *random)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (unsigned char)cohort__random_next(random);
}

/* MEMORY is the same as BEFORE, except that the bytes of SHAPE are those of CONTENT. */
static void check_written(const struct shape *shape, unsigned char *before,
                          const unsigned char *content, uint64_t seed)
{
    for (size_t i = 0; i < shape->bytes; i++)
        before[shape->bytes_at[i] - shape->memory] = content[i];
    if (memcmp(before, shape->memory, SPACE_BYTES) != 0)
        FAIL("seed %llu", (unsigned long long)seed);
}

static void run(uint64_t seed)
{
    static unsigned char before[SPACE_BYTES], content[BYTES_MAX], packed[BYTES_MAX];
    static const unsigned char zeros[BYTES_MAX];
    struct shape from, to;
    struct cohort__random random = cohort__random_seeded(seed);
    size_t bytes = cohort__random_below(&random, seed % 4 ? 40 : BYTES_MAX);
    shape_init(&from, bytes, &random);
    shape_init(&to, bytes, &random);
    fill(from.memory, SPACE_BYTES, &random);
    fill(to.memory, SPACE_BYTES, &random);
    for (size_t i = 0; i < bytes; i++)
        content[i] = *from.bytes_at[i];

    memset(packed, 0xa5, sizeof(packed));
    cohort__pieces_pack(packed, &from.pieces);
    CHECK(memcmp(packed, content, bytes) == 0);
    for (size_t i = bytes; i < BYTES_MAX; i++)
        CHECK(packed[i] == 0xa5);

    memcpy(before, to.memory, SPACE_BYTES);
    cohort__pieces_copy(&to.pieces, &from.pieces);
    check_written(&to, before, content, seed);

    fill(content, bytes, &random);
    memcpy(before, to.memory, SPACE_BYTES);
    cohort__pieces_unpack(&to.pieces, content);
    check_written(&to, before, content, seed);

    memcpy(before, to.memory, SPACE_BYTES);
    cohort__pieces_zero(&to.pieces);
    check_written(&to, before, zeros, seed);
    shape_fini(&from);
    shape_fini(&to);
}

TEST(random_shapes)
{
    for (uint64_t seed = 1; seed <= 5000; seed++)
        run(seed);
}

static unsigned char *contiguous(struct cohort__block block, uint32_t num_blocks,
                                 unsigned char *base)
{
    static const uint32_t refs[2] = {0, 0};
    unsigned char *bases[3] = {base, base, base};
    const struct cohort__plan plan = {.blocks = &block, .block_refs = refs};
    const struct cohort__pieces pieces = {&plan, refs, num_blocks, bases};
    return cohort__pieces_contiguous(&pieces);
}

TEST(contiguous)
{
    unsigned char memory[64];
    CHECK(contiguous((struct cohort__block){.count = 1, .offset = 5, .bytes = 7}, 1, memory) ==
          memory + 5);
    CHECK(contiguous((struct cohort__block){.count = 3, .offset = 2, .bytes = 4, .stride = 4}, 1,
                     memory) == memory + 2);
    CHECK(!contiguous((struct cohort__block){.count = 3, .bytes = 4, .stride = 5}, 1, memory));
    CHECK(!contiguous((struct cohort__block){.count = 1, .bytes = 4}, 2, memory));
    CHECK(!contiguous((struct cohort__block){.count = 1, .bytes = 4}, 0, memory));
}

/* A call with count 0 may have no memory at all. */
TEST(nothing)
{
    static const struct cohort__block nothing = {.count = 1};
    static const uint32_t ref = 0;
    unsigned char *bases[3] = {NULL, NULL, NULL}, byte = 42;
    const struct cohort__plan plan = {.blocks = &nothing, .block_refs = &ref};
    for (uint32_t num_blocks = 0; num_blocks <= 1; num_blocks++) {
        const struct cohort__pieces pieces = {&plan, &ref, num_blocks, bases};
        cohort__pieces_pack(&byte, &pieces);
        cohort__pieces_unpack(&pieces, &byte);
        cohort__pieces_copy(&pieces, &pieces);
        cohort__pieces_zero(&pieces);
    }
    CHECK_INT(byte, 42);
}
