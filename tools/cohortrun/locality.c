/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: one locality: its program, its control connection, its output. */
#include "tools/cohortrun/locality.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/ledger.h"
#include "runtime/launch/control.h"
#include "runtime/loop/child.h"
#include "runtime/loop/stream.h"
#include "runtime/net/hub.h"
#include "tools/cohortrun/descendants.h"
#include "tools/cohortrun/guarded.h"
#include "tools/cohortrun/status/look.h"

enum { NEAR, FAR }; /* cohortrun's end and the locality's */

/* Pipes and socket pairs, by the number that the far end has in the program; 0 is not used. */
enum { NUM_ENDS = GUARDIAN_FD_CONTROL + 1 };
struct ends {
    int fds[NUM_ENDS][2];
};

static void close_ends(struct ends *ends, int side)
{
    for (int i = 1; i < NUM_ENDS; i++)
        if (ends->fds[i][side] >= 0)
            close(ends->fds[i][side]);
}

static int open_ends(struct ends *ends)
{
    int error = 0;
    memset(ends, -1, sizeof(*ends));
    for (int i = 1; i < NUM_ENDS && !error; i++) {
        bool is_pipe = i <= STDERR_FILENO;
        error = is_pipe ? pipe2(ends->fds[i], O_CLOEXEC)
                        : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->fds[i]);
    }
    if (!error)
        return 0;
    error = errno;
    close_ends(ends, NEAR);
    close_ends(ends, FAR);
    return error;
}

/* What the localities of this host differ in. */
struct place {
    const struct cohort__hub *hub;
    uint32_t slot; /* in the hub and in the ledger */
    char binding[COHORT__BINDING_BYTES];
};

/* Our environment, and the variables for the locality. It is one block, which the caller frees.
 * NULL: no memory. */
static char **make_environment(const struct locality *locality,
                               const struct locality_common *common, const struct place *place)
{
    enum { NUM_OWN = 6, OWN_BYTES = 64 };
    static const char *const names[NUM_OWN] = {
        "COHORT_CONTROL_FD=",       "COHORT_LOCALITY=",       "COHORT_LOCALITIES=",
        "COHORT_BINDING=",          COHORT__HUB_VARIABLE "=", /* and */
        COHORT__LEDGER_VARIABLE "="};
    const int num_given = common->ledger < 0 ? NUM_OWN - 1 : NUM_OWN;
    char values[NUM_OWN][COHORT__BINDING_BYTES];
    snprintf(values[0], sizeof(values[0]), "%d", GUARDIAN_FD_CONTROL);
    snprintf(values[1], sizeof(values[1]), "%u", (unsigned)locality->rank);
    snprintf(values[2], sizeof(values[2]), "%u", (unsigned)common->size);
    snprintf(values[3], sizeof(values[3]), "%s", place->binding);
    snprintf(values[4], sizeof(values[4]), "%d %u", GUARDIAN_NUM_FDS, (unsigned)place->hub->size);
    snprintf(values[5], sizeof(values[5]), "%u %u", guarded_ledger_number(place->hub),
             (unsigned)place->slot);
    size_t num = 0;
    while (environ[num])
        num++;
    char **environment = malloc((num + NUM_OWN + 1) * sizeof(*environment) + NUM_OWN * OWN_BYTES);
    if (!environment)
        return NULL;
    char *own = (char *)(environment + num + NUM_OWN + 1);
    size_t used = 0;
    for (size_t i = 0; i < num; i++) {
        bool is_own = false;
        for (int k = 0; k < NUM_OWN; k++)
            is_own |= strncmp(environ[i], names[k], strlen(names[k])) == 0;
        if (!is_own)
            environment[used++] = environ[i];
    }
    for (int k = 0; k < num_given; k++, own += OWN_BYTES) {
        snprintf(own, OWN_BYTES, "%s%.44s", names[k], values[k]);
        environment[used++] = own;
    }
    environment[used] = NULL;
    return environment;
}

/* A script whose last command has been killed ends within some milliseconds. */
static const uint64_t settle_ns = 250000000;

static void stop_watching(struct member *member)
{
    timer_clear(&member->settle);
    cohort__ending_close(member->ending);
    member->ending = NULL;
}

static void member_ended(void *context)
{
    struct locality *locality = context;
    timer_set(&locality->member.settle, settle_ns);
}

static void member_settled(void *context)
{
    struct locality *locality = context;
    struct member *member = &locality->member;
    stop_watching(member);
    member->lost = member->said;
    member->said = 0;
    locality->handlers->changed(locality);
}

static void member_init(struct locality *locality, struct cohort__loop *loop)
{
    locality->member = (struct member){.loop = loop};
    timer_init(&locality->member.settle, loop, member_settled, locality);
}

/* A HELLO may be read before the guardian has told what it has started. */
static void watch(struct locality *locality)
{
    struct member *member = &locality->member;
    const int top = locality->guarded.pid;
    if (member->said == 0 || top == 0 || member->ending || locality->guarded.end != GUARDED_RUNS)
        return;
    if (member->said == top || !descendants_include(top, member->said))
        return;
    (void)!cohort__ending_open(&member->ending, member->loop, member->said, member_ended, locality);
}

