/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: hosts that are namespaces of this machine, for as long as a function runs. */
#ifndef COHORT_TOOLS_BENCH_HOSTS_H
#define COHORT_TOOLS_BENCH_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#include "tools/share/programs.h"

/* Each host has a network stack of its own, which a bridge connects to the others as v-NAME, a
 * name, a session, shared memory, and a folder for temporary files. They share the machine's cores
 * and all other files. */

enum { HOSTS_MAX = 16, HOSTS_MAX_NAME = 12, HOSTS_MAX_LIST = 256 };

extern const char hosts_network[];  /* where all of them are */
extern const char hosts_launcher[]; /* the address there of who starts jobs */
extern const char hosts_bridge[];   /* the interface that has it */
extern const char hosts_agent[];    /* a program that is told a host and a command to run there */
extern const char hosts_folder[];   /* for TMPDIR: on each host, and outside, another one */

/* Makes hosts of these NAMES, "h0,h1" for instance, and runs FUNCTION in a process that can reach
 * them. Returns what it returns, or 1 after printing what went wrong. Then the hosts are gone, and
 * so are all processes that were started meanwhile and what they have left in /run and /dev/shm:
 * all of it belongs to namespaces that end with FUNCTION, or with this process, however it ends. */
int hosts_run(const char *names, int (*function)(void *context), void *context);

/* "h0,h1" for two hosts; "h0:4,h1:4" with SLOTS 4, as each launcher wants it. */
void hosts_list(uint32_t num, uint32_t slots, char ret_list[HOSTS_MAX_LIST]);

/* Adds what cohortrun needs to start SLOTS localities on each of NUM hosts. WORDS have to stay
 * valid. */
struct hosts_words {
    char places[HOSTS_MAX_LIST], agent[64];
};
void hosts_launch(struct programs_command *command, uint32_t num, uint32_t slots,
                  struct hosts_words *words);

#endif
