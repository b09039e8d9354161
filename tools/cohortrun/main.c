/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: where it begins: the launcher, a guardian, a node daemon, or --status. */
#include <signal.h>
#include <string.h>

#include "runtime/base/descriptors.h"
#include "tools/cohortrun/greeting.h"
#include "tools/cohortrun/guardian.h"
#include "tools/cohortrun/job.h"
#include "tools/cohortrun/node.h"
#include "tools/cohortrun/options.h"
#include "tools/cohortrun/status/status.h"

int main(int argc, char **argv)
{
    struct options options;
    sigset_t none;
    if (argc > 0 && strcmp(argv[0], GUARDIAN_NAME) == 0)
        return guardian_main(argc, argv);
    cohort__descriptors_open_standard();
    sigemptyset(&none); /* who has started this one may have blocked what it waits for */
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (argc == 2 && strcmp(argv[1], NODE_OPTION) == 0)
        return node_main();
    if (argc >= 2 && status_is_asked(argv[1]))
        return status_main(argc - 1, argv + 1);
    int status = options_read(argc, argv, &options);
    if (status >= 0)
        return status;
    status = job_run(&options);
    options_fini(&options);
    return status;
}
