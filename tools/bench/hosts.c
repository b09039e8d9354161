/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: hosts that are namespaces of this machine, for as long as a function runs. */
#include "tools/bench/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/share/child.h"

const char hosts_network[] = "10.77.0.0/24";
const char hosts_launcher[] = "10.77.0.1";
const char hosts_bridge[] = "br0";
const char hosts_agent[] = "/run/agent";
const char hosts_folder[] = "/run/tmp";

/* What `ip netns exec` starts has mounts of its own, and those of the host hide the launcher's.
 * UCX, in MPICH, takes processes with one IPC namespace for one host's, whatever that is called.
 * The kernel shares out cores among sessions first, so a host has one of its own. */
static const char agent[] =
    "#!/bin/sh\n"
    "host=$1\n"
    "shift\n"
    "exec ip netns exec \"$host\" unshare --uts --ipc sh -c '\n"
    "    hostname \"$0\" && mount --bind /run/tmp-\"$0\" /run/tmp &&\n"
    "        mount --bind /run/shm-\"$0\" /dev/shm && exec setsid --wait sh -c \"$*\"\n"
    "' \"$host\" \"$@\"\n";

static bool failed(const char *what, const char *hint)
{
    fprintf(stderr, "cohort-bench: --hosts: %s: %s%s\n", what, strerror(errno), hint);
    return false;
}

static bool drop_line(void *context, const char *line)
{
    (void)context;
    (void)line;
    return true;
}

/* Runs `ip` with these words. */
__attribute__((format(printf, 1, 2))) static bool ip(const char *format, ...)
{
    char text[128], words[128], *rest = NULL;
    struct programs_command command = {.num_args = 0};
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    memcpy(words, text, sizeof(words));
    programs_command_add(&command, "ip");
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        programs_command_add(&command, word);
    if (child_run(command.args, drop_line, NULL))
        return true;
    fprintf(stderr, "cohort-bench: --hosts: it was: ip %s\n", text);
    return false;
}

/* Mounts are no longer visible outside. */
static bool hide_mounts(void)
{
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool mount_memory(const char *folder)
{
    return mount("none", folder, "tmpfs", MS_NOSUID | MS_NODEV, NULL) == 0 ||
           failed(folder, ": it can't be mounted");
}

static bool make_folder(const char *path)
{
    return mkdir(path, 0700) == 0 || failed(path, "");
}

static bool write_agent(void)
{
    FILE *file = fopen(hosts_agent, "we");
    bool is_written = file && fputs(agent, file) >= 0 && fchmod(fileno(file), 0755) == 0;
    if (file && fclose(file))
        is_written = false;
    return is_written || failed(hosts_agent, "");
}

static bool make_folders(void)
{
    return mount_memory("/run") && mount_memory("/dev/shm") && make_folder("/run/netns") &&
           make_folder(hosts_folder) && write_agent();
}

static bool make_network(void)
{
    return ip("link set lo up") &&
           ip("link add %s address 02:00:00:00:00:01 type bridge", hosts_bridge) &&
           ip("link set %s up", hosts_bridge) &&
           ip("addr add %s/24 dev %s", hosts_launcher, hosts_bridge);
}

/* The congestion control of the system's own choice may pace what is sent: bbr, which some virtual
 * machines have, holds back a message by more than a virtual link takes for it, more in one run
 * than in another (docs/performance.md, "Beside MPI over several hosts"). Reno is there in all
 * kernels, and may be set in a namespace. */
static bool choose_congestion_control(const char *name)
{
    return ip("netns exec %s sysctl -q -w net.ipv4.tcp_congestion_control=reno", name);
}

static bool make_host(const char *name, unsigned i)
{
    char folders[2][64];
    snprintf(folders[0], sizeof(folders[0]), "/run/tmp-%s", name);
    snprintf(folders[1], sizeof(folders[1]), "/run/shm-%s", name);
    return ip("netns add %s", name) && ip("-n %s link set lo up", name) &&
           ip("link add v-%s type veth peer name eth0 netns %s", name, name) &&
           ip("link set v-%s master %s up", name, hosts_bridge) &&
           ip("-n %s addr add 10.77.0.%u/24 dev eth0", name, 2 + i) &&
           ip("-n %s link set eth0 up", name) && choose_congestion_control(name) &&
           make_folder(folders[0]) && make_folder(folders[1]);
}

static bool make_hosts(const char *names)
{
    bool is_made = make_folders() && make_network();
    for (unsigned i = 0; is_made && *names; i++) {
        char name[16];
        size_t length = strcspn(names, ",");
        if (i == HOSTS_MAX || length == 0 || length > HOSTS_MAX_NAME) {
            fprintf(stderr, "cohort-bench: --hosts: not up to %d names of up to %d bytes: '%s'\n",
                    HOSTS_MAX, HOSTS_MAX_NAME, names);
            return false;
        }
        snprintf(name, sizeof(name), "%.*s", (int)length, names);
        is_made = make_host(name, i);
        names += length + (names[length] == ',');
    }
    return is_made;
}

static int exit_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char *needs_root(void)
{
    return errno == EPERM ? ": this needs root" : "";
}

static bool enter_namespaces(void)
{
    if (unshare(CLONE_NEWNS | CLONE_NEWNET))
        return failed("no namespaces of its own", needs_root());
    if (!hide_mounts())
        return failed("no mounts of its own",
                      errno == EINVAL ? ": / is no mount point, as in a chroot" : "");
    return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 ||
           failed("/proc", ": it can't be mounted");
}

/* The first process of its namespace. With it all others end. It outlives neither FUNCTION nor
 * hosts_run's process, and collects processes that have lost their parents. */
static int run_first(const char *names, int (*function)(void *context), void *context)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || !enter_namespaces() || !make_hosts(names))
        return 1;
    int status;
    pid_t pid = fork(), ended;
    if (pid == 0)
        exit(function(context));
    while ((ended = wait(&status)) > 0)
        if (ended == pid)
            return exit_status(status);
    failed("no process for the jobs", "");
    return 1;
}

