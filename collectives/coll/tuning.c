/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/tuning.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "collectives/model/default_tune.h"
#include "collectives/model/parameters.h"
#include "collectives/model/tune_file.h"
#include "runtime/base/clock.h"
#include "runtime/base/cores.h"
#include "runtime/task/scheduler.h"

enum {
    MAX_FILE_BYTES = 1 << 20,
    MAX_PATH = 4096,
    NUM_PROBES = 8,         /* the fastest one counts */
    COPY_BYTES = 128 << 10, /* larger than the first-level cache */
    NUM_SMALL_STEPS = 1000,
};

/* How long the probes take on the machine on which the default parameters were measured. */
static const double default_copy_ns = 9000, default_small_ns = 7000;

static cohort_status read_text(const char *path, FILE *file, char **ret_text)
{
    char *text = malloc(MAX_FILE_BYTES + 1);
    if (!text)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "tuning file %.200s: no memory", path);
    size_t bytes = fread(text, 1, MAX_FILE_BYTES + 1, file);
    cohort_status status = COHORT_OK;
    if (ferror(file))
        status = cohort_fail(COHORT_ERR_SYSTEM, "tuning file %.200s: %s", path, strerror(errno));
    else if (bytes > MAX_FILE_BYTES)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "tuning file %.200s: more than %d bytes",
                             path, MAX_FILE_BYTES);
    else if (memchr(text, 0, bytes))
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "tuning file %.200s: it is no text", path);
    if (status) {
        free(text);
        return status;
    }
    text[bytes] = '\0';
    *ret_text = text;
    return COHORT_OK;
}

/* Reads the file. If it is not there and IS_WANTED is false, sets *RET_FOUND to false. */
static cohort_status read_file(struct cohort__parameters *parameters, const char *path,
                               bool is_wanted, bool *ret_found)
{
    char *text = NULL;
    FILE *file = fopen(path, "re");
    *ret_found = file != NULL;
    if (!file && !is_wanted)
        return COHORT_OK;
    if (!file)
        return cohort_fail(COHORT_ERR_SYSTEM, "tuning file %.200s (COHORT_TUNE): %s", path,
                           strerror(errno));
    cohort_status status = read_text(path, file, &text);
    fclose(file);
    if (status)
        return status;
    status = cohort__tune_file_read(parameters, path, text);
    free(text);
    return status;
}

/* How long a copy takes, from memory that is in some cache. */
static double copy_ns(void)
{
    unsigned char *memory = calloc(2, COPY_BYTES);
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; memory && i < NUM_PROBES; i++) {
        uint64_t start = cohort__clock_now();
        memcpy(memory + (i + 1) % 2 * COPY_BYTES, memory + i % 2 * COPY_BYTES, COPY_BYTES);
        atomic_signal_fence(memory_order_seq_cst);
        uint64_t elapsed = cohort__clock_now() - start;
        best = elapsed < best ? elapsed : best;
    }
    free(memory);
    return memory ? (double)best : default_copy_ns;
}

/* How long small steps take: locked instructions on memory that no other core uses. Messages and
 * tasks are made of these. */
static double small_ns(void)
{
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < NUM_PROBES; i++) {
        atomic_uint counter = 0;
        uint64_t start = cohort__clock_now();
        for (unsigned step = 0; step < NUM_SMALL_STEPS; step++)
            atomic_fetch_add(&counter, 1);
        uint64_t elapsed = cohort__clock_now() - start;
        best = elapsed < best ? elapsed : best;
    }
    return (double)best;
}

static void scale(double *terms, double copy, double small)
{
    terms[COHORT__TERM_CALL] *= small;
    terms[COHORT__TERM_STARTUP] *= small;
    terms[COHORT__TERM_SITE] *= small;
    terms[COHORT__TERM_MESSAGE] *= small;
    terms[COHORT__TERM_BYTE] *= copy;
    terms[COHORT__TERM_MOVED] *= copy;
    terms[COHORT__TERM_REDUCED] *= copy;
    terms[COHORT__TERM_COMBINED] *= copy;
}

