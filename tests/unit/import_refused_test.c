/* SPDX-License-Identifier: MIT */
/* Import trees that are refused: rows, cycles, depth. */
#include "tests/unit/tree.h"

#include <tenon/backend/buffer.h>

static void assert_refused_at(enum tenon_generation g, struct tenon_buffer b, int status,
			      const char *text, const char *file, int line)
{
	struct tenon_module *m;
	int err;

	err = read_blob(g, slice_of(&b), &m);
	if (err != status)
		print_error("returned %d, want %d: %s\n", err, status, tenon_error_message());
	_assert_int_equal((unsigned int)err, (unsigned int)status, file, line);
	assert_null(m);
	assert_error_has_at(text, file, line);
	tenon_buffer_fini(&b);
}

#define assert_refused(g, b, status, text) assert_refused_at(g, b, status, text, __FILE__, __LINE__)

static void rows_that_run_backwards_are_refused_with_both_values(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	assert_refused(*g, tree_of(*g, 2, ROWS(0, 2, 1, 2), ROWS(1, 2)), -TENON_E_FORMAT,
		       ": row pointers run backwards: row 1 begins at 2, row 2 at 1");
}

static void rows_that_do_not_begin_at_zero_are_refused(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	assert_refused(*g, tree_of(*g, 1, ROWS(1, 1, 1), ROWS(1)), -TENON_E_FORMAT,
		       ": row 0 begins at 1, want 0");
}

static void rows_that_do_not_end_with_the_children_are_refused(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		assert_refused(*g, tree_of(*g, 1, ROWS(0, 1, 1), ROWS(1, 1)), -TENON_E_FORMAT,
			       ": the rows end at child 1, there are 2");
		assert_refused(*g, tree_of(*g, 1, ROWS(0, 1, 3), ROWS(1, 1)), -TENON_E_FORMAT,
			       ": the rows end at child 3, there are 2");
	}
}

static void a_child_out_of_range_is_refused(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		assert_refused(*g, tree_of(*g, 2, ROWS(0, 2, 2, 2), ROWS(1, 3)), -TENON_E_FORMAT,
			       ": module 0 imports module 3, there are 3");
		assert_refused(*g, tree_of(*g, 1, ROWS(0, 1, 1), ROWS(UINT64_MAX - 1)),
			       -TENON_E_FORMAT,
			       ": module 0 imports module 18446744073709551614, there are 2");
	}
}

static void a_cycle_is_refused(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		assert_refused(*g, tree_of(*g, 2, ROWS(0, 1, 2, 3), ROWS(1, 2, 1)), -TENON_E_CYCLE,
			       "(kind \"hip\") is among its own imports");
		assert_refused(*g, tree_of(*g, 1, ROWS(0, 1, 2), ROWS(1, 1)), -TENON_E_CYCLE,
			       ": module 1 (kind \"hip\") is among its own imports");
		/* what is below the circle is not named */
		assert_refused(*g, tree_of(*g, 2, ROWS(0, 2, 2, 2), ROWS(0, 2)), -TENON_E_CYCLE,
			       ": module 0 (kind \"_lib\") is among its own imports");
	}
}

static void two_libraries_are_refused(void **state)
{
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "_lib", { NULL, 0 } } };

	(void)state;
	EACH_GENERATION(g)
	assert_refused(*g, blob_of(*g, parts, 2, ROWS(0, 1, 1), ROWS(1)), -TENON_E_FORMAT,
		       ": imports 0 and 1 are both \"_lib\"; there is one library");
}

static void a_chain_that_is_too_deep_is_refused(void **state)
{
	enum { DEEP = 300 };
	static struct part parts[DEEP];
	static uint64_t rows[DEEP + 2], children[DEEP];
	size_t i;

	(void)state;
	EACH_GENERATION(g)
	{
		for (i = 0; i < DEEP; i++) {
			parts[i] = part_of(*g, 0);
			rows[i] = i;
			children[i] = i + 1;
		}
		rows[DEEP] = DEEP - 1;
		rows[DEEP + 1] = children[DEEP - 1] = UINT64_MAX;
		assert_refused(*g, blob_of(*g, parts, DEEP, rows, children), -TENON_E_UNSUPPORTED,
			       "modules import each other more than 256 deep");
		/* and the other way round: the root imports the last one, and each the one before it */
		children[0] = DEEP - 1;
		for (i = 1; i < DEEP - 1; i++)
			children[i] = i;
		rows[1] = rows[2] = 1;
		for (i = 2; i < DEEP; i++)
			rows[i + 1] = i;
		assert_refused(*g, blob_of(*g, parts, DEEP, rows, children), -TENON_E_UNSUPPORTED,
			       "modules import each other more than 256 deep");
	}
}

