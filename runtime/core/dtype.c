/* SPDX-License-Identifier: MIT */
/* Convert dtypes and devices to text and back. */
#include <stdio.h>
#include <string.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#include "runtime/core/dtype.h"

#include "lib/brief_errors.h"
#include "lib/slice_text.h"

/* Names of dtype codes. A name with @bits not 0 applies to that width only. No pointers: they would need relocations. */
static const struct dtype_word {
	char word[20];
	uint8_t code;
	uint8_t bits;
} dtype_words[] = {
	{ "float8_e4m3b11fnuz", TENON_DTYPE_FLOAT8_E4M3B11FNUZ, 8 },
	{ "float8_e4m3fnuz", TENON_DTYPE_FLOAT8_E4M3FNUZ, 8 },
	{ "float8_e5m2fnuz", TENON_DTYPE_FLOAT8_E5M2FNUZ, 8 },
	{ "float8_e8m0fnu", TENON_DTYPE_FLOAT8_E8M0FNU, 8 },
	{ "float8_e4m3fn", TENON_DTYPE_FLOAT8_E4M3FN, 8 },
	{ "float8_e3m4", TENON_DTYPE_FLOAT8_E3M4, 8 },
	{ "float8_e4m3", TENON_DTYPE_FLOAT8_E4M3, 8 },
	{ "float8_e5m2", TENON_DTYPE_FLOAT8_E5M2, 8 },
	{ "float6_e2m3fn", TENON_DTYPE_FLOAT6_E2M3FN, 6 },
	{ "float6_e3m2fn", TENON_DTYPE_FLOAT6_E3M2FN, 6 },
	{ "float4_e2m1fn", TENON_DTYPE_FLOAT4_E2M1FN, 4 },
	{ "bool", TENON_DTYPE_BOOL, 8 },
	{ "handle", TENON_DTYPE_HANDLE, 64 },
	{ "bfloat", TENON_DTYPE_BFLOAT, 0 },
	{ "float", TENON_DTYPE_FLOAT, 0 },
	{ "uint", TENON_DTYPE_UINT, 0 },
	{ "int", TENON_DTYPE_INT, 0 },
	{ "complex", TENON_DTYPE_COMPLEX, 0 },
	/*
	 * short forms that tvm-ffi accepts, never printed; behind the long ones, which they begin
	 */
	{ "bf", TENON_DTYPE_BFLOAT, 0 },
	{ "f", TENON_DTYPE_FLOAT, 0 },
	{ "u", TENON_DTYPE_UINT, 0 },
	{ "i", TENON_DTYPE_INT, 0 },
};

#define DTYPE_WORDS (sizeof(dtype_words) / sizeof(dtype_words[0]))

static const struct device_word {
	char word[13];
	uint8_t type;
} device_words[] = {
	{ "cpu", 1 },	     { "cuda", 2 },	 { "cuda_host", 3 },	 { "opencl", 4 },
	{ "vulkan", 7 },     { "metal", 8 },	 { "vpi", 9 },		 { "rocm", 10 },
	{ "rocm_host", 11 }, { "ext_dev", 12 },	 { "cuda_managed", 13 }, { "oneapi", 14 },
	{ "webgpu", 15 },    { "hexagon", 16 },	 { "maia", 17 },	 { "trn", 18 },
	{ "aocl", 32 },	     { "sdaccel", 33 },	 { "opengl", 34 },	 { "microdev", 35 },
	{ "null", 100 },     { "mortise", 110 }, { "rpc", 120 },
};

#define DEVICE_WORDS (sizeof(device_words) / sizeof(device_words[0]))

static bool width_is_known(DLDataType d)
{
	switch (d.code) {
	case TENON_DTYPE_INT:
	case TENON_DTYPE_UINT:
		return d.bits && d.bits <= 64 && !(d.bits & (d.bits - 1));
	case TENON_DTYPE_FLOAT:
		return d.bits == 16 || d.bits == 32 || d.bits == 64;
	case TENON_DTYPE_COMPLEX:
		return d.bits == 64 || d.bits == 128;
	case TENON_DTYPE_HANDLE:
		return d.bits == 64;
	case TENON_DTYPE_BFLOAT:
		return d.bits == 16;
	case TENON_DTYPE_FLOAT6_E2M3FN:
	case TENON_DTYPE_FLOAT6_E3M2FN:
		return d.bits == 6;
	case TENON_DTYPE_FLOAT4_E2M1FN:
		return d.bits == 4;
	default:
		/* bool, and the float8 formats (codes from bool up to float6) */
		return d.code >= TENON_DTYPE_BOOL && d.code < TENON_DTYPE_FLOAT6_E2M3FN &&
		       d.bits == 8;
	}
}

bool dtype_is_known(DLDataType d)
{
	return d.lanes && d.lanes <= INT16_MAX && width_is_known(d);
}

