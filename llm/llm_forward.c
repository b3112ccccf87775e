/* SPDX-License-Identifier: MIT */
/* Sequences, and forward steps: tokens go in, logits come out. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/memory.h>

#include "lib/brief_errors.h"
#include "llm/llm_engine.h"

int llm_call(struct tenon_function *f, const struct tenon_value *args, int32_t count)
{
	struct tenon_value ret = tenon_arg_none();
	int err = tenon_function_call(f, args, count, &ret);

	if (err)
		return tenon_error_status() ? tenon_error_status() : -TENON_E_CALL;
	tenon_value_release(&ret);
	return 0;
}

/* ---- sequences */

static int remove_id(struct tenon_llm *llm, int64_t id)
{
	const struct tenon_value args[] = { llm->cache, tenon_arg_int(id) };

	return llm_call(llm->cache_f.remove, args, 2);
}

int tenon_llm_add(struct tenon_llm *llm, int64_t *id)
{
	const struct tenon_value args[] = {
		llm->cache, tenon_arg_int(llm->next_id), tenon_arg_int(llm->metadata.window),
		tenon_arg_int(llm->metadata.sink > 0 ? llm->metadata.sink : 0)
	};
	int err = llm_call(llm->cache_f.add, args, 2);

	if (!err && llm->metadata.window > 0) {
		err = llm_call(llm->cache_f.window, args, 4);
		if (err)
			remove_id(llm, llm->next_id);
	}
	if (!err)
		*id = llm->next_id++;
	return err;
}

int tenon_llm_fork(struct tenon_llm *llm, int64_t parent, int64_t position, int64_t *id)
{
	const struct tenon_value args[] = { llm->cache, tenon_arg_int(parent),
					    tenon_arg_int(llm->next_id), tenon_arg_int(position) };
	int err = llm_call(llm->cache_f.fork, args, 4);

	if (!err)
		*id = llm->next_id++;
	return err;
}

int tenon_llm_pop(struct tenon_llm *llm, int64_t id, int64_t count)
{
	const struct tenon_value args[] = { llm->cache, tenon_arg_int(id), tenon_arg_int(count) };

	return llm_call(llm->cache_f.popn, args, 3);
}

int tenon_llm_remove(struct tenon_llm *llm, int64_t id)
{
	return remove_id(llm, id);
}

int64_t tenon_llm_free_pages(struct tenon_llm *llm)
{
	struct tenon_value ret = tenon_arg_none();
	int64_t pages;

	if (tenon_function_call(llm->cache_f.pages, &llm->cache, 1, &ret))
		return -TENON_E_CALL;
	return tenon_value_int(&ret, &pages) ? -TENON_E_TYPE : pages;
}

/* ---- tensors */

int llm_step_open(struct tenon_llm *llm)
{
	const int64_t most = llm->info.sequences;
	struct llm_step *s = &llm->step;

	s->gathered = calloc((size_t)(llm->info.chunk > most ? llm->info.chunk : most),
			     sizeof(*s->gathered));
	s->slices = calloc((size_t)most, sizeof(*s->slices));
	s->done = calloc((size_t)most, sizeof(*s->done));
	s->numbers = calloc((size_t)most, 2 * sizeof(*s->numbers));
	s->ends = calloc((size_t)most, sizeof(*s->ends));
	if (s->gathered && s->slices && s->done && s->numbers && s->ends)
		return 0;
	return tenon_error(-TENON_E_NOMEM, "no memory for a step");
}

void llm_step_close(struct llm_step *s)
{
	tenon_object_unref(s->tokens);
	tenon_object_unref(s->ids);
	tenon_object_unref(s->counts);
	free(s->gathered);
	free(s->slices);
	free(s->done);
	free(s->numbers);
	free(s->ends);
}

static int tensor_of_ints(struct tenon_llm *llm, int32_t *data, int64_t count,
			  struct tenon_tensor **out)
{
	DLTensor from = tenon_dltensor(data, &count, 1, tenon_dtype(TENON_DTYPE_INT, 32, 1));
	int err = tenon_tensor_create_on(llm->device, &count, 1, from.dtype, out);

