/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/status.h"
#include "runtime/base/memory_file.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { PAGE = 4096, BEGIN = 8 << 20, LIMIT = 64 << 20 };

static struct cohort__heap heap;
static int memory;

static void begin(size_t limit)
{
    const char *what;
    memory = cohort__memory_file_create("test", BEGIN + 2 * limit, "", 1, &what);
    CHECK(memory >= 0);
    cohort__heap_init(&heap, memory, BEGIN, 2 * limit, limit);
}

static long long num_pages(void)
{
    struct stat stat;
    CHECK_INT(fstat(memory, &stat), 0);
    return (long long)stat.st_blocks * 512 / sysconf(_SC_PAGESIZE);
}

/* The first page of the file holds its head. */
static void end(size_t num_left)
{
    CHECK_INT(cohort__heap_fini(&heap), (long long)num_left);
    CHECK_INT(num_pages(), 1);
    close(memory);
}

static unsigned char *alloc(size_t bytes)
{
    void *block = NULL;
    CHECK_OK(cohort__heap_alloc(&heap, &block, bytes));
    return block;
}

#define TEST_HEAP(name) TEST_BETWEEN(name, begin(LIMIT), end(0))

TEST_HEAP(block)
{
    uint64_t offset;
    unsigned char byte, local = 0;
    CHECK(!cohort__heap_has(&heap, &local, &offset));
    unsigned char *block = alloc(100);
    CHECK_INT((uintptr_t)block % 64, 0);
    CHECK_INT(num_pages(), 1); /* nothing is written yet */
    block[7] = 77;
    CHECK(cohort__heap_has(&heap, block + 7, &offset));
    CHECK_INT(pread(memory, &byte, 1, (off_t)(BEGIN + offset)), 1); /* others see it there */
    CHECK_INT(byte, 77);
    CHECK(!cohort__heap_has(&heap, &local, &offset));
    CHECK(!cohort__heap_has(&heap, NULL, &offset));
    CHECK(!cohort__heap_free(&heap, block + 64));
    CHECK(!cohort__heap_free(&heap, &local));
    CHECK(cohort__heap_free(&heap, block));
    CHECK(!cohort__heap_free(&heap, block));
    CHECK_INT(num_pages(), 1);
}

TEST_HEAP(left_over)
{
    memset(alloc(3 * PAGE), 1, 3 * PAGE);
    memset(alloc(PAGE), 1, PAGE);
    end(2);
    begin(LIMIT);
}

TEST_HEAP(huge)
{
    unsigned char *small = alloc(1), *large = alloc(COHORT__HEAP_HUGE),
                  *larger = alloc(3 * COHORT__HEAP_HUGE + 1);
    CHECK_INT((uintptr_t)large % COHORT__HEAP_HUGE, 0);
    CHECK_INT((uintptr_t)larger % COHORT__HEAP_HUGE, 0);
    memset(larger, 5, 3 * COHORT__HEAP_HUGE + 1);
    CHECK(cohort__heap_free(&heap, large));
    CHECK(cohort__heap_free(&heap, small));
    CHECK(cohort__heap_free(&heap, larger));
    CHECK(cohort__heap_free(&heap, alloc(LIMIT))); /* all is one again */
}

TEST_HEAP(limit)
{
    void *none = NULL;
    CHECK_INT(cohort__heap_alloc(&heap, &none, LIMIT + 1), COHORT_ERR_NO_MEMORY);
    CHECK_INT(cohort__heap_alloc(&heap, &none, SIZE_MAX), COHORT_ERR_NO_MEMORY);
    CHECK_INT(cohort__heap_alloc(&heap, &none, SIZE_MAX - PAGE), COHORT_ERR_NO_MEMORY);
    unsigned char *block = alloc(PAGE);
    CHECK_FAILS(cohort__heap_alloc(&heap, &none, LIMIT), COHORT_ERR_NO_MEMORY, "COHORT_MEMORY_MIB");
    CHECK(!none);
    CHECK(cohort__heap_free(&heap, block));
}

/* Whoever uses memory that was given back ends, and reads nothing else. */
TEST_HEAP(given_back)
{
    int status;
    volatile unsigned char *block = alloc(PAGE);
    block[0] = 1;
    CHECK(cohort__heap_free(&heap, (void *)(uintptr_t)block));
    pid_t child = fork();
    if (child == 0) {
        const unsigned char byte = block[0];
        _exit(byte);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0); /* a sanitizer exits */
}

struct block {
    unsigned char *at;
    size_t bytes;
    unsigned char value;
};

static void fill(struct block *block, uint64_t random)
{
    const size_t most = random % 16 == 0 ? 3 * COHORT__HEAP_HUGE : 8 * PAGE;
    void *at = NULL;
    block->bytes = 1 + random / 16 % most;
    block->at = cohort__heap_alloc(&heap, &at, block->bytes) ? NULL : at;
    block->value = (unsigned char)random;
    if (block->at)
        memset(block->at, block->value, block->bytes);
}

static void check_and_free(struct block *block)
{
    for (size_t i = 0; i < block->bytes; i++)
        CHECK_INT(block->at[i], block->value);
    CHECK(cohort__heap_free(&heap, block->at));
    block->at = NULL;
}

/* Blocks come and go in any order, each keeps what is in it, and in the end all is one again. */
TEST(random)
{
    enum { NUM = 40 };
    struct block blocks[NUM] = {{0}};
    struct cohort__random random = cohort__random_seeded(1);
    begin(LIMIT);
    for (uint64_t round = 0; round < test_rounds(4000, 400); round++) {
        struct block *block = &blocks[cohort__random_below(&random, NUM)];
        if (block->at)
            check_and_free(block);
        else
            fill(block, cohort__random_next(&random));
    }
    for (size_t i = 0; i < NUM; i++)
        if (blocks[i].at)
            check_and_free(&blocks[i]);
    CHECK_INT(num_pages(), 1);
    CHECK(cohort__heap_free(&heap, alloc(LIMIT)));
    end(0);
}

/* Many blocks, every other one of which is given back, so that there are as many gaps. */
TEST(many)
{
    enum { NUM = 20000 };
    unsigned char **blocks = malloc(NUM * sizeof(*blocks));
    begin((size_t)NUM * 4 * PAGE);
    for (size_t i = 0; i < NUM; i++)
        blocks[i] = alloc(PAGE);
    for (size_t i = 0; i < NUM; i += 2)
        CHECK(cohort__heap_free(&heap, blocks[i]));
    for (size_t i = 0; i < NUM; i += 2)
        blocks[i] = alloc(2 * PAGE); /* in no gap */
    for (size_t i = 0; i < NUM; i++)
        CHECK(cohort__heap_free(&heap, blocks[i]));
    free(blocks);
    end(0);
}
