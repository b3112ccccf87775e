/* SPDX-License-Identifier: MIT */
/* Executables of Torq as torq-compile wrote them, and with a field that is wrong: what is read, and what is refused. */
#include <stdio.h>
#include <stdlib.h>

#include "devices/torq/torq_check.h"
#include "devices/torq/torq_file.h"
#include "tests/torq/torq_session.h"
#include "tests/unit/suite.h"

/* fields, in the schema's order */
enum { ROOT_CODE = 1, ROOT_BINDINGS, ROOT_ACTIONS, ROOT_HOST = 5, ROOT_RUNTIME };
enum { ADDRESS, SIZE };
enum { BINDING_ID, BINDING_ADDRESS, BINDING_OFFSET, BINDING_SIZE };
enum { KIND, PARAMETERS };
enum { COPY_SOURCE = 2, COPY_TARGET, COPY_ELEMENT = 7, COPY_CONSTANT, COPY_ARGUMENT, COPY_UNIT };

/* the actions of the addition */
enum { THE_COPY, FIRST_START, FIRST_WAIT, SECOND_START, SECOND_WAIT };

static uint8_t bytes[TORQ_FILE_MOST];
static size_t size;
static struct tenon_cursor file;
static struct torq_program program;
static struct torq_extents extents;

static int read_file(void)
{
	struct torq_file f;

	file = tenon_cursor_of(bytes, size, "net.vmfb", 0);
	torq_file_begin(&file, &f);
	return torq_file_next(&f, &program);
}

static int begin(void **state)
{
	(void)state;
	tenon_error_clear();
	size = torq_data(&torq_networks[0], "add.vmfb", bytes);
	return read_file() == 1 ? 0 : -1;
}

static int check(void)
{
	return torq_check(&program, &extents);
}

/* The place of a field that is there, in @bytes. */
static uint8_t *place(const struct flatbuffer_table *t, unsigned int field)
{
	const uint8_t *v = t->vtable.at + 2 * (size_t)field;
	const unsigned int offset = v[0] | (unsigned int)v[1] << 8;

	assert_true(tenon_cursor_left(&t->vtable) > 2 * (size_t)field && offset);
	return bytes + (t->file.at - bytes) + t->at + offset;
}

