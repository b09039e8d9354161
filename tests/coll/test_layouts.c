/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cohort/collectives.h"
#include "cohort/ragged.h"
#include "cohort/task.h"
#include "runtime/base/hash.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Exchanges with layouts: who sends how many elements to whom is drawn, and at each end how they
 * lie. A plain list of their places says what should be in each byte of the array afterwards. */

enum { SITES_MAX = 6, EDGES = 2, CELLS = 60000, BLOCKS_MAX = SITES_MAX * EDGES };

/* A block of this site: element i is in cell cells[i]. */
struct block {
    uint32_t site;
    uint64_t name;
    size_t num;
    size_t *cells;
    cohort_layout_neighbour given;
};

struct side {
    struct block blocks[BLOCKS_MAX];
    cohort_layout_neighbour given[BLOCKS_MAX];
    cohort_neighbour plain[BLOCKS_MAX];
    size_t num;
};

struct exchange {
    struct cohort__random random;
    size_t element;
    cohort_datatype datatype;
    bool is_plain; /* this site's elements lie one behind the other: cohort_exchange */
    bool is_one_array;
    size_t next_cell; /* from here on they are free */
    struct side to, from;
};

static const size_t elements[] = {1, 4, 8, 3, 16, 12};

static uint64_t name_of(uint64_t key, uint32_t from, uint32_t to, uint32_t edge)
{
    return cohort__hash_u64(cohort__hash_mix(cohort__hash_mix(key, from * 64 + to), edge));
}

/* Mostly few, sometimes none or no block at all (SIZE_MAX), now and then more than a page. */
static size_t count_of(uint64_t name)
{
    if (name % 3 == 0)
        return SIZE_MAX;
    return (name >> 8) % (name % 11 == 1 ? 1500 : name % 11 == 2 ? 1 : 30);
}

static unsigned char content(uint64_t name, size_t place)
{
    return (unsigned char)(cohort__hash_u64(name + place / 8) >> (place % 8 * 8));
}

static uint64_t below(struct exchange *self, uint64_t end)
{
    return cohort__random_below(&self->random, end);
}

/* So many cells in runs of a length, in a random order of runs. */
static void lay_list(struct exchange *self, struct block *block)
{
    cohort_layout_block *runs = calloc(block->num + 1, sizeof(*runs));
    size_t length = 1 + below(self, 4), num = 0, left = block->num, i = 0;
    CHECK(runs);
    for (; left > 0; num++) {
        runs[num].count = left < length ? left : length;
        left -= runs[num].count;
    }
    size_t next = 0;
    for (size_t k = 0; k < num; k++) {
        size_t other = below(self, k + 1);
        runs[k].offset = runs[other].offset;
        runs[other].offset = k;
    }
    for (size_t k = 0; k < num; k++) {
        runs[k].offset = runs[k].offset * (length + 1);
        next = runs[k].offset > next ? runs[k].offset : next;
        for (size_t e = 0; e < runs[k].count; e++)
            block->cells[i++] = self->next_cell + runs[k].offset + e;
    }
    CHECK_OK(cohort_layout_create_blocks((cohort_layout **)&block->given.layout, runs, num));
    block->given.offset = self->next_cell;
    self->next_cell += next + length;
    free(runs);
}

/* Vectors in vectors. */
static void lay_vectors(struct exchange *self, struct block *block)
{
    size_t inner = 1 + below(self, 5), outer = block->num / inner, stride = 2 + below(self, 3);
    size_t far = inner * stride + 2 * below(self, 3) * stride, i = 0;
    if (outer * inner != block->num)
        inner = 1, outer = block->num, far = stride;
    cohort_layout *row;
    CHECK_OK(cohort_layout_create_vector(&row, inner, 1, stride));
    CHECK_OK(cohort_layout_create_repeat((cohort_layout **)&block->given.layout, outer, far, row));
    cohort_layout_unref(row);
    for (size_t k = 0; k < outer; k++)
        for (size_t e = 0; e < inner; e++)
            block->cells[i++] = self->next_cell + k * far + e * stride;
    block->given.offset = self->next_cell;
    self->next_cell += cohort_layout_span(block->given.layout);
}

static void lay_row(struct exchange *self, struct block *block)
{
    size_t first = below(self, 4);
    const cohort_layout_block run = {first, block->num};
    CHECK_OK(cohort_layout_create_blocks((cohort_layout **)&block->given.layout, &run, 1));
    for (size_t i = 0; i < block->num; i++)
        block->cells[i] = self->next_cell + first + i;
    block->given.offset = self->next_cell;
    self->next_cell += first + block->num;
}

