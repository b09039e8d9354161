/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: where it begins: prints the report or the advice. */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/info/report.h"
#include "tools/info/facts.h"
#include "tools/share/usage.h"

enum { STATUS_FOUND = 1, STATUS_FAILED = 3 };

static int read_word(void *context, const char *word);

/* The context is a bool. */
static const struct usage_option options[] = {{"check", USAGE_FLAG, .place = 0}, {0}};

static const struct usage usage = {
    .program = "cohort-info",
    .line = "usage: cohort-info [--check]\n",
    .help =
        "Says which Cohort this is and how it was built, what it has found on this machine\n"
        "(processors, limits, transports and the providers of libfabric), and the value of each\n"
        "COHORT_ variable, with where it comes from.\n"
        "\n"
        "  --check   only what will not work well here, and what to do about it; the status is 1\n"
        "            if there is anything\n"
        "  --help, --version\n",
    .options = options,
    .read_word = read_word,
};

static int read_word(void *context, const char *word)
{
    (void)context;
    return usage_wrong(&usage, "'%s' is no option", word);
}

static void print_advice(void *context, const char *wrong, const char *remedy)
{
    (void)context;
    printf("%s.\n    %s.\n", wrong, remedy);
}

int main(int argc, char **argv)
{
    static struct facts facts;
    bool checks = false;
    int status = usage_read(&usage, argc, argv, &checks);
    if (status >= 0)
        return status;
    facts_collect(&facts);
    status = 0;
    if (!checks)
        report_print(&facts);
    else if (advice_find(&facts, environ, print_advice, NULL) > 0)
        status = STATUS_FOUND;
    else
        printf("nothing found that would not work well\n");
    return fflush(stdout) || ferror(stdout) ? STATUS_FAILED : status;
}
