/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: --status: finds a job or a program, and says who waits for whom in it. */
#include "tools/cohortrun/status/status.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/descriptors.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger_read.h"
#include "runtime/loop/stream.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/descendants.h"
#include "tools/cohortrun/node_fetch.h"
#include "tools/cohortrun/status/card.h"
#include "tools/cohortrun/status/cores.h"
#include "tools/cohortrun/status/look.h"
#include "tools/cohortrun/status/model.h"
#include "tools/cohortrun/status/print.h"
#include "tools/cohortrun/status/symbols.h"
#include "tools/share/likeness.h"

/* cohortrun may be starting thousands of localities. */
static const uint64_t timeout_ns = 5000000000;

enum { WHY_BYTES = 200, MAX_PARENTS = 16 };

/* What cohortrun, or the daemon of another host, has said of a locality there. */
struct card_far {
    unsigned char *look; /* a copy, see look.h; NULL: there is none */
    size_t bytes;
    bool is_whole;
    char why[WHY_BYTES]; /* there is none; "": nothing was said */
};

struct query {
    int pid;
    int socket;
    uint64_t deadline;
};

static cohort_status is_gone(const struct query *query)
{
    return cohort_fail(COHORT_ERR_PEER_DIED, "cohortrun %d has ended meanwhile", query->pid);
}

/* COHORT_OK: something can be read, or the end. */
static cohort_status wait_for(const struct query *query)
{
    struct pollfd pollfd = {.fd = query->socket, .events = POLLIN};
    for (;;) {
        uint64_t now = cohort__clock_now();
        if (now >= query->deadline)
            return cohort_fail(COHORT_ERR_TIMEOUT,
                               "cohortrun %d does not answer; is it stopped, or another one's?",
                               query->pid);
        if (poll(&pollfd, 1, (int)((query->deadline - now) / 1000000) + 1) > 0)
            return COHORT_OK;
    }
}

static cohort_status read_all(const struct query *query, unsigned char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        cohort_status status = wait_for(query);
        if (status)
            return status;
        ssize_t got = recv(query->socket, data + done, bytes - done, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno == ECONNRESET))
            return is_gone(query);
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return cohort_fail(COHORT_ERR_SYSTEM, "cohortrun %d: %s", query->pid, strerror(errno));
        done += got > 0 ? (size_t)got : 0;
    }
    return COHORT_OK;
}

static cohort_status is_wrong(const struct query *query)
{
    return cohort_fail(COHORT_ERR_PROTOCOL, "cohortrun %d does not speak as it should", query->pid);
}

/* The caller frees it. */
static cohort_status read_message(const struct query *query, unsigned char **ret_message,
                                  size_t *ret_bytes)
{
    unsigned char head[COHORT__STREAM_HEAD_BYTES];
    cohort_status status = read_all(query, head, sizeof(head));
    if (status)
        return status;
    size_t bytes = bytes_get_u32(head);
    unsigned char *message = bytes <= CARD_MAX_BYTES ? malloc(bytes + 1) : NULL;
    if (!message)
        return is_wrong(query);
    status = read_all(query, message, bytes);
    if (status) {
        free(message);
        return status;
    }
    *ret_message = message;
    *ret_bytes = bytes;
    return COHORT_OK;
}

static cohort_status read_card(const struct query *query, struct card **ret_card)
{
    unsigned char *message;
    size_t bytes;
    cohort_status status = read_message(query, &message, &bytes);
    if (status)
        return status;
    status = card_read(ret_card, message, bytes);
    free(message);
    return status;
}

/* Other hosts -------------------------------------------------------------------------------- */

static cohort_status take_look(const struct query *query, struct card_far *far,
                               enum node_fetch_kind kind, const unsigned char *data, size_t bytes)
{
    if (kind == NODE_FETCH_NONE) {
        snprintf(far->why, sizeof(far->why), "%.*s",
                 (int)(bytes < sizeof(far->why) ? bytes : sizeof(far->why)), (const char *)data);
        return COHORT_OK;
    }
    if (far->is_whole)
        return is_wrong(query);
    unsigned char *look = realloc(far->look, far->bytes + bytes + 1);
    if (!look)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    memcpy(look + far->bytes, data, bytes);
    far->look = look;
    far->bytes += bytes;
    far->is_whole = kind == NODE_FETCH_LAST;
    return COHORT_OK;
}

