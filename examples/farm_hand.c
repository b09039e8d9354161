/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/farm_hand.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "examples/farm_picture.h"

uint32_t farm_hands = 2;

/* Of the hands in this locality: hand I + J * cohort_num_localities() is number J of locality I. */
static cohort_comm *endpoints[FARM_MOST_HANDS];

uint32_t farm_num_hands(void)
{
    return farm_hands * cohort_num_localities();
}

size_t farm_strip_bytes(uint32_t strip)
{
    return sizeof(struct farm_strip) + (size_t)farm_picture_num_rows(strip) * farm_picture_width;
}

cohort_future *farm_join(uint32_t site, cohort_comm **ret_comm)
{
    cohort_comm_options options = {.num_sites = FARM_FIRST_HAND + farm_num_hands(),
                                   .this_site = site};
    return cohort_comm_create(ret_comm, "farm", &options);
}

cohort_status farm_hand_open(const cohort_object *in, cohort_object *ret_out, void *context)
{
    cohort_future *futures[FARM_MOST_HANDS];
    (void)in;
    (void)ret_out;
    (void)context;
    /* A terminal's Ctrl-C goes to all localities. Locality 0 sees to it (farm_watch.h). */
    if (cohort_locality() > 0)
        signal(SIGINT, SIG_IGN);
    for (uint32_t i = 0; i < farm_hands; i++)
        futures[i] = farm_join(FARM_FIRST_HAND + cohort_locality() + i * cohort_num_localities(),
                               &endpoints[i]);
    return cohort_await(cohort_when_all(futures, farm_hands));
}

cohort_status farm_hand_close(const cohort_object *in, cohort_object *ret_out, void *context)
{
    (void)in;
    (void)ret_out;
    (void)context;
    for (uint32_t i = 0; i < farm_hands; i++)
        cohort_comm_unref(endpoints[i]);
    return COHORT_OK;
}

static cohort_status ask(cohort_comm *comm, uint32_t *ret_number)
{
    cohort_status status = cohort_await(cohort_channel_set(comm, FARM_DEALER, FARM_TAG, NULL, 0));
    if (!status)
        status = cohort_await(
            cohort_channel_get(comm, FARM_DEALER, FARM_TAG, ret_number, sizeof(*ret_number), NULL));
    return status;
}

/* Draws strips until there are no more. */
static cohort_status work(cohort_comm *comm, struct farm_strip *strip)
{
    cohort_status status;
    while (!(status = ask(comm, &strip->number)) && strip->number != FARM_NO_STRIP) {
        status = farm_picture_draw(strip->number, strip->samples);
        if (!status)
            status = cohort_await(cohort_channel_set(comm, FARM_COLLECTOR, FARM_TAG, strip,
                                                     farm_strip_bytes(strip->number)));
        if (status)
            break;
    }
    return status;
}

cohort_status farm_hand_run(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t number;
    (void)ret_out;
    (void)context;
    if (in->bytes != sizeof(number))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no number", in->bytes);
    memcpy(&number, in->data, sizeof(number));
    struct farm_strip *strip = malloc(farm_strip_bytes(0));
    if (!strip)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a strip");
    cohort_status status = work(endpoints[number / cohort_num_localities()], strip);
    free(strip);
    return status;
}
