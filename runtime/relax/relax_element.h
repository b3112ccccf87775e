/* SPDX-License-Identifier: MIT */
/* Elements of tensors as numbers and as keys, for sorting. Data need not be aligned. */
#ifndef RUNTIME_RELAX_RELAX_ELEMENT_H
#define RUNTIME_RELAX_RELAX_ELEMENT_H

#include <tenon/tensor.h>

/* The key of NaN, larger than all others; the integer of this key is the same in value. */
#define RELAX_KEY_LAST UINT64_MAX

/**
 * relax_element_key_fn - convert an element to an integer in the order of the elements
 *
 * Equal elements have equal keys, -0 and 0 too. NaN gives RELAX_KEY_LAST in both directions: it
 * comes last.
 */
typedef uint64_t (*relax_element_key_fn)(const void *element, bool ascending);

/* Get the conversion for a dtype; NULL for vectors, types of sub-bytes and unknown types. */
relax_element_key_fn relax_element_key(DLDataType dtype);

/* A key of relax_sort(), and where its element is. */
struct relax_sort_item {
	uint64_t key;
	int64_t index;
};

/**
 * relax_sort - sort by key; items of equal keys keep their order
 * @items: @count items
 * @spare: memory for as many
 * @count: number of items
 */
void relax_sort(struct relax_sort_item *items, struct relax_sort_item *spare, size_t count);

/**
 * relax_sort_memory - get memory for 2 * @count items from the thread's workspace
 *
 * Return: NULL with the error set. Free it with relax_sort_done().
 */
struct relax_sort_item *relax_sort_memory(size_t count);
void relax_sort_done(struct relax_sort_item *items);

/* Write an integer as an element: of 8 bits, or an int or float of 32 or 64. */
void relax_element_put(DLDataType dtype, void *data, int64_t index, int64_t value);

#endif /* RUNTIME_RELAX_RELAX_ELEMENT_H */