/* COHORT_ERR_PROTOCOL: MESSAGE makes no sense. */
static cohort_status take_far(const struct query *query, struct card_far *fars, uint32_t num,
                              const unsigned char *message, size_t bytes)
{
    const uint32_t rank = bytes >= CARD_LOOK_HEAD_BYTES ? bytes_get_u32(message + 1) : num;
    if (rank >= num || message[0] != CARD_LOOK || message[5] >= NODE_FETCH_NUM_KINDS)
        return is_wrong(query);
    return take_look(query, &fars[rank], (enum node_fetch_kind)message[5],
                     message + CARD_LOOK_HEAD_BYTES, bytes - CARD_LOOK_HEAD_BYTES);
}

static cohort_status read_far(const struct query *query, struct card_far *fars, uint32_t num)
{
    bool is_over = false;
    cohort_status status = COHORT_OK;
    while (!is_over && !status) {
        unsigned char *message;
        size_t bytes;
        status = read_message(query, &message, &bytes);
        if (status)
            break;
        is_over = bytes == 1 && message[0] == CARD_END;
        if (!is_over)
            status = take_far(query, fars, num, message, bytes);
        free(message);
    }
    return status;
}

/* NULL is fine. */
static void card_far_destroy(struct card_far *fars, uint32_t num)
{
    for (uint32_t i = 0; fars && i < num; i++)
        free(fars[i].look);
    free(fars);
}

/* -------------------------------------------------------------------------------------------- */

/* The first byte, and the ledger with it. */
static cohort_status read_ledger(const struct query *query, int *ret_ledger)
{
    char byte;
    unsigned num = 1;
    cohort_status status = wait_for(query);
    if (status)
        return status;
    if (cohort__descriptors_receive(query->socket, &byte, sizeof(byte), ret_ledger, &num) != 1)
        return is_gone(query);
    if (num == 0)
        *ret_ledger = -1;
    return COHORT_OK;
}

/* Another process may have taken the name: one of another user, or of another space of pids. */
static bool is_it(const struct query *query)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);
    return getsockopt(query->socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
           peer.uid == geteuid() && peer.pid == query->pid;
}

static cohort_status connect_to(struct query *query)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX}; /* sun_path[0] is 0: abstract */
    char name[CARD_NAME_BYTES];
    card_name((uint32_t)geteuid(), query->pid, name);
    memcpy(address.sun_path + 1, name, strlen(name));
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    query->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (query->socket < 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "socket: %s", strerror(errno));
    if (connect(query->socket, (struct sockaddr *)&address, bytes) == 0 && is_it(query))
        return COHORT_OK;
    int error = errno;
    close(query->socket);
    return error == EAGAIN ? cohort_fail(COHORT_ERR_TIMEOUT,
                                         "cohortrun %d does not answer; is it stopped?", query->pid)
                           : cohort_fail(COHORT_ERR_STATE,
                                         "process %d is no cohortrun of this user", query->pid);
}

/* The card, and what follows it. */
static cohort_status read_answer(const struct query *query, struct card **ret_card,
                                 struct card_far **ret_fars)
{
    struct card *card = NULL;
    cohort_status status = read_card(query, &card);
    if (status)
        return status;
    struct card_far *fars = calloc(card->size + 1, sizeof(*fars));
    status = fars ? read_far(query, fars, card->size)
                  : cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    if (status) {
        card_far_destroy(fars, card->size);
        free(card);
        return status;
    }
    *ret_card = card;
    *ret_fars = fars;
    return COHORT_OK;
}

