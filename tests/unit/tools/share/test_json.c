/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/share/json.h"

#include <stdlib.h>

#include "tests/support/test.h"

static char *said;
static size_t said_bytes;

static struct json start(void)
{
    struct json json = {.file = open_memstream(&said, &said_bytes)};
    CHECK(json.file);
    return json;
}

static void end(struct json *json, const char *wanted)
{
    CHECK_INT(fclose(json->file), 0);
    CHECK_TEXT(said, wanted);
    free(said);
}

TEST(values)
{
    struct json json = start();
    json_begin(&json, NULL, '{');
    json_text(&json, "text", "a");
    json_count(&json, "count", UINT64_MAX);
    json_bool(&json, "yes", true);
    json_bool(&json, "no", false);
    json_number(&json, "third", 1.0 / 3);
    json_number(&json, "large", 1e300);
    json_rounded(&json, "rounded", 0.126, 2);
    json_end(&json, '}');
    end(&json, "{\"text\": \"a\", \"count\": 18446744073709551615, \"yes\": true, \"no\": false, "
               "\"third\": 0.33333333333333331, \"large\": 1.0000000000000001e+300, "
               "\"rounded\": 0.13}");
}

/* UTF-8 stays as it is. What is none is replaced, byte by byte. */
TEST(texts)
{
    static const char *const texts[][2] = {
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xf4\x8f\xbf\xbf\xef\xbf\xbf\xed\x9f\xbf", "\xf4\x8f\xbf\xbf\xef\xbf\xbf\xed\x9f\xbf"},
        {"a\"\\\n\x1f\x7f", "a\\\"\\\\\\u000a\\u001f\\u007f"},
        {"\xe9t\xe9", "\\ufffdt\\ufffd"},                                /* latin 1 */
        {"\xc3", "\\ufffd"},                                             /* cut */
        {"\xf0\x9f\x98", "\\ufffd\\ufffd\\ufffd"},                       /* likewise */
        {"\xc0\x80\xe0\x9f\xbf", "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"}, /* too long */
        {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},                       /* half of a pair */
        {"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},            /* above 0x10ffff */
        {"\xf8\x80\xff", "\\ufffd\\ufffd\\ufffd"},
    };
    for (size_t i = 0; i < NUM_OF(texts); i++) {
        char wanted[64];
        struct json json = start();
        json_text(&json, NULL, texts[i][0]);
        snprintf(wanted, sizeof(wanted), "\"%s\"", texts[i][1]);
        end(&json, wanted);
    }
}

TEST(nested)
{
    struct json json = start();
    json_begin(&json, NULL, '[');
    json_begin(&json, NULL, '{');
    json_end(&json, '}');
    json_begin(&json, NULL, '{');
    json_begin(&json, "a", '[');
    json_end(&json, ']');
    json_begin(&json, "b", '[');
    json_count(&json, NULL, 1);
    json_count(&json, NULL, 2);
    json_end(&json, ']');
    json_count(&json, "c", 3);
    json_end(&json, '}');
    json_count(&json, NULL, 4);
    json_end(&json, ']');
    end(&json, "[{}, {\"a\": [], \"b\": [1, 2], \"c\": 3}, 4]");
}

TEST(lines)
{
    struct json json = start();
    json_begin(&json, NULL, '{');
    json_begin(&json, "a", '[');
    for (unsigned i = 0; i < 3; i++) {
        json_break(&json, i);
        json_count(&json, NULL, i);
    }
    json_break(&json, 0);
    json_end(&json, ']');
    json_break(&json, 0);
    json_count(&json, "b", 3);
    json_end(&json, '}');
    end(&json, "{\"a\": [\n0,\n 1,\n  2\n],\n\"b\": 3}");
}

TEST(escapes)
{
    struct json json = start();
    json_begin(&json, NULL, '{');
    json_text(&json, "a\"b", "\\ \n \x01 \xff /");
    json_end(&json, '}');
    end(&json, "{\"a\\\"b\": \"\\\\ \\u000a \\u0001 \\ufffd /\"}");
}
