/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the program peer_openmpi or peer_mpich: the same works by calls of MPI. */
#include <mpi.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/bench/burden.h"
#include "tools/bench/pairs.h"
#include "tools/bench/result.h"
#include "tools/bench/series.h"
#include "tools/bench/works.h"

/* What cohort-bench compares Cohort with: the same works by MPI's own calls, each in its blocking
 * form, and in its non-blocking form with MPI_Wait directly after it. Built once for each MPI. On
 * an error, MPI's default error handler prints why and ends the job. */

enum { TAG = 1, HALO_TAG = 2, DIMS = 3, FACES = 2 * DIMS, STATUS_USAGE = 2 };

/* The faces of a box with ghost cells, by MPI's types, beside halo.c ------------------------- */

/* As in halo.c: to[2 * dim] goes down, and comes as from[2 * dim], from above. */
static struct {
    int count; /* 0: there are no types */
    MPI_Datatype to[FACES], from[FACES];
} faces;

static MPI_Datatype make_face(int edge, int dim, int place)
{
    const int sizes[DIMS] = {edge, edge, edge};
    int starts[DIMS] = {1, 1, 1}, counts[DIMS] = {edge - 2, edge - 2, edge - 2};
    MPI_Datatype type;
    starts[dim] = place;
    counts[dim] = 1;
    MPI_Type_create_subarray(DIMS, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void make_faces(int count)
{
    int edge = 1;
    while ((edge + 1) * (edge + 1) * (edge + 1) <= count)
        edge++;
    for (int face = 0; face < FACES && faces.count > 0; face++) {
        MPI_Type_free(&faces.to[face]);
        MPI_Type_free(&faces.from[face]);
    }
    for (int dim = 0; dim < DIMS; dim++) {
        faces.to[2 * dim] = make_face(edge, dim, 1);
        faces.to[2 * dim + 1] = make_face(edge, dim, edge - 2);
        faces.from[2 * dim] = make_face(edge, dim, edge - 1);
        faces.from[2 * dim + 1] = make_face(edge, dim, 0);
    }
    faces.count = count;
}

/* Exchanges the six faces of BOX, a box of COUNT doubles or a few less, with rank OTHER. WAITS: all
 * at once; else one after the other. The types are made by the first call for a COUNT. */
static void halo_exchange(double *box, int count, int other, bool waits)
{
    MPI_Request requests[2 * FACES];
    MPI_Status statuses[2 * FACES];
    if (faces.count != count)
        make_faces(count);
    if (waits) {
        for (int face = 0; face < FACES; face++)
            MPI_Irecv(box, 1, faces.from[face], other, HALO_TAG, MPI_COMM_WORLD, &requests[face]);
        for (int face = 0; face < FACES; face++)
            MPI_Isend(box, 1, faces.to[face], other, HALO_TAG, MPI_COMM_WORLD,
                      &requests[FACES + face]);
        MPI_Waitall(2 * FACES, requests, statuses);
        return;
    }
    for (int face = 0; face < FACES; face++)
        MPI_Sendrecv(box, 1, faces.to[face], other, HALO_TAG, box, 1, faces.from[face], other,
                     HALO_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The works ------------------------------------------------------------------------------------ */

struct site {
    int rank, num_ranks;
    int other;     /* of two */
    int count;     /* elements of a block */
    int num_forms; /* 1: no non-blocking one */
    bool waits;    /* the non-blocking form */
    bool is_fresh; /* writes its input before each call */
    size_t num_in; /* elements */
    double *in, *out;
};

static void end(const struct site *site, MPI_Request *request)
{
    if (site->waits)
        MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void barrier(const struct site *site)
{
    MPI_Request request;
    if (site->waits)
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    end(site, &request);
}

static void all_reduce(const struct site *site)
{
    MPI_Request request;
    if (site->waits)
        MPI_Iallreduce(site->in, site->out, site->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       &request);
    else
        MPI_Allreduce(site->in, site->out, site->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    end(site, &request);
}

static void start_all_to_all(const struct site *site, MPI_Request *request)
{
    if (site->waits)
        MPI_Ialltoall(site->in, site->count, MPI_DOUBLE, site->out, site->count, MPI_DOUBLE,
                      MPI_COMM_WORLD, request);
    else
        MPI_Alltoall(site->in, site->count, MPI_DOUBLE, site->out, site->count, MPI_DOUBLE,
                     MPI_COMM_WORLD);
}

static void all_to_all(const struct site *site)
{
    MPI_Request request;
    start_all_to_all(site, &request);
    end(site, &request);
}

static void broadcast(const struct site *site)
{
    MPI_Request request;
    if (site->waits)
        MPI_Ibcast(site->in, site->count, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Bcast(site->in, site->count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    end(site, &request);
}

static void all_gather(const struct site *site)
{
    MPI_Request request;
    if (site->waits)
        MPI_Iallgather(site->in, site->count, MPI_DOUBLE, site->out, site->count, MPI_DOUBLE,
                       MPI_COMM_WORLD, &request);
    else
        MPI_Allgather(site->in, site->count, MPI_DOUBLE, site->out, site->count, MPI_DOUBLE,
                      MPI_COMM_WORLD);
    end(site, &request);
}

static void reduce_scatter(const struct site *site)
{
    MPI_Request request;
    if (site->waits)
        MPI_Ireduce_scatter_block(site->in, site->out, site->count, MPI_DOUBLE, MPI_SUM,
                                  MPI_COMM_WORLD, &request);
    else
        MPI_Reduce_scatter_block(site->in, site->out, site->count, MPI_DOUBLE, MPI_SUM,
                                 MPI_COMM_WORLD);
    end(site, &request);
}

static void send(const struct site *site, const double *data, int count)
{
    MPI_Request request;
    if (site->waits)
        MPI_Isend(data, count, MPI_DOUBLE, site->other, TAG, MPI_COMM_WORLD, &request);
    else
        MPI_Send(data, count, MPI_DOUBLE, site->other, TAG, MPI_COMM_WORLD);
    end(site, &request);
}

static void receive(const struct site *site, double *buffer, int count)
{
    MPI_Request request;
    if (site->waits)
        MPI_Irecv(buffer, count, MPI_DOUBLE, site->other, TAG, MPI_COMM_WORLD, &request);
    else
        MPI_Recv(buffer, count, MPI_DOUBLE, site->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end(site, &request);
}

static void ping_pong(const struct site *site)
{
    if (site->rank == 0)
        send(site, site->in, site->count);
    receive(site, site->out, site->count);
    if (site->rank != 0)
        send(site, site->in, site->count);
}

/* As MPI_Isend or MPI_Irecv, all at once. */
static void stream_at_once(const struct site *site, int num)
{
    MPI_Request requests[BENCH_RATE_MESSAGES];
    MPI_Status statuses[BENCH_RATE_MESSAGES]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
    for (int i = 0; i < num; i++) {
        size_t offset = (size_t)i * (size_t)site->count;
        if (site->rank == 0)
            MPI_Isend(site->in + offset, site->count, MPI_DOUBLE, site->other, TAG, MPI_COMM_WORLD,
                      &requests[i]);
        else
            MPI_Irecv(site->out + offset, site->count, MPI_DOUBLE, site->other, TAG, MPI_COMM_WORLD,
                      &requests[i]);
    }
    MPI_Waitall(num, requests, statuses);
}

static void stream_in_turn(const struct site *site, int num)
{
    for (int i = 0; i < num; i++) {
        size_t offset = (size_t)i * (size_t)site->count;
        if (site->rank == 0)
            send(site, site->in + offset, site->count);
        else
            receive(site, site->out + offset, site->count);
    }
}

static void send_many(const struct site *site, int num)
{
    if (site->waits)
        stream_at_once(site, num);
    else
        stream_in_turn(site, num);
    if (site->rank == 0)
        receive(site, site->out, 1);
    else
        send(site, site->in, 1);
}

static void stream(const struct site *site)
{
    send_many(site, BENCH_STREAM_MESSAGES);
}

static void rate(const struct site *site)
{
    send_many(site, BENCH_RATE_MESSAGES);
}

static void halo(const struct site *site)
{
    halo_exchange(site->out, site->count, site->other, site->waits);
}

/* See pairs.c: rank 1 comes late. Rank 0 computes meanwhile, if the call lets it. */
static void overlap(const struct site *site)
{
    MPI_Request request;
    double word = 0;
    if (site->rank == 0) {
        send(site, &word, 1);
    } else {
        receive(site, &word, 1);
        bench_burden_compute(BENCH_OVERLAP_NS);
    }
    start_all_to_all(site, &request);
    if (site->rank == 0)
        bench_burden_compute(BENCH_OVERLAP_NS);
    end(site, &request);
}

/* One-sided access. The window has room for all works, and is open to all. */

static struct {
    MPI_Win window;
    double *memory;
    size_t count; /* 0: there is none */
} shared;

static void open_window(const struct site *site)
{
    const size_t bytes = (size_t)site->count * sizeof(double);
    if (shared.count >= (size_t)site->count)
        return;
    if (shared.count > 0) {
        MPI_Win_unlock_all(shared.window);
        MPI_Win_free(&shared.window);
    }
    MPI_Win_allocate((MPI_Aint)bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &shared.memory,
                     &shared.window);
    memset(shared.memory, 0, bytes);
    shared.count = (size_t)site->count;
    MPI_Win_lock_all(0, shared.window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* WAITS: all of them are under way before the first is waited for. */
static void one_sided(const struct site *site, void (*operate)(const struct site *site))
{
    open_window(site);
    for (int i = 0; i < BENCH_ONE_SIDED; i++) {
        operate(site);
        if (!site->waits || i == BENCH_ONE_SIDED - 1)
            MPI_Win_flush(site->other, shared.window);
    }
}

static void get_one(const struct site *site)
{
    MPI_Get(site->out, site->count, MPI_DOUBLE, site->other, 0, site->count, MPI_DOUBLE,
            shared.window);
}

static void put_one(const struct site *site)
{
    MPI_Put(site->in, site->count, MPI_DOUBLE, site->other, 0, site->count, MPI_DOUBLE,
            shared.window);
}

/* WAITS: the number before is not wanted. */
static void add_one(const struct site *site)
{
    static const uint64_t one = 1;
    static uint64_t before;
    if (site->waits)
        MPI_Accumulate(&one, 1, MPI_UINT64_T, site->other, 0, 1, MPI_UINT64_T, MPI_SUM,
                       shared.window);
    else
        MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, site->other, 0, MPI_SUM, shared.window);
}

static void get(const struct site *site)
{
    one_sided(site, get_one);
}

static void put(const struct site *site)
{
    one_sided(site, put_one);
}

static void add(const struct site *site)
{
    one_sided(site, add_one);
}

static const struct call {
    const char *name;
    void (*make)(const struct site *site);
    bool has_blocks;
    bool is_for_two;
    bool is_one_way;
    unsigned num_in_call; /* 0: once */
    size_t num_buffers;   /* 0: one, or one for each rank */
} calls[] = {
    {.name = "barrier", .make = barrier},
    {.name = "all_reduce", .make = all_reduce},
    {.name = "all_to_all", .make = all_to_all, .has_blocks = true},
    {.name = "broadcast", .make = broadcast, .is_one_way = true},
    {.name = "all_gather", .make = all_gather, .has_blocks = true},
    {.name = "reduce_scatter", .make = reduce_scatter, .has_blocks = true},
    {.name = "ping_pong", .make = ping_pong, .is_for_two = true, .num_in_call = 2},
    {.name = "stream",
     .make = stream,
     .is_for_two = true,
     .num_in_call = BENCH_STREAM_MESSAGES,
     .num_buffers = BENCH_STREAM_MESSAGES},
    {.name = "rate",
     .make = rate,
     .is_for_two = true,
     .num_in_call = BENCH_RATE_MESSAGES,
     .num_buffers = BENCH_RATE_MESSAGES},
    {.name = "halo", .make = halo, .is_for_two = true},
    {.name = "get", .make = get, .is_for_two = true, .num_in_call = BENCH_ONE_SIDED},
    {.name = "put", .make = put, .is_for_two = true, .num_in_call = BENCH_ONE_SIDED},
    {.name = "add", .make = add, .is_for_two = true, .num_in_call = BENCH_ONE_SIDED},
    {.name = "overlap", .make = overlap, .has_blocks = true, .is_for_two = true},
};

/* A line that cohort-compare reads. */
static void print_result(const struct site *site, const struct bench_work *work, double value,
                         const char *unit)
{
    struct json json = {.file = stdout};
    struct bench_result result = {.localities = (uint32_t)site->num_ranks,
                                  .workers = 1,
                                  .sites = (uint32_t)site->num_ranks,
                                  .bytes = work->size,
                                  .median = value,
                                  .min = value,
                                  .max = value,
                                  .rounds = 1};
    if (site->rank != 0)
        return;
    snprintf(result.name, sizeof(result.name), "%s", work->name);
    snprintf(result.shape, sizeof(result.shape), "%s", site->waits ? "wait" : "block");
    snprintf(result.unit, sizeof(result.unit), "%s", unit);
    bench_result_write(&result, &json);
    putchar('\n');
}

static uint64_t time_calls(const struct site *site, const struct call *call, uint64_t num_calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t start = bench_now();
    for (uint64_t i = 0; i < num_calls; i++) {
        if (site->is_fresh)
            bench_renew(site->in, site->num_in);
        call->make(site);
    }
    if (call->is_one_way)
        MPI_Barrier(MPI_COMM_WORLD);
    return bench_now() - start;
}

/* Measures by the same series of runs as Cohort's. Rank 0 tells the others how many calls the next
 * run has. */
static void measure(const struct site *site, const struct call *call,
                    const struct bench_options *options, const struct bench_work *work)
{
    static struct bench_series series;
    bench_series_init(&series, options);
    for (;;) {
        uint64_t num_calls = bench_series_next(&series);
        MPI_Bcast(&num_calls, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (num_calls == 0)
            break;
        uint64_t elapsed_ns = time_calls(site, call, num_calls);
        if (site->rank == 0)
            bench_series_add(&series, elapsed_ns);
    }
    if (site->rank != 0)
        return;
    struct bench_spread spread = bench_series_spread(&series);
    bench_spread_divide(&spread, call->num_in_call ? call->num_in_call : 1);
    print_result(site, work, spread.median / 1000, "us");
}

static void die(const char *text)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void make_room(struct site *site, const struct call *call, uint64_t bytes)
{
    size_t count = bytes / sizeof(double) ? bytes / sizeof(double) : 1;
    size_t blocks = call->has_blocks ? (size_t)site->num_ranks : call->num_buffers;
    size_t elements = count * (blocks ? blocks : 1);
    site->count = (int)count;
    site->num_in = elements;
    site->in = malloc(elements * sizeof(double));
    site->out = malloc(elements * sizeof(double));
    if (!site->in || !site->out)
        die("no memory for the buffers");
    for (size_t i = 0; i < elements; i++)
        site->in[i] = site->out[i] = 1;
}

static void measure_forms(struct site *site, const struct bench_options *options,
                          const struct bench_work *work)
{
    const struct call *call = calls;
    while (strcmp(call->name, work->name) != 0)
        if (++call == calls + sizeof(calls) / sizeof(calls[0]))
            return; /* only for Cohort */
    if (call->is_for_two && site->num_ranks != 2)
        die("this needs two processes");
    make_room(site, call, work->size);
    for (int form = 0; form < site->num_forms; form++) {
        site->waits = form == 1;
        measure(site, call, options, work);
    }
    free(site->in);
    free(site->out);
}

static void print_memory(struct site *site, const struct bench_work *work, double mib)
{
    double sum = 0;
    site->waits = false;
    MPI_Reduce(&mib, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    print_result(site, work, sum / site->num_ranks, "MiB");
}

static void run(struct site *site, const struct bench_options *options)
{
    const struct bench_works *works = &options->works;
    double rss = 0, pss = 0;
    if (strncmp(works->list[0].name, "memory_", 7) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = BENCH_IDLE_NS}, NULL);
        rss = bench_burden_memory("Rss");
        pss = bench_burden_memory("Pss");
    }
    for (size_t i = 0; i < works->num; i++) {
        const struct bench_work *work = &works->list[i];
        if (strcmp(work->name, "memory_rss") == 0)
            print_memory(site, work, rss);
        else if (strcmp(work->name, "memory_pss") == 0)
            print_memory(site, work, pss);
        else
            measure_forms(site, options, work);
    }
}

int main(int argc, char **argv)
{
    struct bench_options options = {.rounds = 1};
    struct site site = {.num_forms = 2};
    bool is_understood = argc >= 3;
    for (int i = 3; i < argc; i++) {
        bool is_blocking = strcmp(argv[i], "blocking") == 0;
        bool is_fresh = strcmp(argv[i], "fresh") == 0;
        site.num_forms = is_blocking ? 1 : site.num_forms;
        site.is_fresh = site.is_fresh || is_fresh;
        is_understood = is_understood && (is_blocking || is_fresh);
    }
    options.seconds = is_understood ? strtod(argv[1], NULL) : 0;
    if (!(options.seconds > 0) || !bench_works_read(argv[2], bench_works_of_coll, &options.works)) {
        fprintf(stderr, "usage: %s SECONDS LIST [blocking] [fresh]; see cohort-bench --help\n",
                program_invocation_short_name);
        return STATUS_USAGE;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &site.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &site.num_ranks);
    site.other = 1 - site.rank;
    run(&site, &options);
    if (shared.count > 0) {
        MPI_Win_unlock_all(shared.window);
        MPI_Win_free(&shared.window);
    }
    MPI_Finalize();
    return 0;
}
