/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/bootstrap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/loop/loop.h"
#include "runtime/loop/stream.h"
#include "runtime/launch/control.h"
#include "runtime/launch/launcher.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* What the handlers were told. When they are asked for counts, they answer with these. */
struct locality {
    struct cohort__bootstrap *bootstrap;
    uint64_t sent, received;
    unsigned num_asked;
    unsigned num_exit_allowed;
    unsigned num_died;
    unsigned num_lost;
    char text[256];
};

static void count_asked(void *context, uint64_t round)
{
    struct locality *locality = context;
    locality->num_asked++;
    cohort__bootstrap_report_counts(locality->bootstrap, round, locality->sent, locality->received,
                                    locality->num_asked == 1);
}

static void exit_allowed(void *context)
{
    ((struct locality *)context)->num_exit_allowed++;
}

static void died(void *context, uint32_t rank, uint32_t order, const char *text)
{
    struct locality *locality = context;
    CHECK_INT(rank, 1);
    CHECK_INT(order, 1);
    locality->num_died++;
    snprintf(locality->text, sizeof(locality->text), "%s", text);
}

static void launcher_lost(void *context, const char *text)
{
    struct locality *locality = context;
    locality->num_lost++;
    snprintf(locality->text, sizeof(locality->text), "%s", text);
}

static struct cohort__loop *loop;
static struct locality locality;

static void begin(void)
{
    CHECK_OK(cohort__loop_create(&loop));
}

static cohort_status create(void)
{
    struct cohort__bootstrap_handlers handlers = {.context = &locality,
                                                  .count_asked = count_asked,
                                                  .exit_allowed = exit_allowed,
                                                  .died = died,
                                                  .launcher_lost = launcher_lost};
    memset(&locality, 0, sizeof(locality));
    return cohort__bootstrap_create(&locality.bootstrap, loop, &handlers);
}

static void end(void)
{
    cohort__bootstrap_destroy(locality.bootstrap);
    cohort__loop_destroy(loop);
}

#define TEST_ALONE(name) TEST_BETWEEN(name, begin(), end())

TEST_ALONE(singleton)
{
    size_t bytes;
    CHECK_OK(create());
    struct cohort__bootstrap *bootstrap = locality.bootstrap;
    CHECK_INT(cohort__bootstrap_job(bootstrap)->rank, 0);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->size, 1);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->epoch, 1);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->workers, 0);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->sharing, 1);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->slot, 0);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->num_hosts, 1);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->host, 0);
    CHECK_TEXT(cohort__bootstrap_job(bootstrap)->host_address, "127.0.0.1");
    CHECK_OK(cohort__bootstrap_exchange(bootstrap, "here", 5));
    CHECK_TEXT(cohort__bootstrap_address(bootstrap, 0, &bytes), "here");
    CHECK_INT((long long)bytes, 5);
    CHECK_INT(cohort__bootstrap_exchange(bootstrap, "here", 5), COHORT_ERR_STATE);
    cohort__bootstrap_report_failure(bootstrap, "nobody listens");
    locality.sent = locality.received = 7;
    cohort__bootstrap_finished(bootstrap);
    PARK_WHILE(loop, !locality.num_exit_allowed);
    CHECK_INT(locality.num_asked, 3); /* one while busy, and then two equal ones */
}

/* Destroyed while much is going on: no handler is called any more. */
TEST_ALONE(singleton_destroyed_early)
{
    CHECK_OK(create());
    CHECK_OK(cohort__bootstrap_exchange(locality.bootstrap, "", 0));
    cohort__bootstrap_finished(locality.bootstrap);
    cohort__bootstrap_destroy(locality.bootstrap);
    CHECK_INT(locality.num_asked, 0);
    CHECK_OK(create());
    CHECK_OK(cohort__bootstrap_exchange(locality.bootstrap, "", 0));
    locality.sent = 1; /* never quiet, so that it pauses at last */
    cohort__bootstrap_finished(locality.bootstrap);
    PARK_WHILE(loop, locality.num_asked < 6);
    cohort__bootstrap_destroy(NULL);
}

/* A launcher in the same loop: the real state machine with the other end of a socket pair as
 * locality 0. The test plays locality 1. */
struct fake {
    struct cohort__launcher *launcher;
    int fd;
    struct cohort__stream *stream;
    unsigned num_broken;
    unsigned num_accused;
    char accused[200]; /* the latest accusation */
    bool keeps_counts; /* what locality 0 answers, instead of the launcher: */
    unsigned num_counts;
    uint64_t last_round;
};

