/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/test.h"

/* Of test programs that have none. */
int main(int argc, char **argv)
{
    return tests_runner(argc, argv);
}
