/* SPDX-License-Identifier: MIT */
/* Print a Relax executable, and run its functions. */
#include "tests/fuzz/use_executable.h"

#include <stdlib.h>

#include "runtime/relax/relax.h"
#include "tests/fuzz/fuzz.h"

#define JUMPS_MOST     50
#define MEMORY_MOST    16384
#define ARGUMENTS_MOST 4
/* the stack is made for a function before it runs: more would be the format's and not a mistake's */
#define REGISTERS_MOST 64

static void call(struct relax_vm *vm, uint32_t function)
{
	static const int64_t shape[] = { 2, 8 };
	uint32_t count = vm->x->functions[function].args, i;
	struct tenon_value args[ARGUMENTS_MOST], ret = tenon_arg_none();
	struct tenon_tensor *t;
	struct relax_vm *outer;

	fuzz_check(tenon_tensor_create(shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t));
	for (i = 0; i < count; i++)
		args[i] = tenon_arg_object(t);
	if (!relax_enter(vm, &outer)) {
		if (!relax_call(vm, function, args, count, &ret))
			tenon_value_release(&ret);
		relax_leave(vm, outer);
	}
	if (vm->stack.depth)
		abort();
	tenon_object_unref(t);
	tenon_error_clear();
}

static void run(struct relax_executable *x)
{
	const struct relax_function *f = x->functions;
	struct tenon_module *m;
	struct relax_vm *vm;
	uint32_t i;
	int err;

	err = relax_create(x, &m);
	fuzz_check(err);
	if (err)
		return;
	vm = relax_of(m);
	vm->budget = JUMPS_MOST;
	relax_pool_limit(vm->pool, MEMORY_MOST);
	err = relax_init(vm);
	for (i = 0; i < x->function_count && !err; i++)
		if (f[i].kind != RELAX_FUNCTION_PACKED && f[i].args <= ARGUMENTS_MOST &&
		    f[i].registers <= REGISTERS_MOST)
			call(vm, i);
	tenon_error_clear();
	tenon_object_unref(m);
}

void fuzz_use_executable(struct relax_executable *x)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	relax_print_text(x, &text);
	tenon_buffer_fini(&text);
	run(x);
}
