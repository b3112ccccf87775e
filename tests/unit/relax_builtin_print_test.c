/* SPDX-License-Identifier: MIT */
/* vm.builtin.debug_print: what it writes of a tensor, and what it refuses. */
#include "tests/unit/one_builtin.h"

#include <stdio.h>
#include <unistd.h>

/* What a call of debug_print("model.py:12", tensor) writes to the standard output. */
static size_t printed(struct tenon_tensor *t, char *text, size_t room)
{
	struct one o = begin("vm.builtin.debug_print");
	uint32_t where = constant_string(&o.a, "model.py:12");
	struct tenon_value ret;
	struct relax_vm *vm;
	FILE *file = tmpfile();
	int saved, err;
	size_t size;

	assert_non_null(file);
	CALL(&o, 1, CONST(where), REG(0));
	vm = end(&o);
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	assert_true(saved >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
	err = RUN(vm, &ret, tenon_arg_object(t));
	fflush(stdout);
	assert_true(dup2(saved, STDOUT_FILENO) >= 0);
	close(saved);
	assert_int_equal(err, 0);
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	rewind(file);
	size = fread(text, 1, room - 1, file);
	text[size] = '\0';
	fclose(file);
	tenon_object_unref(vm);
	tenon_object_unref(t);
	return size;
}

/* the text is that of the function in TVM 0.27's Python */
static void debug_print_writes_the_place_the_type_and_the_elements(void **state)
{
	const DLDataType i32 = { TENON_DTYPE_INT, 32, 1 };
	const int32_t whole[] = { 4, 5, 6 };
	const float real[] = { 1, 2.5f };
	char text[200];

	(void)state;
	assert_true(printed(vector(3, i32, whole, sizeof(whole)), text, sizeof(text)) > 0);
	assert_string_equal(text, "model.py:12: shape = (3,), dtype = int32, data =\n[4 5 6]\n");
	assert_true(printed(vector(2, f32, real, sizeof(real)), text, sizeof(text)) > 0);
	assert_string_equal(text, "model.py:12: shape = (2,), dtype = float32, data =\n[1. 2.5]\n");
}

static void debug_print_wants_a_text_and_a_tensor(void **state)
{
	struct one o = begin("vm.builtin.debug_print");

	(void)state;
	CALL(&o, 1, IMM(1), REG(0));
	refused(end(&o), tenon_arg_int(0), -TENON_E_TYPE, "debug_print");
	o = begin("vm.builtin.debug_print");
	CALL(&o, 1, REG(0));
	refused(end(&o), tenon_arg_int(0), -TENON_E_TYPE, "debug_print");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debug_print_writes_the_place_the_type_and_the_elements),
		cmocka_unit_test(debug_print_wants_a_text_and_a_tensor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
