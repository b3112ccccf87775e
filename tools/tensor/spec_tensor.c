/* SPDX-License-Identifier: MIT */
/* Fill tensors with numbers, files or random contents. */
#include <inttypes.h>
#include <string.h>

#include "tools/tensor/array_file.h"
#include "tools/tensor/element.h"
#include "tools/tensor/minifloat.h"
#include "tools/tensor/spec.h"

static uint64_t splitmix64(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static double unit(uint64_t random)
{
	return (double)(random >> 11) * 0x1p-52 - 1;
}

void spec_random(void *data, uint64_t count, DLDataType dtype, uint64_t seed)
{
	struct element e = { 0 };
	unsigned int keep;

	e.class = (enum element_class)element_class_of(dtype);
	dtype = element_storage(dtype);
	keep = dtype.bits < 8 ? dtype.bits : 8;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t random = splitmix64(seed + i);

		switch (e.class) {
		case ELEMENT_BOOL:
			e.natural = random >> 63;
			break;
		case ELEMENT_SIGNED:
			e.integer = (int64_t)random >> (64 - keep);
			break;
		case ELEMENT_UNSIGNED:
			e.natural = random >> (64 - keep);
			break;
		default:
			e.real = unit(random);
			e.imaginary = unit(splitmix64(~random));
			break;
		}
		element_put(data, i, dtype, &e);
	}
}

static int fill_arange(void *data, uint64_t count, DLDataType dtype)
{
	const struct minifloat *format = minifloat_of(dtype);
	struct element e = { .class = ELEMENT_UNSIGNED };
	char name[TENON_DTYPE_NAME];

	if (format && count && (double)(count - 1) > minifloat_largest(format))
		return tenon_error(-TENON_E_USAGE,
				   "arange ends at %" PRIu64 ", the largest %s is %g", count - 1,
				   tenon_dtype_name(dtype, name), minifloat_largest(format));
	for (uint64_t i = 0; i < count; i++) {
		e.natural = i;
		element_put(data, i, dtype, &e);
	}
	return 0;
}

static void fill_ones(void *data, uint64_t count, DLDataType dtype)
{
	struct element e = { .class = ELEMENT_UNSIGNED, .natural = 1 };

	for (uint64_t i = 0; i < count; i++)
		element_put(data, i, dtype, &e);
}

static uint64_t numbers_in(const char *list)
{
	uint64_t n = *list != '\0';

	for (; *list; list++)
		n += *list == ',';
	return n;
}

static int fill_list(const struct spec *spec, void *data, uint64_t count)
{
	const char *at = spec->list;
	uint64_t given = numbers_in(at);
	struct element e;
	int err;

	/* One word that is not a number is more likely a typo than a list of the wrong length. */
	if (given == 1 && given != count) {
		err = element_parse(at, strlen(at), spec->dtype, &e);
		if (err)
			return spec_without_at(at) ? -TENON_E_USAGE
						   : tenon_error_in(err, "contents are numbers, "
									 "@FILE, zeros, ones, "
									 "arange or random");
	}
	if (given != count)
		return tenon_error(-TENON_E_USAGE,
				   "%" PRIu64 " numbers are given, the shape has %" PRIu64, given,
				   count);
	for (uint64_t i = 0; i < count; i++) {
		size_t size = strcspn(at, ",");

		err = element_parse(at, size, spec->dtype, &e);
		if (err)
			return count > 1 ? tenon_error_in(err, "number %" PRIu64, i + 1) : err;
		element_put(data, i, spec->dtype, &e);
		at += size + 1;
	}
	return 0;
}

static int fill(const struct spec *spec, const DLTensor *dl)
{
	uint64_t count;
	int err;

	err = tenon_tensor_elements(dl, &count);
	if (err)
		return err;
	count *= dl->dtype.lanes;
	switch (spec->fill) {
	case SPEC_ONES:
		fill_ones(dl->data, count, dl->dtype);
		return 0;
	case SPEC_ARANGE:
		return fill_arange(dl->data, count, dl->dtype);
	case SPEC_RANDOM:
		spec_random(dl->data, count, dl->dtype, spec->seed);
		return 0;
	case SPEC_LIST:
		return fill_list(spec, dl->data, count);
	case SPEC_LOAD:
		return array_file_load(spec->path, dl);
	default:
		return 0; /* new tensors are zero */
	}
}

int spec_tensor(const struct spec *spec, struct tenon_tensor **out)
{
	int err;

	if (spec->form == SPEC_FILE)
		return array_file_tensor(spec->path, out);
	err = tenon_tensor_create(spec->shape, spec->ndim, spec->dtype, out);
	if (err)
		return err;
	err = fill(spec, &(*out)->dl);
	if (err) {
		tenon_object_unref(*out);
		*out = NULL;
	}
	return err;
}
