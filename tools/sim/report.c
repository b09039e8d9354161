/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: the outcomes as a table, as JSON or as a plot. */
#include "tools/sim/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/share/json.h"

double sim_predicted(const struct cohort__algorithm *algorithm,
                     const struct cohort__request *request, const struct cohort__sim_costs *costs)
{
    if (algorithm->stages)
        return -1;
    struct cohort__cost cost = cohort__algorithm_cost(algorithm, request);
    return cost.startups * costs->startup + cost.bytes * costs->per_byte +
           cost.reduced * costs->reduce;
}

/* "4.5 MiB"; exact below 1 KiB. */
static const char *amount(uint64_t bytes, char text[32])
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    unsigned i = 0;
    for (; value >= 1024 && i < 6; i++)
        value /= 1024;
    snprintf(text, 32, "%.4g %s", value, names[i]);
    return text;
}

static void print_head(const struct sim_options *options)
{
    const struct cohort__request *request = &options->request;
    char bytes[32];
    printf("%s of %u sites, blocks of %s, on %s: t_s %g us, t_w %g us, t_r %g us",
           cohort__collective_name(request->collective), request->num_sites,
           amount(request->bytes, bytes), options->network, options->costs.startup,
           options->costs.per_byte, options->costs.reduce);
    if (cohort__collective_is_rooted(request->collective))
        printf(", root %u", request->root);
    if (request->collective == COHORT__SHIFT)
        printf(", shift %u", request->shift);
    printf("\n\n%-22s %12s %12s %10s %11s %10s %26s %11s %11s\n", "algorithm", "time us",
           "predicted", "messages", "bytes", "delayed", "busiest link", "memory", "TMP");
}

static void print_row(const struct cohort__network *network, const struct sim_outcome *outcome)
{
    const struct cohort__sim_result *result = &outcome->result;
    char predicted[32] = "-", bytes[32], link_bytes[32], memory[32], tmp[32], busiest[96] = "-";
    if (outcome->refuses) {
        printf("%-22s refuses: %s\n", outcome->algorithm->name, outcome->refuses);
        return;
    }
    if (outcome->predicted >= 0)
        snprintf(predicted, sizeof(predicted), "%.3f", outcome->predicted);
    if (result->num_links > 0) {
        char name[COHORT__LINK_NAME_BYTES];
        cohort__link_name(network, result->busiest.link, name);
        snprintf(busiest, sizeof(busiest), "%s %s", name,
                 amount(result->busiest.bytes, link_bytes));
    }
    printf("%-22s %12.3f %12s %10" PRIu64 " %11s %10" PRIu64 " %26s %11s %11s\n",
           outcome->algorithm->name, result->time, predicted, result->messages,
           amount(result->bytes, bytes), result->delayed, busiest, amount(result->memory, memory),
           amount(result->tmp_bytes, tmp));
}

static void print_phases(const struct cohort__sim_result *result)
{
    char bytes[32];
    printf("\n%-8s %12s %12s %12s %11s\n", "phase", "start us", "end us", "messages", "bytes");
    for (unsigned i = 0; i <= COHORT__LAST_PHASE; i++)
        if (result->phases[i].end > 0 || result->phases[i].messages > 0)
            printf("%-8u %12.3f %12.3f %12" PRIu64 " %11s\n", i, result->phases[i].start,
                   result->phases[i].end, result->phases[i].messages,
                   amount(result->phases[i].bytes, bytes));
}

static void print_details(const struct cohort__network *network,
                          const struct cohort__sim_result *result)
{
    char mean[32], name[COHORT__LINK_NAME_BYTES];
    uint64_t sum = 0;
    for (uint64_t i = 0; i < result->num_links; i++)
        sum += result->links[i].bytes;
    print_phases(result);
    if (result->num_links > 0) {
        cohort__link_name(network, result->busiest.link, name);
        printf("\nlinks: %" PRIu64 " used, on average %s each; %s has most: %" PRIu64
               " bytes, messages: %" PRIu64 "\n",
               result->num_links, amount(sum / result->num_links, mean), name,
               result->busiest.bytes, result->busiest.messages);
    }
    printf("messages that waited for a link: %" PRIu64 "; most at a link at one time: %u\n",
           result->delayed, result->contenders);
    printf("memory: %zu bytes at site %u, IN, OUT and TMP; %zu bytes of TMP at site %u\n",
           result->memory, result->memory_site, result->tmp_bytes, result->tmp_site);
}

