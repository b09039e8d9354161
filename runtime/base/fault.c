/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/fault.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/hash.h"
#include "runtime/base/log.h"
#include "runtime/base/random.h"

/* A link counts a message as lost when it has been missing for 10 s (proc/peer.c). */
static const uint64_t most_delay_ns = UINT64_C(5000000000);

static const uint64_t most_locality = 4095;
static const uint64_t most_number = UINT64_C(1000000000000);

/* The text, and how far it was read. */
struct reader {
    const char *text;
    const char *at;
};

/* Reading fails at AT. WHY is a sentence. */
static cohort_status fail_at(const struct reader *reader, const char *at, const char *why)
{
    if (!*at)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "at its end: %s", why);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "at byte %zu (\"%.20s\"): %s",
                       (size_t)(at - reader->text) + 1, at, why);
}

/* Moves READER behind WORD, if that is next. */
static bool take(struct reader *reader, const char *word)
{
    size_t bytes = strlen(word);
    if (strncmp(reader->at, word, bytes) != 0)
        return false;
    reader->at += bytes;
    return true;
}

/* A whole number from MIN to MAX, which is at least 9. */
static cohort_status take_number(struct reader *reader, uint64_t min, uint64_t max,
                                 uint64_t *ret_number)
{
    const char *start = reader->at;
    uint64_t number = 0;
    bool fits = isdigit((unsigned char)*start);
    for (; isdigit((unsigned char)*reader->at); reader->at++) {
        uint64_t digit = (uint64_t)(*reader->at - '0');
        fits = fits && number <= (max - digit) / 10;
        number = fits ? 10 * number + digit : 0;
    }
    if (!fits || number < min) {
        char wanted[80];
        snprintf(wanted, sizeof(wanted), "a number from %" PRIu64 " to %" PRIu64 " is expected",
                 min, max);
        return fail_at(reader, start, wanted);
    }
    *ret_number = number;
    return COHORT_OK;
}

static cohort_status take_locality(struct reader *reader, uint32_t *ret_locality)
{
    uint64_t number;
    cohort_status status = take_number(reader, 0, most_locality, &number);
    if (!status)
        *ret_locality = (uint32_t)number;
    return status;
}

/* LOCALITY@NUMBER, LOCALITY-OTHER@NUMBER for a drop; see fault.h. */
static cohort_status take_rule(struct reader *reader, enum cohort__fault_kind kind,
                               struct cohort__fault_plan *plan)
{
    struct cohort__fault_rule rule = {.kind = kind};
    const char *start = reader->at;
    cohort_status status = COHORT_OK;
    if (plan->num_rules == COHORT__FAULT_RULES)
        return fail_at(reader, start, "there may be at most 16 faults");
    rule.is_any = take(reader, "any");
    if (!rule.is_any)
        status = take_locality(reader, &rule.locality);
    if (!status && !rule.is_any && kind == COHORT__FAULT_DROP) {
        if (!take(reader, "-"))
            status = fail_at(reader, reader->at, "- and another locality are expected");
        if (!status)
            status = take_locality(reader, &rule.other);
        if (!status && rule.locality == rule.other)
            status = fail_at(reader, start, "two different localities are expected");
    }
    if (!status && !take(reader, "@"))
        status = fail_at(reader, reader->at, "@ and a number are expected");
    rule.is_below = !status && take(reader, "<");
    if (!status)
        status = take_number(reader, rule.is_below ? 2 : 1, most_number, &rule.number);
    if (!status)
        plan->rules[plan->num_rules++] = rule;
    return status;
}

/* A share like 1% or 0.25%. */
static cohort_status take_share(struct reader *reader, double *ret_share)
{
    static const char wanted[] = "a share above 0% and up to 100% is expected, like 0.5%";
    const char *start = reader->at;
    uint64_t whole = 0;
    double part = 0, digit = 0.1;
    if (take_number(reader, 0, 100, &whole))
        return fail_at(reader, start, wanted);
    if (take(reader, "."))
        for (; isdigit((unsigned char)*reader->at); digit /= 10)
            part += digit * (*reader->at++ - '0');
    double share = ((double)whole + part) / 100;
    if (!take(reader, "%") || share <= 0 || share > 1)
        return fail_at(reader, start, wanted);
    *ret_share = share;
    return COHORT_OK;
}

