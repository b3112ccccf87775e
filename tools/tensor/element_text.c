/* SPDX-License-Identifier: MIT */
/* Elements to text and back, without loss. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "tools/tensor/element.h"
#include "tools/tensor/minifloat.h"

static int no_number(const char *text, DLDataType dtype)
{
	char name[TENON_DTYPE_NAME];

	return tenon_error(-TENON_E_USAGE, "\"%s\" is not a number of type %s", text,
			   tenon_dtype_name(dtype, name));
}

static int does_not_fit(const char *text, DLDataType dtype, const char *range)
{
	char name[TENON_DTYPE_NAME];

	return tenon_error(-TENON_E_USAGE, "%s does not fit %s, which holds %s", text,
			   tenon_dtype_name(dtype, name), range);
}

static int parse_bool(const char *text, DLDataType dtype, struct element *out)
{
	if (strcmp(text, "true") && strcmp(text, "false") && strcmp(text, "1") && strcmp(text, "0"))
		return no_number(text, dtype);
	out->natural = *text == 't' || *text == '1';
	return 0;
}

/* Parse sign and magnitude of an integer; false if there is other text. */
static bool read_integer(const char *text, bool *negative, uint64_t *size, bool *overflow)
{
	char *end;
	int base = 10;

	*negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	/* strtoull() would accept a space or a second sign. */
	if (!strchr("0123456789abcdefABCDEF", *text) || !*text)
		return false;
	errno = 0;
	*size = strtoull(text, &end, base);
	*overflow = errno == ERANGE;
	return !*end;
}

static int parse_signed(const char *text, DLDataType dtype, struct element *out)
{
	uint64_t size, most = UINT64_C(1) << (dtype.bits - 1);
	bool negative, overflow;
	char range[64];

	if (!read_integer(text, &negative, &size, &overflow))
		return no_number(text, dtype);
	if (overflow || size > (negative ? most : most - 1)) {
		snprintf(range, sizeof(range), "-%" PRIu64 " to %" PRIu64, most, most - 1);
		return does_not_fit(text, dtype, range);
	}
	out->natural = negative ? 0 - size : size;
	return 0;
}

static int parse_unsigned(const char *text, DLDataType dtype, struct element *out)
{
	uint64_t size, most = UINT64_MAX >> (64 - dtype.bits);
	bool negative, overflow;
	char range[64];

	if (!read_integer(text, &negative, &size, &overflow))
		return no_number(text, dtype);
	if (overflow || (negative && size) || size > most) {
		snprintf(range, sizeof(range), "0 to %" PRIu64, most);
		return does_not_fit(text, dtype, range);
	}
	out->natural = size;
	return 0;
}

static double largest_of(DLDataType dtype, unsigned int width)
{
	if (width == 64)
		return 1.7976931348623157e308;
	if (width == 32)
		return 3.4028234663852886e38;
	return minifloat_largest(minifloat_of(dtype));
}

/* Parse a real number at *text and advance *text. */
static int parse_part(const char *whole, const char **text, DLDataType dtype, unsigned int width,
		      double *out)
{
	const struct minifloat *format = width < 32 ? minifloat_of(dtype) : NULL;
	char range[64];
	const char *end;
	bool overflow;

	if (!**text || strchr(" \t\n\v\f\r", **text))
		return no_number(whole, dtype);
	errno = 0;
	/* number_read_float() rounds once; number_read() and a cast round twice. */
	*out = width == 32 ? (double)number_read_float(*text, &end) : number_read(*text, &end);
	if (end == *text)
		return no_number(whole, dtype);
	overflow = errno == ERANGE && isinf(*out);
	if (!overflow && isnan(*out) && format && !minifloat_has_nan(format))
		return does_not_fit(whole, dtype, "no NaN");
	if (!overflow && isinf(*out) && format && !minifloat_has_infinity(format))
		return does_not_fit(whole, dtype, "no infinity");
	if (format && isfinite(*out)) {
		double stored = minifloat_decode(format, minifloat_encode(format, *out));

		/* Formats without infinity clamp to their largest number or give NaN. */
		overflow = !isfinite(stored) ||
			   (fabs(*out) > minifloat_largest(format) && !minifloat_has_nan(format));
	}
	if (overflow) {
		snprintf(range, sizeof(range), "numbers up to %.9g", largest_of(dtype, width));
		return does_not_fit(whole, dtype, range);
	}
	*text = end;
	return 0;
}

