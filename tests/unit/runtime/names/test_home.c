/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/home.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "runtime/base/container.h"
#include "runtime/base/sanitizer.h"
#include "runtime/names/limits.h"
#include "tests/support/test.h"

enum { RANK = 6, NOTES_MAX = 64 };

/* A decoded letter of the outbox. */
struct note {
    uint32_t rank;
    uint64_t type;
    uint64_t site;
    int64_t status;
    uint64_t instance;
    uint64_t num_sites;
    uint64_t value;
    char text[640];
    size_t settings_bytes;
    unsigned char settings[COHORT__SETTINGS_BYTES_MAX];
    uint32_t num_runs;
    uint32_t runs[3 * 1001]; /* the first of them */
    size_t letter_bytes;
    unsigned char *localities; /* of each site, in place of runs; or NULL */
};

static struct cohort__registry_home home;
static struct note notes[NOTES_MAX];
static uint32_t num_notes;

static void read_runs(struct note *note, const struct cohort__unpacked *unpacked,
                      const struct cohort__value *map)
{
    const struct cohort__value *runs;
    const void *localities;
    size_t bytes;
    bool has_runs;
    CHECK_OK(cohort__has_field(unpacked, map, "runs", &has_runs));
    if (!has_runs) {
        CHECK_OK(cohort__get_bytes(unpacked, map, "localities", &localities, &bytes));
        CHECK_INT((long long)bytes, 2 * (long long)note->num_sites);
        note->localities = memcpy(malloc(bytes), localities, bytes);
        return;
    }
    CHECK_OK(cohort__get_array(unpacked, map, "runs", &runs, &note->num_runs));
    CHECK(note->num_runs > 0 && note->num_runs % 3 == 0);
    for (uint32_t i = 0; i < note->num_runs && i < 3 * 1001; i++) {
        uint64_t value;
        CHECK_OK(cohort__element_unsigned(unpacked, runs, i, UINT32_MAX, &value));
        note->runs[i] = (uint32_t)value;
    }
}

static void read_settings(struct note *note, const struct cohort__unpacked *unpacked,
                          const struct cohort__value *map)
{
    const void *settings;
    CHECK_OK(cohort__get_bytes(unpacked, map, "settings", &settings, &note->settings_bytes));
    CHECK(note->settings_bytes <= sizeof(note->settings));
    memcpy(note->settings, settings, note->settings_bytes);
}

static void read_letter(struct note *note, const struct cohort__registry_letter *letter,
                        uint32_t rank)
{
    struct cohort__unpacked *unpacked;
    const void *text;
    size_t bytes;
    *note = (struct note){.rank = rank, .letter_bytes = letter->packer.bytes};
    CHECK_OK(cohort__unpack(&unpacked, letter->packer.data, letter->packer.bytes, "letter"));
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    CHECK_OK(cohort__get_unsigned(unpacked, map, "type", UINT64_MAX, &note->type));
    if (note->type == COHORT__REGISTRY_REFUSE) {
        CHECK_OK(cohort__get_unsigned(unpacked, map, "site", UINT64_MAX, &note->site));
        CHECK_OK(cohort__get_signed(unpacked, map, "status", &note->status));
        CHECK_OK(cohort__get_bytes(unpacked, map, "text", &text, &bytes));
        snprintf(note->text, sizeof(note->text), "%.*s", (int)bytes, (const char *)text);
    } else {
        CHECK_OK(cohort__get_unsigned(unpacked, map, "instance", UINT64_MAX, &note->instance));
    }
    if (note->type == COHORT__REGISTRY_REVOKED)
        CHECK_OK(cohort__get_unsigned(unpacked, map, "site", UINT64_MAX, &note->site));
    if (note->type == COHORT__REGISTRY_MAP) {
        CHECK_OK(cohort__get_unsigned(unpacked, map, "num_sites", UINT64_MAX, &note->num_sites));
        CHECK_OK(cohort__get_unsigned(unpacked, map, "value", UINT64_MAX, &note->value));
        read_settings(note, unpacked, map);
        read_runs(note, unpacked, map);
    }
    cohort__unpacked_destroy(unpacked);
}

static void read_outbox(struct cohort__list *outbox)
{
    struct cohort__list *link;
    num_notes = 0;
    while ((link = cohort__list_pop_front(outbox))) {
        struct cohort__registry_letter *letter =
            COHORT_CONTAINER_OF(link, struct cohort__registry_letter, link);
        for (uint32_t i = 0; !letter->packer.status && i < letter->num_ranks; i++) {
            CHECK(num_notes < NOTES_MAX);
            read_letter(&notes[num_notes++], letter, letter->ranks[i]);
        }
        cohort__registry_letter_destroy(letter);
    }
}

static struct cohort__registry_request request_of(const char *name, uint32_t source, uint32_t site)
{
    return (struct cohort__registry_request){
        .source = source, .name = name, .name_bytes = strlen(name), .site = site};
}

static void join_with(struct cohort__registry_request request, uint32_t num_sites,
                      const void *settings, size_t settings_bytes, cohort_status status)
{
    struct cohort__list outbox;
    request.num_sites = num_sites;
    request.terms = "the same";
    request.terms_bytes = strlen(request.terms);
    request.settings = settings;
    request.settings_bytes = settings_bytes;
    cohort__list_init(&outbox);
    CHECK_INT(cohort__registry_home_join(&home, &request, &outbox), status);
    read_outbox(&outbox);
}