/* Between localities only the copies are scaled. The network has its own speed, of which the probes
 * say nothing. */
static void calibrate(struct cohort__parameters *parameters)
{
    double copy = copy_ns() / default_copy_ns, small = small_ns() / default_small_ns;
    scale(parameters->terms[COHORT__DISTANCE_TASKS], copy, small);
    scale(parameters->terms[COHORT__DISTANCE_LOCALITIES], copy, 1);
}

/* Where a locality gets its parameters from. The file that COHORT_TUNE names. Else
 * $XDG_CONFIG_HOME/cohort/tune or ~/.config/cohort/tune, if there is one. Else the defaults, scaled
 * by how long copies and small steps take on this machine. Cores and workers are those of this job,
 * but a file may give another number of cores. COHORT_ERR_BAD_PARAMETER, COHORT_ERR_SYSTEM. */
static cohort_status tuning_source_read(struct cohort__parameters *ret_parameters)
{
    const char *path = getenv("COHORT_TUNE");
    char place[MAX_PATH];
    bool is_wanted = path && path[0], found = false;
    cohort_status status = COHORT_OK;
    if (is_wanted ||
        cohort__tune_file_place(getenv("XDG_CONFIG_HOME"), getenv("HOME"), place, sizeof(place)))
        status = read_file(ret_parameters, is_wanted ? path : place, is_wanted, &found);
    if (status)
        return status;
    if (!found) {
        status = cohort__tune_file_read(ret_parameters, "of the library", cohort__default_tune);
        if (status)
            return status;
        calibrate(ret_parameters);
        ret_parameters->cores = cohort__cores_each(1, false);
    }
    unsigned num_workers = cohort__scheduler_num_workers();
    ret_parameters->workers = num_workers > 0 ? num_workers : 1;
    return COHORT_OK;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char local[COHORT__PARAMETERS_MAX_BYTES];
static size_t local_bytes; /* 0: not read yet */

static cohort_status read_local(void)
{
    struct cohort__parameters *parameters = malloc(sizeof(*parameters));
    if (!parameters)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the parameters of the model");
    cohort_status status = tuning_source_read(parameters);
    if (!status)
        local_bytes = cohort__parameters_encode(parameters, local);
    free(parameters);
    return status;
}

cohort_status cohort__tuning_local(const void **ret_data, size_t *ret_bytes)
{
    pthread_mutex_lock(&lock);
    cohort_status status = local_bytes > 0 ? COHORT_OK : read_local();
    pthread_mutex_unlock(&lock);
    if (status)
        return status;
    *ret_data = local;
    *ret_bytes = local_bytes;
    return COHORT_OK;
}

static cohort_status make(const cohort_comm *comm, struct cohort__tuning *tuning)
{
    const struct cohort__bytes *own = &comm->settings.tuning;
    tuning->placement = cohort__placement_of(comm->group->machine);
    cohort_status status = cohort__group_hosts_sharing(comm->group, &tuning->placement.sharing);
    if (status)
        return status;
    if (own->bytes > 0)
        return cohort__parameters_decode(&tuning->parameters, own->data, own->bytes);
    cohort__parameters_default(&tuning->parameters);
    return COHORT_OK;
}

cohort_status cohort__tuning_get(cohort_comm *comm, const struct cohort__tuning **ret_tuning)
{
    void *known = atomic_load(&comm->group->tuning);
    if (!known) {
        struct cohort__tuning *tuning = malloc(sizeof(*tuning));
        if (!tuning)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory for its model",
                               comm->group->name);
        cohort_status status = make(comm, tuning);
        if (status || !atomic_compare_exchange_strong(&comm->group->tuning, &known, tuning)) {
            free(tuning);
            if (status)
                return status;
        } else {
            known = tuning;
        }
    }
    *ret_tuning = known;
    return COHORT_OK;
}
