/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the program peer_system: what threads, a futex and libuv take for the same. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "tools/bench/cores.h"
#include "tools/bench/graph.h"
#include "tools/bench/peer_works.h"

static void die(const char *what, int error)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(error));
    exit(1);
}

/* Runs FIRST in this thread, on the first core, and SECOND in another one, on the last. */
static void run_both(void *(*first)(void *), void *(*second)(void *), void *arg)
{
    pthread_t thread;
    cpu_set_t cores = bench_cores();
    unsigned num = (unsigned)CPU_COUNT(&cores);
    bench_cores_bind(&cores, num - 1, 1);
    int error = pthread_create(&thread, NULL, second, arg);
    if (error)
        die("a thread", error);
    bench_cores_bind(&cores, 0, 1);
    first(arg);
    pthread_join(thread, NULL);
    bench_cores_bind(&cores, 0, num);
}

/* Two threads that spin on a line of memory until it is their turn: even numbers are the first
 * one's. */
struct line {
    _Alignas(64) atomic_uint_fast64_t turn;
    _Alignas(64) uint64_t num_turns;
};

static void *take_even_turns(void *arg)
{
    struct line *line = arg;
    for (uint64_t i = 0; i < line->num_turns; i++) {
        atomic_store_explicit(&line->turn, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&line->turn, memory_order_acquire) != 2 * i + 2)
            ;
    }
    return NULL;
}

static void *take_odd_turns(void *arg)
{
    struct line *line = arg;
    for (uint64_t i = 0; i < line->num_turns; i++) {
        while (atomic_load_explicit(&line->turn, memory_order_acquire) != 2 * i + 1)
            ;
        atomic_store_explicit(&line->turn, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

static bool solve_ping_pong(const struct problem *problem, struct problem_time *ret_time)
{
    struct line line = {.num_turns = problem->size};
    uint64_t start = peer_now();
    run_both(take_even_turns, take_odd_turns, &line);
    *ret_time = (struct problem_time){peer_now() - start, problem->size};
    return atomic_load(&line.turn) == 2 * problem->size;
}

/* One thread waits on a futex, and the other one wakes it when both have been idle. */
struct nap {
    atomic_uint futex; /* how many wakes there were */
    sem_t turn;        /* the next one may come */
    uint64_t num;
    uint64_t *times_ns; /* when each was waked; later: how long it took */
};

static void *nap_and_go_on(void *arg)
{
    struct nap *nap = arg;
    for (unsigned i = 0; i < nap->num; i++) {
        sem_post(&nap->turn);
        while (atomic_load(&nap->futex) == i)
            syscall(SYS_futex, &nap->futex, FUTEX_WAIT_PRIVATE, i, NULL, NULL, 0);
        nap->times_ns[i] = peer_now() - nap->times_ns[i];
    }
    return NULL;
}

static void *wake_one_by_one(void *arg)
{
    struct nap *nap = arg;
    for (unsigned i = 0; i < nap->num; i++) {
        sem_wait(&nap->turn);
        nanosleep(&(struct timespec){.tv_nsec = PROBLEM_IDLE_NS}, NULL);
        nap->times_ns[i] = peer_now();
        atomic_store(&nap->futex, i + 1);
        syscall(SYS_futex, &nap->futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return NULL;
}

static bool solve_wake(const struct problem *problem, struct problem_time *ret_time)
{
    struct nap nap = {.num = problem->size, .times_ns = calloc(problem->size, sizeof(uint64_t))};
    if (!nap.times_ns)
        die("the times", ENOMEM);
    sem_init(&nap.turn, 0, 0);
    run_both(nap_and_go_on, wake_one_by_one, &nap);
    sem_destroy(&nap.turn);
    uint64_t median = problem_median(nap.times_ns, problem->size);
    *ret_time = (struct problem_time){median * problem->size, problem->size};
    free(nap.times_ns);
    return atomic_load(&nap.futex) == problem->size;
}

static void count(uv_timer_t *timer)
{
    ++*(uint64_t *)timer->data;
}

static bool solve_sleeps(const struct problem *problem, struct problem_time *ret_time)
{
    uv_loop_t loop;
    uint64_t num_ended = 0, start = peer_now();
    uv_timer_t *timers = calloc(problem->size, sizeof(*timers));
    if (!timers)
        die("the timers", ENOMEM);
    uv_loop_init(&loop);
    for (uint64_t i = 0; i < problem->size; i++) {
        uv_timer_init(&loop, &timers[i]);
        timers[i].data = &num_ended;
        uv_update_time(&loop); /* else a late one would end too early */
        uv_timer_start(&timers[i], count, problem_sleep_ms(i), 0);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    *ret_time = (struct problem_time){peer_now() - start, problem->size};
    for (uint64_t i = 0; i < problem->size; i++)
        uv_close((uv_handle_t *)&timers[i], NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    free(timers);
    return num_ended == problem->size;
}

/* The floor of a graph: its tasks one after the other, as calls, shared out to the workers at no
 * cost. */
static bool solve_graph(const struct problem *problem, struct problem_time *ret_time)
{
    static struct graph graph;
    if (!graph_init(&graph, problem))
        die("the graph", ENOMEM);
    uint64_t num = graph_size(&graph), start = peer_now();
    for (uint64_t task = 0; task < num; task++)
        graph_run(&graph, task);
    *ret_time = (struct problem_time){(peer_now() - start) / problem->workers, num};
    return graph_fini(&graph);
}

int main(int argc, char **argv)
{
    static const struct peer_work works[] = {
        {"ping_pong", "line", solve_ping_pong},    {"wake", "futex", solve_wake},
        {"sleeps", "libuv", solve_sleeps},         {"graph_stencil", "loop", solve_graph},
        {"graph_nearest", "loop", solve_graph},    {"graph_fft", "loop", solve_graph},
        {"graph_tree", "loop", solve_graph},       {"graph_random", "loop", solve_graph},
        {"graph_all_to_all", "loop", solve_graph}, {NULL, NULL, NULL},
    };
    char version[32];
    snprintf(version, sizeof(version), "libuv %s", uv_version_string());
    return peer_works_main(argc, argv, version, works);
}
