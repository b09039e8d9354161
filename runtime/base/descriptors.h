/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_DESCRIPTORS_H
#define COHORT_RUNTIME_BASE_DESCRIPTORS_H

/* Opens those of descriptors 0, 1 and 2 that are closed, at /dev/null. So no other file gets one of
 * these numbers, and printed text can't go into such a file. Besides, libuv aborts the process if
 * it has to close one of these descriptors; now it never gets one. */
void cohort__descriptors_open_standard(void);

#endif
