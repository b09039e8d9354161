/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/binding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/cores.h"

void cohort__binding_write(const struct cohort__binding *binding,
                           char ret_text[COHORT__BINDING_BYTES])
{
    snprintf(ret_text, COHORT__BINDING_BYTES, "%" PRIu64 " %" PRIu32 " %" PRIu32,
             cohort__cores_identify(), binding->sharing, binding->domain);
}

struct cohort__binding cohort__binding_take(void)
{
    struct cohort__binding binding = {0};
    uint64_t cores;
    const char *text = getenv("COHORT_BINDING");
    if (!text ||
        sscanf(text, "%" SCNu64 " %" SCNu32 " %" SCNu32, &cores, &binding.sharing,
               &binding.domain) != 3 ||
        cores == 0 || cores != cohort__cores_identify())
        binding = (struct cohort__binding){0};
    unsetenv("COHORT_BINDING");
    return binding;
}
