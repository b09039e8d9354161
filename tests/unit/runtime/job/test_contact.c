/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/contact.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

TEST(contact)
{
    const struct cohort__contact contact = {
        {UINT32_MAX, UINT32_MAX - 1, UINT64_MAX - 2}, {"a=1", 3}, {"there", 5}};
    struct cohort__contact read = {0};
    struct cohort__packer packer = {0};
    cohort__contact_pack(&packer, &contact);
    CHECK_OK(packer.status);
    CHECK_OK(cohort__contact_read(packer.data, packer.bytes, 0, &read));
    CHECK(read.position.host == UINT32_MAX && read.position.domain == UINT32_MAX - 1);
    CHECK(read.position.cores == UINT64_MAX - 2);
    CHECK_INT(read.address.bytes, 5);
    CHECK(memcmp(read.address.data, "there", 5) == 0);
    CHECK(read.levels.bytes == 3 && memcmp(read.levels.data, "a=1", 3) == 0);
    cohort__packer_fini(&packer);
}

static void check_refused(struct cohort__packer *packer, const char *text)
{
    struct cohort__contact contact = {.address.bytes = 3};
    CHECK_INT(cohort__contact_read(packer->data, packer->bytes, 4, &contact), COHORT_ERR_PROTOCOL);
    CHECK(strstr(cohort_error_message(), "the contact of locality 4"));
    CHECK(strstr(cohort_error_message(), text));
    CHECK_INT(contact.address.bytes, 3);
    cohort__packer_fini(packer);
}

static void pack(struct cohort__packer *packer, uint64_t version, uint64_t host, uint64_t domain,
                 const char *levels)
{
    cohort__pack_map(packer, 6);
    cohort__pack_field_unsigned(packer, "version", version);
    cohort__pack_field_unsigned(packer, "position.host", host);
    cohort__pack_field_unsigned(packer, "position.domain", domain);
    cohort__pack_field_unsigned(packer, "position.cores", 1);
    cohort__pack_field_bytes(packer, "levels", levels, strlen(levels));
    cohort__pack_field_bytes(packer, "address", "a", 1);
}

TEST(bad_contacts)
{
    struct cohort__packer packer = {0};
    char versions[64];
    snprintf(versions, sizeof(versions), "version 2, this program's is %d",
             COHORT__CONTACT_VERSION);
    pack(&packer, 2, 0, 0, "");
    check_refused(&packer, versions);
    pack(&packer, COHORT__CONTACT_VERSION, UINT64_C(1) << 32, 0, "");
    check_refused(&packer, "host");
    pack(&packer, COHORT__CONTACT_VERSION, 0, UINT64_C(1) << 32, "");
    check_refused(&packer, "domain");
    pack(&packer, COHORT__CONTACT_VERSION, 0, 0, "switch=1,host=2");
    check_refused(&packer, "has levels that are none");
    cohort__pack_map(&packer, 1);
    cohort__pack_field_unsigned(&packer, "version", COHORT__CONTACT_VERSION);
    check_refused(&packer, "host");
    cohort__pack_text(&packer, "an address alone, as in older versions");
    check_refused(&packer, "");
}

/* No prefix of a contact is one. */
TEST(cut)
{
    struct cohort__contact contact = {.address = {"here", 4}};
    struct cohort__packer packer = {0};
    cohort__contact_pack(&packer, &contact);
    for (size_t bytes = 0; bytes < packer.bytes; bytes++)
        CHECK_INT(cohort__contact_read(packer.data, bytes, 1, &contact), COHORT_ERR_PROTOCOL);
    cohort__packer_fini(&packer);
}
