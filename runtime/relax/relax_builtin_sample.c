/* SPDX-License-Identifier: MIT */
/*
 * Sampling: logits or probabilities to tokens, on the host. The sums that choose a token are in float32
 * and in the order that TVM uses, so the same random number gives the same token.
 */
#include <inttypes.h>
#include <tenon/workspace.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_device.h"
#include "runtime/relax/relax_element.h"

static const DLDevice host = { kDLCPU, 0 };
static const DLDataType float32 = { TENON_DTYPE_FLOAT, 32, 1 };
static const DLDataType int32 = { TENON_DTYPE_INT, 32, 1 };

/*
 * e^x of a number that is at most 0, or NaN, correct to the last bit of a float; the library is not linked with the
 * math library.
 */
static float exponential(double x)
{
	static const double log2_e = 1.4426950408889634, ln_2 = 0.6931471805599453;
	double term = 1, sum = 1, rest;
	int power, i;

	if (x != x)
		return (float)x;
	if (x < -104)
		return 0;
	power = (int)(x * log2_e - 0.5);
	rest = x - power * ln_2;
	for (i = 1; i < 14; i++) {
		term *= rest / i;
		sum += term;
	}
	for (; power < 0; power++)
		sum /= 2;
	return (float)sum;
}

/* Check the dtype of a compact tensor and get its number of elements. */
static int check_vector(const struct relax_arguments *a, int32_t i, const DLTensor *t,
			DLDataType want, uint64_t *elements)
{
	char name[TENON_DTYPE_NAME], wanted[TENON_DTYPE_NAME];

	if (!tenon_dtype_equal(t->dtype, want))
		return relax_argument_error(a, i, -TENON_E_TYPE, "expected %s, found %s",
					    tenon_dtype_name(want, wanted),
					    tenon_dtype_name(t->dtype, name));
	return tenon_tensor_elements(t, elements);
}

/*
 * Get a float32 tensor in host memory: the argument itself, or a copy of it if it is on a device.
 * The caller releases *@copy, which is NULL without a copy.
 */
static int read_floats(const struct relax_arguments *a, int32_t i, DLTensor **out,
		       struct tenon_tensor **copy, uint64_t *elements)
{
	int err;

	*copy = NULL;
	err = relax_argument_any_tensor(a, i, out);
	if (!err && place_is_host((*out)->device)) {
		err = relax_argument_host_tensor(a, i, out);
	} else if (!err) {
		err = relax_tensor_move(relax_current(), *out, host, copy);
		if (!err)
			*out = &(*copy)->dl;
	}
	if (!err)
		err = check_vector(a, i, *out, float32, elements);
	if (err) {
		tenon_object_unref(*copy);
		*copy = NULL;
	}
	return err;
}

/* One row of logits or probabilities: leading dimensions are 1. */
static int read_row(const struct relax_arguments *a, DLTensor **out, struct tenon_tensor **copy,
		    size_t *count)
{
	uint64_t elements;
	int err = read_floats(a, 0, out, copy, &elements);

	if (err)
		return err;
	if (elements && (*out)->ndim > 0 && (*out)->shape[(*out)->ndim - 1] == (int64_t)elements &&
	    elements < INT32_MAX) {
		*count = (size_t)elements;
		return 0;
	}
	tenon_object_unref(*copy);
	*copy = NULL;
	return relax_argument_error(a, 0, -TENON_E_VALUE,
				    "%" PRIu64 " elements; one row with at least one is wanted",
				    elements);
}

static float element(const DLTensor *t, int64_t i)
{
	float v;

	memcpy(&v, (const char *)relax_tensor_data(t) + i * 4, 4);
	return v;
}

static void put_element(const DLTensor *t, int64_t i, float v)
{
	memcpy((char *)relax_tensor_data(t) + i * 4, &v, 4);
}

