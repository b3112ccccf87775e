/* SPDX-License-Identifier: MIT */
/* Addresses as text, sockets that listen on them, and connections to them; with calls to the system that fail. */
#include "tests/unit/suite.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tenon/error.h>

#include "rpc/wire/address.h"
#include "rpc/wire/auth.h"
#include "rpc/wire/connection.h"
#include "rpc/wire/dial.h"
#include "tests/remote/failing_call.h"

#define SOON_NS UINT64_C(30000000000)

static char folder[] = "/tmp/address-XXXXXX";
static char at_unix[100], bound[ADDRESS_TEXT];

static int make_folder(void **state)
{
	(void)state;
	snprintf(at_unix, sizeof(at_unix), "unix:%s/socket", mkdtemp(folder) ? folder : "");
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	address_unlink(at_unix);
	return rmdir(folder);
}

/* The lowest free descriptor: none was left open when it stays the same. */
static int free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

static int listen_on(const char *text)
{
	int fd = -1;

	assert_int_equal(address_listen(text, false, &fd, bound), 0);
	assert_true(fd >= 0);
	return fd;
}

static uint64_t soon(void)
{
	return connection_deadline(SOON_NS / 1000000);
}

/* ---- text */

static void an_address_is_split_at_its_last_colon(void **state)
{
	static const char *const rows[][3] = {
		{ "a:1", "a", "1" },
		{ "::1:80", "::1", "80" },
		{ "[::1]:80", "::1", "80" },
		{ "[a:1", "[a", "1" },
		{ "a]:1", "a]", "1" },
		{ "[:1", "[", "1" },
		{ "host:http", "host", "http" },
		{ "host:65535", "host", "65535" },
	};
	char host[ADDRESS_HOST], port[ADDRESS_PORT];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(address_split(rows[i][0], host, port), 0);
		assert_string_equal(host, rows[i][1]);
		assert_string_equal(port, rows[i][2]);
	}
}

static void text_that_is_no_address_is_refused(void **state)
{
	static const char *const rows[] = { "",
					    "host",
					    "host:",
					    ":80",
					    "[]:80",
					    "host:1234567890123456",
					    "127.0.0.1:65536",
					    "[::1]:99999",
					    "127.0.0.1:+70000",
					    "host:999999999999999" };
	char host[ADDRESS_HOST], port[ADDRESS_PORT], text[300];
	struct connection *c;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(address_split(rows[i], host, port), -TENON_E_VALUE);
		assert_error_has(rows[i]);
		assert_int_equal(address_listen(rows[i], true, &fd, bound), -TENON_E_VALUE);
		assert_int_equal(dial(rows[i], 1000, &fd), -TENON_E_VALUE);
		assert_int_equal(connection_open(rows[i], 0, &c), -TENON_E_VALUE);
		assert_null(c);
	}
	memset(text, 'h', sizeof(text));
	strcpy(text + sizeof(text) - 4, ":80");
	assert_int_equal(address_split(text, host, port), -TENON_E_VALUE);
	/* a port that is no number asks no other machine for a name */
	assert_int_equal(address_listen("127.0.0.1:port", true, &fd, bound), -TENON_E_VALUE);
	assert_int_equal(dial("127.0.0.1:port", 1000, &fd), -TENON_E_VALUE);
	assert_int_equal(connection_open("127.0.0.1:port", 0, &c), -TENON_E_IO);
	tenon_error_clear();
}

static void a_path_that_no_socket_can_have_is_refused(void **state)
{
	char text[200] = "unix:";
	struct connection *c;
	int fd;

	(void)state;
	assert_int_equal(address_listen(text, false, &fd, bound), -TENON_E_VALUE);
	assert_int_equal(connection_open(text, 0, &c), -TENON_E_VALUE);
	assert_error_has("0 bytes");
	memset(text + 5, 'p', 150);
	assert_int_equal(address_listen(text, false, &fd, bound), -TENON_E_VALUE);
	assert_int_equal(connection_open(text, 0, &c), -TENON_E_VALUE);
	assert_error_has("150 bytes");
}

