/* SPDX-License-Identifier: MIT */
#ifndef TENON_OBJECT_H
#define TENON_OBJECT_H

/**
 * DOC: objects
 *
 * Every counted object starts with the 24-byte header of the tvm-ffi ABI (0.1.0 and later). Code of
 * that ABI may hold and release objects created here, and the reverse. Only an object's deleter
 * destroys it: never free() an object, its allocation may begin before the header.
 *
 * Type indices below TENON_TYPE_DYNAMIC are constants of the ABI. Higher ones are assigned by key
 * at run time and differ between processes: never store one.
 */

#include <stddef.h>
#include <stdint.h>

#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum tenon_type_index - type of a value or an object; numbers are tvm-ffi's */
enum tenon_type_index {
	TENON_TYPE_ANY = -1, /* in annotations only, never in a value */
	TENON_TYPE_NONE = 0,
	TENON_TYPE_INT = 1,
	TENON_TYPE_BOOL = 2,
	TENON_TYPE_FLOAT = 3,
	TENON_TYPE_POINTER = 4,
	TENON_TYPE_DTYPE = 5,
	TENON_TYPE_DEVICE = 6,
	TENON_TYPE_DLTENSOR = 7,      /* borrowed DLTensor*, during a call */
	TENON_TYPE_RAW_STRING = 8,    /* borrowed NUL-terminated string */
	TENON_TYPE_RAW_BYTES = 9,     /* borrowed struct tenon_slice* */
	TENON_TYPE_RVALUE_REF = 10,   /* address of an object pointer that the callee may take */
	TENON_TYPE_SMALL_STRING = 11, /* up to 7 bytes in the value itself */
	TENON_TYPE_SMALL_BYTES = 12,
	TENON_TYPE_OBJECT = 64, /* first counted type and root of the hierarchy */
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

/** enum tenon_delete - argument of a deleter; usually both at once */
enum tenon_delete {
	TENON_DELETE_CONTENT = 1, /* the last strong reference was dropped: destroy the content */
	TENON_DELETE_MEMORY = 2,  /* the last weak reference was dropped: free the memory */
};

/**
 * struct tenon_object - the header of every counted object
 * @refs: strong references in the low 32 bits, weak ones in the high 32; all strong ones together
 *	hold one weak reference. Always accessed atomically.
 * @type: enum tenon_type_index, or a dynamic index
 * @reserved: 0
 * @deleter: destroys content, memory or both (enum tenon_delete); NULL for permanent objects
 */
struct tenon_object {
	uint64_t refs;
	int32_t type;
	uint32_t reserved;
	void (*deleter)(void *self, int flags);
};

/**
 * tenon_object_init - initialise the header of a new object with one strong reference
 * @object: memory from the caller, at least as large as the header
 * @type: type index
 * @deleter: NULL for an object that is never destroyed
 *
 * Context: any thread, before the object is shared.
 */
TENON_API void tenon_object_init(struct tenon_object *object, int32_t type,
				 void (*deleter)(void *self, int flags));

/**
 * tenon_object_ref - take a strong reference
 * @object: an object that the caller holds a strong reference to; NULL is a no-op
 *
 * Context: any thread. Lock-free.
 */
TENON_API void tenon_object_ref(void *object);

/**
 * tenon_object_unref - drop a strong reference
 * @object: the object; NULL is a no-op
 *
 * Dropping the last one runs the deleter in the calling thread.
 *
 * Context: any thread. Lock-free, except for the deleter.
 */
TENON_API void tenon_object_unref(void *object);

/**
 * tenon_object_ref_weak - take a weak reference, which keeps the memory but not the content
 * @object: an object that the caller holds a reference to; NULL is a no-op
 *
 * Context: any thread. Lock-free.
 */
TENON_API void tenon_object_ref_weak(void *object);

/** tenon_object_unref_weak - drop a weak reference */
TENON_API void tenon_object_unref_weak(void *object);

/**
 * tenon_object_promote - take a strong reference to an object held by a weak one
 * @object: an object that the caller holds a weak reference to; NULL is allowed
 *
 * Context: any thread. Lock-free.
 * Return: 1 when a strong reference was taken; 0 when the content was destroyed, or for NULL.
 */
TENON_API int tenon_object_promote(void *object);

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
struct tenon_buffer;
struct tenon_cases;
struct tenon_device;
struct tenon_function;
struct tenon_llm;
struct tenon_memory;
struct tenon_model;
struct tenon_module;
struct tenon_queue;
struct tenon_tensor;
struct tenon_value;

/*
 * C does not compile these functions with what is no counted object: a handle that has a function of
 * its own to end it, a value, a buffer, or the address of a variable in place of the object in it.
 */
#define TENON_OBJECT_ONLY(object)                                                                  \
	_Generic((object),                                                                         \
		 struct tenon_buffer *: (void)0,                                                   \
		 struct tenon_cases *: (void)0,                                                    \
		 struct tenon_llm *: (void)0,                                                      \
		 struct tenon_model *: (void)0,                                                    \
		 struct tenon_value *: (void)0,                                                    \
		 struct tenon_device **: (void)0,                                                  \
		 struct tenon_function **: (void)0,                                                \
		 struct tenon_memory **: (void)0,                                                  \
		 struct tenon_module **: (void)0,                                                  \
		 struct tenon_queue **: (void)0,                                                   \
		 struct tenon_tensor **: (void)0,                                                  \
		 void **: (void)0,                                                                 \
		 default: (object))
#define tenon_object_ref(object)	tenon_object_ref(TENON_OBJECT_ONLY(object))
#define tenon_object_unref(object)	tenon_object_unref(TENON_OBJECT_ONLY(object))
#define tenon_object_ref_weak(object)	tenon_object_ref_weak(TENON_OBJECT_ONLY(object))
#define tenon_object_unref_weak(object) tenon_object_unref_weak(TENON_OBJECT_ONLY(object))
#define tenon_object_promote(object)	tenon_object_promote(TENON_OBJECT_ONLY(object))
#endif

/**
 * tenon_type_register - get the index of a type by its key, registering it if new
 * @key: the type's name, such as "acme.Calibration"; copied
 * @parent: index of the parent type; TENON_TYPE_OBJECT for none
 * @index: receives the index
 *
 * The same key gives the same index for the life of the process.
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_NOMEM; -TENON_E_USAGE for a parent that does not exist.
 */
TENON_API int tenon_type_register(const char *key, int32_t parent, int32_t *index);

/**
 * tenon_type_key - get the name of a type
 * @index: any type index
 *
 * Return: a string valid for the life of the process; "?" for an unregistered index.
 */
TENON_API const char *tenon_type_key(int32_t index);

/**
 * tenon_type_is - test whether a type equals another or is derived from it
 * @index: the type
 * @ancestor: the possible ancestor
 *
 * Context: any thread. Lock-free.
 * Return: 1 or 0.
 */
TENON_API int tenon_type_is(int32_t index, int32_t ancestor);

#ifdef __cplusplus
}
#endif

#endif /* TENON_OBJECT_H */
