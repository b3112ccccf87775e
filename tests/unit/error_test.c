/* SPDX-License-Identifier: MIT */
/* The error of a thread: its message, its frames, and how long texts are cut. */
#include "tests/unit/suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <wchar.h>

#include "lib/error_slot.h"

static void a_message_carries_status_and_kind(void **state)
{
	(void)state;
	assert_int_equal(tenon_error(-TENON_E_TYPE, "argument %d is %s", 1, "odd"), -TENON_E_TYPE);
	assert_int_equal(tenon_error_status(), -TENON_E_TYPE);
	assert_string_equal(tenon_error_kind(), "TypeError");
	assert_error("argument 1 is odd");
	assert_int_equal(tenon_error_status(), 0);
	assert_string_equal(tenon_error_message(), "");
}

static void frames_stand_in_front_the_outermost_first(void **state)
{
	(void)state;
	tenon_error(-TENON_E_FORMAT, "no such thing");
	tenon_error_in(-TENON_E_FORMAT, "import %d", 2);
	assert_int_equal(tenon_error_in(-TENON_E_FORMAT, "r18.so"), -TENON_E_FORMAT);
	assert_error("r18.so: import 2: no such thing");
}

static void a_message_longer_than_the_first_room_is_kept_whole(void **state)
{
	char *text = malloc(5001);

	(void)state;
	memset(text, 'x', 5000);
	text[5000] = '\0';
	tenon_error(-TENON_E_IO, "%s!", text);
	assert_int_equal(strlen(tenon_error_message()), 5001);
	tenon_error_in(-TENON_E_IO, "frame");
	assert_int_equal(strlen(tenon_error_message()), 5008);
	assert_memory_equal(tenon_error_message(), "frame: xxx", 10);
	tenon_error_clear();
	free(text);
}

static void a_long_frame_is_kept_whole(void **state)
{
	char path[3001];
	const char *message;

	(void)state;
	memset(path, 'p', 3000);
	path[3000] = '\0';
	tenon_error(-TENON_E_IO, "no such file");
	tenon_error_in(-TENON_E_IO, "%s", path);
	tenon_error_in(-TENON_E_IO, "%.390s", path);
	message = tenon_error_message();
	assert_int_equal(strlen(message), 390 + 2 + 3000 + 2 + 12);
	assert_memory_equal(message + 388, "pp: pp", 6);
	assert_string_equal(message + 390 + 3000, "pp: no such file");
	tenon_error_clear();
}

static void a_frame_may_quote_the_message_it_is_for(void **state)
{
	(void)state;
	tenon_error(-TENON_E_IO, "inner");
	tenon_error_in(-TENON_E_IO, "again (%s)", tenon_error_message());
	tenon_error_in(-TENON_E_IO, "%0600d (%s)", 7, tenon_error_message());
	assert_memory_equal(tenon_error_message() + 599, "7 (again (inner): inner): ", 26);
	tenon_error_clear();
}

/* the ends of a name tell more than its middle, and no character is cut in two */
static void a_frame_beyond_the_bound_has_a_mark_in_its_middle(void **state)
{
	char *frame = malloc(3 * 40000 + 1);
	const char *message, *mark;
	size_t i;

	(void)state;
	for (i = 0; i < 40000; i++)
		memcpy(frame + 3 * i, "€", 4);
	tenon_error(-TENON_E_IO, "inner");
	tenon_error_in(-TENON_E_IO, "first %s last", frame);
	message = tenon_error_message();
	assert_in_range(strlen(message), TENON_ERROR_FRAME - 20, TENON_ERROR_FRAME + 7);
	assert_memory_equal(message, "first €€", 6 + 6);
	assert_string_equal(message + strlen(message) - 15, "€ last: inner");
	mark = strstr(message, "…");
	assert_non_null(mark);
	assert_in_range(mark - message, TENON_ERROR_FRAME / 2 - 20, TENON_ERROR_FRAME / 2 + 20);
	assert_memory_equal(mark - 3, "€…€", 9);
	tenon_error_clear();
	free(frame);
}

static void a_text_of_megabytes_is_cut(void **state)
{
	const size_t size = (size_t)3 << 20;
	char *text = malloc(size);

	(void)state;
	memset(text, 'x', size - 1);
	text[size - 1] = '\0';
	tenon_error(-TENON_E_IO, "%s", text);
	assert_in_range(strlen(tenon_error_message()), 1000, size - 2);
	tenon_error_in(-TENON_E_IO, "first %s", text);
	assert_memory_equal(tenon_error_message(), "first xxx", 9);
	assert_in_range(strlen(tenon_error_message()), 1000, size - 2);
	tenon_error_clear();
	free(text);
}