static void a_tree_that_unfolds_without_end_is_refused(void **state)
{
	enum { LEVELS = 40 };
	static struct part parts[2 * LEVELS + 1];
	static uint64_t rows[2 * LEVELS + 3], children[4 * LEVELS + 1];
	size_t i, n = 0;

	(void)state;
	EACH_GENERATION(g)
	{
		/* two modules a level, each of which imports both of the next */
		for (n = 0, i = 0; i < 2 * LEVELS + 1; i++) {
			uint64_t next = i ? (i - 1) / 2 * 2 + 3 : 1;

			parts[i] = part_of(*g, 0);
			rows[i] = n;
			if (next < 2 * LEVELS + 1) {
				children[n++] = next;
				children[n++] = next + 1;
			}
		}
		rows[i] = n;
		rows[i + 1] = children[n] = UINT64_MAX;
		assert_refused(*g, blob_of(*g, parts, 2 * LEVELS + 1, rows, children),
			       -TENON_E_UNSUPPORTED, " is imported in more than ");
	}
}

static void an_unknown_kind_in_a_legacy_blob_is_named_with_its_place(void **state)
{
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "acme_npu", { "abcd", 4 } } };

	(void)state;
	/* behind size, count, "_lib", and the kind itself */
	assert_refused(
		LEGACY, blob_of(LEGACY, parts, 2, ROWS(0, 1, 1), ROWS(1)), -TENON_E_NO_LOADER,
		"import 1 of 2 (kind \"acme_npu\" at 0x102c): no loader for this kind, and in "
		"a blob of TVM 0.8 to 0.21 only its loader can tell where it ends. Kinds this "
		"build loads: ");
}

static void a_size_larger_than_the_symbol_is_refused(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = tree_of(*g, 1, ROWS(0, 1, 1), ROWS(1));
		char want[128];

		snprintf(want, sizeof(want),
			 "import tree at 0x1000: %zu bytes promised, %zu are left", b.size - 7,
			 b.size - 8);
		b.data[0]++;
		assert_refused(*g, b, -TENON_E_TRUNCATED, want);
	}
}

static void bytes_behind_the_last_module_are_refused(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = tree_of(*g, 1, ROWS(0, 1, 1), ROWS(1));

		tenon_buffer_u8(&b, 0);
		b.data[0]++;
		assert_refused(*g, b, -TENON_E_FORMAT, ": 1 bytes left over");
	}
}

/* put 2^63 where each length of a valid blob stands: none is believed */
static void lengths_of_two_to_the_63_are_refused(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = tree_of(*g, 1, ROWS(0, 1, 1), ROWS(1));
		uint64_t old, huge = UINT64_C(1) << 63;
		struct tenon_module *m;
		size_t i, refused = 0;

		for (i = 0; i + 8 <= b.size; i++) {
			memcpy(&old, b.data + i, 8);
			if (old > b.size)
				continue;
			memcpy(b.data + i, &huge, 8);
			if (!read_blob(*g, slice_of(&b), &m))
				tenon_object_unref(m);
			else
				refused++;
			tenon_error_clear();
			memcpy(b.data + i, &old, 8);
		}
		assert_true(refused > 15);
		tenon_buffer_fini(&b);
	}
	assert_refused(FFI, tree_of(FFI, 1, ROWS(0, 1, 1), ROWS(UINT64_C(1) << 63)),
		       -TENON_E_FORMAT, "module 0 imports module 9223372036854775808, there are 2");
}

static void a_blob_truncated_at_any_byte_is_refused(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = tree_of(*g, 2, ROWS(0, 2, 2, 2), ROWS(1, 2));
		struct tenon_module *m;
		size_t size;
		char *copy;

		for (size = 0; size < b.size; size++) {
			uint64_t promised = size < 8 ? 0 : size - 8;

			/* the symbol ends early … */
			copy = malloc(size + 1);
			memcpy(copy, b.data, size);
			assert_int_equal(read_blob(*g, (struct tenon_slice){ copy, size }, &m),
					 -TENON_E_TRUNCATED);
			tenon_error_clear();
			/* … or the size in it says so */
			if (size >= 8)
				memcpy(copy, &promised, 8);
			assert_true(read_blob(*g, (struct tenon_slice){ copy, size }, &m) < 0 ||
				    promised == 8);
			if (m)
				tenon_object_unref(m);
			tenon_error_clear();
			free(copy);
		}
		tenon_buffer_fini(&b);
	}
}

static void a_kind_that_is_no_name_is_refused(void **state)
{
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "open\x01l", { "", 0 } } };

	(void)state;
	EACH_GENERATION(g)
	assert_refused(*g, blob_of(*g, parts, 2, ROWS(0, 1, 1), ROWS(1)), -TENON_E_FORMAT,
		       ": import 1 of 2 has 6 bytes that are no name where its kind should "
		       "be");
}

