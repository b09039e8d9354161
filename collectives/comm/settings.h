/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_SETTINGS_H
#define COHORT_COLLECTIVES_COMM_SETTINGS_H

#include <stdbool.h>

#include "runtime/wire/schema.h"

/* What a communicator has to do in the same way at all of its sites, though each locality has its
 * own environment. Every site joins with its settings, and all use those of site 0. A new field is
 * added here, and to the table of those that travel. */
struct cohort__comm_settings {
    bool check_asymmetric; /* an agreement in front of gather, gatherv, scatter and scatterv */
    /* What the choice of algorithms depends on, encoded by the layer that makes the choice. 0
     * bytes: that layer's defaults. It points into the memory that the settings were unpacked
     * from. */
    struct cohort__bytes tuning;
};

/* Reads the environment. COHORT_ERR_BAD_PARAMETER, naming variable and value. */
cohort_status cohort__comm_settings_read(struct cohort__comm_settings *ret_settings);

/* At most COHORT__SETTINGS_BYTES_MAX bytes (runtime/proc/registry.h). A failure is in PACKER. */
void cohort__comm_settings_pack(const struct cohort__comm_settings *settings,
                                struct cohort__packer *packer);

/* The settings may come from another locality. COHORT_ERR_PROTOCOL if they are none. NAME is the
 * communicator's. */
cohort_status cohort__comm_settings_unpack(struct cohort__comm_settings *ret_settings,
                                           const void *data, size_t bytes, const char *name);

#endif
