/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: fetches looks at the localities of other hosts from their daemons. */
#include "tools/cohortrun/far_looks.h"

#include <stdlib.h>

#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/deadline.h"
#include "tools/cohortrun/host.h"

struct far_looks {
    struct far_looks_handlers handlers;
    struct deadline patience;
    uint32_t series;
    bool is_under_way;
};

/* What is asked for next of a host is in the host itself, see host.h. */
static void ask(const struct far_looks *looks, struct host *host)
{
    unsigned char question[NODE_LOOK_QUESTION_BYTES];
    bytes_put_u32(question, looks->series);
    bytes_put_u32(question + 4, host->look.part);
    host_look(host, host->look.rank, question);
}

static bool is_asked(const struct host *host)
{
    return host->look.rank < host->name->first + host->name->num;
}

static void end(struct far_looks *looks)
{
    struct host *host;
    looks->is_under_way = false;
    deadline_clear(&looks->patience);
    for (uint32_t i = 0; (host = looks->handlers.host(looks->handlers.context, i)); i++)
        if (is_asked(host))
            looks->handlers.silent(looks->handlers.context, host, host->look.rank);
    looks->handlers.over(looks->handlers.context);
}

/* Ends the series if all have answered. */
static void check_over(struct far_looks *looks)
{
    const struct host *host;
    for (uint32_t i = 0; (host = looks->handlers.host(looks->handlers.context, i)); i++)
        if (is_asked(host))
            return;
    end(looks);
}

static void patience_over(void *context)
{
    end(context);
}

struct far_looks *far_looks_create(struct cohort__loop *loop,
                                   const struct far_looks_handlers *handlers)
{
    struct far_looks *looks = calloc(1, sizeof(*looks));
    if (looks) {
        looks->handlers = *handlers;
        deadline_init(&looks->patience, loop, patience_over, looks);
    }
    return looks;
}

void far_looks_begin(struct far_looks *looks)
{
    struct host *host;
    looks->series++;
    looks->is_under_way = true;
    deadline_set(&looks->patience, FAR_LOOKS_PATIENCE_NS);
    for (uint32_t i = 0; (host = looks->handlers.host(looks->handlers.context, i)); i++) {
        const bool is_there = host->is_ordered && host->node_link;
        host->look.rank = host->name->first + (is_there ? 0 : host->name->num);
        host->look.part = 0;
        if (is_asked(host))
            ask(looks, host);
    }
    check_over(looks);
}

bool far_looks_take(struct far_looks *looks, struct host *host, uint32_t rank,
                    const unsigned char *data, size_t bytes)
{
    if (bytes < NODE_LOOK_ANSWER_HEAD_BYTES || data[8] >= NODE_LOOK_NUM_KINDS)
        return false;
    if (!looks->is_under_way || bytes_get_u32(data) != looks->series)
        return true; /* it is late */
    if (!is_asked(host) || rank != host->look.rank || bytes_get_u32(data + 4) != host->look.part)
        return false;
    const enum node_look_kind kind = (enum node_look_kind)data[8];
    looks->handlers.part(looks->handlers.context, rank, kind, data + NODE_LOOK_ANSWER_HEAD_BYTES,
                         bytes - NODE_LOOK_ANSWER_HEAD_BYTES);
    host->look.rank += kind != NODE_LOOK_MORE;
    host->look.part = kind == NODE_LOOK_MORE ? host->look.part + 1 : 0;
    if (is_asked(host))
        ask(looks, host);
    else
        check_over(looks);
    return true;
}

void far_looks_close(struct far_looks *looks)
{
    if (!looks)
        return;
    looks->is_under_way = false;
    deadline_clear(&looks->patience);
}

void far_looks_destroy(struct far_looks *looks)
{
    free(looks);
}
