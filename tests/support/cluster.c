/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cohort/task.h"
#include "collectives/coll/comm_create.h"
#include "runtime/base/clock.h"
#include "runtime/base/hash.h"
#include "runtime/io/object.h"
#include "runtime/loop/loop.h"
#include "runtime/net/shm.h"
#include "runtime/proc/boards.h"
#include "runtime/proc/memory.h"
#include "runtime/proc/process.h"
#include "runtime/remote/memory.h"
#include "runtime/remote/tasks.h"
#include "runtime/task/scheduler.h"
#include "tests/support/hub_copy.h"
#include "tests/support/inproc.h"
#include "tests/support/launch.h"
#include "tests/support/state.h"
#include "tests/support/thread.h"

struct cluster {
    struct cluster *next;           /* in the list of clusters that have ended */
    struct cohort__inproc_hub *hub; /* NULL: in shared memory */
    struct launch *launch;          /* NULL: it has none */
    uint64_t seed;
    uint32_t num_localities;
    enum cluster_placement placement;
    struct cohort__process **processes;
    struct cohort__net **nets;
    struct cohort__fault *faults; /* by locality */
    _Atomic uint32_t dead;        /* a bit each */
};

/* Shorter than in real jobs, because tests wait for the questions that sites ask when nothing
 * happens. */
enum { TICK_NANOSECONDS = 5000000 };

/* So long no drain takes. */
static const uint64_t DRAIN_NANOSECONDS = UINT64_C(20000000000);

static bool shares_memory; /* --shm */
static void (*turned)(bool any);

void cluster_watch(void (*function)(bool any))
{
    turned = function;
}

/* The event loop's side: the cluster that it drives now. */
static struct {
    pthread_mutex_t lock;
    struct cluster *cluster;
    struct cluster *over; /* freed when the workers have ended, since one may still use it */
} active = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool progress(void *context)
{
    bool any = false;
    pthread_mutex_lock(&active.lock);
    for (uint32_t i = 0; active.cluster && i < active.cluster->num_localities; i++) {
        struct cohort__poller *poller = &active.cluster->nets[i]->poller;
        any |= poller->progress(poller->context);
        any |= cohort__process_go_on(active.cluster->processes[i]);
    }
    if (active.cluster && active.cluster->launch)
        any |= launch_turn(active.cluster->launch);
    pthread_mutex_unlock(&active.lock);
    if (turned)
        turned(any);
    return any;
}

static bool look(void *context)
{
    bool any = false;
    pthread_mutex_lock(&active.lock);
    for (uint32_t i = 0; active.cluster && i < active.cluster->num_localities; i++) {
        const struct cohort__poller *poller = &active.cluster->nets[i]->poller;
        any |= poller->look && poller->look(poller->context);
    }
    pthread_mutex_unlock(&active.lock);
    return any;
}

/* With a cluster the loop never blocks: delays are counted in calls of progress. */
static bool arm(void *context)
{
    pthread_mutex_lock(&active.lock);
    bool idle = !active.cluster;
    pthread_mutex_unlock(&active.lock);
    return idle;
}

static void disarm(void *context)
{
}

static void tick(void *context)
{
    pthread_mutex_lock(&active.lock);
    for (uint32_t i = 0; active.cluster && i < active.cluster->num_localities; i++)
        cohort__process_tick(active.cluster->processes[i], cohort__clock_now());
    pthread_mutex_unlock(&active.lock);
}

/* Each turn asks whether there is more. */
static void on_more(void *context)
{
}

/* SHARED: NULL where memory is not shared. */
static void net_create(struct cluster *cluster, const struct cohort__hub *shared, uint32_t rank)
{
    struct cohort__net_handlers handlers = cohort__process_net_handlers(cluster->processes[rank]);
    cohort_status status =
        shared ? cohort__shm_create(&handlers, hub_copy(shared), rank, COHORT__SHM_STREAM,
                                    &cluster->nets[rank])
               : cohort__inproc_create(cluster->hub, rank, &handlers, &cluster->nets[rank]);
    CHECK_OK(status);
}

static void kill_locality(void *context, uint32_t locality)
{
    cluster_kill(context, locality);
}

