/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: where a task waits, in names. */
#include "tools/cohortrun/status_place.h"

#include <string.h>

#include "tools/cohortrun/symbols.h"

static bool is_of_library(const struct look_module *module)
{
    const char *base = module ? strrchr(module->path, '/') : NULL;
    return base && strncmp(base, "/libcohort.so", strlen("/libcohort.so")) == 0;
}

/* Without the offset behind it. */
static void cut_offset(char *name)
{
    char *plus = strrchr(name, '+');
    if (plus)
        *plus = '\0';
}

void status_place_function(char ret_name[STATUS_NAME_BYTES], struct symbols *symbols,
                           const struct look *look, uint64_t function)
{
    symbols_name(symbols, look_find_module(look, function), function, ret_name, STATUS_NAME_BYTES);
}

void status_place_find(struct status_place *ret_place, struct symbols *symbols,
                       const struct look *look, const struct look_wait *wait)
{
    struct status_place *place = ret_place;
    const struct look_module *module = look_find_module(look, wait->caller);
    place->function[0] = place->line[0] = place->caller[0] = '\0';
    place->is_in_function = place->is_at_end = false;
    if (wait->function)
        status_place_function(place->function, symbols, look, wait->function);
    if (look_has_to_begin(wait))
        return;
    symbols_name(symbols, module, wait->caller, place->caller, sizeof(place->caller));
    const size_t bytes = strlen(place->function);
    place->is_in_function = bytes > 0 && strncmp(place->caller, place->function, bytes) == 0 &&
                            place->caller[bytes] == '+';
    place->is_at_end = wait->function && is_of_library(module);
    if (!place->is_at_end &&
        symbols_line(symbols, module, wait->caller, place->line, sizeof(place->line)))
        cut_offset(place->caller);
}
