/* SPDX-License-Identifier: Apache-2.0 */
/* tools: whether one name may be another one, mistyped. */
#include "tools/share/likeness.h"

#include <ctype.h>
#include <string.h>

enum { MAX_BYTES = 255, MAX_LETTERS = 2 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The distance of Damerau and Levenshtein, where nothing is changed between letters that were
 * swapped. Three rows of its table are kept. */
unsigned likeness_distance(const char *left, const char *right, unsigned more)
{
    unsigned rows[3][MAX_BYTES + 1];
    const size_t num_left = strnlen(left, MAX_BYTES), num_right = strnlen(right, MAX_BYTES);
    for (size_t k = 0; k <= num_right; k++)
        rows[0][k] = (unsigned)k;
    for (size_t i = 1; i <= num_left; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= num_right; k++) {
            row[k] = least(least(above[k], row[k - 1]) + 1,
                           above[k - 1] + (left[i - 1] != right[k - 1]));
            if (i > 1 && k > 1 && left[i - 1] == right[k - 2] && left[i - 2] == right[k - 1])
                row[k] = least(row[k], before[k - 2] + 1);
        }
    }
    return least(rows[num_left % 3][num_right], more);
}

static const char *skip(const char *text, int (*is_skipped)(int letter))
{
    while (is_skipped((unsigned char)*text))
        text++;
    return text;
}

/* Whether they are the same but for what IS_SKIPPED and what FOLD makes the same. */
static bool is_same(const char *left, const char *right, int (*is_skipped)(int letter),
                    int (*fold)(int letter))
{
    for (;; left++, right++) {
        left = skip(left, is_skipped);
        right = skip(right, is_skipped);
        if (fold((unsigned char)*left) != fold((unsigned char)*right))
            return false;
        if (!*left)
            return true;
    }
}

static int keep(int letter)
{
    return letter;
}

bool likeness_is_close(const char *left, const char *right)
{
    if (strcmp(left, right) == 0 || is_same(left, right, isdigit, keep))
        return false;
    size_t shorter = strlen(left) < strlen(right) ? strlen(left) : strlen(right);
    unsigned distance = likeness_distance(left, right, MAX_LETTERS + 1);
    return is_same(left, right, isspace, tolower) ||
           (distance <= MAX_LETTERS && 3 * (size_t)distance < shorter);
}
