/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_MULTI_EMBED_MEMBER_H
#define COHORT_TESTS_MULTI_EMBED_MEMBER_H

#include <stdbool.h>

/* A program with an event loop that is not Cohort's. embed_member.c has the program, and a file for
 * each loop has this. */

extern const char *const embed_loop_name;

/* Watches FD, calls READABLE whenever it is readable, and TICK about every millisecond, until one
 * of them returns false. */
void embed_loop_run(int fd, bool (*readable)(void), bool (*tick)(void));

#endif
