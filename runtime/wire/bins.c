/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire/bins.h"

#include <stdbool.h>
#include <string.h>

/* The heads that msgpack has for arrays, maps and byte strings, and its numbers: a tag, and a
 * number of some width. Writing uses the shortest head, reading accepts any. */
enum {
    ARRAY_SHORT = 0x90, /* has the number in the low four bits */
    ARRAY_16 = 0xdc,
    ARRAY_32 = 0xdd,
    MAP_SHORT = 0x80, /* likewise */
    MAP_16 = 0xde,
    MAP_32 = 0xdf,
    BIN_8 = 0xc4,
    BIN_16 = 0xc5,
    BIN_32 = 0xc6,
    NUMBER_SHORT_MAX = 0x7f, /* is a tag itself */
    NUMBER_16 = 0xcd,
    NUMBER_32 = 0xce,
    NUMBER_64 = 0xcf,
};

/* Writing ------------------------------------------------------------------------------------- */

static unsigned char *put_number(unsigned char *to, uint64_t number, unsigned bytes)
{
    for (unsigned i = bytes; i > 0; i--)
        *to++ = (unsigned char)(number >> 8 * (i - 1));
    return to;
}

/* The head of an array or a map, whose tags are SHORT, TAG_16, and TAG_16 + 1. */
static unsigned char *put_count(unsigned char *to, uint32_t count, unsigned tag_short,
                                unsigned tag_16)
{
    if (count < 16) {
        *to++ = (unsigned char)(tag_short | count);
        return to;
    }
    *to++ = (unsigned char)(count <= UINT16_MAX ? tag_16 : tag_16 + 1);
    return put_number(to, count, count <= UINT16_MAX ? 2 : 4);
}

static unsigned char *put_array(unsigned char *to, uint32_t count)
{
    return put_count(to, count, ARRAY_SHORT, ARRAY_16);
}

static unsigned char *put_bin(unsigned char *to, const unsigned char *data, uint32_t bytes)
{
    unsigned width = bytes <= UINT8_MAX ? 1 : bytes <= UINT16_MAX ? 2 : 4;
    *to++ = width == 1 ? BIN_8 : width == 2 ? BIN_16 : BIN_32;
    to = put_number(to, bytes, width);
    if (bytes > 0)
        memcpy(to, data, bytes);
    return to + bytes;
}

size_t cohort__bins_head_bytes(uint32_t count)
{
    return count < 16 ? 1 : count <= UINT16_MAX ? 3 : 5;
}

/* The size of one `bin` with its head. BYTES is not above COHORT__BINS_PIECE_BYTES. */
static size_t bin_bytes(size_t bytes)
{
    return bytes + (bytes <= UINT8_MAX ? 2 : bytes <= UINT16_MAX ? 3 : 5);
}

static size_t num_pieces(size_t bytes)
{
    return bytes / COHORT__BINS_PIECE_BYTES + (bytes % COHORT__BINS_PIECE_BYTES != 0);
}

size_t cohort__bins_string_bytes(size_t bytes)
{
    if (bytes <= COHORT__BINS_PIECE_BYTES)
        return bin_bytes(bytes);
    size_t num = num_pieces(bytes);
    if (bytes > PTRDIFF_MAX / 2 || num > UINT32_MAX)
        return 0;
    size_t last = bytes - (num - 1) * COHORT__BINS_PIECE_BYTES;
    return cohort__bins_head_bytes((uint32_t)num) +
           (num - 1) * bin_bytes(COHORT__BINS_PIECE_BYTES) + bin_bytes(last);
}

unsigned char *cohort__bins_put_head(unsigned char *to, uint32_t count)
{
    return put_array(to, count);
}

unsigned char *cohort__bins_put_string(unsigned char *to, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    if (bytes > COHORT__BINS_PIECE_BYTES)
        to = put_array(to, (uint32_t)num_pieces(bytes));
    for (; bytes > COHORT__BINS_PIECE_BYTES; bytes -= COHORT__BINS_PIECE_BYTES) {
        to = put_bin(to, from, COHORT__BINS_PIECE_BYTES);
        from += COHORT__BINS_PIECE_BYTES;
    }
    return put_bin(to, from, (uint32_t)bytes);
}

size_t cohort__bins_run_bytes(uint32_t num)
{
    return num <= NUMBER_SHORT_MAX ? 1 : num <= UINT16_MAX ? 3 : 5;
}

unsigned char *cohort__bins_put_run(unsigned char *to, uint32_t num)
{
    if (num <= NUMBER_SHORT_MAX) {
        *to++ = (unsigned char)num;
        return to;
    }
    *to++ = num <= UINT16_MAX ? NUMBER_16 : NUMBER_32;
    return put_number(to, num, num <= UINT16_MAX ? 2 : 4);
}

unsigned char *cohort__bins_put_map(unsigned char *to, uint32_t count)
{
    return put_count(to, count, MAP_SHORT, MAP_16);
}

unsigned char *cohort__bins_put_name(unsigned char *to, uint64_t name)
{
    *to++ = NUMBER_64;
    return put_number(to, name, 8);
}

/* Reading ------------------------------------------------------------------------------------- */

