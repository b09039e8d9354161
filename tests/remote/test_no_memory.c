/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/remote.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/proc/arrival.h"
#include "runtime/remote/tasks.h"
#include "tests/support/cluster.h"

/* There is no memory for what a call brings, or for what it gives back, here or there: that call
 * fails, and the next one works. */

/* Called instead of the real functions (--wrap). */
struct cohort__arrival *__real_cohort__arrival_keep(struct cohort__arrival *arrival);
void *__real_malloc(size_t bytes);

static atomic_bool keeps_nothing;
static _Atomic size_t missing; /* there is no memory of this size */

struct cohort__arrival *__wrap_cohort__arrival_keep(struct cohort__arrival *arrival)
{
    return atomic_load(&keeps_nothing) ? NULL : __real_cohort__arrival_keep(arrival);
}

void *__wrap_malloc(size_t bytes)
{
    return bytes > 0 && bytes == atomic_load(&missing) ? NULL : __real_malloc(bytes);
}

static struct cluster *cluster;
static unsigned char data[200000];

/* Gives back as many bytes as it is told. */
static cohort_status give(const cohort_object *in, cohort_object *ret_out, void *context)
{
    size_t bytes;
    memcpy(&bytes, in->data, sizeof(bytes));
    *ret_out = (cohort_object){calloc(1, bytes), bytes};
    return COHORT_OK;
}

static cohort_status echo(const cohort_object *in, cohort_object *ret_out, void *context)
{
    *ret_out = *in;
    return COHORT_OK;
}

static void check(uint32_t locality, const char *name, const cohort_object *in, cohort_status want,
                  const char *text, size_t want_bytes)
{
    cohort_object out;
    CHECK_INT(
        cohort_await(cohort__async_at_from(cluster_process(cluster, 0), locality, name, in, &out)),
        want);
    if (want)
        CHECK_CONTAINS(cohort_error_message(), text);
    CHECK_INT((long long)out.bytes, (long long)want_bytes);
    CHECK(want_bytes > 0 || !out.data);
    cohort_object_fini(&out);
}

static void run(uint32_t locality, const char *name, size_t bytes, const char *text)
{
    cohort_object in = {data, bytes};
    if (strcmp(name, "give") == 0)
        in = (cohort_object){&bytes, sizeof(bytes)};
    atomic_store(&missing, bytes);
    check(locality, name, &in, COHORT_ERR_NO_MEMORY, text, 0);
    atomic_store(&missing, 0);
    check(locality, name, &in, COHORT_OK, "", bytes);
}

TEST(in)
{
    cluster = cluster_create(1, 2, 0);
    run(1, "echo", 123457, "remote task \"echo\" at locality 1: no memory"); /* announced */
    run(1, "echo", 3001, "remote task \"echo\" at locality 1: no memory for its 3001 bytes");
    cluster_destroy(cluster);
}

TEST(out)
{
    cluster = cluster_create(2, 2, 0);
    run(1, "give", 123457, "remote task \"give\" at locality 1: no memory here for its result");
    run(1, "give", 777, "remote task \"give\" at locality 1: no memory here for its result");
    run(0, "echo", 777, "remote task \"echo\" at locality 0: no memory for its result");
    cluster_destroy(cluster);
}

/* A message that can't be kept. */
TEST(keep)
{
    cluster = cluster_create(3, 2, 0);
    size_t bytes = 6000;
    atomic_store(&keeps_nothing, true);
    check(1, "echo", &(cohort_object){data, 3000}, COHORT_ERR_NO_MEMORY,
          "remote task \"echo\" at locality 1: no memory there", 0);
    check(1, "echo", &(cohort_object){data, 150000}, COHORT_ERR_NO_MEMORY, "no memory there", 0);
    check(1, "echo", &(cohort_object){data, 30}, COHORT_OK, "", 30);
    check(1, "give", &(cohort_object){&bytes, sizeof(bytes)}, COHORT_OK, "", bytes);
    atomic_store(&keeps_nothing, false);
    check(1, "echo", &(cohort_object){data, 3000}, COHORT_OK, "", 3000);
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("give", give, NULL));
    CHECK_OK(cohort_remote_register("echo", echo, NULL));
    return cluster_test(argc, argv, 1);
}
