/* SPDX-License-Identifier: MIT */
/* Weights by name, of the process: what vm.builtin.tensor_cache.* keeps. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "runtime/relax/relax_weights.h"

struct weight {
	char *name;
	struct tenon_tensor *tensor;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct weight *weights; /* ordered by name */
static size_t weight_count, weight_room;

static int compare(const char *name, struct tenon_slice with)
{
	size_t size = strlen(name);
	int order = memcmp(name, with.data, size < with.size ? size : with.size);

	return order ? order : size < with.size ? -1 : size > with.size;
}

/* Place of a name: where it is, or where it would be. */
static size_t place_of(struct tenon_slice name, bool *there)
{
	size_t low = 0, high = weight_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare(weights[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*there = low < weight_count && !compare(weights[low].name, name);
	return low;
}

/* Insert a weight, whose reference moves to the list. Caller holds the lock. */
static int insert_locked(struct tenon_slice name, struct tenon_tensor *t, bool replace)
{
	bool there;
	size_t at = place_of(name, &there);
	char *copy;

	if (there && !replace)
		return tenon_error(-TENON_E_EXISTS, "a tensor \"%.*s\" exists", (int)name.size,
				   name.data);
	if (there) {
		tenon_object_unref(weights[at].tensor);
		weights[at].tensor = t;
		return 0;
	}
	copy = strndup(name.data, name.size);
	if (!copy || !array_reserve(weights, weight_room, weight_count + 1)) {
		free(copy);
		return tenon_error(-TENON_E_NOMEM, "no memory for the name of a tensor");
	}
	memmove(weights + at + 1, weights + at, (weight_count - at) * sizeof(*weights));
	weights[at] = (struct weight){ copy, t };
	weight_count++;
	return 0;
}

int relax_weights_insert(struct tenon_slice name, struct tenon_tensor *t, bool replace)
{
	int err;

	fork_gate_lock(&lock);
	err = insert_locked(name, t, replace);
	fork_gate_unlock(&lock);
	if (err)
		tenon_object_unref(t);
	return err;
}

struct tenon_tensor *relax_weights_find(struct tenon_slice name)
{
	struct tenon_tensor *t = NULL;
	bool there;
	size_t at;

	fork_gate_lock(&lock);
	at = place_of(name, &there);
	if (there) {
		t = weights[at].tensor;
		tenon_object_ref(t);
	}
	fork_gate_unlock(&lock);
	return t;
}

void relax_weights_remove(struct tenon_slice name)
{
	struct weight gone = { NULL, NULL };
	bool there;
	size_t at;

	fork_gate_lock(&lock);
	at = place_of(name, &there);
	if (there) {
		gone = weights[at];
		weight_count--;
		memmove(weights + at, weights + at + 1, (weight_count - at) * sizeof(*weights));
	}
	fork_gate_unlock(&lock);
	free(gone.name);
	tenon_object_unref(gone.tensor);
}

void relax_weights_clear(void)
{
	struct weight *list;
	size_t count, i;

	fork_gate_lock(&lock);
	list = weights;
	count = weight_count;
	weights = NULL;
	weight_count = weight_room = 0;
	fork_gate_unlock(&lock);
	for (i = 0; i < count; i++) {
		free(list[i].name);
		tenon_object_unref(list[i].tensor);
	}
	free(list);
}

size_t relax_weights_count(void)
{
	size_t count;

	fork_gate_lock(&lock);
	count = weight_count;
	fork_gate_unlock(&lock);
	return count;
}
