/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: whether the kernel has killed processes since there was no memory for them. */
#ifndef COHORT_TOOLS_COHORTRUN_OOM_H
#define COHORT_TOOLS_COHORTRUN_OOM_H

#include <stdbool.h>
#include <stdint.h>

/* How many processes of this process's control group the kernel has killed for want of memory, be
 * it that of the group or of the machine. 0 also if that can't be told. ROOT is as in
 * runtime/base/cgroup.h. */
int64_t oom_count(const char *root);

enum { OOM_TEXT_BYTES = 224 };

/* Whether it has killed more than BEFORE. Then RET_TEXT says so, with the group and its limit. */
bool oom_describe(const char *root, int64_t before, char ret_text[OOM_TEXT_BYTES]);

#endif
