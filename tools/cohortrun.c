/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tools/cohortrun_guardian.h"
#include "tools/cohortrun_job.h"
#include "tools/cohortrun_node.h"
#include "tools/cohortrun_options.h"

/* Descriptors 0, 1 and 2 are open from now on, so nothing else gets these numbers. */
static void open_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    struct options options;
    if (argc > 0 && strcmp(argv[0], GUARDIAN_NAME) == 0)
        return guardian_main(argc, argv);
    open_standard_descriptors();
    if (argc == 2 && strcmp(argv[1], NODE_OPTION) == 0)
        return node_main();
    int status = options_read(argc, argv, &options);
    if (status >= 0)
        return status;
    status = job_run(&options);
    options_fini(&options);
    return status;
}
