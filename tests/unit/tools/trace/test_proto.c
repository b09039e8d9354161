/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/trace/proto.h"

#include <errno.h>
#include <string.h>

#include "tests/support/test.h"

static void check_bytes(struct proto *proto, const char *want, size_t bytes)
{
    CHECK_INT(proto->bytes, bytes);
    CHECK(memcmp(proto->data, want, bytes) == 0);
    proto_fini(proto);
}

/* As in the description of the format. */
TEST(numbers)
{
    struct proto proto = {0};
    proto_varint(&proto, 1, 150);
    proto_varint(&proto, 16, 0);
    proto_varint(&proto, 2, UINT64_MAX);
    proto_fixed64(&proto, 3, 0x0102030405060708);
    check_bytes(&proto,
                "\x08\x96\x01\x80\x01\x00\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x19\x08\x07"
                "\x06\x05\x04\x03\x02\x01",
                26);
}

/* What is not ASCII might be no UTF-8. */
TEST(texts)
{
    struct proto proto = {0};
    proto_text(&proto, 2, "a\xffz");
    proto_text(&proto, 2, "");
    check_bytes(&proto,
                "\x12\x03"
                "a?z\x12\x00",
                7);
}

TEST(messages)
{
    struct proto proto = {0};
    size_t outer = proto_begin(&proto, 1);
    size_t inner = proto_begin(&proto, 3);
    proto_varint(&proto, 1, 1);
    proto_end(&proto, inner);
    proto_end(&proto, outer);
    check_bytes(&proto, "\x0a\x87\x80\x80\x00\x1a\x82\x80\x80\x00\x08\x01", 12);
}

TEST(no_disk)
{
    struct proto proto = {.file = fopen("/dev/full", "w")};
    CHECK(proto.file);
    setvbuf(proto.file, NULL, _IONBF, 0);
    proto_varint(&proto, 1, 1);
    proto_flush(&proto);
    CHECK(proto.has_failed);
    CHECK_INT(proto.error, ENOSPC);
    fclose(proto.file);
    proto_fini(&proto);
}