static cohort_status take_control(void *context, const struct cohort__control *control)
{
    struct locality *locality = context;
    struct member *member = &locality->member;
    if (control->kind != COHORT__CONTROL_HELLO && control->kind != COHORT__CONTROL_BYE)
        return COHORT_OK;
    stop_watching(member);
    member->said = control->kind == COHORT__CONTROL_HELLO ? (int)control->pid : 0;
    bool was_lost = member->lost != 0;
    member->lost = 0;
    if (was_lost)
        locality->handlers->changed(locality);
    watch(locality);
    return COHORT_OK;
}

static void control_message(void *context, const void *message, size_t bytes)
{
    struct locality *locality = context;
    /* What makes no sense is for the launcher to refuse. */
    (void)!cohort__control_read(message, bytes, "a locality", take_control, locality);
    locality->handlers->control_arrived(locality, message, bytes);
}

static void control_ended(void *context, cohort_status status)
{
    (void)status; /* whatever it is, nothing more comes */
    struct locality *locality = context;
    locality->control_ended = true;
    locality->handlers->changed(locality);
}

static void guarded_changed(void *context)
{
    struct locality *locality = context;
    if (locality->guarded.end == GUARDED_RUNS)
        watch(locality);
    else
        stop_watching(&locality->member);
    locality->handlers->changed(locality);
}

static struct guarded_options guarded_options(const struct locality *locality,
                                              const struct locality_common *common,
                                              const char *name)
{
    return (struct guarded_options){.loop = common->loop,
                                    .name = name,
                                    .command =
                                        command_of(common->program, common->size, locality->rank),
                                    .descriptors = common->descriptors,
                                    .null = common->null,
                                    .ledger = -1};
}

static cohort_status start_guardian(struct locality *locality, const struct locality_common *common,
                                    const struct place *place)
{
    struct guarded_options options = guarded_options(locality, common, NULL);
    char **environment = make_environment(locality, common, place);
    if (!environment)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    options.environment = environment;
    options.hub = place->hub;
    options.ledger = common->ledger;
    locality->guarded = (struct guarded){.context = locality, .changed = guarded_changed};
    cohort_status status = guarded_start(&locality->guarded, &options);
    free(environment);
    return status;
}

static cohort_status open_connections(struct locality *locality,
                                      const struct locality_common *common, struct ends *ends)
{
    char name[32];
    struct cohort__stream_handlers control = {locality, control_message, control_ended};
    snprintf(name, sizeof(name), "locality %u", (unsigned)locality->rank);
    cohort_status statuses[] = {
        cohort__stream_open(&locality->control, common->loop, ends->fds[GUARDIAN_FD_CONTROL][NEAR],
                            name, COHORT__CONTROL_MAX_MESSAGE, &control),
        locality->handlers->output_opened(locality, OUTPUT_OUT, ends->fds[STDOUT_FILENO][NEAR]),
        locality->handlers->output_opened(locality, OUTPUT_ERR, ends->fds[STDERR_FILENO][NEAR]),
    };
    locality->num_outputs = !statuses[1] + !statuses[2];
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        if (statuses[i])
            return statuses[i];
    return COHORT_OK;
}

static cohort_status start_program(struct locality *locality, const struct locality_common *common)
{
    struct ends ends;
    char name[32];
    int fds[GUARDIAN_FD_LINK] = {locality->rank == 0 ? common->input : common->null};
    snprintf(name, sizeof(name), "locality %u", (unsigned)locality->rank);
    struct guarded_options options = guarded_options(locality, common, name);
    int error = open_ends(&ends);
    if (error)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "its connections: %s", strerror(error));
    for (int i = 1; i < NUM_ENDS; i++)
        fds[i] = ends.fds[i][FAR];
    cohort_status status = guarded_start_program(&locality->guarded, &options, fds);
    close_ends(&ends, FAR);
    if (status)
        close_ends(&ends, NEAR);
    else
        status = open_connections(locality, common, &ends);
    if (!status)
        locality->control_ended = false;
    return status;
}

static cohort_status fail_to_start(const struct locality *locality, cohort_status status)
{
    char why[300];
    snprintf(why, sizeof(why), "%s", cohort_error_message());
    return cohort_fail(status, "cannot start locality %u: %s", (unsigned)locality->rank, why);
}

static void abandon(struct locality *locality)
{
    guarded_abandon(&locality->guarded);
    cohort__stream_close(locality->control);
    locality->control = NULL;
    locality->control_ended = true;
}

/* To start thousands takes a minute, so what would fail is refused before that. */
static cohort_status check_files(uint32_t num, uint32_t files_each)
{
    struct rlimit limit;
    uint64_t need = (uint64_t)num * files_each;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_NO_MEMORY,
                       "cannot start %u localities: cohortrun needs more than %llu open files for "
                       "them, and may have %llu (ulimit -Hn)",
                       (unsigned)num, (unsigned long long)need, (unsigned long long)limit.rlim_cur);
}

