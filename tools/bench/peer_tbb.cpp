/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the program peer_tbb: the works of `tasks` by oneTBB. */
#include <atomic>
#include <memory>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <oneapi/tbb/version.h>

extern "C" {
#include "tools/bench/cores.h"
#include "tools/bench/graph.h"
#include "tools/bench/peer_works.h"
}

namespace
{
using Range = tbb::blocked_range<uint64_t>;

/* The calling thread counts as one of them. It stays so until the next call. */
void use_threads(unsigned num)
{
    static std::unique_ptr<tbb::global_control> control;
    static unsigned used = 0;
    if (used == num)
        return;
    control.reset();
    control.reset(new tbb::global_control(tbb::global_control::max_allowed_parallelism, num));
    used = num;
}

uint64_t fib_group(uint64_t n)
{
    uint64_t left = 0;
    if (n < 2)
        return n;
    tbb::task_group group;
    group.run([&left, n] { left = fib_group(n - 1); });
    uint64_t right = fib_group(n - 2);
    group.wait();
    return left + right;
}

uint64_t fib_invoke(uint64_t n)
{
    uint64_t left = 0, right = 0;
    if (n < 2)
        return n;
    tbb::parallel_invoke([&left, n] { left = fib_invoke(n - 1); },
                         [&right, n] { right = fib_invoke(n - 2); });
    return left + right;
}

template <uint64_t (*Fib)(uint64_t)>
bool solve_fib(const struct problem *problem, struct problem_time *ret_time)
{
    use_threads(problem->workers);
    uint64_t start = peer_now(), result = Fib(problem->size);
    *ret_time = {peer_now() - start, problem_fib_spawns(problem->size)};
    return result == problem_fib(problem->size);
}

bool solve_empty(const struct problem *problem, struct problem_time *ret_time)
{
    use_threads(problem->workers);
    uint8_t *marks = peer_marks(problem->size);
    tbb::task_group group;
    uint64_t start = peer_now();
    for (uint64_t i = 0; i < problem->size; i++)
        group.run([marks, i] { problem_mark(marks, i); });
    group.wait();
    *ret_time = {peer_now() - start, problem->size};
    return peer_marks_check(marks, problem->size);
}

/* Runs MARK for each index of a range, which is divided as PARTITIONER and GRAIN say. */
template <typename Partitioner, void (*Mark)(uint8_t *, uint64_t)>
bool solve_range(const struct problem *problem, struct problem_time *ret_time)
{
    use_threads(problem->workers);
    uint8_t *marks = peer_marks(problem->size);
    uint64_t start = peer_now();
    tbb::parallel_for(
        Range(0, problem->size, 1),
        [marks](const Range &range) {
            for (uint64_t i = range.begin(); i < range.end(); i++)
                Mark(marks, i);
        },
        Partitioner());
    *ret_time = {peer_now() - start, problem->size};
    return peer_marks_check(marks, problem->size);
}

void visit(const struct problem_node &node, uint64_t *ret_count)
{
    struct problem_node children[PROBLEM_MOST_CHILDREN];
    uint64_t counts[PROBLEM_MOST_CHILDREN];
    unsigned num = problem_tree_children(&node, children);
    *ret_count = 1;
    if (num == 0)
        return;
    tbb::task_group group;
    for (unsigned i = 0; i < num; i++)
        group.run([&children, &counts, i] { visit(children[i], &counts[i]); });
    group.wait();
    for (unsigned i = 0; i < num; i++)
        *ret_count += counts[i];
}

bool solve_tree(const struct problem *problem, struct problem_time *ret_time)
{
    use_threads(problem->workers);
    struct problem_node root = problem_tree_root(problem->size);
    uint64_t wanted = problem_tree_count(&root), count = 0, start = peer_now();
    visit(root, &count);
    *ret_time = {peer_now() - start, wanted};
    return count == wanted;
}

/* One of two tasks of the same thread that hand over to each other. */
struct Side {
    tbb::task::suspend_point point = nullptr;
    uint64_t num_turns = 0;

    void wake()
    {
        tbb::task::suspend_point waiting = point;
        point = nullptr;
        if (waiting)
            tbb::task::resume(waiting);
    }