static void fake_send(void *context, uint32_t rank, const void *message, size_t bytes)
{
    struct fake *fake = context;
    if (rank == 0)
        CHECK_OK(cohort__stream_send(fake->stream, message, bytes));
}

static void fake_pause(void *context, uint64_t nanoseconds)
{
}

static void fake_broken(void *context, uint32_t rank, const char *text)
{
    ((struct fake *)context)->num_broken++;
}

static void fake_accused(void *context, uint32_t rank, uint32_t by, bool at_fault, const char *text)
{
    struct fake *fake = context;
    fake->num_accused++;
    snprintf(fake->accused, sizeof(fake->accused), "%u by %u%s: %s", (unsigned)rank, (unsigned)by,
             at_fault ? " at fault" : "", text);
}

static void fake_say(struct fake *fake, const struct cohort__control *control)
{
    struct cohort__packer packer = {0};
    cohort__control_pack(&packer, control);
    cohort__launcher_message(fake->launcher, 1, packer.data, packer.bytes);
    cohort__packer_fini(&packer);
}

/* To locality 0. */
static void fake_tell(struct fake *fake, const struct cohort__control *control)
{
    struct cohort__packer packer = {0};
    cohort__control_pack(&packer, control);
    fake_send(fake, 0, packer.data, packer.bytes);
    cohort__packer_fini(&packer);
}

static cohort_status keep_counts(void *context, const struct cohort__control *control)
{
    struct fake *fake = context;
    fake->num_counts += control->kind == COHORT__CONTROL_COUNTS;
    fake->last_round = control->round;
    return COHORT_OK;
}

static void fake_message(void *context, const void *message, size_t bytes)
{
    struct fake *fake = context;
    if (fake->keeps_counts)
        CHECK_OK(cohort__control_read(message, bytes, "locality 0", keep_counts, fake));
    else
        cohort__launcher_message(fake->launcher, 0, message, bytes);
}

static void fake_ended(void *context, cohort_status status)
{
}

static struct fake fake;

static void launch(void)
{
    int fds[2];
    char number[16];
    struct cohort__launcher_options options = {.size = 2, .workers = 3, .key = 99};
    struct cohort__launcher_handlers handlers = {.context = &fake,
                                                 .send = fake_send,
                                                 .pause = fake_pause,
                                                 .broken = fake_broken,
                                                 .accused = fake_accused};
    struct cohort__stream_handlers stream = {&fake, fake_message, fake_ended};
    memset(&fake, 0, sizeof(fake));
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    fake.fd = fds[0];
    snprintf(number, sizeof(number), "%d", fds[1]);
    setenv("COHORT_CONTROL_FD", number, 1);
    CHECK_OK(cohort__stream_open(&fake.stream, loop, fds[0], "locality 0",
                                 COHORT__CONTROL_MAX_MESSAGE, &stream));
    CHECK_OK(cohort__launcher_create(&fake.launcher, &options, &handlers));
    fake_say(&fake, &(struct cohort__control){.kind = COHORT__CONTROL_HELLO,
                                              .version = COHORT__CONTROL_VERSION,
                                              .address = {"there", 6}});
}

/* Both have joined. */
static void begin_launched(void)
{
    begin();
    launch();
    CHECK_OK(create());
}

static void end_launched(void)
{
    cohort__bootstrap_destroy(locality.bootstrap);
    cohort__stream_close(fake.stream);
    cohort__launcher_destroy(fake.launcher);
    cohort__loop_destroy(loop);
}

#define TEST_LAUNCHED(name) TEST_BETWEEN(name, begin_launched(), end_launched())

