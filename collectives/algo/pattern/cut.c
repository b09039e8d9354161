/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/cut.h"

size_t cohort__cut(size_t bytes, size_t element, uint32_t num_pieces, uint32_t piece)
{
    size_t unit = element > 0 ? element : 1;
    size_t num_elements = bytes / unit;
    size_t num_larger = num_elements % num_pieces;
    return (num_elements / num_pieces * piece + (piece < num_larger ? piece : num_larger)) * unit;
}

size_t cohort__cut_bytes(size_t bytes, size_t element, uint32_t num_pieces, uint32_t first,
                         uint32_t count)
{
    return cohort__cut(bytes, element, num_pieces, first + count) -
           cohort__cut(bytes, element, num_pieces, first);
}
