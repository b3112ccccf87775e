/* SPDX-License-Identifier: MIT */
/* Compare, print, parse and hash integers of any size. */
#include "runtime/ffi/big_int.h"

#include <stdlib.h>

#include "runtime/ffi/attributes.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int TVMFFIBigIntFromByteArray(const struct tenon_slice *input, struct tenon_value *out);
EXPORT struct tenon_slice TVMFFIBigIntGetContentByteArray(const struct tenon_value *value);

static void big_int_delete(void *self, int flags)
{
	if (flags & TENON_DELETE_MEMORY)
		free(self);
}

/* Make a number of words; those that only extend the sign are dropped. */
static int make(const int64_t *word, size_t size, struct tenon_value *out)
{
	struct big_int *b;

	*out = tenon_arg_none();
	while (size > 1 && word[size - 1] == (word[size - 2] < 0 ? -1 : 0))
		size--;
	if (size <= 1) {
		*out = tenon_arg_int(size ? word[0] : 0);
		return 0;
	}
	b = malloc(sizeof(*b) + size * sizeof(*word));
	if (!b)
		return ffi_nomem("an integer");
	memset(b, 0, sizeof(*b));
	ffi_object_init(b, FFI_TYPE_BIG_INT, big_int_delete);
	b->size = size;
	memcpy(b->word, word, size * sizeof(*word));
	*out = tenon_arg_object(b);
	return 0;
}

int TVMFFIBigIntFromByteArray(const struct tenon_slice *input, struct tenon_value *out)
{
	size_t size = input->size / sizeof(int64_t);
	int64_t *word;
	int err;

	*out = tenon_arg_none();
	if (!ffi)
		return -1;
	if (input->size % sizeof(int64_t))
		return ffi_raise("ValueError", "BigInt content must contain whole 64-bit words");
	word = malloc(input->size + 1);
	if (!word)
		return ffi_nomem("an integer");
	if (size)
		memcpy(word, input->data, input->size);
	err = make(word, size, out);
	free(word);
	return err;
}

static const int64_t *words(const struct tenon_value *v, size_t *size)
{
	const struct big_int *b;

	if (v->type != FFI_TYPE_BIG_INT) {
		*size = 1;
		return &v->as.integer;
	}
	b = (const struct big_int *)v->as.object;
	*size = b->size;
	return b->word;
}

struct tenon_slice TVMFFIBigIntGetContentByteArray(const struct tenon_value *value)
{
	struct tenon_slice bytes;
	size_t size;

	bytes.data = (const char *)words(value, &size);
	bytes.size = size * sizeof(int64_t);
	return bytes;
}

int big_int_compare(const struct tenon_value *a, const struct tenon_value *b)
{
	size_t na, nb, i;
	const int64_t *wa = words(a, &na), *wb = words(b, &nb);
	bool negative = wa[na - 1] < 0;

	if (negative != (wb[nb - 1] < 0))
		return negative ? -1 : 1;
	if (na != nb)
		return (na < nb) != negative ? -1 : 1;
	for (i = na; i--;)
		if (wa[i] != wb[i])
			return (uint64_t)wa[i] < (uint64_t)wb[i] ? -1 : 1;
	return 0;
}

/* Negate a number of words in place. */
static void negate(uint64_t *word, size_t size)
{
	bool carry = true;
	size_t i;

	for (i = 0; i < size; i++) {
		word[i] = ~word[i] + carry;
		carry = carry && !word[i];
	}
}

char *big_int_text(const struct tenon_value *v)
{
	size_t size, i, at;
	const int64_t *source = words(v, &size);
	bool negative = source[size - 1] < 0;
	uint64_t rest, half;
	uint64_t *word = malloc(size * sizeof(*word));
	char *text;

	/* a word has at most 20 digits */
	at = size * 20 + 2;
	text = malloc(at + 1);
	if (!word || !text) {
		free(word);
		free(text);
		return NULL;
	}
	memcpy(word, source, size * sizeof(*word));
	if (negative)
		negate(word, size);
	text[at] = '\0';
	do {
		/* Divide by ten, in halves of words. */
		for (rest = 0, i = size; i--;) {
			half = rest << 32 | word[i] >> 32;
			rest = half % 10 << 32 | (word[i] & 0xffffffff);
			word[i] = half / 10 << 32 | rest / 10;
			rest %= 10;
		}
		text[--at] = (char)('0' + rest);
		while (size && !word[size - 1])
			size--;
	} while (size);
	if (negative)
		text[--at] = '-';
	memmove(text, text + at, strlen(text + at) + 1);
	free(word);
	return text;
}

