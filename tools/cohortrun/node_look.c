/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the daemon's looks at its localities, part by part. */
#include "tools/cohortrun/node_look.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/locality.h"
#include "tools/cohortrun/node_link.h"
#include "tools/cohortrun/status/look.h"
#include "tools/cohortrun/status/look_pack.h"

static cohort_status make(struct node_look *look, const struct locality *locality, int memory,
                          uint32_t slot)
{
    struct look *made = NULL;
    node_look_fini(look);
    look->rank = locality->rank;
    cohort_status status = memory < 0 ? cohort_fail(COHORT_ERR_STATE, "its daemon has no ledger")
                                      : look_read(&made, memory, slot, locality->guarded.pid);
    if (!status)
        status = look_pack(&look->data, &look->bytes, made);
    look_destroy(made);
    return status;
}

static void send(struct node_link *node_link, uint32_t rank, const unsigned char *question,
                 enum node_look_kind kind, const void *data, size_t bytes)
{
    unsigned char *answer = malloc(NODE_LOOK_ANSWER_HEAD_BYTES + bytes);
    if (!answer)
        return; /* who asks does not wait for ever */
    memcpy(answer, question, NODE_LOOK_QUESTION_BYTES);
    answer[NODE_LOOK_QUESTION_BYTES] = (unsigned char)kind;
    if (bytes > 0)
        memcpy(answer + NODE_LOOK_ANSWER_HEAD_BYTES, data, bytes);
    node_link_send(node_link, NODE_LINK_SEEN, rank, answer, NODE_LOOK_ANSWER_HEAD_BYTES + bytes);
    free(answer);
}

void node_look_answer(struct node_look *look, struct node_link *node_link,
                      const struct locality *locality, int memory, uint32_t slot,
                      const unsigned char question[NODE_LOOK_QUESTION_BYTES])
{
    const uint32_t part = bytes_get_u32(question + 4);
    const size_t begin = (size_t)part * NODE_LOOK_PART_BYTES;
    const char *why = "it is asked for a part that there is not";
    if (part == 0 && make(look, locality, memory, slot))
        why = cohort_error_message();
    if (!look->data || look->rank != locality->rank || begin > look->bytes) {
        send(node_link, locality->rank, question, NODE_LOOK_WRONG, why, strlen(why));
        return;
    }
    const size_t left = look->bytes - begin;
    const bool is_last = left <= NODE_LOOK_PART_BYTES;
    send(node_link, locality->rank, question, is_last ? NODE_LOOK_LAST : NODE_LOOK_MORE,
         look->data + begin, is_last ? left : NODE_LOOK_PART_BYTES);
    if (is_last)
        node_look_fini(look);
}

void node_look_fini(struct node_look *look)
{
    free(look->data);
    look->data = NULL;
}
