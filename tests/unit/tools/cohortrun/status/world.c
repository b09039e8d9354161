/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tools/cohortrun/status/world.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"
#include "tools/cohortrun/status/print.h"
#include "tools/cohortrun/status/symbols.h"

struct world w;

void world_begin(uint32_t num)
{
    memset(&w, 0, sizeof(w));
    w.modules[0] = (struct cohort__module_line){
        .begin = HEAT, .end = HEAT + 0x1000, .bias = HEAT, .path = "/none/heat"};
    w.modules[1] = (struct cohort__module_line){.begin = LIBRARY,
                                                .end = LIBRARY + 0x1000,
                                                .bias = LIBRARY,
                                                .path = "/none/libcohort.so.0.1.0"};
    for (uint32_t rank = 0; rank < LOCALITIES; rank++) {
        w.localities[rank] =
            (struct status_locality){.pid = 100 + (int)rank, .look = &w.looks[rank]};
        w.looks[rank] = (struct look){.rank = rank,
                                      .size = num,
                                      .stage = COHORT__LEDGER_RUNNING,
                                      .sites = w.sites[rank],
                                      .groups = w.groups[rank],
                                      .joins = w.joins[rank],
                                      .waits = w.waits[rank],
                                      .inputs = w.inputs[rank],
                                      .listed = w.listed[rank],
                                      .pendings = w.pendings[rank],
                                      .accounts = w.accounts[rank],
                                      .workers = w.workers[rank],
                                      .modules = w.modules,
                                      .serves = w.serves[rank],
                                      .num_workers = 1,
                                      .num_modules = 2};
        w.workers[rank][0] = (struct look_worker){.state = 'S', .is_idle = true};
    }
    w.job =
        (struct status_job){.pid = 77, .program = "./heat", .num = num, .localities = w.localities};
}

void world_add_site(uint32_t rank, uint64_t instance, uint32_t site, uint64_t called, uint64_t task)
{
    struct look *look = &w.looks[rank];
    look->sites[look->num_sites++] = (struct cohort__site_line){
        .instance = instance, .last_called = called, .task = task, .site = site, .rank = rank};
}

void world_add_group(uint32_t rank, uint64_t instance, uint32_t num_sites, const char *name)
{
    struct look *look = &w.looks[rank];
    struct cohort__group_line *group = &look->groups[look->num_groups++];
    *group = (struct cohort__group_line){.instance = instance, .num_sites = num_sites};
    snprintf(group->name, sizeof(group->name), "%s", name);
}

void world_add_wait(uint32_t rank, uint64_t task, uint64_t caller, enum cohort__wait_kind kind,
                    uint64_t what, uint64_t seconds)
{
    struct look *look = &w.looks[rank];
    look->waits[look->num_waits++] = (struct look_wait){.age = seconds * second,
                                                        .caller = caller,
                                                        .what = what,
                                                        .kind = kind,
                                                        .function = WORK,
                                                        .task = task};
}

void world_add_inputs(uint32_t rank, uint64_t of, uint64_t wanted, uint64_t num, uint64_t seconds)
{
    struct look *look = &w.looks[rank];
    look->inputs[look->num_inputs++] = (struct look_inputs){
        .age = seconds * second, .of = of, .num = num, .wanted = wanted, .first = look->num_listed};
}

void world_add_input(uint32_t rank, enum cohort__wait_kind kind, uint64_t what)
{
    struct look *look = &w.looks[rank];
    struct look_inputs *last = &look->inputs[look->num_inputs - 1];
    look->listed[look->num_listed++] =
        (struct look_wait){.age = last->age, .what = what, .kind = kind};
    last->num_listed++;
}

void world_add_join(uint32_t rank, const char *name, uint32_t site, uint32_t num_sites,
                    uint64_t future)
{
    struct look *look = &w.looks[rank];
    struct look_join *join = &look->joins[look->num_joins++];
    *join = (struct look_join){
        .age = 12 * second, .future = future, .site = site, .num_sites = num_sites};
    snprintf(join->name, sizeof(join->name), "%s", name);
}

const char *world_say_by(void (*write)(FILE *file, const struct status_model *model,
                                       struct symbols *symbols))
{
    static char *text;
    size_t bytes;
    struct status_model *model = NULL;
    struct symbols *symbols = symbols_create();
    free(text);
    text = NULL;
    for (uint32_t rank = 0; rank < w.job.num; rank++)
        if (w.job.localities[rank].look)
            look_sort(w.job.localities[rank].look);
    CHECK_OK(status_model_create(&model, &w.job));
    FILE *file = open_memstream(&text, &bytes);
    CHECK(file);
    write(file, model, symbols);
    fclose(file);
    symbols_destroy(symbols);
    status_model_destroy(model);
    return text;
}

static void say_without_processes(FILE *file, const struct status_model *model,
                                  struct symbols *symbols)
{
    char *whole = NULL;
    size_t bytes;
    FILE *copy = open_memstream(&whole, &bytes);
    CHECK(copy);
    status_print(copy, model, symbols);
    fclose(copy);
    char *end = strstr(whole, "processes, for gdb -p: ");
    if (end)
        *end = '\0';
    fputs(whole, file);
    free(whole);
}

const char *world_say(void)
{
    return world_say_by(say_without_processes);
}

void world_check(const char *head, const char *want)
{
    char text[4096];
    snprintf(text, sizeof(text), "%s%s", head, want);
    CHECK_TEXT(world_say(), text);
}
