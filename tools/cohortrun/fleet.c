/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: all other hosts of a job: starts their daemons, and lets them connect. */
#include "tools/cohortrun/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/loop/intake.h"
#include "runtime/loop/listener.h"
#include "runtime/wire/pack.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/greeting.h"
#include "tools/cohortrun/host.h"
#include "tools/cohortrun/options.h"
#include "tools/cohortrun/order.h"

/* MAX_STRANGERS: how many connections more than hosts may be waiting to show the key. Beyond that,
 * the oldest one is dropped for the next: a daemon shows at once that it has the key. */
enum { MAX_STRANGERS = 64, MAX_COMPLAINTS = 10 };

/* So many agents are started in one turn of the loop. To start all of them may take longer than the
 * daemons that have been started first go without a heartbeat. */
enum { STARTED_AT_ONCE = 8 };

/* The time that a caller has to show the key. A daemon shows it at once, also on a loaded host. A
 * stranger must not keep its place for ever. */
static const uint64_t caller_ns = 10000000000;

/* A connection whose other end has not shown yet that it has the key. */
struct caller {
    struct fleet *fleet;
    struct node_link *node_link; /* NULL: this place is free */
    struct address from;
    struct timer timeout;
    uint64_t number; /* of callers before this one */
};

struct fleet {
    struct fleet_options options;
    struct fleet_handlers handlers;
    struct host_common common;
    unsigned char key[SEAL_KEY_BYTES];
    struct listening {
        struct address address;
        struct cohort__listener *listener;
    } * listening;
    uint32_t num_listening;
    struct caller *callers;
    uint32_t num_callers;
    uint64_t num_accepted;
    unsigned num_complaints;
    struct timer starting;  /* of the next agents */
    uint32_t num_started;   /* agents, or attempts */
    struct timer gathering; /* until all daemons have connected */
    struct timer beat;
    bool failed;
    char own_address[ADDRESS_TEXT_BYTES];
    struct cohort__intake *input; /* for locality 0 */
    uint32_t num_hosts;
    struct host hosts[]; /* those that need an agent, in order */
};

static struct host *host_of_rank_0(struct fleet *fleet)
{
    return fleet->hosts[0].name->first == 0 ? &fleet->hosts[0] : NULL;
}

static void fail(struct fleet *fleet, const char *names, const char *why)
{
    char text[600];
    if (fleet->failed)
        return;
    fleet->failed = true;
    timer_clear(&fleet->starting);
    timer_clear(&fleet->gathering);
    snprintf(text, sizeof(text), "%s %.100s: %s", strchr(names, ',') ? "hosts" : "host", names,
             why);
    fleet->handlers.failed(fleet->handlers.context, text);
}

/* Events of the hosts ------------------------------------------------------------------------- */

static void host_failed(void *context, struct host *host)
{
    fail(context, host->name->name, host->why);
}

static void host_changed(void *context, struct host *host)
{
    (void)host;
    struct fleet *fleet = context;
    fleet->handlers.changed(fleet->handlers.context);
}

static void agent_said(void *context, const char *line)
{
    const struct host *host = context;
    const struct fleet *fleet = host->common->context;
    char text[900];
    snprintf(text, sizeof(text), "host %.100s: %s", host->name->name, line);
    fleet->handlers.said(fleet->handlers.context, text);
}

static void agent_ended(void *context)
{
    struct host *host = context;
    char text[400];
    agent_describe(&host->agent, text, sizeof(text));
    host_lose(host, text);
    host->common->changed(host->common->context, host);
}

/* Standard input ------------------------------------------------------------------------------ */

static void close_input(struct fleet *fleet)
{
    if (!fleet->input)
        return;
    cohort__intake_close(fleet->input);
    fleet->input = NULL;
    dup2(fleet->options.null, STDIN_FILENO); /* so that its writer notices the end */
}

static void input_arrived(void *context, const void *data, size_t bytes)
{
    struct fleet *fleet = context;
    host_input(host_of_rank_0(fleet), data, bytes);
}

static void input_ended(void *context)
{
    struct fleet *fleet = context;
    host_input(host_of_rank_0(fleet), NULL, 0);
    close_input(fleet);
}

static bool input_taken(struct fleet *fleet, const struct host_message *message)
{
    if (message->bytes != 4)
        return false;
    if (fleet->input)
        cohort__intake_allow(fleet->input, bytes_get_u32(message->data));
    return true;
}

