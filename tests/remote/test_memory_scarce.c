/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cohort/task.h"
#include "runtime/proc/memory.h"
#include "runtime/remote/memory.h"
#include "tests/support/cluster.h"
#include "tests/support/scarce.h"

/* Memory of the library in shared memory, where each allocation fails in turn. (What is asked of
 * other localities by messages: tests/cross.) What has failed has left nothing behind. */

enum { NUM_BLOCKS = 3, HUGE = 5 << 20, LONG = 100000, MANY = 1000000 };

static struct cluster *cluster;
static const size_t sizes[NUM_BLOCKS] = {LONG, HUGE, 8};
static void *places[NUM_BLOCKS]; /* where the blocks are if nothing fails, and nothing is lost */

static bool is_well(cohort_status status)
{
    CHECK(status == COHORT_OK || (status == COHORT_ERR_NO_MEMORY && scarce_has_failed()));
    return status == COHORT_OK;
}

/* Locality 1 writes and reads what locality 0 has. */
static void use(unsigned char *block, size_t bytes, unsigned char *data)
{
    cohort_memory_handle handle;
    struct cohort__process *other = cluster_process(cluster, 1);
    if (!is_well(cohort__memory_share_for(cluster_process(cluster, 0), &handle, block, bytes)))
        return;
    memset(data, 7, bytes);
    if (is_well(cohort_await(cohort__memory_put_from(other, &handle, 0, data, bytes))))
        CHECK(memcmp(block, data, bytes) == 0);
    if (is_well(cohort_await(cohort__memory_add_from(other, &handle, 0, 1, NULL))))
        CHECK_INT(block[0], 8);
    if (is_well(cohort_await(cohort__memory_get_from(other, &handle, 0, data, bytes))))
        CHECK(memcmp(block, data, bytes) == 0);
}

/* Returns whether an allocation has failed. */
static bool play(long num_left, unsigned char *data)
{
    void *blocks[NUM_BLOCKS] = {NULL};
    memset(data, 0, HUGE);
    scarce_begin(num_left);
    for (int i = 0; i < NUM_BLOCKS; i++)
        if (is_well(cohort__memory_alloc_for(cluster_process(cluster, 0), &blocks[i], sizes[i]))) {
            memset(blocks[i], 7, sizes[i]); /* what is there if the put fails */
            use(blocks[i], sizes[i], data);
        }
    for (int i = 0; i < NUM_BLOCKS && !scarce_has_failed(); i++) {
        CHECK(!places[i] || places[i] == blocks[i]);
        places[i] = blocks[i];
    }
    for (int i = 0; i < NUM_BLOCKS; i++)
        cohort__memory_free_for(cluster_process(cluster, 0), blocks[i]);
    return scarce_end();
}

/* In a cluster of its own each time, whose first block it is; and in one that goes on. */
TEST(each_allocation)
{
    unsigned char *data = test_malloc(HUGE);
    for (int is_new = 0; is_new < 2; is_new++) {
        long number = 0;
        bool has_failed = true;
        cluster = cluster_create(1, 2, 0);
        for (; has_failed; number++) {
            has_failed = play(number, data);
            CHECK(!play(MANY, data));
            if (is_new) {
                cluster_destroy(cluster);
                cluster = cluster_create(1, 2, 0);
                memset((void *)places, 0, sizeof(places));
            }
        }
        CHECK(number > 5);
        cluster_destroy(cluster);
        memset((void *)places, 0, sizeof(places));
    }
    free(data);
}

int main(int argc, char **argv)
{
    scarce_init();
    return cluster_test(argc, argv, 1);
}
