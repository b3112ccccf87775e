/* SPDX-License-Identifier: MIT */
/* Every Relax builtin with every number and type of arguments. */
#include "tests/unit/one_builtin.h"

#include "lib/plugin.h"
#include "runtime/relax/relax_builtin.h"

extern struct plugin plugin_relax;

static int ignore(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	(void)ret;
	return 0;
}

/* Every builtin with every number of arguments of every type: refused or not, nothing breaks. */
static void no_arguments_break_a_builtin(void **state)
{
	static const int64_t extents[] = { 2, 3 };
	struct tenon_value kinds[8], args[6], ret;
	const struct global_function *b;
	struct assembly a = ASSEMBLY_INIT;
	struct relax_vm *vm, *outer;
	size_t i, n, tried = 0;

	(void)state;
	tenon_function_register_c("test.debug", ignore, true);
	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	relax_pool_limit(vm->pool, 1 << 24);
	kinds[0] = tenon_arg_none();
	kinds[1] = tenon_arg_int(1);
	kinds[2] = tenon_arg_object(shape_of(extents, 2));
	kinds[3] = tenon_arg_object(vector(3, tenon_dtype(TENON_DTYPE_INT, 64, 1), NULL, 0));
	kinds[4] = tenon_arg_pointer(vm);
	kinds[5] = tenon_arg_dtype(f32);
	kinds[6] = vm->values[0];
	kinds[7] = tenon_arg_string("test.debug");
	assert_int_equal(relax_enter(vm, &outer), 0);
	for (b = plugin_relax.offer->functions; b->name; b++) {
		for (n = 0; n <= 5; n++) {
			for (i = 0; i<(size_t)1 << (3 * n); i += n> 4 ? 61 : 1) {
				size_t k;

				for (k = 0; k < n; k++)
					args[k] = kinds[i >> (3 * k) & 7];
				ret = tenon_arg_none();
				if (b->call(NULL, args, (int32_t)n, &ret))
					tenon_error_clear();
				else
					tenon_value_release(&ret);
				tried++;
			}
		}
	}
	relax_leave(vm, outer);
	assert_true(tried > 50000);
	tenon_value_release(&kinds[2]);
	tenon_value_release(&kinds[3]);
	tenon_object_unref(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_arguments_break_a_builtin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