static bool host_message(void *context, struct host *host, const struct host_message *message)
{
    struct fleet *fleet = context;
    switch (message->kind) {
    case NODE_LINK_INPUT_TAKEN:
        return input_taken(fleet, message);
    case NODE_LINK_INPUT_CLOSED:
        close_input(fleet);
        return true;
    default:
        return fleet->handlers.message(fleet->handlers.context, host, message);
    }
}

/* Callers ------------------------------------------------------------------------------------- */

static void close_listeners(struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->num_listening; i++) {
        cohort__listener_close(fleet->listening[i].listener);
        fleet->listening[i].listener = NULL;
    }
    for (uint32_t i = 0; i < fleet->num_callers; i++) {
        node_link_close(fleet->callers[i].node_link);
        fleet->callers[i].node_link = NULL;
        timer_clear(&fleet->callers[i].timeout);
    }
}

static void complain(struct fleet *fleet, const struct address *from, const char *why)
{
    char address[ADDRESS_TEXT_BYTES], text[400];
    if (++fleet->num_complaints > MAX_COMPLAINTS)
        return;
    address_text(from, true, address);
    snprintf(text, sizeof(text), "connection from %s dropped: %s%s", address, why,
             fleet->num_complaints < MAX_COMPLAINTS ? "" : "; further ones are not told of");
    fleet->handlers.said(fleet->handlers.context, text);
}

static void drop(struct caller *caller, const char *why)
{
    complain(caller->fleet, &caller->from, why);
    node_link_close(caller->node_link);
    caller->node_link = NULL;
    timer_clear(&caller->timeout);
}

static void caller_ended(void *context, const char *why)
{
    drop(context, why);
}

static void caller_too_late(void *context)
{
    drop(context, "it has not shown the job's key in time");
}

static bool is_awaited(void *context, uint32_t index)
{
    const struct fleet *fleet = ((struct caller *)context)->fleet;
    return index < fleet->num_hosts && fleet->hosts[index].stage == HOST_AWAITED;
}

static bool all_have_come(const struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->num_hosts; i++)
        if (fleet->hosts[i].stage != HOST_READY)
            return false;
    return true;
}

static void caller_opened(void *context, uint32_t index)
{
    struct caller *caller = context;
    struct fleet *fleet = caller->fleet;
    if (!is_awaited(caller, index)) {
        drop(caller, "its host has a daemon already");
        return;
    }
    host_welcome(&fleet->hosts[index], caller->node_link, &caller->from);
    caller->node_link = NULL;
    timer_clear(&caller->timeout);
    if (!all_have_come(fleet) || fleet->failed)
        return;
    timer_clear(&fleet->gathering);
    close_listeners(fleet);
    fleet->handlers.ready(fleet->handlers.context);
}

/* A place for the next caller. What a caller says proves nothing until it shows the key. */
static struct caller *make_room(struct fleet *fleet)
{
    struct caller *oldest = NULL;
    for (uint32_t i = 0; i < fleet->num_callers; i++) {
        struct caller *caller = &fleet->callers[i];
        if (!caller->node_link)
            return caller;
        if (!oldest || caller->number < oldest->number)
            oldest = caller;
    }
    drop(oldest, "too many others have called since");
    return oldest;
}

static void accepted(void *context, int fd)
{
    struct fleet *fleet = context;
    struct caller *caller = make_room(fleet);
    caller->number = fleet->num_accepted++;
    const struct node_link_handlers handlers = {.context = caller,
                                                .is_awaited = is_awaited,
                                                .opened = caller_opened,
                                                .ended = caller_ended};
    address_peer(fd, &caller->from);
    if (node_link_open(&caller->node_link, fleet->options.loop, fd, SEAL_LAUNCHER, fleet->key, 0,
                       &handlers))
        complain(fleet, &caller->from, cohort_error_message());
    else
        timer_set(&caller->timeout, caller_ns);
}

/* Start --------------------------------------------------------------------------------------- */

/* Listens at ADDRESS, unless it does already. RET_LISTENING is the place in the list. */
static cohort_status listen_at(struct fleet *fleet, struct address *address,
                               const struct listening **ret_listening)
{
    char text[ADDRESS_TEXT_BYTES], other[ADDRESS_TEXT_BYTES];
    int fd;
    address_text(address, false, text);
    for (uint32_t i = 0; i < fleet->num_listening; i++) {
        address_text(&fleet->listening[i].address, false, other);
        *ret_listening = &fleet->listening[i];
        if (strcmp(text, other) == 0)
            return COHORT_OK;
    }
    struct listening *listening = &fleet->listening[fleet->num_listening];
    cohort_status status = address_listen(address, &fd);
    if (!status)
        status =
            cohort__listener_open(&listening->listener, fleet->options.loop, fd, accepted, fleet);
    if (status)
        return status;
    listening->address = *address;
    if (fleet->num_listening++ == 0)
        snprintf(fleet->own_address, sizeof(fleet->own_address), "%s", text);
    *ret_listening = listening;
    return COHORT_OK;
}

