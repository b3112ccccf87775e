/* SPDX-License-Identifier: MIT */
/* Compare tensors within a tolerance, or by the hash of their elements. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/difference.h"
#include "lib/half.h"
#include "lib/sha256.h"
#include "runtime/self_test/self_test.h"

/* an element: a number, and as an integer where it is one */
struct element {
	double real;
	int64_t integer;
};

/* what is known of all elements */
struct difference {
	uint64_t elements, differing, first;
	double most;
	double got, want; /* the first that differs */
};

static double single(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static bool is_real(DLDataType dtype)
{
	return (dtype.code == kDLFloat &&
		(dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64)) ||
	       (dtype.code == kDLBfloat && dtype.bits == 16);
}

static bool is_integer(DLDataType dtype)
{
	return (dtype.code == kDLInt || dtype.code == kDLUInt) &&
	       (dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64);
}

/* The elements are in the byte order of files: that of all machines that are tested. */
static double real_at(const unsigned char *at, DLDataType dtype)
{
	uint32_t word = 0;
	double v;

	if (dtype.code == kDLFloat && dtype.bits == 16)
		return (double)half_to_float((uint16_t)(at[0] | at[1] << 8));
	if (dtype.bits == 64) {
		memcpy(&v, at, sizeof(v));
		return v;
	}
	if (dtype.bits == 16)
		return single((uint32_t)(at[0] | at[1] << 8) << 16);
	memcpy(&word, at, sizeof(word));
	return single(word);
}

/* The low bits; those of an unsigned integer of 64 bits are its own. */
static int64_t integer_at(const unsigned char *at, DLDataType dtype)
{
	const unsigned int unused = 64u - dtype.bits;
	uint64_t v = 0;

	memcpy(&v, at, dtype.bits / 8u);
	return dtype.code == kDLInt ? (int64_t)(v << unused) >> unused : (int64_t)v;
}

static void note(struct difference *d, double got, double want, double far, bool within)
{
	if (far > d->most)
		d->most = far;
	if (!within && !d->differing++) {
		d->first = d->elements;
		d->got = got;
		d->want = want;
	}
	d->elements++;
}

static void note_real(const struct tenon_case *c, struct difference *d, double got, double want)
{
	const double far = difference_real(got, want);

	note(d, got, want, far, difference_within(far, fabs(want), c->rtol, c->atol));
}

static void note_integer(const struct tenon_case *c, struct difference *d, bool is_signed,
			 int64_t got, int64_t want)
{
	const uint64_t far = difference_integer((uint64_t)got, (uint64_t)want, is_signed);

	note(d, is_signed ? (double)got : (double)(uint64_t)got,
	     is_signed ? (double)want : (double)(uint64_t)want, (double)far, far <= c->steps);
}

static void compare_elements(const struct tenon_case *c, const DLTensor *got,
			     const unsigned char *want, size_t bytes, struct difference *d)
{
	const DLDataType dtype = got->dtype;
	const size_t step = is_real(dtype) || is_integer(dtype) ? dtype.bits / 8u : 1;
	const unsigned char *at = (const unsigned char *)got->data + got->byte_offset;
	size_t i;

	for (i = 0; i + step <= bytes; i += step) {
		if (is_real(dtype))
			note_real(c, d, real_at(at + i, dtype), real_at(want + i, dtype));
		else if (is_integer(dtype))
			note_integer(c, d, dtype.code == kDLInt, integer_at(at + i, dtype),
				     integer_at(want + i, dtype));
		else
			note(d, at[i], want[i], at[i] != want[i], at[i] == want[i]);
	}
}

static void put_type(struct tenon_buffer *out, int32_t ndim, const int64_t *shape, DLDataType dtype)
{
	char name[TENON_DTYPE_NAME];
	int32_t i;

	for (i = 0; i < ndim; i++)
		tenon_buffer_printf(out, "%" PRId64 "x", shape[i]);
	tenon_buffer_printf(out, "%s", tenon_dtype_name(dtype, name));
}

/* A bool takes a byte, as {1,1} and as {6,8}. */
static DLDataType in_memory(DLDataType dtype)
{
	return dtype.code == kDLUInt && dtype.bits == 1
		       ? tenon_dtype(TENON_DTYPE_BOOL, 8, dtype.lanes)
		       : dtype;
}

static bool same_type(const DLTensor *t, const struct tenon_case_value *v)
{
	return t->ndim == v->ndim && tenon_dtype_equal(in_memory(t->dtype), in_memory(v->dtype)) &&
	       (!t->ndim || !memcmp(t->shape, v->shape, (size_t)t->ndim * sizeof(*t->shape)));
}

static bool compare_hash(const DLTensor *got, const uint8_t *want, size_t bytes,
			 struct tenon_buffer *why)
{
	uint8_t hash[SHA256_SIZE];

	sha256_bytes((const char *)got->data + got->byte_offset, bytes, hash);
	if (!memcmp(hash, want, sizeof(hash)))
		return true;
	tenon_buffer_printf(why, "its elements have another hash than those of the case");
	return false;
}

bool self_test_compare(const struct tenon_case *c, const DLTensor *got,
		       const struct tenon_case_value *want, struct tenon_buffer *why)
{
	struct difference d = { 0 };
	size_t bytes;

	if (!same_type(got, want)) {
		put_type(why, got->ndim, got->shape, got->dtype);
		tenon_buffer_printf(why, " where ");
		put_type(why, want->ndim, want->shape, want->dtype);
		tenon_buffer_printf(why, " is expected");
		return false;
	}
	if (tenon_tensor_bytes(got, &bytes)) {
		tenon_error_clear();
		return false;
	}
	if (want->sha256)
		return compare_hash(got, want->sha256, bytes, why);
	compare_elements(c, got, (const unsigned char *)want->data.data, bytes, &d);
	if (d.differing)
		tenon_buffer_printf(why,
				    "differs in %" PRIu64 " of %" PRIu64 " elements (largest "
				    "difference %.3g; first at %" PRIu64 ": %.9g, expected %.9g)",
				    d.differing, d.elements, d.most, d.first, d.got, d.want);
	return !d.differing;
}
