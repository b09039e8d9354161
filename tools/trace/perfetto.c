/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: writes a trace as Perfetto reads it. */
#include "tools/trace/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"

enum { SEQUENCE = 1, CATEGORY_RECORD = 1, CATEGORY_VIEW = 2, FIRST_NOTE = 1000 };
enum { FLUSH_BYTES = 1 << 16 };

struct name {
    struct cohort__map_node node;
    uint64_t iid;
    bool is_note; /* of an annotation, not of an event */
    char text[];
};

static const char *const slot_names[COHORT__TRACE_KINDS][PERFETTO_SLOTS] = {
    [COHORT__TRACE_BEGIN] = {"thread", "in_place", "value", "task", "function"},
    [COHORT__TRACE_END] = {"thread", "status", "value", "task"},
    [COHORT__TRACE_SUSPEND] = {"thread", "small", "wait", "what", "caller"},
    [COHORT__TRACE_RESUME] = {"thread", "small", "wait"},
    [COHORT__TRACE_WAKE] = {"thread", "small", "wait"},
    [COHORT__TRACE_CALL] = {"thread", "collective", "endpoint", "generation", "row", "count",
                            "place"},
    [COHORT__TRACE_ENDED] = {"thread", "status", "endpoint", "generation", "collective"},
    [COHORT__TRACE_ENDPOINT] = {"thread", "small", "endpoint", "instance", "site"},
    [COHORT__TRACE_LEFT] = {"thread", "small", "endpoint"},
    [COHORT__TRACE_SENT] = {"thread", "kind", "peer", "number", "bytes", "generation"},
    [COHORT__TRACE_RECEIVED] = {"thread", "kind", "peer", "number", "bytes", "generation"},
    [COHORT__TRACE_ROW] = {"thread", "needs", "row", "collective"},
    [COHORT__TRACE_OFFSET] = {"thread", "known", "bound_ns", "ahead_ns"},
    [COHORT__TRACE_LEVEL] = {"thread", "level", "endpoint"},
    [COHORT__TRACE_STEP] = {"thread", "step", "endpoint", "generation", "peer_tag_level"},
    [COHORT__TRACE_OVER] = {"thread", "step", "endpoint", "generation", "peer_tag_level"},
    [COHORT__TRACE_LOCALITY] = {"thread", "closed", "pid", "lost", "localities", "host"},
};

static uint64_t annotation_iid(enum cohort__trace_kind kind, uint32_t slot)
{
    return (uint64_t)kind * PERFETTO_SLOTS + slot;
}

/* Packets ------------------------------------------------------------------------------------- */

static size_t begin_packet(struct perfetto *perfetto)
{
    size_t mark = proto_begin(&perfetto->proto, TRACE_PACKET);
    proto_varint(&perfetto->proto, PACKET_SEQUENCE, SEQUENCE);
    proto_varint(&perfetto->proto, PACKET_FLAGS,
                 FLAG_NEEDED | (perfetto->has_begun ? 0 : FLAG_CLEARED));
    perfetto->has_begun = true;
    return mark;
}

static void end_packet(struct perfetto *perfetto, size_t mark)
{
    proto_end(&perfetto->proto, mark);
    if (perfetto->proto.bytes >= FLUSH_BYTES)
        proto_flush(&perfetto->proto);
}

static void put_name(struct proto *proto, uint32_t field, uint64_t iid, const char *text)
{
    size_t mark = proto_begin(proto, field);
    proto_varint(proto, NAME_IID, iid);
    proto_text(proto, NAME_TEXT, text);
    proto_end(proto, mark);
}