/* A time like 5ms. */
static cohort_status take_time(struct reader *reader, uint64_t *ret_ns)
{
    static const char wanted[] = "a time up to 5s is expected, as a whole number of us, ms or s";
    const char *start = reader->at;
    uint64_t number = 0, unit = 0;
    if (take_number(reader, 1, most_delay_ns / 1000, &number))
        return fail_at(reader, start, wanted);
    if (take(reader, "us"))
        unit = 1000;
    else if (take(reader, "ms"))
        unit = 1000000;
    else if (take(reader, "s"))
        unit = 1000000000;
    if (unit == 0 || number > most_delay_ns / unit)
        return fail_at(reader, start, wanted);
    *ret_ns = number * unit;
    return COHORT_OK;
}

static cohort_status take_delay(struct reader *reader, struct cohort__fault_plan *plan)
{
    if (plan->delay_ns > 0)
        return fail_at(reader, reader->at, "there may be only one delay");
    cohort_status status = take_share(reader, &plan->share);
    if (!status && !take(reader, ":"))
        status = fail_at(reader, reader->at, ": and a time are expected");
    return status ? status : take_time(reader, &plan->delay_ns);
}

/* What is between two commas. */
static cohort_status take_part(struct reader *reader, struct cohort__fault_plan *plan)
{
    if (take(reader, "seed:"))
        return take_number(reader, 0, INT64_MAX, &plan->seed);
    if (take(reader, "kill:"))
        return take_rule(reader, COHORT__FAULT_KILL, plan);
    if (take(reader, "drop:"))
        return take_rule(reader, COHORT__FAULT_DROP, plan);
    if (take(reader, "delay:"))
        return take_delay(reader, plan);
    if (take(reader, "alloc:"))
        return take_rule(reader, COHORT__FAULT_ALLOC, plan);
    return fail_at(reader, reader->at, "seed:, kill:, drop:, delay: or alloc: is expected");
}

cohort_status cohort__fault_plan_read(const char *text, struct cohort__fault_plan *ret_plan)
{
    struct reader reader = {text, text};
    struct cohort__fault_plan plan = {0};
    cohort_status status = COHORT_OK;
    bool is_over = !*text;
    while (!status && !is_over) {
        status = take_part(&reader, &plan);
        is_over = !*reader.at;
        if (!status && !is_over && !take(&reader, ","))
            status = fail_at(&reader, reader.at, "a comma or the end is expected");
    }
    if (!status)
        *ret_plan = plan;
    return status;
}

bool cohort__fault_plan_is_empty(const struct cohort__fault_plan *plan)
{
    return plan->num_rules == 0 && plan->delay_ns == 0;
}

static cohort_status check_locality(uint32_t locality, uint32_t size)
{
    if (locality < size)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "there is no locality %u in a job of %u",
                       (unsigned)locality, (unsigned)size);
}

/* Each rule has numbers of its own, so it draws the same whatever else is in the text before it. */
static cohort_status draw_rule(struct cohort__fault_rule *rule, uint64_t seed, uint32_t index,
                               uint32_t size)
{
    bool has_other = rule->kind == COHORT__FAULT_DROP;
    cohort_status status = COHORT_OK;
    struct cohort__random random = cohort__random_seeded(cohort__hash_u64(seed) + index);
    if (has_other && size < 2)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "one locality has no connection to drop");
    if (rule->is_any) {
        rule->locality = (uint32_t)cohort__random_below(&random, size);
        if (has_other)
            rule->other =
                (rule->locality + 1 + (uint32_t)cohort__random_below(&random, size - 1)) % size;
        rule->is_any = false;
    }
    status = check_locality(rule->locality, size);
    if (!status && has_other)
        status = check_locality(rule->other, size);
    if (!status && rule->is_below) {
        rule->number = 1 + cohort__random_below(&random, rule->number - 1);
        rule->is_below = false;
    }
    return status;
}

