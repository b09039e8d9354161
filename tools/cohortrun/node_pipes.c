/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: standard input and output of the daemon's localities. */
#include "tools/cohortrun/node_pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/loop/intake.h"
#include "runtime/loop/outlet.h"
#include "tools/cohortrun/bytes.h"

struct feed {
    struct node_pipes *pipes;
    uint32_t rank;
    enum output_stream stream;
    int fd;
    struct cohort__intake *intake; /* NULL: not begun, or ended */
};

struct node_pipes {
    struct node_pipes_options options;
    int input[2]; /* of locality 0; -1: it is not here, or has been closed */
    struct cohort__outlet *outlet;
    size_t num_passing; /* bytes in the outlet */
    bool input_ended;
    struct feed feeds[]; /* 2 for each locality */
};

static void say(struct node_pipes *pipes, enum node_link_kind kind, uint32_t rank, const void *data,
                size_t bytes)
{
    pipes->options.send(pipes->options.context, kind, rank, data, bytes);
}

/* Output -------------------------------------------------------------------------------------- */

static void close_feed(struct feed *feed)
{
    if (!feed->intake)
        return;
    cohort__intake_close(feed->intake);
    feed->intake = NULL;
    close(feed->fd);
}

static void output_arrived(void *context, const void *data, size_t bytes)
{
    struct feed *feed = context;
    unsigned char message[1 + NODE_LINK_WINDOW];
    message[0] = (unsigned char)feed->stream;
    memcpy(message + 1, data, bytes); /* no more than it was allowed */
    say(feed->pipes, NODE_LINK_OUTPUT, feed->rank, message, 1 + bytes);
}

static void output_ended(void *context)
{
    struct feed *feed = context;
    unsigned char stream = (unsigned char)feed->stream;
    close_feed(feed);
    say(feed->pipes, NODE_LINK_OUTPUT, feed->rank, &stream, 1);
}

static struct feed *feed_of(struct node_pipes *pipes, uint32_t rank, enum output_stream stream)
{
    return &pipes->feeds[OUTPUT_NUM_STREAMS * (rank - pipes->options.first) + stream];
}

cohort_status node_pipes_add(struct node_pipes *pipes, uint32_t rank, enum output_stream stream,
                             int fd)
{
    struct feed *feed = feed_of(pipes, rank, stream);
    struct cohort__intake_handlers handlers = {feed, output_arrived, output_ended};
    cohort_status status = cohort__intake_open(&feed->intake, pipes->options.loop, fd, &handlers);
    if (status) {
        close(fd);
        return status;
    }
    feed->fd = fd;
    cohort__intake_allow(feed->intake, NODE_LINK_WINDOW);
    return COHORT_OK;
}

static bool output_taken(struct node_pipes *pipes, uint32_t rank, const unsigned char *data,
                         size_t bytes)
{
    if (bytes != 5 || data[0] >= OUTPUT_NUM_STREAMS)
        return false;
    struct feed *feed = feed_of(pipes, rank, (enum output_stream)data[0]);
    if (feed->intake)
        cohort__intake_allow(feed->intake, bytes_get_u32(data + 1));
    return true;
}

/* Input --------------------------------------------------------------------------------------- */

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_input(struct node_pipes *pipes)
{
    cohort__outlet_destroy(pipes->outlet);
    pipes->outlet = NULL;
    close_end(&pipes->input[1]);
}

static void input_drained(void *context)
{
    struct node_pipes *pipes = context;
    unsigned char data[4];
    bytes_put_u32(data, (uint32_t)pipes->num_passing);
    if (pipes->num_passing > 0)
        say(pipes, NODE_LINK_INPUT_TAKEN, 0, data, sizeof(data));
    pipes->num_passing = 0;
    if (pipes->input_ended)
        close_input(pipes);
}

static void input_failed(void *context, int error)
{
    (void)error; /* nobody reads it */
    struct node_pipes *pipes = context;
    pipes->num_passing = 0;
    close_input(pipes);
    say(pipes, NODE_LINK_INPUT_CLOSED, 0, NULL, 0);
}

static bool input_arrived(struct node_pipes *pipes, const unsigned char *data, size_t bytes)
{
    if (pipes->input_ended || pipes->num_passing + bytes > NODE_LINK_WINDOW)
        return false;
    pipes->input_ended = bytes == 0;
    pipes->num_passing += pipes->outlet ? bytes : 0;
    if (pipes->outlet)
        cohort__outlet_write(pipes->outlet, data, bytes);
    if (pipes->input_ended && pipes->outlet && pipes->num_passing == 0)
        close_input(pipes);
    return true;
}

static cohort_status open_input(struct node_pipes *pipes)
{
    struct cohort__outlet_handlers handlers = {pipes, input_drained, input_failed};
    if (pipe2(pipes->input, O_CLOEXEC))
        return cohort_fail(COHORT_ERR_SYSTEM, "standard input: %s", strerror(errno));
    return cohort__outlet_create(&pipes->outlet, pipes->options.loop, pipes->input[1], &handlers);
}

/* All streams --------------------------------------------------------------------------------- */

bool node_pipes_message(struct node_pipes *pipes, enum node_link_kind kind, uint32_t rank,
                        const unsigned char *data, size_t bytes)
{
    return kind == NODE_LINK_INPUT ? input_arrived(pipes, data, bytes)
                                   : output_taken(pipes, rank, data, bytes);
}

cohort_status node_pipes_create(struct node_pipes **ret_pipes,
                                const struct node_pipes_options *options, int *ret_input)
{
    size_t num = OUTPUT_NUM_STREAMS * (size_t)options->num;
    struct node_pipes *pipes = calloc(1, sizeof(*pipes) + num * sizeof(pipes->feeds[0]));
    if (!pipes)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    pipes->options = *options;
    pipes->input[0] = pipes->input[1] = -1;
    for (size_t i = 0; i < num; i++)
        pipes->feeds[i] = (struct feed){.pipes = pipes,
                                        .rank = options->first + (uint32_t)(i / OUTPUT_NUM_STREAMS),
                                        .stream = (enum output_stream)(i % OUTPUT_NUM_STREAMS)};
    cohort_status status = options->first == 0 ? open_input(pipes) : COHORT_OK;
    if (status) {
        node_pipes_close(pipes);
        node_pipes_destroy(pipes);
        return status;
    }
    *ret_input = pipes->input[0];
    *ret_pipes = pipes;
    return COHORT_OK;
}

void node_pipes_started(struct node_pipes *pipes)
{
    close_end(&pipes->input[0]);
}

void node_pipes_close(struct node_pipes *pipes)
{
    if (!pipes)
        return;
    for (size_t i = 0; i < OUTPUT_NUM_STREAMS * (size_t)pipes->options.num; i++)
        close_feed(&pipes->feeds[i]);
    close_end(&pipes->input[0]);
    close_input(pipes);
}

void node_pipes_destroy(struct node_pipes *pipes)
{
    free(pipes);
}
