/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_NOTICEBOARD_H
#define COHORT_COLLECTIVES_COMM_NOTICEBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/group.h"
#include "runtime/base/list.h"
#include "runtime/proc/boards.h"

/* The notes that the localities of this host leave each other for the calls of a group (the memory
 * is in runtime/net/notes.h). Notes are left, and read, in any order. A place is used for a later
 * generation when all for whom the earlier note was have passed that: they have read it, or will
 * never do so. In this locality several sites may be in calls of the same place, each in its own.
 * Any thread; everything is locked here. tests/model/notes.pml is a model of it. */
struct cohort__noticeboard;

/* A call of a site of this locality that leaves or reads notes. */
struct cohort__notice_call {
    uint64_t generation;
    uint64_t fingerprint;
    uint32_t site;
    uint32_t num_reads[COHORT__NOTES_OF_CALL]; /* how many notes of each number it reads, */
    uint32_t unread[COHORT__NOTES_OF_CALL];    /* and has yet to read */
    bool is_unposted[COHORT__NOTES_OF_CALL];
    struct cohort__list link; /* private */
};

/* What waits for a note of another locality, or for a place to leave one. */
struct cohort__notice {
    struct cohort__notice_call *call;
    /* By the thread that turns the event loop, without a lock: it need not wait any more. */
    void (*ready)(struct cohort__notice *notice);
    uint32_t number;
    uint32_t source;          /* a site; COHORT__NO_SITE: it waits for a place */
    bool is_waiting;          /* private */
    struct cohort__list link; /* private */
};

/* Whom a note is for. */
struct cohort__notice_readers {
    const uint32_t *sites; /* all that share the note: they leave it, or read it; in this host */
    uint32_t num;
    uint32_t
        reader; /* the only one that reads it; COHORT__NO_SITE: all but the one who leaves it */
};

/* That of GROUP, which has one (has_notes), made by the first call. NULL: it can't be made; the
 * error is set. */
struct cohort__noticeboard *cohort__noticeboard_get(struct cohort__group *group);
void cohort__noticeboard_destroy(struct cohort__noticeboard *board); /* NULL is fine */

/* CALL starts. From now on nothing that it has yet to read is passed, and no later call takes its
 * places. */
void cohort__noticeboard_begin(struct cohort__noticeboard *board, struct cohort__notice_call *call);

/* SITE, of this locality, begins a call without notes of its own, which may not come to what it has
 * left out before it. */
void cohort__noticeboard_come(struct cohort__noticeboard *board, uint64_t generation,
                              uint32_t site);

/* CALL has ended. What it has not read is passed. */
void cohort__noticeboard_end(struct cohort__noticeboard *board, struct cohort__notice_call *call);

/* Where to write BYTES (at most COHORT__NOTE_BYTES) for note NUMBER of CALL. Then it must be
 * published. NULL: there is no place yet. */
unsigned char *cohort__noticeboard_place(struct cohort__noticeboard *board,
                                         struct cohort__notice_call *call, uint32_t number,
                                         size_t bytes,
                                         const struct cohort__notice_readers *readers);
void cohort__noticeboard_publish(struct cohort__noticeboard *board,
                                 const struct cohort__notice_call *call, uint32_t number,
                                 const struct cohort__notice_readers *readers);

/* The next locality of this host, from *LOCALITY (at first 0) on, that has not passed what has to
 * be passed before CALL can leave its note NUMBER, as its lowest site: as soon as any of its sites
 * comes to CALL's generation, it is passed. An earlier call's note was for it, so it perhaps has no
 * part in this one's. COHORT__NO_SITE: there is none. */
uint32_t cohort__noticeboard_late(struct cohort__noticeboard *board,
                                  const struct cohort__notice_call *call, uint32_t number,
                                  uint32_t *locality);

/* Note NUMBER of SITE for CALL. NULL: it is not there yet. It stays until CALL has read it. */
const struct cohort__note *cohort__noticeboard_look(struct cohort__noticeboard *board,
                                                    const struct cohort__notice_call *call,
                                                    uint32_t number, uint32_t site);
/* CALL never reads its note NUMBER, which it has yet to read, if before it began another site of
 * this locality had come to a call a window later: returns that site, which has left out this one.
 * COHORT__NO_SITE: there is none. */
uint32_t cohort__noticeboard_left_out_by(struct cohort__noticeboard *board,
                                         const struct cohort__notice_call *call, uint32_t number);
/* Whether it is of the same call, as far as PHASE of it compares. If not, it may be overwritten at
 * any time. */
bool cohort__noticeboard_is_of(const struct cohort__notice_call *call,
                               const struct cohort__note *note, unsigned phase);
/* Its data, if so, and how many bytes; see cohort__notes_data. NULL: it makes no sense. */
const unsigned char *cohort__noticeboard_data(const struct cohort__noticeboard *board,
                                              uint32_t site, const struct cohort__note *note,
                                              uint32_t *ret_bytes);

/* CALL has read note NUMBER of SITE. */
void cohort__noticeboard_read(struct cohort__noticeboard *board, struct cohort__notice_call *call,
                              uint32_t number, uint32_t site);

/* NOTICE waits, until it is ready or gives up. */
void cohort__noticeboard_wait(struct cohort__noticeboard *board, struct cohort__notice *notice);

/* It waits no more. False: it is being told that it is ready. */
bool cohort__noticeboard_give_up(struct cohort__noticeboard *board, struct cohort__notice *notice);

#endif