static void lay_out(struct exchange *self, struct side *side, uint32_t site, uint64_t name)
{
    size_t num = count_of(name);
    if (num == SIZE_MAX)
        return;
    struct block *block = &side->blocks[side->num];
    *block = (struct block){.site = site, .name = name, .num = num};
    block->cells = test_calloc(num + 1, sizeof(*block->cells));
    switch (self->is_plain ? 0 : below(self, 3)) {
    case 0:
        lay_row(self, block);
        break;
    case 1:
        lay_list(self, block);
        break;
    default:
        lay_vectors(self, block);
    }
    block->given.site = site;
    side->given[side->num] = block->given;
    side->plain[side->num++] =
        (cohort_neighbour){.site = site, .offset = num > 0 ? block->cells[0] : 12345, .count = num};
    CHECK(self->next_cell <= CELLS);
}

static void release(struct side *side, bool all)
{
    for (size_t i = 0; i < side->num; i++) {
        cohort_layout_unref((cohort_layout *)side->blocks[i].given.layout);
        side->blocks[i].given.layout = NULL;
        if (all)
            free(side->blocks[i].cells);
    }
}

static void put(const struct exchange *self, unsigned char *array, const struct block *block)
{
    for (size_t i = 0; i < block->num; i++)
        for (size_t b = 0; b < self->element; b++)
            array[block->cells[i] * self->element + b] =
                content(block->name, i * self->element + b);
}

static cohort_future *begin(const struct exchange *self, cohort_comm *comm, const void *in,
                            void *out, uint64_t generation)
{
    const struct side *to = &self->to, *from = &self->from;
    return self->is_plain ? cohort_exchange(comm, in, to->plain, to->num, out, from->plain,
                                            from->num, self->datatype, generation)
                          : cohort_exchange_layouts(comm, in, to->given, to->num, out, from->given,
                                                    from->num, self->datatype, generation);
}

static void play(cohort_comm *comm, uint64_t key, uint64_t *generation)
{
    static const unsigned char background = 0x5a;
    uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    struct exchange self = {.element = elements[key % 6]};
    self.random = cohort__random_seeded(cohort__hash_mix(key, me));
    self.datatype = cohort_datatype_of_bytes(self.element);
    self.is_plain = below(&self, 4) == 0;
    self.is_one_array = below(&self, 2);
    for (uint32_t site = 0; site < num_sites; site++)
        for (uint32_t edge = 0; edge < EDGES; edge++)
            lay_out(&self, &self.to, site, name_of(key, me, site, edge));
    if (!self.is_one_array)
        self.next_cell = 0;
    for (uint32_t site = 0; site < num_sites; site++)
        for (uint32_t edge = 0; edge < EDGES; edge++)
            lay_out(&self, &self.from, site, name_of(key, site, me, edge));

    size_t bytes = CELLS * self.element;
    unsigned char *out = malloc(bytes), *want = malloc(bytes);
    unsigned char *in = self.is_one_array ? out : malloc(bytes);
    CHECK(in && out && want);
    for (int round = 0; round < 2; round++) {
        memset(in, background, bytes);
        memset(out, background, bytes);
        for (size_t i = 0; i < self.to.num; i++)
            put(&self, in, &self.to.blocks[i]);
        memcpy(want, out, bytes);
        for (size_t i = 0; i < self.from.num; i++)
            put(&self, want, &self.from.blocks[i]);
        cohort_future *future = begin(&self, comm, in, out, ++*generation);
        if (round == 1) {
            release(&self.to, false);
            release(&self.from, false);
        }
        if (cohort_await(future))
            FAIL("key %llu: %s", (unsigned long long)key, cohort_error_message());
        if (memcmp(out, want, bytes) != 0)
            FAIL("key %llu, site %u of %u: wrong elements", (unsigned long long)key, me, num_sites);
    }
    release(&self.to, true);
    release(&self.from, true);
    if (!self.is_one_array)
        free(in);
    free(out);
    free(want);
}

static cohort_status random_site(cohort_comm *comm, void *arg)
{
    uint64_t generation = 0;
    for (uint64_t round = 0; round < 6; round++)
        play(comm, 100 * cohort_comm_num_sites(comm) + round, &generation);
    return COHORT_OK;
}

static void run(uint64_t seed, uint32_t num_localities, uint32_t num_sites, size_t budget,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    cluster_run(
        seed, num_localities, budget,
        (struct sites){.name = "layouts", .options = {.num_sites = num_sites}, .run = site});
}

TEST(random)
{
    for (uint32_t num_sites = 1; num_sites <= SITES_MAX; num_sites++) {
        run(num_sites, 1, num_sites, 0, random_site);
        run(num_sites, num_sites, num_sites, 0, random_site);
        run(num_sites, 1 + num_sites / 2, num_sites, 2000, random_site);
    }
}