TEST(launched)
{
    size_t bytes;
    begin();
    launch();
    int fd = atoi(getenv("COHORT_CONTROL_FD"));
    CHECK_OK(create());
    CHECK(!getenv("COHORT_CONTROL_FD"));
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    struct cohort__bootstrap *bootstrap = locality.bootstrap;
    CHECK_INT(cohort__bootstrap_job(bootstrap)->rank, 0);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->size, 2);
    CHECK_INT((long long)cohort__bootstrap_job(bootstrap)->key, 99);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->workers, 3);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->sharing, 2);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->slot, 0);
    CHECK_INT(cohort__bootstrap_job(bootstrap)->num_hosts, 1);
    CHECK_TEXT(cohort__bootstrap_job(bootstrap)->host_address, "127.0.0.1");
    CHECK_OK(cohort__bootstrap_exchange(bootstrap, "here", 5));
    CHECK_TEXT(cohort__bootstrap_address(bootstrap, 1, &bytes), "there");
    CHECK_TEXT(cohort__bootstrap_address(bootstrap, 0, &bytes), "here");
    cohort__bootstrap_report_failure(bootstrap, "a reason");
    cohort__bootstrap_finished(bootstrap);
    PARK_WHILE(loop, !cohort__launcher_failure(fake.launcher, 0));
    fake_say(&fake, &(struct cohort__control){.kind = COHORT__CONTROL_FINISHED});
    for (unsigned round = 1; round <= 3; round++) {
        PARK_WHILE(loop, locality.num_asked < round);
        fake_say(&fake, &(struct cohort__control){.kind = COHORT__CONTROL_COUNTS, .round = round});
    }
    PARK_WHILE(loop, !locality.num_exit_allowed);
    CHECK_INT(locality.num_asked, 3);
    cohort__bootstrap_destroy(bootstrap);
    locality.bootstrap = NULL;
    fake_say(&fake, &(struct cohort__control){.kind = COHORT__CONTROL_BYE});
    /* Its BYE has been sent, so the launcher is ready for the next epoch. */
    cohort__loop_park(loop);
    cohort__launcher_ended(fake.launcher, 1, false, "locality 1 exited");
    cohort__launcher_ended(fake.launcher, 0, false, "locality 0 exited");
    CHECK_INT(fake.num_broken, 0);
    CHECK_INT(locality.num_lost, 0);
    end_launched();
}

static void ask(uint64_t round)
{
    fake_tell(&fake, &(struct cohort__control){.kind = COHORT__CONTROL_COUNT, .round = round});
}

/* As after a death in the drain: two questions are read at once. The later one is answered. */
TEST_LAUNCHED(asked_twice)
{
    CHECK_OK(cohort__bootstrap_exchange(locality.bootstrap, "here", 5));
    fake.keeps_counts = true;
    for (uint64_t round = 1; round <= 5; round += 2) {
        ask(round);
        ask(round + 1);
        PARK_WHILE(loop, fake.last_round < round + 1);
        CHECK_INT(locality.num_asked, (long long)round + 1);
    }
    CHECK_INT(fake.num_counts, 3);
}

TEST_LAUNCHED(peer_dies)
{
    CHECK_OK(cohort__bootstrap_exchange(locality.bootstrap, "here", 5));
    cohort__launcher_ended(fake.launcher, 1, true, "locality 1 was killed");
    PARK_WHILE(loop, !locality.num_died);
    CHECK_TEXT(locality.text, "locality 1 was killed");
    cohort__stream_close(fake.stream);
    fake.stream = NULL;
    PARK_WHILE(loop, !locality.num_lost);
    CHECK_TEXT(locality.text, "the launcher has ended");
}

/* Whom this locality can't reach; and itself, if it has no memory to say it. */
TEST_LAUNCHED(accuses)
{
    CHECK_OK(cohort__bootstrap_exchange(locality.bootstrap, "here", 5));
    cohort__bootstrap_accuse(locality.bootstrap, 1, false, "can't be reached");
    PARK_WHILE(loop, fake.num_accused < 1);
    CHECK_TEXT(fake.accused, "1 by 0: locality 0 says that locality 1 can't be reached");
    for (int time = 0; time < 2; time++) {
        scarce_begin(0);
        cohort__bootstrap_accuse(locality.bootstrap, 1, false, "can't be reached");
        CHECK(scarce_end());
    }
    PARK_WHILE(loop, fake.num_accused < 2);
    CHECK_TEXT(fake.accused,
               "0 by 0 at fault: locality 0 says that it has no memory to say what is wrong");
    cohort__bootstrap_destroy(locality.bootstrap);
    locality.bootstrap = NULL;
    CHECK_INT(fake.num_accused, 2);
}

TEST_LAUNCHED(peer_dies_before_exchange)
{
    cohort__launcher_ended(fake.launcher, 1, true, "locality 1 was killed");
    fake_tell(&fake, &(struct cohort__control){.kind = COHORT__CONTROL_DIED,
                                               .rank = 0,
                                               .order = 2,
                                               .text = "another one was, because of that"});
    CHECK_INT(cohort__bootstrap_exchange(locality.bootstrap, "here", 5), COHORT_ERR_PEER_DIED);
    CHECK_TEXT(cohort_error_message(), "locality 1 was killed");
    CHECK_INT(locality.num_died, 0);
}

/* The linker redirects all calls of nanosleep here: a pause between two tries of an abort. After so
 * many pauses the launcher reads all that is in its socket. */

