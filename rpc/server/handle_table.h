/* SPDX-License-Identifier: MIT */
/* The numbers by which a client names objects of its session. */
#ifndef RPC_SERVER_HANDLE_TABLE_H
#define RPC_SERVER_HANDLE_TABLE_H

/*
 * The numbers that a client holds are numbers of this table: a number from the wire is looked up, never
 * dereferenced. A number is not used twice in a session, so a freed handle stays invalid.
 */

#include <stddef.h>
#include <stdint.h>
#include <tenon/dlpack.h>

/** enum handle_kind - what a handle stands for; a mask for look-ups */
enum handle_kind {
	HANDLE_FUNCTION = 1,
	HANDLE_MODULE = 2,
	HANDLE_OBJECT = 4,
	HANDLE_TENSOR = 8,   /* a tensor that a function returned */
	HANDLE_MEMORY = 16,  /* memory that the client allocated, a tensor too */
	HANDLE_STREAM = 32,  /* a queue */
	HANDLE_POINTER = 64, /* an address that a function returned, to be passed back */
};

/* what counted objects are: freed by FreeHandle, and the objects of arguments */
#define HANDLE_OBJECTS (HANDLE_FUNCTION | HANDLE_MODULE | HANDLE_OBJECT | HANDLE_TENSOR)
/* what has data: tensors of arguments and copies */
#define HANDLE_DATA (HANDLE_TENSOR | HANDLE_MEMORY)

/**
 * struct handle - an entry
 * @number: the handle; 0 for a free slot
 * @kind: enum handle_kind
 * @object: counted object, one reference; NULL for HANDLE_POINTER
 * @pointer: HANDLE_POINTER: the address
 * @size: HANDLE_DATA: bytes from the start of the tensor's data
 */
struct handle {
	uint64_t number;
	uint32_t kind;
	void *object;
	void *pointer;
	uint64_t size;
};

/**
 * struct handle_table - the table; zero-initialise it
 * @slots: open addressing with linear probing; room is 0 or a power of two
 * @room: number of slots
 * @count: number of entries
 * @last: number of the newest handle
 */
struct handle_table {
	struct handle *slots;
	size_t room;
	size_t count;
	uint64_t last;
};

/**
 * handle_table_set - set the number of the next handle
 * @n: the number becomes (@n + 1) * 64. It grows from call to call.
 */
void handle_table_set(struct handle_table *t, uint64_t n);

/**
 * handle_add - add an entry
 * @entry: its number is ignored
 * @number: receives the handle; 0 on failure
 *
 * Return: 0, and the table owns the reference; -TENON_E_NOMEM.
 */
int handle_add(struct handle_table *t, const struct handle *entry, uint64_t *number);

/**
 * handle_find - look up an entry
 * @kinds: accepted kinds
 * @out: receives the entry, valid until the table changes
 *
 * Return: 0; -TENON_E_VALUE for a number that is no handle of one of @kinds.
 */
int handle_find(struct handle_table *t, uint64_t number, uint32_t kinds, struct handle **out);

/** handle_free - remove an entry and drop its reference; as handle_find() */
int handle_free(struct handle_table *t, uint64_t number, uint32_t kinds);

/** handle_table_fini - remove all entries, newest first */
void handle_table_fini(struct handle_table *t);

#endif /* RPC_SERVER_HANDLE_TABLE_H */
