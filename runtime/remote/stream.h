/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_REMOTE_STREAM_H
#define RUNTIME_REMOTE_STREAM_H

/**
 * DOC: packets on a socket
 *
 * Reads through a small buffer, so that a short packet takes one system call. The memory for a packet
 * grows as its bytes arrive: a length alone reserves nothing.
 */

#include <tenon/buffer.h>
#include <tenon/value.h>

/**
 * struct stream - a socket
 * @fd: the socket; the caller closes it
 * @most: largest packet in bytes
 * @start: first buffered byte
 * @end: one past the last buffered byte
 * @buffer: bytes that were read ahead
 * @packet: the packet
 * @room: bytes allocated for it
 */
struct stream {
	int fd;
	uint64_t most;
	size_t start;
	size_t end;
	char *packet;
	size_t room;
	char buffer[8192];
};

/** enum stream_result - what stream_read_packet() found */
enum stream_result {
	STREAM_PACKET,
	STREAM_END,	  /* the peer closed the connection between packets */
	STREAM_BROKEN,	  /* it closed within one, or the connection failed; the error is set */
	STREAM_TOO_LARGE, /* the packet exceeds the limit; the error is set */
};

/** stream_init - initialise a stream for a connected socket */
void stream_init(struct stream *s, int fd, uint64_t most);

/** stream_fini - free memory; the socket stays open */
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

/** stream_read - read exactly @size bytes; 0, or -TENON_E_IO */
int stream_read(struct stream *s, void *data, size_t size);

/** stream_write - write two slices, the second may be empty; 0, or -TENON_E_IO */
int stream_write(struct stream *s, struct tenon_slice first, struct tenon_slice second);

#endif /* RUNTIME_REMOTE_STREAM_H */
