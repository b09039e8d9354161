/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/positions.h"

#include <string.h>

#include "runtime/base/random.h"
#include "runtime/proc/process.h"
#include "tests/support/test.h"

enum { MAX_SIZE = 20, NUM_CASES = 1000 };

static struct cohort__process *open_process(uint32_t size)
{
    struct cohort__process *process;
    CHECK_OK(cohort__process_create(&process, &(struct cohort__process_options){.size = size}));
    return process;
}

TEST(unknown)
{
    struct cohort__process *process = open_process(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        CHECK_INT(cohort__positions_hosts(process)[rank], 0);
        CHECK_INT(cohort__positions_domains(process)[rank], 0);
        CHECK_INT(cohort__positions_cores(process)[rank], 0);
    }
    cohort__process_destroy(process);
}

static void check_cores(const struct cohort__process *process,
                        const struct cohort__position *positions, uint32_t size)
{
    const uint32_t *hosts = cohort__positions_hosts(process);
    const uint32_t *cores = cohort__positions_cores(process);
    for (uint32_t a = 0; a < size; a++)
        for (uint32_t b = 0; b < size; b++) {
            uint64_t number = positions[hosts[a]].cores, other = positions[hosts[b]].cores;
            CHECK(cores[a] < size);
            CHECK_INT(cores[a] == cores[b],
                      hosts[a] == hosts[b] || (number != 0 && number == other));
        }
}

TEST(random)
{
    struct cohort__random random = cohort__random_seeded(1);
    for (int i = 0; i < NUM_CASES; i++) {
        struct cohort__position positions[MAX_SIZE];
        uint32_t size = 1 + (uint32_t)cohort__random_below(&random, MAX_SIZE);
        struct cohort__process *process = open_process(size);
        for (uint32_t rank = 0; rank < size; rank++)
            positions[rank] = (struct cohort__position){
                .host = UINT32_MAX - (uint32_t)cohort__random_below(&random, 4),
                .domain = 7 * (uint32_t)cohort__random_below(&random, 3),
                .cores = cohort__random_below(&random, 3)};
        CHECK_OK(cohort__positions_set(process, positions));
        const uint32_t *hosts = cohort__positions_hosts(process);
        const uint32_t *domains = cohort__positions_domains(process);
        check_cores(process, positions, size);
        for (uint32_t a = 0; a < size; a++)
            for (uint32_t b = 0; b < size; b++) {
                bool same_host = positions[a].host == positions[b].host;
                bool same_domain = same_host && positions[a].domain == positions[b].domain;
                CHECK(hosts[a] < size && domains[a] < size);
                CHECK_INT(hosts[a] == hosts[b], same_host);
                CHECK_INT(domains[a] == domains[b], same_domain);
            }
        cohort__process_destroy(process);
    }
}

/* Named levels ------------------------------------------------------------------------------- */

static struct cohort__word word(const char *text)
{
    return (struct cohort__word){text, strlen(text)};
}

/* Groups of 3 are in groups of 2 of these. */
TEST(levels)
{
    enum { SIZE = 12 };
    static const char *const said[] = {"b=10,c=y", "b=1,c=x", "b=a,c=y"};
    struct cohort__word texts[SIZE];
    struct cohort__process *process = open_process(SIZE);
    CHECK_INT(cohort__positions_num_levels(process), 0);
    struct cohort__position positions[SIZE];
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        positions[rank].host = rank % 6;
        positions[rank].domain = 0;
        texts[rank] = word(said[rank % 3]);
    }
    CHECK_OK(cohort__positions_set(process, positions));
    CHECK_OK(cohort__positions_name_levels(process, texts));
    CHECK_INT(cohort__positions_num_levels(process), 2);
    CHECK_TEXT(cohort__positions_level_name(process, 0), "b");
    CHECK_TEXT(cohort__positions_level_name(process, 1), "c");
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        CHECK_INT(cohort__positions_level(process, 0)[rank], rank % 3);
        CHECK_INT(cohort__positions_level(process, 1)[rank], rank % 3 == 1);
    }
    cohort__process_destroy(process);
}

TEST(no_levels)
{
    const struct cohort__word texts[3] = {{"", 0}, {"", 0}, {"", 0}};
    struct cohort__process *process = open_process(3);
    CHECK_OK(cohort__positions_name_levels(process, texts));
    CHECK_INT(cohort__positions_num_levels(process), 0);
    cohort__process_destroy(process);
}

/* Localities 0 and 1, and 2 and 3, are on one host. */
static void check_refused(const char *const said[4], const char *why)
{
    static const struct cohort__position positions[] = {{5, 0, 0}, {5, 1, 0}, {3, 1, 0}, {3, 1, 0}};
    struct cohort__word texts[4];
    struct cohort__process *process = open_process(4);
    for (uint32_t rank = 0; rank < 4; rank++)
        texts[rank] = word(said[rank]);
    CHECK_OK(cohort__positions_set(process, positions));
    CHECK_INT(cohort__positions_name_levels(process, texts), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), why);
    cohort__process_destroy(process);
}

TEST(refused)
{
    check_refused((const char *const[]){"a=1", "a=1", "", "a=1"},
                  "COHORT_LEVELS has the level a at locality 0, and no levels at locality 2: all "
                  "localities need the same levels in the same order");
    check_refused((const char *const[]){"a=1,b=1", "a=1,b=1", "a=1,b=1", "b=1,a=1"},
                  "COHORT_LEVELS has the levels a, b at locality 0, and the levels b, a at "
                  "locality 3: all localities need the same levels in the same order");
    check_refused((const char *const[]){"a=1", "a=1", "a=2", "a=1"},
                  "COHORT_LEVELS has a=2 at locality 2, and a=1 at locality 3, but both are on one "
                  "host: what is together there must be so in each later level");
    check_refused((const char *const[]){"a=1,b=7,c=1", "a=1,b=7,c=1", "a=2,b=7,c=2", "a=2,b=7,c=2"},
                  "COHORT_LEVELS has c=1 at locality 0, and c=2 at locality 2, but both are in "
                  "b=7: what is together there must be so in each later level");
}