static cohort_status listen_for(struct fleet *fleet, const struct host *host,
                                const struct listening **ret_listening)
{
    struct address address;
    const char *chosen = fleet->options.options->listen;
    cohort_status status =
        chosen ? address_parse(chosen, &address) : address_towards(host->name->name, &address);
    if (status)
        return cohort_fail(status,
                           chosen
                               ? "--listen: %s"
                               : "%s; --listen can say at which address the host reaches cohortrun",
                           cohort_error_message());
    return listen_at(fleet, &address, ret_listening);
}

static cohort_status start_host(struct fleet *fleet, uint32_t index)
{
    struct host *host = &fleet->hosts[index];
    const struct listening *listening = NULL;
    struct greeting greeting = {.host = index,
                                .heartbeat_ns = fleet->common.heartbeat_ns,
                                .heartbeat_timeout_ns = fleet->common.heartbeat_timeout_ns};
    char line[GREETING_BYTES];
    cohort_status status = listen_for(fleet, host, &listening);
    if (status)
        return status;
    memcpy(greeting.key, fleet->key, sizeof(greeting.key));
    address_text(&listening->address, false, greeting.address);
    greeting.port = address_port(&listening->address);
    greeting_format(&greeting, line);
    status = host_start(host, line);
    explicit_bzero(line, sizeof(line));
    explicit_bzero(&greeting, sizeof(greeting));
    return status;
}

static void start_some(void *context)
{
    struct fleet *fleet = context;
    for (int i = 0; i < STARTED_AT_ONCE && fleet->num_started < fleet->num_hosts; i++) {
        uint32_t index = fleet->num_started++;
        if (start_host(fleet, index)) {
            fail(fleet, fleet->hosts[index].name->name, cohort_error_message());
            return;
        }
    }
    if (fleet->num_started < fleet->num_hosts)
        timer_set(&fleet->starting, 0);
    else
        timer_set(&fleet->gathering, fleet->options.options->connect_timeout_ns);
}

static void gathering_over(void *context)
{
    struct fleet *fleet = context;
    char names[200], why[80];
    fleet_list_awaited(fleet, names, sizeof(names));
    snprintf(why, sizeof(why), "no answer within %g s",
             (double)fleet->options.options->connect_timeout_ns / 1e9);
    fail(fleet, names, why);
}

static void beat(void *context)
{
    struct fleet *fleet = context;
    timer_set(&fleet->beat, fleet->common.heartbeat_ns);
    for (uint32_t i = 0; i < fleet->num_hosts; i++)
        host_beat(&fleet->hosts[i]);
}

static void init(struct fleet *fleet)
{
    const struct options *options = fleet->options.options;
    struct cohort__loop *loop = fleet->options.loop;
    fleet->common = (struct host_common){
        .agent = {loop, options->agent, fleet->options.null, fleet->options.descriptors, agent_said,
                  agent_ended},
        .output = fleet->options.output,
        .heartbeat_ns = options->heartbeat_ns,
        .heartbeat_timeout_ns = options->heartbeat_timeout_ns,
        .context = fleet,
        .failed = host_failed,
        .changed = host_changed,
        .message = host_message,
    };
    timer_init(&fleet->gathering, loop, gathering_over, fleet);
    timer_init(&fleet->starting, loop, start_some, fleet);
    timer_init(&fleet->beat, loop, beat, fleet);
    for (uint32_t i = 0; i < fleet->num_callers; i++) {
        fleet->callers[i].fleet = fleet;
        timer_init(&fleet->callers[i].timeout, loop, caller_too_late, &fleet->callers[i]);
    }
    for (uint32_t i = 0; i < options->hosts.num; i++) {
        const struct host_name *name = &options->hosts.list[i];
        if (name->is_far)
            host_init(&fleet->hosts[fleet->num_hosts++], name, &fleet->common,
                      fleet->options.localities + name->first);
    }
}

