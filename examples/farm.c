/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a picture by hands in all localities that ask for work when they have none:
 *
 *     cohortrun -n 4 farm --width 1500 --iterations 5000 mandelbrot.pgm
 *
 * Some strips of the picture take a hundred times as long as others, so nobody says beforehand who
 * draws which one. In locality 0 a dealer gives the next strip to whichever hand asks first
 * (cohort_channel_get_any). A collector is told which one has finished, and how long its strip is
 * (cohort_channel_probe), but takes it only when a buffer is free (a semaphore): a file that is
 * slower than the hands holds them up, and does not fill the memory. Each strip is written where it
 * belongs (cohort/file.h).
 *
 * The hands are remote tasks in the scope of all that. A watcher on libuv's loop prints how far it
 * is, and ends the scope at Ctrl-C, wherever its tasks are; the file has what was written until
 * then. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "examples/command.h"
#include "examples/farm_hand.h"
#include "examples/farm_picture.h"
#include "examples/farm_watch.h"

enum { NUM_BUFFERS = 4, HEADER_BYTES = 64 };

static uint32_t progress; /* milliseconds */

struct farm {
    const char *path;
    cohort_file *file;
    size_t header_bytes;
    cohort_scope *scope;
    cohort_comm *dealer, *collector;
    cohort_semaphore *buffers; /* that are free */
    cohort_latch *written;     /* opens when all strips are */
    _Atomic uint32_t num_written;
    struct answer *answers; /* one for each strip */
    struct farm_watch watch;
};

/* What has been taken from a hand. The strip is allocated, and freed when it is written, or else at
 * the end: a task of a cancelled scope may never run. */
struct answer {
    struct farm *farm;
    struct farm_strip *strip;
    size_t bytes;
};

/* Tasks of the scope -------------------------------------------------------------------------- */

static cohort_status deal(void *arg)
{
    struct farm *farm = arg;
    const uint32_t num_strips = farm_picture_num_strips();
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; !status && i < num_strips + farm_num_hands(); i++) {
        uint32_t number = i < num_strips ? i : FARM_NO_STRIP, site;
        status = cohort_await(cohort_channel_get_any(farm->dealer, FARM_TAG, NULL, 0, NULL, &site));
        if (!status)
            status = cohort_await(
                cohort_channel_set(farm->dealer, site, FARM_TAG, &number, sizeof(number)));
    }
    return status;
}

static cohort_status write_strip(void *arg)
{
    struct answer *answer = arg;
    struct farm *farm = answer->farm;
    const struct farm_strip *strip = answer->strip;
    if (answer->bytes < sizeof(*strip) || strip->number >= farm_picture_num_strips() ||
        answer->bytes != farm_strip_bytes(strip->number))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no strip", answer->bytes);
    uint64_t offset =
        farm->header_bytes + (uint64_t)strip->number * FARM_PICTURE_STRIP_ROWS * farm_picture_width;
    cohort_status status = cohort_await(
        cohort_file_write(farm->file, offset, strip->samples, answer->bytes - sizeof(*strip)));
    if (status)
        return status;
    free(answer->strip);
    answer->strip = NULL;
    atomic_fetch_add(&farm->num_written, 1);
    status = cohort_semaphore_release(farm->buffers, 1);
    return status ? status : cohort_latch_count_down(farm->written, 1);
}

static cohort_status collect_one(struct farm *farm, struct answer *answer)
{
    uint32_t site;
    cohort_status status = cohort_await(
        cohort_channel_probe(farm->collector, COHORT_ANY_SITE, FARM_TAG, &answer->bytes, &site));
    if (!status)
        status = cohort_semaphore_acquire(farm->buffers, COHORT_NO_LIMIT);
    if (status)
        return status;
    answer->farm = farm;
    answer->strip = malloc(answer->bytes);
    if (!answer->strip)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu bytes", answer->bytes);
    status = cohort_await(
        cohort_channel_get(farm->collector, site, FARM_TAG, answer->strip, answer->bytes, NULL));
    return status ? status : cohort_scope_async(farm->scope, write_strip, answer);
}

