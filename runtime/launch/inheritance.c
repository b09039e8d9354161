/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/inheritance.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/ledger.h"
#include "runtime/base/log.h"
#include "runtime/net/hub.h"

/* A variable. It begins with the number of a descriptor, unless it is only a text. */
struct item {
    const char *name;
    bool is_text;
    bool is_row;   /* behind the number is how many descriptors follow that one */
    bool is_kept;  /* it was set */
    int first;     /* of the copies; -1: none */
    unsigned num;  /* of the copies */
    char text[64]; /* behind the number */
};

enum { NUM = 4 };

static struct {
    bool is_kept;
    struct item all[NUM];
} inheritance = {.all = {{.name = "COHORT_CONTROL_FD"},
                         {.name = COHORT__HUB_VARIABLE, .is_row = true},
                         {.name = COHORT__LEDGER_VARIABLE},
                         {.name = "COHORT_BINDING", .is_text = true}}};

static void close_row(int first, unsigned num)
{
    for (unsigned i = 0; i < num; i++)
        close(first + (int)i);
}

/* Copies of NUM descriptors from FIRST on, which follow each other, too; from BASE on. Returns the
 * first one, or -1. *RET_TAKEN: where one of those would have been that another thread has. */
static int try_row(int first, unsigned num, int base, int *ret_taken)
{
    int at = fcntl(first, F_DUPFD_CLOEXEC, base);
    *ret_taken = -1;
    for (unsigned i = 1; at >= 0 && i < num; i++) {
        int copy = fcntl(first + (int)i, F_DUPFD_CLOEXEC, at + (int)i);
        if (copy == at + (int)i)
            continue;
        close_row(at, i);
        *ret_taken = copy;
        if (copy >= 0)
            close(copy);
        return -1;
    }
    return at;
}

static int copy_row(int first, unsigned num)
{
    int at, taken = STDERR_FILENO + 1;
    do
        at = try_row(first, num, taken, &taken);
    while (at < 0 && taken >= 0);
    return at;
}

/* --- keeping --- */

/* Whether there is room for it. */
static bool keep_text(struct item *item, const char *text)
{
    return snprintf(item->text, sizeof(item->text), "%s", text) < (int)sizeof(item->text);
}

static bool keep_descriptors(struct item *item, const char *value)
{
    char *rest;
    errno = 0;
    long first = strtol(value, &rest, 10);
    long more = item->is_row ? strtol(rest, NULL, 10) : 0;
    if (errno || rest == value || first <= STDERR_FILENO || first > INT_MAX || more < 0 ||
        more > COHORT__HUB_MAX_SLOTS)
        return false; /* the start says what is wrong with it */
    item->num = 1 + (unsigned)more;
    item->first = copy_row((int)first, item->num);
    return item->first >= 0 && keep_text(item, rest);
}

static bool keep(struct item *item)
{
    const char *value = getenv(item->name);
    item->first = -1;
    item->is_kept = value != NULL;
    return !value || (item->is_text ? keep_text(item, value) : keep_descriptors(item, value));
}

static void drop(struct item *item)
{
    if (item->first >= 0)
        close_row(item->first, item->num);
    item->first = -1;
}

void cohort__inheritance_keep(void)
{
    if (inheritance.is_kept || !getenv(inheritance.all[0].name))
        return;
    inheritance.is_kept = true;
    for (int i = 0; i < NUM; i++)
        inheritance.is_kept &= keep(&inheritance.all[i]);
    if (inheritance.is_kept)
        return;
    cohort__log(COHORT__LOG_WARN,
                "no room for copies of cohortrun's descriptors: the runtime can't "
                "be started again in this process");
    for (int i = 0; i < NUM; i++)
        drop(&inheritance.all[i]);
}

void cohort__inheritance_drop(void)
{
    for (int i = 0; inheritance.is_kept && i < NUM; i++)
        drop(&inheritance.all[i]);
    inheritance.is_kept = false;
}

bool cohort__inheritance_is_kept(void)
{
    return inheritance.is_kept;
}

/* --- renewing --- */

static cohort_status fail(const struct item *item)
{
    return cohort_fail(COHORT_ERR_NO_MEMORY, "what %s names, for a further start: %s", item->name,
                       strerror(errno));
}

/* Where the last start has not come to it, it is there still. */
static cohort_status renew(const struct item *item)
{
    char number[16] = "", value[sizeof(item->text) + sizeof(number)];
    int first = -1;
    if (!item->is_kept || getenv(item->name))
        return COHORT_OK;
    if (!item->is_text) {
        first = copy_row(item->first, item->num);
        if (first < 0)
            return fail(item);
        snprintf(number, sizeof(number), "%d", first);
    }
    snprintf(value, sizeof(value), "%s%s", number, item->text);
    if (setenv(item->name, value, 1) == 0)
        return COHORT_OK;
    cohort_status status = fail(item);
    close_row(first, item->num);
    return status;
}

cohort_status cohort__inheritance_renew(void)
{
    cohort_status status = COHORT_OK;
    for (int i = 0; inheritance.is_kept && i < NUM && !status; i++)
        status = renew(&inheritance.all[i]);
    return status;
}
