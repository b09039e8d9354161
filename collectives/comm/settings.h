/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_SETTINGS_H
#define COHORT_COLLECTIVES_COMM_SETTINGS_H

#include <stdbool.h>

#include "runtime/proc/boards.h"
#include "runtime/wire/pack.h"

/* What a communicator does in one way at all of its sites although each locality has its own
 * environment: every site joins with its settings, and all use those of site 0. A new field is
 * added here, to defaults where 0 is none, to pack and to unpack. */
struct cohort__comm_settings {
    bool check_asymmetric; /* agreement in front of gather, gatherv, scatter and scatterv */
    struct cohort__board_name board; /* of the group, if all of its localities share that memory */
    /* What algorithms are chosen by, encoded by the layer that does it; 0 bytes: that layer's
     * defaults. It points into what the settings were unpacked from. */
    const void *tuning;
    size_t tuning_bytes;
};

/* As the environment says. COHORT_ERR_BAD_PARAMETER, naming variable and value. */
cohort_status cohort__comm_settings_read(struct cohort__comm_settings *ret_settings);

/* At most COHORT__SETTINGS_BYTES_MAX bytes (runtime/proc/registry.h). Failure is PACKER's. */
void cohort__comm_settings_pack(const struct cohort__comm_settings *settings,
                                struct cohort__packer *packer);

/* From other localities, perhaps of another version: fields that are not known are left out of
 * account, missing ones have their defaults. COHORT_ERR_PROTOCOL for anything else. NAME is that of
 * the communicator. */
cohort_status cohort__comm_settings_unpack(struct cohort__comm_settings *ret_settings,
                                           const void *data, size_t bytes, const char *name);

#endif