	if (err)
		return err;
	err = tenon_tensor_copy(&from, &(*out)->dl);
	if (err)
		tenon_object_unref(*out);
	return err;
}

/* @kept: NULL, or those of an earlier step: another number of them, or that step's */
static int keep_tokens(struct tenon_llm *llm, int64_t count, struct tenon_tensor **kept)
{
	int32_t *data = llm->step.gathered;
	DLTensor from = tenon_dltensor(data, &count, 1, tenon_dtype(TENON_DTYPE_INT, 32, 1));

	if (*kept && (*kept)->dl.shape[0] == count)
		return tenon_tensor_copy(&from, &(*kept)->dl);
	tenon_object_unref(*kept);
	*kept = NULL;
	return tensor_of_ints(llm, data, count, kept);
}

static int keep_shape(const int64_t *extents, size_t count, struct tenon_shape **kept)
{
	if (*kept && (*kept)->size == count &&
	    !memcmp((*kept)->data, extents, count * sizeof(*extents)))
		return 0;
	tenon_object_unref(*kept);
	*kept = NULL;
	return tenon_shape_create(extents, count, kept);
}

/* The embeddings of tokens, as [a, b, hidden]; @a times @b is the number of tokens. */
static int embed(struct tenon_llm *llm, int64_t a, int64_t b, struct tenon_tensor **out)
{
	struct tenon_value args[2], ret = tenon_arg_none();
	struct tenon_tensor *whole;
	int64_t shape[3] = { a, b, 0 };
	DLTensor dl;
	int err = keep_tokens(llm, a * b, &llm->step.tokens);

	if (err)
		return err;
	args[0] = tenon_arg_object(llm->step.tokens);
	args[1] = tenon_arg_object(llm->weights);
	err = tenon_function_call(llm->f.embed, args, 2, &ret);
	if (err)
		return tenon_error_in(-TENON_E_CALL, "embed");
	err = tenon_value_object(&ret, TENON_TYPE_TENSOR, &whole);
	if (!err && (whole->dl.ndim != 2 || whole->dl.shape[0] != a * b ||
		     !tenon_tensor_compact(&whole->dl)))
		err = tenon_error(-TENON_E_VALUE,
				  "embed gave %" PRIi32 " dimensions, %" PRIi64
				  " rows; want 2 and %" PRIi64,
				  whole->dl.ndim, whole->dl.ndim ? whole->dl.shape[0] : 0, a * b);
	if (!err) {
		dl = whole->dl;
		shape[2] = whole->dl.shape[1];
		dl.ndim = 3;
		dl.shape = shape;
		dl.strides = NULL;
		err = tenon_tensor_view(&dl, &whole->object, out);
	}
	tenon_value_release(&ret);
	return err;
}

/* Copy @rows rows of logits to @to. The first step finds out how long a row is (@to is NULL). */
static int take_logits(struct tenon_llm *llm, const struct tenon_value *ret, int64_t rows,
		       float *to)
{
	struct tenon_array *pair;
	struct tenon_tensor *logits;
	int64_t shape[2] = { rows, 0 };
	uint64_t elements;
	DLTensor host;
	int err = tenon_value_object(ret, TENON_TYPE_ARRAY, &pair);

	if (!err && pair->size < 1)
		err = tenon_error(-TENON_E_TYPE, "an empty tuple");
	if (!err)
		err = tenon_value_object(&pair->data[0], TENON_TYPE_TENSOR, &logits);
	if (!err)
		err = tenon_tensor_elements(&logits->dl, &elements);
	if (err)
		return tenon_error_in(err, "result");
	if (!tenon_dtype_equal(logits->dl.dtype, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)) ||
	    !logits->dl.ndim || !elements || elements % (uint64_t)rows ||
	    logits->dl.shape[logits->dl.ndim - 1] != (int64_t)(elements / (uint64_t)rows) ||
	    (to && (int64_t)(elements / (uint64_t)rows) != llm->info.vocabulary))
		return tenon_error(-TENON_E_VALUE,
				   "%" PRIu64 " logits for %" PRIi64
				   " sequences; want float32, %" PRIi64 " for each",
				   elements, rows, llm->info.vocabulary);
	shape[1] = (int64_t)(elements / (uint64_t)rows);
	if (!to) {
		llm->info.vocabulary = shape[1];
		return 0;
	}
	host = tenon_dltensor(to, shape, 2, logits->dl.dtype);
	host.ndim = logits->dl.ndim;
	host.shape = logits->dl.shape;
	return tenon_tensor_copy(&logits->dl, &host);
}

