/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PLACE_H
#define COHORT_RUNTIME_PROC_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* Where the processes of a job are, when only they themselves know. */

enum { COHORT__PLACE_HOST_BYTES = 80 };

/* A text that is the same for processes that can share memory and sockets: those of one kernel and
 * one network namespace. */
cohort_status cohort__place_identify(char host[COHORT__PLACE_HOST_BYTES]);

struct cohort__place {
    uint32_t rank;
    uint32_t num_hosts;
    uint32_t host;
    uint32_t slot;    /* among those of the host */
    uint32_t sharing; /* how many those are */
};

/* Makes localities of the processes 0 .. SIZE-1, of which ME is one and HOSTS[i] is where i is
 (an identity): hosts in the order in which they come, and the ranks of
 * each host together, as they are where the launcher has filled one host after the other.
 * RET_PROCESSES[rank] becomes the process that is locality RANK. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__place_find(const char *const *hosts, uint32_t size, uint32_t me,
                                 struct cohort__place *ret_place, uint32_t *ret_processes);

/* The local address, in digits, from which the host called NAME is reached; where no network leads
 * there, some other than the loopback interface's. COHORT_ERR_NETWORK if there is none. */
cohort_status cohort__place_address(const char *name, char *ret_address, size_t capacity);

#endif
