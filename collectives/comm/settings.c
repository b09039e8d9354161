/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/proc/registry.h"

static const struct cohort__field fields[] = {
    COHORT__FIELD(struct cohort__comm_settings, check_asymmetric, 1),
    COHORT__FIELD(struct cohort__comm_settings, tuning, COHORT__SETTINGS_BYTES_MAX),
};
static const struct cohort__schema schema = COHORT__SCHEMA(struct cohort__comm_settings, fields, 0);

cohort_status cohort__comm_settings_read(struct cohort__comm_settings *ret_settings)
{
    const char *text = getenv("COHORT_CHECK_ASYMMETRIC");
    struct cohort__comm_settings settings = {0};
    if (text && strcmp(text, "1") == 0)
        settings.check_asymmetric = true;
    else if (text && text[0] && strcmp(text, "0") != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_CHECK_ASYMMETRIC is \"%.40s\", not 0 or 1",
                           text);
    *ret_settings = settings;
    return COHORT_OK;
}

void cohort__comm_settings_pack(const struct cohort__comm_settings *settings,
                                struct cohort__packer *packer)
{
    cohort__schema_pack(packer, &schema, settings);
}

cohort_status cohort__comm_settings_unpack(struct cohort__comm_settings *ret_settings,
                                           const void *data, size_t bytes, const char *name)
{
    struct cohort__comm_settings settings;
    char what[80];
    snprintf(what, sizeof(what), "settings of communicator \"%.40s\"", name);
    cohort_status status = cohort__schema_unpack(&schema, data, bytes, what, &settings);
    if (!status)
        *ret_settings = settings;
    return status;
}
