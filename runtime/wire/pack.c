/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire/pack.h"

#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

void cohort__packer_reserve(struct cohort__packer *packer, size_t bytes)
{
    if (packer->status || bytes <= packer->capacity - packer->bytes)
        return;
    size_t capacity = packer->capacity ? packer->capacity : 128;
    while (capacity - packer->bytes < bytes && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    unsigned char *grown =
        capacity - packer->bytes < bytes ? NULL : realloc(packer->data, capacity);
    if (!grown) {
        packer->status =
            cohort_fail(COHORT_ERR_NO_MEMORY, "no memory to pack a message of %zu bytes",
                        packer->bytes + bytes);
        return;
    }
    packer->data = grown;
    packer->capacity = capacity;
}

static int append(void *context, const char *data, size_t bytes)
{
    struct cohort__packer *packer = context;
    cohort__packer_reserve(packer, bytes);
    if (packer->status)
        return -1;
    if (bytes > 0)
        memcpy(packer->data + packer->bytes, data, bytes);
    packer->bytes += bytes;
    return 0;
}

static msgpack_packer on(struct cohort__packer *packer)
{
    msgpack_packer pk;
    msgpack_packer_init(&pk, packer, append);
    return pk;
}

void cohort__packer_fini(struct cohort__packer *packer)
{
    if (!packer)
        return;
    free(packer->data);
    *packer = (struct cohort__packer){0};
}

void cohort__packer_reset(struct cohort__packer *packer)
{
    packer->bytes = 0;
    packer->status = COHORT_OK;
}

void cohort__pack_map(struct cohort__packer *packer, uint32_t num_entries)
{
    msgpack_packer pk = on(packer);
    msgpack_pack_map(&pk, num_entries);
}

void cohort__pack_array(struct cohort__packer *packer, uint32_t num_elements)
{
    msgpack_packer pk = on(packer);
    msgpack_pack_array(&pk, num_elements);
}

void cohort__pack_unsigned(struct cohort__packer *packer, uint64_t value)
{
    msgpack_packer pk = on(packer);
    msgpack_pack_uint64(&pk, value);
}

void cohort__pack_signed(struct cohort__packer *packer, int64_t value)
{
    msgpack_packer pk = on(packer);
    msgpack_pack_int64(&pk, value);
}

void cohort__pack_bool(struct cohort__packer *packer, bool value)
{
    msgpack_packer pk = on(packer);
    if (value)
        msgpack_pack_true(&pk);
    else
        msgpack_pack_false(&pk);
}

void cohort__pack_text(struct cohort__packer *packer, const char *text)
{
    msgpack_packer pk = on(packer);
    size_t bytes = strlen(text);
    msgpack_pack_str(&pk, bytes);
    msgpack_pack_str_body(&pk, text, bytes);
}

void cohort__pack_bytes(struct cohort__packer *packer, const void *data, size_t bytes)
{
    msgpack_packer pk = on(packer);
    if (bytes > UINT32_MAX) {
        if (!packer->status)
            packer->status = cohort_fail(COHORT_ERR_BAD_PARAMETER,
                                         "%zu bytes are too many for one field", bytes);
        return;
    }
    msgpack_pack_bin(&pk, bytes);
    msgpack_pack_bin_body(&pk, data, bytes);
}

void cohort__pack_field_unsigned(struct cohort__packer *packer, const char *key, uint64_t value)
{
    cohort__pack_text(packer, key);
    cohort__pack_unsigned(packer, value);
}

void cohort__pack_field_signed(struct cohort__packer *packer, const char *key, int64_t value)
{
    cohort__pack_text(packer, key);
    cohort__pack_signed(packer, value);
}

void cohort__pack_field_bool(struct cohort__packer *packer, const char *key, bool value)
{
    cohort__pack_text(packer, key);
    cohort__pack_bool(packer, value);
}

void cohort__pack_field_text(struct cohort__packer *packer, const char *key, const char *text)
{
    cohort__pack_text(packer, key);
    cohort__pack_text(packer, text);
}

void cohort__pack_field_bytes(struct cohort__packer *packer, const char *key, const void *data,
                              size_t bytes)
{
    cohort__pack_text(packer, key);
    cohort__pack_bytes(packer, data, bytes);
}