/* Sort a row, the largest first. */
static void sort_row(const DLTensor *row, size_t count, float cutoff, struct relax_sort_item *items,
		     size_t *kept)
{
	relax_element_key_fn key = relax_element_key(float32);
	size_t i, n = 0;
	float v;

	for (i = 0; i < count; i++) {
		v = element(row, (int64_t)i);
		if (v >= cutoff || !(cutoff > 0))
			items[n++] = (struct relax_sort_item){ key(&v, false), (int64_t)i };
	}
	relax_sort(items, items + count, n);
	*kept = n;
}

/*
 * Choose from sorted probabilities p(0), p(1), …: with S the sum of those that are added before the
 * running sum reaches @top_p, the first whose running sum divided by S is above @u. -1 for rows where
 * none is.
 */
static int64_t choose(const float *p, size_t count, double top_p, double u)
{
	float sum = 0, most = 0;
	size_t i;

	for (i = 0; i < count && (double)sum < top_p; i++) {
		sum += p[i];
		most = sum;
	}
	sum = 0;
	for (i = 0; i < count; i++) {
		sum += p[i];
		if (u < (double)(sum / most))
			return (int64_t)i;
	}
	return -1;
}

/* Replace sorted logits by their probabilities at a temperature. */
static void softmax_sorted(const DLTensor *row, const struct relax_sort_item *items, size_t count,
			   double temperature, float *p)
{
	float inverse = 1.0f / (float)temperature, most = element(row, items[0].index), sum = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		p[i] = exponential((element(row, items[i].index) - most) * inverse);
		sum += p[i];
	}
	for (i = 0; i < count; i++)
		p[i] /= sum;
}

/* Sample from sorted logits. NaN, and an infinite logit that is the largest, make all probabilities NaN. */
static int sample_sorted(const DLTensor *row, const struct relax_sort_item *items, size_t count,
			 const double n[3], float *p, int64_t *out)
{
	*out = 0;
	if (n[0] < 1e-6)
		return 0;
	softmax_sorted(row, items, count, n[0], p);
	*out = choose(p, count, n[1], n[2]);
	if (*out >= 0)
		return 0;
	*out = 0;
	if (n[2] <= (double)p[0])
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "sample_top_p_from_logits: no token for the random number %g, with a "
			   "largest logit of %g at temperature %g",
			   n[2], (double)element(row, items[0].index), n[0]);
}

static int numbers(const struct relax_arguments *a, int32_t first, double *out, int32_t count)
{
	int32_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = relax_argument_float(a, first + i, &out[i]);
	return err;
}

/* sample_top_p_from_logits(logits, temperature, top_p, u) */
RELAX_BUILTIN(sample_top_p_from_logits, 4, 4)
{
	struct relax_sort_item *items = NULL;
	struct tenon_tensor *copy = NULL;
	float *p = NULL;
	double n[3]; /* temperature, top_p, u */
	DLTensor *row;
	size_t size, kept;
	int64_t chosen = 0;
	int err;

	err = numbers(a, 1, n, 3);
	if (!err)
		err = read_row(a, &row, &copy, &size);
	if (err)
		return err;
	items = relax_sort_memory(size);
	p = items ? tenon_workspace_alloc(host, size * sizeof(*p)) : NULL;
	if (p) {
		sort_row(row, size, 0, items, &kept);
		err = sample_sorted(row, items, size, n, p, &chosen);
		if (!err)
			*ret = tenon_arg_int(items[chosen].index);
	} else {
		err = tenon_error_status();
	}
	tenon_workspace_free(host, p);
	relax_sort_done(items);
	tenon_object_unref(copy);
	return err;
}

/* Sort the probabilities that are at least @cutoff, and copy them to @p; false if they do not do. */
static bool candidates(const DLTensor *row, size_t size, float cutoff, double top_p,
		       struct relax_sort_item *items, float *p, size_t *kept)
{
	float sum = 0;
	size_t i;

