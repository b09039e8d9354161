/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/named_levels.h"

#include <string.h>

#include "tests/support/test.h"

static cohort_status read(const char *text, struct cohort__named_levels *ret_levels)
{
    return cohort__named_levels_read(text, strlen(text), ret_levels);
}

static bool is(struct cohort__word word, const char *text)
{
    return cohort__words_are_equal(word, (struct cohort__word){text, strlen(text)});
}

TEST(read)
{
    struct cohort__named_levels levels;
    CHECK_OK(read("switch=s-1.a:b,rack_2=7", &levels));
    CHECK_INT(levels.num, 2);
    CHECK(is(levels.levels[0].name, "switch") && is(levels.levels[0].group, "s-1.a:b"));
    CHECK(is(levels.levels[1].name, "rack_2") && is(levels.levels[1].group, "7"));
    CHECK(!is(levels.levels[1].group, "8") && !is(levels.levels[1].group, "77"));
    CHECK_OK(read("", &levels));
    CHECK_INT(levels.num, 0);
    CHECK_OK(cohort__named_levels_read("a=1,b=2", 3, &levels));
    CHECK_INT(levels.num, 1);
}

static void check_wrong(const char *text, const char *why)
{
    struct cohort__named_levels levels = {.num = 77};
    CHECK_FAILS(read(text, &levels), COHORT_ERR_BAD_PARAMETER, why);
    CHECK_INT(levels.num, 77);
}

TEST(wrong)
{
    static const char *const no_pairs[] = {
        "switch",   "switch=", "=s1",   "=",       ",",    "a=1,",   ",a=1",
        "a=1,,b=2", "A=1",     "1a=1",  "-=1",     "a =1", "a= 1",   "a=1=2",
        "a=\xff",   "a=s/1",   "a.b=1", "a=1;b=2", "a=#",  "\xff=1", "a=1, b=2"};
    for (size_t i = 0; i < NUM_OF(no_pairs); i++)
        check_wrong(no_pairs[i], "not NAME=GROUP,..., with names of at most 31 ");
    check_wrong("switch=1,host=2", "a level can't have the name 'host'");
    check_wrong("domain=2", "a level can't have the name 'domain'");
    check_wrong("locality=2", "a level can't have the name 'locality'");
    check_wrong("a=1,b=1,a=1", "it has the level 'a' twice");
    check_wrong("a=1,b=1,c=1,d=1,e=1", "it has more than 4 levels");
    struct cohort__named_levels levels;
    CHECK_INT(cohort__named_levels_read("a=1\0", 4, &levels), COHORT_ERR_BAD_PARAMETER);
}

/* The longest text there can be. */
TEST(longest)
{
    char text[COHORT__NAMED_LEVELS_BYTES + 2] = "", list[COHORT__NAMED_LEVELS_LIST];
    struct cohort__named_levels levels;
    for (size_t i = 0, at = 0; i < COHORT__NAMED_LEVELS_MAX; i++, at += 32 + 64) {
        memset(text + at, "abcd"[i], 31);
        text[at + 31] = '=';
        memset(text + at + 32, 'Z', 63);
        text[at + 95] = ',';
    }
    text[COHORT__NAMED_LEVELS_BYTES] = '\0';
    CHECK_OK(read(text, &levels));
    CHECK_INT(levels.num, COHORT__NAMED_LEVELS_MAX);
    cohort__named_levels_list(&levels, list);
    CHECK_INT(strlen(list), strlen("the levels ") + 4 * 31 + 3 * 2);
    text[31] = 'a';
    check_wrong(text, "not NAME=GROUP");
    memmove(text + 31, "=ZZZZZZZZ", 9);
    memset(text + 32, 'Z', 64);
    text[96] = '\0';
    check_wrong(text, "not NAME=GROUP");
}

TEST(fit)
{
    static const struct {
        const char *left, *right;
        bool fit;
    } pairs[] = {
        {"", "", true},
        {"a=1", "a=2", true},
        {"a=1", "", false},
        {"a=1", "b=1", false},
        {"a=1", "aa=1", false},
        {"a=1,b=1", "a=2,b=2", true},
        {"a=1", "a=1,b=1", false},
        {"a=1,b=1", "b=1,a=1", false},
    };
    for (size_t i = 0; i < NUM_OF(pairs); i++) {
        struct cohort__named_levels left, right;
        CHECK_OK(read(pairs[i].left, &left));
        CHECK_OK(read(pairs[i].right, &right));
        CHECK_INT(cohort__named_levels_fit(&left, &right), pairs[i].fit);
        CHECK_INT(cohort__named_levels_fit(&right, &left), pairs[i].fit);
    }
}

TEST(list)
{
    static const char *const texts[][2] = {
        {"", "no levels"}, {"a=1", "the level a"}, {"a=1,bc=1,d=2", "the levels a, bc, d"}};
    for (size_t i = 0; i < NUM_OF(texts); i++) {
        struct cohort__named_levels levels;
        char list[COHORT__NAMED_LEVELS_LIST];
        CHECK_OK(read(texts[i][0], &levels));
        cohort__named_levels_list(&levels, list);
        CHECK_TEXT(list, texts[i][1]);
    }
}
