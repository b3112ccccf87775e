/* SPDX-License-Identifier: MIT */
#ifndef TENON_VALUE_H
#define TENON_VALUE_H

/**
 * DOC: values
 *
 * A value is the 16-byte tagged union of the tvm-ffi ABI: an argument or result of a function.
 *
 * A value is either a view or owned. A *view* borrows: arguments are views, valid during the call.
 * An *owned* value holds one strong reference if its type is TENON_TYPE_OBJECT or above; results
 * are owned. Raw strings, raw bytes, DLTensors and r-value references can only be views.
 * tenon_value_own() turns a view into an owned value.
 *
 * Unused bytes must be zero: foreign code compares and hashes all sixteen.
 */

#include <stdbool.h>
#include <tenon/dlpack.h>
#include <tenon/export.h>
#include <tenon/object.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_slice - borrowed bytes
 * @data: first byte; may be NULL when @size is 0. Not NUL-terminated.
 * @size: in bytes
 *
 * Same layout as TVMFFIByteArray.
 */
struct tenon_slice {
	const char *data;
	size_t size;
};

/**
 * struct tenon_value - one argument or result
 * @type: enum tenon_type_index or a dynamic type index
 * @small_size: number of bytes used in @as.small, for the two small types; else 0
 * @as: the value; @type selects the member
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

/* Constructors for arguments: tenon_call(f, &ret, tenon_arg_int(3), tenon_arg_tensor(&t)) */

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

/* object is any counted object, such as a module, function or tensor; NULL gives None */
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
 * @view: any value; unchanged, except that the object is moved out of an r-value reference
 * @owned: receives the owned value; its previous value is not released
 *
 * Raw strings and bytes are copied; objects gain a reference. A DLTensor cannot be owned.
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_TYPE for a DLTensor; -TENON_E_VALUE for bytes of which a pointer is NULL.
 */
TENON_API int tenon_value_own(const struct tenon_value *view, struct tenon_value *owned);

/**
 * tenon_value_release - release an owned value and set it to None
 * @value: an owned value
 */
TENON_API void tenon_value_release(struct tenon_value *value);

/**
 * tenon_value_int - read an integer; a bool gives 0 or 1
 * @value: the value
 * @out: receives it
 *
 * Return: 0; -TENON_E_TYPE, with both types in the message.
 */
TENON_API int tenon_value_int(const struct tenon_value *value, int64_t *out);

/** tenon_value_float - read a float; integers and bools are converted. As tenon_value_int(). */
TENON_API int tenon_value_float(const struct tenon_value *value, double *out);

/** tenon_value_bool - read a bool; a non-zero integer is true. As tenon_value_int(). */
TENON_API int tenon_value_bool(const struct tenon_value *value, bool *out);

/** tenon_value_pointer - read an address; None gives NULL. As tenon_value_int(). */
TENON_API int tenon_value_pointer(const struct tenon_value *value, void **out);

/**
 * tenon_value_text - read a string or bytes in any encoding
 * @value: a raw, small or object string, or raw, small or object bytes; must outlive @out, because
 *	the bytes of a small string are in the value itself
 * @out: receives the bytes, not copied. A NUL follows the bytes of a string.
 *
 * Return: 0; -TENON_E_TYPE.
 */
TENON_API int tenon_value_text(const struct tenon_value *value, struct tenon_slice *out);

/**
 * tenon_value_tensor - read a tensor, borrowed or counted
 * @value: a DLTensor or a tensor object
 * @out: receives the DLTensor, valid as long as the value
 *
 * Return: 0; -TENON_E_TYPE.
 */
TENON_API int tenon_value_tensor(const struct tenon_value *value, DLTensor **out);

/**
 * tenon_value_object - read a counted object of a type or a derived type
 * @value: the value; an r-value reference is followed
 * @type: the required type; TENON_TYPE_OBJECT for any
 * @out: the address of a pointer to such an object, which receives it, borrowed
 *
 * Return: 0; -TENON_E_TYPE.
 */
TENON_API int tenon_value_object(const struct tenon_value *value, int32_t type, void *out);

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* C does not compile it with the object in place of the address of a variable for it */
#define tenon_value_object(value, type, out)                                                       \
	tenon_value_object((value), (type), _Generic(1 ? *(out) : (void *)0, default : (out)))
#endif

/**
 * tenon_value_equal - compare two values
 * @a: a value
 * @b: another
 *
 * Strings and bytes are compared by their bytes regardless of encoding, objects by identity, other
 * values by type and bits.
 *
 * Return: true or false.
 */
TENON_API bool tenon_value_equal(const struct tenon_value *a, const struct tenon_value *b);

#ifdef __cplusplus
}
#endif

#endif /* TENON_VALUE_H */