static void print_links(const struct cohort__network *network, const struct sim_outcome *outcome)
{
    printf("\n%-24s %16s %10s   (%s)\n", "link", "bytes", "messages", outcome->algorithm->name);
    for (uint64_t i = 0; i < outcome->result.num_links; i++) {
        const struct cohort__sim_link *link = &outcome->result.links[i];
        char name[COHORT__LINK_NAME_BYTES];
        cohort__link_name(network, link->link, name);
        printf("%-24s %16" PRIu64 " %10" PRIu64 "\n", name, link->bytes, link->messages);
    }
}

static void write_link(const struct cohort__network *network, const struct cohort__sim_link *link,
                       const char *key, struct json *json)
{
    char name[COHORT__LINK_NAME_BYTES];
    cohort__link_name(network, link->link, name);
    json_begin(json, key, '{');
    json_text(json, "name", name);
    json_count(json, "bytes", link->bytes);
    json_count(json, "messages", link->messages);
    json_end(json, '}');
}

static void write_phases(const struct cohort__sim_result *result, struct json *json)
{
    json_begin(json, "phases", '[');
    for (unsigned i = 0; i <= COHORT__LAST_PHASE; i++) {
        json_begin(json, NULL, '{');
        json_count(json, "phase", i);
        json_number(json, "start", result->phases[i].start);
        json_number(json, "end", result->phases[i].end);
        json_count(json, "messages", result->phases[i].messages);
        json_count(json, "bytes", result->phases[i].bytes);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void write_links(const struct cohort__network *network,
                        const struct cohort__sim_result *result, struct json *json)
{
    json_begin(json, "links", '[');
    for (uint64_t i = 0; i < result->num_links; i++) {
        json_break(json, 6);
        write_link(network, &result->links[i], NULL, json);
    }
    json_end(json, ']');
}

static void write_result(const struct sim_options *options, const struct cohort__network *network,
                         const struct sim_outcome *outcome, struct json *json)
{
    const struct cohort__sim_result *result = &outcome->result;
    json_number(json, "time", result->time);
    json_count(json, "messages", result->messages);
    json_count(json, "bytes", result->bytes);
    json_count(json, "delayed", result->delayed);
    json_count(json, "contenders", result->contenders);
    json_count(json, "memory", result->memory);
    json_count(json, "memory_site", result->memory_site);
    json_count(json, "tmp", result->tmp_bytes);
    json_count(json, "tmp_site", result->tmp_site);
    json_count(json, "links_used", result->num_links);
    if (outcome->predicted >= 0)
        json_number(json, "predicted", outcome->predicted);
    write_phases(result, json);
    if (result->num_links > 0)
        write_link(network, &result->busiest, "busiest", json);
    if (options->links && result->num_links > 0)
        write_links(network, result, json);
}

static void write_request(const struct sim_options *options, struct json *json)
{
    const struct cohort__request *request = &options->request;
    json_text(json, "collective", cohort__collective_name(request->collective));
    json_count(json, "sites", request->num_sites);
    json_count(json, "bytes", request->bytes);
    json_text(json, "network", options->network);
    json_count(json, "arity", request->arity);
    json_count(json, "root", request->root);
    json_count(json, "shift", request->shift);
    json_number(json, "startup", options->costs.startup);
    json_number(json, "per_byte", options->costs.per_byte);
    json_number(json, "reduce", options->costs.reduce);
}

static void print_json(const struct sim_options *options, const struct cohort__network *network,
                       const struct sim_outcome *outcomes, size_t num_outcomes)
{
    struct json json = {.file = stdout};
    json_begin(&json, NULL, '{');
    write_request(options, &json);
    json_begin(&json, "results", '[');
    for (size_t i = 0; i < num_outcomes; i++) {
        json_break(&json, 2);
        json_begin(&json, NULL, '{');
        json_text(&json, "algorithm", outcomes[i].algorithm->name);
        if (outcomes[i].refuses)
            json_text(&json, "refuses", outcomes[i].refuses);
        else
            write_result(options, network, &outcomes[i], &json);
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_end(&json, '}');
    putchar('\n');
}

void sim_report_print(const struct sim_options *options, const struct cohort__network *network,
                      const struct sim_outcome *outcomes, size_t num_outcomes)
{
    if (options->json) {
        print_json(options, network, outcomes, num_outcomes);
        return;
    }
    print_head(options);
    for (size_t i = 0; i < num_outcomes; i++)
        print_row(network, &outcomes[i]);
    if (num_outcomes == 1 && !outcomes[0].refuses)
        print_details(network, &outcomes[0].result);
    for (size_t i = 0; i < num_outcomes && options->links; i++)
        if (!outcomes[i].refuses)
            print_links(network, &outcomes[i]);
}
