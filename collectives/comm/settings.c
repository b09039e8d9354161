/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cohort__comm_settings defaults = {.check_asymmetric = false};

cohort_status cohort__comm_settings_read(struct cohort__comm_settings *ret_settings)
{
    const char *text = getenv("COHORT_CHECK_ASYMMETRIC");
    struct cohort__comm_settings settings = defaults;
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
    cohort__pack_map(packer, 1 + (settings->tuning_bytes > 0 ? 1 : 0));
    cohort__pack_field_bool(packer, "check_asymmetric", settings->check_asymmetric);
    if (settings->tuning_bytes > 0)
        cohort__pack_field_bytes(packer, "tuning", settings->tuning, settings->tuning_bytes);
}

static cohort_status read_bool(const struct cohort__unpacked *unpacked, const char *key,
                               bool *value)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    bool has = false;
    cohort_status status = cohort__has_field(unpacked, map, key, &has);
    return status || !has ? status : cohort__get_bool(unpacked, map, key, value);
}

static cohort_status read_tuning(const struct cohort__unpacked *unpacked,
                                 struct cohort__comm_settings *settings)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    bool has = false;
    cohort_status status = cohort__has_field(unpacked, map, "tuning", &has);
    return status || !has ? status
                          : cohort__get_bytes(unpacked, map, "tuning", &settings->tuning,
                                              &settings->tuning_bytes);
}

cohort_status cohort__comm_settings_unpack(struct cohort__comm_settings *ret_settings,
                                           const void *data, size_t bytes, const char *name)
{
    struct cohort__comm_settings settings = defaults;
    struct cohort__unpacked *unpacked;
    char what[80];
    snprintf(what, sizeof(what), "settings of communicator \"%.40s\"", name);
    cohort_status status = cohort__unpack(&unpacked, data, bytes, what);
    if (status)
        return status;
    status = read_bool(unpacked, "check_asymmetric", &settings.check_asymmetric);
    if (!status)
        status = read_tuning(unpacked, &settings);
    cohort__unpacked_destroy(unpacked);
    if (!status)
        *ret_settings = settings;
    return status;
}
