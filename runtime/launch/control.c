/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/control.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/bounds.h"

static const char *const kind_names[COHORT__CONTROL_NUM_KINDS] = {
    [COHORT__CONTROL_WELCOME] = "WELCOME",
    [COHORT__CONTROL_ADDRESSES] = "ADDRESSES",
    [COHORT__CONTROL_COUNT] = "COUNT",
    [COHORT__CONTROL_EXIT] = "EXIT",
    [COHORT__CONTROL_DIED] = "DIED",
    [COHORT__CONTROL_HELLO] = "HELLO",
    [COHORT__CONTROL_FINISHED] = "FINISHED",
    [COHORT__CONTROL_COUNTS] = "COUNTS",
    [COHORT__CONTROL_FAILED] = "FAILED",
    [COHORT__CONTROL_BYE] = "BYE",
    [COHORT__CONTROL_ASK_RETURNED] = "ASK_RETURNED",
    [COHORT__CONTROL_RETURNED] = "RETURNED",
    [COHORT__CONTROL_ACCUSE] = "ACCUSE",
    [COHORT__CONTROL_LETTER] = "LETTER",
    [COHORT__CONTROL_ABORT] = "ABORT",
};

const char *cohort__control_kind_name(enum cohort__control_kind kind)
{
    return (unsigned)kind < COHORT__CONTROL_NUM_KINDS && kind_names[kind] ? kind_names[kind]
                                                                          : "unknown";
}

static void pack_welcome(struct cohort__packer *packer, const struct cohort__control *control)
{
    cohort__pack_field_unsigned(packer, "version", control->version);
    cohort__pack_field_unsigned(packer, "rank", control->rank);
    cohort__pack_field_unsigned(packer, "size", control->size);
    cohort__pack_field_unsigned(packer, "key", control->key);
    cohort__pack_field_unsigned(packer, "epoch", control->epoch);
    cohort__pack_field_unsigned(packer, "workers", control->workers);
    cohort__pack_field_unsigned(packer, "sharing", control->sharing);
    cohort__pack_field_unsigned(packer, "num_hosts", control->num_hosts);
    cohort__pack_field_unsigned(packer, "host", control->host);
    cohort__pack_field_unsigned(packer, "slot", control->slot);
    cohort__pack_field_bytes(packer, "host_address", control->host_address,
                             control->host_address_bytes);
    cohort__pack_field_bool(packer, "keeps_going", control->keeps_going);
}

static void pack_addresses(struct cohort__packer *packer, const struct cohort__control *control)
{
    cohort__pack_text(packer, "addresses");
    cohort__pack_array(packer, control->size);
    for (uint32_t i = 0; i < control->size; i++)
        cohort__pack_bytes(packer, control->addresses[i].data, control->addresses[i].bytes);
}

static void pack_hello(struct cohort__packer *packer, const struct cohort__control *control)
{
    cohort__pack_field_unsigned(packer, "version", control->version);
    cohort__pack_field_unsigned(packer, "pid", control->pid);
    cohort__pack_field_bytes(packer, "address", control->address.data, control->address.bytes);
}

static void pack_counts(struct cohort__packer *packer, const struct cohort__control *control)
{
    cohort__pack_field_unsigned(packer, "round", control->round);
    cohort__pack_field_unsigned(packer, "sent", control->sent);
    cohort__pack_field_unsigned(packer, "received", control->received);
    cohort__pack_field_bool(packer, "busy", control->busy);
}

static void pack_text(struct cohort__packer *packer, const struct cohort__control *control)
{
    char text[COHORT__CONTROL_MAX_TEXT];
    snprintf(text, sizeof(text), "%.*s", (int)control->text_bytes, control->text);
    cohort__pack_field_text(packer, "text", text);
}

static void pack_fields(struct cohort__packer *packer, const struct cohort__control *control)
{
    switch (control->kind) {
    case COHORT__CONTROL_WELCOME:
        pack_welcome(packer, control);
        break;
    case COHORT__CONTROL_ADDRESSES:
        pack_addresses(packer, control);
        break;
    case COHORT__CONTROL_COUNT:
        cohort__pack_field_unsigned(packer, "round", control->round);
        break;
    case COHORT__CONTROL_DIED:
        cohort__pack_field_unsigned(packer, "rank", control->rank);
        cohort__pack_field_unsigned(packer, "order", control->order);
        pack_text(packer, control);
        break;
    case COHORT__CONTROL_HELLO:
        pack_hello(packer, control);
        break;
    case COHORT__CONTROL_COUNTS:
        pack_counts(packer, control);
        break;
    case COHORT__CONTROL_FAILED:
    case COHORT__CONTROL_RETURNED:
        pack_text(packer, control);
        break;
    case COHORT__CONTROL_ACCUSE:
        cohort__pack_field_unsigned(packer, "rank", control->rank);
        cohort__pack_field_bool(packer, "at_fault", control->at_fault);
        pack_text(packer, control);
        break;
    case COHORT__CONTROL_ABORT:
        cohort__pack_field_unsigned(packer, "code", control->code);
        pack_text(packer, control);
        break;
    case COHORT__CONTROL_LETTER:
        cohort__pack_field_bytes(packer, "letter", control->letter.data, control->letter.bytes);
        break;
    default:
        break;
    }
}

