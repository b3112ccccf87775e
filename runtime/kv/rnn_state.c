/* SPDX-License-Identifier: MIT */
/* Versions of recurrent tensors for each sequence, in slots of one storage. */
#include "runtime/kv/rnn_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/memory.h>

#include "lib/brief_errors.h"
#include "runtime/core/reference.h"
#include "runtime/model/tensor_place.h"

/**
 * struct rnn_sequence - a slot of the storage
 * @id: the caller's number
 * @used: there is a sequence
 * @length: tokens
 * @at: version that is current
 * @available: versions before it that can be returned to
 * @append: tokens of the running step
 */
struct rnn_sequence {
	int64_t id;
	bool used;
	int64_t length;
	int64_t at;
	int64_t available;
	int64_t append;
};

/**
 * struct rnn_state - the state
 * @object: header
 * @busy: a function runs; atomic
 * @config: as it was created; the arrays are referenced
 * @device: of the initial tensors
 * @kinds: number of tensors of a layer
 * @storage: tensors [sequences, history, …] for each layer and each tensor of it
 * @sequences: by slot
 * @slots: slots of the running step, and their current versions: host memory. Two arrays, since
 *	programs refuse a tensor that does not begin with its memory.
 * @slots_there: the same on the device
 * @views: of their first elements, for the sequences of the step
 * @batch: number of sequences of the step; 0 before the first
 * @dirty: @slots_there is out of date
 */
struct rnn_state {
	struct tenon_object object;
	int busy;
	struct rnn_config config;
	DLDevice device;
	int64_t kinds;
	struct tenon_tensor **storage;
	struct rnn_sequence *sequences;
	struct tenon_tensor *slots[2];
	struct tenon_tensor *slots_there[2];
	struct tenon_tensor *views[2];
	int64_t batch;
	bool dirty;
};

static int32_t state_type;

int32_t rnn_state_type(void)
{
	return __atomic_load_n(&state_type, __ATOMIC_RELAXED);
}

static void state_free(struct rnn_state *r)
{
	int64_t i;

	for (i = 0; r->storage && i < r->config.layers * r->kinds; i++)
		tenon_object_unref(r->storage[i]);
	for (i = 0; i < 2; i++) {
		tenon_object_unref(r->views[i]);
		tenon_object_unref(r->slots[i]);
		tenon_object_unref(r->slots_there[i]);
	}
	tenon_object_unref(r->config.getters);
	tenon_object_unref(r->config.setters);
	tenon_object_unref(r->config.initial);
	free(r->storage);
	free(r->sequences);
}

static void state_delete(void *self, int flags)
{
	if (flags & TENON_DELETE_CONTENT)
		state_free(self);
	if (flags & TENON_DELETE_MEMORY)
		free(self);
}

static const DLTensor *initial(const struct rnn_state *r, int64_t k)
{
	return &((const struct tenon_tensor *)r->config.initial->data[k].as.object)->dl;
}

static int check_config(const struct rnn_config *f)
{
	const struct tenon_array *functions[] = { f->getters, f->setters };
	const struct tenon_value *v;
	const DLTensor *t, *first = NULL;
	int64_t i;
	int k;

	if (f->layers < 1 || f->sequences < 1 || f->history < 1 || f->layers > INT32_MAX ||
	    f->sequences > INT32_MAX || f->history > INT32_MAX || f->initial->size < 1 ||
	    f->initial->size > INT32_MAX / f->layers)
		return tenon_error(-TENON_E_VALUE,
				   "%" PRIi64 " layers, %" PRIi64 " sequences, %" PRIi64
				   " versions and %" PRIi64 " tensors; want at least 1 of each",
				   f->layers, f->sequences, f->history, f->initial->size);
	for (k = 0; k < 2; k++)
		for (i = 0; i < f->initial->size; i++)
			if (functions[k]->size != f->initial->size ||
			    functions[k]->data[i].type != TENON_TYPE_FUNCTION)
				return tenon_error(-TENON_E_TYPE,
						   "a function to read and one to write are wanted "
						   "for each of %" PRIi64 " tensors",
						   f->initial->size);
	for (i = 0; i < f->initial->size; i++) {
		v = &f->initial->data[i];
		t = v->type == TENON_TYPE_TENSOR ? &((struct tenon_tensor *)v->as.object)->dl
						 : NULL;
		if (!t || t->ndim > 60 || !tenon_tensor_compact(t) ||
		    (first && !place_same(first->device, t->device)))
			return tenon_error(-TENON_E_TYPE,
					   "initial value %" PRIi64
					   " is no tensor without gaps, on the device of the first",
					   i);
		first = first ? first : t;
	}
	return 0;
}