/* The faces of two boxes lie in each other's gaps: a column next to a column. */
static cohort_status columns(cohort_comm *comm, void *arg)
{
    enum { ROWS = 5, COLUMNS = 6 };
    uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    uint32_t left = (me + num_sites - 1) % num_sites, right = (me + 1) % num_sites;
    double cells[ROWS][COLUMNS];
    cohort_layout *column;
    CHECK_OK(cohort_layout_create_vector(&column, ROWS, 1, COLUMNS));
    for (int row = 0; row < ROWS; row++)
        for (int place = 0; place < COLUMNS; place++)
            cells[row][place] = me * 1000 + row * 10 + place;
    const cohort_layout_neighbour to[] = {{left, 1, column}, {right, COLUMNS - 2, column}};
    const cohort_layout_neighbour from[] = {{right, COLUMNS - 1, column}, {left, 0, column}};
    CHECK_OK(cohort_await(
        cohort_exchange_layouts(comm, cells, to, 2, cells, from, 2, COHORT_DOUBLE, 1)));
    for (int row = 0; row < ROWS; row++) {
        CHECK_INT((int)cells[row][0], (int)left * 1000 + row * 10 + COLUMNS - 2);
        CHECK_INT((int)cells[row][COLUMNS - 1], (int)right * 1000 + row * 10 + 1);
        for (int place = 1; place < COLUMNS - 1; place++)
            CHECK_INT((int)cells[row][place], (int)me * 1000 + row * 10 + place);
    }
    cohort_layout_unref(column);
    return COHORT_OK;
}

TEST(columns)
{
    for (uint32_t num_sites = 1; num_sites <= 4; num_sites++)
        run(1, num_sites, num_sites, 0, columns);
}

/* Two layouts with as many elements in the same span are two shapes. */
static cohort_status alike(cohort_comm *comm, void *arg)
{
    const uint32_t me = cohort_comm_this_site(comm);
    const uint32_t other = (me + 1) % cohort_comm_num_sites(comm);
    static const cohort_layout_block places[2][3] = {{{0, 1}, {2, 1}, {5, 1}},
                                                     {{5, 1}, {3, 1}, {0, 1}}};
    cohort_layout *layouts[2];
    for (int i = 0; i < 2; i++)
        CHECK_OK(cohort_layout_create_blocks(&layouts[i], places[i], 3));
    for (uint64_t round = 0; round < 4; round++) {
        int32_t cells[12] = {0, 1, 2, 3, 4, 5};
        const cohort_layout_neighbour to = {other, 0, layouts[round % 2]};
        const cohort_layout_neighbour from = {other, 6, layouts[round / 2]};
        CHECK_OK(cohort_await(cohort_exchange_layouts(comm, cells, &to, 1, cells, &from, 1,
                                                      COHORT_INT32, round + 1)));
        for (int i = 0; i < 3; i++)
            CHECK_INT(cells[6 + places[round / 2][i].offset],
                      (long long)places[round % 2][i].offset);
    }
    cohort_layout_unref(layouts[0]);
    cohort_layout_unref(layouts[1]);
    return COHORT_OK;
}

TEST(alike)
{
    run(1, 1, 1, 0, alike);
    run(1, 1, 2, 0, alike);
    run(1, 2, 2, 0, alike);
}

/* Site 1 is wrong: it is told WHY. The others have nothing to do with it, or are told as well. */
static void check_wrong(cohort_comm *comm, uint64_t generation, void *in,
                        const cohort_layout_neighbour *to, size_t num_to, void *out,
                        const cohort_layout_neighbour *from, size_t num_from, const char *why)
{
    if (cohort_comm_this_site(comm) != 1)
        return;
    CHECK_FAILS(cohort_await(cohort_exchange_layouts(comm, in, to, num_to, out, from, num_from,
                                                     COHORT_INT32, generation)),
                COHORT_ERR_BAD_PARAMETER, "site 1, cohort_exchange_layouts: ");
    CHECK_CONTAINS(cohort_error_message(), why);
}