static void peers_are_printed_as_numbers(void **state)
{
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000001) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr other = { .sa_family = AF_UNIX };
	char text[ADDRESS_TEXT];

	(void)state;
	address_of_peer(&four, sizeof(four), text, sizeof(text));
	assert_string_equal(text, "10.0.0.1");
	assert_int_equal(inet_pton(AF_INET6, "fe80::1", &six.sin6_addr), 1);
	six.sin6_scope_id = 3;
	address_of_peer(&six, sizeof(six), text, sizeof(text));
	assert_string_equal(text, "fe80::1%3");
	six.sin6_scope_id = 0;
	address_of_peer(&six, sizeof(six), text, sizeof(text));
	assert_string_equal(text, "fe80::1");
	assert_int_equal(inet_pton(AF_INET6, "::ffff:10.0.0.1", &six.sin6_addr), 1);
	address_of_peer(&six, sizeof(six), text, sizeof(text));
	assert_string_equal(text, "10.0.0.1");
	assert_int_equal(inet_pton(AF_INET6, "::fffe:0:1", &six.sin6_addr), 1);
	address_of_peer(&six, sizeof(six), text, sizeof(text));
	assert_string_equal(text, "::fffe:0:1");
	/* addresses that were cut, and of another family */
	address_of_peer(&six, sizeof(other), text, sizeof(text));
	assert_string_equal(text, "?");
	address_of_peer(&four, 4, text, sizeof(text));
	assert_string_equal(text, "?");
	address_of_peer(&other, sizeof(six), text, sizeof(text));
	assert_string_equal(text, "?");
}

static void proofs_and_nonces_are_compared_and_printed(void **state)
{
	uint8_t nonce[AUTH_NONCE], again[AUTH_NONCE], proof[AUTH_PROOF] = { 0 }, other[AUTH_PROOF];
	char text[AUTH_TEXT];

	(void)state;
	assert_true(auth_nonce(nonce));
	nonce[0] = 0xaf;
	auth_print(nonce, text);
	assert_true(auth_parse(text, again));
	assert_memory_equal(nonce, again, AUTH_NONCE);
	text[3] = 'G';
	assert_false(auth_parse(text, again));
	text[3] = '/';
	assert_false(auth_parse(text, again));
	text[3] = '0';
	text[2] = 'x';
	assert_false(auth_parse(text, again));
	text[AUTH_TEXT - 2] = '\0';
	assert_false(auth_parse(text, again));
	memcpy(other, proof, sizeof(proof));
	assert_true(auth_equal(proof, other));
	other[AUTH_PROOF - 1] = 1;
	assert_false(auth_equal(proof, other));
}

/* ---- sockets that listen */

static void a_listening_socket_knows_its_address(void **state)
{
	char text[ADDRESS_TEXT];
	int fd = listen_on("127.0.0.1:0");

	(void)state;
	snprintf(text, sizeof(text), "127.0.0.1:%d", address_port(fd));
	assert_string_equal(bound, text);
	address_bound(fd, text);
	assert_string_equal(bound, text);
	assert_true(address_is_local(fd));
	close(fd);

	fd = listen_on(at_unix);
	assert_string_equal(bound, at_unix);
	address_bound(fd, text);
	assert_string_equal(at_unix, text);
	assert_int_equal(address_port(fd), -1);
	assert_true(address_is_local(fd));
	close(fd);

	/* what is no socket has none */
	assert_int_equal(address_port(-1), -1);
	assert_false(address_is_local(-1));
	address_bound(-1, text);
	assert_string_equal(text, "?");
}

static void a_listening_socket_of_ipv6_knows_its_address(void **state)
{
	char text[ADDRESS_TEXT];
	int fd;

	(void)state;
	if (address_listen("[::1]:0", false, &fd, bound)) {
		tenon_error_clear();
		skip();
	}
	snprintf(text, sizeof(text), "[::1]:%d", address_port(fd));
	assert_string_equal(bound, text);
	assert_true(address_is_local(fd));
	close(fd);
	assert_int_equal(address_listen("[::]:0", false, &fd, bound), -TENON_E_VALUE);
	assert_int_equal(address_listen("[::]:0", true, &fd, bound), 0);
	assert_false(address_is_local(fd));
	close(fd);
	tenon_error_clear();
}

static void an_address_that_others_reach_needs_trust(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(address_listen("0.0.0.0:0", false, &fd, bound), -TENON_E_VALUE);
	assert_error_has("--trust-network");
	assert_int_equal(address_listen("0.0.0.0:0", true, &fd, bound), 0);
	assert_false(address_is_local(fd));
	close(fd);
}

