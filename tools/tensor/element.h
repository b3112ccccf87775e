/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TENSOR_ELEMENT_H
#define TOOLS_TENSOR_ELEMENT_H

/**
 * DOC: elements
 *
 * One element of a tensor of any dtype, read without loss into the widest type of its class, and
 * written back with correct rounding. Elements of fewer than eight bits lie packed, the first in
 * the low bits; a bool takes a byte in either of its two spellings, {1,1} and {6,8}.
 */

#include <stddef.h>
#include <tenon/tensor.h>

enum element_class {
	ELEMENT_BOOL,	  /* natural: 0 or 1 */
	ELEMENT_SIGNED,	  /* integer */
	ELEMENT_UNSIGNED, /* natural; handles too */
	ELEMENT_REAL,	  /* real */
	ELEMENT_COMPLEX,  /* real and imaginary */
};

/**
 * struct element - one number
 * @class: which member holds it
 */
struct element {
	enum element_class class;
	union {
		int64_t integer;
		uint64_t natural;
		double real;
	};
	double imaginary;
};

/* characters that hold any element as text, with the NUL */
#define ELEMENT_TEXT 80

/** element_class_of - class of a dtype's elements; -1 for a dtype that is not known here */
int element_class_of(DLDataType dtype);

/** element_storage - the dtype in memory: {1,1} becomes {6,8}, others do not change */
DLDataType element_storage(DLDataType dtype);

/**
 * element_bytes - bytes that a number of elements take
 * @count: elements, each of all lanes of @dtype
 * @dtype: their dtype
 * @bytes: receives the size
 *
 * Return: 0; -TENON_E_OVERFLOW; -TENON_E_VALUE for a dtype that no tensor has.
 */
int element_bytes(uint64_t count, DLDataType dtype, size_t *bytes);

/**
 * element_get - read an element
 * @data: the first element's place
 * @index: number of the element, lanes counted one by one
 * @dtype: their dtype; of one that element_class_of() does not know nothing is read, and the
 *	element is 0
 * @out: receives it
 */
void element_get(const void *data, uint64_t index, DLDataType dtype, struct element *out);

/**
 * element_put - write an element
 * @value: a number of the dtype's own class or any other; an integer that does not fit is cut to
 *	its low bits, a real number is rounded to the nearest, ties to even
 *
 * Nothing is written for a dtype that element_class_of() does not know.
 */
void element_put(void *data, uint64_t index, DLDataType dtype, const struct element *value);

/** element_real - the nearest double to a number; of a complex one the real part */
double element_real(const struct element *value);

/**
 * element_parse - read a number from text
 * @text: "-3", "0x1f", "2.5", "1e-3", "nan", "-inf", "true", "1+2j"
 * @size: its length
 * @dtype: what it is to be stored as: decides what is allowed and how it is rounded
 * @out: receives it
 *
 * Return: 0; -TENON_E_USAGE with a message when it is no number, or none that fits.
 */
int element_parse(const char *text, size_t size, DLDataType dtype, struct element *out);

/**
 * element_text - write a number as text
 * @value: the number
 * @dtype: where it comes from
 * @digits: significant digits of real numbers; 0 for as many as make it unmistakable in @dtype
 * @text: receives it
 *
 * Return: @text.
 */
const char *element_text(const struct element *value, DLDataType dtype, int digits,
			 char text[ELEMENT_TEXT]);

/**
 * tensor_element - read an element of a tensor in CPU memory, whatever its strides
 * @dl: tensor
 * @index: number of the element in row-major order, lanes counted one by one
 * @out: receives it
 */
void tensor_element(const DLTensor *dl, uint64_t index, struct element *out);

#endif /* TOOLS_TENSOR_ELEMENT_H */
