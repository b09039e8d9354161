/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: makes one trace of the parts of a job. */
#include "tools/trace/join.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "tools/trace/list.h"
#include "tools/trace/merge.h"
#include "tools/trace/part.h"
#include "tools/trace/view.h"

struct join {
    const struct trace_join_options *options;
    struct part *parts;        /* by rank, when all are there */
    uint32_t *hosts;           /* of each; the number of another one is another number */
    uint32_t *clocks;          /* the same for who shares one: containers do */
    struct known_clock *found; /* what is known of each clock */
    uint32_t num_hosts, num_clocks;
    uint32_t num;
    struct trace_joined joined;
};

/* The parts ----------------------------------------------------------------------------------- */

static cohort_status no_memory(const struct join *join)
{
    return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory to make the trace",
                       join->options->file);
}

/* Adds the part PATH, unless it is of a job that is not asked for. */
static cohort_status add(struct join *join, const char *path)
{
    struct part part;
    cohort_status status = part_init(&part, path);
    if (status)
        return status;
    if (join->options->has_key && part.head.key != join->options->key) {
        part_fini(&part);
        return COHORT_OK;
    }
    if (!list_grow(&join->parts, join->num, sizeof(part))) {
        part_fini(&part);
        return no_memory(join);
    }
    join->parts[join->num++] = part;
    return COHORT_OK;
}

/* Whether NAME is BASE.NUMBER.part. */
static bool is_part(const char *name, const char *base, size_t base_bytes)
{
    if (strncmp(name, base, base_bytes) != 0 || name[base_bytes] != '.')
        return false;
    const char *number = name + base_bytes + 1;
    size_t digits = strspn(number, "0123456789");
    return digits > 0 && strcmp(number + digits, ".part") == 0;
}

static cohort_status add_from(struct join *join, DIR *folder, const char *folder_path,
                              const char *base)
{
    struct dirent *entry;
    cohort_status status = COHORT_OK;
    while (!status && (entry = readdir(folder))) {
        char *path = NULL;
        if (!is_part(entry->d_name, base, strlen(base)))
            continue;
        if (asprintf(&path, "%s/%s", folder_path, entry->d_name) < 0)
            return no_memory(join);
        status = add(join, path);
        free(path);
    }
    return status;
}

static cohort_status add_all(struct join *join)
{
    const char *file = join->options->file;
    const char *slash = strrchr(file, '/');
    char *folder_path =
        slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : strdup(".");
    if (!folder_path)
        return no_memory(join);
    DIR *folder = opendir(folder_path);
    cohort_status status =
        folder ? add_from(join, folder, folder_path, slash ? slash + 1 : file)
               : cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", folder_path, strerror(errno));
    if (folder)
        closedir(folder);
    free(folder_path);
    return status;
}

static int by_rank(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return (a->head.rank > b->head.rank) - (a->head.rank < b->head.rank);
}

static cohort_status check(const struct join *join)
{
    if (join->num == 0)
        return cohort_fail(COHORT_ERR_STATE, "%s: there are no parts of it (%s.0.part, ...)",
                           join->options->file, join->options->file);
    for (uint32_t i = 1; i < join->num; i++) {
        const struct cohort__trace_head *head = &join->parts[i].head;
        const struct cohort__trace_head *first = &join->parts[0].head;
        if (head->key != first->key || head->epoch != first->epoch || head->size != first->size)
            return cohort_fail(COHORT_ERR_STATE, "%s is of another job than %s",
                               join->parts[i].path, join->parts[0].path);
        if (head->rank == join->parts[i - 1].head.rank)
            return cohort_fail(COHORT_ERR_STATE, "%s and %s are both of locality %u",
                               join->parts[i - 1].path, join->parts[i].path, (unsigned)head->rank);
    }
    return COHORT_OK;
}

static cohort_status find_parts(struct join *join)
{
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; i < join->options->num_parts && join->options->parts && !status; i++)
        status = add(join, join->options->parts[i]);
    if (!join->options->parts)
        status = add_all(join);
    if (status)
        return status;
    if (join->num > 0)
        qsort(join->parts, join->num, sizeof(*join->parts), by_rank);
    return check(join);
}

