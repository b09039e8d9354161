/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/pmix_roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "runtime/launch/pmix_card.h"
#include "runtime/launch/pmix_client.h"
#include "runtime/wire/pack.h"

static const char card_name[] = "cohort.card";

/* CONTEXT is an array with room for the cards of all. */
static cohort_status take_card(void *context, uint32_t process, const void *data, size_t bytes)
{
    struct cohort__pmix_card *cards = context;
    char what[64];
    snprintf(what, sizeof(what), "%s of process %u", card_name, (unsigned)process);
    return cohort__pmix_card_read(data, bytes, what, &cards[process]);
}

static cohort_status show_card(struct cohort__pmix_client *client,
                               const struct cohort__pmix_card *own, struct cohort__pmix_card *cards)
{
    struct cohort__packer packer = {0};
    cohort__pmix_card_pack(&packer, own);
    cohort_status status = packer.status;
    if (!status)
        status = cohort__pmix_client_exchange(client, card_name, packer.data, packer.bytes,
                                              take_card, cards);
    cohort__packer_fini(&packer);
    return status;
}

/* The loopback address, or if there are other hosts, the address from which the first of them is
 * reached. */
static cohort_status find_address(const struct cohort__pmix_card *cards, uint32_t size,
                                  const char *own_host, struct cohort__pmix_roster *roster)
{
    snprintf(roster->host_address, sizeof(roster->host_address), "127.0.0.1");
    for (uint32_t process = 0; process < size; process++)
        if (strcmp(cards[process].host, own_host) != 0)
            return cohort__place_address(cards[process].name, roster->host_address,
                                         sizeof(roster->host_address));
    return COHORT_OK;
}

static cohort_status draw_card(struct cohort__pmix_card *card)
{
    if (getrandom(&card->key, sizeof(card->key), 0) != sizeof(card->key))
        return cohort_fail(COHORT_ERR_SYSTEM, "random number for the job: %s", strerror(errno));
    gethostname(card->name, sizeof(card->name) - 1);
    return cohort__place_identify(card->host);
}

cohort_status cohort__pmix_roster_make(struct cohort__pmix_client *client, uint64_t listener_id,
                                       struct cohort__pmix_roster *ret_roster)
{
    struct cohort__pmix_card own = {.listener_id = listener_id};
    struct cohort__pmix_roster roster = {0};
    struct cohort__pmix_card *cards = calloc(client->size, sizeof(*cards));
    const char **hosts = calloc(client->size, sizeof(*hosts));
    roster.processes = calloc(client->size, sizeof(*roster.processes));
    cohort_status status = COHORT_OK;
    if (!cards || !hosts || !roster.processes)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "cards of the localities: out of memory");
    if (!status)
        status = draw_card(&own);
    if (!status)
        status = show_card(client, &own, cards);
    for (uint32_t process = 0; !status && process < client->size; process++)
        hosts[process] = cards[process].host;
    if (!status)
        status = cohort__place_find(hosts, client->size, client->me.rank, &roster.place,
                                    roster.processes);
    if (!status)
        status = find_address(cards, client->size, own.host, &roster);
    if (!status) {
        roster.key = cards[0].key;
        roster.listener_id =
            cards[roster.processes[roster.place.rank - roster.place.slot]].listener_id;
        *ret_roster = roster;
    } else {
        free(roster.processes);
    }
    free(hosts);
    free(cards);
    return status;
}

void cohort__pmix_roster_fini(struct cohort__pmix_roster *roster)
{
    free(roster->processes);
    roster->processes = NULL;
}
