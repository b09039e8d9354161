/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/remote/message.h"

#include <limits.h>

#include "runtime/wire/pack.h"

static bool has_payload(const struct cohort__envelope *envelope)
{
    return envelope->kind == COHORT__KIND_DATA || envelope->kind == COHORT__KIND_ANNOUNCE;
}

static bool is_right_kind(const struct cohort__envelope *envelope)
{
    switch (envelope->tag) {
    case COHORT__REMOTE_CALL:
    case COHORT__REMOTE_SCOPED_CALL:
        return has_payload(envelope);
    case COHORT__REMOTE_RESULT:
        return has_payload(envelope) || envelope->kind == COHORT__KIND_ERROR;
    case COHORT__REMOTE_ADMITTED:
    case COHORT__REMOTE_CANCEL:
    case COHORT__REMOTE_UNKNOWN:
        return envelope->kind == COHORT__KIND_ANSWER && envelope->payload_bytes == 0;
    default:
        return false;
    }
}

cohort_status cohort__remote_message_check(const struct cohort__envelope *envelope, uint32_t size)
{
    if (!is_right_kind(envelope))
        return cohort_fail(COHORT_ERR_PROTOCOL, "a message %u of remote tasks of kind %s",
                           envelope->tag, cohort__kind_name(envelope->kind));
    if (cohort__remote_is_call(envelope) &&
        (envelope->dest_site == 0 || envelope->dest_site >= size))
        return cohort_fail(COHORT_ERR_PROTOCOL, "a remote task for %u other localities of %u",
                           envelope->dest_site, size);
    return COHORT_OK;
}

void cohort__remote_error_pack(struct cohort__packer *packer, const struct cohort__error *error)
{
    cohort__pack_map(packer, 2);
    cohort__pack_field_signed(packer, "status", error->status);
    cohort__pack_field_text(packer, "text", cohort__error_message(error));
}

static cohort_status unpack(const struct cohort__unpacked *unpacked, struct cohort__error *error)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    int64_t number = 0;
    const char *text = NULL;
    size_t bytes = 0;
    cohort_status status = cohort__get_signed(unpacked, map, "status", &number);
    if (!status)
        status = cohort__get_text(unpacked, map, "text", &text, &bytes);
    if (!status && (number == COHORT_OK || number < INT_MIN || number > INT_MAX))
        status = cohort_fail(COHORT_ERR_PROTOCOL, "an error with status %lld", (long long)number);
    if (!status)
        cohort__error_set(error, (cohort_status)number, "%.*s", bytes > INT_MAX ? 0 : (int)bytes,
                          text);
    return status;
}

void cohort__remote_error_unpack(const void *data, size_t bytes, struct cohort__error *error)
{
    struct cohort__unpacked *unpacked = NULL;
    cohort_status status = cohort__unpack(&unpacked, data, bytes, "the error of a remote task");
    if (!status)
        status = unpack(unpacked, error);
    cohort__unpacked_destroy(unpacked);
    if (status)
        cohort__error_set(error, status, "%s", cohort_error_message());
}
