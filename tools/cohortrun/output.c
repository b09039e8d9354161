/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: merges what the localities print, line by line. */
#include "tools/cohortrun/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/loop/lines.h"
#include "runtime/loop/outlet.h"
#include "tools/cohortrun/timer.h"

enum { MAX_QUEUED = 1 << 20 };
static const uint64_t stall_ns = 1000000000;

struct output_source {
    struct output *output;
    struct cohort__lines *lines; /* NULL: not begun, or ended */
    bool is_fed;
    uint32_t rank;
    enum output_stream stream;
};

/* One file that is written to. If both streams go to the same file, they share one sink. */
struct sink {
    struct output *output;
    struct cohort__outlet *outlet;
    enum output_stream stream;    /* the first that goes there */
    bool in_line;                 /* what was written last was no newline */
    struct output_source *writer; /* of the unfinished line; NULL: that line is left as it is */
    bool full;
    struct timer stalled;
};

struct output {
    struct output_handlers handlers;
    uint32_t size;
    bool tag;
    struct sink sinks[OUTPUT_NUM_STREAMS];
    struct sink *sink_of[OUTPUT_NUM_STREAMS];
    struct output_source sources[]; /* stream * size + rank */
};

static struct output_source *source_of(struct output *output, uint32_t rank,
                                       enum output_stream stream)
{
    return &output->sources[(size_t)stream * output->size + rank];
}

/* Lets the sources of SINK go on that may, and pauses the others. */
static void arrange(struct sink *sink)
{
    struct output *output = sink->output;
    for (size_t i = 0; i < (size_t)OUTPUT_NUM_STREAMS * output->size; i++) {
        struct output_source *source = &output->sources[i];
        if (source->lines && output->sink_of[source->stream] == sink)
            cohort__lines_pause(source->lines,
                                sink->full || (sink->writer && sink->writer != source));
    }
}

static void set_writer(struct sink *sink, struct output_source *writer)
{
    if (writer)
        timer_set(&sink->stalled, stall_ns);
    else
        timer_clear(&sink->stalled);
    if (sink->writer == writer)
        return;
    sink->writer = writer;
    arrange(sink);
}

static void line_stalled(void *context)
{
    struct sink *sink = context;
    if (sink->full)
        timer_set(&sink->stalled, stall_ns); /* not the writer's fault */
    else
        set_writer(sink, NULL);
}

static void write_text(struct sink *sink, const char *text, size_t bytes)
{
    if (bytes == 0)
        return;
    cohort__outlet_write(sink->outlet, text, bytes);
    sink->in_line = text[bytes - 1] != '\n';
    if (!sink->full && cohort__outlet_queued(sink->outlet) > MAX_QUEUED) {
        sink->full = true;
        arrange(sink);
    }
}

static void end_line(struct sink *sink)
{
    if (sink->in_line)
        write_text(sink, "\n", 1);
}

static void piece_arrived(void *context, const char *text, size_t bytes)
{
    struct output_source *source = context;
    struct output *output = source->output;
    struct sink *sink = output->sink_of[source->stream];
    if (sink->writer != source) {
        char tag[24];
        end_line(sink);
        if (output->tag)
            write_text(sink, tag,
                       (size_t)snprintf(tag, sizeof(tag), "[%u] ", (unsigned)source->rank));
    }
    write_text(sink, text, bytes);
    set_writer(sink, sink->in_line ? source : NULL);
    if (source->is_fed)
        output->handlers.taken(output->handlers.context, source->rank, source->stream, bytes);
}

static void source_ended(void *context)
{
    struct output_source *source = context;
    output_close_source(source->output, source->rank, source->stream);
}

static void sink_drained(void *context)
{
    struct sink *sink = context;
    if (sink->full) {
        sink->full = false;
        arrange(sink);
    }
    sink->output->handlers.drained(sink->output->handlers.context);
}

static void sink_failed(void *context, int error)
{
    struct sink *sink = context;
    sink->output->handlers.failed(sink->output->handlers.context, sink->stream, error);
}

static bool is_same_file(int a, int b)
{
    struct stat stat_a, stat_b;
    return fstat(a, &stat_a) == 0 && fstat(b, &stat_b) == 0 && stat_a.st_dev == stat_b.st_dev &&
           stat_a.st_ino == stat_b.st_ino;
}

