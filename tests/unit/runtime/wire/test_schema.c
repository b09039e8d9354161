/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire/schema.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

enum sort { NONE, FLAT, DEEP, NUM_SORTS };

struct item {
    uint32_t number;
    const char *name;
};

/* With members of all kinds. */
struct sample {
    enum sort sort;
    uint32_t small;
    uint64_t large;
    uint32_t row[3];
    int negative;
    bool truth;
    char chars[8];
    struct cohort__bytes bytes;
    const char *text;
    uint32_t num_items, num_texts, num_few;
    const struct item *items;
    const char *const *texts;
    struct item few[2];
};

#define FIELD(kinds, member, most) COHORT__FIELD_OF(kinds, struct sample, member, most)
enum { IN_FLAT = 1 << FLAT, IN_DEEP = 1 << DEEP };
static const struct cohort__field item[] = {COHORT__FIELD(struct item, number, 9),
                                            COHORT__FIELD(struct item, name, 5)};
static const struct cohort__schema item_schema = COHORT__SCHEMA(struct item, item, 0);
static const struct cohort__field text[] = {COHORT__ELEMENT(const char *, 3)};
static const struct cohort__schema text_schema = COHORT__SCHEMA(const char *, text, 0);
static const struct cohort__field fields[] = {
    FIELD(0, sort, NUM_SORTS - 1),
    FIELD(IN_FLAT | IN_DEEP, small, 1000),
    FIELD(IN_FLAT, large, UINT64_MAX),
    FIELD(IN_FLAT, row, 7),
    FIELD(IN_FLAT, negative, 0),
    FIELD(IN_FLAT, truth, 1),
    COHORT__CHARS(struct sample, chars),
    FIELD(IN_FLAT | IN_DEEP, bytes, 4),
    FIELD(IN_DEEP, text, 6),
    COHORT__LIST(IN_DEEP, struct sample, items, num_items, 3, &item_schema),
    COHORT__LIST(IN_DEEP, struct sample, texts, num_texts, 4, &text_schema),
};
static const struct cohort__schema schema = COHORT__SCHEMA(struct sample, fields, 0);

static const struct item items[] = {{9, "nine"}, {0, ""}, {1, "x"}};
static const char *const texts[] = {"one", "", "two"};
static const struct sample flat = {.sort = FLAT,
                                   .small = 1000,
                                   .large = UINT64_MAX,
                                   .row = {7, 0, 6},
                                   .negative = INT_MIN,
                                   .truth = true,
                                   .chars = "1234567",
                                   .bytes = {"\0\1", 2}};
static const struct sample deep = {.sort = DEEP,
                                   .small = 1,
                                   .chars = "",
                                   .bytes = {"", 0},
                                   .text = "sample",
                                   .num_items = 3,
                                   .items = items,
                                   .num_texts = 3,
                                   .texts = texts};

static struct cohort__packer pack(const struct cohort__schema *of, const void *from)
{
    struct cohort__packer packer = {0};
    cohort__schema_pack(&packer, of, from);
    CHECK_OK(packer.status);
    return packer;
}

TEST(flat)
{
    struct cohort__packer packer = pack(&schema, &flat);
    struct sample got = {.text = "kept"};
    CHECK_OK(cohort__schema_unpack(&schema, packer.data, packer.bytes, "it", &got));
    CHECK(got.sort == FLAT && got.small == 1000 && got.large == UINT64_MAX);
    CHECK(memcmp(got.row, flat.row, sizeof(flat.row)) == 0);
    CHECK(got.negative == INT_MIN && got.truth);
    CHECK_TEXT(got.chars, "1234567");
    CHECK(got.bytes.bytes == 2 && memcmp(got.bytes.data, "\0\1", 2) == 0);
    CHECK_TEXT(got.text, "kept"); /* its kind has no text */
    cohort__packer_fini(&packer);
}

TEST(deep)
{
    struct cohort__packer packer = pack(&schema, &deep);
    void *block = NULL;
    CHECK_OK(cohort__schema_unpack_block(&schema, packer.data, packer.bytes, "it", &block));
    memset(packer.data, 'x', packer.bytes); /* the block has a copy */
    const struct sample *got = block;
    CHECK(got->sort == DEEP && got->small == 1 && got->large == 0 && got->bytes.bytes == 0);
    CHECK_TEXT(got->text, "sample");
    CHECK_INT(got->num_items, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(got->items[i].number, items[i].number);
        CHECK_TEXT(got->items[i].name, items[i].name);
        CHECK_TEXT(got->texts[i], texts[i]);
    }
    CHECK(!got->texts[3] && !got->items[3].name);
    free(block);
    cohort__packer_fini(&packer);
}

TEST(array)
{
    static const struct cohort__field inner[] = {
        COHORT__ARRAY(struct sample, few, num_few, &item_schema)};
    static const struct cohort__schema few_schema = COHORT__SCHEMA(struct sample, inner, 3);
    static const struct cohort__schema later = COHORT__SCHEMA(struct sample, inner, 4);
    const struct sample two = {.num_few = 2, .few = {{4, "four"}, {5, "five"}}};
    struct cohort__packer packer = pack(&few_schema, &two);
    void *block;
    CHECK_OK(cohort__schema_unpack_block(&few_schema, packer.data, packer.bytes, "it", &block));
    const struct sample *got = block;
    CHECK_INT(got->num_few, 2);
    CHECK_TEXT(got->few[1].name, "five");
    free(block);
    CHECK_INT(cohort__schema_unpack_block(&later, packer.data, packer.bytes, "it", &block),
              COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "it has version 3, this program's is 4");
    cohort__packer_fini(&packer);
}

