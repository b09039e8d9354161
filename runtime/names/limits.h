/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NAMES_LIMITS_H
#define COHORT_RUNTIME_NAMES_LIMITS_H

/* What the home of a name and those who join under it have to agree on. */
enum {
    COHORT__NAME_BYTES_MAX = 255,
    COHORT__SETTINGS_BYTES_MAX = 9216,
    /* How many communicators may have notes (runtime/net/notes.h) at the same time. */
    COHORT__NUM_NOTICEBOARDS = 16384,
    /* In place of a locality's rank: cohortrun, which is the home of names if the job goes on
     * without the dead. Above all ranks. */
    COHORT__HOME_LAUNCHER = 4096,
};

#endif