/* What all events use. */
static void put_fixed_names(struct perfetto *perfetto)
{
    struct proto *proto = &perfetto->proto;
    size_t packet = begin_packet(perfetto);
    size_t mark = proto_begin(proto, PACKET_INTERNED);
    put_name(proto, INTERNED_CATEGORY, CATEGORY_RECORD, "cohort");
    put_name(proto, INTERNED_CATEGORY, CATEGORY_VIEW, "view");
    for (uint32_t kind = 1; kind < COHORT__TRACE_KINDS; kind++)
        for (uint32_t slot = 0; slot < PERFETTO_SLOTS; slot++) {
            const char *name = slot_names[kind][slot];
            put_name(proto, INTERNED_ANNOTATION, annotation_iid(kind, slot),
                     name        ? name
                     : slot == 0 ? "thread"
                                 : "unused");
        }
    proto_end(proto, mark);
    end_packet(perfetto, packet);
}

void perfetto_init(struct perfetto *perfetto, FILE *file)
{
    *perfetto = (struct perfetto){.proto.file = file};
    cohort__map_init(&perfetto->names);
    put_fixed_names(perfetto);
}

void perfetto_fini(struct perfetto *perfetto)
{
    struct cohort__map_node *node = cohort__map_first(&perfetto->names);
    while (node) {
        struct cohort__map_node *next = cohort__map_next(&perfetto->names, node);
        free(COHORT_CONTAINER_OF(node, struct name, node));
        node = next;
    }
    cohort__map_fini(&perfetto->names);
    proto_fini(&perfetto->proto);
}

struct name_key {
    const char *text;
    bool is_note;
};

static bool has_text(const struct cohort__map_node *node, const void *key)
{
    const struct name *name = COHORT_CONTAINER_OF(node, struct name, node);
    const struct name_key *wanted = key;
    return name->is_note == wanted->is_note && strcmp(name->text, wanted->text) == 0;
}

static uint64_t hash_of(const struct name_key *key)
{
    uint64_t hash = 0xcbf29ce484222325 + key->is_note;
    for (const char *at = key->text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
    return cohort__hash_u64(hash);
}

/* The number of a name, which is written when it comes first. 0: no memory. */
static uint64_t intern(struct perfetto *perfetto, const char *text, bool is_note)
{
    struct name_key key = {text, is_note};
    uint64_t hash = hash_of(&key);
    struct cohort__map_node *node = cohort__map_find(&perfetto->names, hash, has_text, &key);
    if (node)
        return COHORT_CONTAINER_OF(node, struct name, node)->iid;
    size_t bytes = strlen(text) + 1;
    struct name *name = malloc(sizeof(*name) + bytes);
    if (!name) {
        perfetto->proto.has_failed = true;
        return 0;
    }
    memcpy(name->text, text, bytes);
    name->is_note = is_note;
    name->iid = FIRST_NOTE + perfetto->num_names++;
    cohort__map_insert(&perfetto->names, &name->node, hash);
    size_t packet = begin_packet(perfetto);
    size_t mark = proto_begin(&perfetto->proto, PACKET_INTERNED);
    put_name(&perfetto->proto, is_note ? INTERNED_ANNOTATION : INTERNED_EVENT, name->iid, text);
    proto_end(&perfetto->proto, mark);
    end_packet(perfetto, packet);
    return name->iid;
}

/* Tracks -------------------------------------------------------------------------------------- */

void perfetto_process(struct perfetto *perfetto, uint64_t uuid, uint32_t pid, const char *name)
{
    struct proto *proto = &perfetto->proto;
    size_t packet = begin_packet(perfetto);
    size_t track = proto_begin(proto, PACKET_TRACK);
    proto_varint(proto, TRACK_UUID, uuid);
    size_t mark = proto_begin(proto, TRACK_PROCESS);
    proto_varint(proto, PROCESS_PID, pid);
    proto_text(proto, PROCESS_NAME, name);
    proto_end(proto, mark);
    proto_end(proto, track);
    end_packet(perfetto, packet);
}

void perfetto_thread(struct perfetto *perfetto, uint64_t uuid, uint64_t parent, uint32_t pid,
                     uint32_t tid, const char *name)
{
    struct proto *proto = &perfetto->proto;
    size_t packet = begin_packet(perfetto);
    size_t track = proto_begin(proto, PACKET_TRACK);
    proto_varint(proto, TRACK_UUID, uuid);
    proto_varint(proto, TRACK_PARENT, parent);
    size_t mark = proto_begin(proto, TRACK_THREAD);
    proto_varint(proto, THREAD_PID, pid);
    proto_varint(proto, THREAD_TID, tid);
    proto_text(proto, THREAD_NAME, name);
    proto_end(proto, mark);
    proto_end(proto, track);
    end_packet(perfetto, packet);
}

void perfetto_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent, const char *name)
{
    struct proto *proto = &perfetto->proto;
    size_t packet = begin_packet(perfetto);
    size_t track = proto_begin(proto, PACKET_TRACK);
    proto_varint(proto, TRACK_UUID, uuid);
    proto_varint(proto, TRACK_PARENT, parent);
    proto_text(proto, TRACK_NAME, name);
    proto_end(proto, track);
    end_packet(perfetto, packet);
}