/* ---- one step */

static struct tenon_function *choose(const struct llm_model_functions *f, size_t count, bool decode)
{
	struct tenon_function *one = decode ? f->decode : f->prefill;
	struct tenon_function *many = decode ? f->batch_decode : f->batch_prefill;

	return count == 1 && one ? one : many;
}

/* Undo a step: remove what it appended. */
static void undo(struct tenon_llm *llm, const struct tenon_llm_part *parts,
		 const struct llm_slice *s, size_t count)
{
	struct tenon_error *reason = tenon_error_take();
	size_t i;

	for (i = 0; i < count; i++)
		tenon_llm_pop(llm, parts[s[i].part].id, (int64_t)s[i].count);
	if (reason)
		tenon_error_raise(reason);
	tenon_object_unref(reason);
}

/* Call the model's function for one step that has begun. */
static int call_step(struct tenon_llm *llm, const struct llm_slice *s, size_t count, bool decode,
		     struct tenon_tensor *x, float *rows)
{
	struct tenon_function *f = choose(&llm->f, count, decode);
	struct tenon_value args[4], ret = tenon_arg_none();
	struct tenon_tensor *ends = NULL;
	int32_t n = 0, end = -1;
	size_t i;
	int err = 0;

	args[n++] = tenon_arg_object(x);
	if (f == llm->f.batch_prefill) {
		for (i = 0; i < count; i++)
			llm->step.ends[i] = end += (int32_t)s[i].count;
		err = tensor_of_ints(llm, llm->step.ends, (int64_t)count, &ends);
		if (err)
			return err;
		args[n++] = tenon_arg_object(ends);
	}
	args[n++] = llm->cache;
	args[n++] = tenon_arg_object(llm->weights);
	err = tenon_function_call(f, args, n, &ret);
	if (err)
		err = tenon_error_status() ? tenon_error_status() : -TENON_E_CALL;
	else
		err = take_logits(llm, &ret, (int64_t)count, rows);
	tenon_value_release(&ret);
	tenon_object_unref(ends);
	return err ? tenon_error_in(err, decode ? "decode" : "prefill") : 0;
}

static int begin(struct tenon_llm *llm, const struct tenon_llm_part *parts,
		 const struct llm_slice *s, size_t count)
{
	struct llm_step *step = &llm->step;
	int64_t *numbers = step->numbers;
	struct tenon_value args[3];
	size_t i;
	int err;

	for (i = 0; i < count; i++) {
		numbers[i] = parts[s[i].part].id;
		numbers[count + i] = (int64_t)s[i].count;
	}
	err = keep_shape(numbers, count, &step->ids);
	if (!err)
		err = keep_shape(numbers + count, count, &step->counts);
	if (err)
		return err;
	args[0] = llm->cache;
	args[1] = tenon_arg_object(step->ids);
	args[2] = tenon_arg_object(step->counts);
	return llm_call(llm->cache_f.begin, args, 3);
}