static int allocate_storage(struct rnn_state *r)
{
	const struct rnn_config *f = &r->config;
	int64_t shape[64], i;
	const DLTensor *t;
	int err = 0;

	r->storage = calloc((size_t)(f->layers * r->kinds), sizeof(*r->storage));
	r->sequences = calloc((size_t)f->sequences, sizeof(*r->sequences));
	if (!r->storage || !r->sequences)
		return tenon_error(-TENON_E_NOMEM, "no memory for a recurrent state");
	shape[0] = f->sequences;
	shape[1] = f->history;
	for (i = 0; i < f->layers * r->kinds && !err; i++) {
		t = initial(r, i % r->kinds);
		if (t->ndim)
			memcpy(shape + 2, t->shape, (size_t)t->ndim * sizeof(*shape));
		err = tenon_tensor_create_on(r->device, shape, t->ndim + 2, t->dtype,
					     &r->storage[i]);
	}
	return err;
}

static int allocate_slots(struct rnn_state *r)
{
	static const DLDataType int32 = { TENON_DTYPE_INT, 32, 1 };
	static const DLDevice host = { kDLCPU, 0 };
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		err = tenon_tensor_create_on(host, &r->config.sequences, 1, int32, &r->slots[i]);
		if (err)
			break;
		if (!place_is_host(r->device)) {
			err = tenon_tensor_create_on(r->device, &r->config.sequences, 1, int32,
						     &r->slots_there[i]);
			continue;
		}
		tenon_object_ref(r->slots[i]);
		r->slots_there[i] = r->slots[i];
	}
	return err;
}

/* Programs can change their tuples later, so copy them. */
static int copy_config(struct rnn_state *r, const struct rnn_config *f)
{
	int err;

	r->config.layers = f->layers;
	r->config.sequences = f->sequences;
	r->config.history = f->history;
	err = tenon_array_create(f->getters->data, (size_t)f->getters->size, &r->config.getters);
	if (!err)
		err = tenon_array_create(f->setters->data, (size_t)f->setters->size,
					 &r->config.setters);
	if (!err)
		err = tenon_array_create(f->initial->data, (size_t)f->initial->size,
					 &r->config.initial);
	return err;
}

int rnn_state_create(const struct rnn_config *config, struct rnn_state **out)
{
	struct rnn_state *r;
	int32_t type;
	int err;

	*out = NULL;
	err = tenon_type_register("relax.vm.RNNState", TENON_TYPE_OBJECT, &type);
	if (err)
		return err;
	__atomic_store_n(&state_type, type, __ATOMIC_RELAXED);
	r = calloc(1, sizeof(*r));
	if (!r)
		return tenon_error(-TENON_E_NOMEM, "no memory for a recurrent state");
	tenon_object_init(&r->object, type, state_delete);
	err = copy_config(r, config);
	if (!err)
		err = check_config(&r->config);
	if (!err) {
		r->kinds = r->config.initial->size;
		r->device = initial(r, 0)->device;
		err = allocate_storage(r);
	}
	if (!err)
		err = allocate_slots(r);
	if (err) {
		tenon_object_unref(r);
		return err;
	}
	*out = r;
	return 0;
}

