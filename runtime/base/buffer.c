/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/buffer.h"

#include "runtime/base/slab.h"

struct cohort__buffer *cohort__buffer_create(size_t bytes)
{
    if (bytes > SIZE_MAX - sizeof(struct cohort__buffer))
        return NULL;
    struct cohort__buffer *buffer = cohort__slab_alloc(sizeof(*buffer) + bytes);
    if (!buffer)
        return NULL;
    atomic_init(&buffer->refs, 1);
    buffer->bytes = bytes;
    return buffer;
}

struct cohort__buffer *cohort__buffer_ref(struct cohort__buffer *buffer)
{
    if (buffer)
        atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
    return buffer;
}

void cohort__buffer_unref(struct cohort__buffer *buffer)
{
    if (buffer && atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(buffer);
}
