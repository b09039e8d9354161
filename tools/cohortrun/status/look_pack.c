/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a look at a locality as bytes, which travel from one host to another. */
#include "tools/cohortrun/status/look_pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

enum { VERSION = 7, NUM_ARRAYS = 11 };

/* In front: what has to be the same at both ends. */
struct head {
    uint32_t version;
    uint32_t look_bytes;
    uint32_t line_bytes[NUM_ARRAYS];
};

/* The arrays of a look: where they are, how many lines they have, and of how many bytes each. */
struct array {
    void **lines;
    const uint32_t *num;
    size_t bytes;
};

static void list_arrays(struct look *look, struct array ret_arrays[NUM_ARRAYS])
{
    const struct array arrays[NUM_ARRAYS] = {
        {(void **)&look->sites, &look->num_sites, sizeof(*look->sites)},
        {(void **)&look->groups, &look->num_groups, sizeof(*look->groups)},
        {(void **)&look->joins, &look->num_joins, sizeof(*look->joins)},
        {(void **)&look->waits, &look->num_waits, sizeof(*look->waits)},
        {(void **)&look->inputs, &look->num_inputs, sizeof(*look->inputs)},
        {(void **)&look->listed, &look->num_listed, sizeof(*look->listed)},
        {(void **)&look->pendings, &look->num_pendings, sizeof(*look->pendings)},
        {(void **)&look->serves, &look->num_serves, sizeof(*look->serves)},
        {(void **)&look->accounts, &look->num_accounts, sizeof(*look->accounts)},
        {(void **)&look->workers, &look->num_workers, sizeof(*look->workers)},
        {(void **)&look->modules, &look->num_modules, sizeof(*look->modules)},
    };
    memcpy(ret_arrays, arrays, sizeof(arrays));
}

static struct head make_head(const struct array arrays[NUM_ARRAYS])
{
    struct head head = {.version = VERSION, .look_bytes = sizeof(struct look)};
    for (int i = 0; i < NUM_ARRAYS; i++)
        head.line_bytes[i] = (uint32_t)arrays[i].bytes;
    return head;
}

cohort_status look_pack(unsigned char **ret_data, size_t *ret_bytes, const struct look *look)
{
    struct look copy = *look;
    struct array arrays[NUM_ARRAYS];
    list_arrays(&copy, arrays);
    const struct head head = make_head(arrays);
    size_t bytes = sizeof(head) + sizeof(copy);
    for (int i = 0; i < NUM_ARRAYS; i++)
        bytes += *arrays[i].num * arrays[i].bytes;
    unsigned char *data = malloc(bytes), *next = data;
    if (!data)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    memcpy(next, &head, sizeof(head));
    next += sizeof(head) + sizeof(copy);
    for (int i = 0; i < NUM_ARRAYS; i++) {
        const size_t lines = *arrays[i].num * arrays[i].bytes;
        if (lines > 0)
            memcpy(next, *arrays[i].lines, lines);
        next += lines;
        *arrays[i].lines = NULL; /* an address says nothing elsewhere */
    }
    memcpy(data + sizeof(head), &copy, sizeof(copy));
    *ret_data = data;
    *ret_bytes = bytes;
    return COHORT_OK;
}

static cohort_status read_arrays(const struct array arrays[NUM_ARRAYS], const unsigned char *data,
                                 size_t bytes)
{
    for (int i = 0; i < NUM_ARRAYS; i++) {
        const size_t lines = *arrays[i].num * arrays[i].bytes;
        if (lines > bytes)
            return cohort_fail(COHORT_ERR_PROTOCOL, "a look at a locality ends too early");
        if (lines == 0)
            continue;
        *arrays[i].lines = malloc(lines);
        if (!*arrays[i].lines)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
        memcpy(*arrays[i].lines, data, lines);
        data += lines;
        bytes -= lines;
    }
    return bytes == 0 ? COHORT_OK
                      : cohort_fail(COHORT_ERR_PROTOCOL, "a look at a locality is too long");
}

/* What readers rely on: texts have ends, and kinds and lengths their limits. */
static void limit(struct look *look)
{
    look->words[sizeof(look->words) - 1] = 0;
    for (uint32_t i = 0; i < look->num_groups; i++)
        look->groups[i].name[sizeof(look->groups[i].name) - 1] = 0;
    for (uint32_t i = 0; i < look->num_joins; i++) {
        look->joins[i].name[sizeof(look->joins[i].name) - 1] = 0;
        if ((unsigned)look->joins[i].kind > COHORT__JOIN_AGREEMENT)
            look->joins[i].kind = COHORT__JOIN_NAME;
    }
    for (uint32_t i = 0; i < look->num_pendings; i++) {
        look->pendings[i].name[sizeof(look->pendings[i].name) - 1] = 0;
        if ((unsigned)look->pendings[i].kind >= COHORT__WAIT_KINDS)
            look->pendings[i].kind = COHORT__WAIT_PLAIN;
    }
    for (uint32_t i = 0; i < look->num_accounts; i++)
        look->accounts[i].text[sizeof(look->accounts[i].text) - 1] = 0;
    for (uint32_t i = 0; i < look->num_waits; i++)
        if ((unsigned)look->waits[i].kind >= COHORT__WAIT_KINDS)
            look->waits[i].kind = COHORT__WAIT_PLAIN;
    for (uint32_t i = 0; i < look->num_listed; i++)
        if ((unsigned)look->listed[i].kind >= COHORT__WAIT_KINDS)
            look->listed[i].kind = COHORT__WAIT_PLAIN;
    for (uint32_t i = 0; i < look->num_inputs; i++) {
        struct look_inputs *inputs = &look->inputs[i];
        if (inputs->first > look->num_listed ||
            inputs->num_listed > look->num_listed - inputs->first)
            inputs->first = inputs->num_listed = 0;
    }
    for (uint32_t i = 0; i < look->num_workers; i++)
        look_check_worker(&look->workers[i]);
    for (uint32_t i = 0; i < look->num_modules; i++) {
        struct look_module *module = &look->modules[i];
        module->path[sizeof(module->path) - 1] = 0;
        if (module->build_id_bytes > sizeof(module->build_id))
            module->build_id_bytes = 0;
    }
}

cohort_status look_unpack(struct look **ret_look, const void *data, size_t bytes)
{
    struct array arrays[NUM_ARRAYS];
    const size_t front = sizeof(struct head) + sizeof(struct look);
    struct look *look = calloc(1, sizeof(*look));
    if (!look)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    list_arrays(look, arrays);
    const struct head head = make_head(arrays);
    if (bytes < front || memcmp(data, &head, sizeof(head)) != 0) {
        free(look);
        return cohort_fail(COHORT_ERR_PROTOCOL, "the daemon there is of another version");
    }
    memcpy(look, (const char *)data + sizeof(head), sizeof(*look));
    for (int i = 0; i < NUM_ARRAYS; i++)
        *arrays[i].lines = NULL;
    cohort_status status = read_arrays(arrays, (const unsigned char *)data + front, bytes - front);
    if (status) {
        look_destroy(look);
        return status;
    }
    limit(look);
    *ret_look = look;
    return COHORT_OK;
}