/* Fetches the card from the cohortrun PID of this user, and the descriptor of its ledger; -1: it
 * has none; and what there is of localities of other hosts, of as many as the card has. The card is
 * freed by the caller. COHORT_ERR_STATE: PID is no cohortrun with a job;
 * COHORT_ERR_TIMEOUT: it does not answer; COHORT_ERR_PEER_DIED: it has ended meanwhile;
 * COHORT_ERR_PROTOCOL, COHORT_ERR_NO_MEMORY, COHORT_ERR_SYSTEM. */
static cohort_status card_ask(int pid, struct card **ret_card, int *ret_ledger,
                              struct card_far **ret_fars)
{
    struct query query = {.pid = pid, .deadline = cohort__clock_after(timeout_ns)};
    int ledger = -1;
    cohort_status status = connect_to(&query);
    if (status)
        return status;
    status = read_ledger(&query, &ledger);
    if (!status)
        status = read_answer(&query, ret_card, ret_fars);
    close(query.socket);
    if (status && ledger >= 0)
        close(ledger);
    else if (!status)
        *ret_ledger = ledger;
    return status;
}

/* Finds the jobs of this user in this network namespace. Returns how many there are, of which at
 * most MAX are put into RET_PIDS. */
static size_t card_find(int *ret_pids, size_t max)
{
    size_t num = 0;
    char line[512];
    FILE *sockets = fopen("/proc/net/unix", "re");
    while (sockets && fgets(line, sizeof(line), sockets)) {
        unsigned user;
        int pid;
        unsigned state;
        const char *name = strstr(line, " @cohort-job-");
        if (!name || sscanf(name + 2, CARD_NAME_FORMAT, &user, &pid) != 2 || user != geteuid() ||
            sscanf(line, "%*s %*s %*s %x", &state) != 1 || state != 0x10000)
            continue; /* the flags of one that listens */
        if (num < max)
            ret_pids[num] = pid;
        num++;
    }
    if (sockets)
        fclose(sockets);
    return num;
}

/* What is known of a job, and the memory that it is in. */
struct subject {
    struct status_job job;
    struct card *card;     /* NULL: a program alone */
    struct card_far *fars; /* of the same number of localities */
    int memory;            /* of the ledger; -1: none */
    char (*whys)[WHY_BYTES];
    char program[PATH_MAX];
};

/* Reading ------------------------------------------------------------------------------------ */

static void look_at(struct subject *subject, uint32_t rank, uint32_t slot)
{
    struct status_locality *locality = &subject->job.localities[rank];
    if (look_read(&locality->look, subject->memory, slot, locality->pid))
        snprintf(subject->whys[rank], WHY_BYTES, "%s", cohort_error_message());
}

/* At a locality of another host, by what has been said of it. */
static void look_far(struct subject *subject, uint32_t rank)
{
    const struct card_far *far = &subject->fars[rank];
    const char *host = subject->card->localities[rank].host;
    struct look **look = &subject->job.localities[rank].look;
    char *why = subject->whys[rank];
    if (far->why[0])
        snprintf(why, WHY_BYTES, "%s", far->why);
    else if (!far->is_whole)
        snprintf(why, WHY_BYTES, "host %.100s is out of reach", host);
    else if (look_make(look, far->look, far->bytes))
        snprintf(why, WHY_BYTES, "host %.100s: %.90s", host, cohort_error_message());
}

static cohort_status allocate(struct subject *subject, uint32_t num)
{
    subject->job.num = num;
    subject->job.localities = calloc(num, sizeof(*subject->job.localities));
    subject->whys = calloc(num, sizeof(*subject->whys));
    return subject->job.localities && subject->whys
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
}

/* Those that have ended are looked at as well: their ledgers stay as they were. */
static cohort_status read_job(struct subject *subject)
{
    const struct card *card = subject->card;
    cohort_status status = allocate(subject, card->size);
    if (status)
        return status;
    subject->job.pid = (int)card->pid;
    subject->job.program = card->program;
    for (uint32_t rank = 0; rank < card->size; rank++) {
        struct status_locality *locality = &subject->job.localities[rank];
        const struct card_locality *known = &card->localities[rank];
        locality->pid = (int)known->pid;
        locality->end = known->end[0] ? known->end : NULL;
        locality->host = known->host[0] ? known->host : NULL;
        locality->why = subject->whys[rank];
        snprintf(subject->whys[rank], WHY_BYTES, "cohortrun has no ledger");
        if (known->host[0])
            look_far(subject, rank);
        else if (subject->memory >= 0 && rank - card->first < card->num)
            look_at(subject, rank, rank - card->first);
    }
    return COHORT_OK;
}

