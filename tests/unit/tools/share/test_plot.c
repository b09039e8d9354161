/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/share/plot.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"

static const struct plot_point falling[] = {{1, 100}, {4, 50}, {16, 25}, {64, 12.5}};
static const struct plot_point rising[] = {{1, 10}, {4, 20}, {16, 40}, {64, 80}};
static const struct plot_series two[] = {{"falling <&>", falling, 4}, {"rising", rising, 4}};

static struct plot example(const struct plot_series *series, size_t num_series)
{
    return (struct plot){.title = "A \"title\" & more",
                         .subtitle = "below",
                         .x = {"sites", PLOT_LOG2, PLOT_NUMBER},
                         .y = {"time in microseconds", PLOT_LOG10, PLOT_NUMBER},
                         .series = series,
                         .num_series = num_series,
                         .mark_crossings = true};
}

static char *directory(void)
{
    static char name[64];
    snprintf(name, sizeof(name), "/tmp/test_plot.XXXXXX");
    CHECK(mkdtemp(name));
    return name;
}

/* Removes the directory, which must have only the files that the test knows. */
static void end_directory(const char *name, unsigned num_files)
{
    DIR *open = opendir(name);
    unsigned found = 0;
    CHECK(open);
    for (const struct dirent *entry = readdir(open); entry; entry = readdir(open)) {
        char path[512];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
        CHECK_INT(unlink(path), 0);
        found++;
    }
    closedir(open);
    CHECK_INT(found, num_files);
    CHECK_INT(rmdir(name), 0);
}

