/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/blobs.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "runtime/wire/bins.h"
#include "tests/support/test.h"

static struct cohort__blobs *objects_of(const char *const *texts, size_t num)
{
    struct cohort__blobs *objects;
    CHECK_INT(cohort__blobs_create(num, &objects), COHORT_OK);
    for (size_t i = 0; i < num; i++)
        if (texts[i])
            objects->blobs[i] = cohort__blob_create(texts[i], strlen(texts[i]));
    return objects;
}

static unsigned char *pack(const struct cohort__blobs *objects, size_t *ret_bytes)
{
    *ret_bytes = cohort__blobs_packed_bytes(objects);
    unsigned char *packed = malloc(*ret_bytes);
    CHECK(packed && *ret_bytes > 0);
    cohort__blobs_pack(objects, packed);
    return packed;
}

static void test_there_and_back(void)
{
    static const char *const texts[] = {"one", NULL, "three", NULL};
    struct cohort__blobs *objects = objects_of(texts, 4), *again = NULL;
    size_t bytes;
    unsigned char *packed = pack(objects, &bytes);
    CHECK_INT(cohort__blobs_unpack(packed, bytes, 4, &again), COHORT_OK);
    CHECK_INT((long long)again->num, 4);
    for (int i = 0; i < 4; i++) {
        CHECK(!texts[i] == !again->blobs[i]); /* an object of no bytes is NULL */
        if (texts[i])
            CHECK(again->blobs[i]->bytes == strlen(texts[i]) &&
                  memcmp(again->blobs[i]->data, texts[i], strlen(texts[i])) == 0);
    }
    objects->attachment.release(&objects->attachment);
    again->attachment.release(&again->attachment);
    free(packed);
}

static void test_shared(void)
{
    static const char *const texts[] = {"shared"};
    struct cohort__blobs *objects = objects_of(texts, 1);
    struct cohort__blob *blob = cohort__blob_ref(objects->blobs[0]);
    objects->attachment.release(&objects->attachment);
    CHECK(memcmp(blob->data, "shared", 6) == 0);
    cohort__blob_unref(blob);
    CHECK(!cohort__blob_ref(NULL));
    cohort__blob_unref(NULL);
}

static void test_wrong(void)
{
    static const char *const texts[] = {"one", "two"};
    struct cohort__blobs *objects = objects_of(texts, 2), *again = NULL;
    size_t bytes;
    unsigned char *packed = pack(objects, &bytes);
    CHECK_INT(cohort__blobs_unpack(packed, bytes, 3, &again), COHORT_ERR_PROTOCOL);
    CHECK_CONTAINS(cohort_error_message(), "2 objects instead of 3");
    CHECK_INT(cohort__blobs_unpack(packed, bytes, 1, &again), COHORT_ERR_PROTOCOL);
    CHECK_CONTAINS(cohort_error_message(), "more than 1 objects");
    CHECK_INT(cohort__blobs_unpack(packed, bytes - 1, 2, &again), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__blobs_unpack(packed, 0, 2, &again), COHORT_ERR_PROTOCOL);
    CHECK_CONTAINS(cohort_error_message(), "no array");
    packed[1] = 0xc3;
    CHECK_INT(cohort__blobs_unpack(packed, bytes, 2, &again), COHORT_ERR_PROTOCOL);
    CHECK_CONTAINS(cohort_error_message(), "makes no sense");
    CHECK(!again);
    objects->attachment.release(&objects->attachment);
    free(packed);
}

/* What no message can hold: more objects than 2^32, an object, or several together, of more bytes
 * than memory. Nothing of it is read. */
static void test_too_large(void)
{
    struct cohort__blobs *objects = NULL;
    const struct cohort__blobs many = {.num = (size_t)UINT32_MAX + 1};
    struct cohort__blob large = {.bytes = PTRDIFF_MAX};
    CHECK_INT((long long)cohort__blobs_packed_bytes(&many), 0);
    CHECK_INT(cohort__blobs_create(SIZE_MAX, &objects), COHORT_ERR_NO_MEMORY);
    CHECK_INT(cohort__blobs_create(SIZE_MAX / sizeof(void *), &objects), COHORT_ERR_NO_MEMORY);
    CHECK_CONTAINS(cohort_error_message(), "no memory for 2305843009213693951 objects");
    CHECK(!objects);
    CHECK_INT(cohort__blobs_create(1, &objects), COHORT_OK);
    objects->blobs[0] = &large;
    CHECK_INT((long long)cohort__blobs_packed_bytes(objects), 0);
    objects->blobs[0] = NULL;
    objects->attachment.release(&objects->attachment);
}

