/* SPDX-License-Identifier: MIT */
/*
 * Two devices at once: each has its own program in one file (examples/link/README.md), and both have work before
 * the host waits for either: two_devices two.so opencl:0 opencl:1
 */
#include <stdio.h>
#include <tenon/tenon.h>

#define DEVICES 2
#define COUNT	1024
#define BYTES	(COUNT * sizeof(float))

/* what a device has: two vectors and their sum; and the sum on the host */
static struct share {
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_memory *memory[3];
	float result[COUNT];
} shares[DEVICES];

static float vectors[2][COUNT];

/* Queue up the vectors; this does not wait for the device. */
static int share_open(struct share *s, const char *uri)
{
	struct tenon_memory_request r = { sizeof(r), BYTES, TENON_MEMORY_DEFAULT, -1, NULL };
	int err = tenon_device_open(uri, &s->device);

	if (!err)
		err = tenon_queue_current(s->device, &s->queue);
	for (int i = 0; !err && i < 3; i++)
		err = tenon_memory_alloc(s->device, &r, &s->memory[i]);
	for (int i = 0; !err && i < 2; i++)
		err = tenon_queue_write(s->queue, s->memory[i], 0, vectors[i], BYTES, NULL);
	return err;
}

/* Call the launcher, which runs the program of the tensors' device, and queue up the read of the result. */
static int share_run(struct share *s, struct tenon_function *vecadd)
{
	int64_t shape[] = { COUNT };
	struct tenon_value result = tenon_arg_none();
	DLTensor t[3];
	int err;

	for (int i = 0; i < 3; i++) {
		t[i] = tenon_dltensor(tenon_memory_data(s->memory[i]), shape, 1,
				      tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
		t[i].device = tenon_device_id(s->device);
	}
	err = tenon_call(vecadd, &result, tenon_arg_tensor(&t[0]), tenon_arg_tensor(&t[1]),
			 tenon_arg_tensor(&t[2]));
	if (!err)
		err = tenon_queue_read(s->queue, s->result, s->memory[2], 0, BYTES, NULL);
	return err ? err : tenon_queue_flush(s->queue);
}

int main(int argc, char **argv)
{
	struct tenon_module *module = NULL;
	struct tenon_function *vecadd = NULL;
	int err = tenon_module_load(argc > 1 ? argv[1] : "two.so", &module);

	for (int i = 0; i < COUNT; i++)
		vectors[0][i] = (float)i, vectors[1][i] = 1;
	if (!err)
		err = tenon_module_get_function(module, "vecadd", &vecadd);
	for (int i = 0; !err && i < DEVICES; i++)
		err = share_open(&shares[i], i + 2 < argc ? argv[i + 2] : "opencl:0");
	for (int i = 0; !err && i < DEVICES; i++)
		err = share_run(&shares[i], vecadd);
	for (int i = 0; !err && i < DEVICES; i++)
		if (!(err = tenon_queue_sync(shares[i].queue, TENON_FOREVER)))
			printf("device %d: %g %g ... %g\n", i, shares[i].result[0],
			       shares[i].result[1], shares[i].result[COUNT - 1]);
	if (err)
		fprintf(stderr, "%s\n", tenon_error_message());
	return err ? 1 : 0; /* what is open goes with the process */
}