static int enter(struct rnn_state *r)
{
	int unused = 0;

	if (__atomic_compare_exchange_n(&r->busy, &unused, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return 0;
	return tenon_error(-TENON_E_USAGE, "the recurrent state is in use, by another thread or by "
					   "the caller of this function");
}

static int leave(struct rnn_state *r, int err)
{
	__atomic_store_n(&r->busy, 0, __ATOMIC_RELEASE);
	return err;
}

/* ---- sequences */

static struct rnn_sequence *find(const struct rnn_state *r, int64_t id)
{
	int64_t i;

	for (i = 0; i < r->config.sequences; i++)
		if (r->sequences[i].used && r->sequences[i].id == id)
			return &r->sequences[i];
	return NULL;
}

static int get(const struct rnn_state *r, int64_t id, struct rnn_sequence **out)
{
	*out = find(r, id);
	return *out ? 0 : tenon_error(-TENON_E_NOT_FOUND, "no sequence %" PRIi64, id);
}

/* Take a free slot. */
static int take(struct rnn_state *r, int64_t id, struct rnn_sequence **out)
{
	int64_t i;

	if (find(r, id))
		return tenon_error(-TENON_E_EXISTS, "sequence %" PRIi64 " exists", id);
	for (i = 0; i < r->config.sequences && r->sequences[i].used; i++)
		;
	if (i == r->config.sequences)
		return tenon_error(-TENON_E_NOMEM,
				   "all %" PRIi64
				   " slots for sequences are in use; remove a sequence first",
				   r->config.sequences);
	*out = &r->sequences[i];
	**out = (struct rnn_sequence){ .id = id };
	return 0;
}

/* @t shortened to some bytes at @offset, for a copy */
static DLTensor bytes_of(const DLTensor *t, uint64_t offset, int64_t *bytes)
{
	DLTensor part = *t;

	part.byte_offset += offset;
	part.ndim = 1;
	part.shape = bytes;
	part.strides = NULL;
	part.dtype = tenon_dtype(TENON_DTYPE_UINT, 8, 1);
	return part;
}

static int copy_bytes(const DLTensor *from, uint64_t from_offset, const DLTensor *to,
		      uint64_t to_offset, uint64_t size)
{
	int64_t bytes = (int64_t)size;
	DLTensor a = bytes_of(from, from_offset, &bytes), b = bytes_of(to, to_offset, &bytes);

	return size ? place_copy(&a, &b, size) : 0;
}

int rnn_state_add(struct rnn_state *r, int64_t id)
{
	struct rnn_sequence *s;
	size_t bytes;
	int64_t i, slot;
	int err = enter(r);

	if (err)
		return err;
	err = take(r, id, &s);
	slot = err ? 0 : s - r->sequences;
	for (i = 0; i < r->config.layers * r->kinds && !err; i++) {
		err = tenon_tensor_bytes(initial(r, i % r->kinds), &bytes);
		if (!err)
			err = copy_bytes(initial(r, i % r->kinds), 0, &r->storage[i]->dl,
					 (uint64_t)(slot * r->config.history) * bytes, bytes);
	}
	if (!err)
		s->used = true;
	return leave(r, err);
}

int rnn_state_remove(struct rnn_state *r, int64_t id)
{
	struct rnn_sequence *s;
	int err = enter(r);

	if (err)
		return err;
	err = get(r, id, &s);
	if (!err) {
		s->used = false;
		r->batch = 0;
	}
	return leave(r, err);
}

int rnn_state_clear(struct rnn_state *r)
{
	int err = enter(r);

	if (err)
		return err;
	memset(r->sequences, 0, (size_t)r->config.sequences * sizeof(*r->sequences));
	r->batch = 0;
	return leave(r, 0);
}

int rnn_state_fork(struct rnn_state *r, int64_t parent, int64_t child)
{
	struct rnn_sequence *from, *to;
	uint64_t each;
	size_t bytes;
	int64_t i;
	int err = enter(r);

	if (err)
		return err;
	err = get(r, parent, &from);
	if (!err)
		err = take(r, child, &to);
	for (i = 0; i < r->config.layers * r->kinds && !err; i++) {
		err = tenon_tensor_bytes(initial(r, i % r->kinds), &bytes);
		each = (uint64_t)r->config.history * bytes;
		if (!err)
			err = copy_bytes(&r->storage[i]->dl, (uint64_t)(from - r->sequences) * each,
					 &r->storage[i]->dl, (uint64_t)(to - r->sequences) * each,
					 each);
	}
	if (!err) {
		*to = *from;
		to->id = child;
		to->append = 0;
	}
	return leave(r, err);
}

int rnn_state_pop(struct rnn_state *r, int64_t id, int64_t count)
{
	struct rnn_sequence *s;
	int err = enter(r);

	if (err)
		return err;
	err = get(r, id, &s);
	if (!err && (count < 0 || count > s->available))
		err = tenon_error(-TENON_E_VALUE,
				  "%" PRIi64 " tokens are popped of sequence %" PRIi64
				  ", of which %" PRIi64 " earlier states are kept",
				  count, id, s->available);
	if (!err) {
		s->length -= count;
		s->available -= count;
		s->at = (s->at + r->config.history - count) % r->config.history;
		r->batch = count ? 0 : r->batch;
	}
	return leave(r, err);
}

/* ---- steps */

static int check_chain(const int64_t *lengths, size_t count, const int64_t *tree, size_t tree_size)
{
	size_t i, at = 0;
	int64_t k;

	for (i = 0; tree && i < count; i++)
		for (k = 0; k < lengths[i]; k++, at++)
			if (at >= tree_size || tree[at] != k - 1)
				return tenon_error(
					-TENON_E_UNSUPPORTED,
					"a token tree that is no chain: a recurrent state "
					"has one continuation");
	if (tree && at != tree_size)
		return tenon_error(-TENON_E_VALUE, "parents of %zu tokens; %zu are appended",
				   tree_size, at);
	return 0;
}

static bool among(int64_t id, const int64_t *ids, size_t count)
{
	while (count && ids[count - 1] != id)
		count--;
	return count;
}

static int check_step(const struct rnn_state *r, const int64_t *ids, const int64_t *lengths,
		      size_t count)
{
	struct rnn_sequence *s;
	size_t k;
	int err = 0;

	if (!count || count > (size_t)r->config.sequences)
		return tenon_error(-TENON_E_VALUE,
				   "a step of %zu sequences, there are %" PRIi64 " slots", count,
				   r->config.sequences);
	for (k = 0; k < count && !err; k++) {
		err = get(r, ids[k], &s);
		if (!err && (among(ids[k], ids, k) || lengths[k] < 1 || lengths[k] > INT32_MAX))
			err = tenon_error(
				-TENON_E_VALUE,
				"sequence %" PRIi64 " appends %" PRIi64
				" tokens; want each sequence once, and at least one token",
				ids[k], lengths[k]);
	}
	return err;
}

/* The first elements of an array, for the sequences of a step. */
static int make_view(struct rnn_state *r, int which)
{
	DLTensor dl = r->slots_there[which]->dl;

	dl.shape = &r->batch;
	dl.strides = NULL;
	tenon_object_unref(r->views[which]);
	r->views[which] = NULL;
	return tenon_tensor_view(&dl, &r->slots_there[which]->object, &r->views[which]);
}

static int copy_slots(struct rnn_state *r)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err && r->slots[i] != r->slots_there[i]; i++)
		err = place_copy(&r->slots[i]->dl, &r->slots_there[i]->dl,
				 (uint64_t)r->config.sequences * 4);
	return err;
}

