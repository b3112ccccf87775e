/* SPDX-License-Identifier: MIT */
/*
 * Our client with a fake server: recorded replies of TVM's server, cut at every byte, and changed at
 * random. The client must return, without a crash, and without memory that a length on the wire asked
 * for.
 */
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <tenon/memory.h>
#include <unistd.h>

#include "runtime/rpc/rpc.h"
#include "tests/remote/recording.h"
#include "tests/remote/use_session.h"

/* what a socket takes without a reader, on every machine */
#define REPLIES_MOST 60000

static int other_end;
/* sessions that got past the handshake */
static int connected;

/* A server that has sent @size bytes and hung up. It reads nothing: requests stay in the socket. */
static struct connection *fake_server(const char *replies, size_t size)
{
	struct connection *connection;
	int pair[2], room = 1 << 20;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	assert_int_equal(send(pair[1], replies, size, MSG_NOSIGNAL | MSG_DONTWAIT), size);
	shutdown(pair[1], SHUT_WR);
	assert_int_equal(connection_of_fds(pair[0], pair[0], "fake", &connection), 0);
	/* open until the end, so that requests can be written */
	other_end = pair[1];
	return connection;
}

static void meet(const char *replies, size_t size, unsigned int which)
{
	struct tenon_remote_options o = { .size = sizeof(o), .wait_each = which & 8 };
	struct tenon_remote *remote;

	if (!rpc_connect_over(fake_server(replies, size), "fake", &o, &remote)) {
		connected++;
		use_session(remote, which);
		tenon_remote_close(remote);
	} else {
		assert_true(*tenon_error_message());
	}
	close(other_end);
	tenon_error_clear();
}

static void replies_are_cut_at_every_byte(void **state)
{
	struct recording r;
	size_t i, size;

	(void)state;
	for (i = 0; i < RECORDINGS; i++) {
		recording_read(&r, recordings[i]);
		for (size = 0; size <= r.replies.size && size < 3000; size++)
			meet(r.replies.data, size, (unsigned int)i);
		recording_free(&r);
	}
	assert_true(connected > 100);
}

static uint32_t random_number(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static void change(char *bytes, size_t size, uint32_t *seed)
{
	static const uint8_t favourites[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint32_t n = 1 + random_number(seed) % 4;

	while (n--) {
		size_t at = random_number(seed) % size;
		uint32_t r = random_number(seed);

		bytes[at] = (char)(r & 1 ? favourites[r % sizeof(favourites)] : r >> 8);
	}
}

static void replies_are_changed_at_random(void **state)
{
	const char *rounds = getenv("TENON_ROUNDS");
	long n = rounds ? atol(rounds) : 300, k;
	uint32_t seed = 20240607;
	struct recording r;
	char *bytes;
	size_t i, size;

	(void)state;
	for (i = 0; i < RECORDINGS; i++) {
		recording_read(&r, recordings[i]);
		size = r.replies.size < REPLIES_MOST ? r.replies.size : REPLIES_MOST;
		bytes = malloc(size);
		assert_non_null(bytes);
		for (k = 0; k < n; k++) {
			memcpy(bytes, r.replies.data, size);
			change(bytes, size, &seed);
			meet(bytes, size, random_number(&seed));
		}
		free(bytes);
		recording_free(&r);
	}
}

/* A length alone reserves nothing. */
static void huge_lengths_take_no_memory(void **state)
{
	static const uint64_t lengths[] = { UINT64_C(1) << 31, UINT64_C(1) << 32,
					    UINT64_C(1) << 40, UINT64_MAX };
	char bytes[200];
	struct recording r;
	struct rusage before, after;
	size_t i;

	(void)state;
	recording_read(&r, "connect");
	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memcpy(bytes, r.replies.data, r.reply_start);
		memcpy(bytes + r.reply_start, &lengths[i], 8);
		meet(bytes, r.reply_start + 8, 0);
	}
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 64 << 10);
	recording_free(&r);
}

static int close_devices(void **state)
{
	(void)state;
	tenon_device_close_all();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_are_cut_at_every_byte),
		cmocka_unit_test(replies_are_changed_at_random),
		cmocka_unit_test(huge_lengths_take_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, close_devices);
}
