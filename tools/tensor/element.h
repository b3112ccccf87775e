/* SPDX-License-Identifier: MIT */
/* Elements of any dtype, one at a time. */
#ifndef TOOLS_TENSOR_ELEMENT_H
#define TOOLS_TENSOR_ELEMENT_H

/*
 * An element of a tensor of any dtype is read without loss into the widest type of its class, and
 * written back with correct rounding. Elements of fewer than eight bits are packed, the first in
 * the low bits; a bool takes a byte, as {1,1} and as {6,8}.
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
 * @class: selects the member
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

/* size of any element as text, NUL included */
#define ELEMENT_TEXT 80

/** element_class_of - class of a dtype's elements; -1 for an unknown dtype */
int element_class_of(DLDataType dtype);

/** element_storage - the dtype in memory: {1,1} becomes {6,8}, others do not change */
DLDataType element_storage(DLDataType dtype);

/**
 * element_bytes - size of a number of elements
 * @count: elements, each of all lanes of @dtype
 * @dtype: their dtype
 * @bytes: receives the size
 *
 * Return: 0; -TENON_E_OVERFLOW; -TENON_E_VALUE for a dtype that tensors cannot have.
 */
int element_bytes(uint64_t count, DLDataType dtype, size_t *bytes);

/**
 * element_get - read an element
 * @data: address of the first element
 * @index: index of the element, counting lanes
 * @dtype: their dtype; if element_class_of() does not know it, nothing is read and the element is 0
 * @out: receives the element
 */
void element_get(const void *data, uint64_t index, DLDataType dtype, struct element *out);

/**
 * element_put - write an element
 * @value: a number of any class; an integer that does not fit is truncated to its low bits, a real
 * number is rounded to nearest, ties to even
 *
 * Nothing is written for a dtype that element_class_of() does not know.
 */
void element_put(void *data, uint64_t index, DLDataType dtype, const struct element *value);

/** element_real - nearest double to a number; the real part of a complex one */
double element_real(const struct element *value);

/**
 * element_parse - read a number from text
 * @text: "-3", "0x1f", "2.5", "1e-3", "nan", "-inf", "true", "1+2j"
 * @size: its length
 * @dtype: dtype to store it as, which decides range and rounding
 * @out: receives the number
 *
 * Return: 0; -TENON_E_USAGE with a message, when it is not a number or does not fit.
 */
int element_parse(const char *text, size_t size, DLDataType dtype, struct element *out);

/**
 * element_text - write a number as text
 * @value: the number
 * @dtype: dtype of its tensor
 * @digits: significant digits of real numbers; 0: as many as identify it in @dtype
 * @text: receives the text
 *
 * Return: @text.
 */
const char *element_text(const struct element *value, DLDataType dtype, int digits,
			 char text[ELEMENT_TEXT]);

/**
 * tensor_element - read an element of a tensor in CPU memory, with any strides
 * @dl: tensor
 * @index: index of the element in row-major order, counting lanes
 * @out: receives the element
 */
void tensor_element(const DLTensor *dl, uint64_t index, struct element *out);

#endif /* TOOLS_TENSOR_ELEMENT_H */
