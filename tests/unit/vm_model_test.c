/* SPDX-License-Identifier: MIT */
/* What a Relax program is said to take and give, without running it. */
#include "tests/unit/vm_assembler.h"

#include <tenon/model.h>
#include <unistd.h>

static struct tenon_model *described(struct assembly *a)
{
	struct tenon_model_options options = { .describe = true };
	struct tenon_module *x;
	struct tenon_model *model = NULL;

	if (load_assembly(a, &x) || tenon_model_open(x, &options, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(x);
	return model;
}

/* main(): a tuple of @width empty tuples or numbers, in a tuple of @width such tuples, and so on */
static void assemble_nest(struct assembly *a, int64_t width, int64_t depth, bool empty)
{
	uint32_t make = assemble_packed(a, "vm.builtin.make_tuple");
	int64_t operands[ASSEMBLY_MOST], i, k;

	assemble_function(a, "main", 0, depth + 1);
	assemble_call(a, 0, make, (const int64_t[]){ IMM(7) }, !empty);
	for (i = 0; i < depth; i++) {
		for (k = 0; k < width; k++)
			operands[k] = REG(i);
		assemble_call(a, i + 1, make, operands, (size_t)width);
	}
	assemble_ret(a, depth);
}

static void outputs_in_nested_tuples_are_listed(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_model *model;

	(void)state;
	assemble_nest(&a, 3, 4, false);
	model = described(&a);
	assert_int_equal(tenon_model_output_count(model), 81);
	tenon_model_close(model);
}

static void tuples_of_tuples_of_nothing_are_described_in_time(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_model *model;

	(void)state;
	/* 40 to the power of 7 empty ones */
	assemble_nest(&a, 40, 7, true);
	alarm(60);
	model = described(&a);
	alarm(0);
	assert_int_equal(tenon_model_output_count(model), 0);
	tenon_model_close(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_in_nested_tuples_are_listed),
		cmocka_unit_test(tuples_of_tuples_of_nothing_are_described_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
