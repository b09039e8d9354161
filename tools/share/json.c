/* SPDX-License-Identifier: Apache-2.0 */
/* tools: writes JSON. */
#include "tools/share/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of the character of UTF-8 that TEXT begins with, 2 to 4. 0: it is none: too long for
 * what it stands for, half of a pair, above 0x10ffff, or cut. */
static size_t utf8_length(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = *text >= 0xf8   ? 0
                          : *text >= 0xf0 ? 4
                          : *text >= 0xe0 ? 3
                          : *text >= 0xc0 ? 2
                                          : 0;
    uint32_t character = length ? *text & (0x7fU >> length) : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (text[i] & 0x3fU);
    }
    const bool is_half = character >= 0xd800 && character < 0xe000;
    return character < least[length] || is_half || character > 0x10ffff ? 0 : length;
}

static void write_text(FILE *file, const char *text)
{
    size_t length;
    putc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c += length) {
        length = *c >= 0x80 ? utf8_length(c) : 1;
        if (length == 0)
            fputs("\\ufffd", file);
        else if (*c < 0x20 || *c == 0x7f)
            fprintf(file, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else
            fwrite(c, 1, length, file);
        length += length == 0;
    }
    putc('"', file);
}

static void begin_line(struct json *json)
{
    if (json->breaks)
        fprintf(json->file, "\n%*s", json->indent, "");
    json->breaks = false;
}

/* Writes what stands before a value. */
static void begin_value(struct json *json, const char *key)
{
    if (json->follows)
        fputs(json->breaks ? "," : ", ", json->file);
    begin_line(json);
    if (key) {
        write_text(json->file, key);
        fputs(": ", json->file);
    }
    json->follows = true;
}

void json_begin(struct json *json, const char *key, char bracket)
{
    begin_value(json, key);
    putc(bracket, json->file);
    json->follows = false;
}

void json_end(struct json *json, char bracket)
{
    begin_line(json);
    putc(bracket, json->file);
    json->follows = true;
}

void json_text(struct json *json, const char *key, const char *text)
{
    begin_value(json, key);
    write_text(json->file, text);
}

void json_count(struct json *json, const char *key, uint64_t count)
{
    begin_value(json, key);
    fprintf(json->file, "%" PRIu64, count);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", json->file);
}

void json_number(struct json *json, const char *key, double number)
{
    begin_value(json, key);
    fprintf(json->file, "%.17g", number);
}

void json_rounded(struct json *json, const char *key, double number, int digits)
{
    begin_value(json, key);
    fprintf(json->file, "%.*f", digits, number);
}

void json_break(struct json *json, int indent)
{
    json->breaks = true;
    json->indent = indent;
}
