/* SPDX-License-Identifier: MIT */
/* Sequences with sliding windows that are forked and popped, beside plain lists. */
#include "tests/unit/kv_reference.h"

static bool apart[IDS]; /* no fork shares its tokens */

/* A fork of what a window keeps for good; of the rest nobody can tell which tokens will be there. */
static void fork_within_the_sink(struct kv_cache *c)
{
	int from = (int)pick(IDS), to = (int)pick(IDS), err;
	int64_t at;

	if (!lists[from].used || lists[to].used)
		return;
	at = pick((uint32_t)lists[from].sink + 3);
	if (at > lists[from].length)
		at = lists[from].length;
	err = kv_cache_fork(c, id_of(from), id_of(to), at);
	if (err) {
		assert_true(err == -TENON_E_VALUE || err == -TENON_E_OVERFLOW);
		tenon_error_clear();
		return;
	}
	lists[to] = lists[from];
	lists[to].length = at;
	lists[to].window = lists[to].sink = 0;
	apart[from] = apart[to] = false;
}

static void pop_some(struct kv_cache *c)
{
	int i = (int)pick(IDS);
	int64_t n;

	if (!lists[i].used || !apart[i])
		return;
	n = pick((uint32_t)lists[i].length + 1);
	assert_int_equal(kv_cache_pop(c, id_of(i), n), 0);
	lists[i].length -= n;
}

static void add_with_window(struct kv_cache *c)
{
	int i = (int)pick(IDS);
	int64_t window = 8 + pick(16), sink = pick(8);

	if (lists[i].used)
		return;
	assert_int_equal(kv_cache_add(c, id_of(i)), 0);
	assert_int_equal(kv_cache_set_window(c, id_of(i), window, sink), 0);
	lists[i] = (struct list){ .used = true, .window = window, .sink = sink };
	apart[i] = true;
}

/* A step of some sequences; one that is refused changes nothing. */
static void step(struct kv_cache *c)
{
	struct step s = random_step(false);
	int64_t pages = kv_cache_free_pages(c);
	int m, err;

	if (!s.count)
		return;
	err = kv_cache_begin(c, s.ids, s.lengths, (size_t)s.count, NULL, 0);
	if (err) {
		assert_true(err == -TENON_E_VALUE || err == -TENON_E_OVERFLOW);
		assert_int_equal(kv_cache_free_pages(c), pages);
		assert_int_equal(kv_cache_total_length(c), total_length());
		tenon_error_clear();
		remove_one(c, s.member[0]);
		return;
	}
	attend(c, &s);
	for (m = 0; m < s.count; m++) {
		lists[s.member[m]].length += s.lengths[m];
		slide(&lists[s.member[m]]);
	}
}

static void random_histories_equal_plain_lists(void **unused)
{
	struct kv_config f;
	struct kv_cache *c;
	int64_t pages;
	int i, history;

	(void)unused;
	for (history = 0; history < 30; history++) {
		kv_begin_history((uint64_t)history * 53 + 3);
		f = kv_config_of(LAYERS, 6 * 32, CHUNK);
		f.window = true;
		c = new_cache(&f);
		pages = kv_cache_free_pages(c);
		for (i = 0; i < 150; i++) {
			switch (pick(8)) {
			case 0:
				add_with_window(c);
				break;
			case 1:
				fork_within_the_sink(c);
				break;
			case 2:
				pop_some(c);
				break;
			case 3:
				if (!pick(3))
					remove_one(c, (int)pick(IDS));
				tenon_error_clear();
				break;
			default:
				step(c);
			}
			assert_int_equal(kv_cache_total_length(c), total_length());
		}
		end(c, pages);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories_equal_plain_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
