/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: answers those who ask how the job is, and asks itself. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/descriptors.h"
#include "runtime/loop/child.h"
#include "runtime/loop/lines.h"
#include "runtime/loop/listener.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/stream.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/far_fetch.h"
#include "tools/cohortrun/fleet.h"
#include "tools/cohortrun/host.h"
#include "tools/cohortrun/job_private.h"
#include "tools/cohortrun/options.h"
#include "tools/cohortrun/status/card.h"

/* So many may be waiting for their answers. One more takes the place of the first. */
enum { MAX_CLIENTS = 8, MAX_MESSAGE = 16, DESCRIPTION_BYTES = 600 };
static const uint64_t timeout_ns = 2000000000;
static const uint64_t looks_timeout_ns = 600000000;

struct client {
    struct cohort__stream *stream;
    bool wants_looks; /* at other hosts, of the next series */
    bool gets_looks;  /* of the one that is under way */
};

struct job_status {
    struct job *job;
    struct cohort__listener *listener;
    struct client clients[MAX_CLIENTS];
    uint32_t num_clients; /* that have ever come */
    bool is_looking;      /* a series is under way: all hosts are asked at once */
    struct timer looks_timeout;
    struct cohort__child *child;
    struct cohort__lines *lines;
    struct timer timeout;
    bool child_ended;
    bool again;      /* somebody has asked meanwhile */
    bool was_killed; /* the child, or one before it */
    void (*shown)(struct job *job);
};

/* The card ----------------------------------------------------------------------------------- */

static char *join_words(char *const *words)
{
    size_t bytes = 1;
    for (size_t i = 0; words[i]; i++)
        bytes += strlen(words[i]) + 1;
    char *text = malloc(bytes), *next = text;
    for (size_t i = 0; text && words[i]; i++)
        next = stpcpy(stpcpy(next, i ? " " : ""), words[i]);
    return text;
}

static void describe(const struct locality *locality, struct card_locality *ret, char *end)
{
    *end = '\0';
    if (locality->guarded.end == GUARDED_NOT_STARTED)
        snprintf(end, DESCRIPTION_BYTES, "locality %u has not been started",
                 (unsigned)locality->rank);
    else if (locality->guarded.end != GUARDED_RUNS)
        locality_describe(locality, end, DESCRIPTION_BYTES);
    *ret = (struct card_locality){.pid = (uint32_t)locality->guarded.pid,
                                  .host = locality->host_name ? locality->host_name : "",
                                  .end = end};
}

static cohort_status pack(const struct job *job, struct cohort__packer *packer)
{
    const uint32_t size = job->options->size;
    struct card card = {.pid = (uint32_t)getpid(), .size = size};
    char *program = join_words(job->options->program);
    char *ends = malloc((size_t)size * DESCRIPTION_BYTES);
    card.localities = calloc(size, sizeof(*card.localities));
    cohort_status status = COHORT_ERR_NO_MEMORY;
    if (program && ends && card.localities) {
        card.program = program;
        job_find_own_localities(job, &card.first, &card.num);
        for (uint32_t rank = 0; rank < size; rank++)
            describe(&job->localities[rank], &card.localities[rank],
                     ends + (size_t)rank * DESCRIPTION_BYTES);
        card_pack(packer, &card);
        status = packer->status;
    }
    free(program);
    free(ends);
    free(card.localities);
    return status;
}

/* Other hosts -------------------------------------------------------------------------------- */

static void send_to_lookers(struct job_status *answers, const void *message, size_t bytes)
{
    for (uint32_t i = 0; i < MAX_CLIENTS; i++)
        if (answers->clients[i].gets_looks)
            (void)!cohort__stream_send(answers->clients[i].stream, message, bytes);
}

static struct host *host_at(const struct job_status *answers, uint32_t i)
{
    return answers->job->fleet ? fleet_host(answers->job->fleet, i) : NULL;
}

/* False: no memory; then those who ask see at the end that it is missing. */
static bool send_piece(struct job_status *answers, const struct far_piece *piece)
{
    unsigned char *message = malloc(CARD_LOOK_HEAD_BYTES + piece->bytes);
    if (!message)
        return false;
    message[0] = CARD_LOOK;
    bytes_put_u32(message + 1, piece->rank);
    message[5] = (unsigned char)piece->kind;
    memcpy(message + CARD_LOOK_HEAD_BYTES, piece->data, piece->bytes);
    send_to_lookers(answers, message, CARD_LOOK_HEAD_BYTES + piece->bytes);
    free(message);
    return true;
}

