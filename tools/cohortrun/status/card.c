/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what it tells of its job to whoever asks how that is. */
#include "tools/cohortrun/status/card.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/launch/control.h"

void card_name(uint32_t user, int pid, char ret_name[CARD_NAME_BYTES])
{
    snprintf(ret_name, CARD_NAME_BYTES, CARD_NAME_FORMAT, (unsigned)user, pid);
}

void card_pack(struct cohort__packer *packer, const struct card *card)
{
    cohort__pack_map(packer, 7);
    cohort__pack_field_unsigned(packer, "version", CARD_VERSION);
    cohort__pack_field_unsigned(packer, "pid", card->pid);
    cohort__pack_field_unsigned(packer, "size", card->size);
    cohort__pack_field_unsigned(packer, "first", card->first);
    cohort__pack_field_unsigned(packer, "num", card->num);
    cohort__pack_field_bytes(packer, "program", card->program, strlen(card->program));
    cohort__pack_text(packer, "localities");
    cohort__pack_array(packer, card->size);
    for (uint32_t rank = 0; rank < card->size; rank++) {
        const struct card_locality *locality = &card->localities[rank];
        cohort__pack_map(packer, 3);
        cohort__pack_field_unsigned(packer, "pid", locality->pid);
        cohort__pack_field_bytes(packer, "host", locality->host, strlen(locality->host));
        cohort__pack_field_bytes(packer, "end", locality->end, strlen(locality->end));
    }
}

/* For reading. Keeps the first failure. */
struct reader {
    struct cohort__unpacked *unpacked;
    const struct cohort__value *map;
    char *next; /* where the next text goes */
    cohort_status status;
};

static uint32_t read_number(struct reader *reader, const char *key, uint32_t max)
{
    uint64_t value = 0;
    if (!reader->status)
        reader->status = cohort__get_unsigned(reader->unpacked, reader->map, key, max, &value);
    return (uint32_t)value;
}

static const char *read_text(struct reader *reader, const char *key)
{
    const void *data = "";
    size_t bytes = 0;
    char *text = reader->next;
    if (!reader->status)
        reader->status = cohort__get_bytes(reader->unpacked, reader->map, key, &data, &bytes);
    if (reader->status)
        return "";
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    reader->next += bytes + 1;
    return text;
}

static void read_localities(struct reader *reader, struct card *card)
{
    const struct cohort__value *list = NULL;
    uint32_t num = 0;
    if (!reader->status)
        reader->status =
            cohort__get_array(reader->unpacked, reader->map, "localities", &list, &num);
    if (!reader->status && num != card->size)
        reader->status = cohort_fail(COHORT_ERR_PROTOCOL, "%u localities of %u", (unsigned)num,
                                     (unsigned)card->size);
    for (uint32_t rank = 0; rank < num && !reader->status; rank++) {
        struct card_locality *locality = &card->localities[rank];
        reader->status = cohort__element_map(reader->unpacked, list, rank, &reader->map);
        locality->pid = read_number(reader, "pid", INT_MAX);
        locality->host = read_text(reader, "host");
        locality->end = read_text(reader, "end");
    }
}

/* The message is longer than all texts together, and each text gets a terminating zero. */
static struct card *read_all(struct reader *reader, size_t message_bytes)
{
    struct card head = {.pid = read_number(reader, "pid", INT_MAX)};
    head.size = read_number(reader, "size", COHORT__CONTROL_MAX_LOCALITIES);
    head.first = read_number(reader, "first", head.size);
    head.num = read_number(reader, "num", head.size - head.first);
    if (reader->status)
        return NULL;
    struct card *card = calloc(1, sizeof(*card) + head.size * sizeof(*card->localities) +
                                      message_bytes + 2 * (size_t)head.size + 1);
    if (!card) {
        reader->status = cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    *card = head;
    card->localities = (struct card_locality *)(card + 1);
    reader->next = (char *)(card->localities + head.size);
    card->program = read_text(reader, "program");
    read_localities(reader, card);
    return card;
}

cohort_status card_read(struct card **ret_card, const void *message, size_t bytes)
{
    struct reader reader = {0};
    reader.status = cohort__unpack(&reader.unpacked, message, bytes, "the answer of cohortrun");
    if (reader.status)
        return reader.status;
    reader.map = cohort__unpacked_root(reader.unpacked);
    if (read_number(&reader, "version", UINT32_MAX) != CARD_VERSION && !reader.status)
        reader.status =
            cohort_fail(COHORT_ERR_PROTOCOL, "the answer is of another version of cohortrun");
    struct card *card = reader.status ? NULL : read_all(&reader, bytes);
    cohort__unpacked_destroy(reader.unpacked);
    if (reader.status)
        free(card);
    else
        *ret_card = card;
    return reader.status;
}