static bool has_same_clock(const struct cohort__trace_head *left,
                           const struct cohort__trace_head *right)
{
    return strcmp(left->clock, right->clock) == 0 &&
           (*left->clock || strcmp(left->host, right->host) == 0);
}

static bool is_same_host(const struct cohort__trace_head *left,
                         const struct cohort__trace_head *right)
{
    return has_same_clock(left, right) && strcmp(left->host, right->host) == 0;
}

/* A number for each part: that of the first part which IS_SAME, or a new one. */
static uint32_t number(const struct join *join, uint32_t *numbers,
                       bool (*is_same)(const struct cohort__trace_head *left,
                                       const struct cohort__trace_head *right))
{
    uint32_t num = 0;
    for (uint32_t i = 0; i < join->num; i++) {
        uint32_t k = 0;
        while (k < i && !is_same(&join->parts[k].head, &join->parts[i].head))
            k++;
        numbers[i] = k < i ? numbers[k] : num++;
    }
    return num;
}

/* Parts with one clock have the same cycles. So all of them get the moments of the one that has
 * most: what is before something else by the cycles is so by the time, too. */
static cohort_status share_moments(struct join *join)
{
    for (uint32_t i = 0; i < join->num; i++) {
        struct part *part = &join->parts[i], *most = NULL;
        for (uint32_t k = 0; k < join->num; k++)
            if (join->clocks[k] == join->clocks[i] &&
                (!most || join->parts[k].num_moments > most->num_moments))
                most = &join->parts[k];
        if (most == part)
            continue;
        struct moment *moments = malloc(most->num_moments * sizeof(*moments));
        if (!moments)
            return no_memory(join);
        memcpy(moments, most->moments, most->num_moments * sizeof(*moments));
        free(part->moments);
        part->moments = moments;
        part->num_moments = most->num_moments;
    }
    return COHORT_OK;
}

static cohort_status find_hosts(struct join *join)
{
    join->hosts = calloc(join->num, sizeof(*join->hosts));
    join->clocks = calloc(join->num, sizeof(*join->clocks));
    if (!join->hosts || !join->clocks)
        return no_memory(join);
    join->num_hosts = number(join, join->hosts, is_same_host);
    join->num_clocks = number(join, join->clocks, has_same_clock);
    join->found = calloc(join->num_clocks, sizeof(*join->found));
    if (!join->found)
        return no_memory(join);
    cohort_status status = share_moments(join);
    return status ? status
                  : clocks_align(join->parts, join->num, join->clocks, join->num_clocks,
                                 join->options->pings, join->found);
}

/* The trace ----------------------------------------------------------------------------------- */

static cohort_status add_events(struct join *join, struct merge *merge, struct view *view)
{
    struct event event;
    cohort_status status = COHORT_OK;
    while (!status && merge_next(merge, &event)) {
        status = view_add(view, &event);
        join->joined.num_events++;
    }
    return status ? status : view_end(view);
}

static cohort_status write_trace(struct join *join, FILE *file, const char *path)
{
    struct perfetto perfetto;
    struct merge merge;
    cohort_status status = merge_init(&merge, join->parts, join->num);
    if (status)
        return status;
    perfetto_init(&perfetto, file);
    const struct view_hosts hosts = {join->hosts, join->clocks, join->found};
    struct view *view = view_create(&perfetto, join->parts, join->num, &hosts);
    status = view ? add_events(join, &merge, view) : no_memory(join);
    bool is_written = perfetto_flush(&perfetto) && fflush(file) == 0;
    if (!status && !is_written) {
        int error = perfetto.proto.has_failed ? perfetto.proto.error : errno;
        status = error ? cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", path, strerror(error))
                       : no_memory(join);
    }
    view_destroy(view);
    perfetto_fini(&perfetto);
    merge_fini(&merge);
    return status;
}

