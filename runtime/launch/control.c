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

enum {
    WELCOME = 1 << COHORT__CONTROL_WELCOME,
    ADDRESSES = 1 << COHORT__CONTROL_ADDRESSES,
    COUNT = 1 << COHORT__CONTROL_COUNT,
    DIED = 1 << COHORT__CONTROL_DIED,
    HELLO = 1 << COHORT__CONTROL_HELLO,
    COUNTS = 1 << COHORT__CONTROL_COUNTS,
    FAILED = 1 << COHORT__CONTROL_FAILED,
    RETURNED = 1 << COHORT__CONTROL_RETURNED,
    ACCUSE = 1 << COHORT__CONTROL_ACCUSE,
    LETTER = 1 << COHORT__CONTROL_LETTER,
    ABORT = 1 << COHORT__CONTROL_ABORT,
};

static const struct cohort__field address[] = {
    COHORT__ELEMENT(struct cohort__bytes, COHORT__CONTROL_MAX_ADDRESS)};
static const struct cohort__schema address_schema =
    COHORT__SCHEMA(struct cohort__bytes, address, 0);

#define FIELD(kinds, member, most) COHORT__FIELD_OF(kinds, struct cohort__control, member, most)
static const struct cohort__field fields[] = {
    FIELD(0, kind, COHORT__CONTROL_NUM_KINDS - 1),
    FIELD(WELCOME | HELLO, version, UINT32_MAX),
    FIELD(WELCOME | DIED | ACCUSE, rank, COHORT__CONTROL_MAX_LOCALITIES - 1),
    FIELD(WELCOME, size, COHORT__CONTROL_MAX_LOCALITIES),
    FIELD(WELCOME, key, UINT64_MAX),
    FIELD(WELCOME, epoch, UINT32_MAX),
    FIELD(WELCOME, workers, COHORT__MAX_WORKERS),
    FIELD(WELCOME, sharing, COHORT__CONTROL_MAX_LOCALITIES),
    FIELD(WELCOME, num_hosts, COHORT__CONTROL_MAX_LOCALITIES),
    FIELD(WELCOME, host, UINT32_MAX),
    FIELD(WELCOME, slot, UINT32_MAX),
    FIELD(WELCOME, host_address, COHORT__CONTROL_MAX_HOST_ADDRESS - 1),
    FIELD(WELCOME, keeps_going, 1),
    COHORT__LIST(ADDRESSES, struct cohort__control, addresses, size, COHORT__CONTROL_MAX_LOCALITIES,
                 &address_schema),
    FIELD(COUNT | COUNTS, round, UINT64_MAX),
    FIELD(COUNTS, sent, UINT64_MAX),
    FIELD(COUNTS, received, UINT64_MAX),
    FIELD(COUNTS, busy, 1),
    FIELD(DIED, order, COHORT__CONTROL_MAX_LOCALITIES),
    FIELD(HELLO, pid, INT32_MAX),
    FIELD(HELLO, address, COHORT__CONTROL_MAX_ADDRESS),
    FIELD(ACCUSE, at_fault, 1),
    FIELD(ABORT, code, 255),
    FIELD(LETTER, letter, COHORT__CONTROL_MAX_MESSAGE),
    FIELD(DIED | FAILED | RETURNED | ACCUSE | ABORT, text, COHORT__CONTROL_MAX_TEXT),
};
static const struct cohort__schema schema = COHORT__SCHEMA(struct cohort__control, fields, 0);

void cohort__control_pack(struct cohort__packer *packer, const struct cohort__control *control)
{
    cohort__schema_pack(packer, &schema, control);
}

/* The first locality of a host has the rank RANK - slot; the ranks of the others follow. */
static bool has_place(const struct cohort__control *control)
{
    const uint64_t end = (uint64_t)control->rank - control->slot + control->sharing;
    return control->rank < control->size && control->num_hosts <= control->size &&
           control->host < control->num_hosts && control->slot < control->sharing &&
           control->slot <= control->rank && end <= control->size;
}

static cohort_status check(const struct cohort__control *control, const char *what)
{
    if (!kind_names[control->kind])
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: kind %u", what, (unsigned)control->kind);
    if (control->kind == COHORT__CONTROL_WELCOME && !has_place(control))
        return cohort_fail(
            COHORT_ERR_PROTOCOL, "%s: locality %u of %u in slot %u of %u on host %u of %u", what,
            (unsigned)control->rank, (unsigned)control->size, (unsigned)control->slot,
            (unsigned)control->sharing, (unsigned)control->host, (unsigned)control->num_hosts);
    if (control->kind == COHORT__CONTROL_ADDRESSES && control->size == 0)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: 0 addresses", what);
    if (control->kind == COHORT__CONTROL_ABORT && control->code == 0)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: an abort with 0", what);
    return COHORT_OK;
}

cohort_status cohort__control_read(const void *message, size_t bytes, const char *from,
                                   cohort_status (*function)(void *context,
                                                             const struct cohort__control *control),
                                   void *context)
{
    char what[64];
    void *control = NULL;
    snprintf(what, sizeof(what), "control message of %s", from);
    cohort_status status = cohort__schema_unpack_block(&schema, message, bytes, what, &control);
    if (!status)
        status = check(control, what);
    if (!status)
        status = function(context, control);
    free(control);
    return status;
}
