/* SPDX-License-Identifier: MIT */
/* The list by which other threads give objects back to a Relax machine, under weak memory order: while it runs and is closed. */
#include "tests/model/explore.h"

#include "lib/heap.h"

static void freed(void *memory);
#define heap_free(memory) freed(memory)
#include "runtime/relax/relax_pool.c"

#include "tests/unit/suite.h"

#define CHUNKS 2

static struct relax_pool pool;
static struct relax_vm machine;
static struct chunk chunks[CHUNKS];
static int idle[CHUNKS], gone[CHUNKS], pool_gone;

/* Stands for the end of memory: no other thread may still use it. */
static void freed(void *memory)
{
	if (memory == &pool) {
		explore_writes(&pool_gone);
		pool_gone++;
		return;
	}
	explore_writes(&gone[(struct chunk *)memory - chunks]);
	gone[(struct chunk *)memory - chunks]++;
}

static void begin(void)
{
	int i;

	memset(&pool, 0, sizeof(pool));
	pool.machine = 1;
	pool.taken = CHUNKS;
	machine.pool = &pool;
	relax_now = NULL;
	for (i = 0; i < CHUNKS; i++) {
		chunks[i] = (struct chunk){ .pool = &pool, .class = CELL_CLASS };
		idle[i] = gone[i] = 0;
	}
	pool_gone = 0;
}

/* The thread of the machine: it takes back what was returned, and may write to it. */
static void run_and_close(void)
{
	struct chunk *c;

	relax_now = &machine;
	collect(&pool);
	for (c = pool.idle[CELL_CLASS]; c; c = c->next) {
		explore_writes(&gone[c - chunks]);
		idle[c - chunks]++;
	}
	relax_pool_close(&pool);
	relax_now = NULL;
}

static void give_back(int i)
{
	explore_writes(&gone[i]);
	explore_reads(&pool_gone);
	chunk_free(&chunks[i] + 1);
}

static void give_first(void)
{
	give_back(0);
}

static void give_second(void)
{
	give_back(1);
}

static void end(void)
{
	int i;

	for (i = 0; i < CHUNKS; i++)
		if (gone[i] != 1 || idle[i] > 1)
			explore_fail("an object was lost, or is in the list twice");
	if (pool_gone != 1)
		explore_fail("the pool was not freed once");
}

static struct explore_model models[] = {
	{ 3, { run_and_close, give_first, give_second }, begin, end, 0, NULL, sizeof(relax_now) },
};

static void no_order_breaks_the_list(void **state)
{
	const char *broken = explore(&models[0], true);

	(void)state;
	print_message("# %llu orders\n", (unsigned long long)explore_orders);
	assert_null(broken);
}

static void each_order_that_is_taken_away_breaks_it(void **state)
{
	static const char *const survivors[] = {
		/* a thread that sees a closed list uses what never changes, and settle() orders the end */
		"chunk_free swap acquire",
		"relax_pool_close update release",
		NULL,
	};

	(void)state;
	assert_true(explore_each_half(models, 1, survivors));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_breaks_the_list),
		cmocka_unit_test(each_order_that_is_taken_away_breaks_it),
	};

	models[0].local = &relax_now;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
