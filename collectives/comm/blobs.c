/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/blobs.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/slab.h"
#include "runtime/wire/bins.h"

struct cohort__blob *cohort__blob_create(const void *data, size_t bytes)
{
    void *memory = malloc(bytes);
    struct cohort__blob *blob = memory ? cohort__blob_borrow(memory, bytes) : NULL;
    if (!blob) {
        free(memory);
        return NULL;
    }
    if (data)
        memcpy(memory, data, bytes);
    blob->is_borrowed = false;
    return blob;
}

struct cohort__blob *cohort__blob_borrow(const void *data, size_t bytes)
{
    struct cohort__blob *blob = cohort__slab_alloc(sizeof(*blob));
    if (!blob)
        return NULL;
    atomic_init(&blob->refs, 1);
    blob->is_bundle = false;
    blob->is_borrowed = true;
    blob->bytes = bytes;
    blob->data = (void *)(uintptr_t)data;
    return blob;
}

struct cohort__blob *cohort__bundle_create(size_t num)
{
    struct cohort__blob *bundle = cohort__slab_alloc(sizeof(*bundle));
    struct cohort__entry *entries = bundle ? calloc(num, sizeof(*entries)) : NULL;
    if (!entries) {
        cohort__slab_free(bundle);
        return NULL;
    }
    atomic_init(&bundle->refs, 1);
    bundle->is_bundle = true;
    bundle->is_borrowed = false;
    bundle->bytes = num * sizeof(*entries);
    bundle->data = entries;
    return bundle;
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
    for (size_t i = 0; blob->is_bundle && i < cohort__bundle_num(blob); i++)
        cohort__blob_unref(cohort__bundle_entries(blob)[i].object);
    if (!blob->is_borrowed)
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

/* 0: more than memory can hold. */
static size_t bundle_bytes(const struct cohort__blob *bundle)
{
    const struct cohort__entry *entries = cohort__bundle_entries(bundle);
    size_t num = cohort__bundle_num(bundle);
    size_t sum = num <= UINT32_MAX ? cohort__bins_head_bytes((uint32_t)num) : 0;
    for (size_t i = 0; sum > 0 && i < num; i++) {
        size_t bytes = cohort__bins_string_bytes(entries[i].object->bytes);
        if (bytes == 0 || __builtin_add_overflow(sum, COHORT__BINS_NAME_BYTES + bytes, &sum))
            return 0;
    }
    return sum;
}

static unsigned char *bundle_pack(const struct cohort__blob *bundle, unsigned char *to)
{
    const struct cohort__entry *entries = cohort__bundle_entries(bundle);
    size_t num = cohort__bundle_num(bundle);
    to = cohort__bins_put_map(to, (uint32_t)num);
    for (size_t i = 0; i < num; i++) {
        to = cohort__bins_put_name(to, (uint64_t)entries[i].source << 32 | entries[i].target);
        to = cohort__bins_put_string(to, entries[i].object->data, entries[i].object->bytes);
    }
    return to;
}

/* Of one element, which ends before place END. */
static size_t element_bytes(const struct cohort__blob *blob, size_t first, size_t end)
{
    return !blob             ? cohort__bins_run_bytes((uint32_t)(end - first))
           : blob->is_bundle ? bundle_bytes(blob)
                             : cohort__bins_string_bytes(blob->bytes);
}

size_t cohort__blobs_packed_bytes(const struct cohort__blobs *objects)
{
    if (objects->num > UINT32_MAX)
        return 0;
    size_t sum = cohort__bins_head_bytes(num_elements(objects));
    for (size_t i = 0, end; i < objects->num; i = end) {
        end = element_end(objects, i);
        size_t bytes = element_bytes(objects->blobs[i], i, end);
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
        to = !blob             ? cohort__bins_put_run(to, (uint32_t)(end - i))
             : blob->is_bundle ? bundle_pack(blob, to)
                               : cohort__bins_put_string(to, blob->data, blob->bytes);
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

static cohort_status unpack_entry(struct cohort__bins *bins, struct cohort__entry *entry)
{
    uint64_t name;
    cohort_status status = cohort__bins_get_name(bins, &name);
    if (!status)
        status = unpack_blob(bins, &entry->object);
    if (!status && !entry->object)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "a bundle has an object of no bytes");
    if (status)
        return status;
    entry->source = (uint32_t)(name >> 32);
    entry->target = (uint32_t)name;
    return COHORT_OK;
}

static cohort_status unpack_bundle(struct cohort__bins *bins, struct cohort__blob **ret_bundle)
{
    uint32_t num;
    struct cohort__blob *bundle = NULL;
    cohort_status status = cohort__bins_get_map(bins, &num);
    if (!status && num == 0)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "a bundle of no objects");
    if (!status) {
        bundle = cohort__bundle_create(num);
        if (!bundle)
            status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a bundle of %u objects", num);
    }
    for (uint32_t i = 0; !status && i < num; i++)
        status = unpack_entry(bins, &cohort__bundle_entries(bundle)[i]);
    if (status)
        cohort__blob_unref(bundle);
    else
        *ret_bundle = bundle;
    return status;
}

cohort_status cohort__blobs_unpack(const void *data, size_t bytes, size_t num, bool are_bundles,
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
            status = are_bundles ? unpack_bundle(&bins, &objects->blobs[used])
                                 : unpack_blob(&bins, &objects->blobs[used]);
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
