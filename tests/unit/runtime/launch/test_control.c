/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/control.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

/* What the callback should get. It is compared in the callback, since the message may not be kept.
 */
struct expected {
    struct cohort__control control;
    unsigned num_calls;
};

static cohort_status compare(void *context, const struct cohort__control *got)
{
    struct expected *expected = context;
    const struct cohort__control *want = &expected->control;
    expected->num_calls++;
    CHECK_INT(got->kind, want->kind);
    CHECK_INT(got->version, want->version);
    CHECK_INT(got->rank, want->rank);
    CHECK_INT(got->order, want->order);
    CHECK_INT(got->code, want->code);
    CHECK_INT(got->size, want->size);
    CHECK_INT(got->epoch, want->epoch);
    CHECK_INT(got->workers, want->workers);
    CHECK_INT(got->sharing, want->sharing);
    CHECK_INT(got->num_hosts, want->num_hosts);
    CHECK_INT(got->host, want->host);
    CHECK_INT(got->slot, want->slot);
    CHECK_TEXT(got->host_address ? got->host_address : "",
               want->host_address ? want->host_address : "");
    CHECK(got->key == want->key && got->pid == want->pid && got->round == want->round);
    CHECK(got->sent == want->sent && got->received == want->received && got->busy == want->busy);
    CHECK_TEXT(got->text ? got->text : "", want->text ? want->text : "");
    CHECK_INT((long long)got->address.bytes, (long long)want->address.bytes);
    CHECK(want->address.bytes == 0 ||
          memcmp(got->address.data, want->address.data, want->address.bytes) == 0);
    CHECK_INT((long long)got->letter.bytes, (long long)want->letter.bytes);
    CHECK(want->letter.bytes == 0 ||
          memcmp(got->letter.data, want->letter.data, want->letter.bytes) == 0);
    CHECK_INT(got->keeps_going, want->keeps_going);
    CHECK_INT(got->at_fault, want->at_fault);
    for (uint32_t i = 0; want->addresses && i < want->size; i++) {
        CHECK_INT((long long)got->addresses[i].bytes, (long long)want->addresses[i].bytes);
        CHECK(memcmp(got->addresses[i].data, want->addresses[i].data, want->addresses[i].bytes) ==
              0);
    }
    return COHORT_OK;
}

static void round_trip(const struct cohort__control *control)
{
    struct expected expected = {.control = *control};
    struct cohort__packer packer = {0};
    cohort__control_pack(&packer, control);
    CHECK_OK(packer.status);
    CHECK_OK(cohort__control_read(packer.data, packer.bytes, "somebody", compare, &expected));
    CHECK_INT(expected.num_calls, 1);
    for (size_t bytes = 0; bytes < packer.bytes; bytes++)
        CHECK_INT(cohort__control_read(packer.data, bytes, "somebody", compare, &expected),
                  COHORT_ERR_PROTOCOL);
    cohort__packer_fini(&packer);
}

static const struct cohort__bytes two[] = {{"abc", 3}, {"", 0}};

static const struct cohort__control samples[] = {
    {.kind = COHORT__CONTROL_WELCOME,
     .version = 1,
     .rank = 3,
     .size = 4,
     .key = UINT64_MAX,
     .epoch = 2,
     .workers = 5,
     .sharing = 2,
     .num_hosts = 3,
     .host = 2,
     .slot = 1,
     .host_address = "fe80::1",
     .keeps_going = true},
    {.kind = COHORT__CONTROL_ADDRESSES, .size = 2, .addresses = two},
    {.kind = COHORT__CONTROL_COUNT, .round = 1ull << 40},
    {.kind = COHORT__CONTROL_ABORT, .code = 255, .text = "no more"},
    {.kind = COHORT__CONTROL_EXIT},
    {.kind = COHORT__CONTROL_DIED, .rank = 9, .order = 2, .text = "was killed"},
    {.kind = COHORT__CONTROL_HELLO, .version = 1, .pid = 4711, .address = {"\0\1", 2}},
    {.kind = COHORT__CONTROL_FINISHED},
    {.kind = COHORT__CONTROL_COUNTS, .round = 1, .sent = 2, .received = UINT64_MAX, .busy = true},
    {.kind = COHORT__CONTROL_FAILED, .text = "no"},
    {.kind = COHORT__CONTROL_ACCUSE, .rank = 3, .at_fault = true, .text = "why"},
    {.kind = COHORT__CONTROL_LETTER, .letter = {"\0me", 3}},
    {.kind = COHORT__CONTROL_BYE},
    {.kind = COHORT__CONTROL_ASK_RETURNED},
    {.kind = COHORT__CONTROL_RETURNED, .text = "0, 2-5"},
};
enum { NUM_SAMPLES = NUM_OF(samples) };

