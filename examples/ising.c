/* SPDX-License-Identifier: Apache-2.0 */
/* A magnet in two dimensions, the Ising model, by the Metropolis algorithm:
 *
 *     cohortrun -n 3 ising --side 64 --sweeps 200
 *
 * Each locality has a magnet of its own, at a temperature of its own. Some tasks have a strip of it
 * each. In turn they change the black and the white sites of a chessboard: who changes one colour
 * reads only the other one, and a barrier is between the two. Now and then the last one at the
 * barrier takes a snapshot, which is measured in the background.
 *
 * - A strip's task stays on one worker, whose cache has the strip (cohort_async_with).
 * - Each of them has its random numbers under a key of cohort_task_local, so what needs one need
 *   not be given it.
 * - Measuring is of low priority: the strips come first. There are only two snapshots, so the
 *   strips wait by a condition where they are ahead of the measuring.
 *
 * The numbers are the same as those of one task that does all in a row. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "examples/command.h"
#include "examples/share.h"

enum { MOST_TASKS = 64, MOST_SIDE = 2048, MOST_SWEEPS = 100000, NUM_SNAPSHOTS = 2 };

/* The same in all localities, from the command line. */
static uint32_t side = 64, sweeps = 200, every = 5, tasks = 4, seed = 1;

struct measure {
    int64_t energy;
    int64_t magnetization;
};

struct magnet;

struct snapshot {
    struct magnet *magnet;
    int8_t *spins;
    uint32_t index; /* of the measure */
    bool is_taken;
};

struct strip {
    struct magnet *magnet;
    uint32_t begin, end; /* rows */
    uint64_t random;     /* the state of its random numbers */
};

struct magnet {
    double chances[9]; /* that a spin turns, by the energy that this takes */
    int8_t *spins;     /* side x side of 1 and -1 */
    struct strip strips[MOST_TASKS];
    struct measure *measures; /* one for each snapshot */

    cohort_local_barrier *barrier; /* of the strips */
    cohort_mutex *mutex;           /* guards which snapshots are taken */
    cohort_condition *given_back;
    struct snapshot snapshots[NUM_SNAPSHOTS];
    cohort_future **measured; /* one for each snapshot, NULL if there is none */
};

static cohort_task_local *random_state; /* a uint64_t, of each task that draws */

/* SplitMix64. From 0 to 1, without 1. */
static double draw(void)
{
    uint64_t *state = cohort_task_local_get(random_state);
    uint64_t number = *state += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    number ^= number >> 31;
    return (double)(number >> 11) * 0x1p-53;
}

static uint32_t num_measures(void)
{
    return sweeps / every;
}

/* The magnet ---------------------------------------------------------------------------------- */

static int8_t *spin(int8_t *spins, uint32_t row, uint32_t column)
{
    return &spins[(size_t)(row % side) * side + column % side];
}

/* The sites of COLOUR, 0 or 1, in a strip. */
static void turn_spins(struct strip *strip, uint32_t colour)
{
    const struct magnet *magnet = strip->magnet;
    int8_t *spins = magnet->spins;
    for (uint32_t row = strip->begin; row < strip->end; row++)
        for (uint32_t column = (row + colour) % 2; column < side; column += 2) {
            int around = *spin(spins, row + side - 1, column) + *spin(spins, row + 1, column) +
                         *spin(spins, row, column + side - 1) + *spin(spins, row, column + 1);
            int8_t *one = spin(spins, row, column);
            int energy = 2 * *one * around; /* from -8 to 8 */
            if (energy <= 0 || draw() < magnet->chances[energy])
                *one = (int8_t) - *one;
        }
}

static struct measure measure(int8_t *spins)
{
    struct measure sum = {0};
    for (uint32_t row = 0; row < side; row++)
        for (uint32_t column = 0; column < side; column++) {
            int one = *spin(spins, row, column);
            sum.magnetization += one;
            sum.energy -= one * (*spin(spins, row + 1, column) + *spin(spins, row, column + 1));
        }
    return sum;
}

/* Gives back what there is of it. */
static void fini(struct magnet *magnet)
{
    for (uint32_t i = 0; i < NUM_SNAPSHOTS; i++)
        free(magnet->snapshots[i].spins);
    free(magnet->measured);
    free(magnet->measures);
    free(magnet->spins);
    cohort_condition_unref(magnet->given_back);
    cohort_mutex_unref(magnet->mutex);
    cohort_local_barrier_unref(magnet->barrier);
}

