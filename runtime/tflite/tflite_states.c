/* SPDX-License-Identifier: MIT */
/*
 * Variables that an NPU keeps in its arena, as Vela compiles them for Ethos-U85: an input that no operator computes is what the
 * last run left in the output of the same place. CALL_ONCE calls a graph that the NPU runs once, which leaves the first values
 * there.
 *
 * Here a state and what it becomes have one place in the block, which no other tensor takes.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/tflite/tflite_network.h"

static bool same_place(const struct tflite_value *a, const struct tflite_value *b)
{
	return a->info.place >= 0 && a->info.place == b->info.place &&
	       a->info.type == b->info.type && a->info.bytes == b->info.bytes;
}

struct tflite_value *tflite_state_next(const struct operator_call *c, const struct tflite_value *v)
{
	uint32_t i;

	for (i = 0; i < c->output_count; i++)
		if (c->outputs[i] && same_place(c->outputs[i], v))
			return c->outputs[i];
	return NULL;
}

static int set_state(const struct tflite_value *state, const struct tflite_network *first)
{
	uint32_t i;

	for (i = 0; i < first->model.tensors.count; i++)
		if (first->lives[i].source == TFLITE_COMPUTED &&
		    same_place(state, &first->values[i])) {
			memcpy(state->data, first->values[i].data, (size_t)state->info.bytes);
			return 0;
		}
	return tenon_error(-TENON_E_FORMAT,
			   "tensor %" PRIu32 " (\"%.*s\") is kept by the NPU, and graph %" PRIu32
			   ", which CALL_ONCE calls, does not set it",
			   state->index, (int)state->info.name.size, state->info.name.data,
			   first->model.graph);
}

int tflite_states_begin(struct tflite_network *n)
{
	struct tflite_network *first;
	uint32_t i;
	int err;

	if (!n->first_graph || !n->device)
		return 0;
	if (heap_now())
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "variables that an NPU keeps have no place in memory of the "
				   "caller; open the model without regions");
	err = tflite_open_graph(n, n->first_graph, &first);
	if (err)
		return err;
	err = tflite_run_steps(first);
	for (i = 0; i < n->model.tensors.count && !err; i++)
		if (n->lives[i].source == TFLITE_STATE)
			err = set_state(&n->values[i], first);
	tflite_destroy(&first->base);
	return err;
}