    void run(Side &other, uint64_t turns)
    {
        for (; num_turns < turns; num_turns++)
            tbb::task::suspend([this, &other](tbb::task::suspend_point here) {
                point = here;
                other.wake();
            });
        other.wake();
    }
};

bool solve_suspend(const struct problem *problem, struct problem_time *ret_time)
{
    Side sides[2];
    use_threads(problem->workers);
    tbb::task_group group;
    uint64_t start = peer_now();
    for (unsigned i = 0; i < 2; i++)
        group.run([&sides, i, problem] { sides[i].run(sides[1 - i], problem->size); });
    group.wait();
    *ret_time = {peer_now() - start, problem->size};
    return sides[0].num_turns == problem->size && sides[1].num_turns == problem->size;
}

/* Binds the threads that work in an arena to the first of the cores. */
class Binder : public tbb::task_scheduler_observer
{
  public:
    Binder(tbb::task_arena &arena, const cpu_set_t &cores)
        : tbb::task_scheduler_observer(arena), m_cores(cores)
    {
        observe(true);
    }

    ~Binder() override
    {
        observe(false);
    }

    void on_scheduler_entry(bool) override
    {
        bench_cores_bind(&m_cores, 0, 1);
    }

  private:
    cpu_set_t m_cores;
};

/* The calling thread is foreign to the arena, in which one other works. */
bool solve_foreign(const struct problem *problem, struct problem_time *ret_time)
{
    std::atomic<uint64_t> num_done{0};
    cpu_set_t cores = bench_cores();
    use_threads(problem->workers + 1);
    tbb::task_arena arena(static_cast<int>(problem->workers), 0);
    arena.initialize();
    Binder binder(arena, cores);
    bench_cores_bind(&cores, static_cast<unsigned>(CPU_COUNT(&cores)) - 1, 1);
    uint64_t start = peer_now();
    for (uint64_t i = 0; i < problem->size; i++)
        arena.enqueue([&num_done] { num_done.fetch_add(1, std::memory_order_release); });
    while (num_done.load(std::memory_order_acquire) < problem->size)
        ;
    *ret_time = {peer_now() - start, problem->size};
    bench_cores_bind(&cores, 0, static_cast<unsigned>(CPU_COUNT(&cores)));
    return num_done == problem->size;
}

/* The task that brings the last input of another one starts it. */
struct Walk {
    struct graph graph;
    std::unique_ptr<std::atomic<unsigned>[]> num_missing;
    tbb::task_group group;

    void run(uint64_t task)
    {
        const struct shape_columns *outputs = graph_outputs(&graph, task);
        graph_run(&graph, task);
        for (unsigned i = 0; i < outputs->num; i++) {
            uint64_t output = graph_output(task, outputs->columns[i]);
            if (num_missing[output].fetch_sub(1) == 1)
                group.run([this, output] { run(output); });
        }
    }
};

bool solve_graph(const struct problem *problem, struct problem_time *ret_time)
{
    use_threads(problem->workers);
    Walk walk;
    if (!graph_init(&walk.graph, problem))
        return false;
    uint64_t num = graph_size(&walk.graph);
    walk.num_missing.reset(new std::atomic<unsigned>[num]);
    for (uint64_t task = 0; task < num; task++)
        walk.num_missing[task] = graph_inputs(&walk.graph, task)->num;
    uint64_t start = peer_now();
    for (unsigned column = 0; column < SHAPE_WIDTH; column++)
        walk.group.run([&walk, column] { walk.run(column); });
    walk.group.wait();
    *ret_time = {peer_now() - start, num};
    return graph_fini(&walk.graph);
}

const struct peer_work works[] = {
    {"fib", "group", solve_fib<fib_group>},
    {"fib", "invoke", solve_fib<fib_invoke>},
    {"empty", "group", solve_empty},
    {"halves", "simple", solve_range<tbb::simple_partitioner, problem_mark>},
    {"tree", "group", solve_tree},
    {"suspend", "suspend", solve_suspend},
    {"foreign", "enqueue", solve_foreign},
    {"range_one", "simple", solve_range<tbb::simple_partitioner, problem_mark>},
    {"range", "auto", solve_range<tbb::auto_partitioner, problem_mark>},
    {"range_one_us", "simple", solve_range<tbb::simple_partitioner, problem_mark_slowly>},
    {"range_us", "auto", solve_range<tbb::auto_partitioner, problem_mark_slowly>},
    {"graph_stencil", "counter", solve_graph},
    {"graph_nearest", "counter", solve_graph},
    {"graph_fft", "counter", solve_graph},
    {"graph_tree", "counter", solve_graph},
    {"graph_random", "counter", solve_graph},
    {"graph_all_to_all", "counter", solve_graph},
    {nullptr, nullptr, nullptr},
};
} // namespace

int main(int argc, char **argv)
{
    return peer_works_main(argc, argv, TBB_VERSION_STRING, works);
}
