/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/vector.h"

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

struct cohort__vector cohort__vector_of_blocks(const struct cohort__request *request,
                                               enum cohort__space space,
                                               const struct cohort__part *parts)
{
    return (struct cohort__vector){.space = space,
                                   .parts = parts,
                                   .bytes = request->num_sites * request->bytes,
                                   .element = request->bytes,
                                   .num_pieces = request->num_sites};
}

struct cohort__vector cohort__vector_of_cut(const struct cohort__request *request,
                                            enum cohort__space space)
{
    return (struct cohort__vector){.space = space,
                                   .bytes = request->bytes,
                                   .element = cohort__request_element(request),
                                   .num_pieces = request->num_sites};
}

static size_t offset_of(const struct cohort__vector *vector, uint32_t piece)
{
    return vector->parts ? vector->parts[piece].offset
                         : cohort__cut(vector->bytes, vector->element, vector->num_pieces, piece);
}

size_t cohort__vector_bytes(const struct cohort__vector *vector, uint32_t first, uint32_t count)
{
    return vector->parts ? vector->parts[first].bytes
                         : cohort__cut_bytes(vector->bytes, vector->element, vector->num_pieces,
                                             first, count);
}

uint32_t cohort__vector_block(struct cohort__plan_builder *builder,
                              const struct cohort__vector *vector, uint32_t first, uint32_t count)
{
    return cohort__plan_range(builder, vector->space, vector->start + offset_of(vector, first),
                              cohort__vector_bytes(vector, first, count));
}

struct cohort__vector cohort__vector_in_tmp(struct cohort__plan_builder *builder,
                                            const struct cohort__vector *vector, uint32_t first,
                                            uint32_t count)
{
    struct cohort__vector tmp = *vector;
    uint32_t block = cohort__plan_tmp(builder, cohort__vector_bytes(vector, first, count));
    tmp.space = COHORT__SPACE_TMP;
    tmp.start = cohort__plan_get_block(builder, block).offset - offset_of(vector, first);
    return tmp;
}
