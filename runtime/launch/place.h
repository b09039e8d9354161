/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_PLACE_H
#define COHORT_RUNTIME_LAUNCH_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* Finds out where the processes of a job are, if only the processes themselves know it. */

enum { COHORT__PLACE_HOST_BYTES = 80 };

/* A text that is the same for processes that can share memory and sockets: those of one kernel and
 * one network namespace. */
cohort_status cohort__place_identify(char host[COHORT__PLACE_HOST_BYTES]);

struct cohort__place {
    uint32_t rank;
    uint32_t num_hosts;
    uint32_t host;
    uint32_t slot;    /* this locality's place among those of its host */
    uint32_t sharing; /* the number of localities on this host */
};

/* Assigns ranks to the processes 0 to SIZE-1. ME is the calling process, and HOSTS[i] is the
 * identity of the host of process i. Hosts are numbered in the order in which they first appear.
 * The ranks of each host are consecutive, as they are if the launcher has filled one host after the
 * other. RET_PROCESSES[rank] becomes the process that is locality RANK. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__place_find(const char *const *hosts, uint32_t size, uint32_t me,
                                 struct cohort__place *ret_place, uint32_t *ret_processes);

/* The local address, in digits, from which packets to the host NAME are sent. If there is no route
 * to that host, any address that is not the loopback interface's. COHORT_ERR_NETWORK if there is
 * none. */
cohort_status cohort__place_address(const char *name, char *ret_address, size_t capacity);

#endif
