/* SPDX-License-Identifier: MIT */
/*
 * Our client with a fake server: recorded replies of TVM's server, cut at every byte, and changed at
 * random. The client must return, without a crash, and without memory that a length on the wire asked
 * for. Likewise with a fake tracker.
 */
#include "tests/unit/suite.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/memory.h>
#include <unistd.h>

#include "rpc/client/rpc.h"
#include "tests/remote/recording.h"
#include "tests/remote/use_session.h"

/* generous: machines under load stall for seconds */
#define PATIENCE_MS 120000
/* room for the offer of a tracker */
#define OFFER_MOST 4000

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
	static const uint64_t lengths[] = { UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 40,
					    UINT64_MAX };
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

/* ---- a tracker */

/* The fake tracker: send the bytes to one client, whatever it asks. */
static _Noreturn void run_tracker(int listener, const char *bytes, size_t size)
{
	int fd = accept(listener, NULL, NULL);
	char asked[256];

	if (send(fd, bytes, size, MSG_NOSIGNAL) < 0)
		_exit(1);
	shutdown(fd, SHUT_WR);
	while (recv(fd, asked, sizeof(asked), 0) > 0)
		;
	_exit(0);
}

static int ask_tracker(const char *bytes, size_t size, struct rpc_match *match)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t room = sizeof(address);
	char name[40];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), err;
	pid_t pid;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, room), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &room), 0);
	snprintf(name, sizeof(name), "127.0.0.1:%d", ntohs(address.sin_port));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		run_tracker(listener, bytes, size);
	err = rpc_ask_tracker(name, "k", PATIENCE_MS, PATIENCE_MS, match);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(listener);
	return err;
}

/* What a tracker sends: its number, a length, and a text. */
static size_t tracker_bytes(char bytes[8 + OFFER_MOST], uint32_t length, const char *text)
{
	const char head[8] = { 0x71,
			       (char)0xf2,
			       2,
			       0,
			       (char)length,
			       (char)(length >> 8),
			       (char)(length >> 16),
			       (char)(length >> 24) };

	memcpy(bytes, head, sizeof(head));
	memcpy(bytes + sizeof(head), text, strlen(text));
	return sizeof(head) + strlen(text);
}

static void assert_refused(const char *bytes, size_t size)
{
	struct rpc_match match;
	const char *c;

	assert_true(ask_tracker(bytes, size, &match) < 0);
#ifdef CONFIG_ERROR_MESSAGES
	assert_true(*tenon_error_message());
#endif
	for (c = tenon_error_message(); *c; c++)
		assert_true((unsigned char)*c >= ' ' || *c == '\n');
	tenon_error_clear();
}

static void an_offer_of_a_tracker_is_cut_at_every_byte(void **state)
{
	static const char offer[] = "[0, [\"127.0.0.1\", 9090, \"k:0.5\"]]";
	char bytes[8 + OFFER_MOST];
	size_t size = tracker_bytes(bytes, sizeof(offer) - 1, offer), cut;
	struct rpc_match match;

	(void)state;
	assert_int_equal(ask_tracker(bytes, size, &match), 0);
	assert_string_equal(match.address, "127.0.0.1:9090");
	assert_string_equal(match.key, "k:0.5");
	for (cut = 0; cut < size; cut++)
		assert_refused(bytes, cut);
	/* a text that ends early, of the length that it says */
	for (cut = 0; cut < sizeof(offer) - 1; cut++) {
		tracker_bytes(bytes, (uint32_t)cut, offer);
		assert_refused(bytes, 8 + cut);
	}
}

static void an_offer_of_a_tracker_has_wrong_types_and_lengths(void **state)
{
	static const char *const offers[] = {
		"null",
		"{}",
		"[]",
		"[0]",
		"[0, null]",
		"[0, []]",
		"[0, {\"a\": [\"h\", 1, \"k\"]}]",
		"[1, \"no\"]",
		"[1, [\"h\", 1, \"k\"]]",
		"[0, [1, 2, 3]]",
		"[0, [\"h\", \"1\", \"k\"]]",
		"[0, [\"h\", 1]]",
		"[0, [\"h\", 1, null]]",
		"[0, [\"h\", 1, \"k\", 2]]",
		"[0, [\"\", 1, \"k\"]]",
		"[0, [\"h\", 1, \"\"]]",
		"[0, [\"h\", 0, \"k\"]]",
		"[0, [\"h\", -1, \"k\"]]",
		"[0, [\"h\", 65536, \"k\"]]",
		"[0, [\"h\", 1e3, \"k\"]]",
		"[0, [\"h\", 4294967297, \"k\"]]",
		"[0, [\"h\", 1, \"k\"]] [",
		"\x1b[2J\x1b]0;title\a",
		"[0, [\"h\\\"\", 1, \"k\"]]",
		"\xff\xfe",
	};
	static const uint32_t lengths[] = { 4097, 1 << 30, 0x7fffffff, 0x80000000, 0xffffffff };
	char bytes[8 + OFFER_MOST], text[OFFER_MOST], name[2000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(offers) / sizeof(offers[0]); i++)
		assert_refused(bytes, tracker_bytes(bytes, (uint32_t)strlen(offers[i]), offers[i]));
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		assert_refused(bytes, tracker_bytes(bytes, lengths[i], offers[0]));
	memset(name, 'n', sizeof(name));
	snprintf(text, sizeof(text), "[0, [\"%.300s\", 1, \"k\"]]", name);
	assert_refused(bytes, tracker_bytes(bytes, (uint32_t)strlen(text), text));
	snprintf(text, sizeof(text), "[0, [\"h\", 1, \"%.2000s\"]]", name);
	assert_refused(bytes, tracker_bytes(bytes, (uint32_t)strlen(text), text));
	/* another service, which answers with what is no tracker's number */
	assert_refused("HTTP/1.1 400 Bad Request\r\n", 26);
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
		cmocka_unit_test(an_offer_of_a_tracker_is_cut_at_every_byte),
		cmocka_unit_test(an_offer_of_a_tracker_has_wrong_types_and_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, close_devices);
}
