/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: writes the file. */
#include "tools/tune/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectives/model/tune_file.h"
#include "runtime/base/cores.h"

enum { MAX_PATH = 4096 };

/* Makes the folders that PATH is in. The last ones may be missing. */
static void make_folders(const char *path)
{
    char folder[MAX_PATH];
    for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
        mkdir(folder, 0777); /* if this fails, making the file fails, too, and says why */
    }
}

static cohort_status cannot_write(const char *path, int error)
{
    return cohort_fail(COHORT_ERR_SYSTEM, "%.200s can't be written: %s", path, strerror(error));
}

/* Closes FILE; returns 0 or errno. */
static int fill(FILE *file, const char *text, bool has_disk)
{
    bool failed = fputs(text, file) < 0 || fflush(file) || (has_disk && fsync(fileno(file)));
    int error = failed ? errno : 0;
    return fclose(file) && !failed ? errno : error;
}

/* Writes a new file beside PATH, and then puts it in its place. */
static cohort_status replace_file(const char *path, const char *text)
{
    char other[MAX_PATH + 32];
    snprintf(other, sizeof(other), "%s.%ld", path, (long)getpid());
    FILE *file = fopen(other, "wxe");
    if (!file)
        return cannot_write(path, errno);
    int error = fill(file, text, true);
    if (!error && rename(other, path))
        error = errno;
    if (!error)
        return COHORT_OK;
    unlink(other);
    return cannot_write(path, error);
}

/* A device or a pipe is written to directly: to put a file in its place would remove it. */
static cohort_status write_file(const char *path, const char *text)
{
    struct stat there;
    if (stat(path, &there) || S_ISREG(there.st_mode))
        return replace_file(path, text);
    FILE *file = fopen(path, "we");
    int error = file ? fill(file, text, false) : errno;
    return error ? cannot_write(path, error) : COHORT_OK;
}

static cohort_status put(const struct tune_options *options, const char *text)
{
    char path[MAX_PATH];
    if (options->print) {
        if (fputs(text, stdout) < 0 || fflush(stdout))
            return cohort_fail(COHORT_ERR_SYSTEM, "standard output can't be written");
        return COHORT_OK;
    }
    if (options->output)
        snprintf(path, sizeof(path), "%s", options->output);
    else if (!cohort__tune_file_place(getenv("XDG_CONFIG_HOME"), getenv("HOME"), path,
                                      sizeof(path)))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "neither XDG_CONFIG_HOME nor HOME says where to: give --output FILE");
    if (!options->output)
        make_folders(path);
    cohort_status status = write_file(path, text);
    if (!status && printf("%s\n", path) < 0)
        status = cohort_fail(COHORT_ERR_SYSTEM, "standard output can't be written");
    return status;
}

cohort_status tune_output_write(const struct tune_options *options,
                                const struct tune_samples *samples, const char *measured,
                                uint32_t workers)
{
    static struct cohort__parameters parameters;
    char head[160], *text = NULL;
    cohort__parameters_default(&parameters);
    parameters.cores = cohort__cores_each(1, false);
    parameters.workers = workers;
    tune_fit(&parameters, samples->all, samples->num);
    snprintf(head, sizeof(head), "By cohort-tune %s: %s with %u worker%s, %zu samples",
             COHORT_VERSION, measured, (unsigned)workers, workers == 1 ? "" : "s", samples->num);
    cohort_status status = cohort__tune_file_write(&parameters, head, &text);
    if (!status)
        status = put(options, text);
    free(text);
    return status;
}
