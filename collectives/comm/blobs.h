/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_BLOBS_H
#define COHORT_COLLECTIVES_COMM_BLOBS_H

#include <stdatomic.h>

#include "collectives/comm/message.h"

/* The bytes of one object, counted, and never changed while there is more than one reference. An
 * object without bytes is NULL. */
struct cohort__blob {
    _Atomic uint32_t refs;
    size_t bytes;
    void *data; /* from malloc */
};

/* Of a copy of BYTES at DATA (NULL: not filled), not 0 of them; NULL where memory ran out (no
 * message is set). */
struct cohort__blob *cohort__blob_create(const void *data, size_t bytes);
struct cohort__blob *cohort__blob_ref(struct cohort__blob *blob); /* NULL gives NULL */
void cohort__blob_unref(struct cohort__blob *blob);               /* NULL is fine */

/* Objects on their way together: a message's attachment within a locality, packed between two. */
struct cohort__blobs {
    struct cohort__attachment attachment; /* first */
    size_t num;
    struct cohort__blob *blobs[];
};

/* Of NUM empty objects; COHORT_ERR_NO_MEMORY. Its attachment.release frees it. */
cohort_status cohort__blobs_create(size_t num, struct cohort__blobs **ret_blobs);

/* How long it is when it is packed, and packing it; 0: more than memory, or too many objects. */
size_t cohort__blobs_packed_bytes(const struct cohort__blobs *objects);
void cohort__blobs_pack(const struct cohort__blobs *objects, unsigned char *to);

/* BYTES at DATA have to be exactly NUM objects: else COHORT_ERR_PROTOCOL, or COHORT_ERR_NO_MEMORY.
 */
cohort_status cohort__blobs_unpack(const void *data, size_t bytes, size_t num,
                                   struct cohort__blobs **ret_blobs);

#endif
