/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: a trace, read into memory. */
#include "tools/trace/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "tools/trace/list.h"
#include "tools/trace/perfetto.h"

enum { ROOM = 1 << 16, MOST_IID = 1 << 28 };

/* All that was read, with texts that end with 0. */
struct memory {
    unsigned char *file;
    const char **names; /* by iid */
    size_t num_names;
    struct text {
        struct text *next;
        char bytes[];
    } * texts;
};

/* A copy of DATA that ends with 0. NULL: no memory. */
static const char *keep(struct memory *memory, const struct wire *data)
{
    size_t bytes = (size_t)(data->end - data->at);
    struct text *text = malloc(sizeof(*text) + bytes + 1);
    if (!text)
        return NULL;
    memcpy(text->bytes, data->at, bytes);
    text->bytes[bytes] = '\0';
    text->next = memory->texts;
    memory->texts = text;
    return text->bytes;
}

static cohort_status add_name(struct memory *memory, struct wire name)
{
    struct wire_field field;
    uint64_t iid = 0;
    struct wire text = {0};
    while (wire_next(&name, &field))
        if (field.number == NAME_IID)
            iid = field.value;
        else if (field.number == NAME_TEXT)
            text = field.data;
    if (name.is_damaged || iid >= MOST_IID || !text.at)
        return COHORT_ERR_PROTOCOL;
    if (iid >= memory->num_names) {
        size_t num = 2 * (iid + 1);
        const char **names = realloc(memory->names, num * sizeof(*names));
        if (!names)
            return COHORT_ERR_NO_MEMORY;
        memset(names + memory->num_names, 0, (num - memory->num_names) * sizeof(*names));
        memory->names = names;
        memory->num_names = num;
    }
    memory->names[iid] = keep(memory, &text);
    return memory->names[iid] ? COHORT_OK : COHORT_ERR_NO_MEMORY;
}

static cohort_status add_names(struct memory *memory, struct wire interned)
{
    struct wire_field field;
    cohort_status status = COHORT_OK;
    while (!status && wire_next(&interned, &field))
        if (field.number == INTERNED_EVENT)
            status = add_name(memory, field.data);
    return interned.is_damaged ? COHORT_ERR_PROTOCOL : status;
}

/* A field of the record; or what the record waits for, the only note with a text that we need. */
static void take_annotation(struct event *event, struct wire annotation, struct wire *ret_from)
{
    struct wire_field field;
    uint64_t *const fields[PERFETTO_SLOTS] = {[PERFETTO_VALUE] = &event->value,
                                              [PERFETTO_A] = &event->a,
                                              [PERFETTO_B] = &event->b,
                                              [PERFETTO_C] = &event->c,
                                              [PERFETTO_D] = &event->d};
    uint64_t iid = 0, number = 0;
    struct wire text = {0};
    while (wire_next(&annotation, &field))
        if (field.number == ANNOTATION_NAME)
            iid = field.value;
        else if (field.number == ANNOTATION_UINT)
            number = field.value;
        else if (field.number == ANNOTATION_TEXT)
            text = field.data;
    if (text.at)
        *ret_from = text;
    if (iid / PERFETTO_SLOTS == 0 || iid / PERFETTO_SLOTS >= COHORT__TRACE_KINDS)
        return;
    event->kind = (enum cohort__trace_kind)(iid / PERFETTO_SLOTS);
    const enum perfetto_slot slot = (enum perfetto_slot)(iid % PERFETTO_SLOTS);
    if (slot == PERFETTO_THREAD) {
        event->rank = (uint32_t)(number >> 32);
        event->thread = (uint32_t)number;
    } else if (slot == PERFETTO_SMALL) {
        event->small = (uint8_t)number;
    } else if (fields[slot]) {
        *fields[slot] = number;
    }
}

/* What is only for the eye has no field of a record: its kind stays 0. */
static cohort_status read_event(struct memory *memory, struct wire wire, struct event *event)
{
    struct wire_field field;
    struct wire from = {0};
    event->text = event->from = "";
    while (wire_next(&wire, &field))
        if (field.number == EVENT_ANNOTATION)
            take_annotation(event, field.data, &from);
        else if (field.number == EVENT_NAME && field.value < memory->num_names &&
                 memory->names[field.value])
            event->text = memory->names[field.value];
    if (wire.is_damaged)
        return COHORT_ERR_PROTOCOL;
    if (event->kind == COHORT__TRACE_CALL && from.at)
        event->from = keep(memory, &from);
    return event->from ? COHORT_OK : COHORT_ERR_NO_MEMORY;
}

