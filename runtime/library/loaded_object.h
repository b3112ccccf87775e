/* SPDX-License-Identifier: MIT */
/*
 * The symbol table of a shared object that the dynamic linker has mapped, read from memory. dlsym()
 * also searches the dependencies of the object, takes a lock, and returns neither the size of a
 * symbol nor whether it is undefined.
 */
#ifndef RUNTIME_LIBRARY_LOADED_OBJECT_H
#define RUNTIME_LIBRARY_LOADED_OBJECT_H

#include <link.h>
#include <tenon/value.h>

struct loaded_object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	size_t strings_size;
	size_t symbol_count;
	/* GNU hash table; bucket_count is 0 when the object has none */
	const uint32_t *buckets;
	const uint32_t *chains; /* indexed from symbol 0; valid from @first_hashed */
	const ElfW(Addr) * bloom;
	uint32_t bucket_count;
	uint32_t first_hashed;
	uint32_t bloom_size;
	uint32_t bloom_shift;
	/* SysV hash table; count is 0 when there is none */
	const uint32_t *sysv_buckets;
	const uint32_t *sysv_chains;
	uint32_t sysv_count;
	/* relocations of imported functions (PLT) */
	const void *slots;
	size_t slots_size; /* in bytes */
	bool slots_rela;
	bool bound_now; /* the dynamic linker bound all slots and made them read-only */
	const ElfW(Dyn) * dynamic;
};

/* A name to look for, and its hash in a table of GNU's form, which small builds compute each time. */
struct loaded_name {
	const char *text;
#ifdef CONFIG_FAST_CALLS
	uint32_t hash;
#endif
};

#define GNU_HASH_START 5381u

#ifdef CONFIG_FAST_CALLS
/* Hash a literal of at most 40 characters while compiling: each opening looks for the same twenty names. */
#define GNU_HASH_1(s, i, h)                                                                        \
	((h) * ((i) < sizeof(s) - 1 ? 33u : 1u) +                                                  \
	 ((i) < sizeof(s) - 1 ? (unsigned char)(s)[(i) < sizeof(s) ? (i) : 0] : 0u))
#define GNU_HASH_4(s, i, h)                                                                        \
	GNU_HASH_1(s, i + 3, GNU_HASH_1(s, i + 2, GNU_HASH_1(s, i + 1, GNU_HASH_1(s, i, h))))
#define GNU_HASH_20(s, i, h)                                                                       \
	GNU_HASH_4(s, i + 16,                                                                      \
		   GNU_HASH_4(s, i + 12,                                                           \
			      GNU_HASH_4(s, i + 8, GNU_HASH_4(s, i + 4, GNU_HASH_4(s, i, h)))))
#define LOADED_NAME_HASH(s)                                                                        \
	(GNU_HASH_20(s, 20, GNU_HASH_20(s, 0, GNU_HASH_START)) +                                   \
	 0 * (uint32_t)sizeof(char[sizeof(s) <= 41 ? 1 : -1]))
#define LOADED_NAME(s)                                                                             \
	{                                                                                          \
		s, LOADED_NAME_HASH(s)                                                             \
	}

/* Name any text, which stays the caller's. */
struct loaded_name loaded_name(const char *text);
#else
#define LOADED_NAME(s)                                                                             \
	{                                                                                          \
		s                                                                                  \
	}

static inline struct loaded_name loaded_name(const char *text)
{
	return (struct loaded_name){ text };
}
#endif

struct loaded_symbol {
	void *address;
	size_t size;  /* in bytes; 0 when the object does not state it */
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

/* Find a symbol that the object defines. False when there is none. */
bool loaded_object_find(const struct loaded_object *o, struct loaded_name name,
			struct loaded_symbol *out);

/* Visit names that the object defines (@defined) or requires; a non-zero result stops. */
int loaded_object_each(const struct loaded_object *o, bool defined,
		       int (*visit)(void *context, const char *name, bool is_code), void *context);

/**
 * loaded_object_rebind - redirect calls of imported functions
 * @o: the object
 * @find: returns the new address for a name, or NULL to leave the name as it is
 *
 * An object bound at load time is not changed: its slots are read-only.
 */
void loaded_object_rebind(const struct loaded_object *o, void *(*find)(const char *name));

/*
 * Test whether this machine's relocations are known. Otherwise loaded_object_rebind() does nothing.
 */
bool loaded_object_can_rebind(void);

/* Test whether the object depends on a library whose name begins with @prefix. */
bool loaded_object_needs(const struct loaded_object *o, const char *prefix);

/**
 * loaded_object_segment - find the segment of an address
 * @o: the object
 * @address: an address in it
 * @offset: receives the address' offset in the file
 * @left: receives the bytes from there to the end of the segment's file contents
 *
 * Return: false when the object's headers are not mapped, or the address is in no segment.
 */
bool loaded_object_segment(const struct loaded_object *o, const void *address, uint64_t *offset,
			   size_t *left);

#endif /* RUNTIME_LIBRARY_LOADED_OBJECT_H */