/* Signals that end this process, if it was not started with the wish to ignore them. */
static void find_signals(sigset_t *signals)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(signals);
    sigaddset(signals, SIGCHLD);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(signals, numbers[i]);
    }
}

/* Waits for the first process, or for one of SIGNALS. When the first process has ended, so has all
 * that it has started. */
static int wait_for(pid_t first, const sigset_t *signals)
{
    int number = 0, status = 0;
    do
        sigwait(signals, &number);
    while (number == SIGCHLD && waitpid(first, &status, WNOHANG) == 0);
    if (number == SIGCHLD)
        return exit_status(status);
    kill(first, SIGKILL);
    waitpid(first, &status, 0);
    sigprocmask(SIG_UNBLOCK, signals, NULL);
    raise(number);
    return 128 + number;
}

/* Starts the first process of a new namespace. Other children of this process remain outside, such
 * as the leak sanitizer's when it ends. -1: that failed, which is printed. */
static pid_t start_first(const char *names, int (*function)(void *context), void *context,
                         const sigset_t *mask)
{
    pid_t first = -1;
    int outside = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
    if (outside < 0) {
        failed("/proc/self/ns/pid", "");
        return -1;
    }
    if (unshare(CLONE_NEWPID))
        failed("no namespaces of its own", needs_root());
    else if ((first = fork()) < 0)
        failed("no process in its namespaces", "");
    if (first == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        exit(run_first(names, function, context));
    }
    if (setns(outside, CLONE_NEWPID))
        failed("the pid namespace outside", "");
    close(outside);
    return first;
}

int hosts_run(const char *names, int (*function)(void *context), void *context)
{
    sigset_t signals, before;
    if (!programs_is_in_path("ip")) {
        fputs("cohort-bench: --hosts needs the program ip, of the package iproute2\n", stderr);
        return 1;
    }
    signal(SIGCHLD, SIG_DFL); /* ignored, it would not come */
    find_signals(&signals);
    fflush(NULL);
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t first = start_first(names, function, context, &before);
    int status = first < 0 ? 1 : wait_for(first, &signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

void hosts_list(uint32_t num, uint32_t slots, char ret_list[HOSTS_MAX_LIST])
{
    int length = 0;
    ret_list[0] = '\0';
    for (uint32_t i = 0; i < num; i++) {
        length += snprintf(ret_list + length, (size_t)(HOSTS_MAX_LIST - length), "%sh%" PRIu32,
                           i ? "," : "", i);
        if (slots)
            length +=
                snprintf(ret_list + length, (size_t)(HOSTS_MAX_LIST - length), ":%" PRIu32, slots);
    }
}

void hosts_launch(struct programs_command *command, uint32_t num, uint32_t slots,
                  struct hosts_words *words)
{
    const char *const args[] = {"--hosts",      words->places, "--listen",
                                hosts_launcher, "--agent",     words->agent};
    hosts_list(num, slots, words->places);
    snprintf(words->agent, sizeof(words->agent), "%s {host}", hosts_agent);
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(command, args[i]);
}