/* Events -------------------------------------------------------------------------------------- */

static void put_number(struct proto *proto, uint64_t iid, uint64_t number)
{
    size_t mark = proto_begin(proto, EVENT_ANNOTATION);
    proto_varint(proto, ANNOTATION_NAME, iid);
    proto_varint(proto, ANNOTATION_UINT, number);
    proto_end(proto, mark);
}

static void put_record(struct proto *proto, const struct event *record)
{
    const uint64_t fields[PERFETTO_SLOTS] = {
        [PERFETTO_THREAD] = (uint64_t)record->rank << 32 | record->thread,
        [PERFETTO_SMALL] = record->small,
        [PERFETTO_VALUE] = record->value,
        [PERFETTO_A] = record->a,
        [PERFETTO_B] = record->b,
        [PERFETTO_C] = record->c,
        [PERFETTO_D] = record->d,
    };
    for (uint32_t slot = 0; slot < PERFETTO_SLOTS; slot++)
        if (slot == PERFETTO_THREAD || fields[slot] != 0)
            put_number(proto, annotation_iid(record->kind, slot), fields[slot]);
}

static void put_note(struct perfetto *perfetto, const struct perfetto_note *note, uint64_t iid)
{
    struct proto *proto = &perfetto->proto;
    if (!note->text) {
        put_number(proto, iid, note->number);
        return;
    }
    size_t mark = proto_begin(proto, EVENT_ANNOTATION);
    proto_varint(proto, ANNOTATION_NAME, iid);
    proto_text(proto, ANNOTATION_TEXT, note->text);
    proto_end(proto, mark);
}

void perfetto_event(struct perfetto *perfetto, const struct perfetto_event *event)
{
    enum { MOST_NOTES = 4 };
    struct proto *proto = &perfetto->proto;
    uint64_t name = event->name ? intern(perfetto, event->name, false) : 0;
    uint64_t notes[MOST_NOTES];
    for (uint32_t i = 0; i < event->num_notes && i < MOST_NOTES; i++)
        notes[i] = intern(perfetto, event->notes[i].name, true);
    size_t packet = begin_packet(perfetto);
    proto_varint(proto, PACKET_TIMESTAMP, event->at);
    size_t mark = proto_begin(proto, PACKET_EVENT);
    proto_varint(proto, EVENT_CATEGORY, event->record ? CATEGORY_RECORD : CATEGORY_VIEW);
    if (event->record)
        put_record(proto, event->record);
    for (uint32_t i = 0; i < event->num_notes && i < MOST_NOTES; i++)
        put_note(perfetto, &event->notes[i], notes[i]);
    proto_varint(proto, EVENT_TYPE, event->type);
    if (name)
        proto_varint(proto, EVENT_NAME, name);
    proto_varint(proto, EVENT_TRACK, event->track);
    if (event->flow)
        proto_fixed64(proto, EVENT_FLOW, event->flow);
    if (event->flow_end)
        proto_fixed64(proto, EVENT_FLOW_END, event->flow_end);
    proto_end(proto, mark);
    end_packet(perfetto, packet);
}

bool perfetto_flush(struct perfetto *perfetto)
{
    proto_flush(&perfetto->proto);
    return !perfetto->proto.has_failed;
}
