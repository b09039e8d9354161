/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: how functions, collectives and communicators are called. */
#include "tools/trace/names.h"

#include <stdio.h>

#include "tools/trace/keyed.h"

/* What has a name. The first number is this plus 2^32 times what is said here, then the second. */
enum {
    FUNCTION,     /* locality; address */
    ROW,          /* collective; row */
    CALL,         /* the same */
    COMMUNICATOR, /* 0; instance */
};

struct name {
    struct keyed keyed;
    char text[300];
};

static uint64_t key(uint64_t of, uint64_t what)
{
    return of << 32 | what;
}

/* "all_reduce levels" */
static void name_call(const struct cohort__map *names, const struct event *event, struct name *name)
{
    const struct name *row = keyed_find(names, key(event->small, ROW), event->b),
                      *collective = keyed_find(names, key(event->small, ROW), COHORT__TRACE_NO_ROW);
    snprintf(name->text, sizeof(name->text), "%.63s%s%.63s", collective ? collective->text : "call",
             row ? " " : "", row ? row->text : "");
}

bool names_give(struct cohort__map *names, struct part *part, struct event *event)
{
    uint64_t first, second = event->b;
    bool is_new;
    switch (event->kind) {
    case COHORT__TRACE_BEGIN:
    case COHORT__TRACE_SUSPEND:
        first = key(event->rank, FUNCTION);
        break;
    case COHORT__TRACE_CALL:
        first = key(event->small, CALL);
        break;
    case COHORT__TRACE_ROW:
        first = key(event->a, ROW);
        second = event->value;
        break;
    case COHORT__TRACE_ENDPOINT:
        first = key(0, COMMUNICATOR);
        second = event->a;
        break;
    default:
        return true;
    }
    struct name *name = keyed_get(names, sizeof(*name), first, second, &is_new);
    if (!name)
        return false;
    if (is_new && event->kind == COHORT__TRACE_CALL)
        name_call(names, event, name);
    else if (is_new && (uint32_t)first == FUNCTION)
        part_name(part, second, name->text, sizeof(name->text));
    else if (is_new)
        snprintf(name->text, sizeof(name->text), "%s", event->text);
    event->text = name->text;
    return true;
}
