/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/cores.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "tests/support/system.h"
#include "tests/support/test.h"

static const char version_2[] =
    "22 1 0:20 / /proc rw - proc proc rw\n"
    "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(none)
{
    system_begin("22 1 0:20 / /proc rw - proc proc rw\n", "0::/\n");
    CHECK_INT(cohort__cores_quota(system_root), UINT_MAX);
    system_end();
    system_begin(version_2, "0::/user.slice\n"); /* the root group has no such file */
    system_play("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
    CHECK_INT(cohort__cores_quota(system_root), UINT_MAX);
    system_end();
    CHECK_INT(cohort__cores_quota("/nowhere"), UINT_MAX);
}

TEST(version_2)
{
    system_begin(version_2, "0::/user.slice/job/step\n");
    system_play("/sys/fs/cgroup/user.slice/job/step/cpu.max", "max 100000\n");
    system_play("/sys/fs/cgroup/user.slice/job/cpu.max", "350000 100000\n");
    system_play("/sys/fs/cgroup/user.slice/cpu.max", "800000 100000\n");
    system_play("/sys/fs/cgroup/cpu.max", "100000 100000\n"); /* a container's own group */
    CHECK_INT(cohort__cores_quota(system_root), 1);
    system_play("/sys/fs/cgroup/cpu.max", "max 100000\n");
    CHECK_INT(cohort__cores_quota(system_root), 3);
    system_play("/sys/fs/cgroup/user.slice/cpu.max", "10000 50000\n");
    CHECK_INT(cohort__cores_quota(system_root), 1); /* never 0 */
    system_end();
}

TEST(version_1)
{
    system_begin(
        "30 22 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "31 22 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup none rw,cpuacct,cpu\n",
        "9:cpuset:/elsewhere\n3:cpuacct,cpu:/job\n1:name=systemd:/\n0::/\n");
    system_play("/sys/fs/cgroup/cpuset/elsewhere/cpu.cfs_quota_us", "100000\n");
    system_play("/sys/fs/cgroup/cpuset/elsewhere/cpu.cfs_period_us", "100000\n");
    system_play("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
    system_play("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "200000\n");
    CHECK_INT(cohort__cores_quota(system_root), 2);
    system_play("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    CHECK_INT(cohort__cores_quota(system_root), UINT_MAX);
    system_end();
}

/* A container sees its own group as the root, and may see the whole name of the group. */
TEST(part_of_the_groups)
{
    static const char mounted[] = "30 22 0:26 /docker/c1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    system_begin(mounted, "0::/docker/c1/inner\n");
    system_play("/sys/fs/cgroup/inner/cpu.max", "700000 100000\n");
    CHECK_INT(cohort__cores_quota(system_root), 7);
    system_play("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    CHECK_INT(cohort__cores_quota(system_root), 2);
    system_end();
    system_begin(mounted, "0::/docker/c10\n"); /* not below c1: only the folder itself is visible */
    system_play("/sys/fs/cgroup/cpu.max", "500000 100000\n");
    system_play("/sys/fs/cgroup/0/cpu.max", "100000 100000\n");
    CHECK_INT(cohort__cores_quota(system_root), 5);
    system_end();
}

TEST(nonsense)
{
    static const char *const texts[] = {"", "\n", "none\n", "100000\n", "-5 100000\n", "1 0\n"};
    for (size_t i = 0; i < NUM_OF(texts); i++) {
        system_begin(version_2, "0::/job\n:\nx\n");
        system_play("/sys/fs/cgroup/job/cpu.max", texts[i]);
        CHECK_INT(cohort__cores_quota(system_root), UINT_MAX);
        system_end();
    }
}

static void *read_quota(void *ret_quota)
{
    *(unsigned *)ret_quota = cohort__cores_quota("");
    return NULL;
}

/* The main thread of a program may have 64 KiB (ulimit -s), of which others use the most. */
TEST(small_stack)
{
    enum { STACK = 32 << 10 };
    pthread_attr_t attributes;
    pthread_t thread;
    unsigned quota = 0;
    CHECK_INT(pthread_attr_init(&attributes), 0);
    CHECK_INT(pthread_attr_setstacksize(&attributes, STACK), 0);
    CHECK_INT(pthread_create(&thread, &attributes, read_quota, &quota), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(quota, cohort__cores_quota(""));
    pthread_attr_destroy(&attributes);
}

/* The mask of one core, on any machine. */
TEST(mask_and_sharing)
{
    cpu_set_t before, one;
    CHECK_INT(sched_getaffinity(0, sizeof(before), &before), 0);
    unsigned quota = cohort__cores_quota(""), all = (unsigned)CPU_COUNT(&before);
    CHECK_INT(cohort__cores_each(1, false), all < quota ? all : quota);
    uint64_t number = cohort__cores_identify();
    CHECK(number != 0 && number == cohort__cores_identify());
    CPU_ZERO(&one);
    for (int cpu = 0; !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0);
    CHECK_INT(cohort__cores_each(1, false), 1);
    CHECK(cohort__cores_identify() != 0);
    CHECK_INT(cohort__cores_identify() == number, all == 1);
    CHECK_INT(cohort__cores_each(2, false), 0);
    if (quota > 1 && sysconf(_SC_NPROCESSORS_ONLN) > 1) /* each process has a core of its own */
        CHECK_INT(cohort__cores_each(2, true), 1);
    else
        CHECK_INT(cohort__cores_each(2, true), 0);
    CHECK_INT(sched_setaffinity(0, sizeof(before), &before), 0);
}