static cohort_status collect(void *arg)
{
    struct farm *farm = arg;
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; !status && i < farm_picture_num_strips(); i++)
        status = collect_one(farm, &farm->answers[i]);
    return status;
}

/* As long as this task lives, so does the scope, which the watcher may let fail. */
static cohort_status watch(void *arg)
{
    struct farm *farm = arg;
    cohort_status status = farm_watch_open(&farm->watch);
    if (!status)
        status = cohort_latch_wait(farm->written, COHORT_NO_LIMIT);
    cohort_status closed = farm_watch_close(&farm->watch);
    return status ? status : closed;
}

static cohort_status start_hands(cohort_scope *scope)
{
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; !status && i < farm_num_hands(); i++) {
        const cohort_object in = {&i, sizeof(i)};
        status = cohort_scope_async_at(scope, i % cohort_num_localities(), "farm.hand", &in);
    }
    return status;
}

static cohort_status run_scope(struct farm *farm)
{
    cohort_status status = cohort_scope_create(NULL, &farm->scope);
    if (status)
        return status;
    farm->watch = (struct farm_watch){
        .scope = farm->scope,
        .num_written = &farm->num_written,
        .num_strips = farm_picture_num_strips(),
        .milliseconds = progress,
    };
    status = cohort_scope_async(farm->scope, watch, farm);
    if (!status)
        status = cohort_scope_async(farm->scope, deal, farm);
    if (!status)
        status = cohort_scope_async(farm->scope, collect, farm);
    if (!status)
        status = start_hands(farm->scope);
    if (status)
        cohort_scope_fail(farm->scope, status, "%s", cohort_error_message());
    return cohort_scope_await(farm->scope);
}

/* The file ------------------------------------------------------------------------------------ */

static cohort_status open_file(struct farm *farm)
{
    char header[HEADER_BYTES];
    farm->header_bytes =
        (size_t)snprintf(header, sizeof(header), "P5\n%" PRIu32 " %" PRIu32 "\n255\n",
                         farm_picture_width, farm_picture_height());
    cohort_status status =
        cohort_await(cohort_file_open(farm->path, O_RDWR | O_CREAT | O_TRUNC, 0666, &farm->file));
    if (!status)
        status = cohort_await(cohort_file_write(farm->file, 0, header, farm->header_bytes));
    return status;
}

static cohort_status check_strip(struct farm *farm, uint32_t number, uint8_t *samples,
                                 uint8_t *want)
{
    size_t bytes = (size_t)farm_picture_num_rows(number) * farm_picture_width, got = 0;
    uint64_t offset =
        farm->header_bytes + (uint64_t)number * FARM_PICTURE_STRIP_ROWS * farm_picture_width;
    cohort_status status = cohort_await(cohort_file_read(farm->file, offset, samples, bytes, &got));
    if (!status)
        status = farm_picture_draw(number, want);
    if (!status && (got != bytes || memcmp(samples, want, bytes) != 0))
        status =
            cohort_fail(COHORT_ERR_FAILED, "%s: strip %" PRIu32 " is wrong", farm->path, number);
    return status;
}

/* Draws all once more. */
static cohort_status check_file(struct farm *farm)
{
    size_t most = (size_t)FARM_PICTURE_STRIP_ROWS * farm_picture_width;
    uint64_t bytes = 0;
    uint8_t *samples = malloc(2 * most);
    if (!samples)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the check");
    cohort_status status = cohort_await(cohort_file_size(farm->file, &bytes));
    if (!status &&
        bytes != farm->header_bytes + (uint64_t)farm_picture_width * farm_picture_height())
        status = cohort_fail(COHORT_ERR_FAILED, "%s has %" PRIu64 " bytes", farm->path, bytes);
    for (uint32_t i = 0; !status && i < farm_picture_num_strips(); i++)
        status = check_strip(farm, i, samples, samples + most);
    free(samples);
    return status;
}

