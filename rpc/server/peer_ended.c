/* SPDX-License-Identifier: MIT */
/*
 * The client of a session that has ended before any request told its encoding. Clients of TVM before 0.20 abort
 * on an exception in the other encoding, so the server waits for the next request, and answers in that of the request.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/error.h>

#include "rpc/server/server_state.h"
#include "rpc/server/session.h"
#include "rpc/wire/packet.h"

/* how long to wait for the request */
#define REQUEST_MS 600000

bool peer_answers_later(const struct peer *p)
{
	/*
	 * clients with the extension accept the default encoding; a working session has already
	 * read bytes of the request
	 */
	return !p->extension && atomic_load(&p->watch->generation) == WIRE_UNDECIDED &&
	       !p->usage.working;
}

bool peer_await_request(struct peer *p)
{
	p->request = calloc(1, sizeof(*p->request));
	if (!p->request)
		return false;
	fcntl(p->fd, F_SETFL, fcntl(p->fd, F_GETFL) | O_NONBLOCK);
	p->state = PEER_ENDED;
	p->deadline = now_ms() + REQUEST_MS;
	return true;
}

static uint64_t packet_size(const struct peer_request *r)
{
	uint64_t size = 0;
	int i;

	for (i = 0; i < 8; i++)
		size |= (uint64_t)r->bytes[i] << 8 * i;
	return size;
}

/*
 * Bytes of the request that are there, once it is complete or exceeds the buffer; 0 before that; -1 at the end. Reads at most
 * one packet: a client that sends without pause must not keep the server from others.
 */
static int read_request(struct peer *p)
{
	struct peer_request *r = p->request;
	size_t want = 8;
	ssize_t n;

	for (;;) {
		if (r->size >= 8) {
			uint64_t size = packet_size(r);

			if (!size) {
				r->size = 0; /* an empty packet means nothing */
				return 0;
			}
			want = size < sizeof(r->bytes) - 8 ? 8 + (size_t)size : sizeof(r->bytes);
			if (r->size == want)
				return (int)want;
		}
		n = recv(p->fd, r->bytes + r->size, want - r->size, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n <= 0)
			return -1;
		r->size += (size_t)n;
	}
}

/* Decode the request; what cannot be decoded has code PACKET_NONE. */
static uint32_t decode(const struct peer_request *r, enum wire_generation *generation)
{
	struct packet packet = { 0 };
	uint32_t code = PACKET_NONE;

	*generation = WIRE_UNDECIDED;
	if (!packet_read((struct tenon_slice){ (const char *)r->bytes + 8, r->size - 8 },
			 WIRE_UNDECIDED, &packet)) {
		code = packet.code;
		*generation = packet.generation;
	}
	tenon_error_clear();
	packet_fini(&packet);
	return code;
}

static bool send_empty_return(struct peer *p)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t start = packet_begin(&b, PACKET_RETURN);
	bool ok;

	wire_write_sequence(&b, WIRE_FFI, NULL, 0);
	packet_end(&b, start, 0);
	ok = !b.status &&
	     send(p->fd, b.data, b.size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)b.size;
	tenon_buffer_fini(&b);
	return ok;
}

bool peer_answer_ended(struct peer *p)
{
	enum wire_generation generation;
	uint32_t code;
	int size;

	size = read_request(p);
	if (size <= 0)
		return !size;
	code = decode(p->request, &generation);
	if (code == PACKET_SHUTDOWN)
		return false;
	if (code == PACKET_INIT && generation == WIRE_UNDECIDED) {
		/* InitServer without arguments is the same in both, as is its reply */
		p->request->size = 0;
		return send_empty_return(p);
	}
	peer_send_exception(p, generation, p->reason);
	return false;
}
