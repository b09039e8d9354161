/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_SYSTEM_H
#define COHORT_TESTS_SUPPORT_SYSTEM_H

/* A folder with files that simulate those of the system: a root for runtime/base/cgroup.h. */
extern char system_root[64];

/* Makes it, with these files of /proc/self. */
void system_begin(const char *mountinfo, const char *cgroup);

/* Writes the file NAME ("/sys/..."), and makes the folders on the way to it. */
void system_play(const char *name, const char *text);

void system_end(void);

#endif
