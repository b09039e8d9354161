/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: what --machine has found, as a table or as JSON. */
#include "tools/sim/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/share/json.h"

/* The row that a composed one takes for its leaders, or "-". */
static const char *leaders(const struct cohort__candidate *candidate)
{
    return candidate->inner ? cohort__algorithms[candidate->inner - 1]->name : "-";
}

static void print_head(const struct sim_options *options, const struct sim_world *world,
                       const struct cohort__request *request)
{
    const struct cohort__sim_machine *machine = &world->machine;
    printf("%s of %" PRIu32 " sites, blocks of %zu bytes, on %" PRIu32 " hosts x %" PRIu32
           " localities x %" PRIu32 " tasks",
           cohort__collective_name(request->collective), request->num_sites, request->bytes,
           machine->hosts, machine->localities, machine->tasks);
    printf(machine->is_shared ? ", %" PRIu32 " cores in all" : ", %" PRIu32 " cores each",
           machine->cores);
    printf(", a turn %g us, prices %s\n\n", machine->turn / 1e3,
           options->tune ? options->tune : "of the library");
    printf("%-22s %-18s %12s %12s %10s %10s %10s %10s %5s %11s %11s\n", "algorithm", "leaders",
           "time us", "predicted", "tasks", "localities", "hosts", "turns", "busy", "messages",
           "over hosts");
}

static double on_path(const struct cohort__sim_reach *reach)
{
    return (reach->work + reach->wire) / 1e3;
}

static uint64_t messages_of(const struct cohort__sim_account *account)
{
    uint64_t messages = 0;
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++)
        messages += account->reaches[distance].messages;
    return messages;
}

static void print_row(const struct sim_row *row)
{
    const struct cohort__candidate *candidate = &row->candidate;
    const struct cohort__sim_account *account = &row->account;
    char predicted[32] = "-", name[40];
    if (row->refuses) {
        printf("%-22s refuses: %s\n", candidate->algorithm->name, row->refuses);
        return;
    }
    if (candidate->is_priced)
        snprintf(predicted, sizeof(predicted), "%.3f", candidate->time / 1e3);
    snprintf(name, sizeof(name), "%s%s", candidate->algorithm->name, row->is_chosen ? " *" : "");
    printf("%-22s %-18s %12.3f %12s %10.2f %10.2f %10.2f %10.2f %4.0f%% %11" PRIu64 " %11" PRIu64
           "\n",
           name, leaders(candidate), account->time / 1e3, predicted,
           on_path(&account->reaches[COHORT__DISTANCE_TASKS]),
           on_path(&account->reaches[COHORT__DISTANCE_LOCALITIES]),
           on_path(&account->reaches[COHORT__DISTANCE_HOSTS]), account->turns / 1e3,
           100 * account->busy, messages_of(account),
           account->reaches[COHORT__DISTANCE_HOSTS].messages);
}

static void write_head(const struct sim_options *options, const struct sim_world *world,
                       const struct cohort__request *request, struct json *json)
{
    const struct cohort__sim_machine *machine = &world->machine;
    json_begin(json, NULL, '{');
    json_text(json, "collective", cohort__collective_name(request->collective));
    json_count(json, "hosts", machine->hosts);
    json_count(json, "localities", machine->localities);
    json_count(json, "tasks", machine->tasks);
    json_count(json, "sites", request->num_sites);
    json_count(json, "bytes", request->bytes);
    json_count(json, machine->is_shared ? "shared_cores" : "cores", machine->cores);
    json_number(json, "turn", machine->turn / 1e3);
    json_text(json, "tune", options->tune ? options->tune : "");
    json_count(json, "arity", request->arity);
    json_count(json, "root", request->root);
    json_begin(json, "results", '[');
}

static void write_account(const struct cohort__sim_account *account, struct json *json)
{
    json_number(json, "time", account->time / 1e3);
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++) {
        const struct cohort__sim_reach *reach = &account->reaches[distance];
        json_begin(json, cohort__distance_name((enum cohort__distance)distance), '{');
        json_number(json, "work", reach->work / 1e3);
        json_number(json, "wire", reach->wire / 1e3);
        json_count(json, "messages", reach->messages);
        json_count(json, "bytes", reach->bytes);
        json_end(json, '}');
    }
    json_number(json, "calls", account->calls / 1e3);
    json_number(json, "turns", account->turns / 1e3);
    json_number(json, "busy", account->busy);
    json_count(json, "memory", account->memory);
    json_count(json, "tmp", account->tmp_bytes);
}

static void write_row(const struct sim_row *row, struct json *json)
{
    const struct cohort__candidate *candidate = &row->candidate;
    json_break(json, 2);
    json_begin(json, NULL, '{');
    json_text(json, "algorithm", candidate->algorithm->name);
    if (row->refuses) {
        json_text(json, "refuses", row->refuses);
    } else {
        json_bool(json, "chosen", row->is_chosen);
        if (candidate->inner)
            json_text(json, "leaders", leaders(candidate));
        if (candidate->is_priced)
            json_number(json, "predicted", candidate->time / 1e3);
        write_account(&row->account, json);
    }
    json_end(json, '}');
}

static cohort_status simulate_all(const struct sim_world *world,
                                  const struct cohort__request *request, struct sim_row *rows,
                                  uint32_t num)
{
    cohort_status status = COHORT_OK;
    if (num == 1 && rows[0].refuses)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "--algorithm %s refuses: %s",
                           rows[0].candidate.algorithm->name, rows[0].refuses);
    for (uint32_t i = 0; !status && i < num; i++)
        if (!rows[i].refuses)
            status = sim_world_simulate(world, request, &rows[i]);
    return status;
}

cohort_status sim_world_report(const struct sim_options *options)
{
    struct sim_row rows[COHORT__MAX_CANDIDATES];
    struct cohort__request request = options->request;
    struct json json = {.file = stdout};
    struct sim_world *world = NULL;
    cohort_status status = sim_world_create(&world, options, options->machine.hosts);
    if (status)
        return status;
    uint32_t num = sim_world_rows(world, options, &request, rows);
    status = simulate_all(world, &request, rows, num);
    if (!status && options->json)
        write_head(options, world, &request, &json);
    else if (!status)
        print_head(options, world, &request);
    for (uint32_t i = 0; !status && i < num; i++) {
        if (options->json)
            write_row(&rows[i], &json);
        else
            print_row(&rows[i]);
    }
    if (!status && options->json) {
        json_end(&json, ']');
        json_end(&json, '}');
        putchar('\n');
    }
    sim_world_destroy(world);
    return status;
}