void cohort__control_pack(struct cohort__packer *packer, const struct cohort__control *control)
{
    static const unsigned char num_fields[COHORT__CONTROL_NUM_KINDS] = {
        [COHORT__CONTROL_WELCOME] = 12, [COHORT__CONTROL_ADDRESSES] = 1,
        [COHORT__CONTROL_COUNT] = 1,    [COHORT__CONTROL_DIED] = 3,
        [COHORT__CONTROL_HELLO] = 3,    [COHORT__CONTROL_COUNTS] = 4,
        [COHORT__CONTROL_FAILED] = 1,   [COHORT__CONTROL_RETURNED] = 1,
        [COHORT__CONTROL_ACCUSE] = 3,   [COHORT__CONTROL_LETTER] = 1,
        [COHORT__CONTROL_ABORT] = 2,
    };
    cohort__pack_map(packer, 1u + num_fields[control->kind]);
    cohort__pack_field_unsigned(packer, "kind", control->kind);
    pack_fields(packer, control);
}

/* Reads the fields of one map. After the first failure, `status` keeps it. */
struct reader {
    struct cohort__unpacked *unpacked;
    const struct cohort__value *map;
    cohort_status status;
};

static uint64_t read_number(struct reader *reader, const char *key, uint64_t max)
{
    uint64_t value = 0;
    if (!reader->status)
        reader->status = cohort__get_unsigned(reader->unpacked, reader->map, key, max, &value);
    return value;
}

static uint32_t read_small(struct reader *reader, const char *key, uint32_t max)
{
    return (uint32_t)read_number(reader, key, max);
}

static void read_text(struct reader *reader, struct cohort__control *control)
{
    if (!reader->status)
        reader->status = cohort__get_text(reader->unpacked, reader->map, "text", &control->text,
                                          &control->text_bytes);
    if (!reader->status && control->text_bytes > COHORT__CONTROL_MAX_TEXT)
        control->text_bytes = COHORT__CONTROL_MAX_TEXT;
}

static void check_address(struct reader *reader, const struct cohort__control_address *address)
{
    if (!reader->status && address->bytes > COHORT__CONTROL_MAX_ADDRESS)
        reader->status = cohort_fail(COHORT_ERR_PROTOCOL,
                                     "control message: an address of %zu bytes, where %d are "
                                     "allowed",
                                     address->bytes, COHORT__CONTROL_MAX_ADDRESS);
}

static void read_addresses(struct reader *reader, struct cohort__control *control,
                           struct cohort__control_address **ret_addresses)
{
    const struct cohort__value *array;
    uint32_t count;
    if (!reader->status)
        reader->status =
            cohort__get_array(reader->unpacked, reader->map, "addresses", &array, &count);
    if (reader->status)
        return;
    if (count == 0 || count > COHORT__CONTROL_MAX_LOCALITIES) {
        reader->status =
            cohort_fail(COHORT_ERR_PROTOCOL, "control message: %u addresses", (unsigned)count);
        return;
    }
    struct cohort__control_address *addresses = calloc(count, sizeof(*addresses));
    if (!addresses) {
        reader->status = cohort_fail(COHORT_ERR_NO_MEMORY, "control message: out of memory");
        return;
    }
    for (uint32_t i = 0; i < count && !reader->status; i++) {
        reader->status = cohort__element_bytes(reader->unpacked, array, i, &addresses[i].data,
                                               &addresses[i].bytes);
        check_address(reader, &addresses[i]);
    }
    control->addresses = *ret_addresses = addresses;
    control->size = count;
}

/* The first locality of a host has the rank RANK - slot; the ranks of the others follow. */
static void read_place(struct reader *reader, struct cohort__control *control)
{
    const void *address = "";
    control->sharing = read_small(reader, "sharing", control->size);
    control->num_hosts = read_small(reader, "num_hosts", control->size);
    control->host = read_small(reader, "host", UINT32_MAX);
    control->slot = read_small(reader, "slot", UINT32_MAX);
    if (!reader->status)
        reader->status = cohort__get_bytes(reader->unpacked, reader->map, "host_address", &address,
                                           &control->host_address_bytes);
    control->host_address = address;
    uint64_t end = (uint64_t)control->rank - control->slot + control->sharing;
    if (!reader->status &&
        (control->host >= control->num_hosts || control->slot >= control->sharing ||
         control->slot > control->rank || end > control->size ||
         control->host_address_bytes >= COHORT__CONTROL_MAX_HOST_ADDRESS))
        reader->status = cohort_fail(
            COHORT_ERR_PROTOCOL,
            "control message: locality %u of %u in slot %u of %u on host %u of %u",
            (unsigned)control->rank, (unsigned)control->size, (unsigned)control->slot,
            (unsigned)control->sharing, (unsigned)control->host, (unsigned)control->num_hosts);
}

