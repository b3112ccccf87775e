/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_LOADED_OBJECT_H
#define RUNTIME_LIBRARY_LOADED_OBJECT_H

/*
 * The symbol table of a shared object that the dynamic linker has mapped, read from memory. dlsym()
 * also searches the dependencies of the object, takes a lock, and returns neither the size of a
 * symbol nor whether it is undefined.
 */

#include <link.h>
#include <tenon/value.h>

struct loaded_object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	size_t strings_size;
	size_t symbol_count;
	/* GNU hash table; bucket_count 0 when the object has none */
	const uint32_t *buckets;
	const uint32_t *chains; /* of symbol 0, though the table begins at symbol @first_hashed */
	const ElfW(Addr) * bloom;
	uint32_t bucket_count;
	uint32_t first_hashed;
	uint32_t bloom_size;
	uint32_t bloom_shift;
	/* the older table; count 0 when there is none */
	const uint32_t *sysv_buckets;
	const uint32_t *sysv_chains;
	uint32_t sysv_count;
	/* the slots that calls of imported functions go through */
	const void *slots;
	size_t slots_size; /* in bytes */
	bool slots_rela;
	bool bound_now; /* the dynamic linker has filled them all, and locked them */
};

struct loaded_symbol {
	void *address;
	size_t size;  /* in bytes; 0 when the object does not say */
	bool is_code; /* a function, not an object */
};

/**
 * loaded_object_init - find the tables of an opened library
 * @o: filled
 * @handle: from dlopen()
 *
 * Return: 0; -TENON_E_FORMAT when the object has no dynamic symbols.
 */
int loaded_object_init(struct loaded_object *o, void *handle);

/* Look a symbol up that the object itself defines. False when it does not. */
bool loaded_object_find(const struct loaded_object *o, const char *name, struct loaded_symbol *out);

/* Visit names that the object defines (@defined) or must have from others; non-zero stops. */
int loaded_object_each(const struct loaded_object *o, bool defined,
		       int (*visit)(void *context, const char *name, bool is_code), void *context);

/**
 * loaded_object_rebind - point calls of imported functions elsewhere
 * @o: the object
 * @find: gives the address to call for a name; NULL leaves the name to the dynamic linker
 *
 * An object that was bound at once is left as it is: its slots are read-only.
 */
void loaded_object_rebind(const struct loaded_object *o, void *(*find)(const char *name));

/*
 * Are the relocations of this machine known here? Without them loaded_object_rebind() does nothing.
 */
bool loaded_object_can_rebind(void);

/* Does the object name a library that begins with @prefix as one it needs? */
bool loaded_object_needs(const struct loaded_object *o, void *handle, const char *prefix);

/**
 * loaded_object_segment - find the segment of an address
 * @o: the object
 * @address: an address in it
 * @offset: receives the address' offset in the file
 * @left: receives how many bytes of the segment's file contents begin there
 *
 * Return: false when the object's headers are not mapped, or the address is in no segment.
 */
bool loaded_object_segment(const struct loaded_object *o, const void *address, uint64_t *offset,
			   size_t *left);

#endif /* RUNTIME_LIBRARY_LOADED_OBJECT_H */