/* Empty objects in a row take a few bytes together, however many they are. */
static void test_runs(void)
{
    static const size_t runs[] = {1, 126, 127, 128, 65535, 65536, 1000000};
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        struct cohort__blobs *objects, *again = NULL;
        size_t num = 2 * runs[i] + 1, bytes;
        CHECK_INT(cohort__blobs_create(num, &objects), COHORT_OK);
        objects->blobs[runs[i]] = cohort__blob_create("middle", 6);
        unsigned char *packed = pack(objects, &bytes);
        CHECK(bytes == 1 + 2 * cohort__bins_run_bytes((uint32_t)runs[i]) + 8);
        CHECK_INT(cohort__blobs_unpack(packed, bytes, num, &again), COHORT_OK);
        for (size_t k = 0; k < num; k++)
            CHECK(!again->blobs[k] == (k != runs[i]));
        again->attachment.release(&again->attachment);
        again = NULL;
        CHECK_INT(cohort__blobs_unpack(packed, bytes, num - 1, &again), COHORT_ERR_PROTOCOL);
        CHECK_CONTAINS(cohort_error_message(), "more than");
        CHECK_INT(cohort__blobs_unpack(packed, bytes, num + 1, &again), COHORT_ERR_PROTOCOL);
        CHECK_CONTAINS(cohort_error_message(), "instead of");
        CHECK_INT(cohort__blobs_unpack(packed, bytes - 1, num, &again), COHORT_ERR_PROTOCOL);
        CHECK(!again);
        objects->attachment.release(&objects->attachment);
        free(packed);
    }
}

/* A run of no empty objects, one that is cut off, and runs that add up to more than memory. */
static void test_wrong_runs(void)
{
    static const unsigned char none[] = {0x91, 0x00}, cut[] = {0x91, 0xce, 0, 0, 1},
                               huge[] = {0x92, 0xce, 255, 255, 255, 255, 0xce, 255, 255, 255, 255};
    struct cohort__blobs *again = NULL;
    CHECK_INT(cohort__blobs_unpack(none, sizeof(none), 1, &again), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__blobs_unpack(none, sizeof(none), 0, &again), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__blobs_unpack(cut, sizeof(cut), 1, &again), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__blobs_unpack(huge, sizeof(huge), 5, &again), COHORT_ERR_PROTOCOL);
    CHECK(!again);
}

/* Any bytes are accepted or refused. Nothing leaks (the address sanitizer checks that). */
static void test_mutations(void)
{
    static const char *const texts[] = {"a", NULL, "bcd", "efghijklmnopqrstuvwxyz", NULL, "0"};
    struct cohort__random random;
    cohort__random_init(&random, 7);
    struct cohort__blobs *objects = objects_of(texts, 6);
    size_t bytes;
    unsigned char *packed = pack(objects, &bytes);
    unsigned char *mutated = malloc(bytes);
    for (int round = 0; round < 50000; round++) {
        struct cohort__blobs *again = NULL;
        memcpy(mutated, packed, bytes);
        for (uint64_t i = cohort__random_below(&random, 4); i > 0; i--)
            mutated[cohort__random_below(&random, bytes)] =
                (unsigned char)cohort__random_next(&random);
        cohort_status status = cohort__blobs_unpack(mutated, bytes, 6, &again);
        CHECK(status == COHORT_OK || status == COHORT_ERR_PROTOCOL);
        CHECK(!status == (again != NULL));
        if (again)
            again->attachment.release(&again->attachment);
    }
    free(mutated);
    free(packed);
    objects->attachment.release(&objects->attachment);
}

static const struct test_case cases[] = {
    {"there_and_back", test_there_and_back},
    {"shared", test_shared},
    {"wrong", test_wrong},
    {"too_large", test_too_large},
    {"runs", test_runs},
    {"wrong_runs", test_wrong_runs},
    {"mutations", test_mutations},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