cohort_status cohort__fault_plan_draw(struct cohort__fault_plan *plan, uint32_t size)
{
    struct cohort__fault_plan drawn = *plan;
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; !status && i < drawn.num_rules; i++)
        status = draw_rule(&drawn.rules[i], drawn.seed, i, size);
    if (!status)
        *plan = drawn;
    return status;
}

bool cohort__fault_lets_send(const struct cohort__fault *fault, uint32_t other, uint64_t of_all,
                             uint64_t of_link)
{
    bool lets = true;
    for (uint32_t i = 0; i < fault->plan.num_rules; i++) {
        const struct cohort__fault_rule *rule = &fault->plan.rules[i];
        if (rule->locality != fault->rank)
            continue;
        if (rule->kind == COHORT__FAULT_KILL && of_all >= rule->number) {
            /* Whatever COHORT_LOG says, so that nobody takes it for another death. */
            dprintf(STDERR_FILENO,
                    "cohort: locality %u: COHORT_FAULT kills it before its message %" PRIu64 "\n",
                    (unsigned)fault->rank, rule->number);
            raise(SIGKILL);
        }
        if (rule->kind == COHORT__FAULT_DROP && other == rule->other && of_link >= rule->number)
            lets = false;
    }
    return lets;
}

bool cohort__fault_delays(const struct cohort__fault *fault, uint32_t source, uint32_t number)
{
    uint64_t drawn =
        cohort__hash_mix(cohort__hash_u64(fault->plan.seed), (uint64_t)source << 32 | fault->rank);
    drawn = cohort__hash_mix(drawn, number);
    return (double)(drawn >> 11) < fault->plan.share * 0x1p53;
}

/* --- allocations --- */

bool cohort__alloc_can_fail;
atomic_bool cohort__alloc_is_counted;

static const struct cohort__fault *_Atomic current;
static _Atomic uint64_t num_allocations;

static bool is_ours(const struct cohort__fault *fault, const struct cohort__fault_rule *rule)
{
    return rule->kind == COHORT__FAULT_ALLOC && rule->locality == fault->rank;
}

bool cohort__alloc_fault_is_wanted(const struct cohort__fault *fault)
{
    bool is_wanted = false;
    for (uint32_t i = 0; !is_wanted && i < fault->plan.num_rules; i++)
        is_wanted = is_ours(fault, &fault->plan.rules[i]);
    return is_wanted;
}

void cohort__alloc_fault_begin(const struct cohort__fault *fault)
{
    atomic_store(&current, fault);
    atomic_store(&num_allocations, 0);
    atomic_store(&cohort__alloc_is_counted, true);
}

void cohort__alloc_fault_end(void)
{
    atomic_store(&cohort__alloc_is_counted, false);
    atomic_store(&current, NULL);
}

bool cohort__alloc_fails(void)
{
    const struct cohort__fault *fault = atomic_load(&current);
    uint64_t number = atomic_fetch_add(&num_allocations, 1) + 1;
    bool fails = false, is_over = true;
    for (uint32_t i = 0; fault && i < fault->plan.num_rules; i++) {
        const struct cohort__fault_rule *rule = &fault->plan.rules[i];
        if (!is_ours(fault, rule))
            continue;
        fails = fails || number == rule->number;
        is_over = is_over && number >= rule->number;
    }
    if (is_over)
        atomic_store(&cohort__alloc_is_counted, false);
    if (!fails)
        return false;
    cohort__log(COHORT__LOG_INFO, "locality %u: COHORT_FAULT lets its allocation %" PRIu64 " fail",
                (unsigned)fault->rank, number);
    errno = ENOMEM;
    return true;
}