/* Reads a tag and a number of WIDTH bytes after it. Returns false if there are too few bytes. */
static bool get_wide(struct cohort__bins *bins, unsigned width, uint64_t *ret_number)
{
    if (bins->left < 1 + (size_t)width)
        return false;
    *ret_number = 0;
    for (unsigned i = 1; i <= width; i++)
        *ret_number = *ret_number << 8 | bins->next[i];
    bins->next += 1 + width;
    bins->left -= 1 + width;
    return true;
}

/* The same for at most 4 bytes. */
static bool get_number(struct cohort__bins *bins, unsigned width, uint32_t *ret_number)
{
    uint64_t number = 0;
    bool is_there = get_wide(bins, width, &number);
    if (is_there)
        *ret_number = (uint32_t)number;
    return is_there;
}

/* See put_count. */
static bool get_count(struct cohort__bins *bins, unsigned tag_short, unsigned tag_16,
                      uint32_t *ret_count)
{
    unsigned tag = bins->left > 0 ? bins->next[0] : 0;
    if (tag == tag_16 || tag == tag_16 + 1)
        return get_number(bins, tag == tag_16 ? 2 : 4, ret_count);
    if ((tag & 0xf0) != tag_short)
        return false;
    bins->next++;
    bins->left--;
    *ret_count = tag & 0x0f;
    return true;
}

static bool get_array(struct cohort__bins *bins, uint32_t *ret_count)
{
    return get_count(bins, ARRAY_SHORT, ARRAY_16, ret_count);
}

/* Reads one piece. Returns false if it is no piece, or if there are too few bytes. */
static bool get_bin(struct cohort__bins *bins, const unsigned char **ret_data, uint32_t *ret_bytes)
{
    unsigned tag = bins->left > 0 ? bins->next[0] : 0;
    if (tag != BIN_8 && tag != BIN_16 && tag != BIN_32)
        return false;
    if (!get_number(bins, 1u << (tag - BIN_8), ret_bytes) || *ret_bytes > bins->left)
        return false;
    *ret_data = bins->next;
    bins->next += *ret_bytes;
    bins->left -= *ret_bytes;
    return true;
}

/* Reads one string. Counts its bytes, and copies them to TO if that is not NULL. */
static bool get_string(struct cohort__bins *bins, unsigned char *to, size_t *ret_bytes)
{
    uint32_t num = 1, bytes;
    size_t sum = 0;
    const unsigned char *data;
    bool in_pieces = bins->left > 0 && (bins->next[0] < BIN_8 || bins->next[0] > BIN_32);
    if (in_pieces && !get_array(bins, &num))
        return false;
    for (uint32_t i = 0; i < num; i++) {
        if (!get_bin(bins, &data, &bytes))
            return false;
        if (to && bytes > 0)
            memcpy(to + sum, data, bytes);
        sum += bytes;
    }
    *ret_bytes = sum;
    return true;
}

cohort_status cohort__bins_get_head(struct cohort__bins *bins, uint32_t *ret_count)
{
    size_t bytes = bins->left;
    uint32_t count;
    if (!get_array(bins, &count))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes that begin with no array", bytes);
    if (count > bins->left) /* each string takes at least one byte */
        return cohort_fail(COHORT_ERR_PROTOCOL, "%u objects in %zu bytes", count, bytes);
    *ret_count = count;
    return COHORT_OK;
}

uint32_t cohort__bins_get_run(struct cohort__bins *bins)
{
    unsigned tag = bins->left > 0 ? bins->next[0] : 0;
    uint32_t num = 0;
    if (tag == NUMBER_16 || tag == NUMBER_32) {
        (void)!get_number(bins, tag == NUMBER_16 ? 2 : 4, &num);
    } else if (tag <= NUMBER_SHORT_MAX && tag > 0) {
        num = tag;
        bins->next++;
        bins->left--;
    }
    return num;
}

cohort_status cohort__bins_get_length(const struct cohort__bins *bins, size_t *ret_bytes)
{
    struct cohort__bins ahead = *bins;
    if (!get_string(&ahead, NULL, ret_bytes))
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "an object that makes no sense, %zu bytes before "
                           "the end",
                           bins->left);
    return COHORT_OK;
}

void cohort__bins_get_string(struct cohort__bins *bins, void *to)
{
    size_t bytes;
    get_string(bins, to, &bytes);
}

cohort_status cohort__bins_get_map(struct cohort__bins *bins, uint32_t *ret_count)
{
    size_t bytes = bins->left;
    uint32_t count = 0;
    if (!get_count(bins, MAP_SHORT, MAP_16, &count))
        return cohort_fail(COHORT_ERR_PROTOCOL, "no map, %zu bytes before the end", bytes);
    if (count > bins->left / COHORT__BINS_NAME_BYTES)
        return cohort_fail(COHORT_ERR_PROTOCOL, "a map of %u objects in %zu bytes", count, bytes);
    *ret_count = count;
    return COHORT_OK;
}

cohort_status cohort__bins_get_name(struct cohort__bins *bins, uint64_t *ret_name)
{
    if (bins->left == 0 || bins->next[0] != NUMBER_64 || !get_wide(bins, 8, ret_name))
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "an object without a name, %zu bytes before the end", bins->left);
    return COHORT_OK;
}

cohort_status cohort__bins_get_end(const struct cohort__bins *bins)
{
    return bins->left == 0
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes behind the last object", bins->left);
}