	sort_row(row, size, cutoff, items, kept);
	for (i = 0; i < *kept; i++) {
		p[i] = element(row, items[i].index);
		sum += p[i];
	}
	return *kept && (double)sum >= top_p;
}

static int sample_prob(const DLTensor *row, size_t size, double top_p, double u, int64_t *out)
{
	struct relax_sort_item *items = relax_sort_memory(size);
	float *p = items ? tenon_workspace_alloc(host, size * sizeof(*p)) : NULL;
	int err = p ? 0 : tenon_error_status();
	int64_t chosen = 0;
	size_t kept = 0;

	if (p) {
		if (top_p >= 1 ||
		    !candidates(row, size, (float)(top_p / 1024), top_p, items, p, &kept))
			candidates(row, size, 0, top_p, items, p, &kept);
		if (p[0] != p[0])
			err = tenon_error(-TENON_E_VALUE,
					  "sample_top_p_from_prob: every probability is NaN");
		else if (!(u < (double)p[0] / top_p))
			chosen = choose(p, kept, top_p, u);
		*out = items[chosen >= 0 ? (size_t)chosen : kept - 1].index;
	}
	tenon_workspace_free(host, p);
	relax_sort_done(items);
	return err;
}

/* sample_top_p_from_prob(prob, top_p, u) */
RELAX_BUILTIN(sample_top_p_from_prob, 3, 3)
{
	struct tenon_tensor *copy;
	int64_t chosen = 0;
	double n[2]; /* top_p, u */
	DLTensor *row;
	size_t size;
	int err;

	err = numbers(a, 1, n, 2);
	if (!err)
		err = read_row(a, &row, &copy, &size);
	if (err)
		return err;
	err = sample_prob(row, size, n[0], n[1], &chosen);
	tenon_object_unref(copy);
	if (!err)
		*ret = tenon_arg_int(chosen);
	return err;
}

/* The first of @count probabilities whose running sum is above @u; else the last. */
static int64_t first_above(const DLTensor *row, int64_t start, int64_t count, float u)
{
	float sum = 0;
	int64_t i;

	for (i = 0; i < count - 1; i++) {
		sum += element(row, start + i);
		if (sum > u)
			return i;
	}
	return count - 1;
}

/* multinomial_from_uniform(prob[b, …, V], u[b, …]) -> int64[b, 1] */
RELAX_BUILTIN(multinomial_from_uniform, 2, 2)
{
	static const DLDataType int64 = { TENON_DTYPE_INT, 64, 1 };
	struct tenon_tensor *copy = NULL, *copy_u = NULL, *t;
	uint64_t elements, rows;
	int64_t shape[2] = { 0, 1 }, width, i, *to;
	DLTensor *prob, *u;
	int err;

	err = read_floats(a, 0, &prob, &copy, &elements);
	if (!err)
		err = read_floats(a, 1, &u, &copy_u, &rows);
	if (err)
		goto done;
	width = prob->ndim ? prob->shape[prob->ndim - 1] : 0;
	if (width < 1 || (uint64_t)width > elements || elements / (uint64_t)width != rows) {
		err = tenon_error(-TENON_E_VALUE,
				  "multinomial_from_uniform: %" PRIu64
				  " probabilities in rows of %" PRIi64 ", and %" PRIu64
				  " random numbers; one for each row is wanted",
				  elements, width, rows);
		goto done;
	}
	shape[0] = (int64_t)rows;
	err = relax_current_pool() ? relax_tensor_new(relax_current_pool(), shape, 2, int64, &t)
				   : tenon_tensor_create(shape, 2, int64, &t);
	if (err)
		goto done;
	to = relax_tensor_data(&t->dl);
	for (i = 0; i < shape[0]; i++)
		to[i] = first_above(prob, i * width, width, element(u, i));
	*ret = tenon_arg_object(t);
done:
	tenon_object_unref(copy);
	tenon_object_unref(copy_u);
	return err;
}