static void read_program(struct subject *subject, int pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    ssize_t bytes = readlink(path, subject->program, sizeof(subject->program) - 1);
    snprintf(subject->program + (bytes > 0 ? bytes : 0), 2, bytes > 0 ? "" : "?");
    subject->job.program = subject->program;
}

static cohort_status read_alone(struct subject *subject, int pid)
{
    uint32_t slot;
    cohort_status status = cohort__ledger_find(pid, &subject->memory, &slot);
    if (!status)
        status = allocate(subject, 1);
    if (status)
        return status;
    read_program(subject, pid);
    subject->job.localities[0].pid = pid;
    subject->job.localities[0].why = subject->whys[0];
    look_at(subject, 0, slot);
    return COHORT_OK;
}

/* Finding ------------------------------------------------------------------------------------ */

/* PID itself is cohortrun, or one of its parents is. */
static cohort_status find_job(struct subject *subject, int pid)
{
    cohort_status status = COHORT_ERR_STATE;
    for (int i = 0; i < MAX_PARENTS && pid > 1 && status == COHORT_ERR_STATE; i++) {
        status = card_ask(pid, &subject->card, &subject->memory, &subject->fars);
        pid = descendants_parent_of(pid);
    }
    return status;
}

static cohort_status find_and_read(struct subject *subject, int pid)
{
    cohort_status status = find_job(subject, pid);
    if (status == COHORT_ERR_STATE)
        return read_alone(subject, pid);
    return status ? status : read_job(subject);
}

/* How long PID runs, in seconds. False: it is not known. */
static bool find_age(int pid, double *ret_age)
{
    char path[64], text[1024];
    unsigned long long ticks;
    struct timespec now;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    const char *end = strrchr(text, ')'); /* of the name; the 20th number behind the state: */
    if (!end ||
        sscanf(end + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
               "%*d %*d %*d %llu",
               &ticks) != 1 ||
        clock_gettime(CLOCK_BOOTTIME, &now))
        return false;
    *ret_age = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec -
               (double)ticks / (double)sysconf(_SC_CLK_TCK);
    return *ret_age >= 0;
}

/* Whatever its words are: no control characters reach a terminal. */
static void print_command(int pid)
{
    char path[64], text[400];
    snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
    FILE *file = fopen(path, "re");
    size_t bytes = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file)
        fclose(file);
    const bool is_cut = bytes == sizeof(text);
    while (bytes > 0 && text[bytes - 1] == '\0')
        bytes--;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char at = (unsigned char)text[i];
        fputc(at == '\0' ? ' ' : at < ' ' || at == 0x7f ? '?' : at, stderr);
    }
    fputs(bytes == 0 ? "?\n" : is_cut ? " ...\n" : "\n", stderr);
}

/* One of several jobs, for whoever has to choose: "  4711, for 12 s: cohortrun -n 4 ./heat". */
static void print_choice(int pid)
{
    double age;
    fprintf(stderr, "  %d", pid);
    if (find_age(pid, &age))
        fprintf(stderr, age < 6000 ? ", for %.0f s" : ", for %.1f h",
                age < 6000 ? age : age / 3600);
    fputs(": ", stderr);
    print_command(pid);
}

/* Prints the jobs of this user if there is not exactly one. -1: *RET_PID is the only one. */
static int find_only_job(int *ret_pid)
{
    int pids[64];
    size_t num = card_find(pids, sizeof(pids) / sizeof(pids[0]));
    if (num == 1) {
        *ret_pid = pids[0];
        return -1;
    }
    if (num == 0) {
        fputs("cohortrun: there is no job of this user on this host and in this network namespace; "
              "a program that runs without cohortrun is named by its pid\n",
              stderr);
        return 1;
    }
    fputs("cohortrun: there are several jobs; say which one: cohortrun " STATUS_OPTION " PID\n",
          stderr);
    size_t shown = 0;
    for (; shown < num && shown < sizeof(pids) / sizeof(pids[0]); shown++)
        print_choice(pids[shown]);
    if (shown < num)
        fprintf(stderr, "  and %zu more\n", num - shown);
    return 2;
}