static struct cluster *allocate(uint64_t seed, uint32_t num_localities)
{
    struct cluster *cluster = test_calloc(1, sizeof(*cluster));
    cluster->seed = seed;
    cluster->num_localities = num_localities;
    cluster->processes = calloc(num_localities, sizeof(struct cohort__process *));
    cluster->nets = calloc(num_localities, sizeof(struct cohort__net *));
    cluster->faults = calloc(num_localities, sizeof(*cluster->faults));
    CHECK(cluster->processes && cluster->nets && cluster->faults);
    return cluster;
}

static void order_faults(struct cluster *cluster, const char *text)
{
    struct cohort__fault_plan plan;
    CHECK_OK(cohort__fault_plan_read(text, &plan));
    for (uint32_t rank = 0; rank < cluster->num_localities; rank++)
        cluster->faults[rank] = (struct cohort__fault){.rank = rank, .plan = plan};
}

static struct cluster *create(struct cluster *cluster, size_t eager_budget)
{
    struct cohort__hub *shared = NULL;
    uint32_t num_localities = cluster->num_localities;
    CHECK_OK(shares_memory
                 ? cohort__hub_create(&shared, num_localities)
                 : cohort__inproc_hub_create(cluster->seed, num_localities, &cluster->hub));
    for (uint32_t rank = 0; rank < num_localities; rank++) {
        struct cohort__process_options options = {.rank = rank,
                                                  .size = num_localities,
                                                  .job_key = 42,
                                                  .epoch = 1,
                                                  .eager_budget = eager_budget,
                                                  .more = on_more};
        if (cluster->launch) {
            options.fault = &cluster->faults[rank];
            launch_set_options(cluster->launch, rank, &options);
        }
        CHECK_OK(cohort__process_create(&cluster->processes[rank], &options));
        CHECK_OK(cohort__remote_tasks_create(cluster->processes[rank]));
        CHECK_OK(cohort__remote_memory_register());
        net_create(cluster, shared, rank);
        cohort__process_attach_net(cluster->processes[rank], cluster->nets[rank]);
    }
    for (uint32_t rank = 0; rank < num_localities; rank++)
        for (uint32_t peer = 0; peer < num_localities; peer++)
            if (peer != rank)
                CHECK_OK(cohort__net_add_peer(cluster->nets[rank], peer,
                                              cluster->nets[peer]->address,
                                              cluster->nets[peer]->address_bytes));
    cohort__hub_destroy(shared);
    if (cluster->launch)
        launch_begin(cluster->launch, cluster->processes);
    pthread_mutex_lock(&active.lock);
    active.cluster = cluster;
    pthread_mutex_unlock(&active.lock);
    return cluster;
}

struct cluster *cluster_create(uint64_t seed, uint32_t num_localities, size_t eager_budget)
{
    return create(allocate(seed, num_localities), eager_budget);
}

struct cluster *cluster_launch(uint64_t seed, uint32_t num_localities, size_t eager_budget,
                               bool keeps_going, const char *faults)
{
    struct cluster *cluster = allocate(seed, num_localities);
    order_faults(cluster, faults);
    cluster->launch = launch_create(seed, num_localities, keeps_going, kill_locality, cluster);
    return create(cluster, eager_budget);
}

/* One check of the four-counter method: all messages that were sent have been received, and no
 * locality is busy. */
static bool is_quiet(struct cluster *cluster, uint64_t *ret_sent)
{
    uint64_t sent = 0, received = 0;
    bool busy = false;
    for (uint32_t i = 0; i < cluster->num_localities; i++) {
        struct cohort__process_traffic traffic = cohort__process_traffic(cluster->processes[i]);
        sent += traffic.sent;
        received += traffic.received;
        busy |= traffic.busy;
    }
    bool same = *ret_sent == sent;
    *ret_sent = sent;
    return same && sent == received && !busy;
}

uint64_t cluster_num_sent(struct cluster *cluster)
{
    uint64_t sent = 0;
    YIELD_WHILE(!is_quiet(cluster, &sent));
    return sent;
}

uint64_t cluster_num_sent_by(const struct cluster *cluster, uint32_t locality)
{
    return cohort__process_traffic(cluster->processes[locality]).sent;
}

void cluster_destroy(struct cluster *cluster)
{
    if (cluster->launch) {
        const uint64_t end = cohort__clock_after(DRAIN_NANOSECONDS);
        launch_finish(cluster->launch);
        while (!launch_is_over(cluster->launch)) {
            cohort_yield();
            if (cohort__clock_now() > end)
                FAIL("the drain does not end");
        }
    } else {
        cluster_num_sent(cluster);
    }
    cluster_abandon(cluster);
}