/* What was written until an error is closed, too. */
static cohort_status close_file(struct farm *farm, cohort_status status)
{
    if (!status)
        status = cohort_await(cohort_file_sync(farm->file));
    cohort_status closed = cohort_await(cohort_file_close(farm->file));
    cohort_file_unref(farm->file);
    return status ? status : closed;
}

static cohort_status run_with_file(struct farm *farm)
{
    cohort_status status = open_file(farm);
    if (!farm->file)
        return status;
    if (!status)
        status = run_scope(farm);
    if (!status)
        status = check_file(farm);
    return close_file(farm, status);
}

/* -------------------------------------------------------------------------------------------- */

static cohort_status init(struct farm *farm)
{
    farm->answers = calloc(farm_picture_num_strips(), sizeof(*farm->answers));
    if (!farm->answers)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the strips");
    cohort_status status = cohort_semaphore_create(NUM_BUFFERS, &farm->buffers);
    return status ? status : cohort_latch_create(farm_picture_num_strips(), &farm->written);
}

static void fini(struct farm *farm)
{
    for (uint32_t i = 0; farm->answers && i < farm_picture_num_strips(); i++)
        free(farm->answers[i].strip);
    free(farm->answers);
    cohort_semaphore_unref(farm->buffers);
    cohort_latch_unref(farm->written);
}

/* All sites join before any of them knows of the others, and leave when none is at work. */
static cohort_status run_with_sites(struct farm *farm)
{
    cohort_future *joined[] = {
        cohort_async_everywhere("farm.open", NULL, NULL),
        farm_join(FARM_DEALER, &farm->dealer),
        farm_join(FARM_COLLECTOR, &farm->collector),
    };
    cohort_status status = cohort_await(cohort_when_all(joined, 3));
    if (!status)
        status = run_with_file(farm);
    char why[512]; /* what follows may set a message of its own */
    snprintf(why, sizeof(why), "%s", cohort_error_message());
    cohort_comm_unref(farm->dealer);
    cohort_comm_unref(farm->collector);
    cohort_status closed = cohort_await(cohort_async_everywhere("farm.close", NULL, NULL));
    return status ? cohort_fail(status, "%s", why) : closed;
}

static cohort_status run(void *arg)
{
    struct farm *farm = arg;
    if (cohort_locality() > 0)
        return COHORT_OK; /* it runs what it is called for, until the job ends */
    cohort_status status = init(farm);
    if (!status)
        status = run_with_sites(farm);
    fini(farm);
    if (!status)
        printf("picture: %" PRIu32 " x %" PRIu32 ", by %" PRIu32 " hands in %" PRIu32
               " localities\ncheck: the file is equal to a serial drawing\n",
               farm_picture_width, farm_picture_height(), farm_num_hands(),
               cohort_num_localities());
    return status;
}

static cohort_status register_all(void)
{
    cohort_status status = cohort_remote_register("farm.open", farm_hand_open, NULL);
    if (!status)
        status = cohort_remote_register("farm.hand", farm_hand_run, NULL);
    return status ? status : cohort_remote_register("farm.close", farm_hand_close, NULL);
}

int main(int argc, char **argv)
{
    static struct farm farm;
    const struct command_option rows[] = {
        {"width", "N", "columns of the picture; 192", .number = &farm_picture_width, .min = 1,
         .max = 10000},
        {"iterations", "N", "of a sample at most; 1000", .number = &farm_picture_iterations,
         .min = 1, .max = 100000000},
        {"hands", "N", "in each locality; 2", .number = &farm_hands, .min = 1,
         .max = FARM_MOST_HANDS},
        {"progress", "MS", "prints how far it is, all so many milliseconds; 0: not at all",
         .number = &progress, .max = 1000000},
    };
    const struct command_file files[] = {{"OUT.pgm", &farm.path}};
    const struct command command = {
        .name = "farm",
        .about = "Draws the Mandelbrot set. Locality 0 deals out strips to whoever asks, and "
                 "writes them.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
        .files = files,
        .num_files = 1,
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    if (register_all()) {
        fprintf(stderr, "farm: %s\n", cohort_error_message());
        return 1;
    }
    return cohort_main(argc, argv, run, &farm);
}
