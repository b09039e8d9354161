/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/contact.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/cores.h"
#include "runtime/launch/control.h"
#include "runtime/launch/domain.h"

/* --- position --- */

/* The topology's hosts and domains are filled in the order of the ranks. */
static cohort_status play(const struct cohort__bootstrap *bootstrap,
                          const struct cohort__topology *topology,
                          struct cohort__position *ret_position)
{
    const struct cohort__bootstrap_job *told = cohort__bootstrap_job(bootstrap);
    uint32_t rank = told->rank, size = told->size;
    uint64_t each = (uint64_t)topology->domains * topology->localities; /* of a host */
    if (size > topology->hosts * each)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_TOPOLOGY is %ux%ux%u, but the job has %u "
                           "localities",
                           (unsigned)topology->hosts, (unsigned)topology->domains,
                           (unsigned)topology->localities, (unsigned)size);
    uint64_t first = rank / each * each, end = first + each < size ? first + each : size;
    uint32_t real_first = rank - told->slot;
    if (first < real_first || end > real_first + told->sharing)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "environment variable COHORT_TOPOLOGY is %ux%ux%u: localities %u to %u "
                           "are to be one host, but are on several",
                           (unsigned)topology->hosts, (unsigned)topology->domains,
                           (unsigned)topology->localities, (unsigned)first, (unsigned)(end - 1));
    *ret_position = (struct cohort__position){.host = (uint32_t)(rank / each),
                                              .domain = rank / topology->localities,
                                              .cores = cohort__cores_identify()};
    return COHORT_OK;
}

cohort_status cohort__position_find(const struct cohort__bootstrap *bootstrap,
                                    const struct cohort__topology *topology,
                                    struct cohort__position *ret_position)
{
    const struct cohort__bootstrap_job *told = cohort__bootstrap_job(bootstrap);
    if (topology->hosts > 0)
        return play(bootstrap, topology, ret_position);
    const struct cohort__binding *binding = &told->binding;
    uint32_t domain = binding->sharing ? binding->domain : cohort__domain_find();
    *ret_position = (struct cohort__position){
        .host = told->host, .domain = domain, .cores = cohort__cores_identify()};
    return COHORT_OK;
}

#define FIELD(member, most) COHORT__FIELD(struct cohort__contact, member, most)
static const struct cohort__field fields[] = {
    FIELD(position.host, UINT32_MAX),
    FIELD(position.domain, UINT32_MAX),
    FIELD(position.cores, UINT64_MAX),
    FIELD(levels, COHORT__NAMED_LEVELS_BYTES),
    FIELD(address, COHORT__CONTROL_MAX_ADDRESS),
};
static const struct cohort__schema schema =
    COHORT__SCHEMA(struct cohort__contact, fields, COHORT__CONTACT_VERSION);

void cohort__contact_pack(struct cohort__packer *packer, const struct cohort__contact *contact)
{
    cohort__schema_pack(packer, &schema, contact);
}

cohort_status cohort__contact_read(const void *data, size_t bytes, uint32_t rank,
                                   struct cohort__contact *ret_contact)
{
    struct cohort__contact contact;
    struct cohort__named_levels levels;
    char what[40];
    snprintf(what, sizeof(what), "the contact of locality %u", (unsigned)rank);
    cohort_status status = cohort__schema_unpack(&schema, data, bytes, what, &contact);
    /* Its locality has checked them, so wrong ones come from a stranger. */
    if (!status && cohort__named_levels_read(contact.levels.data, contact.levels.bytes, &levels))
        status = cohort_fail(COHORT_ERR_PROTOCOL, "%s has levels that are none", what);
    if (!status)
        *ret_contact = contact;
    return status;
}

static cohort_status show(struct cohort__bootstrap *bootstrap,
                          const struct cohort__position *position, struct cohort__word levels,
                          const struct cohort__net *net)
{
    struct cohort__packer packer = {0};
    cohort__contact_pack(&packer,
                         &(struct cohort__contact){.position = *position,
                                                   .levels = {levels.text, levels.bytes},
                                                   .address = {net->address, net->address_bytes}});
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
    const struct cohort__bootstrap_job *told = cohort__bootstrap_job(bootstrap);
    cohort_status status = COHORT_OK;
    for (uint32_t rank = 0; !status && rank < told->size; rank++) {
        struct cohort__contact contact;
        size_t bytes;
        const void *data = cohort__bootstrap_address(bootstrap, rank, &bytes);
        status = cohort__contact_read(data, bytes, rank, &contact);
        if (!status)
            positions[rank] = contact.position;
        if (!status)
            levels[rank] = (struct cohort__word){contact.levels.data, contact.levels.bytes};
        if (!status && rank != told->rank)
            status = cohort__net_add_peer(net, rank, contact.address.data, contact.address.bytes);
    }
    return status;
}

cohort_status cohort__contacts_exchange(struct cohort__bootstrap *bootstrap,
                                        const struct cohort__position *position,
                                        struct cohort__word levels, struct cohort__process *process,
                                        struct cohort__net *net)
{
    uint32_t size = cohort__bootstrap_job(bootstrap)->size;
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
