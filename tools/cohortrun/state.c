/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the message that says what has become of a locality. */
#include "tools/cohortrun/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(member, most) COHORT__FIELD(struct state, member, most)
static const struct cohort__field fields[] = {
    FIELD(pid, 0),
    FIELD(status, 0),
    FIELD(end, GUARDED_LOST),
    FIELD(is_gone, 1),
    FIELD(control_ended, 1),
    FIELD(lost, 0),
    FIELD(oom, OOM_TEXT_BYTES - 1),
    FIELD(words, LOOK_WORDS_BYTES - 1),
};
const struct cohort__schema state_schema = COHORT__SCHEMA(struct state, fields, 0);

struct state state_of(const struct locality *locality)
{
    const struct guarded *guarded = &locality->guarded;
    return (struct state){.pid = guarded->pid,
                          .status = guarded->status,
                          .end = guarded->end,
                          .is_gone = guarded->is_gone,
                          .control_ended = locality->control_ended,
                          .lost = locality->member.lost,
                          .oom = guarded->oom,
                          .words = locality->words ? locality->words : ""};
}

bool state_read(struct locality *locality, const unsigned char *message, size_t bytes)
{
    struct guarded *guarded = &locality->guarded;
    void *block;
    if (cohort__schema_unpack_block(&state_schema, message, bytes, "a locality's state", &block))
        return false;
    const struct state *state = block;
    guarded->pid = state->pid;
    guarded->status = state->status;
    guarded->end = state->end;
    guarded->is_gone = state->is_gone;
    locality->control_ended = state->control_ended;
    locality->member.lost = state->lost;
    snprintf(guarded->oom, sizeof(guarded->oom), "%s", state->oom);
    if (!locality->words && state->words[0])
        locality->words = strdup(state->words);
    free(block);
    return true;
}