/* -------------------------------------------------------------------------------------------- */

static cohort_status show(const struct status_model *model, bool is_json)
{
    struct symbols *symbols = symbols_create();
    if (is_json)
        status_json(stdout, model, symbols);
    else
        status_print(stdout, model, symbols);
    symbols_destroy(symbols);
    return fflush(stdout) ? cohort_fail(COHORT_ERR_SYSTEM, "cannot write: %s", strerror(errno))
                          : COHORT_OK;
}

static void fini(struct subject *subject)
{
    for (uint32_t rank = 0; rank < subject->job.num && subject->job.localities; rank++)
        look_destroy(subject->job.localities[rank].look);
    free(subject->job.localities);
    free(subject->whys);
    card_far_destroy(subject->fars, subject->card ? subject->card->size : 0);
    free(subject->card);
    if (subject->memory >= 0)
        close(subject->memory);
}

/* What to look at, and how to say it. */
struct wish {
    bool is_status, is_json;
    const char *job;    /* NULL: the only one, or core files */
    const char **cores; /* as many as there are words */
    uint32_t num_cores;
};

/* Prints what is wrong with WORD, and returns false. */
static bool refuse_word(const char *word)
{
    static const char *const known[] = {STATUS_OPTION, STATUS_JSON_OPTION};
    fprintf(stderr, "cohortrun: '%s' ", word);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(word, known[i]) == 0) {
            fputs("is given twice\n", stderr);
            return false;
        }
        if (likeness_is_close(word, known[i])) {
            fprintf(stderr, "is no option; is %s meant?\n", known[i]);
            return false;
        }
    }
    fputs("does not go with " STATUS_OPTION
          ", which takes a pid or core files, and " STATUS_JSON_OPTION "\n",
          stderr);
    return false;
}

/* WORD is a pid, or else the name of a core file. False as below. */
static bool read_subject(struct wish *wish, const char *word)
{
    const bool is_pid = word[strspn(word, "0123456789")] == '\0';
    const char *before = is_pid ? wish->job : NULL;
    if (before || (is_pid && wish->num_cores > 0) || (!is_pid && wish->job)) {
        fprintf(stderr,
                before ? "cohortrun: one pid stands behind " STATUS_OPTION ", but '%s' is another\n"
                       : "cohortrun: '%s': either a pid stands behind " STATUS_OPTION
                         ", or core files\n",
                word);
        return false;
    }
    if (!is_pid && access(word, F_OK) != 0) {
        fprintf(stderr, "cohortrun: " STATUS_OPTION " needs a pid or core files, not '%s': %s\n",
                word, strerror(errno));
        return false;
    }
    if (is_pid)
        wish->job = word;
    else
        wish->cores[wish->num_cores++] = word;
    return true;
}

/* False: WORDS make no sense, which has been printed. */
static bool read_words(struct wish *wish, int num, char *const *words)
{
    bool is_right = true;
    for (int i = 0; i < num && is_right; i++)
        if (!wish->is_status && strcmp(words[i], STATUS_OPTION) == 0)
            wish->is_status = true;
        else if (!wish->is_json && strcmp(words[i], STATUS_JSON_OPTION) == 0)
            wish->is_json = true;
        else
            is_right = words[i][0] != '-' ? read_subject(wish, words[i]) : refuse_word(words[i]);
    if (is_right && !wish->is_status)
        fputs("cohortrun: " STATUS_JSON_OPTION " needs " STATUS_OPTION "\n", stderr);
    return is_right && wish->is_status;
}

bool status_is_asked(const char *first)
{
    return strcmp(first, STATUS_OPTION) == 0 || strcmp(first, STATUS_JSON_OPTION) == 0;
}