static cohort_status init(struct magnet *magnet, double temperature)
{
    *magnet = (struct magnet){.spins = malloc((size_t)side * side)};
    magnet->measures = calloc(num_measures() + 1, sizeof(*magnet->measures));
    magnet->measured = calloc(num_measures() + 1, sizeof(cohort_future *));
    bool has_memory = magnet->spins && magnet->measures && magnet->measured;
    for (uint32_t i = 0; i < NUM_SNAPSHOTS; i++) {
        struct snapshot *snapshot = &magnet->snapshots[i];
        *snapshot = (struct snapshot){.magnet = magnet, .spins = malloc((size_t)side * side)};
        has_memory = has_memory && snapshot->spins;
    }
    if (!has_memory)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a magnet of %" PRIu32, side);
    memset(magnet->spins, 1, (size_t)side * side);
    for (int energy = 0; energy <= 8; energy++)
        magnet->chances[energy] = exp(-energy / temperature);
    for (uint32_t i = 0; i < tasks; i++)
        magnet->strips[i] = (struct strip){
            .magnet = magnet,
            .begin = (uint32_t)share_begin(side, tasks, i),
            .end = (uint32_t)share_begin(side, tasks, i + 1),
            .random = ((uint64_t)seed << 32) + cohort_locality() * MOST_TASKS + i,
        };
    cohort_status status = cohort_local_barrier_create(tasks, &magnet->barrier);
    if (!status)
        status = cohort_mutex_create(&magnet->mutex);
    if (!status)
        status = cohort_condition_create(&magnet->given_back);
    return status;
}

/* Snapshots ----------------------------------------------------------------------------------- */

/* NULL if all are taken. */
static struct snapshot *find_snapshot(struct magnet *magnet)
{
    for (uint32_t i = 0; i < NUM_SNAPSHOTS; i++)
        if (!magnet->snapshots[i].is_taken)
            return &magnet->snapshots[i];
    return NULL;
}

/* Waits until there is one. */
static cohort_status take_snapshot(struct magnet *magnet, struct snapshot **ret_snapshot)
{
    struct snapshot *snapshot = NULL;
    cohort_status status = cohort_mutex_lock(magnet->mutex, COHORT_NO_LIMIT);
    if (status)
        return status;
    while (!status && !(snapshot = find_snapshot(magnet)))
        status = cohort_condition_wait(magnet->given_back, magnet->mutex, COHORT_NO_LIMIT);
    if (!status)
        snapshot->is_taken = true;
    cohort_mutex_unlock(magnet->mutex);
    *ret_snapshot = snapshot;
    return status;
}

/* A task of low priority. */
static cohort_status measure_snapshot(void *arg)
{
    struct snapshot *snapshot = arg;
    struct magnet *magnet = snapshot->magnet;
    magnet->measures[snapshot->index] = measure(snapshot->spins);
    cohort_status status = cohort_mutex_lock(magnet->mutex, COHORT_NO_LIMIT);
    if (status)
        return status;
    snapshot->is_taken = false;
    cohort_condition_signal(magnet->given_back);
    return cohort_mutex_unlock(magnet->mutex);
}

/* Called by one strip, while the others wait. */
static cohort_status start_measure(struct magnet *magnet, uint32_t index)
{
    struct snapshot *snapshot;
    cohort_status status = take_snapshot(magnet, &snapshot);
    if (status)
        return status;
    snapshot->index = index;
    memcpy(snapshot->spins, magnet->spins, (size_t)side * side);
    magnet->measured[index] = cohort_async_with(
        measure_snapshot, snapshot, &(cohort_task_options){.priority = COHORT_TASK_LOW});
    return COHORT_OK;
}

/* Strips -------------------------------------------------------------------------------------- */

static cohort_status sweep(struct strip *strip, uint32_t num)
{
    struct magnet *magnet = strip->magnet;
    bool is_last = false;
    cohort_status status = COHORT_OK;
    for (uint32_t colour = 0; !status && colour < 2; colour++) {
        turn_spins(strip, colour);
        status = cohort_local_barrier_wait(magnet->barrier, COHORT_NO_LIMIT, &is_last);
    }
    if (status || num % every > 0)
        return status;
    if (is_last)
        status = start_measure(magnet, num / every - 1);
    return status ? status : cohort_local_barrier_wait(magnet->barrier, COHORT_NO_LIMIT, NULL);
}

/* A strip that fails says so to the scope, so that the others don't wait for it at the barrier. */
static cohort_status run_strip(void *arg)
{
    struct strip *strip = arg;
    cohort_status status = cohort_task_local_set(random_state, &strip->random);
    for (uint32_t num = 1; !status && num <= sweeps; num++)
        status = sweep(strip, num);
    if (status)
        cohort_scope_fail(cohort_scope_current(), status, "%s", cohort_error_message());
    return status;
}