static int parse_complex(const char *text, DLDataType dtype, struct element *out)
{
	const char *at = text;
	int err;

	err = parse_part(text, &at, dtype, dtype.bits / 2u, &out->real);
	if (err || !*at)
		return err;
	if (*at == 'j' && !at[1]) {
		out->imaginary = out->real;
		out->real = 0;
		return 0;
	}
	if (*at != '+' && *at != '-')
		return no_number(text, dtype);
	err = parse_part(text, &at, dtype, dtype.bits / 2u, &out->imaginary);
	if (!err && (at[0] != 'j' || at[1]))
		err = no_number(text, dtype);
	return err;
}

int element_parse(const char *text, size_t size, DLDataType dtype, struct element *out)
{
	char copy[ELEMENT_TEXT];
	const char *at = copy;
	int err;

	memset(out, 0, sizeof(*out));
	dtype = element_storage(dtype);
	if (size >= sizeof(copy))
		return tenon_error(-TENON_E_USAGE, "a number of %zu characters: \"%.20s…\"", size,
				   text);
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (strlen(copy) != size)
		return no_number(copy, dtype);
	if (element_class_of(dtype) < 0)
		return no_number(copy, dtype);
	out->class = (enum element_class)element_class_of(dtype);
	switch (out->class) {
	case ELEMENT_BOOL:
		return parse_bool(copy, dtype, out);
	case ELEMENT_SIGNED:
		return parse_signed(copy, dtype, out);
	case ELEMENT_UNSIGNED:
		return parse_unsigned(copy, dtype, out);
	case ELEMENT_COMPLEX:
		return parse_complex(copy, dtype, out);
	default:
		err = parse_part(copy, &at, dtype, dtype.bits, &out->real);
		return !err && *at ? no_number(copy, dtype) : err;
	}
}

/* Test whether the text reads back as the same number in that dtype. */
static bool same_when_stored(const char *text, double real, DLDataType dtype, unsigned int width)
{
	const struct minifloat *format;

	if (width == 64)
		return number_read(text, NULL) == real;
	/* Print formats with few codes exactly: their shortest text would print 7.5 as 8. */
	if (width == 32 || width <= 8)
		return number_read_float(text, NULL) == (float)real;
	format = minifloat_of(dtype);
	return minifloat_encode(format, number_read(text, NULL)) == minifloat_encode(format, real);
}

static void real_text(double real, DLDataType dtype, unsigned int width, int digits, char *text,
		      size_t room)
{
	const char *power;

	if (!isfinite(real)) {
		snprintf(text, room, "%s", isnan(real) ? "nan" : real < 0 ? "-inf" : "inf");
		return;
	}
	if (!digits) {
		do
			number_print(text, ++digits, real);
		while (digits < 17 && !same_when_stored(text, real, dtype, width));
	} else {
		number_print(text, digits, real);
	}
	power = strchr(text, 'e');
	/* Print "100", not "1e+02". */
	if (power && power[1] == '+' && atoi(power + 1) < 16)
		snprintf(text, room, "%.0f", real);
}

const char *element_text(const struct element *value, DLDataType dtype, int digits,
			 char text[ELEMENT_TEXT])
{
	char imaginary[ELEMENT_TEXT / 2];
	size_t used;

	dtype = element_storage(dtype);
	switch (value->class) {
	case ELEMENT_BOOL:
		return strcpy(text, value->natural ? "true" : "false");
	case ELEMENT_SIGNED:
		snprintf(text, ELEMENT_TEXT, "%" PRId64, value->integer);
		break;
	case ELEMENT_UNSIGNED:
		snprintf(text, ELEMENT_TEXT,
			 dtype.code == TENON_DTYPE_HANDLE ? "0x%" PRIx64 : "%" PRIu64,
			 value->natural);
		break;
	case ELEMENT_REAL:
		real_text(value->real, dtype, dtype.bits, digits, text, ELEMENT_TEXT);
		break;
	case ELEMENT_COMPLEX:
		real_text(value->real, dtype, dtype.bits / 2u, digits, text, ELEMENT_TEXT / 2);
		real_text(value->imaginary, dtype, dtype.bits / 2u, digits, imaginary,
			  sizeof(imaginary));
		used = strlen(text);
		snprintf(text + used, ELEMENT_TEXT - used, "%s%sj", *imaginary == '-' ? "" : "+",
			 imaginary);
		break;
	}
	return text;
}
