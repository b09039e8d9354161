/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/pgm.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"

/* The program runs in a new folder. */
static const char path[] = "picture.pgm";

static void put(const void *bytes, size_t num_bytes)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, num_bytes, file) == num_bytes && fclose(file) == 0);
}

/* WHY NULL: the file can be read. */
static void check_read(const void *bytes, size_t num_bytes, const char *why)
{
    struct pgm picture = {0};
    put(bytes, num_bytes);
    cohort_status status = pgm_read(path, &picture);
    if (!why) {
        if (status)
            FAIL("%s", cohort_error_message());
        pgm_fini(&picture);
        return;
    }
    CHECK(status != COHORT_OK && !picture.samples);
    CHECK_CONTAINS(cohort_error_message(), "picture.pgm: ");
    CHECK_CONTAINS(cohort_error_message(), why);
    CHECK(!strchr(cohort_error_message(), '\n'));
}

static void check_text(const char *text, const char *why)
{
    check_read(text, strlen(text), why);
}

TEST(headers)
{
    static const char *const headers[] = {
        "P5 3 2 255 ",
        "P5\n3 2\n255\n",
        "P5\r\n3\t2\v255\f",
        "P5 \n\n 3   \n2   255\n",
        "P5 003 02 0255 ",
        "P5# a comment\n3 2 255\n",
        "P5\n# one\n# another\r#\n3#width\n#\n2 # height # \n255\n",
        "P5\n3 2\n255# right before the samples\n",
        "P5\n#\n#3 3\n3 2 200\n",
    };
    for (size_t i = 0; i < NUM_OF(headers); i++) {
        char text[100];
        snprintf(text, sizeof(text), "%sa#\n\r d", headers[i]);
        struct pgm picture;
        put(text, strlen(text));
        CHECK_OK(pgm_read(path, &picture));
        CHECK_INT(picture.width, 3);
        CHECK_INT(picture.height, 2);
        CHECK_INT(pgm_sample(&picture, 0, 0), 'a');
        CHECK_INT(pgm_sample(&picture, 1, 0), '#');
        CHECK_INT(pgm_sample(&picture, 0, 1), '\r');
        CHECK_INT(pgm_sample(&picture, 2, 1), 'd');
        pgm_fini(&picture);
    }
}

TEST(no_pgm)
{
    check_text("P2\n1 1\n255\n7\n", "malformed: no binary PGM");
    check_text("P6\n1 1\n255\nabc", "malformed: no binary PGM");
    check_text("p5\n1 1\n255\na", "malformed: no binary PGM");
    check_text("P51 1 255 a", "malformed: no binary PGM");
    check_text(" P5 1 1 255 a", "malformed: no binary PGM");
    check_text("\nP5 1 1 255 a", "malformed: no binary PGM");
    check_text("\x89PNG\r\n", "malformed: no binary PGM");
}

TEST(malformed_numbers)
{
    check_text("P5 a 1 255 a", "the width is no number");
    check_text("P5 1x 1 255 a", "the width is no number");
    check_text("P5 -1 1 255 a", "the width is no number");
    check_text("P5 +1 1 255 a", "the width is no number");
    check_text("P5 1.0 1 255 a", "the width is no number");
    check_text("P5 0x1 1 255 a", "the width is no number");
    check_text("P5 1,1 255 a", "the width is no number");
    check_text("P5 1 , 255 a", "the height is no number");
    check_text("P5 1 1 255;a", "the maxval is no number");
    check_read("P5 1 1\0 255 a", 13, "the height is no number");
    check_text("P5 0 1 255 ", "the width is not within 1 to 2147483647");
    check_text("P5 1 0 255 ", "the height is not within 1 to 2147483647");
    check_text("P5 1 1 0 a", "the maxval is not within 1 to 65535");
    check_text("P5 1 1 65536 ab", "the maxval is not within 1 to 65535");
    check_text("P5 1 1 99999999999999999999999 ab", "the maxval is not within 1 to 65535");
}

