/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the message that says what has become of a locality. */
#include "tools/cohortrun/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cohortrun/bytes.h"

enum { GUARDIAN_ENDED = 1, CONTROL_ENDED = 2, HAS_WORDS = 4 };

_Static_assert((int)OOM_TEXT_BYTES <= (int)LOOK_WORDS_BYTES, "both have room");

size_t state_write(const struct locality *locality, unsigned char ret_state[STATE_MAX_BYTES])
{
    const bool has_words = locality->words && !locality->guarded.oom[0];
    const char *text = has_words ? locality->words : locality->guarded.oom;
    const size_t text_bytes = strlen(text);
    bytes_put_u32(ret_state, (uint32_t)locality->guarded.pid);
    bytes_put_u32(ret_state + 4, (uint32_t)locality->guarded.status);
    ret_state[8] = (unsigned char)locality->guarded.end;
    ret_state[9] = (unsigned char)((locality->guarded.guardian_ended ? GUARDIAN_ENDED : 0) |
                                   (locality->control_ended ? CONTROL_ENDED : 0) |
                                   (has_words ? HAS_WORDS : 0));
    bytes_put_u32(ret_state + 10, (uint32_t)locality->member.lost);
    memcpy(ret_state + STATE_HEAD_BYTES, text, text_bytes);
    return STATE_HEAD_BYTES + text_bytes;
}

bool state_read(struct locality *locality, const unsigned char *state, size_t bytes)
{
    if (bytes < STATE_HEAD_BYTES || bytes > STATE_MAX_BYTES || state[8] > GUARDED_LOST ||
        (state[9] & ~(GUARDIAN_ENDED | CONTROL_ENDED | HAS_WORDS)))
        return false;
    locality->guarded.pid = (int)bytes_get_u32(state);
    locality->guarded.status = (int)bytes_get_u32(state + 4);
    locality->guarded.end = (enum guarded_end)state[8];
    locality->guarded.guardian_ended = state[9] & GUARDIAN_ENDED;
    locality->control_ended = state[9] & CONTROL_ENDED;
    locality->member.lost = (int)bytes_get_u32(state + 10);
    const char *text = (const char *)state + STATE_HEAD_BYTES;
    const size_t text_bytes = bytes - STATE_HEAD_BYTES;
    if (!(state[9] & HAS_WORDS))
        snprintf(locality->guarded.oom, sizeof(locality->guarded.oom), "%.*s", (int)text_bytes,
                 text);
    else if (!locality->words)
        locality->words = strndup(text, text_bytes);
    return true;
}
