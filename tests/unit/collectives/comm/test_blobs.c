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
    CHECK_OK(cohort__blobs_create(num, &objects));
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

TEST(there_and_back)
{
    static const char *const texts[] = {"one", NULL, "three", NULL};
    struct cohort__blobs *objects = objects_of(texts, 4), *again = NULL;
    size_t bytes;
    unsigned char *packed = pack(objects, &bytes);
    CHECK_OK(cohort__blobs_unpack(packed, bytes, 4, false, &again));
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

TEST(shared)
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

TEST(wrong)
{
    static const char *const texts[] = {"one", "two"};
    struct cohort__blobs *objects = objects_of(texts, 2), *again = NULL;
    size_t bytes;
    unsigned char *packed = pack(objects, &bytes);
    CHECK_FAILS(cohort__blobs_unpack(packed, bytes, 3, false, &again), COHORT_ERR_PROTOCOL,
                "2 objects instead of 3");
    CHECK_FAILS(cohort__blobs_unpack(packed, bytes, 1, false, &again), COHORT_ERR_PROTOCOL,
                "more than 1 objects");
    CHECK_INT(cohort__blobs_unpack(packed, bytes - 1, 2, false, &again), COHORT_ERR_PROTOCOL);
    CHECK_FAILS(cohort__blobs_unpack(packed, 0, 2, false, &again), COHORT_ERR_PROTOCOL, "no array");
    packed[1] = 0xc3;
    CHECK_FAILS(cohort__blobs_unpack(packed, bytes, 2, false, &again), COHORT_ERR_PROTOCOL,
                "makes no sense");
    CHECK(!again);
    objects->attachment.release(&objects->attachment);
    free(packed);
}

/* What no message can hold: more objects than 2^32, an object, or several together, of more bytes
 * than memory. Nothing of it is read. */
TEST(too_large)
{
    struct cohort__blobs *objects = NULL;
    const struct cohort__blobs many = {.num = (size_t)UINT32_MAX + 1};
    struct cohort__blob large = {.bytes = PTRDIFF_MAX};
    CHECK_INT((long long)cohort__blobs_packed_bytes(&many), 0);
    CHECK_INT(cohort__blobs_create(SIZE_MAX, &objects), COHORT_ERR_NO_MEMORY);
    CHECK_FAILS(cohort__blobs_create(SIZE_MAX / sizeof(void *), &objects), COHORT_ERR_NO_MEMORY,
                "no memory for 2305843009213693951 objects");
    CHECK(!objects);
    CHECK_OK(cohort__blobs_create(1, &objects));
    objects->blobs[0] = &large;
    CHECK_INT((long long)cohort__blobs_packed_bytes(objects), 0);
    struct cohort__entry entry = {.object = &large};
    struct cohort__blob bundle = {.is_bundle = true, .bytes = sizeof(entry), .data = &entry};
    objects->blobs[0] = &bundle;
    CHECK_INT((long long)cohort__blobs_packed_bytes(objects), 0);
    objects->blobs[0] = NULL;
    objects->attachment.release(&objects->attachment);
}

/* Empty objects in a row take a few bytes together, however many they are. */
TEST(runs)
{
    static const size_t runs[] = {1, 126, 127, 128, 65535, 65536, 1000000};
    for (size_t i = 0; i < NUM_OF(runs); i++) {
        struct cohort__blobs *objects, *again = NULL;
        size_t num = 2 * runs[i] + 1, bytes;
        CHECK_OK(cohort__blobs_create(num, &objects));
        objects->blobs[runs[i]] = cohort__blob_create("middle", 6);
        unsigned char *packed = pack(objects, &bytes);
        CHECK(bytes == 1 + 2 * cohort__bins_run_bytes((uint32_t)runs[i]) + 8);
        CHECK_OK(cohort__blobs_unpack(packed, bytes, num, false, &again));
        for (size_t k = 0; k < num; k++)
            CHECK(!again->blobs[k] == (k != runs[i]));
        again->attachment.release(&again->attachment);
        again = NULL;
        CHECK_FAILS(cohort__blobs_unpack(packed, bytes, num - 1, false, &again),
                    COHORT_ERR_PROTOCOL, "more than");
        CHECK_FAILS(cohort__blobs_unpack(packed, bytes, num + 1, false, &again),
                    COHORT_ERR_PROTOCOL, "instead of");
        CHECK_INT(cohort__blobs_unpack(packed, bytes - 1, num, false, &again), COHORT_ERR_PROTOCOL);
        CHECK(!again);
        objects->attachment.release(&objects->attachment);
        free(packed);
    }
}

/* A run of no empty objects, one that is cut off, and runs that add up to more than memory. */
TEST(wrong_runs)
{
    static const unsigned char none[] = {0x91, 0x00}, cut[] = {0x91, 0xce, 0, 0, 1},
                               huge[] = {0x92, 0xce, 255, 255, 255, 255, 0xce, 255, 255, 255, 255};
    struct cohort__blobs *again = NULL;
    CHECK_INT(cohort__blobs_unpack(none, sizeof(none), 1, false, &again), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__blobs_unpack(none, sizeof(none), 0, false, &again), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__blobs_unpack(cut, sizeof(cut), 1, false, &again), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__blobs_unpack(huge, sizeof(huge), 5, false, &again), COHORT_ERR_PROTOCOL);
    CHECK(!again);
}

/* Three bundles, of which the second is empty. */
static struct cohort__blobs *bundles_create(void)
{
    static const char *const texts[] = {"a", "bcd", "efghijklmnopqrstuvwxyz"};
    struct cohort__blobs *bundles;
    CHECK_OK(cohort__blobs_create(3, &bundles));
    bundles->blobs[0] = cohort__bundle_create(2);
    bundles->blobs[2] = cohort__bundle_create(1);
    for (uint32_t i = 0; i < 3; i++)
        cohort__bundle_entries(bundles->blobs[i < 2 ? 0 : 2])[i % 2] = (struct cohort__entry){
            UINT32_MAX - i, i << 30, cohort__blob_create(texts[i], strlen(texts[i]))};
    return bundles;
}

/* Any bytes are accepted or refused. Nothing leaks (the address sanitizer checks that). */
static void mutate(struct cohort__blobs *objects, size_t num, bool are_bundles)
{
    struct cohort__random random = cohort__random_seeded(7);
    size_t bytes;
    unsigned char *packed = pack(objects, &bytes);
    unsigned char *mutated = malloc(bytes);
    for (int round = 0; round < 50000; round++) {
        struct cohort__blobs *again = NULL;
        memcpy(mutated, packed, bytes);
        for (uint64_t i = cohort__random_below(&random, 4); i > 0; i--)
            mutated[cohort__random_below(&random, bytes)] =
                (unsigned char)cohort__random_next(&random);
        cohort_status status = cohort__blobs_unpack(mutated, bytes, num, are_bundles, &again);
        CHECK(status == COHORT_OK || status == COHORT_ERR_PROTOCOL);
        CHECK(!status == (again != NULL));
        if (again)
            again->attachment.release(&again->attachment);
    }
    free(mutated);
    free(packed);
    objects->attachment.release(&objects->attachment);
}

TEST(mutations)
{
    static const char *const texts[] = {"a", NULL, "bcd", "efghijklmnopqrstuvwxyz", NULL, "0"};
    mutate(objects_of(texts, 6), 6, false);
    mutate(bundles_create(), 3, true);
}

TEST(bundles)
{
    struct cohort__blobs *bundles = bundles_create(), *again = NULL;
    size_t bytes;
    unsigned char *packed = pack(bundles, &bytes);
    CHECK_INT(cohort__blobs_unpack(packed, bytes, 3, false, &again), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__blobs_unpack(packed, bytes - 1, 3, true, &again), COHORT_ERR_PROTOCOL);
    CHECK(!again);
    CHECK_OK(cohort__blobs_unpack(packed, bytes, 3, true, &again));
    CHECK(!again->blobs[1]);
    for (uint32_t i = 0; i < 3; i += 2) {
        const struct cohort__entry *left = cohort__bundle_entries(bundles->blobs[i]);
        const struct cohort__entry *right = cohort__bundle_entries(again->blobs[i]);
        size_t num = cohort__bundle_num(again->blobs[i]);
        CHECK(again->blobs[i]->is_bundle && num == cohort__bundle_num(bundles->blobs[i]));
        for (size_t k = 0; k < num; k++) {
            CHECK(left[k].source == right[k].source && left[k].target == right[k].target);
            CHECK(left[k].object->bytes == right[k].object->bytes &&
                  memcmp(left[k].object->data, right[k].object->data, left[k].object->bytes) == 0);
        }
    }
    CHECK(cohort__bundle_num(NULL) == 0 && !cohort__bundle_entries(NULL));
    bundles->attachment.release(&bundles->attachment);
    again->attachment.release(&again->attachment);
    free(packed);
}

static void check_no_bundle(const unsigned char *packed, size_t bytes, const char *why)
{
    struct cohort__blobs *again = NULL;
    CHECK_FAILS(cohort__blobs_unpack(packed, bytes, 1, true, &again), COHORT_ERR_PROTOCOL, why);
    CHECK(!again);
}

TEST(wrong_bundles)
{
    static const unsigned char string[] = {0x91, 0xc4, 1, 'a'}, none[] = {0x91, 0x80},
                               cut[] = {0x91, 0xdf, 0, 0, 1},
                               huge[] = {0x91, 0xdf, 255, 255, 255, 255, 1, 2, 3},
                               nameless[] = {0x91, 0x81, 0xce, 0, 0, 0, 1, 0xc4, 1, 'a', 0},
                               empty[] = {0x91, 0x81, 0xcf, 0, 0, 0, 0, 0, 0, 0, 1, 0xc4, 0};
    check_no_bundle(string, sizeof(string), "no map");
    check_no_bundle(none, sizeof(none), "a bundle of no objects");
    check_no_bundle(cut, sizeof(cut), "no map");
    check_no_bundle(huge, sizeof(huge), "a map of 4294967295 objects");
    check_no_bundle(nameless, sizeof(nameless), "without a name");
    check_no_bundle(empty, sizeof(empty), "an object of no bytes");
}
