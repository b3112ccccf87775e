/* SPDX-License-Identifier: MIT */
/* the bytes are a Relax executable; what is accepted is run for a while */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/vm_stand_in.h"

#define JUMPS_MOST     50
#define MEMORY_MOST    16384
#define ARGUMENTS_MOST 4
/* the stack is made for a function before it runs: more would be the format's and not a mistake's */
#define REGISTERS_MOST 64

/* what the seeds call */
static void register_stand_ins(void)
{
	static const char *const names[] = { "matmul",	 "add",	     "relu",
					     "multiply", "subtract", "fused_multiply_add" };
	static bool done;
	size_t i;

	if (done)
		return;
	done = true;
	fuzz_check(tenon_executors_register());
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fuzz_check(tenon_function_register_c(names[i], vm_stand_in, false));
}

static void call(struct vm *vm, uint32_t function)
{
	static const int64_t shape[] = { 2, 8 };
	uint32_t count = vm->x->functions[function].args, i;
	struct tenon_value args[ARGUMENTS_MOST], ret = tenon_arg_none();
	struct tenon_tensor *t;
	struct vm *outer;

	fuzz_check(tenon_tensor_create(shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t));
	for (i = 0; i < count; i++)
		args[i] = tenon_arg_object(t);
	if (!vm_enter(vm, &outer)) {
		if (!vm_call(vm, function, args, count, &ret))
			tenon_value_release(&ret);
		vm_leave(vm, outer);
	}
	if (vm->stack.depth)
		abort();
	tenon_object_unref(t);
	tenon_error_clear();
}

static void run(struct vm_executable *x)
{
	const struct vm_function *f = x->functions;
	struct tenon_module *m;
	struct vm *vm;
	uint32_t i;
	int err;

	err = vm_create(x, &m);
	fuzz_check(err);
	if (err)
		return;
	vm = vm_of(m);
	vm->budget = JUMPS_MOST;
	vm_pool_limit(vm->pool, MEMORY_MOST);
	err = vm_init(vm);
	for (i = 0; i < x->function_count && !err; i++)
		if (f[i].kind != VM_FUNCTION_PACKED && f[i].args <= ARGUMENTS_MOST &&
		    f[i].registers <= REGISTERS_MOST)
			call(vm, i);
	tenon_error_clear();
	tenon_object_unref(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_module *m;
	int err;

	register_stand_ins();
	err = tenon_module_load_bytes("relax.VMExecutable",
				      (struct tenon_slice){ (const char *)data, size }, &m);
	fuzz_check(err);
	if (err)
		return 0;
	vm_print_text(vm_executable_of(m), &text);
	tenon_buffer_fini(&text);
	run(vm_executable_of(m));
	tenon_object_unref(m);
	return 0;
}
