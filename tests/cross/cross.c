/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectives/coll/tuning.h"
#include "tests/cross/play.h"
#include "tests/cross/simulation.h"
#include "tests/support/cluster.h"
#include "tests/support/launch.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* Programs in which all features meet, drawn from seeds, each in a process of its own.
 *
 * test_cross plays them by one thread and a clock of its own: so a seed is the same program, in the
 * same order of events, each time. One that fails is shrunk: numbers that it is drawn from are left
 * out, or get smaller, as long as it fails in the same way.
 *
 * test_cross_threads plays them by several workers, in real time: so a seed is the same program,
 * and one that fails may not do so again. It is not shrunk. In processes they are played by
 * tests/multi/cross_test.py.
 *
 * cross [OPTIONS] SEED [NUM]       plays NUM (1) seeds from SEED on
 * cross [OPTIONS] --repeat N SEED  plays SEED N times, which have to be the same without threads
 * cross [OPTIONS] --choices LIST   plays what has been shrunk
 *
 * --shm: the localities share memory; --trace: prints what happens; --as-drawn: shrinks nothing */

/* What a child leaves to its parent. */
struct result {
    struct choices choices;
    uint64_t sum; /* of its trace */
    bool has_ended;
};

static struct result *result; /* shared */
static struct program program;
static bool shows_trace, shares_memory, is_as_drawn;

static void draw(void)
{
    struct means means = simulation_means;
    means.has_deaths &= !shares_memory;
    program_draw(&program, &result->choices, means);
}

/* A child ------------------------------------------------------------------------------------ */

TEST_CALL(program, play(&program))

/* The thread that waits for SIGTERM says what is pending (tests/support/cluster.c). */
static void time_is_over(int number)
{
    kill(getpid(), SIGTERM);
}

static _Noreturn void child(void)
{
    char name[] = "cross", movable[] = "--movable", thread[] = "--thread", shm[] = "--shm";
    char *argv[8] = {name};
    int argc = 1;
    if (shows_trace)
        trace_show();
    draw();
    if (program.num_gaps > 0)
        scarce_init();
    play_register();
    cluster_watch(simulation_turned);
    launch_watch(scarce_pause, scarce_go_on);
    if (program.tasks_move)
        argv[argc++] = movable;
    if (program.progress_thread)
        argv[argc++] = thread;
    if (shares_memory)
        argv[argc++] = shm;
    int status = cluster_test(argc, argv, program.num_workers);
    result->sum = trace_sum();
    result->has_ended = true;
    fflush(NULL);
    exit(status);
}

/* The parent --------------------------------------------------------------------------------- */

enum { TEXT_BYTES = 1 << 16, REAL_SECONDS = 120 };

/* Plays what result->choices gives or draws. Returns what the child has said, which the caller
 * frees, if it has failed; else NULL. */
static char *run(void)
{
    int pipes[2], status = 0;
    result->has_ended = false;
    result->sum = 0;
    fflush(NULL);
    CHECK_INT(pipe(pipes), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(pipes[1], STDERR_FILENO);
        if (!shows_trace)
            dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        signal(SIGALRM, time_is_over);
        alarm(REAL_SECONDS);
        child();
    }
    close(pipes[1]);
    char *text = calloc(1, TEXT_BYTES), rest[4096];
    size_t bytes = 0;
    ssize_t got;
    CHECK(text);
    while (bytes < TEXT_BYTES - 1 &&
           (got = read(pipes[0], text + bytes, TEXT_BYTES - 1 - bytes)) > 0)
        bytes += (size_t)got;
    while (read(pipes[0], rest, sizeof(rest)) > 0)
        ;
    close(pipes[0]);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    bool is_killed = WIFEXITED(status) && WEXITSTATUS(status) == PLAY_KILLED;
    if (is_killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0 && result->has_ended)) {
        free(text);
        return NULL;
    }
    if (WIFSIGNALED(status))
        snprintf(text + bytes, TEXT_BYTES - bytes, "signal %d", WTERMSIG(status));
    return text;
}

/* What tells one failure from another: the last line, without its numbers. */
static void signature(const char *text, char *ret, size_t capacity)
{
    size_t end = strlen(text), num = 0;
    while (end > 0 && text[end - 1] == '\n')
        end--;
    size_t begin = end;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    for (size_t i = begin; i < end && num < capacity - 1; i++)
        if (text[i] < '0' || text[i] > '9')
            ret[num++] = text[i];
    ret[num] = '\0';
}

/* Whether LIST fails like that. Then it becomes what fails. */
static bool try(struct choices *choices, const uint32_t *list, uint32_t num, const char *like)
{
    char its[256];
    choices_give(&result->choices, list, num);
    char *text = run();
    if (!text)
        return false;
    signature(text, its, sizeof(its));
    free(text);
    if (strcmp(its, like) != 0)
        return false;
    *choices = result->choices;
    if (choices->num > num)
        choices->num = num;
    return true;
}

