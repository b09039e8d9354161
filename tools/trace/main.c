/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: where it begins: report, plot or join. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tools/share/usage.h"
#include "tools/trace/join.h"
#include "tools/trace/report.h"

enum { MOST_PARTS = 4096 };
enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };
enum { MOST_SECONDS = 1000000000 };

struct program {
    const char *command;
    const char *file;
    const char *parts[MOST_PARTS]; /* of plot: the picture */
    uint32_t num_parts;
    bool directly, only_closed;
    const char *gives_from, *gives_to; /* NULL: all */
    double from, to;                   /* seconds */
};

static int read_time(const struct usage_value *value);
static int read_word(void *context, const char *word);

#define PLACE(member) offsetof(struct program, member)
static const struct usage_option options[] = {
    {"direct", USAGE_FLAG, .place = PLACE(directly)},
    {"from", USAGE_TEXT, .place = PLACE(from), .note = PLACE(gives_from), .read = read_time},
    {"to", USAGE_TEXT, .place = PLACE(to), .note = PLACE(gives_to), .read = read_time},
    {"closed", USAGE_FLAG, .place = PLACE(only_closed)},
    {0},
};

static const struct usage usage = {
    .program = "cohort-trace",
    .line = "usage: cohort-trace report [--direct] [--from SECONDS] [--to SECONDS] FILE\n"
            "       cohort-trace plot FILE OUT.svg\n"
            "       cohort-trace join [--closed] FILE [PART...]\n",
    .help =
        "Says who made whom wait in a job that ran with COHORT_TRACE=FILE.\n"
        "\n"
        "  report    who made whom wait, by locality, task and collective\n"
        "  --direct  only whom each wait was for, and not whom that one waited for\n"
        "  --from, --to\n"
        "            only what was waited between these times, in seconds from the trace's begin\n"
        "  join      makes FILE of the parts that the localities have written, FILE.RANK.part,\n"
        "            where cohortrun has not done so; the parts go then\n"
        "  --closed  only if all localities have come to their end, as a program does that was "
        "not\n"
        "            started by cohortrun\n",
    .options = options,
    .read_word = read_word,
};

static bool is(const struct program *program, const char *command)
{
    return strcmp(program->command, command) == 0;
}

static int read_time(const struct usage_value *value)
{
    return usage_parse_decimal(value->text, "0123456789.", 0, MOST_SECONDS, value->place)
               ? -1
               : usage_wrong(&usage, "%s %s: not a number of seconds", value->word, value->text);
}

static int read_word(void *context, const char *word)
{
    struct program *program = context;
    if (!program->command)
        program->command = word;
    else if (!program->file)
        program->file = word;
    else if (program->num_parts < MOST_PARTS)
        program->parts[program->num_parts++] = word;
    else
        return usage_wrong(&usage, "more than %d parts", MOST_PARTS);
    return -1;
}

static cohort_status join(const struct program *program)
{
    struct trace_joined joined;
    if (program->only_closed)
        return trace_join_closed(program->file);
    cohort_status status = trace_join(
        &(struct trace_join_options){
            .file = program->file,
            .parts = program->num_parts > 0 ? program->parts : NULL,
            .num_parts = program->num_parts,
        },
        &joined);
    if (!status)
        printf("%s: %u of %u localities, %llu events, %llu lost\n", program->file,
               (unsigned)joined.num_parts, (unsigned)joined.size,
               (unsigned long long)joined.num_events, (unsigned long long)joined.lost);
    return status;
}

static cohort_status show(const struct program *program, const struct model *model,
                          const struct sums *sums, const struct sums_options *options)
{
    if (is(program, "plot"))
        return plot_write(model, sums, program->parts[0]);
    report_print(model, sums, options);
    return COHORT_OK;
}

static uint64_t time_of(const struct model *model, double seconds)
{
    return model->begin + (uint64_t)(seconds * 1e9);
}

static struct sums_options options_of(const struct program *program, const struct model *model)
{
    return (struct sums_options){
        .directly = program->directly,
        .from = program->gives_from ? time_of(model, program->from) : 0,
        .to = program->gives_to ? time_of(model, program->to) : UINT64_MAX,
    };
}

static cohort_status report(const struct program *program)
{
    struct trace trace;
    struct model model;
    struct sums sums;
    cohort_status status = trace_read(&trace, program->file);
    if (status)
        return status;
    status = model_init(&model, &trace);
    if (!status) {
        struct sums_options options = options_of(program, &model);
        status = sums_init(&sums, &model, &options);
        if (!status) {
            status = show(program, &model, &sums, &options);
            sums_fini(&sums);
        }
        model_fini(&model);
    }
    trace_fini(&trace);
    return status;
}

static int check(const struct program *program)
{
    if (!program->command)
        return usage_wrong(&usage, "no command: report, plot or join");
    if (!is(program, "report") && !is(program, "plot") && !is(program, "join"))
        return usage_wrong(&usage, "there is no command '%s'", program->command);
    if (!program->file)
        return usage_wrong(&usage, "%s: which FILE?", program->command);
    if (program->directly && !is(program, "report"))
        return usage_wrong(&usage, "--direct is for report");
    if ((program->gives_from || program->gives_to) && !is(program, "report"))
        return usage_wrong(&usage, "--from and --to are for report");
    if (program->gives_from && program->gives_to && program->from >= program->to)
        return usage_wrong(&usage, "--from has to be before --to");
    if (program->only_closed && (!is(program, "join") || program->num_parts > 0))
        return usage_wrong(&usage, "--closed is for join, of all parts");
    if (is(program, "report") && program->num_parts > 0)
        return usage_wrong(&usage, "report reads one FILE");
    if (is(program, "plot") && program->num_parts != 1)
        return usage_wrong(&usage, "plot needs FILE and OUT.svg, nothing else");
    return -1;
}

int main(int argc, char **argv)
{
    static struct program program;
    int status = usage_read(&usage, argc, argv, &program);
    if (status < 0)
        status = check(&program);
    if (status >= 0)
        return status;
    cohort_status outcome = is(&program, "join") ? join(&program) : report(&program);
    if (!outcome && (fflush(stdout) || ferror(stdout)))
        outcome = cohort_fail(COHORT_ERR_SYSTEM, "standard output can't be written");
    if (outcome)
        fprintf(stderr, "cohort-trace: %s\n", cohort_error_message());
    return outcome ? STATUS_FAILED : 0;
}