static void join_again(const char *name, uint32_t source, uint32_t site, uint32_t num_sites,
                       const char *terms, uint64_t left)
{
    struct cohort__list outbox;
    struct cohort__registry_request request = request_of(name, source, site);
    request.num_sites = num_sites;
    request.terms = terms;
    request.terms_bytes = strlen(terms);
    request.instance = left;
    cohort__list_init(&outbox);
    CHECK_OK(cohort__registry_home_join(&home, &request, &outbox));
    read_outbox(&outbox);
}

static void join(const char *name, uint32_t source, uint32_t site, uint32_t num_sites)
{
    join_again(name, source, site, num_sites, "the same", 0);
}

static void leave(const char *name, uint32_t source, uint32_t site, uint64_t instance)
{
    struct cohort__list outbox;
    struct cohort__registry_request request = request_of(name, source, site);
    request.instance = instance;
    cohort__list_init(&outbox);
    CHECK_OK(cohort__registry_home_leave(&home, &request, &outbox));
    read_outbox(&outbox);
}

static void check_map(uint32_t index, uint32_t rank, uint64_t number, uint64_t num_sites)
{
    CHECK(index < num_notes);
    CHECK_INT(notes[index].type, COHORT__REGISTRY_MAP);
    CHECK_INT(notes[index].rank, rank);
    CHECK_INT(notes[index].instance, ((uint64_t)RANK + 1) << 32 | number);
    CHECK_INT(notes[index].num_sites, num_sites);
}

static void check_refusal(uint32_t index, uint32_t rank, uint32_t site, cohort_status status,
                          const char *text)
{
    CHECK(index < num_notes);
    CHECK_INT(notes[index].type, COHORT__REGISTRY_REFUSE);
    CHECK_INT(notes[index].rank, rank);
    CHECK_INT(notes[index].site, site);
    CHECK_INT(notes[index].status, status);
    CHECK_CONTAINS(notes[index].text, text);
}

static void begin(void)
{
    cohort__registry_home_init(&home, RANK, 8);
}

static void end(void)
{
    cohort__registry_home_fini(&home);
}

#define TEST_HOME(name) TEST_BETWEEN(name, begin(), end())

TEST_HOME(join_and_leave)
{
    join("a", 3, 2, 4);
    CHECK_INT(num_notes, 0);
    join("a", 1, 0, 4);
    join("another", 1, 1, 4);
    join("a", 1, 1, 4);
    CHECK_INT(num_notes, 0);
    join("a", 3, 3, 4);
    CHECK_INT(num_notes, 2); /* one for each locality */
    check_map(0, 1, 1, 4);
    check_map(1, 3, 1, 4);
    static const uint32_t runs[] = {1, 2, 1, 1, 2, 3};
    CHECK_INT(notes[0].num_runs, 6);
    CHECK(memcmp(notes[0].runs, runs, sizeof(runs)) == 0);
    CHECK(memcmp(notes[1].runs, runs, sizeof(runs)) == 0);

    uint64_t instance = notes[0].instance;
    for (int twice = 0; twice < 2; twice++) {
        leave("a", 3, 3, instance);
        leave("a", 1, 0, instance);
        leave("a", 1, 1, instance);
        CHECK_INT(num_notes, 0);
    }
    leave("a", 3, 2, instance);
    CHECK_INT(num_notes, 2);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_INT(notes[i].type, COHORT__REGISTRY_END);
        CHECK_INT(notes[i].rank, i == 0 ? 1 : 3);
        CHECK_INT(notes[i].instance, instance);
    }
    CHECK_INT(home.names.num_nodes, 1); /* that of the other name */
    leave("a", 3, 2, instance);         /* told once */
    CHECK_INT(num_notes, 0);
    join("a", 2, 0, 1);
    check_map(0, 2, 2, 1);
}

/* A name is used again before all sites have left. */
TEST_HOME(reuse)
{
    join("a", 0, 0, 2);
    join("a", 1, 1, 2);
    uint64_t first = notes[0].instance;
    join_again("a", 0, 0, 2, "others", first); /* the leave may come later, or be overtaken */
    CHECK_INT(num_notes, 0);
    leave("a", 0, 0, first);
    CHECK_INT(num_notes, 0);
    join_again("a", 1, 1, 2, "others", first);
    CHECK_INT(num_notes, 4);
    CHECK_INT(notes[0].type, COHORT__REGISTRY_END);
    CHECK_INT(notes[1].type, COHORT__REGISTRY_END);
    CHECK_INT(notes[0].instance, first);
    check_map(2, 0, 2, 2);
    check_map(3, 1, 2, 2);
    leave("a", 1, 1, first);
    CHECK_INT(num_notes, 0);
}

TEST_HOME(duplicate)
{
    join("a", 0, 0, 2);
    join("a", 4, 0, 2); /* pending */
    CHECK_INT(num_notes, 1);
    check_refusal(0, 4, 0, COHORT_ERR_DUPLICATE_SITE,
                  "communicator \"a\": site 0 of locality 4 joins, but locality 0 has this site");
    join("a", 1, 1, 2);
    CHECK_INT(num_notes, 2);
    uint64_t instance = notes[0].instance;
    join("a", 4, 1, 2); /* alive */
    CHECK_INT(num_notes, 1);
    check_refusal(0, 4, 1, COHORT_ERR_DUPLICATE_SITE, "locality 1 has this site already");
    join_again("a", 0, 0, 2, "the same", instance);
    join("a", 0, 0, 2); /* in the next instance */
    check_refusal(0, 0, 0, COHORT_ERR_DUPLICATE_SITE, "locality 0 has this site already");
}