/* Whether anything is known of the localities, or all have ended. */
static bool is_read(const struct status_job *job)
{
    bool all_have_ended = true;
    for (uint32_t rank = 0; rank < job->num; rank++) {
        if (job->localities[rank].look)
            return true;
        all_have_ended &= job->localities[rank].end != NULL;
    }
    return all_have_ended;
}

static int say_error(void)
{
    fprintf(stderr, "cohortrun: %s\n", cohort_error_message());
    return 1;
}

static int show_cores(const struct wish *wish)
{
    struct status_cores *cores = NULL;
    struct status_model *model = NULL;
    cohort_status status = status_cores_create(&cores, wish->cores, wish->num_cores);
    if (!status)
        status = status_model_create(&model, status_cores_job(cores));
    if (!status)
        status = show(model, wish->is_json);
    status_model_destroy(model);
    status_cores_destroy(cores);
    return status ? say_error() : 0;
}

/* Whether there may be a deadlock, and none that is proven. */
static bool is_in_doubt(const struct status_model *model)
{
    bool any_certain = false;
    for (uint32_t i = 0; i < model->num_cycles; i++)
        any_certain |= model->cycles[i].is_certain;
    return model->num_cycles > 0 && !any_certain;
}

static cohort_status look_once(struct subject *subject, struct status_model **ret_model, int pid)
{
    cohort_status status = find_and_read(subject, pid);
    return status ? status : status_model_create(ret_model, &subject->job);
}

/* A worker that is awake for its tick might let tasks go on, and a task that has waited for less
 * than a second may soon go on by itself. So where there is doubt this looks again, for a good
 * second. */
static cohort_status look_until_sure(struct subject subjects[2], struct subject **ret_subject,
                                     struct status_model **ret_model, int pid)
{
    const uint64_t end = cohort__clock_now() + 1200000000;
    const struct timespec pause = {.tv_nsec = 50000000};
    struct subject *subject = &subjects[0], *next = &subjects[1];
    cohort_status status = look_once(subject, ret_model, pid);
    while (!status && is_in_doubt(*ret_model) && cohort__clock_now() < end) {
        struct status_model *model = NULL;
        nanosleep(&pause, NULL);
        if (look_once(next, &model, pid))
            break; /* it has ended, say: what was seen before is shown */
        status_model_destroy(*ret_model);
        *ret_model = model;
        fini(subject);
        *subject = (struct subject){.memory = -1};
        next = subject;
        subject = subject == &subjects[0] ? &subjects[1] : &subjects[0];
    }
    *ret_subject = subject;
    return status;
}

static int show_job(const struct wish *wish)
{
    struct subject subjects[2] = {{.memory = -1}, {.memory = -1}}, *subject = NULL;
    int pid = 0, result;
    if (wish->job) {
        long number = strtol(wish->job, NULL, 10);
        pid = number > 0 && number <= INT_MAX ? (int)number : 0;
        if (!pid) {
            fprintf(stderr, "cohortrun: " STATUS_OPTION " needs a pid, not '%s'\n", wish->job);
            return 2;
        }
    } else if ((result = find_only_job(&pid)) >= 0) {
        return result;
    }
    struct status_model *model = NULL;
    cohort_status status = look_until_sure(subjects, &subject, &model, pid);
    if (!status)
        status = show(model, wish->is_json);
    const bool is_said = !status && is_read(&subject->job);
    status_model_destroy(model);
    for (size_t i = 0; i < 2; i++)
        fini(&subjects[i]);
    return status ? say_error() : is_said ? 0 : 1;
}

int status_main(int num, char *const *words)
{
    struct wish wish = {.cores = calloc((size_t)num + 1, sizeof(*wish.cores))};
    int result = 2;
    if (!wish.cores) {
        fputs("cohortrun: out of memory\n", stderr);
        return 1;
    }
    signal(SIGQUIT, SIG_IGN); /* which is for the cohortrun that has started this one */
    if (read_words(&wish, num, words))
        result = wish.num_cores > 0 ? show_cores(&wish) : show_job(&wish);
    free(wish.cores);
    return result;
}
