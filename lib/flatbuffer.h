/* SPDX-License-Identifier: MIT */
/* Read FlatBuffers field by field, without a schema compiler. */
#ifndef LIB_FLATBUFFER_H
#define LIB_FLATBUFFER_H

/*
 * A FlatBuffer has tables, vectors and strings, which refer to each other by offsets of 32 bits. The
 * fields of a table are found through its vtable, a list of offsets in the table; 0 stands for a
 * field that is absent and has its default. Nothing is allocated, and nothing is read ahead: each
 * function checks what it reads against the bytes of the file, so a table may lie anywhere.
 * Alignment is not required.
 */

#include <tenon/backend/cursor.h>

/**
 * struct flatbuffer_table - a table
 * @file: cursor over the whole file
 * @at: offset of the table from the first byte of @file
 * @size: its bytes
 * @vtable: offsets of its fields
 */
struct flatbuffer_table {
	struct tenon_cursor file;
	uint64_t at;
	uint16_t size;
	struct tenon_cursor vtable;
};

/**
 * struct flatbuffer_vector - a vector
 * @file: cursor over the whole file
 * @items: cursor over the elements
 * @count: number of elements
 * @size: bytes of each
 */
struct flatbuffer_vector {
	struct tenon_cursor file;
	struct tenon_cursor items;
	uint32_t count;
	uint32_t size;
};

/**
 * flatbuffer_root - find the root table
 * @file: cursor over the whole file
 * @out: receives the table
 *
 * The file identifier behind the root's offset is not compared.
 *
 * Return: 0; -TENON_E_TRUNCATED and -TENON_E_FORMAT with the offset, as all functions here.
 */
int flatbuffer_root(const struct tenon_cursor *file, struct flatbuffer_table *out);

/** flatbuffer_number - read an integer field of @size bytes, 1 to 8; @absent where it is absent */
int flatbuffer_number(const struct flatbuffer_table *t, unsigned int field, unsigned int size,
		      uint64_t absent, uint64_t *out);

/** flatbuffer_table - follow a field that is a table; @found is false, and @out unset, where it is absent */
int flatbuffer_table(const struct flatbuffer_table *t, unsigned int field,
		     struct flatbuffer_table *out, bool *found);

/** flatbuffer_vector - follow a field that is a vector of elements of @size bytes; empty where it is absent */
int flatbuffer_vector(const struct flatbuffer_table *t, unsigned int field, uint32_t size,
		      struct flatbuffer_vector *out);

/** flatbuffer_string - follow a field that is a string; empty where it is absent */
int flatbuffer_string(const struct flatbuffer_table *t, unsigned int field,
		      struct tenon_slice *out);

/** flatbuffer_bytes - elements of a vector, as they are in the file */
struct tenon_slice flatbuffer_bytes(const struct flatbuffer_vector *v);

/** flatbuffer_item - element @index, below the count, of a vector of integers; not sign-extended */
uint64_t flatbuffer_item(const struct flatbuffer_vector *v, uint64_t index);

/** flatbuffer_item_table - follow element @index, below the count, of a vector of tables */
int flatbuffer_item_table(const struct flatbuffer_vector *v, uint64_t index,
			  struct flatbuffer_table *out);

#endif /* LIB_FLATBUFFER_H */