static cohort_status open_sink(struct output *output, struct cohort__loop *loop,
                               enum output_stream stream, int fd)
{
    struct sink *sink = &output->sinks[stream];
    struct cohort__outlet_handlers handlers = {sink, sink_drained, sink_failed};
    sink->output = output;
    sink->stream = stream;
    timer_init(&sink->stalled, loop, line_stalled, sink);
    output->sink_of[stream] = sink;
    return cohort__outlet_create(&sink->outlet, loop, fd, &handlers);
}

cohort_status output_create(struct output **ret_output, struct cohort__loop *loop, uint32_t size,
                            bool tag, const struct output_handlers *handlers)
{
    size_t num_sources = (size_t)OUTPUT_NUM_STREAMS * size;
    struct output *output = calloc(1, sizeof(*output) + num_sources * sizeof(output->sources[0]));
    if (!output)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "output: out of memory");
    output->handlers = *handlers;
    output->size = size;
    output->tag = tag;
    for (size_t i = 0; i < num_sources; i++)
        output->sources[i] = (struct output_source){.output = output,
                                                    .rank = (uint32_t)(i % size),
                                                    .stream = (enum output_stream)(i / size)};
    cohort_status status = open_sink(output, loop, OUTPUT_OUT, STDOUT_FILENO);
    if (!status && is_same_file(STDOUT_FILENO, STDERR_FILENO))
        output->sink_of[OUTPUT_ERR] = output->sink_of[OUTPUT_OUT];
    else if (!status)
        status = open_sink(output, loop, OUTPUT_ERR, STDERR_FILENO);
    if (status) {
        output_close(output);
        output_free(output);
        return status;
    }
    *ret_output = output;
    return COHORT_OK;
}

void output_close(struct output *output)
{
    if (!output)
        return;
    for (size_t i = 0; i < (size_t)OUTPUT_NUM_STREAMS * output->size; i++) {
        cohort__lines_close(output->sources[i].lines);
        output->sources[i].lines = NULL;
    }
    for (int i = 0; i < OUTPUT_NUM_STREAMS; i++) {
        timer_clear(&output->sinks[i].stalled);
        cohort__outlet_destroy(output->sinks[i].outlet);
    }
}

void output_free(struct output *output)
{
    free(output);
}

cohort_status output_add(struct output *output, uint32_t rank, enum output_stream stream, int fd)
{
    struct output_source *source = source_of(output, rank, stream);
    struct cohort__lines_handlers handlers = {source, piece_arrived, source_ended};
    return cohort__lines_open(&source->lines, output->sink_of[stream]->stalled.loop, fd, &handlers);
}

cohort_status output_add_fed(struct output *output, uint32_t rank, enum output_stream stream)
{
    struct output_source *source = source_of(output, rank, stream);
    struct cohort__lines_handlers handlers = {source, piece_arrived, source_ended};
    source->is_fed = true;
    return cohort__lines_create(&source->lines, output->sink_of[stream]->stalled.loop, &handlers);
}

bool output_feed(struct output *output, uint32_t rank, enum output_stream stream, const char *text,
                 size_t bytes)
{
    struct output_source *source = source_of(output, rank, stream);
    return !source->lines || cohort__lines_feed(source->lines, text, bytes);
}

void output_feed_end(struct output *output, uint32_t rank, enum output_stream stream)
{
    struct output_source *source = source_of(output, rank, stream);
    if (source->lines)
        cohort__lines_feed_end(source->lines);
}

void output_close_source(struct output *output, uint32_t rank, enum output_stream stream)
{
    struct output_source *source = source_of(output, rank, stream);
    struct sink *sink = output->sink_of[stream];
    if (!source->lines)
        return;
    cohort__lines_close(source->lines);
    source->lines = NULL;
    if (sink->writer == source)
        set_writer(sink, NULL);
    output->handlers.ended(output->handlers.context, rank, stream);
}

void output_say(struct output *output, const char *format, ...)
{
    struct sink *sink = output->sink_of[OUTPUT_ERR];
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    end_line(sink);
    if (sink->writer)
        set_writer(sink, NULL);
    write_text(sink, "cohortrun: ", 11);
    write_text(sink, text, strnlen(text, sizeof(text)));
    write_text(sink, "\n", 1);
}

bool output_is_drained(const struct output *output)
{
    for (int i = 0; i < OUTPUT_NUM_STREAMS; i++)
        if (output->sinks[i].outlet && cohort__outlet_queued(output->sinks[i].outlet) > 0)
            return false;
    return true;
}