static void check_refused(struct sample changed, const char *why)
{
    struct cohort__packer packer = pack(&schema, &changed);
    void *block = NULL;
    CHECK_INT(cohort__schema_unpack_block(&schema, packer.data, packer.bytes, "it", &block),
              COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), why);
    CHECK(!block);
    cohort__packer_fini(&packer);
}

TEST(limits)
{
    static const char *const five[] = {"", "", "", "", ""};
    const struct item large = {10, ""};
    struct sample changed = flat;
    changed.small = 1001;
    check_refused(changed, "it: field 'small' is out of range");
    changed = flat;
    changed.row[2] = 8;
    check_refused(changed, "it: element 2 is out of range");
    changed = flat;
    changed.bytes.bytes = 5;
    changed.bytes.data = "12345";
    check_refused(changed, "it: field 'bytes' has 5 bytes, where 4 are allowed");
    changed = deep;
    changed.num_texts = 5;
    changed.texts = five;
    check_refused(changed, "it: field 'texts' has 5 elements, where 4 are allowed");
    changed = deep;
    changed.num_items = 1;
    changed.items = &large;
    check_refused(changed, "it: field 'number' is out of range");
}

/* What is written never has too many bytes. */
TEST(cut)
{
    struct sample changed = deep;
    void *block;
    changed.text = "sample text";
    struct cohort__packer packer = pack(&schema, &changed);
    CHECK_OK(cohort__schema_unpack_block(&schema, packer.data, packer.bytes, "it", &block));
    CHECK_TEXT(((struct sample *)block)->text, "sample");
    free(block);
    cohort__packer_fini(&packer);
}

/* Of other types, or too few numbers. */
TEST(wrong)
{
    static const struct cohort__field others[] = {
        COHORT__FIELD(struct sample, sort, 9),
        {.key = "row", .kind = COHORT__FIELD_U32, .size = 2 * sizeof(uint32_t), .most = 9}};
    static const struct cohort__field row[] = {FIELD(0, row, 7)};
    static const struct cohort__schema other_schema = COHORT__SCHEMA(struct sample, others, 0);
    static const struct cohort__schema row_schema = COHORT__SCHEMA(struct sample, row, 0);
    struct cohort__packer packer = pack(&other_schema, &flat);
    struct sample got = {0};
    CHECK_INT(cohort__schema_unpack(&row_schema, packer.data, packer.bytes, "it", &got),
              COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "it: field 'row' has 2 numbers instead of 3");
    CHECK_INT(cohort__schema_unpack(&schema, packer.data, packer.bytes, "it", &got),
              COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "it: field 'small' is missing");
    cohort__packer_reset(&packer);
    cohort__pack_map(&packer, 1);
    cohort__pack_field_text(&packer, "row", "x");
    CHECK_INT(cohort__schema_unpack(&row_schema, packer.data, packer.bytes, "it", &got),
              COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "it: field 'row' is text, not an array");
    cohort__packer_fini(&packer);
}

/* An int that is none. */
TEST(int)
{
    static const struct cohort__field one[] = {COHORT__FIELD(struct sample, negative, 0)};
    static const struct cohort__schema one_schema = COHORT__SCHEMA(struct sample, one, 0);
    struct cohort__packer packer = {0};
    struct sample got;
    cohort__pack_map(&packer, 1);
    cohort__pack_field_signed(&packer, "negative", (int64_t)INT_MIN - 1);
    CHECK_INT(cohort__schema_unpack(&one_schema, packer.data, packer.bytes, "it", &got),
              COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "it: field 'negative' is out of range");
    cohort__packer_fini(&packer);
}

/* Changed and cut messages, in memory of their size: any answer, but no error of a sanitizer. */
TEST(changed_bytes)
{
    unsigned num_good = 0;
    struct cohort__random random = cohort__random_seeded(5);
    for (int round = 0; round < 20000; round++) {
        struct cohort__packer packer = pack(&schema, round % 2 ? &flat : &deep);
        void *block;
        for (uint64_t i = cohort__random_below(&random, 3); i > 0; i--)
            packer.data[cohort__random_below(&random, packer.bytes)] =
                (unsigned char)cohort__random_next(&random);
        size_t bytes = round % 4 ? packer.bytes : cohort__random_below(&random, packer.bytes);
        unsigned char *exact = malloc(bytes + 1);
        memcpy(exact + 1, packer.data, bytes);
        cohort_status status = cohort__schema_unpack_block(&schema, exact + 1, bytes, "it", &block);
        CHECK(status == COHORT_OK || status == COHORT_ERR_PROTOCOL);
        if (!status) {
            const struct sample *got = block;
            num_good++;
            CHECK(got->sort == FLAT || strlen(got->text) <= 6 || got->sort == NONE);
            free(block);
        }
        free(exact);
        cohort__packer_fini(&packer);
    }
    CHECK(num_good > 100 && num_good < 19000);
}