/* Get logits[…, V] and the token ids that a penalty is for, and check the ids. */
static int read_penalised(const struct relax_arguments *a, DLTensor **logits, DLTensor **ids,
			  uint64_t *id_count)
{
	uint64_t elements, i;
	int32_t id;
	int err;

	err = relax_argument_host_tensor(a, 0, logits);
	if (!err)
		err = check_vector(a, 0, *logits, float32, &elements);
	if (!err)
		err = relax_argument_host_tensor(a, 1, ids);
	if (!err)
		err = check_vector(a, 1, *ids, int32, id_count);
	for (i = 0; !err && i < *id_count; i++) {
		memcpy(&id, (const char *)relax_tensor_data(*ids) + i * 4, 4);
		if (id < 0 || (uint64_t)id >= elements)
			err = relax_argument_error(
				a, 1, -TENON_E_VALUE,
				"token %" PRIi32 " of a row of %" PRIu64 " logits", id, elements);
	}
	return err;
}

/* apply_repetition_penalty(logits, ids, penalty) */
RELAX_BUILTIN(apply_repetition_penalty, 3, 3)
{
	DLTensor *logits, *ids;
	uint64_t n, i;
	double penalty;
	int32_t id;
	float v;
	int err;

	err = relax_argument_float(a, 2, &penalty);
	if (!err)
		err = read_penalised(a, &logits, &ids, &n);
	for (i = 0; !err && i < n; i++) {
		memcpy(&id, (const char *)relax_tensor_data(ids) + i * 4, 4);
		v = element(logits, id);
		put_element(logits, id, (float)(v <= 0 ? v * penalty : v / penalty));
	}
	return err;
}

/* apply_presence_and_frequency_penalty(logits, ids, frequencies, presence, frequency) */
RELAX_BUILTIN(apply_presence_and_frequency_penalty, 5, 5)
{
	uint64_t n, counted, i;
	DLTensor *logits, *ids, *times;
	int32_t id, often;
	double weight[2];
	int err;

	err = numbers(a, 3, weight, 2);
	if (!err)
		err = read_penalised(a, &logits, &ids, &n);
	if (!err)
		err = relax_argument_host_tensor(a, 2, &times);
	if (!err)
		err = check_vector(a, 2, times, int32, &counted);
	if (!err && counted != n)
		err = relax_argument_error(a, 2, -TENON_E_VALUE,
					   "%" PRIu64 " frequencies of %" PRIu64 " tokens", counted,
					   n);
	for (i = 0; !err && i < n; i++) {
		memcpy(&id, (const char *)relax_tensor_data(ids) + i * 4, 4);
		memcpy(&often, (const char *)relax_tensor_data(times) + i * 4, 4);
		put_element(logits, id,
			    (float)(element(logits, id) - (often * weight[1] + weight[0])));
	}
	return err;
}

/*
 * apply_softmax_with_temperature(logits, temperature): the first row, in place. In double, since a
 * vocabulary of 32000 loses four digits of a sum in float, and a low temperature as many of the powers.
 */
RELAX_BUILTIN(apply_softmax_with_temperature, 2, 2)
{
	double temperature, most, sum = 0;
	float e;
	uint64_t elements;
	int64_t n, i;
	DLTensor *row;
	int err;

	err = relax_argument_host_tensor(a, 0, &row);
	if (!err)
		err = check_vector(a, 0, row, float32, &elements);
	if (!err)
		err = relax_argument_float(a, 1, &temperature);
	if (err || !elements)
		return err;
	n = row->ndim ? row->shape[row->ndim - 1] : 1;
	most = element(row, 0) / temperature;
	for (i = 1; i < n; i++)
		if (element(row, i) / temperature > most)
			most = element(row, i) / temperature;
	for (i = 0; i < n; i++) {
		e = exponential(element(row, i) / temperature - most);
		sum += e;
		put_element(row, i, e);
	}
	for (i = 0; i < n; i++)
		put_element(row, i, (float)(element(row, i) / sum));
	return 0;
}