int rnn_state_begin(struct rnn_state *r, const int64_t *ids, const int64_t *lengths, size_t count,
		    const int64_t *tree, size_t tree_size)
{
	struct rnn_sequence *s;
	size_t i;
	int err = enter(r);

	if (err)
		return err;
	err = check_step(r, ids, lengths, count);
	if (!err)
		err = check_chain(lengths, count, tree, tree_size);
	/* the step before goes on if this one is refused */
	if (err)
		return leave(r, err);
	for (i = 0; i < (size_t)r->config.sequences; i++)
		r->sequences[i].append = 0;
	for (i = 0; i < count; i++) {
		s = find(r, ids[i]);
		s->append = lengths[i];
		((int32_t *)r->slots[0]->dl.data)[i] = (int32_t)(s - r->sequences);
		((int32_t *)r->slots[1]->dl.data)[i] = (int32_t)s->at;
	}
	r->dirty = true;
	r->batch = (int64_t)count;
	/* Tensors of the same size are used again, unless a kernel kept them. */
	for (i = 0; i < 2 && !err; i++)
		if (!r->views[i] || r->views[i]->dl.shape[0] != r->batch ||
		    __atomic_load_n(&r->views[i]->object.refs, __ATOMIC_ACQUIRE) !=
			    (UINT64_C(1) << 32) + 1)
			err = make_view(r, (int)i);
	if (err)
		r->batch = 0;
	return leave(r, err);
}

int rnn_state_end(struct rnn_state *r)
{
	struct rnn_sequence *s;
	int64_t i;
	int err = enter(r);

	if (err)
		return err;
	for (i = 0; r->batch && i < r->config.sequences; i++) {
		s = &r->sequences[i];
		if (!s->used || !s->append)
			continue;
		s->length += s->append;
		s->available = s->append > 1			      ? 0
			       : s->available + 1 < r->config.history ? s->available + 1
								      : r->config.history - 1;
		s->at = (s->at + 1) % r->config.history;
		s->append = 0;
	}
	r->batch = 0;
	return leave(r, 0);
}

