/* SPDX-License-Identifier: MIT */
/* The bytes decide what a Relax program does; it is run for a while. */
#include "tests/fuzz/relax_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kv/kv_cache.h"
#include "runtime/kv/rnn_state.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/use_executable.h"
#include "tests/unit/relax_stand_in.h"

/* a byte decides an instruction, and a machine has a pool and registers */
const size_t fuzz_memory_per_byte = 512;
const size_t fuzz_memory_at_all = 1 << 20;

/* A paged cache whose kernels are stand-ins. */
static int make_state(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	static const int64_t kinds[] = { 0 };
	struct kv_config f = { .sequences = 2,
			       .tokens = 8,
			       .chunk = 4,
			       .page = 2,
			       .window = true,
			       .layer_window = 4,
			       .layers = 1,
			       .kinds = kinds,
			       .kind_count = 1,
			       .q_heads = 1,
			       .kv_heads = 1,
			       .dim = 1,
			       .v_dim = 1,
			       .dtype = { TENON_DTYPE_FLOAT, 32, 1 },
			       .device = { kDLCPU, 0 } };
	struct kv_cache *c = NULL;
	int i, err = 0;

	(void)self;
	(void)args;
	f.window = count != 0;
	for (i = 0; i < KV_CALLBACKS && !err; i++)
		err = tenon_function_create(NULL, relax_stand_in, NULL, &f.callbacks[i]);
	if (!err)
		err = kv_cache_create(&f, &c);
	for (i = 0; i < KV_CALLBACKS; i++)
		tenon_object_unref(f.callbacks[i]);
	*ret = tenon_arg_object(c);
	return err;
}

static int array_of(struct tenon_value item, struct tenon_array **out)
{
	return tenon_array_create(&item, 1, out);
}

/* A recurrent state whose getter and setter are stand-ins. */
static int make_rnn(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	static const int64_t shape[] = { 3 };
	struct rnn_config f = { .layers = 1, .sequences = 2, .history = 2 };
	struct tenon_function *stand_in = NULL;
	struct tenon_tensor *initial = NULL;
	struct rnn_state *r = NULL;
	int err;

	(void)self;
	(void)args;
	(void)count;
	err = tenon_function_create(NULL, relax_stand_in, NULL, &stand_in);
	if (!err)
		err = tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1),
					  &initial);
	if (!err)
		err = array_of(tenon_arg_object(stand_in), &f.getters);
	if (!err)
		err = array_of(tenon_arg_object(stand_in), &f.setters);
	if (!err)
		err = array_of(tenon_arg_object(initial), &f.initial);
	if (!err)
		memset(initial->dl.data, 0, 3 * sizeof(float));
	if (!err)
		err = rnn_state_create(&f, &r);
	tenon_object_unref(f.initial);
	tenon_object_unref(f.setters);
	tenon_object_unref(f.getters);
	tenon_object_unref(initial);
	tenon_object_unref(stand_in);
	*ret = tenon_arg_object(r);
	return err;
}

static void register_stand_in(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	fuzz_check(tenon_function_register_c(RELAX_PROGRAM_STAND_IN, relax_stand_in, false));
	fuzz_check(tenon_function_register_c(RELAX_PROGRAM_STATE, make_state, false));
	fuzz_check(tenon_function_register_c(RELAX_PROGRAM_RNN, make_rnn, false));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_buffer image = TENON_BUFFER_INIT;
	struct tenon_module *m;

	register_stand_in();
	relax_program(data, size, &image);
	/* what is written here is an executable */
	if (!image.status &&
	    tenon_module_load_bytes("relax.VMExecutable",
				    (struct tenon_slice){ image.data, image.size }, &m)) {
		fprintf(stderr, "%s\n", tenon_error_message());
		abort();
	}
	if (!image.status) {
		fuzz_use_executable(relax_executable_of(m));
		tenon_object_unref(m);
	}
	tenon_buffer_fini(&image);
	return 0;
}
