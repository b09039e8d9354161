/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/tune_file.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "tests/support/test.h"

static struct cohort__parameters parameters;

static void check_read(const char *text)
{
    cohort_status status = cohort__tune_file_read(&parameters, "some/file", text);
    if (status)
        FAIL("%s", cohort_error_message());
}

static void check_wrong(const char *text, const char *where, const char *what)
{
    struct cohort__parameters before = parameters;
    CHECK_FAILS(cohort__tune_file_read(&parameters, "some/file", text), COHORT_ERR_BAD_PARAMETER,
                "some/file");
    CHECK_CONTAINS(cohort_error_message(), where);
    CHECK_CONTAINS(cohort_error_message(), what);
    CHECK(memcmp(&before, &parameters, sizeof(before)) == 0);
}

TEST(read)
{
    struct cohort__parameters defaults;
    cohort__parameters_default(&defaults);
    check_read("# a comment\n\n  version = 1   # another\r\ncores=3\n tasks.startup =\t12.5 \n"
               "localities.moved = 1e-3");
    CHECK(parameters.cores == 3);
    CHECK(parameters.terms[COHORT__DISTANCE_TASKS][COHORT__TERM_STARTUP] == 12.5);
    CHECK(parameters.terms[COHORT__DISTANCE_LOCALITIES][COHORT__TERM_MOVED] == 1e-3);
    CHECK(parameters.terms[COHORT__DISTANCE_TASKS][COHORT__TERM_CALL] ==
          defaults.terms[COHORT__DISTANCE_TASKS][COHORT__TERM_CALL]);
}

TEST(wrong)
{
    check_wrong("", "line 0", "without \"version = 1\"");
    check_wrong("cores = 1\nversion = 1\n", "line 1", "before the version");
    check_wrong("version = 2\n", "line 1", "version 2");
    check_wrong("version = 1\nversoin\n", "line 2", "\"versoin\" is not \"name = value\"");
    check_wrong("version = 1\n\ncores = 0\n", "line 3", "is not from 1");
    check_wrong("version = 1\ncores = two\n", "line 2", "\"two\"");
    check_wrong("version = 1\ncores = \n", "line 2", "missing");
    check_wrong("version = 1\ncores = nan\n", "line 2", "nan");
    check_wrong("version = 1\ncores = 1 2\n", "line 2", "\"2\" behind the last");
    check_wrong("version = 1\ntasks.startup = -1\n", "line 2", "-1");
    check_wrong("version = 1\ntasks.strtup = 1\n", "line 2", "\"strtup\" is no term of tasks");
    check_wrong("version = 1\nfoo.startup = 1\n", "line 2", "\"foo\" is no name");
    check_wrong("version = 1\nfactor.tasks.gather.no = 1\n", "line 2", "called \"no\"");
    check_wrong("version = 1\nfactor.tasks.gather.linear = 1 2\n", "line 2", "number 3 of 35");
    char *line = calloc(1, 3000);
    memcpy(line, "version = 1\n", 12);
    memset(line + 12, 'x', 2000);
    check_wrong(line, "line 2", "2000 bytes");
    free(line);
}

TEST(write)
{
    struct cohort__parameters written;
    char *text = NULL;
    cohort__parameters_default(&written);
    written.cores = 7;
    written.terms[COHORT__DISTANCE_LOCALITIES][COHORT__TERM_BYTE] = 1.0 / 3;
    for (unsigned i = 0; i < COHORT__KNOTS; i++)
        written.factors[COHORT__DISTANCE_LOCALITIES][5][i] = (int8_t)(7 * i - 120);
    CHECK_OK(cohort__tune_file_write(&written, "of a test", &text));
    CHECK(strncmp(text, "# of a test\n", 12) == 0);
    CHECK_CONTAINS(text, cohort__algorithms[5]->name);
    check_read(text);
    CHECK(memcmp(&written, &parameters, sizeof(written)) == 0);
    free(text);
}
