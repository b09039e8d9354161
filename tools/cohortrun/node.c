/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the daemon on another host: does for its localities what cohortrun does here. */
#include "tools/cohortrun/node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/ledger.h"
#include "runtime/loop/loop.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/descendants.h"
#include "tools/cohortrun/greeting.h"
#include "tools/cohortrun/locality.h"
#include "tools/cohortrun/motion.h"
#include "tools/cohortrun/node_fetch.h"
#include "tools/cohortrun/node_link.h"
#include "tools/cohortrun/node_pipes.h"
#include "tools/cohortrun/order.h"
#include "tools/cohortrun/state.h"
#include "tools/cohortrun/stats_watch.h"
#include "tools/cohortrun/timer.h"

enum { START_MILLISECONDS = 30000 };
static const uint64_t stage_ns = 2000000000;

struct node {
    struct greeting greeting;
    struct cohort__loop *loop;
    struct node_link *node_link; /* NULL: it has ended */
    struct pulse pulse;
    struct timer beat;
    struct motion *motion; /* of the localities; NULL: they have not been started */
    struct timer next_stage;
    enum { SERVING, KILLING, REAPING } stage;
    bool dismissed;
    bool refused;        /* the order; cohortrun knows why */
    struct order *order; /* NULL: not received yet */
    char **environment;  /* our own, while that of the order is in use */
    struct locality_common common;
    struct locality *localities;
    struct node_pipes *pipes;
    struct node_fetch fetch;
    struct stats_watch *stats_watch; /* NULL: COHORT_STATS is not set */
};

/* The end ------------------------------------------------------------------------------------- */

static bool all_gone(const struct node *node)
{
    for (uint32_t i = 0; node->localities && i < node->order->num; i++)
        if (!node->localities[i].guarded.is_gone)
            return false;
    return true;
}

/* Serves nobody any more. Ends what still runs: first by the guardians, then together with them. */
static void leave(struct node *node)
{
    if (node->stage != SERVING)
        return;
    node->stage = KILLING;
    for (uint32_t i = 0; node->localities && i < node->order->num; i++)
        locality_signal(&node->localities[i], SIGKILL);
    if (all_gone(node))
        cohort__loop_stop(node->loop);
    else
        timer_set(&node->next_stage, stage_ns);
}

static void stage_over(void *context)
{
    struct node *node = context;
    if (node->stage++ != KILLING) {
        cohort__loop_stop(node->loop);
        return;
    }
    for (uint32_t i = 0; i < node->order->num; i++)
        locality_kill_guardian(&node->localities[i]);
    timer_set(&node->next_stage, stage_ns);
}

static void node_link_ended(void *context, const char *why)
{
    struct node *node = context;
    if (!node->dismissed && !node->refused)
        fprintf(stderr, "node daemon: %s\n", why);
    node_link_close(node->node_link);
    node->node_link = NULL;
    leave(node);
}

static void beat(void *context)
{
    struct node *node = context;
    unsigned char motion = MOTION_UNKNOWN;
    if (!node->node_link)
        return;
    timer_set(&node->beat, node->pulse.interval_ns);
    if (pulse_is_silent(&node->pulse)) {
        node_link_ended(node, "cohortrun has been silent for too long");
        return;
    }
    if (node->motion)
        motion = (unsigned char)motion_look(node->motion, cohort__clock_now());
    node_link_send(node->node_link, NODE_LINK_BEAT, 0, &motion, sizeof(motion));
}

/* Events of the localities -------------------------------------------------------------------- */

static void send_up(struct node *node, enum node_link_kind kind, uint32_t rank, const void *data,
                    size_t bytes)
{
    if (node->node_link)
        node_link_send(node->node_link, kind, rank, data, bytes);
}

static void send_struct(struct node *node, enum node_link_kind kind, uint32_t rank,
                        const struct cohort__schema *schema, const void *from)
{
    if (node->node_link)
        node_link_send_struct(node->node_link, kind, rank, schema, from);
}

static void control_arrived(struct locality *locality, const void *message, size_t bytes)
{
    send_up(locality->context, NODE_LINK_CONTROL, locality->rank, message, bytes);
}

static cohort_status output_opened(struct locality *locality, enum output_stream stream, int fd)
{
    struct node *node = locality->context;
    return node_pipes_add(node->pipes, locality->rank, stream, fd);
}

static void locality_changed(struct locality *locality)
{
    struct node *node = locality->context;
    if (locality->guarded.end != GUARDED_RUNS)
        stats_watch_look(node->stats_watch, locality->rank);
    locality_read_words(locality, node->common.ledger, locality->rank - node->order->first);
    const struct state state = state_of(locality);
    send_struct(node, NODE_LINK_STATE, locality->rank, &state_schema, &state);
    if (node->stage != SERVING && all_gone(node))
        cohort__loop_stop(node->loop);
}

