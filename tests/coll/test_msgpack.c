/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cohort/collectives.h"
#include "cohort/msgpack.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* How a program does an all_to_all of structured values: each value is packed, sent as an object,
 * and unpacked. Here site i gives site j the value [i, j, "word", ...] with i + j words. */

enum { MAX_WORDS = 64 };

static cohort_status pack(uint32_t from, uint32_t to, cohort_object *ret_object)
{
    msgpack_object elements[MAX_WORDS + 2];
    uint32_t num = from + to + 2;
    for (uint32_t i = 0; i < num; i++) {
        elements[i].type = i < 2 ? MSGPACK_OBJECT_POSITIVE_INTEGER : MSGPACK_OBJECT_STR;
        if (i < 2)
            elements[i].via.u64 = i == 0 ? from : to;
        else
            elements[i].via.str = (msgpack_object_str){4, "word"};
    }
    msgpack_object value = {.type = MSGPACK_OBJECT_ARRAY, .via.array = {num, elements}};
    return cohort_object_pack(&value, ret_object);
}

static void check(const cohort_object *object, uint32_t from, uint32_t to)
{
    msgpack_unpacked unpacked = {0};
    CHECK_OK(cohort_object_unpack(object, &unpacked));
    CHECK_INT(unpacked.data.type, MSGPACK_OBJECT_ARRAY);
    const msgpack_object_array *array = &unpacked.data.via.array;
    CHECK_INT(array->size, from + to + 2);
    CHECK_INT((long long)array->ptr[0].via.u64, from);
    CHECK_INT((long long)array->ptr[1].via.u64, to);
    for (uint32_t i = 2; i < array->size; i++)
        CHECK(array->ptr[i].via.str.size == 4 && memcmp(array->ptr[i].via.str.ptr, "word", 4) == 0);
    msgpack_unpacked_destroy(&unpacked);
}

static cohort_status exchange(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm), num = cohort_comm_num_sites(comm);
    cohort_object *in = calloc(num, sizeof(*in)), *out = calloc(num, sizeof(*out));
    cohort_status status = in && out ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    for (uint32_t to = 0; !status && to < num; to++)
        status = pack(me, to, &in[to]);
    if (!status)
        status = cohort_await(cohort_all_to_all_objects(comm, in, out, 1));
    for (uint32_t from = 0; !status && from < num; from++)
        check(&out[from], from, me);
    cohort_objects_fini(in, num);
    cohort_objects_fini(out, num);
    free(in);
    free(out);
    return status;
}

TEST(all_to_all)
{
    struct cluster *cluster = cluster_create(1, 3, 0);
    CHECK_OK(cluster_sites(cluster, (struct sites){
                                        .name = "msgpack",
                                        .options = {.num_sites = 20, .arity = 3},
                                        .run = exchange,
                                    }));
    cluster_destroy(cluster);
}

TEST(errors)
{
    unsigned char bytes[] = {0x93, 1, 2};
    msgpack_unpacked value = {0};
    msgpack_object nothing = {.type = MSGPACK_OBJECT_NIL};
    cohort_object object = {0};
    CHECK_INT(cohort_object_pack(NULL, &object), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_object_pack(&nothing, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_object_unpack(NULL, &value), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_object_unpack(&(cohort_object){NULL, 0}, &value), COHORT_ERR_PROTOCOL);
    CHECK_FAILS(cohort_object_unpack(&(cohort_object){bytes, 3}, &value), COHORT_ERR_PROTOCOL,
                "3 bytes are no value: it is cut off");
    bytes[0] = 0x91;
    CHECK_FAILS(cohort_object_unpack(&(cohort_object){bytes, 3}, &value), COHORT_ERR_PROTOCOL,
                "1 bytes behind the value");
    bytes[0] = 0xc1;
    CHECK_INT(cohort_object_unpack(&(cohort_object){bytes, 1}, &value), COHORT_ERR_PROTOCOL);
    CHECK_OK(cohort_object_pack(&nothing, &object));
    CHECK_OK(cohort_object_unpack(&object, &value));
    CHECK_INT(value.data.type, MSGPACK_OBJECT_NIL);
    msgpack_unpacked_destroy(&value);
    cohort_object_fini(&object);
}

/* What is packed can be unpacked: one limit, told when packing. */
TEST(depth)
{
    enum { MOST = COHORT_OBJECT_MAX_DEPTH };
    for (int is_map = 0; is_map < 2; is_map++) {
        msgpack_object values[MOST + 2] = {{.type = MSGPACK_OBJECT_NIL}};
        msgpack_object_kv pairs[MOST + 2];
        for (int i = 1; i < MOST + 2; i++) {
            pairs[i] =
                (msgpack_object_kv){.key = {.type = MSGPACK_OBJECT_NIL}, .val = values[i - 1]};
            values[i].type = is_map ? MSGPACK_OBJECT_MAP : MSGPACK_OBJECT_ARRAY;
            if (is_map)
                values[i].via.map = (msgpack_object_map){1, &pairs[i]};
            else
                values[i].via.array = (msgpack_object_array){1, &values[i - 1]};
        }
        cohort_object object = {0};
        msgpack_unpacked back = {0};
        CHECK_FAILS(cohort_object_pack(&values[MOST + 1], &object), COHORT_ERR_BAD_PARAMETER,
                    "nested more than 32 deep");
        CHECK_OK(cohort_object_pack(&values[MOST], &object));
        CHECK_OK(cohort_object_unpack(&object, &back));
        msgpack_unpacked_destroy(&back);
        cohort_object_fini(&object);
    }
    unsigned char deep[MOST + 2];
    msgpack_unpacked back = {0};
    memset(deep, 0x91, sizeof(deep));
    deep[MOST + 1] = 0xc0;
    CHECK_FAILS(cohort_object_unpack(&(cohort_object){deep, sizeof(deep)}, &back),
                COHORT_ERR_PROTOCOL, "nested too deeply");
    CHECK_OK(cohort_object_unpack(&(cohort_object){deep + 1, MOST + 1}, &back));
    msgpack_unpacked_destroy(&back);
}

/* What a head claims has to be there before there is memory for it; 2^32 - 1 elements would take
 * 96 GiB. Extensions pass. */
TEST(claims)
{
    static unsigned char claims[][8] = {
        {0xdd, 0xff, 0xff, 0xff, 0xff, 0xc0},
        {0xdf, 0xff, 0xff, 0xff, 0xff, 0xc0},
        {0xdc, 0xff, 0xff, 0xc0},
        {0xdb, 0xff, 0xff, 0xff, 0xff, 0xc0},
        {0xc9, 0xff, 0xff, 0xff, 0xff, 5},
        {0xd8, 1, 2},
    };
    static unsigned char extensions[][8] = {{0xd4, 5, 1}, {0xc7, 1, 5, 9}, {0x91, 0xc7, 0, 5}};
    static const size_t sizes[] = {3, 4, 4};
    msgpack_unpacked back = {0};
    for (size_t i = 0; i < NUM_OF(claims); i++) {
        CHECK_FAILS(cohort_object_unpack(&(cohort_object){claims[i], 8}, &back),
                    COHORT_ERR_PROTOCOL, "is cut off");
    }
    for (size_t i = 0; i < NUM_OF(sizes); i++) {
        CHECK_OK(cohort_object_unpack(&(cohort_object){extensions[i], sizes[i]}, &back));
        msgpack_unpacked_destroy(&back);
    }
}