/* Whoever reads FILE finds the old trace or the whole new one. */
static cohort_status make_file(struct join *join)
{
    char *path = NULL;
    if (asprintf(&path, "%s.%d.tmp", join->options->file, (int)getpid()) < 0)
        return no_memory(join);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    cohort_status status =
        file ? write_trace(join, file, path)
             : cohort_fail(COHORT_ERR_SYSTEM, "%s can't be made: %s", path, strerror(errno));
    if (file && fclose(file) != 0 && !status)
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", path, strerror(errno));
    else if (!file && descriptor >= 0)
        close(descriptor);
    if (!status && rename(path, join->options->file) != 0)
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", join->options->file, strerror(errno));
    if (status && descriptor >= 0)
        unlink(path);
    free(path);
    return status;
}

static void count(struct join *join)
{
    join->joined.num_parts = join->num;
    join->joined.size = join->parts[0].head.size;
    join->joined.num_hosts = join->num_hosts;
    for (uint32_t i = 0; i < join->num; i++) {
        join->joined.num_cut += join->parts[i].head.is_closed != 1;
        join->joined.lost += join->parts[i].head.lost;
    }
}

cohort_status trace_join(const struct trace_join_options *options, struct trace_joined *ret_joined)
{
    struct join join = {.options = options};
    cohort_status status = find_parts(&join);
    if (!status)
        status = find_hosts(&join);
    if (!status)
        status = make_file(&join);
    if (!status)
        count(&join);
    for (uint32_t i = 0; i < join.num; i++) {
        if (!status)
            unlink(join.parts[i].path);
        part_fini(&join.parts[i]);
    }
    free(join.parts);
    free(join.hosts);
    free(join.clocks);
    free(join.found);
    if (!status && ret_joined)
        *ret_joined = join.joined;
    return status;
}

/* Without cohortrun ---------------------------------------------------------------------------- */

/* *RET_PART is -1: it is not there, or is no part. COHORT_ERR_SYSTEM: it can't be opened. */
static cohort_status open_part(const char *file, uint32_t rank, int flags, int *ret_part,
                               struct cohort__trace_head *ret_head)
{
    char path[PATH_MAX];
    const int bytes = snprintf(path, sizeof(path), "%s.%u.part", file, (unsigned)rank);
    const bool is_cut = bytes < 0 || (size_t)bytes >= sizeof(path);
    int part = is_cut ? -1 : part_open(path, flags | O_NOFOLLOW, ret_head);
    if (part < 0 && (is_cut || (errno != ENOENT && errno != EBADMSG)))
        return cohort_fail(COHORT_ERR_SYSTEM, "no trace is made: part %u of %s: %s", (unsigned)rank,
                           file, strerror(is_cut ? ENAMETOOLONG : errno));
    *ret_part = part;
    return COHORT_OK;
}

/* Whether the parts of all localities of the job whose first one is there are closed. */
static cohort_status check_all(const char *file, uint64_t *ret_key, bool *ret_are_closed)
{
    struct cohort__trace_head first = {.size = 1}, head;
    bool are_closed = true;
    for (uint32_t rank = 0; rank < first.size && are_closed; rank++) {
        int part;
        cohort_status status = open_part(file, rank, O_RDONLY, &part, &head);
        if (status)
            return status;
        are_closed = part >= 0 && head.rank == rank && head.is_closed == 1 &&
                     (rank == 0 || head.key == first.key);
        first = rank == 0 && are_closed ? head : first;
        if (part >= 0)
            close(part);
    }
    *ret_key = first.key;
    *ret_are_closed = are_closed;
    return COHORT_OK;
}

/* The first part is also the lock: it goes when the trace is made. */
cohort_status trace_join_closed(const char *file)
{
    struct cohort__trace_head head;
    uint64_t key;
    bool are_closed = false;
    int lock = -1;
    cohort_status status = check_all(file, &key, &are_closed);
    if (!status && are_closed)
        status = open_part(file, 0, O_RDWR, &lock, &head);
    while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR)
        ;
    if (lock >= 0) /* somebody may have done it meanwhile */
        status = check_all(file, &key, &are_closed);
    if (lock >= 0 && !status && are_closed)
        status = trace_join(&(struct trace_join_options){.file = file, .has_key = true, .key = key},
                            NULL);
    if (lock >= 0)
        close(lock);
    return status;
}
