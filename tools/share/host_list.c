/* SPDX-License-Identifier: Apache-2.0 */
/* tools: the hosts that the user names, and how many localities each gets. */
#include "tools/share/host_list.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/named_levels.h"

enum { MAX_NAME = 255, MAX_SLOTS = HOST_LIST_MAX_SLOTS };

/* Names become part of the agent's command line. So characters that no name has are refused, and so
 * is what looks like an option. */
static cohort_status check_name(const char *name, size_t bytes)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  ".-_@:%";
    if (bytes == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "a host has no name");
    if (bytes > MAX_NAME || name[0] == '-' || strspn(name, allowed) < bytes)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "'%.*s' is no name of a host",
                           (int)(bytes > MAX_NAME ? MAX_NAME : bytes), name);
    return COHORT_OK;
}

static cohort_status read_slots(const char *text, size_t bytes, uint32_t *ret_slots)
{
    uint32_t value = 0;
    bool good = bytes > 0 && bytes <= 5;
    for (size_t i = 0; i < bytes && good; i++) {
        good = text[i] >= '0' && text[i] <= '9';
        value = 10 * value + (uint32_t)(text[i] - '0');
    }
    if (!good || value == 0 || value > MAX_SLOTS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "'%.*s' is no number of slots from 1 to %d",
                           (int)(bytes > 40 ? 40 : bytes), text, MAX_SLOTS);
    *ret_slots = value;
    return COHORT_OK;
}

/* LEVELS: NULL, or what is said of HOST. */
static cohort_status set_levels(struct host_name *host, const char *levels)
{
    if (!levels || (host->levels && strcmp(host->levels, levels) == 0))
        return COHORT_OK;
    if (host->levels)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "host %s has the levels %s and %s", host->name,
                           host->levels, levels);
    host->levels = strdup(levels);
    return host->levels ? COHORT_OK : cohort_fail(COHORT_ERR_NO_MEMORY, "hosts: out of memory");
}

static cohort_status add(struct host_list *hosts, const char *name, size_t bytes, uint32_t slots,
                         const char *levels)
{
    cohort_status status = check_name(name, bytes);
    if (status)
        return status;
    for (uint32_t i = 0; i < hosts->num; i++) {
        struct host_name *host = &hosts->list[i];
        if (strncmp(host->name, name, bytes) == 0 && !host->name[bytes]) {
            host->slots += slots;
            return set_levels(host, levels);
        }
    }
    char *copy = strndup(name, bytes);
    struct host_name *list = realloc(hosts->list, (hosts->num + 1) * sizeof(*list));
    hosts->list = list ? list : hosts->list;
    if (!copy || !list) {
        free(copy);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "hosts: out of memory");
    }
    list[hosts->num++] = (struct host_name){.name = copy, .slots = slots};
    return set_levels(&list[hosts->num - 1], levels);
}

/* A host's name, and how many slots are said behind it. 0: none. */
struct place {
    const char *name;
    size_t bytes;
    uint32_t slots;
};

/* Whether it is an address of IPv6, perhaps with an interface behind it: "fe80::1%eth0". */
static bool is_address(const char *text, size_t bytes)
{
    char copy[64];
    struct in6_addr address;
    const char *scope = memchr(text, '%', bytes);
    size_t digits = scope ? (size_t)(scope - text) : bytes;
    snprintf(copy, sizeof(copy), "%.*s", (int)(digits < sizeof(copy) ? digits : 0), text);
    return inet_pton(AF_INET6, copy, &address) == 1;
}

/* Reads "a", "a:2", "::1" or "[::1]:2". */
static cohort_status read_place(const char *text, size_t bytes, struct place *ret_place)
{
    struct place place = {text, bytes, 0};
    const char *end = text + bytes, *colon = memchr(text, ':', bytes);
    const char *bracket = bytes && *text == '[' ? memchr(text, ']', bytes) : NULL;
    if (bracket) {
        place.name++;
        place.bytes = (size_t)(bracket - place.name);
        colon = bracket + 1 < end ? bracket + 1 : NULL;
        if (colon && *colon != ':')
            return cohort_fail(COHORT_ERR_BAD_PARAMETER, "'%.*s' is no name of a host",
                               (int)(bytes > MAX_NAME ? MAX_NAME : bytes), text);
    } else if (is_address(text, bytes)) {
        colon = NULL;
    } else if (colon) {
        place.bytes = (size_t)(colon - text);
    }
    cohort_status status = COHORT_OK;
    if (colon)
        status = read_slots(colon + 1, (size_t)(end - colon - 1), &place.slots);
    *ret_place = place;
    return status;
}

cohort_status host_list_parse(struct host_list *hosts, const char *text)
{
    cohort_status status = COHORT_OK;
    for (const char *next = text; next && !status;) {
        size_t bytes = strcspn(next, ",");
        struct place place;
        status = read_place(next, bytes, &place);
        if (!status)
            status = add(hosts, place.name, place.bytes, place.slots ? place.slots : 1, NULL);
        next = next[bytes] ? next + bytes + 1 : NULL;
    }
    return status;
}