static int check_place(const struct rnn_state *r, int64_t layer, int64_t k)
{
	if (layer >= 0 && layer < r->config.layers && k >= 0 && k < r->kinds)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "tensor %" PRIi64 " of layer %" PRIi64 "; there are %" PRIi64
			   " in each of %" PRIi64 " layers",
			   k, layer, r->kinds, r->config.layers);
}

/* Check that a tensor has room for the batch: [batch, …] or more elements. */
static int check_data(const struct rnn_state *r, int64_t k, const struct tenon_value *v)
{
	const DLTensor *like = initial(r, k);
	size_t bytes, each;
	DLTensor *t;
	int err = tenon_value_tensor(v, &t);

	if (!err)
		err = tenon_tensor_bytes(t, &bytes);
	if (!err)
		err = tenon_tensor_bytes(like, &each);
	if (err)
		return err;
	if (!tenon_dtype_equal(t->dtype, like->dtype) || !place_same(t->device, r->device) ||
	    !tenon_tensor_compact(t) || bytes / (size_t)r->batch < each)
		return tenon_error(-TENON_E_VALUE,
				   "a tensor with the dtype and device of the state, and space for "
				   "%" PRIi64 " sequences, is wanted",
				   r->batch);
	return 0;
}

/* The next version takes the place of the oldest, which is lost even if the step fails then. */
static void drop_oldest(struct rnn_state *r)
{
	struct rnn_sequence *s;
	int64_t i;

	for (i = 0; r->batch && i < r->config.sequences; i++) {
		s = &r->sequences[i];
		if (s->used && s->append && s->available && s->available == r->config.history - 1)
			s->available--;
	}
}

static int call(struct rnn_state *r, const struct tenon_array *functions, int64_t layer, int64_t k,
		const struct tenon_value *data)
{
	struct tenon_value args[4], ignored = tenon_arg_none();
	int err = check_place(r, layer, k);

	if (!err && !r->batch)
		err = tenon_error(-TENON_E_USAGE, "no forward step has begun; call "
						  "kv_state_begin_forward");
	if (!err)
		err = check_data(r, k, data);
	if (!err && r->dirty)
		err = copy_slots(r);
	if (err)
		return err;
	r->dirty = false;
	if (functions == r->config.setters)
		drop_oldest(r);
	args[0] = tenon_arg_object(r->storage[layer * r->kinds + k]);
	args[1] = tenon_arg_object(r->views[0]);
	args[2] = tenon_arg_object(r->views[1]);
	args[3] = *data;
	err = tenon_function_call((struct tenon_function *)functions->data[k].as.object, args, 4,
				  &ignored);
	if (err)
		return tenon_error_in(err > 0 ? -TENON_E_CALL : err, "function for tensor %" PRIi64,
				      k);
	tenon_value_release(&ignored);
	return 0;
}

int rnn_state_get(struct rnn_state *r, int64_t layer, int64_t k, const struct tenon_value *out)
{
	int err = enter(r);

	return err ? err : leave(r, call(r, r->config.getters, layer, k, out));
}

int rnn_state_set(struct rnn_state *r, int64_t layer, int64_t k, const struct tenon_value *data)
{
	int err = enter(r);

	return err ? err : leave(r, call(r, r->config.setters, layer, k, data));
}

int rnn_state_debug(struct rnn_state *r, int64_t layer, int64_t k, int64_t id,
		    struct tenon_tensor **out)
{
	struct rnn_sequence *s;
	const DLTensor *like;
	size_t bytes;
	int err = enter(r);

	*out = NULL;
	if (err)
		return err;
	err = check_place(r, layer, k);
	if (!err)
		err = get(r, id, &s);
	if (err)
		return leave(r, err);
	like = initial(r, k);
	err = tenon_tensor_bytes(like, &bytes);
	if (!err)
		err = tenon_tensor_create_on(r->device, like->shape, like->ndim, like->dtype, out);
	if (!err)
		err = copy_bytes(&r->storage[layer * r->kinds + k]->dl,
				 (uint64_t)((s - r->sequences) * r->config.history + s->at) * bytes,
				 &(*out)->dl, 0, bytes);
	return leave(r, object_made(err, out));
}
