/* SPDX-License-Identifier: MIT */
/* Sequences of values in both encodings of TVM's RPC. */
#ifndef RPC_WIRE_WIRE_H
#define RPC_WIRE_WIRE_H

/*
 * Requests and replies carry sequences of values. TVM 0.8 to 0.20 write them in one encoding
 * ("legacy"), TVM 0.21 and later in another ("ffi"); everything else on the wire is the same.
 *
 * All bytes come from another machine. A length is compared with the bytes that are there before it
 * is used, and a handle is a number of the session's table, never an address.
 */

#include <tenon/backend/cursor.h>
#include <tenon/buffer.h>
#include <tenon/dlpack.h>

/** enum wire_generation - which encoding a peer uses */
enum wire_generation {
	WIRE_UNDECIDED = 0, /* nothing told the two apart yet */
	WIRE_LEGACY = 1,
	WIRE_FFI = 2,
};

/** enum wire_kind - kind of a value, independent of the generation */
enum wire_kind {
	WIRE_NONE,
	WIRE_INT,
	WIRE_BOOL,
	WIRE_FLOAT,
	WIRE_POINTER, /* a handle: function, memory, stream; 0 is null */
	WIRE_DTYPE,
	WIRE_DEVICE,
	WIRE_TENSOR,
	WIRE_STRING,
	WIRE_BYTES,
	WIRE_FUNCTION, /* handles of counted objects */
	WIRE_MODULE,
	WIRE_OBJECT,
};

/* limits of this implementation; TVM has none */
#define WIRE_ARGUMENTS_MOST 1024
#define WIRE_NDIM_MOST	    32

/**
 * struct wire_tensor - a tensor record
 * @data: handle of its memory; 0 for none
 * @device: device of the server
 * @dtype: element type, unchecked
 * @ndim: at most WIRE_NDIM_MOST
 * @shape: extents, unchecked
 * @byte_offset: offset of the first element in the memory, unchecked
 */
struct wire_tensor {
	uint64_t data;
	DLDevice device;
	DLDataType dtype;
	int32_t ndim;
	int64_t shape[WIRE_NDIM_MOST];
	uint64_t byte_offset;
};

/**
 * struct wire_value - one value of a sequence
 * @kind: enum wire_kind
 * @as: the value. Strings and bytes are slices of the packet; a tensor is in the sequence.
 */
struct wire_value {
	enum wire_kind kind;
	union {
		int64_t integer;
		double real;
		uint64_t handle;
		DLDataType dtype;
		DLDevice device;
		struct tenon_slice text;
		struct wire_tensor *tensor;
	} as;
};

/**
 * struct wire_sequence - a decoded sequence; zero-initialise it, and reuse it for the next packet
 * @count: number of values
 * @values: the values
 * @tensors: what the values refer to
 * @room: number of values allocated
 * @tensor_count: tensors in use
 * @tensor_room: tensors allocated
 * @more: bytes of the packet that follow those of the cursor. A text that ends with the packet may
 *	reach into them: wire_read_sequence() then makes a slice of its bytes before the cursor's end, and
 *	sets @more to 0.
 */
struct wire_sequence {
	uint32_t count;
	struct wire_value *values;
	struct wire_tensor *tensors;
	uint32_t room;
	uint32_t tensor_count;
	uint32_t tensor_room;
	uint64_t more;
};

/** wire_sequence_fini - free a sequence */
void wire_sequence_fini(struct wire_sequence *s);

/**
 * wire_read_sequence - read a sequence
 * @c: cursor; after a failure its position is undefined
 * @generation: encoding; not WIRE_UNDECIDED
 * @s: receives the values; valid as long as the cursor's bytes
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
int wire_read_sequence(struct tenon_cursor *c, enum wire_generation generation,
		       struct wire_sequence *s);

/**
 * wire_read_tensor - read a tensor record, as in copies
 * @c: cursor
 * @t: receives it
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED.
 */
int wire_read_tensor(struct tenon_cursor *c, struct wire_tensor *t);

/**
 * wire_write_sequence - append a sequence
 * @b: buffer, which keeps the status of a failure
 * @generation: encoding; not WIRE_UNDECIDED, unless @count is 0
 * @values: @count values
 * @count: number of values
 */
void wire_write_sequence(struct tenon_buffer *b, enum wire_generation generation,
			 const struct wire_value *values, uint32_t count);

/** wire_write_tensor - append a tensor record */
void wire_write_tensor(struct tenon_buffer *b, const struct wire_tensor *t);

/** wire_tensor_record_size - bytes of the record of a tensor with @ndim dimensions */
static inline size_t wire_tensor_record_size(int32_t ndim)
{
	return 32 + 8 * (size_t)ndim;
}

/* the codes of types that replies contain */
int32_t wire_type_code(enum wire_generation generation, enum wire_kind kind);

static inline struct wire_value wire_none(void)
{
	return (struct wire_value){ WIRE_NONE, { 0 } };
}

static inline struct wire_value wire_int(int64_t integer)
{
	return (struct wire_value){ WIRE_INT, { .integer = integer } };
}

static inline struct wire_value wire_pointer(uint64_t handle)
{
	return (struct wire_value){ WIRE_POINTER, { .handle = handle } };
}

static inline struct wire_value wire_string(const char *text)
{
	return (struct wire_value){ WIRE_STRING, { .text = { text, __builtin_strlen(text) } } };
}

#endif /* RPC_WIRE_WIRE_H */