cohort_status fleet_create(struct fleet **ret_fleet, const struct fleet_options *options,
                           const struct fleet_handlers *handlers)
{
    uint32_t num = options->options->hosts.num;
    struct fleet *fleet = calloc(1, sizeof(*fleet) + num * sizeof(fleet->hosts[0]));
    struct listening *listening = calloc(num, sizeof(*listening));
    struct caller *callers = calloc(num + MAX_STRANGERS, sizeof(*callers));
    if (!fleet || !listening || !callers || !seal_make_key(fleet->key)) {
        free(callers);
        free(listening);
        free(fleet);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory or random numbers for the hosts");
    }
    fleet->options = *options;
    fleet->handlers = *handlers;
    fleet->listening = listening;
    fleet->callers = callers;
    fleet->num_callers = num + MAX_STRANGERS;
    *ret_fleet = fleet;
    init(fleet);
    timer_set(&fleet->starting, 0);
    timer_set(&fleet->beat, fleet->common.heartbeat_ns);
    return COHORT_OK;
}

/* The job ------------------------------------------------------------------------------------- */

const char *fleet_address(const struct fleet *fleet, uint32_t index)
{
    const struct host_name *name = &fleet->options.options->hosts.list[index];
    for (uint32_t i = 0; i < fleet->num_hosts; i++)
        if (fleet->hosts[i].name == name)
            return fleet->hosts[i].address;
    return fleet->own_address;
}

static void start_input(struct fleet *fleet)
{
    struct cohort__intake_handlers handlers = {fleet, input_arrived, input_ended};
    if (!host_of_rank_0(fleet))
        return;
    if (cohort__intake_open(&fleet->input, fleet->options.loop, STDIN_FILENO, &handlers))
        host_lose(host_of_rank_0(fleet), cohort_error_message());
    else
        cohort__intake_allow(fleet->input, NODE_LINK_WINDOW);
}

void fleet_order(struct fleet *fleet, const struct locality_handlers *handlers)
{
    const struct options *options = fleet->options.options;
    char *directory = getcwd(NULL, 0);
    if (!directory) {
        host_lose(&fleet->hosts[0], "the current directory has no name that it could be told");
        return;
    }
    for (uint32_t i = 0; i < fleet->num_hosts && !fleet->failed; i++) {
        struct host *host = &fleet->hosts[i];
        struct cohort__packer packer = {0};
        struct order order = {.size = options->size,
                              .first = host->name->first,
                              .num = host->name->num,
                              .binding = options_binding(options),
                              .directory = directory,
                              .levels = host->name->levels ? host->name->levels : "",
                              .program = options->program,
                              .environment = environ};
        order_pack(&packer, &order);
        host_order(host, &packer, handlers);
        cohort__packer_fini(&packer);
    }
    free(directory);
    start_input(fleet);
}

void fleet_list_awaited(const struct fleet *fleet, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < fleet->num_hosts && used < bytes; i++)
        if (fleet->hosts[i].stage == HOST_AWAITED)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : "",
                                     fleet->hosts[i].name->name);
}

struct host *fleet_host(struct fleet *fleet, uint32_t i)
{
    return i < fleet->num_hosts ? &fleet->hosts[i] : NULL;
}

bool fleet_is_still(const struct fleet *fleet)
{
    bool is_still = false;
    for (uint32_t i = 0; i < fleet->num_hosts; i++)
        is_still |= fleet->hosts[i].motion == MOTION_STILL;
    return is_still;
}

void fleet_dismiss(struct fleet *fleet)
{
    close_listeners(fleet);
    close_input(fleet);
    timer_clear(&fleet->gathering);
    for (uint32_t i = 0; i < fleet->num_hosts; i++)
        host_dismiss(&fleet->hosts[i]);
}

bool fleet_is_gone(const struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->num_hosts; i++)
        if (!host_is_gone(&fleet->hosts[i]))
            return false;
    return true;
}

void fleet_close(struct fleet *fleet)
{
    if (!fleet)
        return;
    close_listeners(fleet);
    close_input(fleet);
    timer_clear(&fleet->starting);
    timer_clear(&fleet->gathering);
    timer_clear(&fleet->beat);
    for (uint32_t i = 0; i < fleet->num_hosts; i++)
        host_close(&fleet->hosts[i]);
}

void fleet_destroy(struct fleet *fleet)
{
    if (!fleet)
        return;
    for (uint32_t i = 0; i < fleet->num_hosts; i++)
        host_fini(&fleet->hosts[i]);
    explicit_bzero(fleet->key, sizeof(fleet->key));
    free(fleet->callers);
    free(fleet->listening);
    free(fleet);
}