static void read_welcome(struct reader *reader, struct cohort__control *control)
{
    control->version = read_small(reader, "version", UINT32_MAX);
    control->size = read_small(reader, "size", COHORT__CONTROL_MAX_LOCALITIES);
    if (!reader->status && control->size == 0)
        reader->status = cohort_fail(COHORT_ERR_PROTOCOL, "control message: a job of size 0");
    control->rank = read_small(reader, "rank", control->size - 1);
    control->key = read_number(reader, "key", UINT64_MAX);
    control->epoch = read_small(reader, "epoch", UINT32_MAX);
    control->workers = read_small(reader, "workers", COHORT__MAX_WORKERS);
    read_place(reader, control);
    if (!reader->status)
        reader->status =
            cohort__get_bool(reader->unpacked, reader->map, "keeps_going", &control->keeps_going);
}

static void read_hello(struct reader *reader, struct cohort__control *control)
{
    control->version = read_small(reader, "version", UINT32_MAX);
    control->pid = read_number(reader, "pid", INT32_MAX);
    if (!reader->status)
        reader->status = cohort__get_bytes(reader->unpacked, reader->map, "address",
                                           &control->address.data, &control->address.bytes);
    check_address(reader, &control->address);
}

static void read_counts(struct reader *reader, struct cohort__control *control)
{
    control->round = read_number(reader, "round", UINT64_MAX);
    control->sent = read_number(reader, "sent", UINT64_MAX);
    control->received = read_number(reader, "received", UINT64_MAX);
    if (!reader->status)
        reader->status = cohort__get_bool(reader->unpacked, reader->map, "busy", &control->busy);
}

static void read_fields(struct reader *reader, struct cohort__control *control,
                        struct cohort__control_address **ret_addresses)
{
    control->kind = read_small(reader, "kind", COHORT__CONTROL_NUM_KINDS - 1);
    switch (control->kind) {
    case COHORT__CONTROL_WELCOME:
        read_welcome(reader, control);
        break;
    case COHORT__CONTROL_ADDRESSES:
        read_addresses(reader, control, ret_addresses);
        break;
    case COHORT__CONTROL_COUNT:
        control->round = read_number(reader, "round", UINT64_MAX);
        break;
    case COHORT__CONTROL_DIED:
        control->rank = read_small(reader, "rank", COHORT__CONTROL_MAX_LOCALITIES - 1);
        control->order = read_small(reader, "order", COHORT__CONTROL_MAX_LOCALITIES);
        read_text(reader, control);
        break;
    case COHORT__CONTROL_HELLO:
        read_hello(reader, control);
        break;
    case COHORT__CONTROL_COUNTS:
        read_counts(reader, control);
        break;
    case COHORT__CONTROL_FAILED:
    case COHORT__CONTROL_RETURNED:
        read_text(reader, control);
        break;
    case COHORT__CONTROL_ACCUSE:
        control->rank = read_small(reader, "rank", COHORT__CONTROL_MAX_LOCALITIES - 1);
        if (!reader->status)
            reader->status =
                cohort__get_bool(reader->unpacked, reader->map, "at_fault", &control->at_fault);
        read_text(reader, control);
        break;
    case COHORT__CONTROL_ABORT:
        control->code = read_small(reader, "code", 255);
        if (!reader->status && control->code == 0)
            reader->status = cohort_fail(COHORT_ERR_PROTOCOL, "control message: an abort with 0");
        read_text(reader, control);
        break;
    case COHORT__CONTROL_LETTER:
        if (!reader->status)
            reader->status = cohort__get_bytes(reader->unpacked, reader->map, "letter",
                                               &control->letter.data, &control->letter.bytes);
        break;
    case COHORT__CONTROL_EXIT:
    case COHORT__CONTROL_FINISHED:
    case COHORT__CONTROL_BYE:
    case COHORT__CONTROL_ASK_RETURNED:
        break;
    default:
        if (!reader->status)
            reader->status = cohort_fail(COHORT_ERR_PROTOCOL, "control message of kind %u",
                                         (unsigned)control->kind);
    }
}

cohort_status cohort__control_read(const void *message, size_t bytes, const char *from,
                                   cohort_status (*function)(void *context,
                                                             const struct cohort__control *control),
                                   void *context)
{
    char what[64];
    snprintf(what, sizeof(what), "control message of %s", from);
    struct reader reader = {0};
    struct cohort__control control = {0};
    struct cohort__control_address *addresses = NULL;
    cohort_status status = cohort__unpack(&reader.unpacked, message, bytes, what);
    if (status)
        return status;
    reader.map = cohort__unpacked_root(reader.unpacked);
    read_fields(&reader, &control, &addresses);
    status = reader.status ? reader.status : function(context, &control);
    free(addresses);
    cohort__unpacked_destroy(reader.unpacked);
    return status;
}