int big_int_parse(struct tenon_slice text, struct tenon_value *out)
{
	bool negative = text.size && text.data[0] == '-';
	size_t i = text.size && (negative || text.data[0] == '+'), size = text.size / 19 + 2, k;
	uint64_t *word, low, high;
	unsigned int digit;
	int err;

	*out = tenon_arg_none();
	if (i == text.size)
		return ffi_raise("ValueError", "Invalid decimal string for ffi.BigInt");
	word = calloc(size, sizeof(*word));
	if (!word)
		return ffi_nomem("an integer");
	for (; i < text.size; i++) {
		digit = (unsigned int)(unsigned char)text.data[i] - '0';
		if (digit > 9) {
			free(word);
			return ffi_raise("ValueError", "Invalid decimal string for ffi.BigInt");
		}
		for (k = 0; k < size; k++) {
			low = (word[k] & 0xffffffff) * 10 + digit;
			high = (word[k] >> 32) * 10 + (low >> 32);
			word[k] = high << 32 | (low & 0xffffffff);
			digit = (unsigned int)(high >> 32);
		}
	}
	if (negative)
		negate(word, size);
	err = make((const int64_t *)word, size, out);
	free(word);
	return err;
}

/* ---- attributes */

static int64_t hash(const struct tenon_value *v)
{
	size_t size;
	const int64_t *word = words(v, &size);

	return size == 1 ? word[0] : (int64_t)ffi_hash_bytes(word, size * sizeof(*word));
}

/* what C++ code calls through the attributes __any_hash__ and __any_equal__ */
static struct tenon_value any_hash(const struct tenon_value *v)
{
	return tenon_arg_int(hash(v));
}

static struct tenon_value any_equal(const struct tenon_value *a, const struct tenon_value *b)
{
	return tenon_arg_bool(!big_int_compare(a, b));
}

static bool is_integer(const struct tenon_value *v)
{
	return v->type == TENON_TYPE_INT || v->type == FFI_TYPE_BIG_INT;
}

static PACKED_CALL(equal_call)
{
	if (count < 2 || !is_integer(&args[0]) || !is_integer(&args[1]))
		return ffi_raise("TypeError", "expected two integers");
	*ret = tenon_arg_bool(!big_int_compare(&args[0], &args[1]));
	return 0;
}

static PACKED_CALL(compare_call)
{
	if (count < 2 || !is_integer(&args[0]) || !is_integer(&args[1]))
		return ffi_raise("TypeError", "expected two integers");
	*ret = tenon_arg_int(big_int_compare(&args[0], &args[1]));
	return 0;
}

static PACKED_CALL(hash_call)
{
	if (count < 1 || !is_integer(&args[0]))
		return ffi_raise("TypeError", "expected an integer");
	*ret = tenon_arg_int(hash(&args[0]));
	return 0;
}

static PACKED_CALL(to_json)
{
	char *text;
	int err;

	if (count < 1 || !is_integer(&args[0]))
		return ffi_raise("TypeError", "expected an integer");
	text = big_int_text(&args[0]);
	if (!text)
		return ffi_nomem("an integer's digits");
	err = ffi_string(text, strlen(text), ret);
	free(text);
	return err;
}

static PACKED_CALL(from_json)
{
	struct tenon_slice text;

	if (ffi_count("ffi.BigInt", count, 1, 1) || ffi_arg_text("ffi.BigInt", args, 0, &text))
		return -1;
	return big_int_parse(text, ret);
}

int big_int_register(void)
{
	if (ffi_attribute_key(FFI_TYPE_BIG_INT, any_hash, any_equal) ||
	    ffi_attribute_function(FFI_TYPE_BIG_INT, "__ffi_eq__", NULL, equal_call, NULL) ||
	    ffi_attribute_function(FFI_TYPE_BIG_INT, "__ffi_compare__", NULL, compare_call, NULL) ||
	    ffi_attribute_function(FFI_TYPE_BIG_INT, "__ffi_hash__", NULL, hash_call, NULL) ||
	    ffi_attribute_function(FFI_TYPE_BIG_INT, "__data_to_json__", NULL, to_json, NULL) ||
	    ffi_attribute_function(FFI_TYPE_BIG_INT, "__data_from_json__", NULL, from_json, NULL))
		return -1;
	return 0;
}
