/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/requests.h"

static cohort_status check(const struct cohort__registry_words *words)
{
    if (words->failed > 0)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a join that failed with %d", words->failed);
    if (words->type == COHORT__REGISTRY_WITHDRAW && !words->failed)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a withdrawal without a reason");
    return COHORT_OK;
}

cohort_status cohort__home_take(struct cohort__registry_home *home, uint32_t source,
                                const struct cohort__registry_words *words, const char *returned,
                                struct cohort__list *outbox)
{
    const struct cohort__registry_request request = {
        .source = source,
        .name = words->name.data,
        .name_bytes = words->name.bytes,
        .terms = words->terms.data,
        .terms_bytes = words->terms.bytes,
        .settings = words->settings.data,
        .settings_bytes = words->settings.bytes,
        .site = words->site,
        .num_sites = words->num_sites,
        .instance = words->instance,
        .failed = (cohort_status)words->failed,
        .sequence = words->sequence,
        .returned = returned,
        .view = words->view,
        .agrees = words->agrees,
        .value = words->value,
        .of = words->of,
        .of_name = words->of_name.data,
        .of_name_bytes = words->of_name.bytes,
    };
    cohort_status status = check(words);
    if (status)
        return status;
    switch (words->type) {
    case COHORT__REGISTRY_JOIN:
        return cohort__registry_home_join(home, &request, outbox);
    case COHORT__REGISTRY_LEAVE:
        return cohort__registry_home_leave(home, &request, outbox);
    case COHORT__REGISTRY_WITHDRAW:
        return cohort__registry_home_withdraw(home, &request, outbox);
    case COHORT__REGISTRY_REVOKE:
        return cohort__registry_home_revoke(home, &request, outbox);
    case COHORT__REGISTRY_RETURN:
        cohort__numbers_return(&home->numbers, words->instance, words->number, source);
        return COHORT_OK;
    default:
        return cohort_fail(COHORT_ERR_PROTOCOL, "a letter of type %u for the home of a name",
                           (unsigned)words->type);
    }
}

cohort_status cohort__home_take_letter(struct cohort__registry_home *home, uint32_t source,
                                       const void *data, size_t bytes, const char *returned,
                                       struct cohort__list *outbox)
{
    struct cohort__registry_words words = {0};
    cohort_status status =
        cohort__schema_unpack(&cohort__registry_words, data, bytes, "a letter", &words);
    return status ? status : cohort__home_take(home, source, &words, returned, outbox);
}