static cohort_status wrong(cohort_comm *comm, void *arg)
{
    int32_t a[64] = {0}, b[64];
    cohort_layout *twice, *steps, *pair, *none;
    const size_t far = SIZE_MAX / 8;
    CHECK_OK(cohort_layout_create_vector(&twice, 2, 1, 0));
    CHECK_OK(cohort_layout_create_vector(&steps, 4, 1, 3));
    CHECK_OK(cohort_layout_create_vector(&pair, 2, 1, 2));
    CHECK_OK(cohort_layout_create_vector(&none, 0, 1, 2));
    const cohort_layout_neighbour no_layout[] = {{1, 0, steps}, {1, 5, NULL}};
    const cohort_layout_neighbour no_site[] = {{2, 0, steps}};
    const cohort_layout_neighbour beyond[] = {{1, far * 4, pair}};
    const cohort_layout_neighbour just_beyond[] = {{1, far, pair}};
    const cohort_layout_neighbour same[] = {{0, 1, twice}};
    const cohort_layout_neighbour apart[] = {{1, 0, steps}, {1, 1, steps}};
    const cohort_layout_neighbour crossing[] = {{0, 0, steps}, {0, 4, pair}};
    const cohort_layout_neighbour four[] = {{1, 20, steps}}, two[] = {{1, 0, pair}};
    const cohort_layout_neighbour into[] = {{1, 29, steps}};
    const cohort_layout_neighbour empty[] = {{1, far * 7, none}};
    check_wrong(comm, 1, a, no_layout, 2, b, NULL, 0, "to[1] (site 1): no layout");
    check_wrong(comm, 2, a, NULL, 0, b, no_layout, 2, "from[1] (site 1): no layout");
    check_wrong(comm, 3, a, no_site, 1, b, NULL, 0,
                "to[0]: site 2 is out of range: num_sites is 2");
    check_wrong(comm, 4, a, beyond, 1, b, NULL, 0, "to, block 0 (site 1): 2 elements of 4 bytes");
    check_wrong(comm, 5, a, just_beyond, 1, b, NULL, 0, "end beyond memory");
    check_wrong(comm, 6, a, NULL, 1, b, NULL, 0, "to: no array");
    check_wrong(comm, 7, NULL, four, 1, b, NULL, 0, "no buffer for to");
    check_wrong(comm, 8, a, NULL, 0, NULL, four, 1, "no buffer for from");
    check_wrong(comm, 9, a, NULL, 0, b, same, 1,
                "from site 0 (bytes 4 to 8) and site 0 (4 to 8) overlap");
    check_wrong(comm, 10, a, NULL, 0, b, crossing, 2, "overlap");
    check_wrong(comm, 11, a, two, 1, b, four, 1, "is not what it receives");
    if (cohort_comm_this_site(comm) == 1) {
        /* The same shape is right with two arrays, and wrong with one. */
        CHECK_OK(
            cohort_await(cohort_exchange_layouts(comm, a, four, 1, b, into, 1, COHORT_INT32, 12)));
        check_wrong(comm, 13, a, four, 1, a, into, 1,
                    "OUT from site 1 (bytes 116 to 120) and of IN for site 1 (116 to 120) overlap");
        const cohort_layout_block four_cells = {0, 4};
        cohort_layout *row;
        CHECK_OK(cohort_layout_create_blocks(&row, &four_cells, 1));
        check_wrong(comm, 14, a, (cohort_layout_neighbour[]){{1, 28, row}}, 1, a, into, 1,
                    "IN for site 1 (bytes 112 to 128) and of OUT from site 1 (116 to 120) overlap");
        cohort_layout_unref(row);
        /* The same two shapes in one array, by other addresses of it, with the plans of before. */
        CHECK_OK(cohort_await(
            cohort_exchange_layouts(comm, a + 1, four, 1, a, into, 1, COHORT_INT32, 15)));
        check_wrong(comm, 16, a + 9, four, 1, a, into, 1,
                    "OUT from site 1 (bytes 116 to 120) and of IN for site 1 (80 to 84) overlap");
        /* What is sent may overlap. */
        CHECK_OK(cohort_await(cohort_exchange_layouts(
            comm, a, (cohort_layout_neighbour[]){{1, 0, steps}, {1, 3, steps}}, 2, b, apart, 2,
            COHORT_INT32, 17)));
        CHECK_OK(cohort_await(
            cohort_exchange_layouts(comm, a, empty, 1, a, empty, 1, COHORT_INT32, 18)));
    }
    /* The number of elements differs. */
    const bool is_first = cohort_comm_this_site(comm) == 0;
    const cohort_layout_neighbour to_1[] = {{1, 0, steps}}, from_0[] = {{0, 0, pair}};
    cohort_status status = cohort_await(
        cohort_exchange_layouts(comm, a, is_first ? to_1 : NULL, is_first, b,
                                is_first ? NULL : from_0, !is_first, COHORT_INT32, 19));
    CHECK(is_first || status == COHORT_ERR_MISMATCH);
    if (!is_first)
        CHECK_CONTAINS(cohort_error_message(), "site 0 sent 16 bytes where 8 were expected");
    CHECK_INT(cohort_await(cohort_exchange_layouts(NULL, a, NULL, 0, b, NULL, 0, COHORT_INT32, 20)),
              COHORT_ERR_BAD_PARAMETER);
    cohort_layout_unref(twice);
    cohort_layout_unref(steps);
    cohort_layout_unref(pair);
    cohort_layout_unref(none);
    return COHORT_OK;
}

TEST(wrong)
{
    run(1, 1, 2, 0, wrong);
    run(1, 2, 2, 0, wrong);
}