/* The value of WORD, if it is KEY and a value. NULL: it is not. */
static const char *value_of(const char *word, const char *key)
{
    return strncmp(word, key, strlen(key)) == 0 ? word + strlen(key) : NULL;
}

static cohort_status read_levels(const char *text, const char **ret_levels)
{
    struct cohort__named_levels levels;
    if (cohort__named_levels_read(text, strlen(text), &levels)) {
        char why[300];
        snprintf(why, sizeof(why), "%s", cohort_error_message());
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "levels=%.80s is %s", text, why);
    }
    if (levels.num == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "levels= without levels");
    *ret_levels = text;
    return COHORT_OK;
}

/* What may follow the name of a host, each once. SLOTS 0, LEVELS NULL: not said. */
static cohort_status read_word(const char *word, uint32_t *slots, const char **levels)
{
    const char *value = value_of(word, "slots=");
    if (value && *slots == 0)
        return read_slots(value, strlen(value), slots);
    value = value_of(word, "levels=");
    if (value && !*levels)
        return read_levels(value, levels);
    return cohort_fail(
        COHORT_ERR_BAD_PARAMETER,
        "'%.40s' where only slots=N and levels=LEVEL=GROUP,... may follow, each once", word);
}

static cohort_status read_line(struct host_list *hosts, char *line)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    struct place place = {0};
    const char *word, *levels = NULL;
    line[strcspn(line, "#")] = '\0';
    const char *name = strtok_r(line, blanks, &rest);
    if (!name)
        return COHORT_OK;
    cohort_status status = read_place(name, strlen(name), &place);
    while (!status && (word = strtok_r(NULL, blanks, &rest)))
        status = read_word(word, &place.slots, &levels);
    if (status)
        return status;
    return add(hosts, place.name, place.bytes, place.slots > 0 ? place.slots : 1, levels);
}

static struct cohort__named_levels levels_of(const struct host_name *host)
{
    struct cohort__named_levels levels = {0};
    if (host->levels)
        (void)!cohort__named_levels_read(host->levels, strlen(host->levels), &levels);
    return levels;
}

/* Whether groups lie within those of the next level is for the job to say. */
static cohort_status check_levels(const struct host_list *hosts)
{
    const struct cohort__named_levels first = levels_of(&hosts->list[0]);
    for (uint32_t i = 1; i < hosts->num; i++) {
        const struct cohort__named_levels other = levels_of(&hosts->list[i]);
        char lists[2][COHORT__NAMED_LEVELS_LIST];
        if (cohort__named_levels_fit(&first, &other))
            continue;
        cohort__named_levels_list(&first, lists[0]);
        cohort__named_levels_list(&other, lists[1]);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "host %s has %s, and host %s has %s: all need the same in the same "
                           "order",
                           hosts->list[0].name, lists[0], hosts->list[i].name, lists[1]);
    }
    return COHORT_OK;
}

cohort_status host_list_read(struct host_list *hosts, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    cohort_status status = COHORT_OK;
    if (!file)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", path, strerror(errno));
    errno = 0;
    for (unsigned number = 1; !status && getline(&line, &capacity, file) >= 0; number++) {
        if (read_line(hosts, line)) {
            char why[600];
            snprintf(why, sizeof(why), "%s", cohort_error_message());
            status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s:%u: %s", path, number, why);
        }
        errno = 0;
    }
    if (!status && ferror(file))
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (!status && hosts->num == 0)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s names no host", path);
    if (!status && check_levels(hosts)) {
        char why[600];
        snprintf(why, sizeof(why), "%s", cohort_error_message());
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", path, why);
    }
    free(line);
    fclose(file);
    return status;
}

static void host_fini(struct host_name *host)
{
    free(host->name);
    free(host->levels);
}

cohort_status host_list_fill(struct host_list *hosts, uint32_t size, uint32_t *ret_size)
{
    uint64_t slots = 0;
    uint32_t next = 0;
    for (uint32_t i = 0; i < hosts->num; i++)
        slots += hosts->list[i].slots;
    if (size > slots || slots > MAX_SLOTS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%u localities, where the hosts have %llu "
                           "slots, and %d are possible",
                           (unsigned)(size ? size : slots), (unsigned long long)slots, MAX_SLOTS);
    size = size ? size : (uint32_t)slots;
    for (uint32_t i = 0; i < hosts->num; i++) {
        struct host_name *host = &hosts->list[i];
        host->first = next;
        host->num = size - next < host->slots ? size - next : host->slots;
        next += host->num;
    }
    while (hosts->num > 0 && hosts->list[hosts->num - 1].num == 0)
        host_fini(&hosts->list[--hosts->num]);
    *ret_size = size;
    return COHORT_OK;
}

void host_list_fini(struct host_list *hosts)
{
    for (uint32_t i = 0; i < hosts->num; i++)
        host_fini(&hosts->list[i]);
    free(hosts->list);
    *hosts = (struct host_list){0};
}
