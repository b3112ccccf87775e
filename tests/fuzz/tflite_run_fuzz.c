/* SPDX-License-Identifier: MIT */
/*
 * The bytes are a model of TensorFlow Lite, which is opened with ethosu://sim and run twice: operators of the processor read and write
 * their own tensors alone, those of the NPU are run by the model of Ethos-U, with a bound to their work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/device.h>
#include <tenon/ethosu.h>
#include <tenon/model.h>

#include "devices/ethosu/ethosu_sim.h"
#include "lib/file_map.h"
#include "tests/fuzz/fuzz.h"

/* models with more memory are not run, and streams with more work end */
#define MEMORY_MOST (256 << 10)
#define WORK_MOST   (1 << 18)

const size_t fuzz_memory_per_byte = 1024;
const size_t fuzz_memory_at_all = 1 << 24;
/* a tensor has a shape and no bytes */
const bool fuzz_may_ask_for_memory = true;
/* opening a model makes a program and its kernels */
const bool fuzz_is_slow = true;

int __real_ethosu_sim_run(struct tenon_cursor stream, const struct ethosu_target *target,
			  const struct ethosu_memory *memory, uint64_t work,
			  struct ethosu_extents *touched);
int __wrap_ethosu_sim_run(struct tenon_cursor stream, const struct ethosu_target *target,
			  const struct ethosu_memory *memory, uint64_t work,
			  struct ethosu_extents *touched);

int __wrap_ethosu_sim_run(struct tenon_cursor stream, const struct ethosu_target *target,
			  const struct ethosu_memory *memory, uint64_t work,
			  struct ethosu_extents *touched)
{
	int err = __real_ethosu_sim_run(stream, target, memory, work ? work : WORK_MOST, touched);

	/* an access that the check did not see */
	if (err == -TENON_E_USAGE)
		abort();
	return err;
}

/* Tensors and regions have the size that the file says, and there may be no memory for them. */
static void check(int err)
{
	if (err != -TENON_E_NOMEM)
		fuzz_check(err);
	tenon_error_clear();
}

static int fill(struct tenon_model *model, size_t index)
{
	struct tenon_tensor *tensor;
	struct tenon_value value;
	struct tenon_port port;
	int err = tenon_model_input(model, index, &port);

	err = err ? err : tenon_tensor_create(port.shape, port.ndim, port.dtype, &tensor);
	if (err)
		return err;
	value = tenon_arg_object(tensor);
	err = tenon_model_set_input(model, index, &value);
	tenon_object_unref(tensor);
	return err;
}

static int run(struct tenon_model *model)
{
	struct tenon_model_memory memory;
	size_t i;
	int err = 0;

	tenon_model_memory(model, &memory);
	if (memory.activations > MEMORY_MOST || memory.workspace > MEMORY_MOST)
		return 0;
	for (i = 0; i < tenon_model_input_count(model) && !err; i++)
		err = fill(model, i);
	err = err ? err : tenon_model_run(model);
	return err ? err : tenon_model_run(model);
}

/* The device is on top of what campaigns and fuzzers allow, the processor. */
static void prepare(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	setenv("TENON_BACKENDS", "cpu ethosu", 1);
}

static int open_and_run(struct tenon_module *module)
{
	const DLDevice device = { TENON_DL_ETHOSU, 0 };
	const struct tenon_model_options options = { .size = sizeof(options),
						     .devices = &device,
						     .device_count = 1 };
	struct tenon_model *model;
	int err = tenon_model_open(module, &options, &model);

	if (err)
		return err;
	err = run(model);
	tenon_model_close(model);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_module *module;
	int err;

	prepare();
	err = tenon_module_load_bytes("tflite", (struct tenon_slice){ (const char *)data, size },
				      &module);
	if (!err) {
		err = open_and_run(module);
		tenon_object_unref(module);
		/* idle queues keep it open, and a child of a campaign cannot free what its parent opened */
		tenon_device_close_all();
	}
	check(err);
	return 0;
}

static struct tenon_slice file(const char *name)
{
	const char *source = getenv("TENON_SOURCE");
	struct tenon_slice bytes;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/%s", source ? source : ".", name);
	if (file_map_open(path, &bytes))
		abort();
	return bytes;
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const struct {
		const char *name;
		const char *path;
	} seeds[] = {
		{ "several", "tflite/data/several.tflite" },
		{ "tables16", "ethosu/data/small/tables16.tflite" },
		{ "states", "ethosu/data/small/u85_states.tflite" },
	};
	struct tenon_slice bytes;
	size_t i;

	for (i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
		bytes = file(seeds[i].path);
		visit(context, seeds[i].name, bytes);
		file_map_close(&bytes);
	}
}

/* Larger files, and each operator of the processor, are for campaigns. */
void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	static const char *const names[] = { "ethosu/data/u55_avgpool/vela.tflite",
					     "ethosu/data/u65_add2_cop2/vela.tflite",
					     "ethosu/data/u65_cpu_fallback/vela.tflite",
					     "ethosu/data/small/add16.tflite",
					     "ethosu/data/small/minmax.tflite",
					     "ethosu/data/small/softmax16.tflite",
					     "tflite/data/concatenation_last.tflite",
					     "tflite/data/dequantize_int8.tflite",
					     "tflite/data/expand_dims.tflite",
					     "tflite/data/logistic.tflite",
					     "tflite/data/pad_with.tflite",
					     "tflite/data/requantize.tflite",
					     "tflite/data/reshape.tflite",
					     "tflite/data/slice.tflite",
					     "tflite/data/softmax.tflite",
					     "tflite/data/squeeze.tflite",
					     "tflite/data/transpose.tflite" };
	struct tenon_slice bytes;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bytes = file(names[i]);
		visit(context, bytes);
		file_map_close(&bytes);
	}
}
