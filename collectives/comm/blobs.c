/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/blobs.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/slab.h"
#include "runtime/wire/bins.h"

struct cohort__blob *cohort__blob_create(const void *data, size_t bytes)
{
    struct cohort__blob *blob = cohort__slab_alloc(sizeof(*blob));
    void *memory = blob ? malloc(bytes) : NULL;
    if (!memory) {
        cohort__slab_free(blob);
        return NULL;
    }
    if (data)
        memcpy(memory, data, bytes);
    atomic_init(&blob->refs, 1);
    blob->bytes = bytes;
    blob->data = memory;
    return blob;
}

struct cohort__blob *cohort__blob_ref(struct cohort__blob *blob)
{
    if (blob)
        atomic_fetch_add_explicit(&blob->refs, 1, memory_order_relaxed);
    return blob;
}

void cohort__blob_unref(struct cohort__blob *blob)
{
    if (!blob || atomic_fetch_sub_explicit(&blob->refs, 1, memory_order_acq_rel) != 1)
        return;
    free(blob->data);
    cohort__slab_free(blob);
}

static void release(struct cohort__attachment *attachment)
{
    struct cohort__blobs *objects = (struct cohort__blobs *)attachment;
    for (size_t i = 0; i < objects->num; i++)
        cohort__blob_unref(objects->blobs[i]);
    cohort__slab_free(objects);
}

cohort_status cohort__blobs_create(size_t num, struct cohort__blobs **ret_blobs)
{
    size_t bytes;
    struct cohort__blobs *objects = NULL;
    if (!__builtin_mul_overflow(num, sizeof(objects->blobs[0]), &bytes) &&
        !__builtin_add_overflow(bytes, sizeof(*objects), &bytes))
        objects = cohort__slab_alloc_zero(bytes);
    if (!objects)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu objects", num);
    objects->attachment.release = release;
    objects->num = num;
    *ret_blobs = objects;
    return COHORT_OK;
}

/* A message has an element for each object, and one for each run of empty ones: where the one ends
 * that begins at FIRST. */
static size_t element_end(const struct cohort__blobs *objects, size_t first)
{
    size_t end = first + 1;
    if (!objects->blobs[first])
        while (end < objects->num && !objects->blobs[end])
            end++;
    return end;
}

static uint32_t num_elements(const struct cohort__blobs *objects)
{
    uint32_t num = 0;
    for (size_t i = 0; i < objects->num; i = element_end(objects, i))
        num++;
    return num;
}

size_t cohort__blobs_packed_bytes(const struct cohort__blobs *objects)
{
    if (objects->num > UINT32_MAX)
        return 0;
    size_t sum = cohort__bins_head_bytes(num_elements(objects));
    for (size_t i = 0, end; i < objects->num; i = end) {
        end = element_end(objects, i);
        const struct cohort__blob *blob = objects->blobs[i];
        size_t bytes = blob ? cohort__bins_string_bytes(blob->bytes)
                            : cohort__bins_run_bytes((uint32_t)(end - i));
        if (bytes == 0 || __builtin_add_overflow(sum, bytes, &sum))
            return 0;
    }
    return sum;
}

void cohort__blobs_pack(const struct cohort__blobs *objects, unsigned char *to)
{
    to = cohort__bins_put_head(to, num_elements(objects));
    for (size_t i = 0, end; i < objects->num; i = end) {
        end = element_end(objects, i);
        const struct cohort__blob *blob = objects->blobs[i];
        to = blob ? cohort__bins_put_string(to, blob->data, blob->bytes)
                  : cohort__bins_put_run(to, (uint32_t)(end - i));
    }
}

static cohort_status unpack_blob(struct cohort__bins *bins, struct cohort__blob **ret_blob)
{
    size_t bytes;
    cohort_status status = cohort__bins_get_length(bins, &bytes);
    struct cohort__blob *blob = NULL;
    if (!status && bytes > 0) {
        blob = cohort__blob_create(NULL, bytes);
        if (!blob)
            status =
                cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for an object of %zu bytes", bytes);
    }
    if (status)
        return status;
    cohort__bins_get_string(bins, blob ? blob->data : NULL);
    *ret_blob = blob;
    return COHORT_OK;
}

cohort_status cohort__blobs_unpack(const void *data, size_t bytes, size_t num,
                                   struct cohort__blobs **ret_blobs)
{
    struct cohort__bins bins = {data, bytes};
    struct cohort__blobs *objects = NULL;
    uint32_t count;
    size_t used = 0;
    cohort_status status = cohort__bins_get_head(&bins, &count);
    if (!status)
        status = cohort__blobs_create(num, &objects);
    for (uint32_t i = 0; !status && i < count && used <= num; i++) {
        uint32_t run = cohort__bins_get_run(&bins);
        if (run == 0 && used < num)
            status = unpack_blob(&bins, &objects->blobs[used]);
        used += run > 0 ? run : 1;
    }
    if (!status && used > num)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "more than %zu objects", num);
    else if (!status && used < num)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "%zu objects instead of %zu", used, num);
    if (!status)
        status = cohort__bins_get_end(&bins);
    if (status && objects)
        release(&objects->attachment);
    if (!status)
        *ret_blobs = objects;
    return status;
}
