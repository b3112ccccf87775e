/* SPDX-License-Identifier: MIT */
/* Packets on a connection, read with few system calls. */
#ifndef RPC_WIRE_STREAM_H
#define RPC_WIRE_STREAM_H

/*
 * Reads through a small buffer, so that a short packet takes one system call. The memory for a packet
 * grows as its bytes arrive: a length alone reserves nothing.
 */

#include <tenon/buffer.h>
#include <tenon/value.h>

#include "rpc/wire/connection.h"

/* bytes that are read ahead */
#define STREAM_BUFFER 8192

/**
 * struct stream - packets of a connection
 * @connection: the caller closes it
 * @most: largest packet in bytes
 * @start: first buffered byte
 * @end: one past the last buffered byte
 * @buffer: bytes that were read ahead
 * @packet: the packet
 * @room: bytes allocated for it
 */
struct stream {
	struct connection *connection;
	uint64_t most;
	size_t start;
	size_t end;
	char *packet;
	size_t room;
	char buffer[STREAM_BUFFER];
};

/** enum stream_result - what stream_read_packet() found */
enum stream_result {
	STREAM_PACKET,
	STREAM_END,	  /* the peer closed the connection between packets */
	STREAM_BROKEN,	  /* it closed within one, or the connection failed; the error is set */
	STREAM_TOO_LARGE, /* the packet exceeds the limit; the error is set */
};

/** stream_init - initialise a stream for a connection */
void stream_init(struct stream *s, struct connection *c, uint64_t most);

/** stream_fini - free memory; the connection stays open */
void stream_fini(struct stream *s);

/**
 * stream_read_packet - read the next packet that is not empty
 * @s: stream
 * @started: called after the first bytes arrived; may be NULL
 * @context: passed to @started
 * @out: receives the packet without its length; valid until the next call
 */
enum stream_result stream_read_packet(struct stream *s, void (*started)(void *context),
				      void *context, struct tenon_slice *out);

/**
 * stream_begin_packet - read the length of the next packet that is not empty
 * @s: stream
 * @started: as for stream_read_packet()
 * @context: passed to @started
 * @size: receives the length; as many bytes must be read next
 */
enum stream_result stream_begin_packet(struct stream *s, void (*started)(void *context),
				       void *context, uint64_t *size);

/** stream_read_body - read @size bytes of a packet; @out as for stream_read_packet() */
enum stream_result stream_read_body(struct stream *s, uint64_t size, struct tenon_slice *out);

/**
 * stream_read_part - read some bytes of a packet that is not kept as a whole
 * @s: stream
 * @left: bytes of the packet that are left, more than 0; the number of bytes read is subtracted
 * @out: receives at most 256 KiB, which stay in the processor's cache; valid until the next call
 *
 * Return: 0; -TENON_E_IO; -TENON_E_TIMEOUT; -TENON_E_NOMEM. @left is unchanged on failure.
 */
int stream_read_part(struct stream *s, uint64_t *left, struct tenon_slice *out);

/**
 * stream_ahead - read until at least @size bytes are buffered, from @start on
 *
 * Return: 1; 0 at the end of the stream; -1 with the error set.
 */
int stream_ahead(struct stream *s, size_t size);

/** stream_read - read exactly @size bytes; 0; -TENON_E_IO; -TENON_E_TIMEOUT */
int stream_read(struct stream *s, void *data, size_t size);

/** stream_write - write two slices, the second may be empty; 0; -TENON_E_IO; -TENON_E_TIMEOUT */
int stream_write(struct stream *s, struct tenon_slice first, struct tenon_slice second);

#endif /* RPC_WIRE_STREAM_H */
