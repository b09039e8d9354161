/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/share.h"

size_t share_begin(size_t whole, size_t num, size_t i)
{
    size_t larger = whole % num;
    return i * (whole / num) + (i < larger ? i : larger);
}

size_t share_size(size_t whole, size_t num, size_t i)
{
    return whole / num + (i < whole % num);
}

void share_counts(size_t whole, size_t num, size_t unit, size_t *ret_counts)
{
    for (size_t i = 0; i < num; i++)
        ret_counts[i] = unit * share_size(whole, num, i);
}
