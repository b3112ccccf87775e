/* SPDX-License-Identifier: MIT */
/* Forms of steps: those with the same number give the kernels of a cache the same arguments. */
#include "tests/unit/kv_reference.h"

#define LONG (3 * 64 * PAGE)

static struct kv_cache *cache_with(int sequences)
{
	struct kv_config f = kv_config_of(LAYERS, LONG, CHUNK);
	struct kv_cache *c = new_cache(&f);
	int i;

	for (i = 0; i < sequences; i++)
		assert_int_equal(kv_cache_add(c, i), 0);
	return c;
}

/* A step that appends so many tokens to each of the first sequences. */
static void step(struct kv_cache *c, int64_t tokens, size_t sequences)
{
	const int64_t ids[] = { 0, 1 }, lengths[] = { tokens, tokens };

	if (kv_cache_begin(c, ids, lengths, sequences, NULL, 0))
		fail_msg("%s", tenon_error_message());
}

static uint64_t form_of(struct kv_cache *c)
{
	struct kv_step s;

	assert_int_equal(kv_cache_step(c, &s), 0);
	return s.form;
}

static uint64_t form_after(struct kv_cache *c, int64_t tokens, size_t sequences)
{
	step(c, tokens, sequences);
	return form_of(c);
}

static void steps_of_one_token_keep_their_form_while_the_list_of_pages_has_room(void **state)
{
	struct kv_cache *c = cache_with(1);
	uint64_t first = form_after(c, 1, 1), next;
	int i;

	(void)state;
	assert_int_not_equal(first, 0);
	for (i = 1; i < 64 * PAGE; i++)
		assert_int_equal(form_after(c, 1, 1), first);
	next = form_after(c, 1, 1);
	assert_int_not_equal(next, 0);
	assert_int_not_equal(next, first);
	assert_int_equal(form_after(c, 1, 1), next);
	tenon_object_unref(c);
}

static void a_prompt_has_no_form_and_ends_none(void **state)
{
	struct kv_cache *c = cache_with(1);
	uint64_t first;

	(void)state;
	assert_int_equal(form_after(c, CHUNK, 1), 0);
	first = form_after(c, 1, 1);
	assert_int_not_equal(first, 0);
	assert_int_equal(form_after(c, CHUNK, 1), 0);
	assert_int_equal(form_after(c, 1, 1), first);
	tenon_object_unref(c);
}

static void numbers_of_sequences_and_caches_have_forms_of_their_own(void **state)
{
	struct kv_cache *c = cache_with(2), *other = cache_with(2);
	uint64_t one = form_after(c, 1, 1), two = form_after(c, 1, 2);

	(void)state;
	assert_int_not_equal(two, 0);
	assert_int_not_equal(one, two);
	assert_int_not_equal(form_after(other, 1, 2), two);
	tenon_object_unref(c);
	tenon_object_unref(other);
}

static void a_step_whose_sequence_is_gone_has_no_form(void **state)
{
	struct kv_cache *c = cache_with(1);

	(void)state;
	assert_int_equal(form_of(c), 0);
	step(c, 1, 1);
	assert_int_equal(kv_cache_remove(c, 0), 0);
	assert_int_equal(form_of(c), 0);
	tenon_object_unref(c);
}

/* A fork copies the last page, which a recording wrote. */
static void layers_that_a_recording_wrote_can_be_forked(void **state)
{
	struct kv_cache *c = cache_with(1);
	struct kv_step s;

	(void)state;
	step(c, 1, 1);
	assert_int_equal(kv_cache_step(c, &s), 0);
	assert_int_equal(s.unwritten, LAYERS);
	assert_int_equal(kv_cache_fork(c, 0, 1, -1), -TENON_E_USAGE);
	assert_int_equal(kv_cache_repeated(c, LAYERS), 0);
	assert_int_equal(kv_cache_fork(c, 0, 1, -1), 0);
	tenon_object_unref(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			steps_of_one_token_keep_their_form_while_the_list_of_pages_has_room),
		cmocka_unit_test(a_prompt_has_no_form_and_ends_none),
		cmocka_unit_test(numbers_of_sequences_and_caches_have_forms_of_their_own),
		cmocka_unit_test(a_step_whose_sequence_is_gone_has_no_form),
		cmocka_unit_test(layers_that_a_recording_wrote_can_be_forked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
