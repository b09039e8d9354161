/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/worker.h"

#include <pthread.h>
#include <sched.h>

#include "tests/support/test.h"
#include "tests/support/thread.h"

static struct cohort__pinning *pinning;
static pthread_t main_thread;

static void *pin_and_look(void *index)
{
    cpu_set_t bound, all;
    CHECK_OK(cohort__pinning_apply(pinning, *(unsigned *)index));
    CHECK_INT(sched_getaffinity(0, sizeof(bound), &bound), 0);
    CHECK_INT(pthread_getaffinity_np(main_thread, sizeof(all), &all), 0);
    CHECK(CPU_COUNT(&bound) >= 1);
    CHECK(cohort__pinning_num_cores(pinning) == 1 || CPU_COUNT(&bound) < CPU_COUNT(&all));
    return NULL;
}

TEST(binds_threads)
{
    main_thread = pthread_self();
    CHECK_OK(cohort__pinning_create(&pinning));
    CHECK(cohort__pinning_num_cores(pinning) >= 1);
    for (unsigned index = 0; index < 5; index++) {
        pthread_t thread = new_thread(pin_and_look, &index);
        end_thread(thread);
    }
    cohort__pinning_destroy(pinning);
    cohort__pinning_destroy(NULL);
}
