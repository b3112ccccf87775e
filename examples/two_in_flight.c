/* SPDX-License-Identifier: MIT */
/*
 * Keep a device busy: while it works on one run, the host submits the next. The model is opened once for each
 * run in flight, with a queue and an input of its own: two_in_flight mlp.so opencl:0
 */
#include <stdio.h>
#include <tenon/tenon.h>

#define IN_FLIGHT 2
#define RUNS	  16
#define MOST	  4096 /* numbers of an input, of 4 bytes each */

static struct slot {
	struct tenon_model *model;
	struct tenon_queue *queue;
	struct tenon_memory *memory;
	struct tenon_point done; /* of the run that this slot has in flight */
	float input[MOST];
} slots[IN_FLIGHT];

/* A model whose first input lies in memory that this program writes by itself. */
static int slot_open(struct slot *s, struct tenon_module *root, struct tenon_device *device)
{
	struct tenon_memory_request r = { sizeof(r), MOST * 4, TENON_MEMORY_DEFAULT, -1, NULL };
	DLDevice id = tenon_device_id(device);
	struct tenon_model_options options = { sizeof(options), .devices = &id, .device_count = 1 };
	struct tenon_tensor *tensor = NULL;
	struct tenon_port port;
	DLTensor dl;
	int err = tenon_model_open(root, &options, &s->model);

	if (err || (err = tenon_model_input(s->model, 0, &port)) ||
	    (err = tenon_queue_create(device, &s->queue)) ||
	    (err = tenon_timeline_create(0, &s->done.timeline)) ||
	    (err = tenon_memory_alloc(device, &r, &s->memory)))
		return err;
	dl = tenon_dltensor(tenon_memory_data(s->memory), (int64_t *)port.shape, port.ndim,
			    port.dtype);
	dl.device = id;
	if (!(err = tenon_tensor_view(&dl, NULL, &tensor)))
		err = tenon_model_bind_input(s->model, 0, tensor);
	tenon_object_unref(tensor);
	return err;
}

/* Wait for the slot's last run, then submit the next one; neither waits for the other slot's. */
static int slot_run(struct slot *s, struct tenon_device *device, float number)
{
	struct tenon_sync sync = { .signal = &s->done, .signal_count = 1 };
	int err = tenon_timeline_wait(s->done.timeline, s->done.value, TENON_FOREVER);

	s->done.value++;
	for (int i = 0; i < MOST; i++)
		s->input[i] = number;
	if (err || (err = tenon_queue_set_current(device, s->queue)) ||
	    (err = tenon_queue_write(s->queue, s->memory, 0, s->input, sizeof(s->input), NULL)) ||
	    (err = tenon_model_run(s->model)))
		return err;
	return tenon_queue_join(s->queue, &sync);
}

int main(int argc, char **argv)
{
	struct tenon_module *root = NULL;
	struct tenon_device *device = NULL;
	int err = tenon_module_load(argc > 1 ? argv[1] : "model.so", &root);

	if (!err)
		err = tenon_device_open(argc > 2 ? argv[2] : "opencl:0", &device);
	for (int i = 0; !err && i < IN_FLIGHT; i++)
		err = slot_open(&slots[i], root, device);
	for (int i = 0; !err && i < RUNS; i++)
		err = slot_run(&slots[i % IN_FLIGHT], device, (float)i);
	if (err || (err = tenon_device_sync(device, TENON_FOREVER)))
		fprintf(stderr, "%s\n", tenon_error_message());
	else
		printf("%d runs, %d in flight\n", RUNS, IN_FLIGHT);
	return err ? 1 : 0; /* what is open goes with the process */
}