TEST_HOME(mismatch)
{
    join_again("a", 0, 0, 4, "arity 2", 0);
    join_again("a", 1, 1, 4, "arity 2", 0);
    join_again("a", 2, 2, 4, "arity 3", 0);
    CHECK_INT(num_notes, 3);
    for (uint32_t i = 0; i < 3; i++)
        check_refusal(i, i, i, COHORT_ERR_MISMATCH,
                      "communicator \"a\": site 2 of locality 2 joins with arity 3, site 0 of "
                      "locality 0 with arity 2");
    join_again("a", 0, 0, 4, "arity 2", 0); /* already the next attempt */
    CHECK_INT(num_notes, 0);
    join_again("a", 3, 3, 4, "arity 2", 0); /* late */
    CHECK_INT(num_notes, 1);
    check_refusal(0, 3, 3, COHORT_ERR_MISMATCH, "site 2 of locality 2 joins with arity 3");
    for (uint32_t site = 1; site < 4; site++)
        join_again("a", site, site, 4, "arity 2", 0);
    CHECK_INT(num_notes, 4);
    check_map(0, 0, 1, 4);
}

static void join_failed(const char *name, uint32_t source, uint32_t site, uint32_t num_sites)
{
    struct cohort__list outbox;
    struct cohort__registry_request request = request_of(name, source, site);
    request.num_sites = num_sites;
    request.terms = "no luck";
    request.terms_bytes = strlen(request.terms);
    request.failed = COHORT_ERR_SYSTEM;
    cohort__list_init(&outbox);
    CHECK_OK(cohort__registry_home_join(&home, &request, &outbox));
    read_outbox(&outbox);
}

/* A site can't take part. It is told, and so are the sites that have joined before and those that
 * join later. The next attempt is not affected. */
TEST(cannot_join)
{
    static const uint32_t others[] = {0, 1, 3};
    const char *why = "communicator \"a\": site 2 of locality 2 can't join: no luck";
    for (uint32_t num_before = 0; num_before <= 3; num_before++) {
        begin();
        for (uint32_t i = 0; i < num_before; i++) {
            join("a", others[i], others[i], 4);
            CHECK_INT(num_notes, 0);
        }
        join_failed("a", 2, 2, 4);
        CHECK_INT(num_notes, num_before + 1);
        for (uint32_t i = 0; i < num_notes; i++)
            check_refusal(i, notes[i].rank, notes[i].rank, COHORT_ERR_SYSTEM, why);
        join("a", 2, 2, 4); /* already the next attempt */
        CHECK_INT(num_notes, 0);
        for (uint32_t i = num_before; i < 3; i++) {
            join("a", others[i], others[i], 4);
            CHECK_INT(num_notes, 1);
            check_refusal(0, others[i], others[i], COHORT_ERR_SYSTEM, why);
        }
        for (uint32_t i = 0; i < 3; i++)
            join("a", others[i], others[i], 4);
        CHECK_INT(num_notes, 4);
        check_map(0, 0, 1, 4);
        end();
    }
}

/* The sites don't agree on the number of sites. Each of them is told, in whatever order they join.
 */
TEST(other_number)
{
    static const uint32_t orders[][4] = {{0, 2, 1, 3}, {2, 0, 1, 3}, {3, 2, 1, 0}, {0, 1, 2, 3}};
    for (size_t o = 0; o < NUM_OF(orders); o++) {
        uint32_t told[4] = {0};
        begin();
        for (size_t i = 0; i < 4; i++) {
            uint32_t site = orders[o][i];
            uint32_t num_sites = site < 2 ? 3 : 4;
            join_again("a", site, site, num_sites, num_sites == 3 ? "num_sites 3" : "num_sites 4",
                       0);
            for (uint32_t n = 0; n < num_notes; n++) {
                check_refusal(n, notes[n].rank, notes[n].rank, COHORT_ERR_MISMATCH, "num_sites");
                told[notes[n].rank]++;
            }
        }
        for (size_t site = 0; site < 4; site++)
            CHECK_INT(told[site], 1);
        end();
    }
    begin();
    join("a", 0, 0, 2);
    join("a", 1, 2, 3); /* the terms are equal, the numbers are not */
    CHECK_INT(num_notes, 2);
    check_refusal(0, 0, 0, COHORT_ERR_MISMATCH, "site 2 of locality 1");
    check_refusal(1, 1, 2, COHORT_ERR_MISMATCH, "site 2 of locality 1");
    end();
}

/* A late site whose number of sites is larger than that of the first one. */
TEST_HOME(late_and_larger)
{
    join_again("a", 0, 0, 2, "num_sites 2", 0);
    join_again("a", 2, 2, 4, "num_sites 4", 0);
    CHECK_INT(num_notes, 2);
    join_again("a", 1, 1, 2, "num_sites 2", 0);
    CHECK_INT(num_notes, 1);
    join_again("a", 3, 3, 4, "num_sites 4", 0);
    CHECK_INT(num_notes, 1);
    check_refusal(0, 3, 3, COHORT_ERR_MISMATCH, "site 2 of locality 2 joins with num_sites 4");
    CHECK_INT(home.names.num_nodes, 0); /* that attempt is over */
    for (uint32_t site = 0; site < 5; site++)
        join("a", site, site, 5);
    CHECK_INT(num_notes, 5);
    check_map(0, 0, 1, 5);
}

static void check_runs(const uint32_t *runs, uint32_t num)
{
    CHECK_INT(num_notes > 0 && notes[0].num_runs == num, true);
    CHECK(memcmp(notes[0].runs, runs, num * sizeof(*runs)) == 0);
}