/* HOST has not answered, or not for its localities from RANK on. */
static void tell_silence(struct job_status *answers, const struct host *host, uint32_t rank)
{
    char why[256];
    snprintf(why, sizeof(why),
             "host %.100s has not answered within %g s; its last sign of life came %.1f s ago",
             host->name->name, (double)looks_timeout_ns / 1e9,
             (double)(cohort__clock_now() - host->pulse.heard) / 1e9);
    for (; rank < host->name->first + host->name->num; rank++)
        (void)send_piece(answers, &(struct far_piece){.rank = rank,
                                                      .kind = NODE_FETCH_NONE,
                                                      .data = (const unsigned char *)why,
                                                      .bytes = strlen(why)});
}

static void check_looks(struct job_status *answers);

/* For all who wait for one, unless one is under way. */
static void begin_looks(struct job_status *answers)
{
    struct host *host;
    bool is_wanted = false;
    for (uint32_t i = 0; i < MAX_CLIENTS && !answers->is_looking; i++) {
        struct client *client = &answers->clients[i];
        client->gets_looks = client->wants_looks;
        client->wants_looks = false;
        is_wanted |= client->gets_looks;
    }
    if (!is_wanted)
        return;
    answers->is_looking = true;
    timer_set(&answers->looks_timeout, looks_timeout_ns);
    for (uint32_t i = 0; (host = host_at(answers, i)); i++)
        far_fetch_begin(host, NODE_FETCH_LOOK);
    check_looks(answers);
}

static void end_looks(void *context)
{
    struct job_status *answers = context;
    struct host *host;
    for (uint32_t i = 0; (host = host_at(answers, i)); i++) {
        const struct far_fetch *fetch = &host->fetches[NODE_FETCH_LOOK];
        if (fetch->is_asked)
            tell_silence(answers, host, fetch->rank);
        far_fetch_stop(host, NODE_FETCH_LOOK);
    }
    timer_clear(&answers->looks_timeout);
    send_to_lookers(answers, &(unsigned char){CARD_END}, 1);
    answers->is_looking = false;
    begin_looks(answers);
}

/* Ends the series if all have answered. */
static void check_looks(struct job_status *answers)
{
    const struct host *host;
    for (uint32_t i = 0; (host = host_at(answers, i)); i++)
        if (host->fetches[NODE_FETCH_LOOK].is_asked)
            return;
    end_looks(answers);
}

void job_status_take_piece(struct job *job, struct host *host, const struct far_piece *piece)
{
    const bool is_sent = send_piece(job->answers, piece);
    far_fetch_go_on(host, NODE_FETCH_LOOK, !is_sent || piece->kind != NODE_FETCH_MORE);
    check_looks(job->answers);
}

/* Clients ------------------------------------------------------------------------------------ */

static void client_message(void *context, const void *message, size_t bytes)
{
    (void)context, (void)message, (void)bytes; /* it has nothing to say */
}

static void client_ended(void *context, cohort_status status)
{
    struct client *client = context;
    (void)status;
    cohort__stream_close(client->stream);
    *client = (struct client){0};
}

static bool is_same_user(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

/* One byte, and LEDGER with it. The connection is new, so there is room for it. */
static bool hand_over(int fd, int ledger)
{
    const char byte = 0;
    return cohort__descriptors_send(fd, &byte, 1, &ledger, ledger >= 0, MSG_DONTWAIT) == 1;
}

static void accepted(void *context, int fd)
{
    struct job_status *answers = context;
    struct client *client = &answers->clients[answers->num_clients++ % MAX_CLIENTS];
    struct cohort__stream_handlers handlers = {client, client_message, client_ended};
    struct cohort__packer packer = {0};
    client_ended(client, COHORT_OK);
    if (!is_same_user(fd) || pack(answers->job, &packer) || !hand_over(fd, answers->job->ledger))
        close(fd);
    else if (cohort__stream_open(&client->stream, answers->job->loop, fd, "who asks", MAX_MESSAGE,
                                 &handlers) == COHORT_OK)
        client->wants_looks =
            cohort__stream_send(client->stream, packer.data, packer.bytes) == COHORT_OK;
    cohort__packer_fini(&packer);
    begin_looks(answers);
}

static void listen_at_name(struct job_status *answers)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX}; /* sun_path[0] is 0: abstract */
    char name[CARD_NAME_BYTES];
    card_name((uint32_t)geteuid(), getpid(), name);
    memcpy(address.sun_path + 1, name, strlen(name));
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (bind(fd, (struct sockaddr *)&address, bytes) || listen(fd, MAX_CLIENTS))
        close(fd);
    else
        (void)!cohort__listener_open(&answers->listener, answers->job->loop, fd, accepted, answers);
}