/* The task of the scope. */
static cohort_status run_magnet(void *arg)
{
    struct magnet *magnet = arg;
    cohort_future *futures[MOST_TASKS];
    for (uint32_t i = 0; i < tasks; i++)
        futures[i] =
            cohort_async_with(run_strip, &magnet->strips[i],
                              &(cohort_task_options){.priority = COHORT_TASK_HIGH,
                                                     .worker = 1 + i % cohort_num_workers()});
    cohort_status status = cohort_await(cohort_when_all(futures, tasks));
    uint32_t num = 0;
    while (num < num_measures() && magnet->measured[num])
        num++;
    cohort_status measured = cohort_await(cohort_when_all(magnet->measured, num));
    return status ? status : measured;
}

static cohort_status run_in_scope(struct magnet *magnet)
{
    cohort_scope *scope;
    cohort_status status = cohort_scope_create(NULL, &scope);
    if (status)
        return status;
    status = cohort_scope_async(scope, run_magnet, magnet);
    cohort_status end = cohort_scope_await(scope);
    return status ? status : end;
}

/* The same by one task. */
static cohort_status run_serially(struct magnet *magnet)
{
    cohort_status status = COHORT_OK;
    for (uint32_t num = 1; num <= sweeps; num++) {
        for (uint32_t colour = 0; colour < 2; colour++)
            for (uint32_t i = 0; !status && i < tasks; i++) {
                status = cohort_task_local_set(random_state, &magnet->strips[i].random);
                if (!status)
                    turn_spins(&magnet->strips[i], colour);
            }
        if (num % every == 0)
            magnet->measures[num / every - 1] = measure(magnet->spins);
    }
    cohort_status reset = cohort_task_local_set(random_state, NULL);
    return status ? status : reset;
}

/* -------------------------------------------------------------------------------------------- */

static cohort_status report(const struct magnet *magnet, const struct magnet *serial,
                            double temperature)
{
    const double sites = (double)side * side;
    int64_t energy = 0, magnetization = 0;
    if (memcmp(magnet->measures, serial->measures, num_measures() * sizeof(*magnet->measures)) ||
        memcmp(magnet->spins, serial->spins, (size_t)side * side))
        return cohort_fail(COHORT_ERR_FAILED, "not what one task makes");
    for (uint32_t i = 0; i < num_measures(); i++) {
        energy += magnet->measures[i].energy;
        magnetization += llabs(magnet->measures[i].magnetization);
    }
    printf("locality %" PRIu32 ": temperature %.2f, energy %.4f, magnetization %.4f, equal to one "
           "task's\n",
           cohort_locality(), temperature, (double)energy / sites / num_measures(),
           (double)magnetization / sites / num_measures());
    return COHORT_OK;
}

static cohort_status program(void *arg)
{
    static struct magnet magnet, serial;
    char why[512]; /* what is freed after a failure may set messages of its own */
    (void)arg;
    double temperature = 1.5 + 2.0 * cohort_locality() / cohort_num_localities();
    cohort_status status = init(&magnet, temperature);
    if (!status)
        status = init(&serial, temperature);
    if (!status)
        status = run_in_scope(&magnet);
    if (!status)
        status = run_serially(&serial);
    if (!status)
        status = report(&magnet, &serial, temperature);
    snprintf(why, sizeof(why), "%s", cohort_error_message());
    fini(&serial);
    fini(&magnet);
    return status ? cohort_fail(status, "%s", why) : COHORT_OK;
}

int main(int argc, char **argv)
{
    const struct command_option rows[] = {
        {"side", "N", "sites in a row, an even number; 64", .number = &side, .min = 2,
         .max = MOST_SIDE},
        {"sweeps", "N", "how often each site may turn; 200", .number = &sweeps, .min = 1,
         .max = MOST_SWEEPS},
        {"every", "N", "sweeps from one snapshot to the next; 5", .number = &every, .min = 1,
         .max = MOST_SWEEPS},
        {"tasks", "N", "in each locality; 4", .number = &tasks, .min = 1, .max = MOST_TASKS},
        {"seed", "N", "of the random numbers; 1", .number = &seed, .max = UINT32_MAX},
    };
    const struct command command = {
        .name = "ising",
        .about = "Simulates a magnet in each locality, at temperatures from 1.5 on.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    if (side % 2 || every > sweeps) {
        fprintf(stderr, "ising: %s\n",
                side % 2 ? "--side needs an even number" : "--every needs as many --sweeps");
        command_print_usage(stderr, &command);
        return 2;
    }
    if (cohort_task_local_create(NULL, &random_state)) {
        fprintf(stderr, "ising: %s\n", cohort_error_message());
        return 1;
    }
    int end = cohort_main(argc, argv, program, NULL);
    cohort_task_local_unref(random_state);
    return end;
}