/* a number that is no character of any locale */
static void what_cannot_be_formatted_adds_nothing(void **state)
{
	(void)state;
	tenon_error(-TENON_E_IO, "%lc", (wint_t)0x7ffffff0);
	assert_int_equal(tenon_error_status(), -TENON_E_IO);
	assert_error("");
	tenon_error(-TENON_E_IO, "inner");
	tenon_error_in(-TENON_E_IO, "%lc", (wint_t)0x7ffffff0);
	assert_error(": inner");
}

static void a_new_message_may_quote_the_old_one(void **state)
{
	(void)state;
	tenon_error(-TENON_E_IO, "inner");
	tenon_error(-TENON_E_CALL, "outer (%s)", tenon_error_message());
	assert_error("outer (inner)");
}

static void taking_gives_an_object_and_empties_the_slot(void **state)
{
	struct tenon_error *e;

	(void)state;
	tenon_error(-TENON_E_VALUE, "too large");
	e = tenon_error_take();
	assert_non_null(e);
	assert_int_equal(e->object.type, TENON_TYPE_ERROR);
	assert_slice(e->kind, "ValueError");
	assert_slice(e->message, "too large");
	assert_int_equal(e->message.data[e->message.size], 0);
	assert_int_equal(e->backtrace.size, 0);
	assert_null(tenon_error_take());
	tenon_object_unref(e);
}

static void raising_an_object_and_taking_it_gives_the_same_object(void **state)
{
	struct tenon_error *e = tenon_error_create(tenon_slice_of("KeyError"), tenon_slice_of("k"),
						   tenon_slice_of("  File \"f\""), NULL);

	(void)state;
	assert_non_null(e);
	tenon_error_raise(e);
	assert_int_equal(strong_count(e), 2);
	assert_string_equal(tenon_error_kind(), "KeyError");
	assert_string_equal(tenon_error_message(), "k");
	assert_ptr_equal(tenon_error_take(), e);
	tenon_object_unref(e);
	assert_slice(e->backtrace, "  File \"f\"");
	tenon_object_unref(e);
}

static void a_frame_on_an_object_makes_it_the_cause_and_keeps_its_backtrace(void **state)
{
	struct tenon_error *e = tenon_error_create(tenon_slice_of("KeyError"), tenon_slice_of("k"),
						   tenon_slice_of("  File \"f\""), NULL),
			   *outer;

	(void)state;
	assert_non_null(e);
	tenon_error_raise(e);
	tenon_object_unref(e);
	tenon_error_in(-TENON_E_CALL, "calling f");
	assert_string_equal(tenon_error_message(), "calling f: k");
	outer = tenon_error_take();
	assert_ptr_not_equal(outer, e);
	assert_slice(outer->message, "calling f: k");
	assert_slice(outer->kind, "KeyError");
	assert_slice(outer->backtrace, "  File \"f\"");
	assert_ptr_equal(tenon_error_cause(outer), e);
	tenon_object_unref(outer);
}

static void the_backtrace_can_be_replaced_and_grow(void **state)
{
	struct tenon_error *e = tenon_error_create(tenon_slice_of("E"), tenon_slice_of("m"),
						   tenon_slice_of("a\n"), NULL);
	struct tenon_slice more = tenon_slice_of("b\n"), other = tenon_slice_of("c\n");

	(void)state;
	assert_non_null(e);
	e->update_backtrace(e, &more, 1);
	assert_slice(e->backtrace, "a\nb\n");
	e->update_backtrace(e, &other, 0);
	assert_slice(e->backtrace, "c\n");
	tenon_object_unref(e);
}

static void foreign_text_is_put_together_of_its_parts(void **state)
{
	struct tenon_slice parts[] = { { "argument ", 9 }, { NULL, 0 }, { "1", 1 } };

	(void)state;
	tenon_error_raise_text("TypeError", parts, 3);
	assert_string_equal(tenon_error_kind(), "TypeError");
	assert_int_equal(tenon_error_status(), -TENON_E_CALL);
	assert_error("argument 1");
}

static void *raise_in_thread(void *arg)
{
	(void)arg;
	assert_string_equal(tenon_error_message(), "");
	tenon_error(-TENON_E_IO, "of the thread");
	return NULL;
}

static void every_thread_has_an_error_of_its_own(void **state)
{
	pthread_t t;

	(void)state;
	tenon_error(-TENON_E_IO, "of the first");
	pthread_create(&t, NULL, raise_in_thread, NULL);
	pthread_join(t, NULL);
	assert_error("of the first");
}

static void two_frames_on_an_object_stand_in_front(void **state)
{
	struct tenon_error *e = tenon_error_create(tenon_slice_of("KeyError"), tenon_slice_of("k"),
						   tenon_slice_of(""), NULL);

	(void)state;
	assert_non_null(e);
	tenon_error_raise(e);
	tenon_object_unref(e);
	tenon_error_in(-TENON_E_CALL, "inner");
	tenon_error_in(-TENON_E_CALL, "outer");
	assert_error("outer: inner: k");
}