/* Which sites are where, with 12 sites. Sites with consecutive numbers in one locality are one run.
 */
TEST(runs)
{
    static const struct {
        uint32_t localities[12];
        uint32_t runs[3 * 12];
        uint32_t num;
    } rows[] = {
        {{5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, {12, 1, 5}, 3},
        {{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}, {4, 3, 0}, 3},
        {{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, {4, 1, 0, 4, 1, 0, 4, 1, 0}, 9},
        {{0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4}, {2, 3, 0, 3, 2, 2}, 6},
        {{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, {1, 12, 9}, 3},
        {{3, 3, 2, 2, 1, 1, 0, 0, 5, 6, 8, 8},
         {1, 2, 3, 1, 2, 2, 1, 2, 1, 1, 2, 0, 2, 1, 5, 1, 2, 8},
         18},
    };
    for (size_t row = 0; row < NUM_OF(rows); row++) {
        begin();
        for (uint32_t site = 0; site < 12; site++)
            join("a", rows[row].localities[site], site, 12);
        check_runs(rows[row].runs, rows[row].num);
        end();
    }
}

/* Any number of runs is one letter, the same for all localities. */
TEST_HOME(many_runs)
{
    enum { NUM_SITES = 1001 };
    for (uint32_t site = 0; site < NUM_SITES; site++)
        join("a", 3701 - site % 2, site, NUM_SITES);
    CHECK_INT(num_notes, 2);
    for (uint32_t n = 0; n < 2; n++) {
        uint32_t site = 0;
        check_map(n, 3700 + n, 1, NUM_SITES);
        for (uint32_t r = 0; r < notes[n].num_runs; r += 3)
            for (uint32_t i = 0; i < notes[n].runs[r]; i++, site++) {
                CHECK_INT(notes[n].runs[r + 1], 1);
                CHECK_INT(notes[n].runs[r + 2] + i, 3701 - site % 2);
            }
        CHECK_INT(site, NUM_SITES);
    }
}

/* Sites that lie so that there would be too many runs: two bytes a site. */
TEST_HOME(scattered)
{
    const uint32_t num_sites = (uint32_t)test_rounds_of(1 << 24, 200000, 70000);
    for (uint32_t site = 0; site < num_sites; site++)
        join("a", 4095 - site % 2 * 300, site, num_sites);
    CHECK_INT(num_notes, 2);
    for (uint32_t n = 0; n < 2; n++) {
        check_map(n, n == 0 ? 3795 : 4095, 1, num_sites);
        CHECK(notes[n].localities && notes[n].letter_bytes < 2 * (size_t)num_sites + 200);
        for (uint32_t site = 0; site < num_sites; site++)
            CHECK(notes[n].localities[2 * site] * 256 + notes[n].localities[2 * site + 1] ==
                  4095 - (int)(site % 2) * 300);
        free(notes[n].localities);
    }
}

/* Too many sites for a table have runs, as many as fit in a message. */
TEST(large)
{
    static const uint32_t nums[] = {COHORT__MAP_RUNS_MAX + 1, COHORT__MAP_RUNS_MOST};
    for (uint64_t n = 0; n < test_rounds_of(2, 0, 0); n++) {
        const uint32_t num_sites = COHORT__MAP_SITES_MAX + nums[n];
        begin();
        for (uint32_t site = 0; site < num_sites; site++) /* the last run has all that are left */
            join("a", 1 + (site < nums[n] ? site : nums[n] - 1) % 2 * 300, site, num_sites);
        CHECK_INT(num_notes, 2);
        check_map(1, 301, 1, num_sites);
        CHECK_INT(notes[1].num_runs, 3 * nums[n]);
        end();
    }
}

/* All sites get the settings of site 0, whichever joins first. Also with many runs and with the
 * longest name. */
TEST(settings)
{
    static char name[COHORT__NAME_BYTES_MAX + 1];
    static unsigned char mine[COHORT__SETTINGS_BYTES_MAX], others[COHORT__SETTINGS_BYTES_MAX + 1];
    enum { NUM_SITES = 801 };
    memset(name, 'n', sizeof(name) - 1);
    memset(mine, 'm', sizeof(mine));
    memset(others, 'o', sizeof(others));
    for (uint32_t first = 0; first < 2; first++) {
        begin();
        for (uint32_t i = 0; i < NUM_SITES; i++) {
            uint32_t site = (i + first) % NUM_SITES;
            join_with(request_of(name, UINT32_MAX - 1 - site % 2, site), NUM_SITES,
                      site == 0 ? mine : others, site == 0 ? sizeof(mine) : 1 + site, COHORT_OK);
        }
        CHECK_INT(num_notes, 2);
        for (uint32_t n = 0; n < num_notes; n++) {
            CHECK_INT(notes[n].settings_bytes, sizeof(mine));
            CHECK(memcmp(notes[n].settings, mine, sizeof(mine)) == 0);
        }
        end();
    }
    begin();
    join_with(request_of("a", 1, 0), 2, others, sizeof(others), COHORT_ERR_PROTOCOL);
    CHECK_CONTAINS(cohort_error_message(), "site 0 with 9217 bytes of settings");
    join_with(request_of("a", 1, 1), 2, others, sizeof(others), COHORT_ERR_PROTOCOL);
    join_with(request_of("a", 1, 1), 2, others, 7, COHORT_OK);
    join_with(request_of("a", 1, 0), 2, NULL, 0, COHORT_OK);
    check_map(0, 1, 1, 2);
    CHECK_INT(notes[0].settings_bytes, 0);
    end();
}

/* The sanitizers use more of the address space than a limit could leave. */
#if COHORT__ASAN || COHORT__TSAN
static void limit_memory(rlim_t bytes)
{
}
static const bool has_limits = false;
#else
static void limit_memory(rlim_t bytes)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}
static const bool has_limits = true;
#endif

static void withdraw_bytes(const char *name, size_t bytes, uint32_t source, uint32_t site,
                           uint32_t sequence, const char *returned)
{
    struct cohort__list outbox;
    struct cohort__registry_request request = request_of(name, source, site);
    request.name_bytes = bytes;
    request.sequence = sequence;
    request.failed = COHORT_ERR_TIMEOUT;
    request.terms = "it is late";
    request.terms_bytes = strlen(request.terms);
    request.returned = returned;
    cohort__list_init(&outbox);
    CHECK_OK(cohort__registry_home_withdraw(&home, &request, &outbox));
    read_outbox(&outbox);
}

static void withdraw(const char *name, uint32_t source, uint32_t site, uint32_t sequence,
                     const char *returned)
{
    withdraw_bytes(name, strlen(name), source, site, sequence, returned);
}

/* A site waits no longer, and the programs of some localities have returned. */
TEST_HOME(withdraw)
{
    join("a", 1, 1, 4);
    withdraw("b", 1, 1, 0, "0");
    withdraw("a", 2, 1, 0, "0"); /* which has not joined */
    withdraw("a", 1, 1, 1, "0"); /* an earlier or later join of it */
    CHECK_INT(num_notes, 0);
    withdraw("a", 1, 1, 0, "0, 2-3");
    CHECK_INT(num_notes, 1);
    check_refusal(0, 1, 1, COHORT_ERR_TIMEOUT,
                  "1 of 4 sites have joined, missing 0, 2 and 3; programs that have returned: "
                  "localities 0, 2-3; site 1 of locality 1 waits no longer: it is late");
    join("a", 2, 2, 4);
    check_refusal(0, 2, 2, COHORT_ERR_TIMEOUT, "localities 0, 2-3");
    join("c", 1, 1, 2);
    withdraw("c", 1, 1, 0, "0");
    check_refusal(0, 1, 1, COHORT_ERR_TIMEOUT,
                  "missing 0; programs that have returned: locality 0");
    join("d", 1, 1, 2);
    withdraw("d", 1, 1, 0, "");
    CHECK(!strstr(notes[0].text, "returned"));
}

/* A program tries again and again, and one site does not come. When it does, it is told of some
 * attempts, and then belongs to the one that waits. */
TEST_HOME(in_vain)
{
    enum { ATTEMPTS = 100, KEPT = 8 };
    for (int i = 0; i < ATTEMPTS; i++) {
        join("a", 1, 0, 2);
        withdraw("a", 1, 0, 0, "");
        check_refusal(0, 1, 0, COHORT_ERR_TIMEOUT, "missing 1");
    }
    join("a", 1, 0, 2);
    for (int i = 0; i < KEPT; i++) {
        join("a", 2, 1, 2);
        check_refusal(0, 2, 1, COHORT_ERR_TIMEOUT, "missing 1");
    }
    join("a", 2, 1, 2);
    CHECK_INT(num_notes, 2);
    check_map(0, 1, 1, 2);
}

/* More sites than there is memory for. All of them are refused; a later creation is as ever. */
TEST(too_many_sites)
{
    if (!has_limits)
        return;
    begin();
    limit_memory((rlim_t)1 << 30);
    join("a", 1, 0, INT32_MAX);
    limit_memory(RLIM_INFINITY);
    CHECK_INT(num_notes, 1);
    check_refusal(0, 1, 0, COHORT_ERR_NO_MEMORY, "there is no memory for 2147483647 sites");
    join("a", 2, 5, INT32_MAX);
    CHECK_INT(num_notes, 1);
    check_refusal(0, 2, 5, COHORT_ERR_NO_MEMORY, "there is no memory for 2147483647 sites");
    join("a", 1, 0, 1);
    check_map(0, 1, 1, 1);
    end();
}

/* Allocations of the home: which one fails, counted from 1; 0: none. */
static uint64_t failing, num_allocations;

static bool fails(void)
{
    return failing && ++num_allocations == failing;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__real_calloc(size_t num, size_t bytes);
void *__wrap_calloc(size_t num, size_t bytes)
{
    return fails() ? NULL : __real_calloc(num, bytes);
}

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails() ? NULL : __real_realloc(memory, bytes);
}

/* What the sites of one communicator are told while allocation NUMBER fails. */
struct told {
    uint32_t maps, refusals;
    bool is_broken; /* all localities are told that joins are not reliable any more */
    char text[640]; /* of a refusal */
};

enum { MEMORY_SITES = 4 };

static struct told join_with_failure(uint64_t number, const uint32_t num_sites[MEMORY_SITES])
{
    static const char settings[100];
    struct told told = {0};
    num_allocations = 0;
    for (uint32_t i = 0; i < MEMORY_SITES && !told.is_broken; i++) {
        const uint32_t site = num_sites[0] < MEMORY_SITES ? i : MEMORY_SITES - 1 - i;
        struct cohort__list outbox;
        struct cohort__registry_request request = request_of("a", site, site);
        request.num_sites = num_sites[site];
        request.terms = "";
        request.settings = settings;
        request.settings_bytes = site == 0 ? sizeof(settings) : 0;
        cohort__list_init(&outbox);
        failing = number;
        cohort_status status = cohort__registry_home_join(&home, &request, &outbox);
        failing = 0;
        if (status)
            CHECK_INT(status, COHORT_ERR_NO_MEMORY);
        told.is_broken = status != COHORT_OK;
        read_outbox(&outbox);
        for (uint32_t k = 0; k < num_notes; k++) {
            told.maps += notes[k].type == COHORT__REGISTRY_MAP;
            told.refusals += notes[k].type == COHORT__REGISTRY_REFUSE;
            if (notes[k].type == COHORT__REGISTRY_REFUSE)
                snprintf(told.text, sizeof(told.text), "%s", notes[k].text);
        }
    }
    return told;
}

/* Whichever allocation fails: all sites get a map, or all are refused, or all localities are told
 * that something is lost. Nobody waits. What comes later under that name is as ever. */
static uint32_t check_failures(const uint32_t num_sites[MEMORY_SITES], bool is_wrong)
{
    uint32_t num_refused = 0;
    for (uint64_t number = 1;; number++) {
        begin();
        const struct told told = join_with_failure(number, num_sites);
        const bool is_over = num_allocations < number;
        if (!told.is_broken) {
            CHECK_INT(told.maps + told.refusals, MEMORY_SITES);
            CHECK(told.maps == 0 || told.refusals == 0);
            const bool for_memory = strstr(told.text, "no memory") != NULL;
            CHECK(is_over ? !for_memory : told.maps || is_wrong || for_memory);
            num_refused += for_memory;
            /* Its number can be lent again. */
            CHECK(told.maps || !home.numbers.loans || home.numbers.loans[0].num_users == 0);
            const uint32_t same[MEMORY_SITES] = {4, 4, 4, 4};
            if (told.refusals) /* else they are still there */
                CHECK_INT(join_with_failure(0, same).maps, MEMORY_SITES);
        }
        end();
        if (is_over)
            return num_refused;
    }
}

TEST(no_memory)
{
    const uint32_t same[MEMORY_SITES] = {4, 4, 4, 4}, larger[MEMORY_SITES] = {2, 4, 4, 4};
    /* The sites, their terms, settings, the list of localities, and the map's letter in parts. */
    CHECK(check_failures(same, false) >= 5);
    CHECK(check_failures(larger, true) >= 1);
}

/* Messages that no correct locality sends change nothing. */
TEST_HOME(bogus)
{
    leave("a", 0, 0, 1);
    join("a", 0, 0, 2);
    leave("a", 0, 0, 0); /* a pending creation has no instance */
    leave("a", 0, 1, 0);
    CHECK_INT(num_notes, 0);
    join("a", 1, 1, 2);
    CHECK_INT(num_notes, 2);
    uint64_t instance = notes[0].instance;
    join("a", 0, 0, 2); /* the site is still there */
    check_refusal(0, 0, 0, COHORT_ERR_DUPLICATE_SITE, "locality 0 has this site already");
    leave("a", 0, 0, instance + 1);
    leave("b", 0, 0, instance);
    leave("a", 0, 2, instance);
    leave("a", 0, INT32_MAX, instance);
    leave("a", 0, 1, instance); /* that site is in locality 1 */
    leave("a", 0, 0, instance);
    CHECK_INT(num_notes, 0);
    leave("a", 1, 1, instance);
    CHECK_INT(num_notes, 2);
    join("", 0, 0, 1);
    check_map(0, 0, 2, 1);
    cohort__registry_letter_destroy(NULL);
}

static void die(uint32_t rank)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    CHECK_OK(cohort__registry_home_died(&home, rank, &outbox));
    read_outbox(&outbox);
}

static void join_in_view(const char *name, uint32_t source, uint32_t site, uint32_t num_sites,
                         uint32_t view)
{
    struct cohort__list outbox;
    struct cohort__registry_request request = request_of(name, source, site);
    request.num_sites = num_sites;
    request.terms = "the same";
    request.terms_bytes = strlen(request.terms);
    request.view = view;
    cohort__list_init(&outbox);
    CHECK_OK(cohort__registry_home_join(&home, &request, &outbox));
    read_outbox(&outbox);
}

/* What is pending is forgotten, and joins of those who have not heard of the death are dropped: all
 * of these end where they wait. */
TEST_HOME(death_ends_pending)
{
    join("a", 1, 0, 3);
    join("a", 2, 1, 3);
    die(3);
    CHECK_INT(num_notes, 0);
    CHECK_INT((long long)home.names.num_nodes, 0);
    join("a", 1, 0, 2); /* of the old view */
    CHECK_INT(num_notes, 0);
    CHECK_INT((long long)home.names.num_nodes, 0);
    join_in_view("a", 1, 0, 2, 1);
    join_in_view("a", 2, 1, 2, 1);
    CHECK_INT(num_notes, 2);
    check_map(0, 1, 1, 2);
    check_map(1, 2, 1, 2);
}

/* The joins of the former view failed, so those of the next one must not get that failure. */
TEST_HOME(death_ends_failed)
{
    join("a", 1, 0, 3);
    join_again("a", 2, 1, 3, "other terms", 0);
    num_notes = 0;
    die(3);
    join_in_view("a", 1, 2, 3, 1); /* this one has not been told of the failure */
    CHECK_INT(num_notes, 0);
    die(4);
    join_in_view("a", 1, 0, 2, 2);
    join_in_view("a", 2, 1, 2, 2);
    check_map(0, 1, 1, 2);
}

/* The dead one's sites have left: the instance ends with the last one that lives, or with its
 * death. */
TEST_HOME(dead_have_left)
{
    const uint64_t instance = ((uint64_t)RANK + 1) << 32 | 1;
    join("a", 1, 0, 3);
    join("a", 3, 1, 3);
    join("a", 2, 2, 3);
    leave("a", 1, 0, instance);
    num_notes = 0;
    CHECK_INT(home.numbers.loans[0].num_users, 3);
    die(3);
    CHECK_INT(num_notes, 0);
    CHECK_INT(home.numbers.loans[0].num_users, 2); /* it has given back the number */
    leave("a", 3, 1, instance);                    /* it was under way */
    CHECK_INT(num_notes, 0);
    die(2);
    CHECK(num_notes > 0);
    CHECK_INT(notes[0].type, COHORT__REGISTRY_END);
    CHECK_INT(notes[0].instance, instance);
    CHECK_INT((long long)home.names.num_nodes, 0);
}

static void join_child(uint32_t source, uint32_t site)
{
    struct cohort__list outbox;
    struct cohort__registry_request request = {.name = "a\0b",
                                               .name_bytes = 3,
                                               .terms = "",
                                               .num_sites = 3,
                                               .site = site,
                                               .source = source};
    cohort__list_init(&outbox);
    CHECK_OK(cohort__registry_home_join(&home, &request, &outbox));
    read_outbox(&outbox);
}

/* A child comes alive after the death of one that had joined: the others have joined, too, before
 * they heard of it. They leave it at once, and nobody waits for the dead one. */
TEST_HOME(child_of_dead)
{
    const uint64_t instance = ((uint64_t)RANK + 1) << 32 | 1;
    join_child(3, 1);
    die(3);
    die(4);
    join_child(1, 0);
    join_child(2, 2);
    CHECK_INT(num_notes, 3);
    CHECK_INT(home.numbers.loans[0].num_users, 2);
    for (uint32_t rank = 1; rank <= 2; rank++) {
        struct cohort__list outbox;
        const struct cohort__registry_request request = {.name = "a\0b",
                                                         .name_bytes = 3,
                                                         .site = 2 * (rank - 1),
                                                         .source = rank,
                                                         .instance = instance};
        cohort__list_init(&outbox);
        num_notes = 0;
        CHECK_OK(cohort__registry_home_leave(&home, &request, &outbox));
        read_outbox(&outbox);
    }
    CHECK(num_notes > 0 && notes[0].type == COHORT__REGISTRY_END);
    CHECK_INT((long long)home.names.num_nodes, 0);
}

/* SITE of those that live joins a gathering of the sites of "a", as if NUM_SITES were alive. */
static char which = 'b'; /* of the gatherings */
static char num_dead;    /* as those who gather know it */

static void gather(uint64_t of, uint32_t source, uint32_t site, uint32_t num_sites)
{
    const char name[] = {'g', 0, which, 0, 0, 0, 0, 0, 0, 0, num_dead};
    struct cohort__list outbox;
    struct cohort__registry_request request = {.name = name,
                                               .name_bytes = sizeof(name),
                                               .terms = "",
                                               .num_sites = num_sites,
                                               .site = site,
                                               .source = source,
                                               .agrees = true,
                                               .of = of,
                                               .of_name = "a",
                                               .of_name_bytes = 1};
    cohort__list_init(&outbox);
    num_notes = 0;
    CHECK_OK(cohort__registry_home_join(&home, &request, &outbox));
    read_outbox(&outbox);
}

/* A gathering fails when a site that has not joined has left by itself, but not because of the
 * dead, and not for one that has joined. It is forgotten with the instance. */
TEST_HOME(gathering)
{
    const uint64_t instance = ((uint64_t)RANK + 1) << 32 | 1;
    for (uint32_t site = 0; site < 4; site++)
        join("a", 1 + site, site, 4);
    leave("a", 1, 0, instance); /* who has left, and dies then */
    die(1);
    gather(instance, 2, 0, 3); /* site 1, which is the first that lives */
    CHECK_INT(num_notes, 0);
    num_notes = 0;
    leave("a", 2, 1, instance); /* it can't do so before that is complete, but has joined */
    CHECK_INT(num_notes, 0);
    leave("a", 4, 3, instance);
    CHECK_INT(num_notes, 1);
    check_refusal(0, 2, 0, COHORT_ERR_GONE, "site 3 (locality 4) has left the communicator");
    gather(instance, 3, 1, 3);
    CHECK_INT(num_notes, 1);
    check_refusal(0, 3, 1, COHORT_ERR_GONE, "site 3 (locality 4) has left the communicator");
    which = 'c';
    gather(instance, 3, 0, 2); /* it knows of more deaths: these are told to all first */
    CHECK_INT(num_notes, 0);
    which = 'b';
    leave("a", 3, 2, instance);
    CHECK(num_notes > 0 && notes[0].type == COHORT__REGISTRY_END);
}

/* What has failed for some stays so for those who come later and know of another death. */
TEST_HOME(gathering_failed_before)
{
    const uint64_t instance = ((uint64_t)RANK + 1) << 32 | 1;
    for (uint32_t site = 0; site < 4; site++)
        join("a", 1 + site, site, 4);
    leave("a", 4, 3, instance);
    gather(instance, 1, 0, 4);
    check_refusal(0, 1, 0, COHORT_ERR_GONE, "site 3 (locality 4) has left the communicator");
    die(4);
    num_dead = 1;
    gather(instance, 2, 1, 3);
    check_refusal(0, 2, 1, COHORT_ERR_GONE, "site 3 (locality 4) has left the communicator");
    die(1);
    num_dead = 2;
    gather(instance, 3, 1, 2);
    check_refusal(0, 3, 1, COHORT_ERR_GONE, "site 3 (locality 4) has left the communicator");
    which = 'c'; /* the next one is of those that live */
    gather(instance, 2, 0, 2);
    CHECK_INT(num_notes, 0);
    which = 'b';
    num_dead = 0;
}

/* One that has failed, and that all have joined by now, one of whom has died: that one's letter was
 * read, and who joins last has not heard of the death, so it comes again before it hears that this
 * has failed. */
TEST_HOME(gathering_failed_for_dead)
{
    const uint64_t instance = ((uint64_t)RANK + 1) << 32 | 1;
    const char name[] = {'g', 0, which, 0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t site = 0; site < 3; site++)
        join("a", 1 + site, site, 3);
    num_dead = 0;
    gather(instance, 3, 2, 3);
    gather(instance, 2, 1, 3);
    num_notes = 0;
    withdraw_bytes(name, sizeof(name), 2, 1, 0, "");
    CHECK_INT(num_notes, 2);
    die(3);
    gather(instance, 1, 0, 3);
    check_refusal(0, 1, 0, COHORT_ERR_TIMEOUT, "it is late");
    num_dead = 1;
    gather(instance, 1, 0, 2);
    check_refusal(0, 1, 0, COHORT_ERR_TIMEOUT, "it is late");
    num_dead = 0;
}

/* The same if the last one dies, which ends several names at once. */
TEST_HOME(gathering_of_dead)
{
    const uint64_t instance = ((uint64_t)RANK + 1) << 32 | 1;
    for (uint32_t site = 0; site < 2; site++)
        join("a", 1 + site, site, 2);
    for (which = 'b'; which < 'z'; which++)
        gather(instance, 1, 0, 2);
    const long long num_names = 1 + 'z' - 'b';
    CHECK_INT((long long)home.names.num_nodes, num_names);
    die(1);
    CHECK_INT((long long)home.names.num_nodes, num_names);
    die(2);
    CHECK_INT((long long)home.names.num_nodes, 0);
}

/* A healthy communicator is divided while others die. Those of the dead one end where they wait. */
TEST_HOME(children_stay)
{
    struct cohort__list outbox;
    struct cohort__registry_request request = {
        .name = "a\0b", .name_bytes = 3, .terms = "", .num_sites = 2};
    for (uint32_t site = 0; site < 2; site++) {
        request.site = site;
        request.source = 1 + site;
        cohort__list_init(&outbox);
        CHECK_OK(cohort__registry_home_join(&home, &request, &outbox));
        read_outbox(&outbox);
        if (site == 0)
            die(3);
    }
    CHECK_INT(num_notes, 2);
    check_map(0, 1, 1, 2);
}

/* All get the AND of the values, nothing stays, and the name may be used at once. */
TEST_HOME(agreement)
{
    struct cohort__list outbox;
    struct cohort__registry_request request = {
        .name = "a\0b", .name_bytes = 3, .terms = "", .num_sites = 2, .agrees = true};
    static const uint64_t values[] = {7, 12, UINT64_MAX, 8};
    for (uint32_t i = 0; i < 4; i++) {
        request.site = i % 2;
        request.source = 1 + i % 2;
        request.value = values[i];
        cohort__list_init(&outbox);
        CHECK_OK(cohort__registry_home_join(&home, &request, &outbox));
        read_outbox(&outbox);
        if (i % 2 == 0)
            continue;
        CHECK_INT(num_notes, 2);
        CHECK_INT((long long)notes[0].value, (long long)(values[i - 1] & values[i]));
        CHECK_INT((long long)notes[1].value, (long long)(values[i - 1] & values[i]));
        CHECK_INT((long long)home.names.num_nodes, 0);
    }
    CHECK_INT(home.numbers.num_used, 0);
}

static void revoke(const char *name, uint32_t source, uint32_t site, uint64_t instance,
                   cohort_status status)
{
    struct cohort__list outbox;
    struct cohort__registry_request request = request_of(name, source, site);
    request.instance = instance;
    cohort__list_init(&outbox);
    CHECK_INT(cohort__registry_home_revoke(&home, &request, &outbox), status);
    read_outbox(&outbox);
}

static void check_revoked(uint32_t index, uint32_t rank, uint64_t instance, uint32_t site)
{
    CHECK(index < num_notes);
    CHECK_INT(notes[index].type, COHORT__REGISTRY_REVOKED);
    CHECK_INT(notes[index].rank, rank);
    CHECK((notes[index].instance == instance));
    CHECK_INT(notes[index].site, site);
}

/* All are told of the first one. Who comes later is told, too, and so is who is too late. */
TEST_HOME(revoke)
{
    join("a", 1, 0, 2);
    revoke("a", 1, 0, 0, COHORT_OK); /* there is no instance 0 */
    CHECK_INT(num_notes, 1);
    join("a", 3, 1, 2);
    uint64_t instance = notes[0].instance;
    revoke("a", 3, 2, instance, COHORT_ERR_PROTOCOL);
    revoke("a", 3, 1, instance, COHORT_OK);
    CHECK_INT(num_notes, 2);
    check_revoked(0, 1, instance, 1);
    check_revoked(1, 3, instance, 1);
    revoke("a", 1, 0, instance, COHORT_OK);
    CHECK_INT(num_notes, 1);
    check_revoked(0, 1, instance, 1);
    leave("a", 1, 0, instance);
    leave("a", 3, 1, instance);
    revoke("a", 1, 0, instance, COHORT_OK);
    CHECK_INT(num_notes, 1);
    check_revoked(0, 1, instance, 0);
}