int dtype_check(DLDataType d)
{
	char name[TENON_DTYPE_NAME];

	if (dtype_is_known(d))
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "no tensor has elements of %s; integers have 1, 2, 4, 8, 16, 32 or 64 "
			   "bits, floats 16, 32 or 64, and vectors 1 to %d lanes",
			   tenon_dtype_name(d, name), INT16_MAX);
}

const char *tenon_dtype_name(DLDataType dtype, char name[TENON_DTYPE_NAME])
{
	const struct dtype_word *w;
	int n = -1;
	size_t i;

	if (dtype_is_void(dtype))
		return strcpy(name, "void");
	if (dtype.code == TENON_DTYPE_UINT && dtype.bits == 1)
		n = snprintf(name, TENON_DTYPE_NAME, "bool");
	for (i = 0; n < 0 && i < DTYPE_WORDS; i++) {
		w = &dtype_words[i];
		if (w->code == dtype.code && w->bits && w->bits == dtype.bits)
			n = snprintf(name, TENON_DTYPE_NAME, "%s", w->word);
		else if (w->code == dtype.code && !w->bits)
			n = snprintf(name, TENON_DTYPE_NAME, "%s%u", w->word, dtype.bits);
	}
	if (n < 0)
		n = snprintf(name, TENON_DTYPE_NAME, "custom[%u]%u", dtype.code, dtype.bits);
	if (dtype.lanes != 1)
		snprintf(name + n, TENON_DTYPE_NAME - (size_t)n, "x%u", dtype.lanes);
	return name;
}

/* Parse a number up to @most. Return false if there is none or it is larger. */
static bool take_number(struct tenon_slice *text, unsigned int most, unsigned int *out)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < text->size && text->data[i] >= '0' && text->data[i] <= '9'; i++) {
		n = n * 10 + (unsigned int)(text->data[i] - '0');
		if (n > most)
			return false;
	}
	text->data += i;
	text->size -= i;
	*out = n;
	return i > 0;
}

/* Read a name. Those of narrow floats may begin with "f" or "fp", as tvm-ffi reads them: fp8_e4m3. */
static bool take_dtype_word(struct tenon_slice *text, const struct dtype_word *w)
{
	const char *narrow = w->word + strlen("float");
	struct tenon_slice rest = *text;

	if (slice_take(text, w->word))
		return true;
	if (memcmp(w->word, "float", strlen("float")) || !w->bits || !slice_take(&rest, "f"))
		return false;
	slice_take(&rest, "p");
	if (!slice_take(&rest, narrow))
		return false;
	*text = rest;
	return true;
}

static bool dtype_take(struct tenon_slice *rest, DLDataType *out)
{
	unsigned int bits = 0, lanes = 1;
	size_t i;

	for (i = 0; i < DTYPE_WORDS; i++)
		if (take_dtype_word(rest, &dtype_words[i]))
			break;
	if (i == DTYPE_WORDS)
		return false;
	bits = dtype_words[i].bits;
	if (!bits && (!take_number(rest, 255, &bits) || !bits))
		return false;
	/* float4_e2m1fn_x2 is the name of PyTorch */
	if (dtype_words[i].code == TENON_DTYPE_FLOAT4_E2M1FN && rest->size > 1)
		slice_take(rest, "_");
	if (slice_take(rest, "x") && (!take_number(rest, 65535, &lanes) || !lanes))
		return false;
	*out = tenon_dtype(dtype_words[i].code, bits, lanes);
	return rest->size == 0;
}

int tenon_dtype_parse(struct tenon_slice text, DLDataType *out)
{
	struct tenon_slice rest = text;

	*out = tenon_dtype(TENON_DTYPE_HANDLE, 0, 0);
	if (!text.size || slice_is(text, "void"))
		return 0;
	if (dtype_take(&rest, out))
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "\"%.*s\" is no dtype; dtypes are written like float32, int8, bool, "
			   "bfloat16, uint4, float32x4",
			   (int)text.size, text.data);
}

const char *tenon_device_name(int32_t type)
{
	size_t i;

	for (i = 0; i < DEVICE_WORDS; i++)
		if (device_words[i].type == type)
			return device_words[i].word;
	return "device";
}

int tenon_device_parse(struct tenon_slice text, DLDevice *out)
{
	struct tenon_slice rest;
	unsigned int id;
	size_t i;

	for (i = 0; i < DEVICE_WORDS; i++) {
		rest = text;
		id = 0;
		if (!slice_take(&rest, device_words[i].word))
			continue;
		if (rest.size && (!slice_take(&rest, ":") || !take_number(&rest, 32767, &id)))
			continue;
		if (rest.size)
			continue;
		out->device_type = device_words[i].type;
		out->device_id = (int32_t)id;
		return 0;
	}
	return tenon_error(-TENON_E_VALUE,
			   "\"%.*s\" is no device; devices are written like cpu, cuda:0, opencl:1",
			   (int)text.size, text.data);
}
