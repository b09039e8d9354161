/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the hosts that the user names, and how many localities each gets. */
#include "tools/cohortrun/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/launch/control.h"

enum { MAX_NAME = 255, MAX_SLOTS = COHORT__CONTROL_MAX_LOCALITIES };

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

static cohort_status add(struct hosts *hosts, const char *name, size_t bytes, uint32_t slots)
{
    cohort_status status = check_name(name, bytes);
    if (status)
        return status;
    for (uint32_t i = 0; i < hosts->num; i++) {
        if (strncmp(hosts->list[i].name, name, bytes) == 0 && !hosts->list[i].name[bytes]) {
            hosts->list[i].slots += slots;
            return COHORT_OK;
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
    return COHORT_OK;
}

cohort_status hosts_parse(struct hosts *hosts, const char *text)
{
    cohort_status status = COHORT_OK;
    for (const char *next = text; next && !status;) {
        size_t bytes = strcspn(next, ",");
        const char *colon = memchr(next, ':', bytes);
        uint32_t slots = 1;
        if (colon)
            status = read_slots(colon + 1, (size_t)(next + bytes - colon - 1), &slots);
        if (!status)
            status = add(hosts, next, colon ? (size_t)(colon - next) : bytes, slots);
        next = next[bytes] ? next + bytes + 1 : NULL;
    }
    return status;
}

static cohort_status read_line(struct hosts *hosts, char *line)
{
    static const char blanks[] = " \t\r\n";
    static const char key[] = "slots=";
    char *rest = NULL;
    uint32_t slots = 1;
    line[strcspn(line, "#")] = '\0';
    const char *name = strtok_r(line, blanks, &rest);
    const char *word = name ? strtok_r(NULL, blanks, &rest) : NULL;
    cohort_status status = COHORT_OK;
    if (!name)
        return COHORT_OK;
    if (word && strncmp(word, key, strlen(key)) != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "'%.40s' where only slots=N may follow", word);
    if (word)
        status = read_slots(word + strlen(key), strlen(word + strlen(key)), &slots);
    if (!status && word && (word = strtok_r(NULL, blanks, &rest)))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "'%.40s' after the slots", word);
    return status ? status : add(hosts, name, strlen(name), slots);
}

cohort_status hosts_read(struct hosts *hosts, const char *path)
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
            char why[400];
            snprintf(why, sizeof(why), "%s", cohort_error_message());
            status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s:%u: %s", path, number, why);
        }
        errno = 0;
    }
    if (!status && ferror(file))
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (!status && hosts->num == 0)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s names no host", path);
    free(line);
    fclose(file);
    return status;
}

cohort_status hosts_fill(struct hosts *hosts, uint32_t size, uint32_t *ret_size)
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
        free(hosts->list[--hosts->num].name);
    *ret_size = size;
    return COHORT_OK;
}

void hosts_fini(struct hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->num; i++)
        free(hosts->list[i].name);
    free(hosts->list);
    *hosts = (struct hosts){0};
}
