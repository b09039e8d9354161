/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the names of functions, from the symbols of programs, and where tasks wait. */
#include "tools/cohortrun/status/symbols.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "tools/cohortrun/status/source.h"
#include "tools/share/elf_symbols.h"

static const uint64_t timeout_ns = 500000000; /* for the lines of all files */

struct object {
    struct object *next;
    char path[464];
    uint8_t build_id[20]; /* that is wanted: other hosts may have other files at the same path */
    uint32_t build_id_bytes;
    struct elf_symbols *symbols;
    struct source *source; /* NULL: not opened yet, or it can't be */
    bool has_no_source;
};

struct symbols {
    struct object *objects;
    uint64_t spent; /* on lines */
};

struct symbols *symbols_create(void)
{
    return calloc(1, sizeof(struct symbols));
}

void symbols_destroy(struct symbols *symbols)
{
    while (symbols && symbols->objects) {
        struct object *object = symbols->objects;
        symbols->objects = object->next;
        source_close(object->source);
        elf_symbols_destroy(object->symbols);
        free(object);
    }
    free(symbols);
}

static bool is_for(const struct object *object, const struct cohort__module_line *module)
{
    return strcmp(object->path, module->path) == 0 &&
           object->build_id_bytes == module->build_id_bytes &&
           memcmp(object->build_id, module->build_id, sizeof(object->build_id)) == 0;
}

/* NULL: no memory. */
static struct object *find_object(struct symbols *symbols, const struct cohort__module_line *module)
{
    struct object *object = symbols->objects;
    while (object && !is_for(object, module))
        object = object->next;
    if (object || !(object = calloc(1, sizeof(*object))))
        return object;
    snprintf(object->path, sizeof(object->path), "%s", module->path);
    memcpy(object->build_id, module->build_id, sizeof(object->build_id));
    object->build_id_bytes = module->build_id_bytes;
    object->next = symbols->objects;
    symbols->objects = object;
    object->symbols = elf_symbols_read(object->path, module->build_id, module->build_id_bytes);
    return object;
}

void symbols_name(struct symbols *symbols, const struct cohort__module_line *module,
                  uint64_t address, char *text, size_t bytes)
{
    if (!module) {
        snprintf(text, bytes, "0x%llx", (unsigned long long)address);
        return;
    }
    const struct object *object = symbols ? find_object(symbols, module) : NULL;
    elf_symbols_name(object ? object->symbols : NULL, module->path, address - module->bias, text,
                     bytes);
}

bool symbols_line(struct symbols *symbols, const struct cohort__module_line *module,
                  uint64_t address, char *text, size_t bytes)
{
    struct object *object = symbols && module ? find_object(symbols, module) : NULL;
    if (!object || !object->symbols || !elf_symbols_are_right(object->symbols) ||
        object->has_no_source || symbols->spent > timeout_ns)
        return false;
    uint64_t start = cohort__clock_now();
    if (!object->source)
        object->source = source_open(object->path);
    object->has_no_source = !object->source;
    bool is_known =
        object->source && source_line(object->source, address - module->bias - 1, text, bytes);
    symbols->spent += cohort__clock_now() - start;
    return is_known;
}

static bool is_of_library(const struct cohort__module_line *module)
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
    const struct cohort__module_line *module = look_find_module(look, wait->caller);
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
