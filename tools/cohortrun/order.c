/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the message that says what a daemon is to start. */
#include "tools/cohortrun/order.h"

#include <stdlib.h>

#include "runtime/base/bounds.h"
#include "runtime/launch/control.h"
#include "runtime/wire/schema.h"
#include "tools/cohortrun/command.h"

static const struct cohort__field text[] = {COHORT__ELEMENT(const char *, UINT32_MAX)};
static const struct cohort__schema text_schema = COHORT__SCHEMA(const char *, text, 0);

#define FIELD(member, most) COHORT__FIELD(struct order, member, most)
#define LIST(member, num)                                                                          \
    COHORT__LIST(0, struct order, member, num, COHORT__UNPACK_MAX_VALUES, &text_schema)
static const struct cohort__field fields[] = {
    FIELD(size, COHORT__CONTROL_MAX_LOCALITIES),
    FIELD(first, COHORT__CONTROL_MAX_LOCALITIES),
    FIELD(num, COHORT__CONTROL_MAX_LOCALITIES),
    FIELD(binding.mode, NUM_BINDING_MODES - 1),
    FIELD(binding.workers, COHORT__MAX_WORKERS),
    FIELD(binding.report, 1),
    FIELD(directory, UINT32_MAX),
    FIELD(levels, UINT32_MAX),
    LIST(program, num_words),
    LIST(environment, num_variables),
};
static const struct cohort__schema schema = COHORT__SCHEMA(struct order, fields, 0);

static uint32_t count(char *const *list)
{
    uint32_t num = 0;
    while (list[num])
        num++;
    return num;
}

void order_pack(struct cohort__packer *packer, const struct order *order)
{
    struct order counted = *order;
    counted.num_words = count(order->program);
    counted.num_variables = count(order->environment);
    cohort__schema_pack(packer, &schema, &counted);
}

static cohort_status check(const struct order *order)
{
    uint32_t later = 0;
    if ((uint64_t)order->first + order->num > order->size)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "an order to start %u localities from locality %u on, of %u",
                           (unsigned)order->num, (unsigned)order->first, (unsigned)order->size);
    if (order->num == 0 || order->num_words == 0)
        return cohort_fail(COHORT_ERR_PROTOCOL, "an order to start nothing");
    if (command_check(order->program, &later) || later >= order->size)
        return cohort_fail(COHORT_ERR_PROTOCOL, "an order to start wrong programs");
    return COHORT_OK;
}

cohort_status order_read(struct order **ret_order, const void *message, size_t bytes)
{
    void *order = NULL;
    cohort_status status =
        cohort__schema_unpack_block(&schema, message, bytes, "the order", &order);
    if (!status)
        status = check(order);
    if (status)
        free(order);
    else
        *ret_order = order;
    return status;
}
