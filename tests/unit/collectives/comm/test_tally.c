/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/tally.h"

#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

static const uint32_t locality_of[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2};

enum { SITES = NUM_OF(locality_of), TEXT = 400 };

/* A letter for each site: n, l, g: missing; w, f, o, x: waits, in flight, OK, failed. */
static struct cohort__tally tally_of(const char *votes, uint32_t first)
{
    static const char letters[] = "nlgwfox";
    struct cohort__tally tally = {0};
    for (uint32_t i = 0; votes[i]; i++) {
        uint32_t vote = (uint32_t)(strchr(letters, votes[i]) - letters);
        cohort__tally_add(&tally, first + i, (enum cohort__vote)vote,
                          vote >= COHORT__VOTE_WAITS ? "scan" : "", false);
    }
    return tally;
}

static void check_text(const char *votes, const char *text)
{
    char got[TEXT];
    struct cohort__tally tally = tally_of(votes, 0);
    cohort__tally_describe(&tally, 7, locality_of, got, sizeof(got));
    CHECK_TEXT(got, text);
}

TEST(text)
{
    check_text("fff", "generation 7 scan: 3 of 3 sites");
    check_text("nnn", "generation 7: 0 of 3 sites, missing 0, 1 and 2 (locality 0, not called "
                      "yet)");
    check_text("ffffnffn", "generation 7 scan: 6 of 8 sites, missing 4 and 7 (locality 1, not "
                           "called yet)");
    check_text("nfffg", "generation 7 scan: 3 of 5 sites, missing 0 (locality 0, not called yet) "
                        "and 4 (locality 1, has left)");
    check_text("nlgw", "generation 7 scan: 1 of 4 sites, missing 0 (locality 0, not called yet), 1 "
                       "(locality 0, left out) and 2 (locality 0, has left)");
    check_text("oxof", "generation 7 scan: 4 of 4 sites; complete at 0 and 2");
    check_text("nnnnnnnnnnno", "generation 7 scan: 1 of 12 sites, missing 0, 1, 2, 3 (locality 0, "
                               "not called yet), 4, 5, 6, 7 (locality 1, not called yet) and 3 "
                               "more; complete at 11");
    check_text("foooooooooof", "generation 7 scan: 12 of 12 sites; complete at 1, 2, 3, 4, 5, 6, "
                               "7, 8 and 2 more");
}

TEST(refuses)
{
    static const struct {
        const char *votes;
        bool refuses;
    } cases[] = {
        {"fff", true}, {"oof", false}, {"oon", true},  {"oow", true}, {"oog", true},
        {"ool", true}, {"oox", false}, {"ooo", false}, {"xxf", true}, {"nnn", true},
    };
    for (size_t i = 0; i < NUM_OF(cases); i++) {
        struct cohort__tally tally = tally_of(cases[i].votes, 0);
        CHECK_INT(cohort__tally_refuses(&tally), cases[i].refuses);
        tally.is_alone = true;
        CHECK(cohort__tally_refuses(&tally));
    }
}

static void check_same(const struct cohort__tally *left, const struct cohort__tally *right)
{
    char texts[2][TEXT];
    cohort__tally_describe(left, 7, locality_of, texts[0], TEXT);
    cohort__tally_describe(right, 7, locality_of, texts[1], TEXT);
    CHECK_TEXT(texts[0], texts[1]);
    CHECK(!memcmp(left->num, right->num, sizeof(left->num)));
    CHECK_INT(left->is_alone, right->is_alone);
}

/* Those of localities, packed, and merged in any order, are that of all. */
TEST(merge)
{
    static const uint32_t firsts[] = {0, 4, 8, SITES};
    struct cohort__random random = cohort__random_seeded(1);
    for (int round = 0; round < 2000; round++) {
        char votes[SITES + 1] = "";
        struct cohort__tally merged = {0};
        for (int i = 0; i < SITES; i++)
            votes[i] = "nlgwfox"[cohort__random_below(&random, 7)];
        for (uint32_t i = 0, start = cohort__random_below(&random, 3); i < 3; i++) {
            uint32_t part = (start + i) % 3;
            char own[SITES + 1] = "";
            struct cohort__packer packer = {0};
            struct cohort__tally tally;
            memcpy(own, votes + firsts[part], firsts[part + 1] - firsts[part]);
            tally = tally_of(own, firsts[part]);
            cohort__tally_pack(&tally, &packer);
            CHECK_OK(packer.status);
            CHECK_OK(cohort__tally_unpack(&tally, packer.data, packer.bytes, SITES));
            cohort__packer_fini(&packer);
            cohort__tally_merge(&merged, &tally);
        }
        const struct cohort__tally all = tally_of(votes, 0);
        check_same(&merged, &all);
    }
}

