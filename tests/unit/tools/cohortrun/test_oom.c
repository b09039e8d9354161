/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/oom.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/system.h"
#include "tests/support/test.h"

static const char version_2[] = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

static void check_text(int64_t before, const char *want)
{
    char text[OOM_TEXT_BYTES] = "";
    CHECK(oom_describe(system_root, before, text));
    CHECK_TEXT(text, want);
    CHECK(!oom_describe(system_root, oom_count(system_root), text));
}

TEST(version_2)
{
    system_begin(version_2, "0::/job/step\n");
    CHECK_INT(oom_count(system_root), 0);
    system_play("/sys/fs/cgroup/job/step/memory.events",
                "low 0\nhigh 0\nmax 9\noom 5\noom_kill 2\noom_group_kill 0\n");
    system_play("/sys/fs/cgroup/job/step/memory.max", "max\n");
    CHECK_INT(oom_count(system_root), 2);
    check_text(1, "the kernel has killed a process of control group /sys/fs/cgroup/job/step for "
                  "want of memory");
    system_play("/sys/fs/cgroup/job/memory.max", "100663296\n");
    check_text(0, "the kernel has killed a process of control group /sys/fs/cgroup/job/step for "
                  "want of memory (limit 96.0 MiB)");
    system_play("/sys/fs/cgroup/job/step/memory.max", "1048576\n");
    check_text(0, "the kernel has killed a process of control group /sys/fs/cgroup/job/step for "
                  "want of memory (limit 1.0 MiB)");
    system_end();
}

/* A group of version 2 that leaves its memory to the group above. */
TEST(group_above)
{
    system_begin(version_2, "0::/job/step\n");
    system_play("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    system_play("/sys/fs/cgroup/job/memory.events", "oom 5\noom_kill 1\n");
    check_text(0, "the kernel has killed a process of control group /sys/fs/cgroup/job for want "
                  "of memory");
    system_end();
}

TEST(version_1)
{
    system_begin("30 22 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                 "31 22 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                 "32 22 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
                 "4:memory:/job\n1:cpu:/\n0::/\n");
    system_play("/sys/fs/cgroup/memory/job/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");
    system_play("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_INT(oom_count(system_root), 7);
    check_text(6, "the kernel has killed a process of control group /sys/fs/cgroup/memory/job for "
                  "want of memory");
    system_play("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
    check_text(6, "the kernel has killed a process of control group /sys/fs/cgroup/memory/job for "
                  "want of memory (limit 1024.0 MiB)");
    system_end();
}

TEST(long_name)
{
    char cgroup[400] = "0::/", events[500], text[OOM_TEXT_BYTES];
    memset(cgroup + 4, 'x', 200);
    system_begin(version_2, cgroup);
    snprintf(events, sizeof(events), "/sys/fs/cgroup%s/memory.events", cgroup + 3);
    system_play(events, "oom_kill 1\n");
    CHECK(oom_describe(system_root, 0, text));
    CHECK_CONTAINS(text, "x ... x");
    CHECK_CONTAINS(text, "x for want of memory");
    system_end();
}

TEST(nonsense)
{
    static const char *const texts[] = {"", "\n", "oom_kill\n", "oom_kill x\n", "7\n", "oom 7\n"};
    for (size_t i = 0; i < NUM_OF(texts); i++) {
        system_begin(version_2, "0::/job\n:\nx\n");
        system_play("/sys/fs/cgroup/job/memory.events", texts[i]);
        CHECK_INT(oom_count(system_root), 0);
        system_end();
    }
    CHECK_INT(oom_count("/nowhere"), 0);
}
