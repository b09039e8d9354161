/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/check_values.h"

#include "tests/support/test.h"

static int16_t min(int16_t a, int16_t b)
{
    return a < b ? a : b;
}

static struct cohort__check_values both(struct cohort__check_values a,
                                        struct cohort__check_values b)
{
    return (struct cohort__check_values){
        min(a.smallest_type, b.smallest_type), min(a.largest_type_negated, b.largest_type_negated),
        min(a.smallest_kind, b.smallest_kind), min(a.largest_kind_negated, b.largest_kind_negated)};
}

/* The values of a site: no type, the predefined types, a user's type, a wrong call. */
enum { NUM_PREDEFINED = 12, USERS = NUM_PREDEFINED, WRONG, NUM_SAYINGS };

static struct cohort__check_values saying(int which)
{
    return which == WRONG ? cohort__check_values_of_wrong_call()
           : which == USERS
               ? cohort__check_values_of(cohort_datatype_of_bytes(4))
               : cohort__check_values_of(which ? COHORT_BYTE - 1 + (cohort_datatype)which : 0);
}

static cohort_status verdict(int a, int b, int c)
{
    struct cohort__check_values minima = both(both(saying(a), saying(b)), saying(c));
    return cohort__check_values_judge(&minima);
}

/* The result follows the documented precedence, in whatever order the values are combined. */
TEST(every_three)
{
    for (int a = 0; a < NUM_SAYINGS; a++)
        for (int b = 0; b < NUM_SAYINGS; b++)
            for (int c = 0; c < NUM_SAYINGS; c++) {
                bool wrong = a == WRONG || b == WRONG || c == WRONG;
                bool users = a == USERS || b == USERS || c == USERS;
                cohort_status want = wrong              ? COHORT_ERR_BAD_PARAMETER
                                     : users            ? COHORT_ERR_NOT_SUPPORTED
                                     : a == b && b == c ? COHORT_OK
                                                        : COHORT_ERR_BAD_PARAMETER;
                CHECK_INT(verdict(a, b, c), want);
            }
}

/* Every handle of a user's type counts as a user's type, also one whose low bits are those of a
 * predefined type. */
TEST(users_types)
{
    static const size_t sizes[] = {1, 11, 32767, 65536 + 3, ((size_t)1 << 48) - 1};
    struct cohort__check_values users = saying(USERS);
    for (size_t i = 0; i < NUM_OF(sizes); i++) {
        struct cohort__check_values values =
            cohort__check_values_of(cohort_datatype_of_bytes(sizes[i]));
        CHECK_INT(values.smallest_type, users.smallest_type);
        CHECK_INT(values.largest_type_negated, users.largest_type_negated);
    }
}

/* With these values, the comparison of the minimum and the negated minimum alone never shows
 * agreement. */
TEST(nobody_can_agree)
{
    for (int special = USERS; special <= WRONG; special++)
        for (int other = 0; other < NUM_SAYINGS; other++) {
            struct cohort__check_values minima = both(saying(special), saying(other));
            CHECK(minima.smallest_type != -minima.largest_type_negated);
        }
}

TEST(kinds)
{
    struct cohort__check_values host = cohort__check_values_of(COHORT_INT32), other = host;
    CHECK_INT(host.smallest_kind, 1);
    CHECK_INT(host.largest_kind_negated, -1);
    other.smallest_kind = 2;
    other.largest_kind_negated = -2;
    CHECK_OK(cohort__check_values_judge(&other));
    struct cohort__check_values minima = both(host, other);
    CHECK_INT(cohort__check_values_judge(&minima), COHORT_ERR_BAD_PARAMETER);
    char text[256];
    cohort__check_values_describe(&minima, COHORT_INT32, text, sizeof(text));
    CHECK_CONTAINS(text, "different kinds of memory");
}

static void check_described(int a, int b, cohort_datatype mine, const char *want)
{
    char text[256];
    struct cohort__check_values minima = both(saying(a), saying(b));
    cohort__check_values_describe(&minima, mine, text, sizeof(text));
    CHECK_TEXT(text, want);
}

TEST(describe)
{
    check_described((int)COHORT_DOUBLE, (int)COHORT_INT8, COHORT_DOUBLE,
                    "no agreement: the sites gave different types: from int8 to double, this site "
                    "double");
    check_described((int)COHORT_INT8, USERS, cohort_datatype_of_bytes(4),
                    "no agreement: user types can't be compared: from int8 to a user type, this "
                    "site user type");
    check_described(USERS, USERS, cohort_datatype_of_bytes(4),
                    "no agreement: user types can't be compared: from no predefined type to a user "
                    "type, this site user type");
    check_described(WRONG, (int)COHORT_INT8, COHORT_INT8,
                    "no agreement: the call of a site is wrong, as its own error says: from int8 "
                    "to a wrong call, this site int8");
}
