/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: writes a trace as Perfetto reads it. */
#ifndef COHORT_TOOLS_TRACE_PERFETTO_H
#define COHORT_TOOLS_TRACE_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/map.h"
#include "tools/trace/event.h"
#include "tools/trace/proto.h"

/* Writes a trace as Perfetto reads it: packets with tracks and what happens on them, all in one
 * sequence.
 *
 * What happens is either a record, whose fields are all there as annotations, so that our own
 * programs (tools/trace) need no other file; or it is only for the eye, and has the category
 * `view`. The numbers of names of annotations are fixed (annotation_iid), the others are given out
 * as names come. */

/* Numbers of fields, from perfetto's protos/perfetto/trace. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    ANNOTATION_NAME = 1,
    ANNOTATION_UINT = 3,
    ANNOTATION_TEXT = 6,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    INTERNED_CATEGORY = 1,
    INTERNED_EVENT = 2,
    INTERNED_ANNOTATION = 3,
    NAME_IID = 1,
    NAME_TEXT = 2,
    FLAG_CLEARED = 1,
    FLAG_NEEDED = 2,
};

enum perfetto_type {
    PERFETTO_BEGIN = 1,
    PERFETTO_END,
    PERFETTO_INSTANT,
};

/* The fields of a record, as annotations. */
enum perfetto_slot {
    PERFETTO_THREAD, /* the locality times 2^32, plus the thread; always there */
    PERFETTO_SMALL,  /* the others only if they are not 0 */
    PERFETTO_VALUE,
    PERFETTO_A,
    PERFETTO_B,
    PERFETTO_C,
    PERFETTO_D,
    PERFETTO_SLOTS = 8,
};

/* A further one, for the eye: a text or a number. */
struct perfetto_note {
    const char *name;
    const char *text; /* NULL: the number */
    uint64_t number;
};

struct perfetto_event {
    uint64_t track;
    uint64_t at;
    enum perfetto_type type;
    const char *name;           /* NULL: none, as of an end */
    const struct event *record; /* NULL: only for the eye */
    uint64_t flow, flow_end;    /* 0: none */
    const struct perfetto_note *notes;
    uint32_t num_notes;
};

struct perfetto {
    struct proto proto;
    struct cohort__map names; /* of events, and of further annotations */
    uint64_t num_names;
    uint64_t num_tracks; /* lanes */
    bool has_begun;
};

void perfetto_init(struct perfetto *perfetto, FILE *file);
void perfetto_fini(struct perfetto *perfetto);

/* A track with UUID. A process, or a thread of it, or any other track below PARENT. */
void perfetto_process(struct perfetto *perfetto, uint64_t uuid, uint32_t pid, const char *name);
void perfetto_thread(struct perfetto *perfetto, uint64_t uuid, uint64_t parent, uint32_t pid,
                     uint32_t tid, const char *name);
void perfetto_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent, const char *name);

void perfetto_event(struct perfetto *perfetto, const struct perfetto_event *event);

/* Writes what is left. False: something could not be written; see proto.error. */
bool perfetto_flush(struct perfetto *perfetto);

#endif
