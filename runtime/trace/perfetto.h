/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TRACE_PERFETTO_H
#define COHORT_RUNTIME_TRACE_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/map.h"
#include "runtime/trace/event.h"
#include "runtime/trace/proto.h"

/* Writes a trace as Perfetto reads it: packets with tracks and what happens on them, all in one
 * sequence.
 *
 * What happens is either a record, whose fields are all there as annotations, so that our own
 * programs (tools/trace) need no other file; or it is only for the eye, and has the category
 * `view`. The numbers of names of annotations are fixed (annotation_iid), the others are given out
 * as names come. */

enum cohort__perfetto_type {
    COHORT__PERFETTO_BEGIN = 1,
    COHORT__PERFETTO_END,
    COHORT__PERFETTO_INSTANT,
};

/* The fields of a record, as annotations. */
enum cohort__perfetto_slot {
    COHORT__PERFETTO_THREAD, /* the locality times 2^32, plus the thread; always there */
    COHORT__PERFETTO_SMALL,  /* the others only if they are not 0 */
    COHORT__PERFETTO_VALUE,
    COHORT__PERFETTO_A,
    COHORT__PERFETTO_B,
    COHORT__PERFETTO_C,
    COHORT__PERFETTO_D,
    COHORT__PERFETTO_SLOTS = 8,
};

/* A further one, for the eye: a text or a number. */
struct cohort__perfetto_note {
    const char *name;
    const char *text; /* NULL: the number */
    uint64_t number;
};

struct cohort__perfetto_event {
    uint64_t track;
    uint64_t at;
    enum cohort__perfetto_type type;
    const char *name;                         /* NULL: none, as of an end */
    const struct cohort__trace_event *record; /* NULL: only for the eye */
    uint64_t flow, flow_end;                  /* 0: none */
    const struct cohort__perfetto_note *notes;
    uint32_t num_notes;
};

struct cohort__perfetto {
    struct cohort__proto proto;
    struct cohort__map names; /* of events, and of further annotations */
    uint64_t num_names;
    uint64_t num_tracks; /* lanes */
    bool has_begun;
};

void cohort__perfetto_init(struct cohort__perfetto *perfetto, FILE *file);
void cohort__perfetto_fini(struct cohort__perfetto *perfetto);

/* A track with UUID. A process, or a thread of it, or any other track below PARENT. */
void cohort__perfetto_process(struct cohort__perfetto *perfetto, uint64_t uuid, uint32_t pid,
                              const char *name);
void cohort__perfetto_thread(struct cohort__perfetto *perfetto, uint64_t uuid, uint64_t parent,
                             uint32_t pid, uint32_t tid, const char *name);
void cohort__perfetto_track(struct cohort__perfetto *perfetto, uint64_t uuid, uint64_t parent,
                            const char *name);

void cohort__perfetto_event(struct cohort__perfetto *perfetto,
                            const struct cohort__perfetto_event *event);

/* Writes what is left. False: something could not be written; see proto.error. */
bool cohort__perfetto_flush(struct cohort__perfetto *perfetto);

#endif