static void a_socket_file_is_replaced_when_none_listens(void **state)
{
	const char *path = at_unix + strlen("unix:");
	int first, second, fd;

	(void)state;
	first = listen_on(at_unix);
	assert_int_equal(address_listen(at_unix, false, &second, bound), -TENON_E_IO);
	/* where it cannot be asked whether one listens, the file stays */
	close(first);
	fail_calls("socket", EMFILE, 1);
	assert_int_equal(address_listen(at_unix, false, &second, bound), -TENON_E_IO);
	fail_calls("connect", EACCES, 1);
	assert_int_equal(address_listen(at_unix, false, &second, bound), -TENON_E_IO);
	close(listen_on(at_unix));
	/* a file that is no socket is kept */
	address_unlink(at_unix);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(address_listen(at_unix, false, &second, bound), -TENON_E_IO);
	assert_int_equal(access(path, F_OK), 0);
	address_unlink(at_unix);
	address_unlink("127.0.0.1:80");
	tenon_error_clear();
}

static void a_call_that_fails_leaves_no_socket(void **state)
{
	static const char *const calls[] = { "socket", "bind", "listen" };
	const char *const texts[] = { "127.0.0.1:0", at_unix };
	int before, fd;

	(void)state;
	before = free_descriptor();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (size_t t = 0; t < 2; t++) {
			address_unlink(at_unix);
			fail_calls(calls[i], ENOBUFS, 1);
			assert_int_equal(address_listen(texts[t], false, &fd, bound), -TENON_E_IO);
			assert_error_has(strerror(ENOBUFS));
			assert_int_equal(free_descriptor(), before);
		}
	address_unlink(at_unix);
}

/* ---- connections */

static void both_ways_to_connect_reach_a_listening_socket(void **state)
{
	static const char *const schemes[] = { "", "rpc://" };
	char text[ADDRESS_TEXT + 20], byte = 0;
	int listener = listen_on("127.0.0.1:0"), fd, peer;
	struct connection *c;

	(void)state;
	assert_int_equal(dial(bound, SOON_NS / 1000000, &fd), 0);
	assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
	/* the time limit is over */
	assert_int_equal(dial(bound, 0, &fd), -TENON_E_TIMEOUT);
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%s%s", schemes[i], bound);
		assert_int_equal(connection_open(text, soon(), &c), 0);
		connection_close(c);
	}
	close(listener);
	assert_int_equal(dial(bound, SOON_NS / 1000000, &fd), -TENON_E_IO);
	assert_int_equal(connection_open(bound, soon(), &c), -TENON_E_IO);

	listener = listen_on(at_unix);
	assert_int_equal(connection_open(at_unix, soon(), &c), 0);
	fcntl(listener, F_SETFL, 0);
	peer = accept(listener, NULL, NULL);
	assert_int_equal(write(peer, "a", 1), 1);
	assert_int_equal(connection_read(c, &byte, 1), 0);
	assert_int_equal(byte, 'a');
	connection_close(c);
	close(peer);
	close(listener);
	assert_int_equal(connection_open(at_unix, soon(), &c), -TENON_E_IO);
	address_unlink(at_unix);
	assert_int_equal(connection_open(at_unix, soon(), &c), -TENON_E_IO);
	tenon_error_clear();
}

static void a_descriptor_is_an_address(void **state)
{
	static const char *const wrong[] = { "fd:", "fd:x", "fd:1x", "fd:-1", "fd:4294967296" };
	struct connection *c;
	char text[30];
	int pair[2];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(connection_open(wrong[i], 0, &c), -TENON_E_VALUE);
		assert_error_has(wrong[i] + 3);
		assert_null(c);
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	snprintf(text, sizeof(text), "fd:%d", pair[0]);
	assert_int_equal(connection_open(text, 7, &c), 0);
	assert_true(c->deadline == 7);
	connection_close(c);
	close(pair[1]);
}