/* One step: append slices of parts. @rows receives a row of logits for each; NULL for none. */
static int step(struct tenon_llm *llm, const struct tenon_llm_part *parts,
		const struct llm_slice *s, size_t count, float *rows)
{
	struct tenon_tensor *x;
	bool decode = true;
	size_t i, total = 0;
	int err, ended;

	for (i = 0; i < count; i++) {
		memcpy(llm->step.gathered + total, parts[s[i].part].tokens + s[i].start,
		       s[i].count * sizeof(int32_t));
		total += s[i].count;
		/* one token for each sequence: any of these may also be a prompt */
		decode &= s[i].count == 1;
	}
	if (!choose(&llm->f, count, decode))
		decode = false;
	err = embed(llm, decode ? (int64_t)count : 1, decode ? 1 : (int64_t)total, &x);
	if (err)
		return err;
	err = begin(llm, parts, s, count);
	if (err)
		goto drop;
	err = call_step(llm, s, count, decode, x, rows);
	ended = llm_call(llm->cache_f.end, &llm->cache, 1);
	if (!err)
		err = ended;
	if (err)
		undo(llm, parts, s, count);
drop:
	tenon_object_unref(x);
	return err;
}

static int make_rows(struct tenon_llm *llm, size_t count)
{
	size_t size;
	float *more;

	if (count <= llm->logits_room)
		return 0;
	if (__builtin_mul_overflow(count, (size_t)llm->info.vocabulary * sizeof(*more), &size))
		return tenon_error(-TENON_E_OVERFLOW, "%zu rows of logits", count);
	more = realloc(llm->logits, size);
	if (!more)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu rows of logits", count);
	llm->logits = more;
	llm->logits_room = count;
	return 0;
}

static int check_parts(const struct tenon_llm *llm, const struct tenon_llm_part *parts,
		       size_t count)
{
	size_t i, k;

	if (!count || (uint64_t)count > (uint64_t)llm->info.sequences)
		return tenon_error(-TENON_E_VALUE, "%zu sequences in a step, want 1 to %" PRIi64,
				   count, llm->info.sequences);
	for (i = 0; i < count; i++) {
		if (!parts[i].count)
			return tenon_error(-TENON_E_VALUE, "no tokens for sequence %" PRIi64,
					   parts[i].id);
		for (k = 0; k < parts[i].count; k++)
			if (parts[i].tokens[k] < 0 || parts[i].tokens[k] >= llm->info.vocabulary)
				return tenon_error(-TENON_E_VALUE,
						   "token %" PRIi32 ", the model has 0 to %" PRIi64,
						   parts[i].tokens[k], llm->info.vocabulary - 1);
	}
	return 0;
}

int tenon_llm_forward(struct tenon_llm *llm, const struct tenon_llm_part *parts, size_t count,
		      const float **logits)
{
	struct llm_slice *s = llm->step.slices;
	size_t *done = llm->step.done, part = 0, used, room, n, i;
	int err = check_parts(llm, parts, count);

	*logits = NULL;
	if (!err)
		err = make_rows(llm, count);
	if (err)
		return err;
	memset(done, 0, count * sizeof(*done));
	while (!err && part < count) {
		n = used = 0;
		room = (size_t)llm->info.chunk;
		for (i = part; i < count && used < room; i++) {
			s[n] = (struct llm_slice){ i, done[i], parts[i].count - done[i] };
			if (s[n].count > room - used)
				s[n].count = room - used;
			used += s[n++].count;
			if (!llm->f.batch_prefill)
				break;
		}
		/* a row of a part that the step does not end is written again by the one that does */
		err = step(llm, parts, s, n, llm->logits + part * (size_t)llm->info.vocabulary);
		for (i = 0; i < n && !err; i++) {
			done[s[i].part] += s[i].count;
			if (done[s[i].part] < parts[s[i].part].count)
				break;
			part = s[i].part + 1;
		}
	}
	for (i = 0; i < count && err; i++) {
		s[0] = (struct llm_slice){ i, 0, done[i] };
		if (done[i])
			undo(llm, parts, s, 1);
	}
	if (!err)
		*logits = llm->logits;
	return err;
}

int llm_measure(struct tenon_llm *llm)
{
	const int32_t token = 0;
	struct tenon_llm_part part = { 0, &token, 1 };
	struct llm_slice s = { 0, 0, 1 };
	int err = tenon_llm_add(llm, &part.id);

	if (err)
		return err;
	err = step(llm, &part, &s, 1, NULL);
	remove_id(llm, part.id);
	return err;
}
