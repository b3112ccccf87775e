/* SPDX-License-Identifier: MIT */
/* Load and store elements of any dtype. */
#include <string.h>

#include "runtime/core/dtype.h"
#include "tools/tensor/element.h"
#include "tools/tensor/minifloat.h"

DLDataType element_storage(DLDataType dtype)
{
	return dtype_stored(dtype);
}

int element_class_of(DLDataType dtype)
{
	dtype = element_storage(dtype);
	if (!dtype_is_known(dtype))
		return -1;
	switch (dtype.code) {
	case TENON_DTYPE_BOOL:
		return ELEMENT_BOOL;
	case TENON_DTYPE_INT:
		return ELEMENT_SIGNED;
	case TENON_DTYPE_UINT:
	case TENON_DTYPE_HANDLE:
		return ELEMENT_UNSIGNED;
	case TENON_DTYPE_COMPLEX:
		return ELEMENT_COMPLEX;
	default:
		return ELEMENT_REAL;
	}
}

int element_bytes(uint64_t count, DLDataType dtype, size_t *bytes)
{
	uint64_t bits;
	int err;

	err = dtype_check(dtype);
	if (err)
		return err;
	dtype = element_storage(dtype);
	if (__builtin_mul_overflow(count, (uint64_t)dtype.bits * dtype.lanes, &bits) ||
	    bits > UINT64_MAX - 7 || (bits + 7) / 8 > SIZE_MAX / 2)
		return tenon_error(-TENON_E_OVERFLOW, "more bytes than an address can count");
	*bytes = (size_t)((bits + 7) / 8);
	return 0;
}

/* Load a number of 1, 2, 4, 6, or a multiple of 8 bits, up to 64. */
static uint64_t load(const uint8_t *data, uint64_t index, unsigned int bits)
{
	uint64_t value = 0, at;

	if (bits % 8 == 0) {
		memcpy(&value, data + index * (bits / 8), bits / 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		value >>= 64 - bits;
#endif
		return value;
	}
	at = index * bits;
	for (unsigned int i = 0; i < bits; i++, at++)
		value |= (uint64_t)(data[at / 8] >> at % 8 & 1) << i;
	return value;
}

static void store(uint8_t *data, uint64_t index, unsigned int bits, uint64_t value)
{
	uint64_t at;

	if (bits % 8 == 0) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		value <<= 64 - bits;
#endif
		memcpy(data + index * (bits / 8), &value, bits / 8);
		return;
	}
	at = index * bits;
	for (unsigned int i = 0; i < bits; i++, at++) {
		uint8_t bit = (uint8_t)(1u << at % 8);

		data[at / 8] = (uint8_t)(value >> i & 1 ? data[at / 8] | bit : data[at / 8] & ~bit);
	}
}

static double real_of(uint64_t bits, DLDataType dtype, unsigned int width)
{
	double real;
	float single;
	uint32_t low = (uint32_t)bits;

	if (width == 64) {
		memcpy(&real, &bits, sizeof(real));
		return real;
	}
	if (width == 32) {
		memcpy(&single, &low, sizeof(single));
		return single;
	}
	return minifloat_decode(minifloat_of(dtype), low);
}

static uint64_t bits_of(double real, DLDataType dtype, unsigned int width)
{
	uint64_t bits;
	uint32_t low;
	float single;

	if (width == 64) {
		memcpy(&bits, &real, sizeof(bits));
		return bits;
	}
	if (width == 32) {
		single = (float)real;
		memcpy(&low, &single, sizeof(low));
		return low;
	}
	return minifloat_encode(minifloat_of(dtype), real);
}

void element_get(const void *data, uint64_t index, DLDataType dtype, struct element *out)
{
	int class = element_class_of(dtype);
	unsigned int width;
	uint64_t bits;

	memset(out, 0, sizeof(*out));
	out->class = ELEMENT_UNSIGNED;
	if (class < 0)
		return;
	out->class = (enum element_class) class;
	dtype = element_storage(dtype);
	if (out->class == ELEMENT_COMPLEX) {
		width = dtype.bits / 2u;
		out->real = real_of(load(data, 2 * index, width), dtype, width);
		out->imaginary = real_of(load(data, 2 * index + 1, width), dtype, width);
		return;
	}
	width = dtype.bits;
	bits = load(data, index, width);
	switch (out->class) {
	case ELEMENT_BOOL:
		out->natural = bits != 0;
		break;
	case ELEMENT_SIGNED:
		/* sign-extend */
		out->integer = (int64_t)(bits << (64 - width)) >> (64 - width);
		break;
	case ELEMENT_REAL:
		out->real = real_of(bits, dtype, width);
		break;
	default:
		out->natural = bits;
		break;
	}
}

double element_real(const struct element *value)
{
	switch (value->class) {
	case ELEMENT_SIGNED:
		return (double)value->integer;
	case ELEMENT_BOOL:
	case ELEMENT_UNSIGNED:
		return (double)value->natural;
	default:
		return value->real;
	}
}

static uint64_t element_integer(const struct element *value)
{
	if (value->class != ELEMENT_REAL && value->class != ELEMENT_COMPLEX)
		return value->natural;
	/* Casting a number out of range is undefined. */
	if (!(value->real > -9.2e18 && value->real < 9.2e18))
		return 0;
	return (uint64_t)(int64_t)value->real;
}

void element_put(void *data, uint64_t index, DLDataType dtype, const struct element *value)
{
	unsigned int width;

	dtype = element_storage(dtype);
	width = dtype.bits;
	switch (element_class_of(dtype)) {
	case ELEMENT_COMPLEX:
		width /= 2;
		store(data, 2 * index, width, bits_of(element_real(value), dtype, width));
		store(data, 2 * index + 1, width,
		      bits_of(value->class == ELEMENT_COMPLEX ? value->imaginary : 0, dtype,
			      width));
		break;
	case ELEMENT_REAL:
		store(data, index, width, bits_of(element_real(value), dtype, width));
		break;
	case ELEMENT_BOOL:
		store(data, index, width, element_real(value) != 0);
		break;
	case ELEMENT_SIGNED:
	case ELEMENT_UNSIGNED:
		store(data, index, width, element_integer(value));
		break;
	default:
		break;
	}
}

void tensor_element(const DLTensor *dl, uint64_t index, struct element *out)
{
	const uint8_t *data = (const uint8_t *)dl->data + dl->byte_offset;
	uint64_t lanes = dl->dtype.lanes ? dl->dtype.lanes : 1;
	uint64_t lane = index % lanes, rest = index / lanes;
	int64_t place = 0;

	if (dl->strides) {
		for (int32_t i = dl->ndim - 1; i >= 0; i--) {
			place += (int64_t)(rest % (uint64_t)dl->shape[i]) * dl->strides[i];
			rest /= (uint64_t)dl->shape[i];
		}
		/* Elements at a negative offset have whole bytes. */
		if (place < 0) {
			data -= (uint64_t)-place * dl->dtype.bits * dl->dtype.lanes / 8;
			place = 0;
		}
		rest = (uint64_t)place;
	}
	element_get(data, rest * lanes + lane, dl->dtype, out);
}