static void a_call_that_fails_while_connecting_is_told_and_leaves_nothing(void **state)
{
	static const struct {
		const char *name;
		int error;
		int dialled, opened;
	} rows[] = {
		{ "socket", EMFILE, -TENON_E_IO, -TENON_E_IO },
		{ "connect", ENETUNREACH, -TENON_E_IO, -TENON_E_IO },
		{ "poll", EINTR, 0, 0 },
		{ "poll", EFAULT, -TENON_E_TIMEOUT, -TENON_E_IO },
		{ "getsockopt", EBADF, -TENON_E_TIMEOUT, -TENON_E_IO },
	};
	int listener = listen_on("127.0.0.1:0"), before, fd, err;
	struct connection *c;

	(void)state;
	before = free_descriptor();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fail_calls(rows[i].name, rows[i].error, 1);
		err = dial(bound, SOON_NS / 1000000, &fd);
		assert_int_equal(err, rows[i].dialled);
		if (!err)
			close(fd);
		/* connecting to this machine may not have to wait */
		fail_calls(rows[i].name, rows[i].error, 1);
		err = connection_open(bound, soon(), &c);
		assert_true(err == rows[i].opened || !err);
		connection_close(c);
		fail_calls("", 0, 0);
		tenon_error_clear();
		assert_int_equal(free_descriptor(), before);
	}
	/* one that is interrupted goes on behind the caller's back; this one does not */
	fail_calls("connect", EINTR, 1);
	err = connection_open(bound, soon(), &c);
	assert_true(!err || err == -TENON_E_IO);
	connection_close(c);
	assert_int_equal(free_descriptor(), before);
	close(listener);
	/* the kernel tells only afterwards that none listens */
	assert_int_equal(connection_open(bound, soon(), &c), -TENON_E_IO);
	tenon_error_clear();
	tenon_error_clear();
	assert_int_equal(free_descriptor(), before - 1);
}

static void what_ssh_is_started_with_is_checked(void **state)
{
	static const char *const wrong[] = { "rpc+ssh://", "rpc+ssh:///path", "rpc+ssh://-oProxy",
					     "rpc+ssh://host:" };
	int before = free_descriptor();
	struct connection *c = NULL;
	char text[300] = "rpc+ssh://", byte;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(connection_open(wrong[i], 0, &c), -TENON_E_VALUE);
	memset(text + strlen(text), 'h', 200);
	assert_int_equal(connection_open(text, 0, &c), -TENON_E_VALUE);
	fail_calls("socketpair", EMFILE, 1);
	assert_int_equal(connection_open("rpc+ssh://host", 0, &c), -TENON_E_IO);
	fail_calls("fork", EAGAIN, 1);
	assert_int_equal(connection_open("rpc+ssh://host", 0, &c), -TENON_E_IO);
	assert_error_has("cannot start ssh");
	assert_int_equal(free_descriptor(), before);
	/* a program that does not exist ends the connection at once */
	setenv("PATH", "/no/such/folder", 1);
	for (size_t i = 0; i < 3; i++) {
		setenv("TENON_RPC_SSH", i ? "/no/such/program" : "", 1);
		fail_calls("waitpid", EINTR, 1);
		assert_int_equal(
			connection_open(i < 2 ? "rpc+ssh://host/key" : "rpc+ssh://host:22/key",
					soon(), &c),
			0);
		assert_int_equal(connection_read(c, &byte, 1), -TENON_E_IO);
		connection_close(c);
	}
	unsetenv("TENON_RPC_SSH");
	assert_int_equal(connection_open("rpc+ssh://host", soon(), &c), 0);
	connection_close(c);
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_split_at_its_last_colon),
		cmocka_unit_test(text_that_is_no_address_is_refused),
		cmocka_unit_test(a_path_that_no_socket_can_have_is_refused),
		cmocka_unit_test(peers_are_printed_as_numbers),
		cmocka_unit_test(proofs_and_nonces_are_compared_and_printed),
		cmocka_unit_test(a_listening_socket_knows_its_address),
		cmocka_unit_test(a_listening_socket_of_ipv6_knows_its_address),
		cmocka_unit_test(an_address_that_others_reach_needs_trust),
		cmocka_unit_test(a_socket_file_is_replaced_when_none_listens),
		cmocka_unit_test(a_call_that_fails_leaves_no_socket),
		cmocka_unit_test(both_ways_to_connect_reach_a_listening_socket),
		cmocka_unit_test(a_descriptor_is_an_address),
		cmocka_unit_test(a_call_that_fails_while_connecting_is_told_and_leaves_nothing),
		cmocka_unit_test(what_ssh_is_started_with_is_checked),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
