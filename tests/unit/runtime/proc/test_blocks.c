/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/blocks.h"

#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/memory_file.h"
#include "tests/support/test.h"

enum { BEGIN = 1 << 20, LIMIT = 4 << 20, BYTES = 8192 };

static struct cohort__blocks blocks;
static struct cohort__heap heap;
static int memory;

static void begin(size_t limit)
{
    const char *what;
    memory = cohort__memory_file_create("test", BEGIN + LIMIT, "", 1, &what);
    CHECK(memory >= 0);
    cohort__heap_init(&heap, memory, BEGIN, LIMIT, limit);
    cohort__blocks_init(&blocks);
}

static void end(void)
{
    cohort__blocks_close(&blocks);
    cohort__blocks_fini(&blocks);
    CHECK_INT((long long)cohort__heap_fini(&heap), 0);
    close(memory);
}

static unsigned char *alloc(size_t bytes)
{
    void *block = NULL;
    CHECK_OK(cohort__heap_alloc(&heap, &block, bytes));
    CHECK(cohort__blocks_add(&blocks, block, bytes));
    return block;
}

static void give_back(void *block)
{
    CHECK(cohort__blocks_remove(&blocks, block));
    CHECK(cohort__heap_free(&heap, block));
}

static struct cohort__block_name share(const void *block, size_t bytes)
{
    struct cohort__block_name name = {0};
    CHECK(cohort__blocks_share(&blocks, &heap, block, bytes, &name));
    return name;
}

/* What those of the same host see. */
static uint64_t word_of(const struct cohort__block_name *name)
{
    CHECK(name->word < LIMIT);
    return *(_Atomic uint64_t *)(void *)(atomic_load(&heap.base) + name->word);
}

#define TEST_BLOCKS(name) TEST_BETWEEN(name, begin(LIMIT), end())

TEST_BLOCKS(parts)
{
    unsigned char *block = alloc(BYTES), *other = alloc(100);
    struct cohort__block_name name = share(block, BYTES), part = share(block + 100, 28);
    CHECK(name.id && part.id == name.id && part.word == name.word);
    CHECK_INT((long long)(name.offset + part.offset), 100);
    CHECK(atomic_load(&heap.base) + part.in_heap == block + 100);
    CHECK_INT((long long)word_of(&name), (long long)name.id);
    struct cohort__block_name second = share(other, 100);
    CHECK(second.id != name.id && second.word != name.word);
    CHECK(cohort__blocks_find(&blocks, name.id, 0, BYTES) == block);
    CHECK(cohort__blocks_find(&blocks, name.id, 5, BYTES - 5) == block + 5);
    CHECK(cohort__blocks_find(&blocks, name.id, BYTES, 0) == block + BYTES);
    CHECK(cohort__blocks_find(&blocks, second.id, 99, 1) == other + 99);
    CHECK(!cohort__blocks_find(&blocks, name.id, 5, BYTES - 4));
    CHECK(!cohort__blocks_find(&blocks, name.id, BYTES + 1, 0));
    CHECK(!cohort__blocks_find(&blocks, name.id, UINT64_MAX, 2));
    CHECK(!cohort__blocks_find(&blocks, second.id + 1, 0, 0));
    CHECK(!cohort__blocks_find(&blocks, 0, 0, 0));
    give_back(block);
    give_back(other);
}

/* Only what is within one block. */
TEST_BLOCKS(not_of_a_block)
{
    struct cohort__block_name name = {.id = 77};
    unsigned char local[8];
    unsigned char *block = alloc(100);
    CHECK(!cohort__blocks_share(&blocks, &heap, local, 1, &name));
    CHECK(!cohort__blocks_share(&blocks, &heap, NULL, 0, &name));
    CHECK(!cohort__blocks_share(&blocks, &heap, block, 101, &name));
    CHECK(!cohort__blocks_share(&blocks, &heap, block + 100, 0, &name));
    CHECK(!cohort__blocks_share(&blocks, &heap, block - 1, 1, &name));
    CHECK(!cohort__blocks_share(&blocks, &heap, block + 1, SIZE_MAX, &name));
    CHECK(!cohort__blocks_remove(&blocks, block + 1));
    CHECK_INT((long long)name.id, 77);
    give_back(block);
    CHECK(!cohort__blocks_share(&blocks, &heap, block, 1, &name));
    CHECK(!cohort__blocks_remove(&blocks, block));
}

/* The next block at the same place is another one. */
TEST_BLOCKS(given_back)
{
    unsigned char *block = alloc(BYTES);
    struct cohort__block_name name = share(block, BYTES);
    give_back(block);
    CHECK_INT((long long)word_of(&name), 0);
    CHECK(!cohort__blocks_find(&blocks, name.id, 0, 1));
    CHECK(alloc(BYTES) == block);
    struct cohort__block_name next = share(block, BYTES);
    CHECK(next.id != name.id);
    CHECK(word_of(&name) != name.id);
    CHECK(!cohort__blocks_find(&blocks, name.id, 0, 1));
    give_back(block);
}

/* In ordinary memory, only its owner knows a block. So where there is no room for words, and when
 * they are all taken. */
TEST(without_words)
{
    struct cohort__block_name name;
    begin(BYTES);
    unsigned char *block = alloc(BYTES), local[64];
    CHECK(cohort__blocks_share(&blocks, &heap, block, BYTES, &name));
    CHECK(name.word == COHORT__BLOCKS_NO_WORD);
    CHECK(cohort__blocks_find(&blocks, name.id, 1, 2) == block + 1);
    CHECK(cohort__blocks_add(&blocks, local, sizeof(local)));
    CHECK(cohort__blocks_share(&blocks, NULL, local, 64, &name));
    CHECK(name.word == COHORT__BLOCKS_NO_WORD);
    CHECK(cohort__blocks_share(&blocks, &heap, local, 64, &name));
    CHECK(cohort__blocks_find(&blocks, name.id, 0, 64) == local);
    CHECK(cohort__blocks_remove(&blocks, local));
    CHECK(!cohort__blocks_find(&blocks, name.id, 0, 64));
    give_back(block);
    end();
}

TEST_BLOCKS(many)
{
    enum { MANY = COHORT__BLOCKS_NUM_WORDS + 1 };
    /* Blocks need not have memory of their own for that. */
    unsigned char *block = alloc(MANY);
    CHECK(cohort__blocks_remove(&blocks, block));
    for (int i = 0; i < MANY; i++)
        CHECK(cohort__blocks_add(&blocks, block + i, 1));
    struct cohort__block_name name = {0}, last;
    for (int i = 0; i < MANY; i++) {
        last = name;
        name = share(block + i, 1);
        CHECK(name.word != last.word);
    }
    CHECK(name.word == COHORT__BLOCKS_NO_WORD);
    CHECK(cohort__blocks_remove(&blocks, block + 5));
    CHECK(cohort__blocks_add(&blocks, block + 5, 1));
    name = share(block + 5, 1);
    CHECK(name.word != COHORT__BLOCKS_NO_WORD && word_of(&name) == name.id);
    for (int i = 0; i < MANY; i++)
        CHECK(cohort__blocks_remove(&blocks, block + i));
    CHECK(cohort__heap_free(&heap, block));
}

/* Blocks that are left when all ends. */
TEST_BLOCKS(left)
{
    unsigned char *block = alloc(BYTES);
    share(block, 1);
    cohort__blocks_close(&blocks);
    give_back(block);
    CHECK(cohort__blocks_add(&blocks, &memory, sizeof(memory)));
}