static bool leave_out(struct choices *choices, uint32_t begin, uint32_t end, const char *like)
{
    static uint32_t list[CHOICES_MOST];
    uint32_t num = choices->num;
    if (begin >= end || end > num)
        return false;
    memcpy(list, choices->list, begin * sizeof(*list));
    memcpy(list + begin, choices->list + end, (num - end) * sizeof(*list));
    return try(choices, list, num - (end - begin), like);
}

static bool put(struct choices *choices, uint32_t at, uint32_t value, const char *like)
{
    static uint32_t list[CHOICES_MOST];
    if (at >= choices->num || choices->list[at] == value)
        return false;
    memcpy(list, choices->list, choices->num * sizeof(*list));
    list[at] = value;
    return try(choices, list, choices->num, like);
}

static void shrink(struct choices *choices, const char *like)
{
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = choices->num_marks; i-- > 0;)
            if (i < choices->num_marks)
                any |= leave_out(choices, choices->marks[i],
                                 i + 1 < choices->num_marks ? choices->marks[i + 1] : choices->num,
                                 like);
        for (uint32_t i = 0; i < choices->num; i++) {
            any |= put(choices, i, 0, like);
            for (uint32_t half = choices->list[i] / 2; i < choices->num && half > 0; half /= 2)
                any |= put(choices, i, choices->list[i] - half, like);
        }
    }
}

static void tell(uint64_t seed, const char *text)
{
    char like[256];
    struct choices *choices = test_malloc(sizeof(*choices));
    *choices = result->choices;
    choices_give(&result->choices, choices->list, choices->num);
    fprintf(stderr, "seed %" PRIu64 " fails:\n%s\n", seed, text);
    draw();
    program_print(&program);
    if (is_as_drawn || simulation_means.has_threads) {
        free(choices);
        return;
    }
    signature(text, like, sizeof(like));
    shrink(choices, like);
    choices_give(&result->choices, choices->list, choices->num);
    char *last = run();
    fprintf(stderr, "shrunk:\n%s\n", last ? last : "(does not fail any more)");
    free(last);
    fputs("--choices ", stderr);
    for (uint32_t i = 0; i < choices->num; i++)
        fprintf(stderr, "%s%u", i ? "," : "", choices->list[i]);
    fputs("\n", stderr);
    choices_give(&result->choices, choices->list, choices->num);
    draw();
    program_print(&program);
    free(choices);
}

static int play_seeds(uint64_t first, uint64_t num)
{
    for (uint64_t seed = first; seed < first + num; seed++) {
        choices_draw(&result->choices, seed);
        char *text = run();
        if (!text)
            continue;
        tell(seed, text);
        free(text);
        return 1;
    }
    printf("%" PRIu64 " programs\n", num);
    return 0;
}

static int repeat(uint64_t num, uint64_t seed)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < num; i++) {
        choices_draw(&result->choices, seed);
        char *text = run();
        if (text) {
            tell(seed, text);
            free(text);
            return 1;
        }
        if (i > 0 && sum != result->sum) {
            fprintf(stderr, "seed %" PRIu64 ": another trace in round %" PRIu64 "\n", seed, i);
            return 1;
        }
        sum = result->sum;
    }
    return 0;
}

static int play_list(char *text)
{
    static uint32_t list[CHOICES_MOST];
    uint32_t num = 0;
    for (char *at = text; *at && num < CHOICES_MOST; at += *at == ',')
        list[num++] = (uint32_t)strtoul(at, &at, 10);
    choices_give(&result->choices, list, num);
    char *said = run();
    if (said)
        fprintf(stderr, "%s\n", said);
    free(said);
    choices_give(&result->choices, list, num);
    draw();
    program_print(&program);
    return said != NULL;
}

/* Where the kernel places programs at random, addresses would be others each time. */
static void place_firmly(char **argv)
{
    int flags = personality(0xffffffff);
    if (flags < 0 || flags & ADDR_NO_RANDOMIZE ||
        personality((unsigned long)flags | ADDR_NO_RANDOMIZE) < 0)
        return;
    execv("/proc/self/exe", argv);
}

/* Once for all children. */
static void read_tuning(void)
{
    const void *data;
    size_t bytes;
    CHECK_OK(cohort__tuning_local(&data, &bytes));
}

int main(int argc, char **argv)
{
    place_firmly(argv);
    read_tuning();
    mallopt(M_PERTURB, 165); /* what was freed is not what it was */
    result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(result != MAP_FAILED);
    for (; argc > 1; argv++, argc--)
        if (strcmp(argv[1], "--trace") == 0)
            shows_trace = true;
        else if (strcmp(argv[1], "--shm") == 0)
            shares_memory = true;
        else if (strcmp(argv[1], "--as-drawn") == 0)
            is_as_drawn = true;
        else
            break;
    if (argc == 3 && strcmp(argv[1], "--choices") == 0)
        return play_list(argv[2]);
    if (argc == 4 && strcmp(argv[1], "--repeat") == 0)
        return repeat(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t num = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    return play_seeds(first, num);
}
