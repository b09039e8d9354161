/* SPDX-License-Identifier: Apache-2.0 */
/* tools: the hosts that the user names, and how many localities each gets. */
#ifndef COHORT_TOOLS_SHARE_HOST_LIST_H
#define COHORT_TOOLS_SHARE_HOST_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"

enum { HOST_LIST_MAX_SLOTS = 4096 }; /* of all hosts together */

/* The hosts of a job, as the user names them, in the order in which they are filled. */
struct host_list {
    struct host_name {
        char *name;
        char *levels; /* as COHORT_LEVELS has them; NULL: none are said */
        uint32_t slots;
        uint32_t first; /* its first locality; set by host_list_fill */
        uint32_t num;   /* of localities, whose ranks follow each other; set by host_list_fill */
        bool is_far;    /* reached by an agent; set by cohortrun */
    } * list;
    uint32_t num;
};

/* Reads "a:2,b,::1,[::1]:2": names or addresses, and how many localities fit there (1 if not said).
 * A host that is named again gets more. */
cohort_status host_list_parse(struct host_list *hosts, const char *text);

/* Reads a file with a host in each line: a name, or "a:2" as above, and behind it "slots=2" and
 * "levels=switch=s1,rack=r7" in any order, or one of these, or none. # begins a comment. Either all
 * hosts have the same levels, or none has any. */
cohort_status host_list_read(struct host_list *hosts, const char *path);

/* Puts SIZE localities on the hosts: first as many on the first host as fit there, and so on. Hosts
 * that get none are dropped. SIZE 0 fills all slots. */
cohort_status host_list_fill(struct host_list *hosts, uint32_t size, uint32_t *ret_size);

void host_list_fini(struct host_list *hosts);

#endif
