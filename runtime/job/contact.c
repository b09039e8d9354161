/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/contact.h"

#include <stdio.h>
#include <stdlib.h>

void cohort__contact_pack(struct cohort__packer *packer, const struct cohort__contact *contact)
{
    cohort__pack_map(packer, 6);
    cohort__pack_field_unsigned(packer, "version", COHORT__CONTACT_VERSION);
    cohort__pack_field_unsigned(packer, "host", contact->position.host);
    cohort__pack_field_unsigned(packer, "domain", contact->position.domain);
    cohort__pack_field_unsigned(packer, "cores", contact->position.cores);
    cohort__pack_field_bytes(packer, "levels", contact->levels.text, contact->levels.bytes);
    cohort__pack_field_bytes(packer, "address", contact->address, contact->address_bytes);
}

/* Its locality has checked them, so wrong ones come from a stranger. */
static cohort_status read_levels(const struct cohort__unpacked *unpacked, const char *what,
                                 struct cohort__word *levels)
{
    struct cohort__named_levels read;
    const void *text = NULL;
    cohort_status status = cohort__get_bytes(unpacked, cohort__unpacked_root(unpacked), "levels",
                                             &text, &levels->bytes);
    levels->text = text;
    if (!status && cohort__named_levels_read(levels->text, levels->bytes, &read))
        status = cohort_fail(COHORT_ERR_PROTOCOL, "%s has levels that are none", what);
    return status;
}

static cohort_status read_fields(const struct cohort__unpacked *unpacked, const char *what,
                                 struct cohort__contact *contact)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t version, host, domain, cores;
    cohort_status status = cohort__get_unsigned(unpacked, map, "version", UINT32_MAX, &version);
    if (!status && version != COHORT__CONTACT_VERSION)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "%s has version %u, this program's is %d", what,
                             (unsigned)version, COHORT__CONTACT_VERSION);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "host", UINT32_MAX, &host);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "domain", UINT32_MAX, &domain);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "cores", UINT64_MAX, &cores);
    if (!status)
        status = read_levels(unpacked, what, &contact->levels);
    if (!status)
        status =
            cohort__get_bytes(unpacked, map, "address", &contact->address, &contact->address_bytes);
    if (!status)
        contact->position = (struct cohort__position){(uint32_t)host, (uint32_t)domain, cores};
    return status;
}

cohort_status cohort__contact_read(const void *data, size_t bytes, uint32_t rank,
                                   struct cohort__contact *ret_contact)
{
    struct cohort__unpacked *unpacked;
    struct cohort__contact contact;
    char what[40];
    snprintf(what, sizeof(what), "the contact of locality %u", (unsigned)rank);
    cohort_status status = cohort__unpack(&unpacked, data, bytes, what);
    if (status)
        return status;
    status = read_fields(unpacked, what, &contact);
    cohort__unpacked_destroy(unpacked);
    if (!status)
        *ret_contact = contact;
    return status;
}

static cohort_status show(struct cohort__bootstrap *bootstrap,
                          const struct cohort__position *position, struct cohort__word levels,
                          const struct cohort__net *net)
{
    struct cohort__packer packer = {0};
    cohort__contact_pack(&packer, &(struct cohort__contact){.position = *position,
                                                            .levels = levels,
                                                            .address = net->address,
                                                            .address_bytes = net->address_bytes});
    cohort_status status = packer.status;
    if (!status)
        status = cohort__bootstrap_exchange(bootstrap, packer.data, packer.bytes);
    cohort__packer_fini(&packer);
    return status;
}

/* Fills in POSITIONS and LEVELS, and tells NET the addresses. */
static cohort_status see(const struct cohort__bootstrap *bootstrap, struct cohort__net *net,
                         struct cohort__position *positions, struct cohort__word *levels)
{
    cohort_status status = COHORT_OK;
    for (uint32_t rank = 0; !status && rank < cohort__bootstrap_size(bootstrap); rank++) {
        struct cohort__contact contact;
        size_t bytes;
        const void *data = cohort__bootstrap_address(bootstrap, rank, &bytes);
        status = cohort__contact_read(data, bytes, rank, &contact);
        if (!status)
            positions[rank] = contact.position;
        if (!status)
            levels[rank] = contact.levels;
        if (!status && rank != cohort__bootstrap_rank(bootstrap))
            status = cohort__net_add_peer(net, rank, contact.address, contact.address_bytes);
    }
    return status;
}

cohort_status cohort__contacts_exchange(struct cohort__bootstrap *bootstrap,
                                        const struct cohort__position *position,
                                        struct cohort__word levels, struct cohort__process *process,
                                        struct cohort__net *net)
{
    uint32_t size = cohort__bootstrap_size(bootstrap);
    struct cohort__position *positions = calloc(size, sizeof(*positions));
    struct cohort__word *all_levels = calloc(size, sizeof(*all_levels));
    cohort_status status = COHORT_OK;
    if (!positions || !all_levels)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the positions of %u localities",
                             (unsigned)size);
    if (!status)
        status = show(bootstrap, position, levels, net);
    if (!status)
        status = see(bootstrap, net, positions, all_levels);
    if (!status)
        status = cohort__positions_set(process, positions);
    if (!status)
        status = cohort__positions_name_levels(process, all_levels);
    free(all_levels);
    free(positions);
    return status;
}