static char *text_of(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    CHECK(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static unsigned count(const char *text, const char *part)
{
    unsigned found = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        found++;
    return found;
}

/* The lines cross where 100 / sqrt x = 10 sqrt x, that is at 10. */
TEST(picture)
{
    char path[96];
    const char *in = directory();
    struct plot plot = example(two, 2);
    snprintf(path, sizeof(path), "%s/a.svg", in);
    CHECK_OK(plot_write(&plot, path));
    const char *text = text_of(path);
    CHECK_INT(count(text, "<polyline "), 2);
    CHECK_INT(count(text, "<circle "), 8);
    CHECK_CONTAINS(text, ">falling &lt;&amp;&gt;</text>");
    CHECK_CONTAINS(text, "<title>A &quot;title&quot; &amp; more</title>");
    CHECK_CONTAINS(text, ">time in microseconds</text>");
    CHECK_CONTAINS(text, "fill=\"#555555\">10</text>");
    CHECK_INT(count(text, "stroke=\"#888888\""), 1);
    plot.mark_crossings = false;
    CHECK_OK(plot_write(&plot, path)); /* replaces the file */
    CHECK_INT(count(text_of(path), "stroke=\"#888888\""), 0);
    end_directory(in, 1);
}

/* Series with gaps and without points. Which series is lowest is known only where there are points.
 */
TEST(gaps)
{
    static const struct plot_point late[] = {{16, 5}, {64, 5}};
    static const struct plot_series series[] = {
        {"rising", rising, 4}, {"late", late, 2}, {"never", NULL, 0}};
    char path[96];
    const char *in = directory();
    struct plot plot = example(series, 3);
    snprintf(path, sizeof(path), "%s/a.svg", in);
    CHECK_OK(plot_write(&plot, path));
    const char *text = text_of(path);
    CHECK_INT(count(text, "<polyline "), 3);
    CHECK_INT(count(text, "no points"), 1);
    CHECK_CONTAINS(text, "fill=\"#555555\">16</text>");
    end_directory(in, 1);
}

/* A curve that hides an earlier curve says so. */
TEST(same)
{
    static const struct plot_series series[] = {
        {"first", rising, 4}, {"other", falling, 4}, {"second", rising, 4}, {"short", rising, 3}};
    char path[96];
    const char *in = directory();
    struct plot plot = example(series, 4);
    snprintf(path, sizeof(path), "%s/a.svg", in);
    CHECK_OK(plot_write(&plot, path));
    const char *text = text_of(path);
    CHECK_CONTAINS(text, ">first</text>");
    CHECK_CONTAINS(text, ">second = first</text>");
    CHECK_CONTAINS(text, ">short</text>");
    end_directory(in, 1);
}

/* Where the label that ends with LABEL is, down from the top. */
static double label_place(const char *text, const char *label)
{
    char end[64];
    double x, y;
    snprintf(end, sizeof(end), ">%s</text>", label);
    const char *at = strstr(text, end);
    CHECK(at);
    while (at > text && *at != '\n')
        at--;
    CHECK_INT(sscanf(at, "\n<text x=\"%lf\" y=\"%lf\"", &x, &y), 2);
    return y;
}

/* Labels are in the order in which the curves end, and don't overlap, also where curves end at one
 * place, or there are more than fit. */
TEST(labels)
{
    enum { MANY = 40 };
    static const struct plot_series some[] = {
        {"first", falling, 4}, {"second", rising, 4}, {"third", falling, 4}, {"never", NULL, 0}};
    struct plot_series many[MANY];
    char path[96], names[MANY][8];
    const char *in = directory();
    struct plot plot = example(some, 4);
    snprintf(path, sizeof(path), "%s/a.svg", in);
    CHECK_OK(plot_write(&plot, path));
    const char *text = text_of(path);
    double first = label_place(text, "first"), third = label_place(text, "third = first");
    CHECK(label_place(text, "second") < first - 15);
    CHECK(first < third - 15);
    CHECK(third < label_place(text, "never") - 15);
    CHECK(label_place(text, "never") < 560);

    for (unsigned i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "s%u", i);
        many[i] = (struct plot_series){names[i], falling, 3 + i % 2};
    }
    plot = example(many, MANY);
    CHECK_OK(plot_write(&plot, path));
    text = text_of(path);
    double last = label_place(text, "s1");
    for (unsigned i = 3; i < MANY; i += 2) {
        char label[24];
        snprintf(label, sizeof(label), "s%u = s1", i);
        double y = label_place(text, label);
        CHECK(y > 70 && y < 565 && (y - last > 5 || last - y > 5));
        last = y;
    }
    end_directory(in, 1);
}

TEST(wrong_points)
{
    static const struct plot_point zero[] = {{1, 0}};
    static const struct plot_point endless[] = {{1, INFINITY}};
    static const struct plot_series series[] = {
        {"zero", zero, 1}, {"endless", endless, 1}, {"never", NULL, 0}};
    static const char *const why[] = {"series zero: a point that", "series endless: a point that",
                                      "more': no points"};
    const char *in = directory();
    char path[96];
    snprintf(path, sizeof(path), "%s/a.svg", in);
    for (unsigned i = 0; i < 3; i++) {
        struct plot plot = example(&series[i], 1);
        CHECK_FAILS(plot_write(&plot, path), COHORT_ERR_BAD_PARAMETER, why[i]);
    }
    struct plot plot = example(NULL, 0);
    CHECK_INT(plot_write(&plot, path), COHORT_ERR_BAD_PARAMETER);
    end_directory(in, 0);
}

/* If a file can't be replaced, it stays as it is, and no other file is left over. */
TEST(failures)
{
    const char *in = directory();
    struct plot plot = example(two, 2);
    char path[96];
    snprintf(path, sizeof(path), "%s/nowhere/a.svg", in);
    CHECK_FAILS(plot_write(&plot, path), COHORT_ERR_SYSTEM,
                "nowhere/a.svg can't be written: No such file");
    CHECK_FAILS(plot_write(&plot, "/dev/full"), COHORT_ERR_SYSTEM,
                "/dev/full can't be written: No space left");
    CHECK_FAILS(plot_write(&plot, in), COHORT_ERR_SYSTEM, "Is a directory");
    end_directory(in, 0);
}
