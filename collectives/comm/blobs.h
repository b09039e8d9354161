/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_BLOBS_H
#define COHORT_COLLECTIVES_COMM_BLOBS_H

#include <stdatomic.h>

#include "collectives/comm/message.h"

/* The bytes of one object, with a count of references. They are never changed while there is more
 * than one reference. An object without bytes is NULL. */
struct cohort__blob {
    _Atomic uint32_t refs;
    bool is_bundle;   /* the bytes are entries, struct cohort__entry */
    bool is_borrowed; /* the data is that of a caller, whose call has not ended */
    size_t bytes;
    void *data; /* from malloc, if it is not borrowed */
};

/* An object of a *bundle*, which is for one site, from another one. */
struct cohort__entry {
    uint32_t source;
    uint32_t target;
    struct cohort__blob *object; /* a reference; not a bundle */
};

/* Makes an object of BYTES, at least 1, and copies them from DATA. DATA NULL: the bytes are not
 * set. NULL: out of memory; no message is set. */
struct cohort__blob *cohort__blob_create(const void *data, size_t bytes);
/* The same, without a copy. */
struct cohort__blob *cohort__blob_borrow(const void *data, size_t bytes);
/* Makes a bundle of NUM objects, at least 1, all NULL. */
struct cohort__blob *cohort__bundle_create(size_t num);

/* The entries of a bundle, and how many there are. NULL has none. */
static inline struct cohort__entry *cohort__bundle_entries(const struct cohort__blob *bundle)
{
    return bundle ? bundle->data : NULL;
}
static inline size_t cohort__bundle_num(const struct cohort__blob *bundle)
{
    return bundle ? bundle->bytes / sizeof(struct cohort__entry) : 0;
}

struct cohort__blob *cohort__blob_ref(struct cohort__blob *blob); /* NULL gives NULL */
void cohort__blob_unref(struct cohort__blob *blob);               /* NULL is fine */

/* Objects that are sent together. Within a locality they are a message's attachment. Between two
 * they are packed. */
struct cohort__blobs {
    struct cohort__attachment attachment; /* first */
    size_t num;
    struct cohort__blob *blobs[];
};

/* Makes NUM empty objects. COHORT_ERR_NO_MEMORY. The attachment's release frees all. */
cohort_status cohort__blobs_create(size_t num, struct cohort__blobs **ret_blobs);

/* How many bytes OBJECTS take when packed, and packing them to TO. 0: the sum overflows, or there
 * are too many objects. */
size_t cohort__blobs_packed_bytes(const struct cohort__blobs *objects);
void cohort__blobs_pack(const struct cohort__blobs *objects, unsigned char *to);

/* Unpacks BYTES at DATA, which must be exactly NUM objects, or bundles. COHORT_ERR_PROTOCOL if they
 * are not, COHORT_ERR_NO_MEMORY. */
cohort_status cohort__blobs_unpack(const void *data, size_t bytes, size_t num, bool are_bundles,
                                   struct cohort__blobs **ret_blobs);

#endif
