/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the message that says what a daemon is to start. */
#include "tools/cohortrun/order.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/bounds.h"
#include "runtime/launch/control.h"
#include "tools/cohortrun/command.h"

static void pack_list(struct cohort__packer *packer, const char *key, char *const *list)
{
    uint32_t num = 0;
    while (list[num])
        num++;
    cohort__pack_text(packer, key);
    cohort__pack_array(packer, num);
    for (uint32_t i = 0; i < num; i++)
        cohort__pack_bytes(packer, list[i], strlen(list[i]));
}

void order_pack(struct cohort__packer *packer, const struct order *order)
{
    cohort__pack_map(packer, 10);
    cohort__pack_field_unsigned(packer, "size", order->size);
    cohort__pack_field_unsigned(packer, "first", order->first);
    cohort__pack_field_unsigned(packer, "num", order->num);
    cohort__pack_field_unsigned(packer, "bind", order->binding.mode);
    cohort__pack_field_unsigned(packer, "workers", order->binding.workers);
    cohort__pack_field_unsigned(packer, "report", order->binding.report);
    cohort__pack_field_bytes(packer, "directory", order->directory, strlen(order->directory));
    cohort__pack_field_bytes(packer, "levels", order->levels, strlen(order->levels));
    pack_list(packer, "program", order->program);
    pack_list(packer, "environment", order->environment);
}

/* For reading one map. Keeps the first failure. */
struct reader {
    struct cohort__unpacked *unpacked;
    const struct cohort__value *map;
    const struct cohort__value *lists[2]; /* program and environment */
    uint32_t counts[2];
    const void *directory, *levels;
    size_t directory_bytes, levels_bytes;
    cohort_status status;
};

static uint32_t read_number(struct reader *reader, const char *key, uint32_t max)
{
    uint64_t value = 0;
    if (!reader->status)
        reader->status = cohort__get_unsigned(reader->unpacked, reader->map, key, max, &value);
    return (uint32_t)value;
}

static void find_list(struct reader *reader, const char *key, int i)
{
    if (!reader->status)
        reader->status = cohort__get_array(reader->unpacked, reader->map, key, &reader->lists[i],
                                           &reader->counts[i]);
}

static void read_fields(struct reader *reader, struct order *order)
{
    order->size = read_number(reader, "size", COHORT__CONTROL_MAX_LOCALITIES);
    order->first = read_number(reader, "first", order->size);
    order->num = read_number(reader, "num", order->size - order->first);
    order->binding.mode = (enum binding_mode)read_number(reader, "bind", NUM_BINDING_MODES - 1);
    order->binding.workers = read_number(reader, "workers", COHORT__MAX_WORKERS);
    order->binding.report = read_number(reader, "report", 1);
    if (!reader->status)
        reader->status = cohort__get_bytes(reader->unpacked, reader->map, "directory",
                                           &reader->directory, &reader->directory_bytes);
    if (!reader->status)
        reader->status = cohort__get_bytes(reader->unpacked, reader->map, "levels", &reader->levels,
                                           &reader->levels_bytes);
    find_list(reader, "program", 0);
    find_list(reader, "environment", 1);
    if (!reader->status && (order->num == 0 || reader->counts[0] == 0))
        reader->status = cohort_fail(COHORT_ERR_PROTOCOL, "an order to start nothing");
}

static char *copy_text(char **next, const void *data, size_t bytes)
{
    char *text = *next;
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    *next += bytes + 1;
    return text;
}

static void copy_list(struct reader *reader, int i, char **list, char **next)
{
    for (uint32_t k = 0; k < reader->counts[i]; k++) {
        const void *data;
        size_t bytes;
        if (reader->status || (reader->status = cohort__element_bytes(
                                   reader->unpacked, reader->lists[i], k, &data, &bytes)))
            return;
        list[k] = copy_text(next, data, bytes);
    }
    list[reader->counts[i]] = NULL;
}

static void check_programs(struct reader *reader, const struct order *order)
{
    uint32_t later = 0;
    if (!reader->status && (command_check(order->program, &later) || later >= order->size))
        reader->status = cohort_fail(COHORT_ERR_PROTOCOL, "an order to start wrong programs");
}

/* The message is longer than all texts together, and each text gets a terminating zero. */
static struct order *copy(struct reader *reader, const struct order *fields, size_t message_bytes)
{
    size_t num = (size_t)reader->counts[0] + reader->counts[1] + 2;
    struct order *order = malloc(sizeof(*order) + num * sizeof(char *) + message_bytes + num);
    if (!order) {
        reader->status = cohort_fail(COHORT_ERR_NO_MEMORY, "order: out of memory");
        return NULL;
    }
    char **program = (char **)(order + 1);
    char **environment = program + reader->counts[0] + 1;
    char *next = (char *)(environment + reader->counts[1] + 1);
    *order = *fields;
    order->directory = copy_text(&next, reader->directory, reader->directory_bytes);
    order->levels = copy_text(&next, reader->levels, reader->levels_bytes);
    order->program = program;
    order->environment = environment;
    copy_list(reader, 0, program, &next);
    copy_list(reader, 1, environment, &next);
    check_programs(reader, order);
    return order;
}

cohort_status order_read(struct order **ret_order, const void *message, size_t bytes)
{
    struct reader reader = {0};
    struct order fields = {0};
    struct order *order = NULL;
    reader.status = cohort__unpack(&reader.unpacked, message, bytes, "the order");
    if (reader.status)
        return reader.status;
    reader.map = cohort__unpacked_root(reader.unpacked);
    read_fields(&reader, &fields);
    if (!reader.status)
        order = copy(&reader, &fields, bytes);
    cohort__unpacked_destroy(reader.unpacked);
    if (reader.status)
        free(order);
    else
        *ret_order = order;
    return reader.status;
}