TEST(truncated_header)
{
    static const char whole[] = "P5 1 1 255";
    for (size_t i = 0; i < sizeof(whole); i++)
        check_read(whole, i, "truncated: it ends within the header");
    check_text("P5\n# a comment without an end", "truncated: it ends within the header");
    check_text("P5 1 1 255#", "truncated: it ends within the header");
    check_text("P5 1 1 255 ", "truncated: 0 bytes of 1 expected after the header");
}

TEST(truncated_samples)
{
    check_text("P5 3 2 255 abcde", "truncated: 5 bytes of 6 expected after the header");
    check_text("P5 3 2 256 abcdefghijk", "truncated: 11 bytes of 12 expected after the header");
    check_text("P5 3 2 256 abcdef", "truncated: 6 bytes of 12 expected after the header");
}

TEST(absurd_dimensions)
{
    check_text("P5 2147483648 1 255 a", "the width is not within 1 to 2147483647");
    check_text("P5 1 18446744073709551617 255 a", "the height is not within 1 to 2147483647");
    check_text("P5 2147483647 2147483647 255 a",
               "truncated: 1 bytes of 4611686014132420609 expected");
    check_text("P5 2147483647 2147483647 65535 ab",
               "truncated: 2 bytes of 9223372028264841218 expected");
    check_text("P5 65536 65536 255 a", "truncated: 1 bytes of 4294967296 expected");
}

/* No machine has the memory for the contents of a sparse file of 2^62 bytes. */
TEST(absurd_sparse_file)
{
    static const char header[] = "P5 2147483647 1073741824 65535 ";
    char name[40];
    struct pgm picture;
    int fd = memfd_create("picture", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, header, strlen(header)) == (ssize_t)strlen(header));
    CHECK(ftruncate(fd, (off_t)strlen(header) + (off_t)2147483647 * 1073741824 * 2) == 0);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    CHECK_FAILS(pgm_read(name, &picture), COHORT_ERR_NO_MEMORY, "no memory for its 46116860");
    close(fd);
}

TEST(more_than_a_picture)
{
    check_text("P5 1 1 255 a", NULL);
    check_text("P5 1 1 255 a\n", "malformed: 1 bytes after the picture's 1");
    check_text("P5 1 1 256 \1", "truncated: 1 bytes of 2");
    check_read("P5 1 1 256 \1\0\0", 14, "malformed: 1 bytes after the picture's 2");
    check_text("P5 1 1 255 aP5 1 1 255 b", "malformed: 12 bytes after the picture's 1");
}

TEST(samples_above_maxval)
{
    check_text("P5 2 2 99 abcd", "the sample in column 1 of row 1 is 100, above the maxval 99");
    check_read("P5 1 2 300 \1\54\1\55", 15,
               "the sample in column 0 of row 1 is 301, above the maxval 300");
    check_read("P5 1 1 1 \1", 10, NULL);
    check_read("P5 1 1 1 \2", 10, "is 2, above the maxval 1");
}

TEST(unreadable)
{
    struct pgm picture;
    CHECK_INT(pgm_read("no-such-file.pgm", &picture), COHORT_ERR_SYSTEM);
    CHECK_TEXT(cohort_error_message(), "no-such-file.pgm: cannot read: No such file or directory");
    CHECK_INT(pgm_read("/", &picture), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "/: cannot read: a directory");
    CHECK_INT(pgm_read("/dev/zero", &picture), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "/dev/zero: cannot read: not a regular file");
    CHECK(mkfifo("pipe.pgm", 0600) == 0);
    CHECK_INT(pgm_read("pipe.pgm", &picture), COHORT_ERR_BAD_PARAMETER);
    CHECK(unlink("pipe.pgm") == 0);
    if (geteuid() != 0) {
        put("P5 1 1 255 a", 12);
        CHECK(chmod(path, 0) == 0);
        CHECK_INT(pgm_read(path, &picture), COHORT_ERR_SYSTEM);
        CHECK_TEXT(cohort_error_message(), "picture.pgm: cannot read: Permission denied");
        CHECK(unlink(path) == 0);
    }
}