void cluster_abandon(struct cluster *cluster)
{
    pthread_mutex_lock(&active.lock);
    active.cluster = NULL;
    cluster->next = active.over;
    active.over = cluster;
    pthread_mutex_unlock(&active.lock);
}

static void cluster_free(struct cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->num_localities; i++)
        cohort__process_stop(cluster->processes[i]);
    for (uint32_t i = 0; i < cluster->num_localities; i++) {
        cohort__net_destroy(cluster->nets[i]);
        cohort__process_destroy(cluster->processes[i]);
    }
    launch_destroy(cluster->launch);
    cohort__inproc_hub_destroy(cluster->hub);
    free(cluster->processes);
    free(cluster->nets);
    free(cluster->faults);
    free(cluster);
}

void cluster_locate(struct cluster *cluster, const struct cohort__position *positions)
{
    for (uint32_t i = 0; i < cluster->num_localities; i++)
        CHECK_OK(cohort__positions_set(cluster->processes[i], positions));
}

void cluster_name_levels(struct cluster *cluster, const char *const *texts)
{
    struct cohort__word *words = test_calloc(cluster->num_localities, sizeof(*words));
    for (uint32_t i = 0; i < cluster->num_localities; i++)
        words[i] = (struct cohort__word){texts[i], strlen(texts[i])};
    for (uint32_t i = 0; i < cluster->num_localities; i++)
        CHECK_OK(cohort__positions_name_levels(cluster->processes[i], words));
    free(words);
}

void cluster_place(struct cluster *cluster, enum cluster_placement placement)
{
    cluster->placement = placement;
}

uint32_t cluster_locality(enum cluster_placement placement, uint64_t seed, uint32_t num_localities,
                          uint32_t site, uint32_t num_sites)
{
    switch (placement) {
    case CLUSTER_BLOCKS:
        return (uint32_t)((uint64_t)site * num_localities / num_sites);
    case CLUSTER_RANDOM:
        return (uint32_t)(cohort__hash_mix(seed, site) % num_localities);
    case CLUSTER_UNEVEN:
        return site < num_localities - 1 ? site : num_localities - 1;
    default:
        return site % num_localities;
    }
}

cohort_future *cluster_create_comm(void *context, cohort_comm **ret_comm, const char *name,
                                   const cohort_comm_options *options)
{
    struct cluster *cluster = context;
    uint32_t locality = cluster_locality(cluster->placement, cluster->seed, cluster->num_localities,
                                         options->this_site, options->num_sites);
    return cohort__comm_create_for(cluster->processes[locality], ret_comm, name, options);
}

void cluster_create_comms(struct cluster *cluster, cohort_comm **ret_comms, const char *name,
                          cohort_comm_options options)
{
    cohort_future *made[64];
    CHECK(options.num_sites <= NUM_OF(made));
    for (options.this_site = 0; options.this_site < options.num_sites; options.this_site++)
        made[options.this_site] =
            cluster_create_comm(cluster, &ret_comms[options.this_site], name, &options);
    CHECK_OK(cohort_await(cohort_when_all(made, options.num_sites)));
}

cohort_status cluster_sites(struct cluster *cluster, struct sites sites)
{
    sites.create = cluster_create_comm;
    sites.context = cluster;
    return sites_run(&sites);
}

void cluster_run(uint64_t seed, uint32_t num_localities, size_t eager_budget, struct sites sites)
{
    struct cluster *cluster = cluster_create(seed, num_localities, eager_budget);
    cluster_place(cluster, (enum cluster_placement)(seed % CLUSTER_NUM_PLACEMENTS));
    if (cluster_sites(cluster, sites))
        FAIL("%s, seed %llu, %u sites in %u localities: %s", sites.name, (unsigned long long)seed,
             sites.options.num_sites, num_localities, cohort_error_message());
    cluster_destroy(cluster);
}

void *cluster_memory_alloc(struct cluster *cluster, uint32_t locality, size_t bytes)
{
    void *memory = NULL;
    CHECK_OK(cohort__memory_alloc_for(cluster->processes[locality], &memory, bytes));
    return memory;
}

void cluster_memory_free(struct cluster *cluster, uint32_t locality, void *memory)
{
    cohort__memory_free_for(cluster->processes[locality], memory);
}

struct cohort__process *cluster_process(struct cluster *cluster, uint32_t locality)
{
    return cluster->processes[locality];
}