static void a_frame_without_an_error_is_one(void **state)
{
	(void)state;
	assert_int_equal(tenon_error_in(-TENON_E_VALUE, "a frame"), -TENON_E_VALUE);
	assert_int_equal(tenon_error_status(), -TENON_E_VALUE);
	assert_string_equal(tenon_error_kind(), "ValueError");
	assert_error("a frame: ");
}

static void an_error_may_get_another_kind(void **state)
{
	(void)state;
	/* without an error there is none to change */
	assert_int_equal(error_slot_set_kind(-TENON_E_VALUE, "KeyError"), -TENON_E_VALUE);
	assert_string_equal(tenon_error_kind(), "");
	tenon_error(-TENON_E_VALUE, "k");
	assert_int_equal(error_slot_set_kind(-TENON_E_VALUE, "KeyError"), -TENON_E_VALUE);
	assert_string_equal(tenon_error_kind(), "KeyError");
	assert_error("k");
}

static void foreign_text_without_a_kind_is_of_the_usual_one(void **state)
{
	const struct tenon_slice part = tenon_slice_of("part");

	(void)state;
	tenon_error_raise_text(NULL, &part, 1);
	assert_string_equal(tenon_error_kind(), "RuntimeError");
	assert_error("part");
}

/* what is not UTF-8 has no place where a character begins */
static void a_frame_of_no_characters_is_cut_at_its_ends(void **state)
{
	static char text[3 * TENON_ERROR_FRAME];

	(void)state;
	memset(text, 0x80, sizeof(text) - 1);
	tenon_error(-TENON_E_VALUE, "inner");
	tenon_error_in(-TENON_E_VALUE, "%s", text);
	assert_true(strlen(tenon_error_message()) <= TENON_ERROR_FRAME + sizeof(": inner"));
	assert_error_has(": inner");
}

/* what stands in the message must not be lost when its own room is written anew */
static void parts_may_quote_the_old_message(void **state)
{
	struct tenon_slice parts[2] = { tenon_slice_of("while closing: ") };
	struct tenon_error *e;

	(void)state;
	tenon_error(-TENON_E_IO, "disk %d is full", 1);
	parts[1] = tenon_slice_of(tenon_error_message());
	tenon_error_raise_text(tenon_error_kind(), parts, 2);
	assert_string_equal(tenon_error_kind(), "OSError");
	assert_error("while closing: disk 1 is full");

	/* one that needs more room than there is */
	tenon_error(-TENON_E_IO, "%509d", 1);
	parts[1] = tenon_slice_of(tenon_error_message());
	tenon_error_raise_text("OSError", parts, 2);
	assert_int_equal(strlen(tenon_error_message()), 524);
	assert_int_equal(tenon_error_message()[523], '1');
	tenon_error_clear();

	/* one that an object lends, which goes with the slot's reference */
	e = tenon_error_create(tenon_slice_of("KeyError"), tenon_slice_of("no such key"),
			       tenon_slice_of(""), NULL);
	assert_non_null(e);
	tenon_error_raise(e);
	tenon_object_unref(e);
	parts[1] = e->message;
	tenon_error_raise_text("KeyError", parts, 2);
	assert_error("while closing: no such key");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_carries_status_and_kind),
		cmocka_unit_test(frames_stand_in_front_the_outermost_first),
		cmocka_unit_test(a_message_longer_than_the_first_room_is_kept_whole),
		cmocka_unit_test(a_long_frame_is_kept_whole),
		cmocka_unit_test(a_frame_may_quote_the_message_it_is_for),
		cmocka_unit_test(a_frame_beyond_the_bound_has_a_mark_in_its_middle),
		cmocka_unit_test(a_text_of_megabytes_is_cut),
		cmocka_unit_test(what_cannot_be_formatted_adds_nothing),
		cmocka_unit_test(a_new_message_may_quote_the_old_one),
		cmocka_unit_test(taking_gives_an_object_and_empties_the_slot),
		cmocka_unit_test(raising_an_object_and_taking_it_gives_the_same_object),
		cmocka_unit_test(a_frame_on_an_object_makes_it_the_cause_and_keeps_its_backtrace),
		cmocka_unit_test(the_backtrace_can_be_replaced_and_grow),
		cmocka_unit_test(foreign_text_is_put_together_of_its_parts),
		cmocka_unit_test(two_frames_on_an_object_stand_in_front),
		cmocka_unit_test(a_frame_without_an_error_is_one),
		cmocka_unit_test(an_error_may_get_another_kind),
		cmocka_unit_test(foreign_text_without_a_kind_is_of_the_usual_one),
		cmocka_unit_test(a_frame_of_no_characters_is_cut_at_its_ends),
		cmocka_unit_test(parts_may_quote_the_old_message),
		cmocka_unit_test(every_thread_has_an_error_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
