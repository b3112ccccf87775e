/* SPDX-License-Identifier: MIT */
#ifndef TENON_OBJECT_H
#define TENON_OBJECT_H

/**
 * DOC: objects
 *
 * Everything that is counted starts with the 24-byte header of the tvm-ffi ABI (0.1.0 and later), so
 * an object made here may be held and dropped by any code of that ABI, and the other way round. An
 * object is destroyed by its own deleter alone: never free() one, it may start before its header.
 *
 * Type indices below TENON_TYPE_DYNAMIC are constants of the ABI. Indices from there on are handed
 * out at run time, by key, and differ from process to process: never store one.
 */

#include <stddef.h>
#include <stdint.h>

#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum tenon_type_index - what a value or an object is; numbers are tvm-ffi's */
enum tenon_type_index {
	TENON_TYPE_ANY = -1, /* in annotations only, never in a value */
	TENON_TYPE_NONE = 0,
	TENON_TYPE_INT = 1,
	TENON_TYPE_BOOL = 2,
	TENON_TYPE_FLOAT = 3,
	TENON_TYPE_POINTER = 4,
	TENON_TYPE_DTYPE = 5,
	TENON_TYPE_DEVICE = 6,
	TENON_TYPE_DLTENSOR = 7,      /* borrowed DLTensor*, for the time of a call */
	TENON_TYPE_RAW_STRING = 8,    /* borrowed NUL-terminated string */
	TENON_TYPE_RAW_BYTES = 9,     /* borrowed struct tenon_slice* */
	TENON_TYPE_RVALUE_REF = 10,   /* address of an object pointer the callee may take */
	TENON_TYPE_SMALL_STRING = 11, /* up to 7 bytes in the value itself */
	TENON_TYPE_SMALL_BYTES = 12,
	TENON_TYPE_OBJECT = 64, /* first counted type, and the root of all */
	TENON_TYPE_STRING = 65,
	TENON_TYPE_BYTES = 66,
	TENON_TYPE_ERROR = 67,
	TENON_TYPE_FUNCTION = 68,
	TENON_TYPE_SHAPE = 69,
	TENON_TYPE_TENSOR = 70,
	TENON_TYPE_ARRAY = 71,
	TENON_TYPE_MAP = 72,
	TENON_TYPE_MODULE = 73,
	TENON_TYPE_OPAQUE_PYTHON = 74,
	TENON_TYPE_LIST = 75,
	TENON_TYPE_DICT = 76,
	TENON_TYPE_VISIT_INTERRUPT = 77,
	TENON_TYPE_STATIC_END = 78,
	TENON_TYPE_DYNAMIC = 128,
};

/** enum tenon_delete - what a deleter is asked to do; both at once is the usual case */
enum tenon_delete {
	TENON_DELETE_CONTENT = 1, /* the last strong reference went */
	TENON_DELETE_MEMORY = 2,  /* the last weak reference went */
};

/**
 * struct tenon_object - the header of every counted object
 * @refs: strong references in the low 32 bits, weak ones in the high 32; all strong ones together
 *	hold one weak reference. Only ever touched atomically.
 * @type: enum tenon_type_index, or a dynamic index
 * @reserved: 0
 * @deleter: destroys content, memory or both (enum tenon_delete); NULL for objects that never die
 */
struct tenon_object {
	uint64_t refs;
	int32_t type;
	uint32_t reserved;
	void (*deleter)(void *self, int flags);
};

/**
 * tenon_object_init - make a header of a new object with one strong reference
 * @object: memory of the caller's, at least a header long
 * @type: type index
 * @deleter: may be NULL for an object that is never destroyed
 *
 * Context: any thread, before the object is shared.
 */
TENON_API void tenon_object_init(struct tenon_object *object, int32_t type,
				 void (*deleter)(void *self, int flags));

/**
 * tenon_object_ref - take one more strong reference
 * @object: an object the caller has a strong reference of; NULL is allowed and does nothing
 *
 * Context: any thread. Lock-free.
 */
TENON_API void tenon_object_ref(void *object);

/**
 * tenon_object_unref - drop one strong reference
 * @object: the object; NULL is allowed and does nothing
 *
 * The deleter runs in the calling thread when this was the last one.
 *
 * Context: any thread. Lock-free, apart from what the deleter does.
 */
TENON_API void tenon_object_unref(void *object);

/**
 * tenon_object_ref_weak - take one more weak reference: memory stays, content may go
 * @object: an object the caller has a reference of; NULL is allowed
 */
TENON_API void tenon_object_ref_weak(void *object);

/** tenon_object_unref_weak - drop one weak reference */
TENON_API void tenon_object_unref_weak(void *object);

/**
 * tenon_object_promote - turn a weak reference into a further strong one
 * @object: an object the caller has a weak reference of; NULL is allowed
 *
 * Return: 1 and a strong reference is taken, or 0 when the content is gone, and for NULL.
 */
TENON_API int tenon_object_promote(void *object);

/**
 * tenon_type_register - get the index of a type by its key, making it when it is new
 * @key: the type's name, such as "acme.Calibration"; copied
 * @parent: index of the parent type; TENON_TYPE_OBJECT where there is none
 * @index: receives the index
 *
 * The same key gives the same index for the life of the process.
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_NOMEM; -TENON_E_USAGE for a parent that does not exist.
 */
TENON_API int tenon_type_register(const char *key, int32_t parent, int32_t *index);

/**
 * tenon_type_key - the name of a type
 * @index: any type index
 *
 * Return: a string that lives as long as the process; "?" for an index nobody registered.
 */
TENON_API const char *tenon_type_key(int32_t index);

/**
 * tenon_type_is - is a type another one, or derived from it
 * @index: the type asked about
 * @ancestor: the type it may be or descend from
 *
 * Context: any thread. Lock-free.
 * Return: 1 or 0.
 */
TENON_API int tenon_type_is(int32_t index, int32_t ancestor);

#ifdef __cplusplus
}
#endif

#endif /* TENON_OBJECT_H */