static void counted(void *context, const struct cohort__counters *counters)
{
    send_struct(context, NODE_LINK_COUNTED, counters->rank, &stats_schema, counters);
}

static void pipe_said(void *context, enum node_link_kind kind, uint32_t rank, const void *data,
                      size_t bytes)
{
    send_up(context, kind, rank, data, bytes);
}

/* Messages from cohortrun --------------------------------------------------------------------- */

/* Those that were not started write nothing. The others run until cohortrun ends them. */
static void refuse(struct node *node, const char *why)
{
    node->refused = true;
    send_up(node, NODE_LINK_REFUSED, 0, why, strlen(why));
    for (uint32_t i = 0; node->localities && i < node->order->num; i++) {
        struct locality *locality = &node->localities[i];
        if (locality->guarded.end != GUARDED_NOT_STARTED)
            continue;
        for (unsigned char stream = 0; stream < OUTPUT_NUM_STREAMS; stream++)
            send_up(node, NODE_LINK_OUTPUT, locality->rank, &stream, sizeof(stream));
        locality_changed(locality);
    }
}

static cohort_status make_localities(struct node *node)
{
    const struct order *order = node->order;
    struct node_pipes_options options = {.loop = node->loop,
                                         .first = order->first,
                                         .num = order->num,
                                         .context = node,
                                         .send = pipe_said};
    cohort_status status = node_pipes_create(&node->pipes, &options, &node->common.input);
    if (status)
        return status;
    node->localities = calloc(order->num, sizeof(*node->localities));
    if (!node->localities)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < order->num; i++)
        locality_init(&node->localities[i], node, order->first + i);
    return COHORT_OK;
}

static cohort_status start_localities(struct node *node)
{
    static const struct locality_handlers handlers = {control_arrived, output_opened,
                                                      locality_changed};
    const struct order *order = node->order;
    node->common.size = order->size;
    node->common.program = order->program;
    node->common.binding = order->binding;
    if (chdir(order->directory))
        return cohort_fail(COHORT_ERR_SYSTEM, "cannot enter %s: %s", order->directory,
                           strerror(errno));
    environ = (char **)order->environment;
    if (order->levels[0] && setenv("COHORT_LEVELS", order->levels, 1))
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    (void)!cohort__ledger_create(&node->common.ledger, order->num); /* they can do without */
    node->motion = motion_create(node->localities, order->num, node->common.ledger);
    struct stats_watch_options watch = {.loop = node->loop,
                                        .ledger = node->common.ledger,
                                        .first = order->first,
                                        .num = order->num,
                                        .context = node,
                                        .counted = counted};
    if (stats_watch_is_wanted(getenv("COHORT_STATS")))
        node->stats_watch = stats_watch_create(&watch);
    return localities_start(node->localities, order->num, &node->common, &handlers);
}

/* False: there is no locality that cohortrun could be told of. */
static bool take_order(struct node *node, const unsigned char *data, size_t bytes)
{
    cohort_status status = order_read(&node->order, data, bytes);
    if (!status)
        status = make_localities(node);
    if (!status)
        status = start_localities(node);
    if (node->pipes)
        node_pipes_started(node->pipes);
    if (status)
        refuse(node, cohort_error_message());
    return node->localities;
}

static struct locality *find_locality(const struct node *node, uint32_t rank)
{
    uint32_t index = node->localities ? rank - node->order->first : 0;
    return node->localities && index < node->order->num ? &node->localities[index] : NULL;
}

static bool tell_time(const struct node *node, const unsigned char *ping, size_t bytes,
                      uint64_t arrived)
{
    unsigned char pong[NODE_LINK_PONG_BYTES];
    if (bytes != NODE_LINK_PING_BYTES)
        return false;
    memcpy(pong, ping, NODE_LINK_PING_BYTES);
    bytes_put_u64(pong + 8, arrived);
    bytes_put_u64(pong + 16, cohort__clock_now());
    node_link_send(node->node_link, NODE_LINK_CLOCK, 0, pong, sizeof(pong));
    return true;
}

/* Does what a message says. False: the message makes no sense. */
static bool obey(struct node *node, enum node_link_kind kind, uint32_t rank,
                 const unsigned char *data, size_t bytes, uint64_t arrived)
{
    struct locality *locality = find_locality(node, rank);
    switch (kind) {
    case NODE_LINK_BEAT:
        return true;
    case NODE_LINK_CLOCK:
        return tell_time(node, data, bytes, arrived);
    case NODE_LINK_FETCH:
        return locality &&
               node_fetch_answer(&node->fetch, node->node_link, locality, node->common.ledger,
                                 rank - node->order->first, data, bytes);
    case NODE_LINK_PART_HERE:
        if (locality)
            node_fetch_remove_part(locality);
        return locality;
    case NODE_LINK_ORDER:
        return !node->order && take_order(node, data, bytes);
    case NODE_LINK_DISMISS:
        node->dismissed = true;
        leave(node);
        return true;
    case NODE_LINK_SIGNAL:
        if (locality && bytes == 1)
            locality_signal(locality, data[0]);
        return locality && bytes == 1;
    case NODE_LINK_REAP:
        if (locality)
            locality_kill_guardian(locality);
        return locality;
    case NODE_LINK_CONTROL:
        if (locality)
            locality_send_control(locality, data, bytes);
        return locality;
    case NODE_LINK_INPUT:
    case NODE_LINK_TAKEN:
        return locality && node_pipes_message(node->pipes, kind, rank, data, bytes);
    default:
        return false;
    }
}