/* The name is that of the lowest site that has called. */
TEST(name)
{
    struct cohort__tally tally = {0};
    char text[TEXT];
    cohort__tally_add(&tally, 3, COHORT__VOTE_IN_FLIGHT, "scan", true);
    cohort__tally_add(&tally, 1, COHORT__VOTE_FAILED, "barrier", false);
    cohort__tally_add(&tally, 2, COHORT__VOTE_IN_FLIGHT, "gather", false);
    cohort__tally_describe(&tally, 7, locality_of, text, sizeof(text));
    CHECK_TEXT(text, "generation 7 barrier: 3 of 3 sites");
    CHECK(tally.is_alone);
}

TEST(cut)
{
    char text[40];
    struct cohort__tally tally = tally_of("nnnnnnnn", 0);
    cohort__tally_describe(&tally, 7, locality_of, text, sizeof(text));
    CHECK_TEXT(text, "generation 7: 0 of 8 sites, missing 0, ");
}

/* A vote with NUM counts of 1, and nothing else. */
static void check_counts(uint32_t num, uint32_t num_sites, const char *why)
{
    struct cohort__packer packer = {0};
    struct cohort__tally got;
    cohort__pack_map(&packer, 1);
    cohort__pack_text(&packer, "num");
    cohort__pack_array(&packer, num);
    for (uint32_t i = 0; i < num; i++)
        cohort__pack_unsigned(&packer, 1);
    CHECK_FAILS(cohort__tally_unpack(&got, packer.data, packer.bytes, num_sites),
                COHORT_ERR_PROTOCOL, why);
    cohort__packer_fini(&packer);
}

TEST(counts)
{
    check_counts(COHORT__NUM_VOTES - 1, SITES, "field 'num' has 6 numbers instead of 7");
    check_counts(COHORT__NUM_VOTES + 1, SITES, "field 'num' has 8 numbers instead of 7");
    check_counts(COHORT__NUM_VOTES, SITES, "field 'missing.sites' is missing");
}

static void check_lists(struct cohort__tally tally)
{
    struct cohort__packer packer = {0};
    struct cohort__tally got;
    cohort__tally_pack(&tally, &packer);
    CHECK_FAILS(cohort__tally_unpack(&got, packer.data, packer.bytes, SITES), COHORT_ERR_PROTOCOL,
                "vote of a peer: its lists of sites");
    cohort__packer_fini(&packer);
}

/* Lists that don't fit the counts, or the sites. */
TEST(lists)
{
    struct cohort__tally tally = tally_of("nnof", 0);
    tally.missing.sites[1].site = 0;
    check_lists(tally);
    tally.missing.sites[1].site = SITES;
    check_lists(tally);
    tally = tally_of("nnof", 0);
    tally.missing.sites[0].vote = COHORT__VOTE_WAITS;
    check_lists(tally);
    tally = tally_of("nnof", 0);
    tally.ok.sites[0].vote = COHORT__VOTE_FAILED;
    check_lists(tally);
    tally = tally_of("nnof", 0);
    tally.ok.sites[tally.ok.num++] =
        (struct cohort__tally_site){.site = 3, .vote = COHORT__VOTE_OK};
    check_lists(tally);
}

/* Another locality has sent it. */
TEST(rubbish)
{
    struct cohort__packer packer = {0};
    struct cohort__tally tally = tally_of("nlgwfoxnlgwfox", 0), got;
    struct cohort__random random = cohort__random_seeded(1);
    cohort__tally_pack(&tally, &packer);
    CHECK_OK(cohort__tally_unpack(&got, packer.data, packer.bytes, SITES));
    CHECK_INT(cohort__tally_unpack(&got, packer.data, packer.bytes, 4), COHORT_ERR_PROTOCOL);
    for (size_t bytes = 0; bytes < packer.bytes; bytes++)
        CHECK_INT(cohort__tally_unpack(&got, packer.data, bytes, SITES), COHORT_ERR_PROTOCOL);
    for (int round = 0; round < 20000; round++) {
        size_t at = cohort__random_below(&random, packer.bytes);
        unsigned char before = packer.data[at];
        packer.data[at] = (unsigned char)cohort__random_next(&random);
        if (!cohort__tally_unpack(&got, packer.data, packer.bytes, SITES)) {
            char text[TEXT];
            cohort__tally_describe(&got, 7, locality_of, text, sizeof(text));
            CHECK(got.missing.num <= COHORT__TALLY_LISTED && got.ok.num <= COHORT__TALLY_LISTED);
        }
        packer.data[at] = before;
    }
    cohort__packer_fini(&packer);
}
