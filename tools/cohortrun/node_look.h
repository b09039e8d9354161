/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the daemon's looks at its localities, part by part. */
#ifndef COHORT_TOOLS_COHORTRUN_NODE_LOOK_H
#define COHORT_TOOLS_COHORTRUN_NODE_LOOK_H

#include <stddef.h>
#include <stdint.h>

struct locality;
struct node_link;

/* cohortrun asks for one part after the other, NODE_LINK_LOOK and NODE_LINK_SEEN. So only one is
 * under way, and what else the connection carries does not wait behind it for long. All zero: no
 * look has been made. */
struct node_look {
    unsigned char *data; /* of the locality that was asked for last, packed; NULL: none */
    size_t bytes;
    uint32_t rank;
};

enum {
    NODE_LOOK_PART_BYTES = 1 << 20,
    NODE_LOOK_QUESTION_BYTES = 8,    /* u32: the number of the question's series; u32: the part */
    NODE_LOOK_ANSWER_HEAD_BYTES = 9, /* the same, and u8: an enum node_look_kind */
};

enum node_look_kind {
    NODE_LOOK_MORE,  /* bytes of a look, see look_pack.h, and more follow */
    NODE_LOOK_LAST,  /* the last of them */
    NODE_LOOK_WRONG, /* a text: why there is none */
    NODE_LOOK_NUM_KINDS
};

/* Sends the part that QUESTION asks for, of LOCALITY, whose ledger is region SLOT of MEMORY. Part 0
 * makes a new look. */
void node_look_answer(struct node_look *look, struct node_link *node_link,
                      const struct locality *locality, int memory, uint32_t slot,
                      const unsigned char question[NODE_LOOK_QUESTION_BYTES]);

void node_look_fini(struct node_look *look);

#endif