static void put(const struct flatbuffer_table *t, unsigned int field, uint32_t value,
		unsigned int width)
{
	uint8_t *at = place(t, field);
	unsigned int i;

	for (i = 0; i < width; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static struct flatbuffer_table item(const struct flatbuffer_vector *v, uint32_t index)
{
	struct flatbuffer_table t;

	assert_int_equal(flatbuffer_item_table(v, index, &t), 0);
	return t;
}

static struct flatbuffer_table parameters(uint32_t action)
{
	const struct flatbuffer_table t = item(&program.actions, action);
	struct flatbuffer_table p;
	bool found;

	assert_int_equal(flatbuffer_table(&t, PARAMETERS, &p, &found), 0);
	assert_true(found);
	return p;
}

static void put_action(uint32_t action, unsigned int field, uint32_t value)
{
	const struct flatbuffer_table t = parameters(action);

	put(&t, field, value, 4);
}

static void put_kind(uint32_t action, uint8_t kind)
{
	const struct flatbuffer_table t = item(&program.actions, action);

	put(&t, KIND, kind, 1);
}

static void put_binding(uint32_t binding, unsigned int field, uint32_t value)
{
	const struct flatbuffer_table t = item(&program.bindings, binding);

	put(&t, field, value, 4);
}

static void put_segment(uint32_t segment, unsigned int field, uint32_t value)
{
	const struct flatbuffer_table t = item(&program.segments, segment);

	put(&t, field, value, 4);
}

static void assert_refused(int status, const char *words)
{
	assert_int_equal(check(), status);
	assert_error_has(words);
}

/* ---- what is in it */

static void an_executable_is_found_in_a_module_of_iree(void **state)
{
	struct torq_binding b;
	struct torq_action a;

	(void)state;
	assert_slice(program.name, "main_dispatch_0_elementwise_1x64_i32");
	assert_int_equal(program.segments.count, 5);
	assert_int_equal(program.bindings.count, 3);
	assert_int_equal(program.actions.count, 5);
	assert_int_equal(torq_program_binding(&program, 2, &b), 0);
	assert_int_equal(b.argument, 2);
	assert_int_equal(b.address, 0x903000);
	assert_int_equal(b.size, 256);
	assert_true(b.reads && b.writes);
	assert_int_equal(torq_program_action(&program, THE_COPY, &a), 0);
	assert_int_equal(a.kind, TORQ_COPY);
	assert_int_equal(a.copy.from, TORQ_XRAM);
	assert_int_equal(a.copy.to, TORQ_LRAM);
	assert_int_equal(a.copy.source, 0x100104);
	assert_int_equal(torq_program_action(&program, SECOND_START, &a), 0);
	assert_int_equal(a.start, 0x280);
}

static void what_it_touches_is_reported(void **state)
{
	(void)state;
	assert_int_equal(check(), 0);
	assert_int_equal(extents.base, 0x100000);
	assert_int_equal(extents.end, 0x101000);
	assert_int_equal(extents.argument_count, 3);
	assert_int_equal(extents.arguments[0].size, 256);
	assert_true(extents.arguments[0].reads && !extents.arguments[0].writes);
	assert_true(extents.arguments[2].writes);
	assert_int_equal(extents.starts, 2);
	assert_int_equal(extents.copied, 72);
}

static void an_executable_alone_is_read_as_in_its_module(void **state)
{
	const uint8_t *at = program.segments.file.at;

	(void)state;
	memmove(bytes, at, size - (size_t)(at - bytes));
	assert_int_equal(read_file(), 1);
	assert_int_equal(check(), 0);
	assert_int_equal(extents.end, 0x101000);
}

static void a_file_without_an_executable_is_refused(void **state)
{
	uint8_t *at = bytes + (program.segments.file.at - bytes);

	(void)state;
	memcpy(at + 4, "FPGA", 4);
	assert_int_equal(read_file(), -TENON_E_FORMAT);
	assert_error_has("no executable of Torq in the module");
}

static void an_archive_that_is_cut_is_refused(void **state)
{
	(void)state;
	size = (size_t)(program.segments.file.at - bytes) + 100;
	assert_int_equal(read_file(), -TENON_E_TRUNCATED);
	tenon_error_clear();
}

/* ---- what is refused */

static void versions_and_kinds_that_are_not_known_are_refused(void **state)
{
	struct flatbuffer_table root;

	assert_int_equal(flatbuffer_root(&program.segments.file, &root), 0);
	put(&root, ROOT_RUNTIME, 3, 4);
	assert_int_equal(read_file(), 1);
	assert_refused(-TENON_E_UNSUPPORTED, "version 3 of the runtime");
	begin(state);
	put_kind(FIRST_WAIT, 9);
	assert_refused(-TENON_E_UNSUPPORTED, "action 2 is of kind 9");
}

static void segments_stay_in_xram_and_are_not_far_apart(void **state)
{
	put_segment(1, ADDRESS, 0xffffff00);
	assert_refused(-TENON_E_FORMAT, "beyond the 4 GiB");
	begin(state);
	put_segment(1, ADDRESS, 0x70000000);
	assert_refused(-TENON_E_UNSUPPORTED, "bytes of XRAM; 1073741824 are possible");
	begin(state);
	put_segment(1, SIZE, 551);
	assert_refused(-TENON_E_FORMAT, "segment 1 has 551 bytes, and contents of 552");
}

static void bindings_have_pages_of_their_own(void **state)
{
	put_binding(0, BINDING_ADDRESS, 0x901004);
	assert_refused(-TENON_E_FORMAT, "begin at a page");
	begin(state);
	put_binding(1, BINDING_ADDRESS, 0x901000);
	assert_refused(-TENON_E_FORMAT, "bindings 0 and 1 have the same page");
	begin(state);
	put_binding(0, BINDING_ADDRESS, 0x100000);
	assert_refused(-TENON_E_FORMAT, "bindings are behind it");
	begin(state);
	put_binding(2, BINDING_SIZE, 0xffffffff);
	assert_refused(-TENON_E_FORMAT, "end within 4 GiB");
	begin(state);
	put_binding(2, BINDING_ID, 64);
	assert_refused(-TENON_E_UNSUPPORTED, "argument 64; 64 are possible");
}

/* Behind LRAM are the NPU's registers, and the kernel's driver compares nothing. */
static void copies_of_the_host_stay_in_lram_and_in_the_programs_memory(void **state)
{
	put_action(THE_COPY, COPY_ELEMENT, 520000);
	put_action(THE_COPY, COPY_SOURCE, 0x901000);
	assert_refused(-TENON_E_FORMAT, "not in the program's memory, nor in one binding");
	begin(state);
	put_segment(1, ADDRESS, 0x200000);
	put_action(THE_COPY, COPY_ELEMENT, (512 << 10) + 1);
	assert_refused(-TENON_E_FORMAT, "524289 bytes at 0x0 of LRAM, which has 524288");
	begin(state);
	put_action(THE_COPY, COPY_SOURCE, 0x500000);
	assert_refused(-TENON_E_FORMAT, "of XRAM, which are not");
	begin(state);
	put_action(THE_COPY, COPY_ELEMENT, 0);
	assert_refused(-TENON_E_FORMAT, "copies nothing");
}

static void the_npu_is_started_in_lram_and_waited_for(void **state)
{
	put_action(SECOND_START, ADDRESS, 512 << 10);
	assert_refused(-TENON_E_FORMAT, "action 3 starts at 0x80000");
	begin(state);
	put_action(SECOND_START, ADDRESS, 0x282);
	assert_refused(-TENON_E_FORMAT, "code is at words");
	begin(state);
	put_kind(FIRST_WAIT, TORQ_FREE);
	assert_refused(-TENON_E_FORMAT, "action 3 starts the NPU, which was not waited for");
	begin(state);
	put_kind(SECOND_WAIT, TORQ_FREE);
	assert_refused(-TENON_E_FORMAT, "the actions end while the NPU runs");
}

static void code_of_the_host_is_refused_with_a_remedy(void **state)
{
	(void)state;
	put_kind(FIRST_WAIT, TORQ_START_HOST);
	assert_refused(-TENON_E_UNSUPPORTED, "compile with torq-compile --torq-disable-host");
}

/* ---- slices */

/* the actions of the slice: three that prepare the NPU come first */
#define THE_SLICE 3

static void begin_slice(void)
{
	size = torq_data(&torq_networks[3], "slice.vmfb", bytes);
	assert_int_equal(read_file(), 1);
}

static void an_argument_that_moves_a_copy_is_one_of_the_call(void **state)
{
	struct torq_action a;

	(void)state;
	begin_slice();
	assert_int_equal(check(), 0);
	assert_int_equal(extents.argument_count, 3);
	assert_int_equal(extents.arguments[0].size, 4);
	assert_true(extents.arguments[0].reads && extents.arguments[0].is_index);
	assert_int_equal(torq_program_action(&program, THE_SLICE, &a), 0);
	assert_int_equal(a.copy.move, TORQ_BY_ARGUMENT);
	assert_int_equal(a.copy.unit, 4);
	assert_false(a.copy.moves_target);
	put_action(THE_SLICE, COPY_ARGUMENT, 64);
	assert_refused(-TENON_E_UNSUPPORTED, "moved by argument 64; 64 are possible");
	/* in the program's memory, which has code */
	begin_slice();
	put_action(THE_SLICE, COPY_SOURCE, 0x100184);
	assert_refused(-TENON_E_UNSUPPORTED, "is not in a binding");
}

static void a_slice_stays_in_its_binding(void **state)
{
	struct torq_binding bindings[2];
	struct torq_copy moved;
	struct torq_action a;

	(void)state;
	begin_slice();
	assert_int_equal(torq_program_action(&program, THE_SLICE, &a), 0);
	assert_int_equal(torq_program_binding(&program, 0, &bindings[0]), 0);
	assert_int_equal(torq_program_binding(&program, 1, &bindings[1]), 0);
	assert_int_equal(torq_copy_move(&a.copy, 0, bindings, 2, &moved), 0);
	assert_int_equal(moved.source, 0x901000);
	assert_int_equal(torq_copy_move(&a.copy, 32, bindings, 2, &moved), 0);
	assert_int_equal(moved.source, 0x901000 + 128);
	assert_int_equal(moved.target, a.copy.target);
	assert_int_equal(torq_copy_move(&a.copy, 33, bindings, 2, &moved), -TENON_E_VALUE);
	assert_error_has("argument 0 is 33: a slice begins at 128 bytes of argument 1 at most");
	assert_int_equal(torq_copy_move(&a.copy, -1, bindings, 2, &moved), -TENON_E_VALUE);
	assert_int_equal(torq_copy_move(&a.copy, INT32_MAX, bindings, 2, &moved), -TENON_E_VALUE);
	a.copy.unit = UINT32_MAX;
	assert_int_equal(torq_copy_move(&a.copy, INT32_MAX, bindings, 2, &moved), -TENON_E_VALUE);
	assert_int_equal(torq_copy_move(&a.copy, 1, bindings, 2, &moved), -TENON_E_VALUE);
	/* no binding has it */
	assert_int_equal(torq_copy_move(&a.copy, 1, bindings, 0, &moved), -TENON_E_VALUE);
	tenon_error_clear();
}

/* ---- copies of several dimensions */

static void a_copy_visits_each_element_once(void **state)
{
	static const uint64_t places[6][2] = { { 0, 0 },   { 4, 10 },	{ 8, 20 },
					       { 100, 1 }, { 104, 11 }, { 108, 21 } };
	const struct torq_copy c = { .rank = 2,
				     .shape = { 2, 3 },
				     .source_strides = { 100, 4 },
				     .target_strides = { 1, 10 } };
	const struct torq_copy single = { .rank = 0 };
	uint32_t index[TORQ_RANK] = { 0 }, none[TORQ_RANK] = { 0 };
	uint64_t source, target;
	unsigned int i;

	(void)state;
	for (i = 0; i < 6; i++) {
		assert_true(torq_copy_next(&c, index, &source, &target));
		assert_int_equal(source, places[i][0]);
		assert_int_equal(target, places[i][1]);
	}
	assert_false(torq_copy_next(&c, index, &source, &target));
	assert_true(torq_copy_next(&single, none, &source, &target));
	assert_int_equal(source + target, 0);
	assert_false(torq_copy_next(&single, none, &source, &target));
}

#define on(case) cmocka_unit_test_setup(case, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on(an_executable_is_found_in_a_module_of_iree),
		on(what_it_touches_is_reported),
		on(an_executable_alone_is_read_as_in_its_module),
		on(a_file_without_an_executable_is_refused),
		on(an_archive_that_is_cut_is_refused),
		on(versions_and_kinds_that_are_not_known_are_refused),
		on(segments_stay_in_xram_and_are_not_far_apart),
		on(bindings_have_pages_of_their_own),
		on(copies_of_the_host_stay_in_lram_and_in_the_programs_memory),
		on(the_npu_is_started_in_lram_and_waited_for),
		on(code_of_the_host_is_refused_with_a_remedy),
		on(an_argument_that_moves_a_copy_is_one_of_the_call),
		on(a_slice_stays_in_its_binding),
		on(a_copy_visits_each_element_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
