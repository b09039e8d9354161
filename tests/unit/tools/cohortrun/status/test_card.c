/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/status/card.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static struct card_locality localities[] = {
    {100, "", ""}, {0, "b", "locality 1 has not been started"}, {102, "b", ""}};

static const struct card card = {
    .pid = 77, .size = 3, .first = 1, .num = 2, .program = "./heat -n 3", .localities = localities};

TEST(round_trip)
{
    struct cohort__packer packer = {0};
    struct card *copy = NULL;
    card_pack(&packer, &card);
    CHECK_OK(packer.status);
    CHECK_OK(card_read(&copy, packer.data, packer.bytes));
    cohort__packer_fini(&packer); /* nothing of the card is in it */
    CHECK(copy->pid == 77 && copy->size == 3 && copy->first == 1 && copy->num == 2);
    CHECK_TEXT(copy->program, "./heat -n 3");
    for (int i = 0; i < 3; i++) {
        CHECK_INT(copy->localities[i].pid, localities[i].pid);
        CHECK_TEXT(copy->localities[i].host, localities[i].host);
        CHECK_TEXT(copy->localities[i].end, localities[i].end);
    }
    free(copy);
}

/* Each message that is cut, and each with one other byte, is refused or makes some sense. */
TEST(damaged)
{
    struct cohort__packer packer = {0};
    struct card *copy = NULL;
    card_pack(&packer, &card);
    for (size_t bytes = 0; bytes < packer.bytes; bytes++)
        CHECK_INT(card_read(&copy, packer.data, bytes), COHORT_ERR_PROTOCOL);
    for (size_t i = 0; i < packer.bytes; i++)
        for (int bit = 0; bit < 8; bit++) {
            packer.data[i] ^= (unsigned char)(1 << bit);
            if (card_read(&copy, packer.data, packer.bytes) == COHORT_OK) {
                CHECK(copy->first + copy->num <= copy->size && copy->size == 3);
                CHECK(strlen(copy->program) <= packer.bytes);
                free(copy);
            }
            packer.data[i] ^= (unsigned char)(1 << bit);
        }
    cohort__packer_fini(&packer);
}

TEST(name)
{
    char name[CARD_NAME_BYTES];
    card_name(1000, 77, name);
    CHECK_TEXT(name, "cohort-job-1000-77");
}
