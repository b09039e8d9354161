/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/pmix_events.h"

#include <string.h>

#include "runtime/launch/pmix_client.h"

static bool is_loss(pmix_status_t status)
{
    enum { LOST_CONNECTION_TO_SERVER = -101 }; /* in PMIx 3 */
    return status == PMIX_ERR_LOST_CONNECTION || status == LOST_CONNECTION_TO_SERVER ||
           status == PMIX_ERR_UNREACH;
}

static bool is_death(pmix_status_t status)
{
    enum { PROC_ABORTED = -7 }; /* deprecated, but still sent */
    return status == PROC_ABORTED || status == PMIX_ERR_PROC_REQUESTED_ABORT ||
           status == PMIX_ERR_PROC_TERM_WO_SYNC || status == PMIX_ERR_PROC_KILLED_BY_CMD ||
           status == PMIX_ERR_PROC_ABORTED_BY_SIG || status == PMIX_ERR_EXIT_NONZERO_TERM;
}

static void tell(const struct cohort__pmix_events *events, pmix_status_t status,
                 const pmix_proc_t *whom)
{
    const pmix_proc_t *me = &events->client->me;
    bool peer_died = is_death(status) && whom && whom->rank < events->client->size &&
                     whom->rank != me->rank && strcmp(whom->nspace, me->nspace) == 0;
    if (is_loss(status) || peer_died)
        events->came(events->context,
                     &(struct cohort__pmix_event){.status = status,
                                                  .launcher_lost = !peer_died,
                                                  .process = peer_died ? whom->rank : 0});
}

static void notified(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t num_info, pmix_info_t *results, size_t num_results,
                     pmix_event_notification_cbfunc_fn_t done, void *context)
{
    (void)id, (void)results, (void)num_results;
    const struct cohort__pmix_events *events = NULL;
    const pmix_proc_t *whom = source;
    for (size_t i = 0; i < num_info; i++) {
        const pmix_value_t *value = &info[i].value;
        if (strcmp(info[i].key, PMIX_EVENT_RETURN_OBJECT) == 0)
            events = value->data.ptr;
        else if (strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 && value->type == PMIX_PROC)
            whom = value->data.proc;
    }
    if (events)
        tell(events, status, whom);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, context);
}

cohort_status cohort__pmix_events_listen(
    struct cohort__pmix_events *events, const struct cohort__pmix_client *client,
    void (*came)(void *context, const struct cohort__pmix_event *event), void *context)
{
    pmix_info_t self = {.key = PMIX_EVENT_RETURN_OBJECT,
                        .value = {.type = PMIX_POINTER, .data.ptr = events}};
    *events = (struct cohort__pmix_events){client, came, context};
    pmix_status_t status =
        client->library.register_event_handler(NULL, 0, &self, 1, notified, NULL, NULL);
    if (status >= 0) /* some versions return the handler's number */
        return COHORT_OK;
    return cohort__pmix_client_check(client, status, "events of the job");
}
