/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are started where the runtime calls functions of the program, in each way. Each
 * says where and how it was started, and which signals are blocked in it. The first argument:
 * cohort_main or cohort_start.
 *
 * Or "outlive FOLDER": programs that go on when their locality has ended. They are in sessions of
 * their own, and have the file "go" as standard input, at whose end each adds to the file "said"
 * what it has open, and ends. Each locality says at which ports it listens. */
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/cohort.h"
#include "cohort/uv.h"

extern char **environ;
static char *program;

static void say_signals(void)
{
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < SIGRTMAX; number++)
        if (sigismember(&mask, number) == 1)
            printf(" %d", number);
}

static void say_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char what[64];
        int number = (int)strtol(entry->d_name, NULL, 10);
        ssize_t bytes = readlinkat(dirfd(folder), entry->d_name, what, sizeof(what));
        if (bytes > 0 && number > 2 && number != dirfd(folder))
            printf(" %d=%.*s", number, (int)bytes, what);
    }
    if (folder)
        closedir(folder);
}

static int say(const char *where, const char *how)
{
    printf("%s %s:", where, how);
    say_signals();
    say_descriptors();
    printf("\n");
    return 0;
}

static void await_child(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        abort();
}

static void spawn(char *where)
{
    char *args[] = {program, "say", where, "posix_spawn", NULL};
    pid_t child;
    if (posix_spawn(&child, program, NULL, NULL, args, environ) != 0)
        abort();
    await_child(child);
}

static void fork_and_exec(char *where)
{
    char *args[] = {program, "say", where, "fork", NULL};
    pid_t child = fork();
    if (child == 0) {
        execv(program, args);
        _exit(1);
    }
    await_child(child);
}

static void vfork_and_exec(char *where)
{
    char *args[] = {program, "say", where, "vfork", NULL};
    pid_t child = vfork();
    if (child == 0) {
        execv(program, args);
        _exit(1);
    }
    await_child(child);
}

static void call_shell(const char *where)
{
    char command[1024];
    snprintf(command, sizeof(command), "exec '%s' say %s system", program, where);
    if (system(command) != 0)
        abort();
}

static cohort_status start_all(void *where)
{
    spawn(where);
    fork_and_exec(where);
    vfork_and_exec(where);
    call_shell(where);
    return COHORT_OK;
}

static cohort_status block(void *where)
{
    return cohort_blocking(start_all, where);
}

static cohort_status on_loop(uv_loop_t *loop, void *where)
{
    return start_all(where);
}

/* Each locality has called each other one, so that there are connections in both directions. */
static cohort_status answer(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return COHORT_OK;
}

static cohort_status meet(void)
{
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; !status && i < cohort_num_localities(); i++)
        status = cohort_await(cohort_async_at(i, "answer", NULL, NULL));
    return status;
}

static cohort_status start_everywhere(void *arg)
{
    cohort_status met = meet();
    if (met)
        return met;
    for (unsigned worker = 1; worker <= cohort_num_workers(); worker++) {
        cohort_task_options options = {.worker = worker};
        cohort_status status = cohort_await(cohort_async_with(start_all, "task", &options));
        if (status)
            return status;
    }
    cohort_status status = cohort_await(cohort_async(block, "blocking"));
    return status ? status : cohort_await(cohort_run_on_loop(on_loop, "loop"));
}

/* --- programs that outlive their locality --- */

static const char *folder;
static int own_input = -1, own_output = -1, nowhere = -1; /* theirs, in this process */

static int open_in_folder(const char *name, int flags)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return open(path, flags | O_CLOEXEC, 0600);
}

static void spawn_to_outlive(void)
{
    char *args[] = {program, "late", "posix_spawn", NULL}, *none[] = {NULL};
    const int own[] = {own_input, own_output, nowhere};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&actions, own[i], i);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    if (posix_spawn(&child, program, &actions, &attributes, args, none) != 0)
        abort();
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
}

static void fork_to_outlive(void)
{
    char *args[] = {program, "late", "fork", NULL}, *none[] = {NULL};
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child > 0)
        return;
    setsid();
    if (dup2(own_input, 0) == 0 && dup2(own_output, 1) == 1 && dup2(nowhere, 2) == 2)
        execve(program, args, none);
    _exit(1);
}

static cohort_status uv_spawn_to_outlive(uv_loop_t *loop, void *arg)
{
    static uv_process_t process;
    char *args[] = {program, "late", "uv_spawn", NULL}, *none[] = {NULL};
    uv_stdio_container_t own[] = {{.flags = UV_INHERIT_FD, .data.fd = own_input},
                                  {.flags = UV_INHERIT_FD, .data.fd = own_output},
                                  {.flags = UV_INHERIT_FD, .data.fd = nowhere}};
    uv_process_options_t options = {.file = program,
                                    .args = args,
                                    .env = none,
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio = own,
                                    .stdio_count = 3};
    if (uv_spawn(loop, &process, &options) != 0)
        abort();
    uv_close((uv_handle_t *)&process, NULL);
    return COHORT_OK;
}

static void say_ports(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_in name;
        socklen_t bytes = sizeof(name), listens_bytes = sizeof(int);
        int listens = 0;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_bytes) == 0 && listens &&
            getsockname(fd, (struct sockaddr *)&name, &bytes) == 0 && name.sin_family == AF_INET)
            printf("listens %d\n", ntohs(name.sin_port));
    }
}

static cohort_status start_to_outlive(void *arg)
{
    cohort_status status = meet();
    own_input = open_in_folder("go", O_RDONLY);
    own_output = open_in_folder("said", O_WRONLY | O_APPEND);
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (status || own_input < 0 || own_output < 0 || nowhere < 0)
        return status ? status : COHORT_ERR_FAILED;
    say_ports();
    spawn_to_outlive();
    fork_to_outlive();
    return cohort_await(cohort_run_on_loop(uv_spawn_to_outlive, NULL));
}

static int say_late(const char *how)
{
    char byte;
    while (read(0, &byte, 1) > 0)
        ;
    return say("late", how);
}

int main(int argc, char **argv)
{
    sigset_t mask;
    program = argv[0];
    if (argc == 3 && strcmp(argv[1], "late") == 0)
        return say_late(argv[2]);
    if (argc == 4 && strcmp(argv[1], "say") == 0)
        return say(argv[2], argv[3]);
    if (argc != 2 && argc != 3)
        return 2;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (cohort_remote_register("answer", answer, NULL))
        return 1;
    folder = argv[2];
    if (folder)
        return cohort_main(argc, argv, start_to_outlive, NULL);
    if (strcmp(argv[1], "cohort_main") == 0)
        return cohort_main(argc, argv, start_everywhere, NULL);
    if (cohort_start(NULL))
        return 1;
    return cohort_stop(start_everywhere(NULL)) ? 1 : 0;
}
