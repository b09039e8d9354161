/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a look at a locality as bytes, which travel from one host to another. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_LOOK_PACK_H
#define COHORT_TOOLS_COHORTRUN_STATUS_LOOK_PACK_H

#include <stddef.h>

#include "cohort/status.h"
#include "tools/cohortrun/status/look.h"

/* Between processes of the same cohortrun only, on machines of one kind, as the programs of one job
 * are: the lines are copied as they are. */

/* The caller frees RET_DATA. COHORT_ERR_NO_MEMORY. */
cohort_status look_pack(unsigned char **ret_data, size_t *ret_bytes, const struct look *look);

/* COHORT_ERR_PROTOCOL: it makes no sense, or is of another version; COHORT_ERR_NO_MEMORY. */
cohort_status look_unpack(struct look **ret_look, const void *data, size_t bytes);

#endif
