/* SPDX-License-Identifier: Apache-2.0 */
/* A program that knows nothing of Cohort, and opens a plugin that uses it: PLUGIN. It is opened and
 * closed, each time by a thread that ends then; and used many times while it is open. Nothing
 * grows. */
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/multi/plugin.h"

/* By then each kind of memory has been used, and caches are full. */
enum { CLOSES = 20, RUNS = 200, RUNS_BEFORE = 50, SLACK_KIB = 256 };

struct use {
    const char *path;
    int num_runs;
};

static void require(bool is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "plugin_host: %s: %s\n", what, dlerror());
    exit(1);
}

struct resources {
    long mappings, descriptors, kib_mapped, kib_allocated;
};

static long num_lines(const char *path)
{
    FILE *file = fopen(path, "re");
    long num = 0;
    require(file != NULL, path);
    for (int c; (c = fgetc(file)) != EOF;)
        num += c == '\n';
    fclose(file);
    return num;
}

static long num_entries(const char *path)
{
    DIR *folder = opendir(path);
    long num = 0;
    require(folder != NULL, path);
    while (readdir(folder))
        num++;
    closedir(folder);
    return num;
}

static struct resources look(const char *when)
{
    struct resources now;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    require(file && fscanf(file, "%ld", &pages) == 1, "/proc/self/statm");
    fclose(file);
    now.kib_mapped = pages * 4;
    now.kib_allocated = (long)(mallinfo2().uordblks / 1024);
    now.mappings = num_lines("/proc/self/maps");
    now.descriptors = num_entries("/proc/self/fd");
    printf("%s: %ld mappings of %ld KiB, %ld descriptors, %ld KiB allocated\n", when, now.mappings,
           now.kib_mapped, now.descriptors, now.kib_allocated);
    return now;
}

static void *use_plugin(void *arg)
{
    const struct use *use = arg;
    void *plugin = dlopen(use->path, RTLD_NOW | RTLD_LOCAL);
    require(plugin != NULL, "dlopen");
    void *address = dlsym(plugin, "plugin_run");
    plugin_function *function;
    memcpy(&function, &address, sizeof(function));
    require(function != NULL, "dlsym");
    for (int i = 0; i < use->num_runs; i++)
        require(function() == 0, "plugin_run");
    require(dlclose(plugin) == 0, "dlclose");
    return NULL;
}

static void use_in_thread(const char *path, int num_runs)
{
    struct use use = {.path = path, .num_runs = num_runs};
    pthread_t thread;
    require(pthread_create(&thread, NULL, use_plugin, &use) == 0, "pthread_create");
    pthread_join(thread, NULL);
}

static void check_growth(const struct resources *before, const struct resources *after)
{
    require(after->mappings <= before->mappings, "mappings are left over");
    require(after->descriptors <= before->descriptors, "descriptors are left over");
    require(after->kib_mapped <= before->kib_mapped + SLACK_KIB, "mapped memory is left over");
    require(after->kib_allocated <= before->kib_allocated + SLACK_KIB, "memory is left over");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    mallopt(M_ARENA_MAX, 1); /* so that memory does not depend on which threads meet */
    use_in_thread(argv[1], RUNS_BEFORE);
    struct resources first = look("first");
    use_in_thread(argv[1], RUNS);
    struct resources used = look("used");
    check_growth(&first, &used);
    for (int i = 0; i < CLOSES; i++)
        use_in_thread(argv[1], 1);
    struct resources closed = look("closed");
    check_growth(&first, &closed);
    return 0;
}
