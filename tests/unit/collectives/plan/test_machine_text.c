/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/machine.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static char *print(const uint32_t *locality_of, uint32_t num_sites, const uint32_t *host_of,
                   uint32_t root, uint64_t turn)
{
    struct cohort__machine *machine;
    const struct cohort__machine_level host = {"host", host_of};
    char *text;
    size_t bytes;
    CHECK_OK(cohort__machine_create(&machine, locality_of, num_sites, num_sites, &host, 1));
    FILE *file = open_memstream(&text, &bytes);
    CHECK(file);
    cohort__machine_print(file, machine, root, turn);
    CHECK_INT(fclose(file), 0);
    cohort__machine_destroy(machine);
    return text;
}

TEST(small)
{
    const uint32_t locality_of[] = {0, 0, 0, 2, 1, 1, 2}, host_of[] = {3, 4, 3, 0, 0, 0, 0};
    char *text = print(locality_of, 7, host_of, 5, 0);
    CHECK_TEXT(text, "locality: 3, at most 3 in one, scattered\n"
                     "  0 leads 0-2\n"
                     "  3 leads 3,6\n"
                     "  5 leads 4-5\n"
                     "host: 2, at most 5 in one, scattered\n"
                     "  0 leads 0-3,6\n"
                     "  5 leads 4-5\n");
    free(text);
    text = print((uint32_t[]){1, 1}, 2, (uint32_t[]){0, 0}, COHORT__NO_ROOT, 1);
    CHECK_TEXT(text, "locality: 1, at most 2 in one, in order\n"
                     "  1 leads 0-1\n"
                     "host: 1, as locality\n");
    free(text);
}

/* However many sites there are, the text is short. */
TEST(large)
{
    enum { SITES = 100000 };
    static uint32_t locality_of[SITES], host_of[SITES];
    for (uint32_t site = 0; site < SITES; site++) {
        locality_of[site] = site % 1000;
        host_of[site] = site % 2;
    }
    char *text = print(locality_of, SITES, host_of, COHORT__NO_ROOT, 0);
    CHECK(strlen(text) < 4096);
    CHECK_CONTAINS(text, "\n  2 leads 2,1002,2002,3002,4002,5002,6002,7002 and 92 more\n");
    CHECK_CONTAINS(text, "\n  and 984 more\nhost: 2, at most 50000 in one, scattered\n");
    free(text);
}