/* Asking itself ------------------------------------------------------------------------------ */

static void end_showing(struct job_status *answers)
{
    void (*shown)(struct job * job) = answers->shown;
    timer_clear(&answers->timeout);
    cohort__lines_close(answers->lines);
    cohort__child_close(answers->child);
    answers->lines = NULL;
    answers->child = NULL;
    answers->shown = NULL;
    if (shown)
        shown(answers->job);
    else if (answers->again)
        job_status_show(answers->job, NULL);
}

static void kill_child(struct job_status *answers)
{
    cohort__child_kill(answers->child, SIGKILL);
    answers->was_killed |= !answers->child_ended;
}

static void timed_out(void *context)
{
    struct job_status *answers = context;
    kill_child(answers);
    end_showing(answers);
}

static void line_arrived(void *context, const char *text, size_t bytes)
{
    struct job_status *answers = context;
    while (bytes > 0 && text[bytes - 1] == '\n')
        bytes--;
    output_say(answers->job->output, "%.*s", (int)bytes, text);
}

static void check_shown(struct job_status *answers)
{
    if (answers->child_ended && !answers->lines)
        end_showing(answers);
}

static void lines_ended(void *context)
{
    struct job_status *answers = context;
    cohort__lines_close(answers->lines);
    answers->lines = NULL;
    check_shown(answers);
}

static void child_ended(void *context, int status, int signal)
{
    struct job_status *answers = context;
    (void)status, (void)signal; /* it has said what is wrong */
    answers->child_ended = true;
    check_shown(answers);
}

static cohort_status start_child(struct job_status *answers, int to)
{
    static char name[] = "cohortrun", option[] = "--status";
    char pid[16];
    char *args[] = {name, option, pid, NULL};
    const int fds[] = {answers->job->null, to, to};
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    answers->child_ended = false;
    return cohort__child_start(&answers->child, answers->job->loop,
                               &(struct cohort__child_options){.file = "/proc/self/exe",
                                                               .args = args,
                                                               .fds = fds,
                                                               .num_fds = 3,
                                                               .context = answers,
                                                               .ended = child_ended});
}

static cohort_status start_showing(struct job_status *answers)
{
    const struct cohort__lines_handlers handlers = {answers, line_arrived, lines_ended};
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC))
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s", strerror(errno));
    cohort_status status = start_child(answers, pipe[1]);
    close(pipe[1]);
    if (status) {
        close(pipe[0]);
        return status;
    }
    return cohort__lines_open(&answers->lines, answers->job->loop, pipe[0], &handlers);
}

void job_status_show(struct job *job, void (*shown)(struct job *job))
{
    struct job_status *answers = job->answers;
    if (!answers) {
        if (shown)
            shown(job);
        return;
    }
    answers->shown = shown ? shown : answers->shown;
    answers->again = answers->child;
    if (answers->child)
        return;
    timer_set(&answers->timeout, timeout_ns);
    if (start_showing(answers)) {
        output_say(job->output, "cannot find out who waits for whom: %s", cohort_error_message());
        end_showing(answers);
    }
}

/* -------------------------------------------------------------------------------------------- */

void job_status_open(struct job *job)
{
    struct job_status *answers = job->answers = calloc(1, sizeof(*answers));
    if (!answers)
        return;
    answers->job = job;
    timer_init(&answers->timeout, job->loop, timed_out, answers);
    timer_init(&answers->looks_timeout, job->loop, end_looks, answers);
    listen_at_name(answers);
}

bool job_status_close(struct job *job)
{
    struct job_status *answers = job->answers;
    if (!answers)
        return false;
    cohort__listener_close(answers->listener);
    timer_clear(&answers->looks_timeout);
    for (uint32_t i = 0; i < MAX_CLIENTS; i++)
        cohort__stream_close(answers->clients[i].stream);
    answers->shown = NULL;
    answers->again = false;
    if (answers->child)
        kill_child(answers);
    end_showing(answers);
    return answers->was_killed;
}

void job_status_destroy(struct job *job)
{
    free(job->answers);
}
