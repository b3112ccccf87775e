/* SPDX-License-Identifier: MIT */
#ifndef TENON_VALUE_H
#define TENON_VALUE_H

/**
 * DOC: values
 *
 * A value is the 16-byte tagged union of the tvm-ffi ABI: what functions take and return.
 *
 * The same layout has two roles. A *view* borrows: arguments are views, they live as long as the
 * call. An *owned* value holds one strong reference when its type is TENON_TYPE_OBJECT or above;
 * results are owned. Some types can only be views: raw string, raw bytes, DLTensor, r-value
 * reference. tenon_value_own() turns a view into an owned value.
 *
 * Bytes that the active member does not use are zero: foreign code compares and hashes all sixteen.
 */

#include <stdbool.h>
#include <tenon/dlpack.h>
#include <tenon/export.h>
#include <tenon/object.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_slice - bytes that somebody else owns
 * @data: first byte; may be NULL when @size is 0. Not NUL-terminated.
 * @size: in bytes
 *
 * Has the layout of TVMFFIByteArray.
 */
struct tenon_slice {
	const char *data;
	size_t size;
};

/**
 * struct tenon_value - one argument or result
 * @type: enum tenon_type_index or a dynamic type index
 * @small_size: bytes used of @as.small, for the two small types; else 0
 * @as: the content; which member is active follows from @type
 */
struct tenon_value {
	int32_t type;
	uint32_t small_size;
	union {
		int64_t integer; /* int, bool (0 or 1 in all eight bytes) */
		double real;
		void *pointer;
		const char *string;
		const struct tenon_slice *bytes;
		DLTensor *tensor;
		struct tenon_object *object;
		DLDataType dtype;
		DLDevice device;
		char small[8];
		uint64_t bits; /* all eight, for clearing */
	} as;
};

/* Arguments, made in place: tenon_call(f, &ret, tenon_arg_int(3), tenon_arg_tensor(&t)) */

static inline struct tenon_value tenon_arg_none(void)
{
	struct tenon_value v = { TENON_TYPE_NONE, 0, { 0 } };

	return v;
}

static inline struct tenon_value tenon_arg_int(int64_t integer)
{
	struct tenon_value v = { TENON_TYPE_INT, 0, { 0 } };

	v.as.integer = integer;
	return v;
}

static inline struct tenon_value tenon_arg_bool(bool truth)
{
	struct tenon_value v = { TENON_TYPE_BOOL, 0, { 0 } };

	v.as.integer = truth ? 1 : 0;
	return v;
}

static inline struct tenon_value tenon_arg_float(double real)
{
	struct tenon_value v = { TENON_TYPE_FLOAT, 0, { 0 } };

	v.as.real = real;
	return v;
}

static inline struct tenon_value tenon_arg_pointer(void *pointer)
{
	struct tenon_value v = { TENON_TYPE_POINTER, 0, { 0 } };

	v.as.pointer = pointer;
	return v;
}

static inline struct tenon_value tenon_arg_dtype(DLDataType dtype)
{
	struct tenon_value v = { TENON_TYPE_DTYPE, 0, { 0 } };

	v.as.dtype = dtype;
	return v;
}

static inline struct tenon_value tenon_arg_device(DLDevice device)
{
	struct tenon_value v = { TENON_TYPE_DEVICE, 0, { 0 } };

	v.as.device = device;
	return v;
}

static inline struct tenon_value tenon_arg_string(const char *string)
{
	struct tenon_value v = { TENON_TYPE_RAW_STRING, 0, { 0 } };

	v.as.string = string;
	return v;
}

static inline struct tenon_value tenon_arg_bytes(const struct tenon_slice *bytes)
{
	struct tenon_value v = { TENON_TYPE_RAW_BYTES, 0, { 0 } };

	v.as.bytes = bytes;
	return v;
}

static inline struct tenon_value tenon_arg_tensor(DLTensor *tensor)
{
	struct tenon_value v = { TENON_TYPE_DLTENSOR, 0, { 0 } };

	v.as.tensor = tensor;
	return v;
}

/* object may be any counted object: a module, a function, a tensor; NULL gives None */
static inline struct tenon_value tenon_arg_object(void *object)
{
	struct tenon_value v = { TENON_TYPE_NONE, 0, { 0 } };

	if (object) {
		v.as.object = (struct tenon_object *)object;
		v.type = v.as.object->type;
	}
	return v;
}

/**
 * tenon_value_own - turn a view into an owned value
 * @view: any value; untouched, except that an r-value reference is emptied
 * @owned: receives the owned value; what it held before is not released
 *
 * Raw strings and bytes are copied, objects gain a reference, an r-value reference gives its object
 * away. A DLTensor cannot be owned and is refused.
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_TYPE for a DLTensor.
 */
TENON_API int tenon_value_own(const struct tenon_value *view, struct tenon_value *owned);

/**
 * tenon_value_release - drop what an owned value holds, and make it None
 * @value: an owned value
 */
TENON_API void tenon_value_release(struct tenon_value *value);

/**
 * tenon_value_int - read an integer; bools count as 0 and 1
 * @value: the value
 * @out: receives it
 *
 * Return: 0; -TENON_E_TYPE, with both types in the message.
 */
TENON_API int tenon_value_int(const struct tenon_value *value, int64_t *out);

/** tenon_value_float - read a float; integers and bools are converted. As tenon_value_int(). */
TENON_API int tenon_value_float(const struct tenon_value *value, double *out);

/** tenon_value_bool - read a bool; an integer counts as true when it is not 0. */
TENON_API int tenon_value_bool(const struct tenon_value *value, bool *out);

/** tenon_value_pointer - read an address; None counts as NULL. */
TENON_API int tenon_value_pointer(const struct tenon_value *value, void **out);

/**
 * tenon_value_text - read a string or bytes in whichever encoding the value has
 * @value: a raw, small or object string, or raw, small or object bytes; must outlive @out, since
 *	a small string's bytes lie in the value itself
 * @out: receives the bytes, not copied. Those of strings are followed by a NUL.
 *
 * Return: 0; -TENON_E_TYPE.
 */
TENON_API int tenon_value_text(const struct tenon_value *value, struct tenon_slice *out);

/**
 * tenon_value_tensor - read a tensor, borrowed or counted
 * @value: a DLTensor or a tensor object
 * @out: receives the DLTensor, which lives as long as the value does
 *
 * Return: 0; -TENON_E_TYPE.
 */
TENON_API int tenon_value_tensor(const struct tenon_value *value, DLTensor **out);

/**
 * tenon_value_object - read a counted object of a type, or of one derived from it
 * @value: the value; an r-value reference is looked through
 * @type: the type wanted; TENON_TYPE_OBJECT for any
 * @out: receives the object, not referenced anew
 *
 * Return: 0; -TENON_E_TYPE.
 */
TENON_API int tenon_value_object(const struct tenon_value *value, int32_t type, void *out);

/**
 * tenon_value_equal - are two values equal by content
 * @a: a value
 * @b: another
 *
 * Strings and bytes compare by their bytes across all encodings, objects by identity, the rest by
 * type and bits.
 *
 * Return: true or false.
 */
TENON_API bool tenon_value_equal(const struct tenon_value *a, const struct tenon_value *b);

#ifdef __cplusplus
}
#endif

#endif /* TENON_VALUE_H */