static struct {
    unsigned num_pauses, most;
    int fd;
    size_t bytes; /* that were read */
    char last[512];
    size_t num_last; /* how many bytes of that */
} full;

static void drain(void)
{
    ssize_t bytes;
    while ((bytes = recv(full.fd, full.last, sizeof(full.last), MSG_DONTWAIT)) > 0) {
        full.bytes += (size_t)bytes;
        full.num_last = (size_t)bytes;
    }
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *ret_left)
{
    CHECK(time->tv_sec == 0 && time->tv_nsec == 1000000);
    if (++full.num_pauses == full.most)
        drain();
    return 0;
}

/* A locality whose launcher does not read: its socket is full. */
static size_t fill(int fd)
{
    static const char bytes[512];
    size_t num = 0;
    for (ssize_t sent; (sent = send(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0;)
        num += (size_t)sent;
    CHECK(num > sizeof(bytes));
    return num;
}

static cohort_status is_abort(void *context, const struct cohort__control *control)
{
    CHECK_INT(control->kind, COHORT__CONTROL_ABORT);
    CHECK_INT(control->code, 9);
    CHECK_INT(strlen(control->text), 6);
    CHECK_INT(memcmp(control->text, "enough", 6), 0);
    return COHORT_OK;
}

/* MOST: after so many pauses the launcher reads; 0: never. */
static void check_full(unsigned most, bool is_told)
{
    begin();
    launch();
    const int fd = atoi(getenv("COHORT_CONTROL_FD"));
    CHECK_OK(create());
    CHECK_OK(cohort__bootstrap_exchange(locality.bootstrap, "here", 5));
    memset(&full, 0, sizeof(full));
    full.most = most;
    full.fd = fake.fd;
    const size_t before = fill(fd);
    CHECK_INT(cohort__bootstrap_abort(locality.bootstrap, 9, "enough"), is_told);
    CHECK_INT(full.num_pauses, is_told ? most : 1000);
    drain();
    if (is_told) { /* it is whole, and behind all else */
        const size_t bytes = full.bytes - before;
        CHECK(bytes > COHORT__STREAM_HEAD_BYTES && bytes <= full.num_last);
        CHECK_OK(cohort__control_read(full.last + full.num_last - bytes + COHORT__STREAM_HEAD_BYTES,
                                      bytes - COHORT__STREAM_HEAD_BYTES, "it", is_abort, NULL));
        _exit(0); /* nobody speaks after an abort */
    }
    CHECK_INT((long long)full.bytes, (long long)before);
    end_launched();
}

/* An abort does not wait for a launcher for ever: whoever aborts prints its reason then, and ends.
 * It stays without a part of a message. If the launcher reads in time, it is told. */
TEST(abort_full)
{
    check_full(0, false);
    check_full(1000, false); /* after the last try */
}

TEST(abort_full_for_a_while)
{
    int status, pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        check_full(3, true);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void check_not_created(cohort_status want, const char *why)
{
    begin();
    CHECK_FAILS(create(), want, why);
    CHECK(!locality.bootstrap);
    end();
}

static void check_environment(const char *value, cohort_status want, const char *why)
{
    setenv("COHORT_CONTROL_FD", value, 1);
    check_not_created(want, why);
    unsetenv("COHORT_CONTROL_FD");
}

/* One of several processes of a launcher that speaks no PMIx. */
TEST(alone_among_several)
{
    unsetenv("COHORT_ALONE"); /* a locality of cohortrun sets it */
    setenv("PMI_SIZE", "1", 1);
    test_singleton();
    setenv("PMI_SIZE", "3", 1);
    check_not_created(COHORT_ERR_NOT_SUPPORTED,
                      "PMI_SIZE says that this is one of 3 processes, but their launcher speaks no "
                      "PMIx, so each would be a job of one locality; start the job with cohortrun "
                      "-n 3, or with a launcher that speaks PMIx, or set COHORT_ALONE=1");
    unsetenv("PMI_SIZE");
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    setenv("SLURM_PROCID", "0", 1);
    check_not_created(COHORT_ERR_NOT_SUPPORTED,
                      "start the job with cohortrun -n 4, or with srun --mpi=pmix");
    setenv("COHORT_ALONE", "yes", 1);
    check_not_created(COHORT_ERR_BAD_PARAMETER, "COHORT_ALONE is \"yes\", not 0 or 1");
    setenv("COHORT_ALONE", "1", 1);
    test_singleton();
    unsetenv("COHORT_ALONE");
    unsetenv("SLURM_STEP_NUM_TASKS");
    unsetenv("SLURM_PROCID");
}

TEST(bad_environment)
{
    check_environment("", COHORT_ERR_BAD_PARAMETER, "COHORT_CONTROL_FD is ''");
    check_environment("3x", COHORT_ERR_BAD_PARAMETER, "COHORT_CONTROL_FD is '3x'");
    check_environment("-1", COHORT_ERR_BAD_PARAMETER, "COHORT_CONTROL_FD is '-1'");
    check_environment("987", COHORT_ERR_BAD_PARAMETER, "the program between has closed it");
    int file = open("/dev/null", O_RDONLY);
    char number[16];
    snprintf(number, sizeof(number), "%d", file);
    check_environment(number, COHORT_ERR_BAD_PARAMETER, "no connection to cohortrun");
    close(file);
}

static cohort_status is_failed(void *context, const struct cohort__control *control)
{
    CHECK_INT(control->kind, COHORT__CONTROL_FAILED);
    CHECK(strstr(control->text, "not WELCOME"));
    return COHORT_OK;
}

/* A launcher whose first message is another one, nonsense, or missing. */
static void check_welcome(const void *bytes, size_t num_bytes, cohort_status want, const char *why)
{
    int fds[2];
    char number[16];
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    CHECK(write(fds[0], bytes, num_bytes) == (ssize_t)num_bytes);
    close(fds[0]);
    snprintf(number, sizeof(number), "%d", fds[1]);
    check_environment(number, want, why);
}

/* The launcher is told the reason, since what arrived here may be for another program of the
 * locality. */
static void check_refused(int fd)
{
    char said[512];
    ssize_t bytes = read(fd, said, sizeof(said));
    CHECK(bytes > COHORT__STREAM_HEAD_BYTES);
    CHECK_INT((unsigned char)said[0] + 256 * (unsigned char)said[1],
              bytes - COHORT__STREAM_HEAD_BYTES);
    CHECK_OK(cohort__control_read(said + COHORT__STREAM_HEAD_BYTES,
                                  (size_t)bytes - COHORT__STREAM_HEAD_BYTES, "it", is_failed,
                                  NULL));
    CHECK_INT(read(fd, said, sizeof(said)), 0); /* the connection is closed */
    close(fd);
}

TEST(refusal_is_told)
{
    int fds[2];
    char number[16];
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    CHECK_INT(write(fds[0], "\7\0\0\0\x81\xa4kind\4", 11), 11);
    snprintf(number, sizeof(number), "%d", fds[1]);
    check_environment(number, COHORT_ERR_PROTOCOL, "not WELCOME");
    check_refused(fds[0]);
}

/* It has not come to a bootstrap. */
TEST(refuse)
{
    int fds[2];
    char number[16];
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    snprintf(number, sizeof(number), "%d", fds[1]);
    CHECK_INT(setenv("COHORT_CONTROL_FD", number, 1), 0);
    CHECK_INT(cohort_fail(COHORT_ERR_STATE, "not WELCOME"), COHORT_ERR_STATE);
    cohort__bootstrap_refuse(cohort_error_message());
    CHECK(!getenv("COHORT_CONTROL_FD"));
    check_refused(fds[0]);
    CHECK_INT(setenv("COHORT_CONTROL_FD", "none", 1), 0);
    CHECK_INT(cohort_fail(COHORT_ERR_STATE, "not WELCOME"), COHORT_ERR_STATE);
    cohort__bootstrap_refuse(cohort_error_message());
    CHECK(!getenv("COHORT_CONTROL_FD"));
    CHECK_TEXT(cohort_error_message(), "not WELCOME");
    cohort__bootstrap_refuse("alone");
}

TEST(bad_welcome)
{
    check_welcome("", 0, COHORT_ERR_NETWORK, "the launcher has ended");
    check_welcome("\1\0\0", 3, COHORT_ERR_NETWORK, "the launcher has ended");
    check_welcome("\xff\xff\xff\xff", 4, COHORT_ERR_PROTOCOL, "4294967295 bytes");
    check_welcome("\1\0\0\0\x80", 5, COHORT_ERR_PROTOCOL, "field 'kind' is missing");
    check_welcome("\7\0\0\0\x81\xa4kind\4", 11, COHORT_ERR_PROTOCOL,
                  "the launcher sent EXIT, not WELCOME");
}

int main(int argc, char **argv)
{
    scarce_init();
    unsetenv("COHORT_CONTROL_FD");
    signal(SIGPIPE, SIG_IGN);
    return tests_run(argc, argv);
}
