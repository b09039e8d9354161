/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/draft.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"

/* All cases run in a new folder, which is their current folder. It has to be empty after each case.
 */

static bool refuse_nameless;

/* The linker redirects all calls of open here (--wrap), under both of its names. This includes the
 * calls of a shared library that is linked with undefined symbols (b_lundef=false). */
#pragma GCC visibility push(default)
int __real_open(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);
#pragma GCC visibility pop

static bool is_refused(int flags)
{
    if (!refuse_nameless || (flags & O_TMPFILE) != O_TMPFILE)
        return false;
    errno = EOPNOTSUPP;
    return true;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return is_refused(flags) ? -1 : __real_open(path, flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return is_refused(flags) ? -1 : __real_open64(path, flags, mode);
}

static int num_entries(void)
{
    int num = 0;
    DIR *folder = opendir(".");
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        num += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return num;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void check_content(const char *path, const char *want)
{
    char got[100] = "";
    FILE *file = fopen(path, "r");
    CHECK(file);
    got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
    fclose(file);
    CHECK_TEXT(got, want);
}

static void commit(const char *path, const char *text)
{
    struct draft draft;
    CHECK_OK(draft_open(&draft, path));
    CHECK(fputs(text, draft.file) >= 0);
    CHECK_OK(draft_commit(&draft));
    draft_fini(&draft);
    check_content(path, text);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    CHECK(stat(path, &info) == 0);
    return info.st_mode & 0777;
}

static void new_file(void)
{
    mode_t before = umask(027);
    commit("new", "first");
    umask(before);
    CHECK_INT(mode_of("new"), 0640);
    CHECK_INT(num_entries(), 1);
    CHECK(unlink("new") == 0);
}

static void replaced_file(void)
{
    put("old", "before");
    CHECK(chmod("old", 0604) == 0);
    commit("old", "after");
    commit("./old", "after that");
    CHECK_INT(mode_of("old"), 0604);
    CHECK_INT(num_entries(), 1);
    CHECK(unlink("old") == 0);
}

static void symbolic_link(void)
{
    CHECK(mkdir("folder", 0700) == 0);
    put("folder/old", "before");
    CHECK(symlink("folder/old", "link") == 0);
    commit("link", "after");
    check_content("folder/old", "after");
    char target[20] = "";
    CHECK(readlink("link", target, sizeof(target) - 1) > 0);
    CHECK_TEXT(target, "folder/old");
    CHECK(unlink("link") == 0 && unlink("folder/old") == 0 && rmdir("folder") == 0);
}

static void abandoned(void)
{
    struct draft draft;
    put("old", "before");
    CHECK_OK(draft_open(&draft, "old"));
    CHECK_INT(num_entries(), refuse_nameless ? 2 : 1);
    CHECK(fputs("half", draft.file) >= 0);
    draft_fini(&draft);
    draft_fini(&draft);
    check_content("old", "before");
    CHECK_INT(num_entries(), 1);
    CHECK(unlink("old") == 0);
}

/* A file that already has the hidden name is not ours. */
static void name_taken(void)
{
    char taken[40];
    snprintf(taken, sizeof(taken), ".draft-%ld-0", (long)getpid());
    put(taken, "other");
    put("old", "before");
    commit("old", "after");
    check_content(taken, "other");
    CHECK_INT(num_entries(), 2);
    CHECK(unlink("old") == 0 && unlink(taken) == 0);
}

static void two_at_once(void)
{
    struct draft one, two;
    CHECK_OK(draft_open(&one, "new"));
    CHECK_OK(draft_open(&two, "new"));
    CHECK(fputs("one", one.file) >= 0 && fputs("two", two.file) >= 0);
    CHECK_OK(draft_commit(&one));
    CHECK_OK(draft_commit(&two));
    draft_fini(&one);
    draft_fini(&two);
    check_content("new", "two");
    CHECK_INT(num_entries(), 1);
    CHECK(unlink("new") == 0);
}

static void check_refused(const char *path, const char *why)
{
    struct draft draft;
    CHECK(draft_open(&draft, path) != COHORT_OK);
    CHECK_CONTAINS(cohort_error_message(), path);
    CHECK_CONTAINS(cohort_error_message(), why);
}

static void refused(void)
{
    CHECK(mkdir("folder", 0700) == 0);
    check_refused("folder", "not a regular file");
    check_refused("/dev/null", "not a regular file");
    check_refused("folder/none/file", "No such file or directory");
    check_refused("", "No such file or directory");
    CHECK(rmdir("folder") == 0);
    put("file", "before");
    check_refused("file/file", "Not a directory");
    if (geteuid() != 0) {
        CHECK(chmod("file", 0400) == 0);
        check_refused("file", "Permission denied");
    }
    CHECK(unlink("file") == 0);
}

/* The folder is removed before the draft is finished. */
static void lost_folder(void)
{
    struct draft draft;
    CHECK(mkdir("folder", 0700) == 0);
    CHECK_OK(draft_open(&draft, "folder/new"));
    if (draft.name)
        CHECK(unlink(draft.name) == 0);
    CHECK(rmdir("folder") == 0);
    CHECK_FAILS(draft_commit(&draft), COHORT_ERR_SYSTEM, "folder/new: cannot create");
    draft_fini(&draft);
}

static void (*const cases_both_ways[])(void) = {
    new_file,   replaced_file, symbolic_link, abandoned,
    name_taken, two_at_once,   refused,       lost_folder,
};

static void run_in_new_folder(bool without_nameless)
{
    char folder[] = "/tmp/cohort-draft-XXXXXX";
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    refuse_nameless = without_nameless;
    for (size_t i = 0; i < NUM_OF(cases_both_ways); i++) {
        cases_both_ways[i]();
        CHECK_INT(num_entries(), 0);
    }
    CHECK(chdir("/") == 0 && rmdir(folder) == 0);
}

TEST_CALL(nameless, run_in_new_folder(false))
TEST_CALL(named, run_in_new_folder(true))