static unsigned nth_sample(size_t n, unsigned maxval)
{
    return (unsigned)(n * 2654435761u >> 7) % (maxval + 1);
}

static struct pgm make(size_t width, size_t height, unsigned maxval)
{
    struct pgm picture = {.width = width, .height = height, .maxval = maxval};
    picture.samples = test_malloc(width * height * pgm_sample_bytes(maxval));
    for (size_t i = 0; i < width * height; i++)
        if (maxval > 255)
            ((uint16_t *)picture.samples)[i] = (uint16_t)nth_sample(i, maxval);
        else
            ((uint8_t *)picture.samples)[i] = (uint8_t)nth_sample(i, maxval);
    return picture;
}

static void round_trip(size_t width, size_t height, unsigned maxval)
{
    struct pgm picture = make(width, height, maxval);
    CHECK_OK(pgm_write(path, &picture));
    struct pgm again;
    CHECK_OK(pgm_read(path, &again));
    CHECK_INT(again.width, (long long)width);
    CHECK_INT(again.height, (long long)height);
    CHECK_INT(again.maxval, maxval);
    CHECK(memcmp(again.samples, picture.samples, width * height * pgm_sample_bytes(maxval)) == 0);
    pgm_fini(&picture);
    pgm_fini(&again);
}

TEST(round_trip)
{
    static const unsigned maxvals[] = {1, 7, 255, 256, 1023, 65535};
    for (size_t i = 0; i < NUM_OF(maxvals); i++) {
        round_trip(1, 1, maxvals[i]);
        round_trip(1, 100, maxvals[i]);
        round_trip(100, 1, maxvals[i]);
        round_trip(211, 157, maxvals[i]);
    }
}

TEST(written_bytes)
{
    uint16_t wide[] = {0x0102, 0x0300, 0x0004};
    char bytes[100];
    struct pgm picture = {.width = 1, .height = 3, .maxval = 1000, .samples = wide};
    CHECK_OK(pgm_write(path, &picture));
    FILE *file = fopen(path, "rb");
    CHECK(file);
    size_t got = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    CHECK_INT(got, 18);
    CHECK(memcmp(bytes, "P5\n1 3\n1000\n\1\2\3\0\0\4", 18) == 0);
}

static int num_entries(void)
{
    int num = 0;
    DIR *folder = opendir(".");
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        num += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(folder);
    return num;
}

/* As on a full disk, for pictures that fit into one buffer and for pictures that don't. */
static void write_without_space(unsigned maxval, size_t width)
{
    struct rlimit before, limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = (struct rlimit){.rlim_cur = 20, .rlim_max = before.rlim_max};
    struct pgm picture = make(width, 3, maxval);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    cohort_status status = pgm_write(path, &picture);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_FAILS(status, COHORT_ERR_SYSTEM, "picture.pgm: cannot write: File too large");
    pgm_fini(&picture);
}

TEST(no_space)
{
    signal(SIGXFSZ, SIG_IGN);
    unlink(path);
    write_without_space(255, 10);
    write_without_space(255, 100000);
    write_without_space(65535, 10);
    write_without_space(65535, 100000);
    CHECK_INT(num_entries(), 0);
    put("before", 6);
    write_without_space(255, 100000);
    CHECK_INT(num_entries(), 1);
    struct stat info;
    CHECK(stat(path, &info) == 0 && info.st_size == 6);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/cohort-pgm-XXXXXX";
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    int status = tests_run(argc, argv);
    unlink(path);
    CHECK(chdir("/") == 0 && rmdir(folder) == 0);
    return status;
}