void cluster_kill(struct cluster *cluster, uint32_t locality)
{
    CHECK(cluster->hub);
    atomic_fetch_or(&cluster->dead, 1u << locality);
    cohort__inproc_cut(cluster->hub, locality);
    if (cluster->launch)
        launch_ended(cluster->launch, locality);
}

uint32_t cluster_dead(const struct cluster *cluster)
{
    return atomic_load(&cluster->dead);
}

void cluster_kill_after(struct cluster *cluster, uint32_t locality, uint64_t num_messages,
                        uint64_t localities)
{
    CHECK(cluster->hub);
    cohort__inproc_cut_after(cluster->hub, locality, num_messages, localities);
}

void cluster_lose_link(struct cluster *cluster, uint32_t from, uint32_t to, uint64_t number)
{
    struct cohort__fault_plan *plan = &cluster->faults[from].plan;
    CHECK(plan->num_rules < COHORT__FAULT_RULES);
    plan->rules[plan->num_rules++] = (struct cohort__fault_rule){
        .kind = COHORT__FAULT_DROP, .locality = from, .other = to, .number = number};
}

void cluster_tell_death(struct cluster *cluster, uint32_t locality, uint32_t peer, uint32_t order,
                        const char *why)
{
    struct cohort__death death = {.rank = peer, .order = order};
    snprintf(death.why, sizeof(death.why), "%s", why);
    cohort__process_death_told(cluster->processes[locality], &death);
}

struct program {
    int argc;
    char **argv;
};

static cohort_status run(void *arg)
{
    const struct program *program = arg;
    int failed = tests_run(program->argc, program->argv);
    cohort__scheduler_stop();
    return failed ? COHORT_ERR_FAILED : COHORT_OK;
}

/* Whether the first argument is OPTION. Then the program's name takes its place. */
static bool takes(int *argc, char ***argv, const char *option)
{
    if (*argc < 2 || strcmp((*argv)[1], option) != 0)
        return false;
    (*argv)[1] = (*argv)[0];
    --*argc;
    ++*argv;
    return true;
}

/* The signal by which a runner of tests ends one that hangs: says in what state it does. */
static void *watch_for_end(void *arg)
{
    const sigset_t *set = arg;
    int number;
    sigwait(set, &number);
    state_print();
    _exit(1);
}

static void watch(void)
{
    static sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    CHECK_INT(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    pthread_t thread = new_thread(watch_for_end, &set);
    CHECK_INT(pthread_detach(thread), 0);
}

bool cluster_is_shared(void)
{
    return shares_memory;
}

unsigned cluster_num_workers(void)
{
    return cohort__scheduler_num_workers();
}

int cluster_test(int argc, char **argv, unsigned num_workers)
{
    if (argc > 1 && sscanf(argv[1], "--workers=%u", &num_workers) == 1)
        takes(&argc, &argv, argv[1]);
    bool tasks_move = takes(&argc, &argv, "--movable");
    bool progress_thread = takes(&argc, &argv, "--thread");
    shares_memory = takes(&argc, &argv, "--shm");
    struct program program = {argc, argv};
    struct cohort__poller poller = {
        .progress = progress, .look = look, .arm = arm, .disarm = disarm, .fd = -1};
    struct cohort__loop *loop;
    struct cohort__scheduler_options options;
    struct cohort__scheduler_hooks hooks;
    watch();
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    options.tasks_move = tasks_move;
    options.progress_thread = progress_thread;
    CHECK_OK(cohort__loop_create(&loop));
    CHECK_OK(cohort__loop_add_poller(loop, &poller));
    CHECK_OK(cohort__loop_every(loop, TICK_NANOSECONDS, tick, NULL));
    cohort__loop_scheduler_hooks(loop, &hooks);
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    cohort__loop_attach(loop);
    cohort_future *done = cohort_async(run, &program);
    CHECK_OK(cohort__scheduler_run());
    cohort_status status = cohort_await(done);
    while (active.over) {
        struct cluster *cluster = active.over;
        active.over = cluster->next;
        cluster_free(cluster);
    }
    cohort__loop_attach(NULL);
    cohort__io_end();
    cohort__loop_remove_poller(loop, &poller);
    cohort__loop_destroy(loop);
    return status ? 1 : 0;
}

static int test_with_one_worker(int argc, char **argv)
{
    return cluster_test(argc, argv, 1);
}

__attribute__((constructor)) static void be_the_runner(void)
{
    tests_runner = test_with_one_worker;
}