static void node_link_opened(void *context, uint32_t host)
{
    (void)host;
    pulse_heard(&((struct node *)context)->pulse);
}

static void node_link_message(void *context, enum node_link_kind kind, uint32_t rank,
                              const unsigned char *data, size_t bytes)
{
    struct node *node = context;
    uint64_t arrived = cohort__clock_now();
    pulse_heard(&node->pulse);
    if (node->stage == SERVING && !obey(node, kind, rank, data, bytes, arrived))
        node_link_ended(node, "cohortrun does not speak as it should");
}

/* Start --------------------------------------------------------------------------------------- */

/* Reads byte by byte, so that nothing after the greeting is read. */
static cohort_status read_greeting(struct greeting *ret_greeting)
{
    char line[GREETING_BYTES];
    size_t used = 0;
    struct pollfd pollfd = {.fd = STDIN_FILENO, .events = POLLIN};
    do {
        if (poll(&pollfd, 1, START_MILLISECONDS) <= 0 || read(STDIN_FILENO, line + used, 1) != 1)
            return cohort_fail(COHORT_ERR_NETWORK, "cohortrun says nothing on standard input; a "
                                                   "daemon can't be started by hand");
    } while (line[used++] != '\n' && used < sizeof(line) - 1);
    line[used] = '\0';
    return greeting_parse(ret_greeting, line);
}

static cohort_status connect_back(struct node *node)
{
    const struct greeting *greeting = &node->greeting;
    struct node_link_handlers handlers = {.context = node,
                                          .opened = node_link_opened,
                                          .message = node_link_message,
                                          .ended = node_link_ended};
    int fd;
    cohort_status status =
        address_connect(greeting->address, greeting->port, START_MILLISECONDS, &fd);
    if (!status)
        status = cohort__loop_create(&node->loop);
    if (status)
        return status;
    timer_init(&node->beat, node->loop, beat, node);
    timer_init(&node->next_stage, node->loop, stage_over, node);
    pulse_start(&node->pulse, greeting->heartbeat_ns, greeting->heartbeat_timeout_ns);
    timer_set(&node->beat, greeting->heartbeat_ns);
    node->common.loop = node->loop;
    return node_link_open(&node->node_link, node->loop, fd, SEAL_DAEMON, greeting->key,
                          greeting->host, &handlers);
}

static cohort_status set_up(struct node *node)
{
    signal(SIGPIPE, SIG_IGN);
    node->common.null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (node->common.null < 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "/dev/null: %s", strerror(errno));
    node->common.descriptors = guarded_raise_descriptor_limit();
    node->common.files_each = LOCALITY_FILES + OUTPUT_NUM_STREAMS; /* an intake takes one, too */
    cohort_status status = read_greeting(&node->greeting);
    if (status)
        return status;
    dup2(node->common.null, STDIN_FILENO);
    status = connect_back(node);
    explicit_bzero(node->greeting.key, sizeof(node->greeting.key));
    return status;
}

static void tear_down(struct node *node)
{
    node_link_close(node->node_link);
    for (uint32_t i = 0; node->localities && i < node->order->num; i++)
        locality_close(&node->localities[i]);
    node_pipes_close(node->pipes);
    stats_watch_close(node->stats_watch);
    if (node->loop) {
        timer_clear(&node->beat);
        timer_clear(&node->next_stage);
        cohort__loop_destroy(node->loop);
    }
    node_pipes_destroy(node->pipes);
    motion_destroy(node->motion);
    node_fetch_fini(&node->fetch);
    stats_watch_destroy(node->stats_watch);
    free(node->localities);
    environ = node->environment; /* functions that run at the exit look into it */
    free(node->order);
    if (node->common.ledger >= 0)
        close(node->common.ledger);
}

int node_main(void)
{
    struct node node = {.environment = environ, .common = {.ledger = -1}};
    bool owns_children = descendants_are_none();
    descendants_adopt();
    cohort_status status = set_up(&node);
    if (status)
        fprintf(stderr, "node daemon: %s\n", cohort_error_message());
    else
        cohort__loop_run(node.loop);
    tear_down(&node);
    if (owns_children)
        descendants_kill(); /* processes that a killed guardian has left to us */
    return status || !node.dismissed;
}
