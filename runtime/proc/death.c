/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/death.h"

#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/proc/process.h"
#include "runtime/proc/send.h"

void cohort__death_set_why(struct cohort__death *death, const char *why, size_t bytes)
{
    cohort__text_shorten(death->why, sizeof(death->why), why, bytes);
}

void cohort__death_pack(struct cohort__packer *packer, const struct cohort__death *death)
{
    cohort__pack_map(packer, 3);
    cohort__pack_field_unsigned(packer, "rank", death->rank);
    cohort__pack_field_unsigned(packer, "order", death->order);
    cohort__pack_field_text(packer, "why", death->why);
}

/* Decodes a death. COHORT_ERR_PROTOCOL where it makes no sense, COHORT_ERR_NO_MEMORY. */
static cohort_status read_death(const void *data, size_t bytes, struct cohort__death *ret_death)
{
    struct cohort__unpacked *unpacked;
    cohort_status status = cohort__unpack(&unpacked, data, bytes, "a death that a peer tells");
    if (status)
        return status;
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t rank = 0, order = 0;
    const char *why = NULL;
    size_t why_bytes = 0;
    status = cohort__get_unsigned(unpacked, map, "rank", UINT32_MAX, &rank);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "order", UINT32_MAX, &order);
    if (!status)
        status = cohort__get_text(unpacked, map, "why", &why, &why_bytes);
    if (!status) {
        ret_death->rank = (uint32_t)rank;
        ret_death->order = (uint32_t)order;
        cohort__death_set_why(ret_death, why, why_bytes);
    }
    cohort__unpacked_destroy(unpacked);
    return status;
}

void cohort__death_send(struct cohort__process *process, uint32_t rank,
                        const struct cohort__envelope *envelope)
{
    struct cohort__packer packer = {0};
    struct cohort__death death;
    if (cohort__process_first_death(process, &death))
        cohort__death_pack(&packer, &death);
    /* If there is no memory for the death, only the launcher will report it. */
    cohort__send_control(process, rank, envelope, packer.data, packer.status ? 0 : packer.bytes);
    cohort__packer_fini(&packer);
}

bool cohort__death_receive(struct cohort__process *process, const void *data, size_t bytes)
{
    struct cohort__death death;
    if (bytes == 0)
        return false;
    if (read_death(data, bytes, &death)) {
        cohort__log(COHORT__LOG_ERROR, "locality %u: %s", cohort__process_rank(process),
                    cohort_error_message());
        return false;
    }
    return !cohort__process_death_heard(process, &death);
}
