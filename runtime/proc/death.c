/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/death.h"

#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/proc/process.h"
#include "runtime/proc/send.h"
#include "runtime/wire/schema.h"

void cohort__death_set_why(struct cohort__death *death, const char *why, size_t bytes)
{
    cohort__text_shorten(death->why, sizeof(death->why), why, bytes);
}

static const struct cohort__field fields[] = {
    COHORT__FIELD(struct cohort__death, rank, UINT32_MAX),
    COHORT__FIELD(struct cohort__death, order, UINT32_MAX),
    COHORT__CHARS(struct cohort__death, why),
};
static const struct cohort__schema schema = COHORT__SCHEMA(struct cohort__death, fields, 0);

void cohort__death_pack(struct cohort__packer *packer, const struct cohort__death *death)
{
    cohort__schema_pack(packer, &schema, death);
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
    if (cohort__schema_unpack(&schema, data, bytes, "a death that a peer tells", &death)) {
        cohort__log(COHORT__LOG_ERROR, "locality %u: %s", cohort__process_rank(process),
                    cohort_error_message());
        return false;
    }
    return !cohort__process_death_heard(process, &death);
}
