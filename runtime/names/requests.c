/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/requests.h"

static cohort_status read_of(const struct cohort__unpacked *unpacked,
                             struct cohort__registry_request *request)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    bool has = false;
    cohort_status status = cohort__has_field(unpacked, map, "of", &has);
    if (status || !has)
        return status;
    status = cohort__get_unsigned(unpacked, map, "of", UINT64_MAX, &request->of);
    return status ? status
                  : cohort__get_bytes(unpacked, map, "of_name", (const void **)&request->of_name,
                                      &request->of_name_bytes);
}

static cohort_status read_join(const struct cohort__unpacked *unpacked,
                               struct cohort__registry_request *request)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t num_sites = 0, view = 0;
    cohort_status status = cohort__get_unsigned(unpacked, map, "num_sites", INT32_MAX, &num_sites);
    if (!status)
        status = cohort__get_bytes(unpacked, map, "settings", &request->settings,
                                   &request->settings_bytes);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "instance", UINT64_MAX, &request->instance);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "view", UINT32_MAX, &view);
    if (!status)
        status = cohort__get_bool(unpacked, map, "agrees", &request->agrees);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "value", UINT64_MAX, &request->value);
    if (!status)
        status = read_of(unpacked, request);
    request->num_sites = status ? 0 : (uint32_t)num_sites;
    request->view = (uint32_t)view;
    return status;
}

/* Which join of the locality it is or was, and why it fails, if it does. */
static cohort_status read_reason(const struct cohort__unpacked *unpacked,
                                 struct cohort__registry_request *request)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t sequence = 0;
    int64_t failed = 0;
    cohort_status status = cohort__get_unsigned(unpacked, map, "sequence", UINT32_MAX, &sequence);
    if (!status)
        status = cohort__get_signed(unpacked, map, "failed", &failed);
    if (!status)
        status = cohort__get_bytes(unpacked, map, "terms", (const void **)&request->terms,
                                   &request->terms_bytes);
    if (!status && (failed > 0 || failed < INT32_MIN))
        status = cohort_fail(COHORT_ERR_PROTOCOL, "a join that failed with %d", (int)failed);
    request->sequence = (uint32_t)sequence;
    request->failed = (cohort_status)failed;
    return status;
}

static cohort_status read_request(const struct cohort__unpacked *unpacked, uint64_t type,
                                  struct cohort__registry_request *request)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t site = 0;
    cohort_status status = cohort__get_bytes(unpacked, map, "name", (const void **)&request->name,
                                             &request->name_bytes);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "site", INT32_MAX, &site);
    request->site = (uint32_t)site;
    if (status)
        return status;
    if (type == COHORT__REGISTRY_LEAVE || type == COHORT__REGISTRY_REVOKE)
        return cohort__get_unsigned(unpacked, map, "instance", UINT64_MAX, &request->instance);
    status = read_reason(unpacked, request);
    if (!status && type == COHORT__REGISTRY_WITHDRAW && !request->failed)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "a withdrawal without a reason");
    return status || type == COHORT__REGISTRY_WITHDRAW ? status : read_join(unpacked, request);
}

static cohort_status take_return(struct cohort__registry_home *home, uint32_t source,
                                 const struct cohort__unpacked *unpacked)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t instance, number;
    cohort_status status = cohort__get_unsigned(unpacked, map, "instance", UINT64_MAX, &instance);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "number", UINT32_MAX, &number);
    if (!status)
        cohort__numbers_return(&home->numbers, instance, (uint32_t)number, source);
    return status;
}

cohort_status cohort__home_take(struct cohort__registry_home *home, uint32_t source, uint64_t type,
                                const struct cohort__unpacked *unpacked, const char *returned,
                                struct cohort__list *outbox)
{
    struct cohort__registry_request request = {.source = source, .returned = returned};
    if (type == COHORT__REGISTRY_RETURN)
        return take_return(home, source, unpacked);
    if (type != COHORT__REGISTRY_JOIN && type != COHORT__REGISTRY_LEAVE &&
        type != COHORT__REGISTRY_WITHDRAW && type != COHORT__REGISTRY_REVOKE)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a letter of type %u for the home of a name",
                           (unsigned)type);
    cohort_status status = read_request(unpacked, type, &request);
    if (status)
        return status;
    if (type == COHORT__REGISTRY_JOIN)
        return cohort__registry_home_join(home, &request, outbox);
    if (type == COHORT__REGISTRY_LEAVE)
        return cohort__registry_home_leave(home, &request, outbox);
    if (type == COHORT__REGISTRY_REVOKE)
        return cohort__registry_home_revoke(home, &request, outbox);
    return cohort__registry_home_withdraw(home, &request, outbox);
}

cohort_status cohort__home_take_letter(struct cohort__registry_home *home, uint32_t source,
                                       const void *data, size_t bytes, const char *returned,
                                       struct cohort__list *outbox)
{
    struct cohort__unpacked *unpacked;
    uint64_t type;
    cohort_status status = cohort__unpack(&unpacked, data, bytes, "a letter");
    if (status)
        return status;
    status =
        cohort__get_unsigned(unpacked, cohort__unpacked_root(unpacked), "type", UINT32_MAX, &type);
    if (!status)
        status = cohort__home_take(home, source, type, unpacked, returned, outbox);
    cohort__unpacked_destroy(unpacked);
    return status;
}