static cohort_status add_locality(struct trace *trace, const struct event *event)
{
    if (trace->num_localities > 0 &&
        event->rank <= trace->localities[trace->num_localities - 1].rank)
        return COHORT_ERR_PROTOCOL;
    if (!list_grow(&trace->localities, trace->num_localities, sizeof(*trace->localities)))
        return COHORT_ERR_NO_MEMORY;
    trace->size = (uint32_t)event->b;
    trace->localities[trace->num_localities++] = (struct locality){
        .rank = event->rank,
        .host = (uint32_t)event->c,
        .is_closed = event->small == 1,
        .lost = event->a,
        .name = event->text,
    };
    return COHORT_OK;
}

/* Of the locality that came last. */
static cohort_status add_clock(struct trace *trace, const struct event *event)
{
    struct locality *locality =
        trace->num_localities > 0 ? &trace->localities[trace->num_localities - 1] : NULL;
    if (!locality || locality->rank != event->rank || event->small > COHORT__TRACE_CLOCK_SAME)
        return COHORT_ERR_PROTOCOL;
    locality->known = (enum cohort__trace_clock_known)event->small;
    locality->ahead = (int64_t)event->a;
    locality->bound = event->value;
    return COHORT_OK;
}

static cohort_status add_event(struct trace *trace, const struct event *event)
{
    if (event->kind == COHORT__TRACE_NONE)
        return COHORT_OK;
    if (event->kind == COHORT__TRACE_LOCALITY)
        return add_locality(trace, event);
    if (event->kind == COHORT__TRACE_OFFSET)
        return add_clock(trace, event);
    if (event->kind == COHORT__TRACE_ROW) {
        trace->needs[event->a & 0xff] = event->small;
        return COHORT_OK;
    }
    if (trace->num > 0 && event->at < trace->events[trace->num - 1].at)
        return COHORT_ERR_PROTOCOL;
    if (!list_grow(&trace->events, trace->num, sizeof(*trace->events)))
        return COHORT_ERR_NO_MEMORY;
    trace->events[trace->num++] = *event;
    return COHORT_OK;
}

static cohort_status read_packet(struct trace *trace, struct wire packet)
{
    struct memory *memory = trace->memory;
    struct wire_field field;
    struct event event = {0};
    cohort_status status = COHORT_OK;
    while (!status && wire_next(&packet, &field))
        if (field.number == PACKET_TIMESTAMP)
            event.at = field.value;
        else if (field.number == PACKET_INTERNED)
            status = add_names(memory, field.data);
        else if (field.number == PACKET_EVENT)
            status = read_event(memory, field.data, &event);
    if (packet.is_damaged)
        return COHORT_ERR_PROTOCOL;
    return status ? status : add_event(trace, &event);
}

static cohort_status read_packets(struct trace *trace, const char *name, size_t bytes)
{
    struct memory *memory = trace->memory;
    struct wire wire = {.at = memory->file, .end = memory->file + bytes};
    struct wire_field field;
    cohort_status status = COHORT_OK;
    const unsigned char *at = wire.at;
    while (!status && wire_next(&wire, &field)) {
        status =
            field.number == TRACE_PACKET ? read_packet(trace, field.data) : COHORT_ERR_PROTOCOL;
        at = status ? at : wire.at;
    }
    if (status == COHORT_ERR_NO_MEMORY)
        return cohort_fail(status, "%s: no memory to read it", name);
    if (status || wire.is_damaged || trace->num_localities == 0)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "%s: is no trace that COHORT_TRACE has made, or was damaged at byte %zu",
                           name, (size_t)(at - memory->file));
    return COHORT_OK;
}

static cohort_status read_file(struct memory *memory, const char *name, size_t *ret_bytes)
{
    FILE *file = fopen(name, "re");
    size_t bytes = 0, room = 0;
    cohort_status status =
        file ? COHORT_OK : cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", name, strerror(errno));
    while (!status && !feof(file)) {
        if (bytes == room) {
            room = 2 * room + ROOM;
            unsigned char *larger = realloc(memory->file, room);
            if (!larger) {
                status = cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory to read it", name);
                break;
            }
            memory->file = larger;
        }
        bytes += fread(memory->file + bytes, 1, room - bytes, file);
        if (ferror(file))
            status = cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", name, strerror(errno));
    }
    if (file)
        fclose(file);
    *ret_bytes = bytes;
    return status;
}

cohort_status trace_read(struct trace *trace, const char *file)
{
    size_t bytes;
    *trace = (struct trace){0};
    struct memory *memory = trace->memory = calloc(1, sizeof(*memory));
    if (!memory)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory to read it", file);
    cohort_status status = read_file(memory, file, &bytes);
    if (!status)
        status = read_packets(trace, file, bytes);
    free(memory->file);
    memory->file = NULL;
    if (status)
        trace_fini(trace);
    return status;
}

void trace_fini(struct trace *trace)
{
    struct memory *memory = trace->memory;
    while (memory && memory->texts) {
        struct text *text = memory->texts;
        memory->texts = text->next;
        free(text);
    }
    if (memory)
        free(memory->names);
    free(memory);
    free(trace->events);
    free(trace->localities);
    *trace = (struct trace){0};
}