/* First starts all guardians, which inherit the hub. After that the hub is closed here, so that its
 * descriptors make room for those of the localities. And fork is fast while this process has few
 * descriptors. A guardian is bound as its program, which inherits that. */
cohort_status localities_start(struct locality *localities, uint32_t num,
                               const struct locality_common *common,
                               const struct locality_handlers *handlers)
{
    struct cohort__hub *hub = NULL;
    uint32_t num_started = 0;
    struct bindings *bindings = NULL;
    cohort_status status = check_files(num, common->files_each);
    if (status)
        return status;
    status = cohort__hub_create(&hub, num);
    if (status)
        return fail_to_start(&localities[0], status);
    for (uint32_t i = 0; i < num; i++) {
        localities[i].handlers = handlers;
        member_init(&localities[i], common->loop);
    }
    status = bindings_create(&bindings, &common->binding, num);
    if (status)
        status = fail_to_start(&localities[0], status);
    else if (common->binding.report)
        bindings_report(bindings, localities[0].rank, num);
    for (uint32_t i = 0; i < num && !status; i++) {
        struct place place = {.hub = hub, .slot = i};
        status = bindings_enter(bindings, i, place.binding);
        if (!status)
            status = start_guardian(&localities[i], common, &place);
        if (status)
            status = fail_to_start(&localities[i], status);
    }
    bindings_leave(bindings);
    bindings_destroy(bindings);
    cohort__hub_destroy(hub);
    for (uint32_t i = 0; i < num && !status; i++) {
        status = start_program(&localities[i], common);
        if (status)
            status = fail_to_start(&localities[i], status);
        else
            num_started++;
    }
    for (uint32_t i = num_started; i < num; i++)
        abandon(&localities[i]);
    return status;
}

static void signal_here(struct locality *locality, int signal)
{
    guarded_signal(&locality->guarded, signal);
}

static void kill_guardian_here(struct locality *locality)
{
    guarded_kill_guardian(&locality->guarded);
}

static void send_control_here(struct locality *locality, const void *message, size_t bytes)
{
    if (locality->control)
        (void)!cohort__stream_send(locality->control, message, bytes);
}

/* Its pipe is read as fast as that goes. */
static void output_taken_here(struct locality *locality, enum output_stream stream, size_t bytes)
{
    (void)locality;
    (void)stream;
    (void)bytes;
}

void locality_init(struct locality *locality, void *context, uint32_t rank)
{
    static const struct locality_ways here = {signal_here, kill_guardian_here, send_control_here,
                                              output_taken_here};
    *locality = (struct locality){
        .context = context,
        .rank = rank,
        .ways = &here,
        .guarded = {.end = GUARDED_NOT_STARTED, .is_gone = true},
        .control_ended = true,
        .judged = true,
    };
}

void locality_signal(struct locality *locality, int signal)
{
    locality->ways->signal(locality, signal);
}

void locality_kill_guardian(struct locality *locality)
{
    locality->ways->kill_guardian(locality);
}

/* A locality that is about to end may miss the message, and does not need it. */
void locality_send_control(struct locality *locality, const void *message, size_t bytes)
{
    if (!locality->control_ended)
        locality->ways->send_control(locality, message, bytes);
}

void locality_output_taken(struct locality *locality, enum output_stream stream, size_t bytes)
{
    locality->ways->output_taken(locality, stream, bytes);
}

bool locality_is_settled(const struct locality *locality)
{
    return locality->guarded.end != GUARDED_RUNS && locality->control_ended &&
           locality->num_outputs == 0;
}

bool locality_is_gone(const struct locality *locality)
{
    return locality_is_settled(locality) && locality->guarded.is_gone;
}

void locality_name(const struct locality *locality, char *text, size_t bytes)
{
    snprintf(text, bytes, locality->guarded.pid ? "locality %u (pid %d)" : "locality %u",
             (unsigned)locality->rank, locality->guarded.pid);
    size_t used = strlen(text);
    if (locality->host_name)
        snprintf(text + used, bytes - used, " on host %.100s", locality->host_name);
}

void locality_describe(const struct locality *locality, char *text, size_t bytes)
{
    locality_name(locality, text, bytes);
    size_t used = strlen(text);
    if (locality->loss && locality->guarded.end == GUARDED_LOST)
        snprintf(text + used, bytes - used, " is lost: %s", locality->loss);
    else
        guarded_describe_end(&locality->guarded, text + used, bytes - used);
}

void locality_read_words(struct locality *locality, int ledger, uint32_t slot)
{
    char text[LOOK_WORDS_BYTES];
    const struct guarded *guarded = &locality->guarded;
    if (!locality->words && ledger >= 0 && guarded->end == GUARDED_ENDED &&
        WIFSIGNALED(guarded->status) && look_read_words(ledger, slot, text, sizeof(text)))
        locality->words = strdup(text);
}

void locality_close(struct locality *locality)
{
    free(locality->words);
    free(locality->given_up);
    locality->words = locality->given_up = NULL;
    stop_watching(&locality->member);
    guarded_close(&locality->guarded);
    cohort__stream_close(locality->control);
    locality->control = NULL;
}
