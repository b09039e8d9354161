/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_TOOLS_COHORTRUN_STATUS_WORLD_H
#define COHORT_TESTS_UNIT_TOOLS_COHORTRUN_STATUS_WORLD_H

#include <stdint.h>
#include <stdio.h>

#include "tools/cohortrun/status/model.h"

/* A job that is made up, and what is said of it. */

enum { LOCALITIES = 4, SITES = 100 };
static const uint64_t second = 1000000000;

/* Where tasks wait: functions of the program, which has no symbols here. */
enum {
    HEAT = 0x1000,
    LIBRARY = 0x100000,
    MEET = HEAT + 0x10,
    GET = HEAT + 0x20,
    LOCK = HEAT + 0x30
};
enum { WORK = HEAT + 0x800 };

extern struct world {
    struct status_job job;
    struct status_locality localities[LOCALITIES];
    struct look looks[LOCALITIES];
    struct cohort__site_line sites[LOCALITIES][SITES];
    struct cohort__group_line groups[LOCALITIES][4];
    struct look_join joins[LOCALITIES][16];
    struct look_wait waits[LOCALITIES][SITES];
    struct look_inputs inputs[LOCALITIES][8];
    struct look_wait listed[LOCALITIES][32];
    struct look_pending pendings[LOCALITIES][4];
    struct look_serve serves[LOCALITIES][1];
    struct look_account accounts[LOCALITIES][1];
    struct look_worker workers[LOCALITIES][12];
    struct cohort__module_line modules[2];
} w;

struct symbols;

/* The job anew: NUM localities, each with a worker that sleeps. */
void world_begin(uint32_t num);

/* Site SITE of INSTANCE, in locality RANK, whose task has the address TASK. */
void world_add_site(uint32_t rank, uint64_t instance, uint32_t site, uint64_t called,
                    uint64_t task);
void world_add_group(uint32_t rank, uint64_t instance, uint32_t num_sites, const char *name);
void world_add_wait(uint32_t rank, uint64_t task, uint64_t caller, enum cohort__wait_kind kind,
                    uint64_t what, uint64_t seconds);
/* A combinator, or a task that has yet to begin, that waits for WANTED of NUM others, as long as
 * SECONDS. _input: the next one that is listed of the last of these. */
void world_add_inputs(uint32_t rank, uint64_t of, uint64_t wanted, uint64_t num, uint64_t seconds);
void world_add_input(uint32_t rank, enum cohort__wait_kind kind, uint64_t what);
void world_add_join(uint32_t rank, const char *name, uint32_t site, uint32_t num_sites,
                    uint64_t future);

/* What WRITE says of it; valid until the next call. The second one is the text, without the last
 * line, which lists processes. */
const char *world_say_by(void (*write)(FILE *file, const struct status_model *model,
                                       struct symbols *symbols));
const char *world_say(void);

/* That the text is HEAD, and WANT. */
void world_check(const char *head, const char *want);

#endif