static void a_name_longer_than_kinds_are_is_refused(void **state)
{
	char name[130];
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { name, { "", 0 } } };

	(void)state;
	memset(name, 'k', sizeof(name));
	name[129] = 0;
	EACH_GENERATION(g)
	assert_refused(*g, blob_of(*g, parts, 2, ROWS(0, 1, 1), ROWS(1)), -TENON_E_FORMAT,
		       ": import 1 of 2 has 129 bytes that are no name where its kind should be");
	strcpy(name, "k\x7f");
	EACH_GENERATION(g)
	assert_refused(*g, blob_of(*g, parts, 2, ROWS(0, 1, 1), ROWS(1)), -TENON_E_FORMAT,
		       ": import 1 of 2 has 2 bytes that are no name where its kind should be");
	name[0] = 0;
	EACH_GENERATION(g)
	assert_refused(*g, blob_of(*g, parts, 2, ROWS(0, 1, 1), ROWS(1)), -TENON_E_FORMAT,
		       ": import 1 of 2 has 0 bytes that are no name where its kind should be");
}

/* a tree as a part: rows and children without modules */
static void a_second_tree_and_a_tree_alone_are_refused(void **state)
{
	struct tenon_buffer tree = TENON_BUFFER_INIT;
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "_import_tree", { NULL, 0 } } };
	struct part twice[2] = { parts[0], parts[1] };

	(void)state;
	put_numbers(&tree, ROWS(0));
	put_numbers(&tree, NO_ROWS);
	twice[1].payload = slice_of(&tree);
	assert_refused(LEGACY, blob_of(LEGACY, twice, 2, ROWS(0, 0), NO_ROWS), -TENON_E_FORMAT,
		       ": a second import tree");
	assert_refused(LEGACY, blob_of(LEGACY, twice + 1, 1, NULL, NULL), -TENON_E_FORMAT,
		       "there is no module");
	tenon_buffer_fini(&tree);
}

static void a_damaged_legacy_payload_is_named(void **state)
{
	struct tenon_buffer b = tree_of(LEGACY, 1, ROWS(0, 1, 1), ROWS(1));
	struct tenon_module *m;

	(void)state;
	/* the count of kernels, behind "hsaco" */
	b.data[8 + 8 + 12 + 11 + 13] = 100;
	assert_int_equal(read_blob(LEGACY, slice_of(&b), &m), -TENON_E_TRUNCATED);
	assert_error_has("import 1 of 2 (kind \"hip\" at 0x1027): import tree at 0x1034: 100 "
			 "elements of at least 32 bytes promised, ");
	tenon_buffer_fini(&b);
}
static void the_number_of_rows_must_fit_the_modules(void **state)
{
	(void)state;
	assert_refused(LEGACY, tree_of(LEGACY, 2, ROWS(0, 1, 1), ROWS(1)), -TENON_E_FORMAT,
		       ": 3 row pointers for 3 modules, want one more");
	assert_refused(
		LEGACY, tree_of(LEGACY, 1, ROWS(0, 1, 1, 1), ROWS(1)), -TENON_E_FORMAT,
		": 4 row pointers for 2 modules, want one more; TVM 0.14 and later write such "
		"a blob when a module cannot be saved");
	assert_refused(FFI, tree_of(FFI, 2, ROWS(0, 1, 1), ROWS(1)), -TENON_E_FORMAT,
		       "bytes left over");
	assert_refused(FFI, tree_of(FFI, 0, NO_ROWS, NO_ROWS), -TENON_E_FORMAT, "no row pointers");
	assert_refused(FFI, tree_of(FFI, 0, ROWS(0), NO_ROWS), -TENON_E_FORMAT,
		       "one row pointer: there is no module");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(the_number_of_rows_must_fit_the_modules),
		CASE(rows_that_run_backwards_are_refused_with_both_values),
		CASE(rows_that_do_not_begin_at_zero_are_refused),
		CASE(rows_that_do_not_end_with_the_children_are_refused),
		CASE(a_child_out_of_range_is_refused),
		CASE(a_cycle_is_refused),
		CASE(two_libraries_are_refused),
		CASE(a_chain_that_is_too_deep_is_refused),
		CASE(a_tree_that_unfolds_without_end_is_refused),
		CASE(an_unknown_kind_in_a_legacy_blob_is_named_with_its_place),
		CASE(a_size_larger_than_the_symbol_is_refused),
		CASE(bytes_behind_the_last_module_are_refused),
		CASE(lengths_of_two_to_the_63_are_refused),
		CASE(a_blob_truncated_at_any_byte_is_refused),
		CASE(a_kind_that_is_no_name_is_refused),
		CASE(a_name_longer_than_kinds_are_is_refused),
		CASE(a_second_tree_and_a_tree_alone_are_refused),
		CASE(a_damaged_legacy_payload_is_named),
	};

	return cmocka_run_group_tests(tests, make_payloads, free_payloads);
}
