/* SPDX-License-Identifier: MIT */
/* Packets of TVM's RPC: codes, bodies, lengths. */
#ifndef RPC_WIRE_PACKET_H
#define RPC_WIRE_PACKET_H

/*
 * A packet is a u64 length and that many bytes: an i32 opcode and its body. The numbers are the same
 * in all versions. A reply is PACKET_RETURN, PACKET_EXCEPTION or PACKET_COPY_ACK.
 */

#include "rpc/wire/wire.h"

/** enum packet_code - opcodes */
enum packet_code {
	PACKET_NONE = 0,
	PACKET_SHUTDOWN = 1,
	PACKET_INIT = 2,
	PACKET_CALL = 3,
	PACKET_RETURN = 4,
	PACKET_EXCEPTION = 5,
	PACKET_COPY_FROM = 6,
	PACKET_COPY_TO = 7,
	PACKET_COPY_ACK = 8,
	PACKET_GET_FUNCTION = 9, /* from here on: a sequence, and one value in the reply */
	PACKET_FREE_HANDLE = 10,
	PACKET_SET_DEVICE = 11,
	PACKET_GET_ATTRIBUTE = 12,
	PACKET_ALLOC = 13,
	PACKET_FREE = 14,
	PACKET_SYNC = 15,
	PACKET_COPY_AMONG = 16,
	PACKET_ALLOC_TENSOR = 17,
	PACKET_CREATE_STREAM = 18,
	PACKET_FREE_STREAM = 19,
	PACKET_SET_STREAM = 20,
	PACKET_CURRENT_STREAM = 21,
	PACKET_CODES
};

/* the version string of PACKET_INIT, in all versions */
#define PACKET_VERSION "0.8.0"

/**
 * struct packet - a decoded request
 * @code: enum packet_code
 * @generation: encoding of @args; WIRE_UNDECIDED where the bytes mean the same in both
 * @version: PACKET_INIT: the client's version string
 * @function: PACKET_CALL: the function's handle
 * @args: PACKET_INIT, PACKET_CALL and the syscalls: arguments
 * @tensor: PACKET_COPY_FROM, PACKET_COPY_TO: the remote tensor
 * @size: of the copy in bytes
 * @data: PACKET_COPY_TO: @size bytes, or the first of them
 */
struct packet {
	uint32_t code;
	enum wire_generation generation;
	struct tenon_slice version;
	uint64_t function;
	struct wire_sequence args;
	struct wire_tensor tensor;
	uint64_t size;
	struct tenon_slice data;
};

/**
 * packet_read - decode a request
 * @bytes: the packet without its length
 * @generation: the peer's encoding, or WIRE_UNDECIDED to find it out
 * @p: receives the request; zero-initialise it once, and end with packet_fini()
 *
 * The generation is decided by the first sequence that is valid in only one encoding: parsed to the
 * last byte, with the kinds of arguments that the opcode has and devices that exist.
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM.
 */
int packet_read(struct tenon_slice bytes, enum wire_generation generation, struct packet *p);

/**
 * packet_read_head - decode a CallFunc or CopyToRemote of which only the first bytes were read
 * @bytes: these bytes
 * @more: number of bytes that follow; they must be the end of the last argument, a text, or of the copy
 * @generation: the peer's encoding; of a CallFunc not WIRE_UNDECIDED
 * @p: as for packet_read(); the last argument, or @p->data, is the part that is in @bytes
 *
 * Return: as packet_read().
 */
int packet_read_head(struct tenon_slice bytes, uint64_t more, enum wire_generation generation,
		     struct packet *p);

/** packet_fini - free what packet_read() allocated */
void packet_fini(struct packet *p);

/** packet_name - "CallFunc", … ; "unknown" */
const char *packet_name(uint32_t code);

/** packet_begin - append the room for the length of a packet, and its code; returns its position */
size_t packet_begin(struct tenon_buffer *b, enum packet_code code);

/** packet_end - set the length of the packet that began at @start, and that @more bytes will follow */
void packet_end(struct tenon_buffer *b, size_t start, uint64_t more);

#endif /* RPC_WIRE_PACKET_H */
