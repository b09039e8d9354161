/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the process above a program, which ends all that the program leaves behind. */
#include "tools/cohortrun/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/descriptors.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/descendants.h"
#include "tools/cohortrun/oom.h"

static void send_report(const struct report *report)
{
    unsigned char message[4 + sizeof(*report)];
    bytes_put_u32(message, sizeof(*report));
    memcpy(message + 4, report, sizeof(*report));
    /* If cohortrun is gone, the link says so next time. */
    (void)!send(GUARDIAN_FD_LINK, message, sizeof(message), MSG_NOSIGNAL);
}

static void report(enum report_kind kind, int value)
{
    send_report(&(struct report){.kind = (uint32_t)kind, .value = value});
}

/* Puts the program's descriptors at their numbers. False: none come, since cohortrun has ended or
 * given up; or they can't be had, which is reported. */
static bool take_descriptors(void)
{
    char byte;
    int fds[GUARDIAN_FD_LINK];
    unsigned num = GUARDIAN_FD_LINK;
    if (cohort__descriptors_receive(GUARDIAN_FD_LINK, &byte, sizeof(byte), fds, &num) != 1)
        return false;
    if (num != GUARDIAN_FD_LINK) {
        report(REPORT_FAILED, EMFILE); /* the kernel has dropped those that were too many */
        return false;
    }
    for (int fd = 0; fd < GUARDIAN_FD_LINK; fd++) {
        if (dup2(fds[fd], fd) < 0) {
            report(REPORT_FAILED, errno);
            return false;
        }
        close(fds[fd]);
    }
    return true;
}

/* Runs in the new process. It ends in the program, or writes errno to FAILURE. */
static _Noreturn void become_program(char **argv, const sigset_t *signals, pid_t guardian,
                                     int failure)
{
    char *end;
    struct rlimit limit;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guardian)
        _exit(127); /* the guardian died before prctl */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = strtoull(argv[1], &end, 10);
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    sigprocmask(SIG_SETMASK, signals, NULL);
    report(REPORT_STARTED, getpid()); /* before the program itself can say anything */
    execvp(argv[2], argv + 2);
    int error = errno;
    (void)!write(failure, &error, sizeof(error));
    _exit(127);
}

/* Returns the program's pid, or -1 after it has reported the error. */
static pid_t start_program(char **argv, const sigset_t *signals)
{
    int failure[2];
    int error = 0;
    pid_t guardian = getpid();
    if (pipe2(failure, O_CLOEXEC)) {
        report(REPORT_FAILED, errno);
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0)
        become_program(argv, signals, guardian, failure[1]);
    if (pid < 0)
        error = errno;
    close(failure[1]);
    ssize_t got;
    do
        got = pid < 0 ? 0 : read(failure[0], &error, sizeof(error));
    while (got < 0 && errno == EINTR);
    close(failure[0]);
    if (error) {
        if (pid > 0)
            waitpid(pid, NULL, 0);
        report(REPORT_FAILED, error);
        return -1;
    }
    return pid;
}

/* Closes what the program has, so that pipes end when the program closes them. */
static void drop_descriptors(int kept)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < GUARDIAN_FD_CONTROL; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
    close(GUARDIAN_FD_CONTROL);
    if (kept > GUARDIAN_NUM_FDS)
        close_range(GUARDIAN_NUM_FDS, (unsigned)kept - 1, 0);
    close_range((unsigned)kept + 1, ~0u, 0);
}

/* True if the program has ended. Also reaps the processes that the program has left to us. */
static bool reap(pid_t program, int *ret_status)
{
    pid_t pid;
    int status;
    bool ended = false;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != program)
            continue;
        *ret_status = status;
        ended = true;
    }
    return ended;
}

/* False: everything is to end. */
static bool obey(pid_t program)
{
    unsigned char message[5];
    ssize_t got = recv(GUARDIAN_FD_LINK, message, sizeof(message), MSG_WAITALL);
    if (got != sizeof(message) || message[4] == SIGKILL)
        return false;
    kill(-program, message[4]);
    return true;
}

/* True: the program has ended. False: everything is to end. */
static bool watch(pid_t program, int signals, int *ret_status)
{
    struct pollfd pollfds[2] = {{.fd = GUARDIAN_FD_LINK, .events = POLLIN},
                                {.fd = signals, .events = POLLIN}};
    for (;;) {
        struct signalfd_siginfo info;
        if (poll(pollfds, 2, -1) < 0)
            continue;
        if (pollfds[1].revents && read(signals, &info, sizeof(info)) > 0 &&
            reap(program, ret_status))
            return true;
        if (pollfds[0].revents && !obey(program))
            return false;
    }
}

/* Whether it was killed; of a script: the program that it has waited for. */
static bool was_killed(int status)
{
    return WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 128 + SIGKILL;
}

/* Leaves the group that gets the terminal's signals, and gives up the terminal, so that the program
 * can't open it: a process that reads the terminal from outside of that group would be stopped. It
 * stays in cohortrun's session, since Linux shares out a core among sessions before it does so
 * among processes (autogroup). If each locality had a session of its own, sched_yield would not let
 * another one run. */
static void leave_terminal(void)
{
    setpgid(0, 0);
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal < 0)
        return; /* there is none */
    ioctl(terminal, TIOCNOTTY);
    close(terminal);
}

int guardian_main(int argc, char **argv)
{
    sigset_t all, chld, before;
    if (argc < 3)
        return 2;
    /* Blocks the signals that reach this process, since they are meant for the program. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    leave_terminal();
    prctl(PR_SET_NAME, GUARDIAN_NAME);
    descendants_adopt();
    fcntl(GUARDIAN_FD_LINK, F_SETFD, FD_CLOEXEC);
    if (!take_descriptors())
        return 1;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    int signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) {
        int error = errno;
        dprintf(STDERR_FILENO, "cohortrun: signalfd: %s; a filter of system calls (seccomp)?\n",
                strerror(error));
        report(REPORT_FAILED, error);
        return 1;
    }
    int64_t oom_kills = oom_count("");
    pid_t program = start_program(argv, &before);
    if (program < 0)
        return 1;
    drop_descriptors(signals);
    struct report end = {.kind = REPORT_ENDED, .value = SIGKILL}; /* as it will be if we end it */
    if (watch(program, signals, &end.value) && was_killed(end.value))
        (void)oom_describe("", oom_kills, end.oom);
    descendants_kill();
    send_report(&end);
    return 0;
}
