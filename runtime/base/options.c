/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/options.h"

#include <string.h>

cohort_status cohort__options_read(void *ret_options, size_t bytes, const void *given,
                                   size_t given_bytes, const char *what)
{
    if (!given)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no options", what);
    const unsigned char *byte = given;
    for (size_t i = bytes; i < given_bytes; i++)
        if (byte[i] != 0)
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               "%s: its byte %zu is set, but this version of the library knows %zu "
                               "bytes: the program was built for a newer one",
                               what, i, bytes);
    size_t known = given_bytes < bytes ? given_bytes : bytes;
    memcpy(ret_options, given, known);
    memset((unsigned char *)ret_options + known, 0, bytes - known);
    return COHORT_OK;
}
