/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_DRAFT_H
#define COHORT_EXAMPLES_DRAFT_H

#include <stdio.h>

#include <cohort/status.h>

/* A file that is written out of sight. It takes its name in one step, when it is complete. Until
 * then the file with that name stays as it is. A draft that is not committed leaves nothing.
 *
 * If the file system supports it, the draft has no name at all, so even a killed process leaves
 * nothing behind. Else it is a hidden file, and only a killed process leaves it behind. */
struct draft {
    FILE *file;   /* write here */
    char *target; /* the name to take */
    char *name;   /* the name meanwhile; NULL: none */
};

/* Opens a draft for PATH, which is a regular file or does not exist yet. An existing file is
 * followed through symbolic links, and its permissions are kept. */
cohort_status draft_open(struct draft *ret_draft, const char *path) COHORT_MUST_USE;

/* Gives the draft its name, if all of it could be written. */
cohort_status draft_commit(struct draft *draft) COHORT_MUST_USE;

/* Removes the draft, unless it has been committed. */
void draft_fini(struct draft *draft);

#endif