TEST(round_trips)
{
    for (int i = 0; i < NUM_SAMPLES; i++)
        round_trip(&samples[i]);
    CHECK_INT(NUM_SAMPLES, COHORT__CONTROL_NUM_KINDS - 1);
    CHECK_TEXT(cohort__control_kind_name(COHORT__CONTROL_COUNTS), "COUNTS");
    CHECK_TEXT(cohort__control_kind_name((enum cohort__control_kind)0), "unknown");
}

static void check_refused(const struct cohort__control *control, const char *why)
{
    struct expected expected = {0};
    struct cohort__packer packer = {0};
    cohort__control_pack(&packer, control);
    CHECK_FAILS(cohort__control_read(packer.data, packer.bytes, "locality 3", compare, &expected),
                COHORT_ERR_PROTOCOL, why);
    CHECK_INT(expected.num_calls, 0);
    cohort__packer_fini(&packer);
}

TEST(nonsense)
{
    static const char long_address[COHORT__CONTROL_MAX_ADDRESS + 1];
    struct cohort__control control = samples[0];
    control.rank = control.size;
    check_refused(&control, "control message of locality 3: locality 4 of 4 in slot 1 of 2");
    control.rank = COHORT__CONTROL_MAX_LOCALITIES;
    check_refused(&control, "control message of locality 3: field 'rank' is out of range");
    control.rank = control.size = 0;
    check_refused(&control, "locality 0 of 0");
    control.size = 1; /* fewer than hosts */
    check_refused(&control, "on host 2 of 3");
    control.size = COHORT__CONTROL_MAX_LOCALITIES + 1;
    check_refused(&control, "field 'size' is out of range");
    control = samples[0];
    control.slot = control.sharing;
    check_refused(&control, "locality 3 of 4 in slot 2 of 2 on host 2 of 3");
    control.slot = 0; /* then another one, of 4, would follow on this host */
    check_refused(&control, "locality 3 of 4 in slot 0 of 2 on host 2 of 3");
    control.slot = 1;
    control.host = 3;
    check_refused(&control, "on host 3 of 3");
    control = (struct cohort__control){.kind = COHORT__CONTROL_HELLO,
                                       .version = 1,
                                       .address = {long_address, sizeof(long_address)}};
    check_refused(&control, "field 'address' has 1025 bytes");
    control = (struct cohort__control){.kind = COHORT__CONTROL_ADDRESSES};
    check_refused(&control, "0 addresses");
    control = (struct cohort__control){.kind = COHORT__CONTROL_ABORT, .text = "", .code = 0};
    check_refused(&control, "an abort with 0");
    control.code = 256;
    check_refused(&control, "field 'code' is out of range");
    struct expected expected = {0};
    CHECK_FAILS(cohort__control_read("\x90", 1, "locality 3", compare, &expected),
                COHORT_ERR_PROTOCOL, "field 'kind'");
}

static cohort_status accept(void *context, const struct cohort__control *control)
{
    ++*(unsigned *)context;
    return COHORT_OK;
}

/* Valid messages with changed bytes: any answer is allowed, but no crash. */
TEST(changed_bytes)
{
    uint64_t seed = 12;
    unsigned accepted = 0;
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    struct cohort__random random = cohort__random_seeded(seed);
    for (int round = 0; round < 50000; round++) {
        struct cohort__packer packer = {0};
        cohort__control_pack(&packer, &samples[round % NUM_SAMPLES]);
        for (uint64_t i = cohort__random_below(&random, 3); i > 0; i--)
            packer.data[cohort__random_below(&random, packer.bytes)] =
                (unsigned char)cohort__random_next(&random);
        cohort_status status =
            cohort__control_read(packer.data, packer.bytes, "somebody", accept, &accepted);
        CHECK(status == COHORT_OK || status == COHORT_ERR_PROTOCOL);
        cohort__packer_fini(&packer);
    }
    CHECK(accepted > 100 && accepted < 49000);
}
