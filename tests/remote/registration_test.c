/* SPDX-License-Identifier: MIT */
/* a server at a tracker that is played by the case, message by message */
#include "tests/unit/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/clock.h"
#include "rpc/wire/registration.h"
#include "tests/remote/failing_call.h"
#include "tests/remote/farm_process.h"

static struct registration r;
static int listener, connection;
static uint64_t patience;

static void say(void *context, const char *line)
{
	(void)context;
	(void)line;
}

static void begin(const char *key, unsigned int slots)
{
	static char address[64];
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct registration_options o = { .tracker = address,
					  .name = "board",
					  .key = key,
					  .slots = slots,
					  .port = 9090,
					  .say = say };
	socklen_t size = sizeof(at);

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	connection = -1;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 5), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%d", ntohs(at.sin_port));
	patience = clock_ms() + PATIENCE_S * 1000;
	assert_int_equal(registration_init(&r, &o), 0);
}

static void end(void)
{
	registration_fini(&r);
	close(connection);
	close(listener);
}

static void step(void)
{
	struct pollfd p = registration_polled(&r);

	assert_true(clock_ms() < patience);
	poll(&p, 1, 5);
	registration_step(&r, p.revents);
}

static void read_bytes(void *bytes, size_t size)
{
	while (recv(connection, bytes, size, MSG_PEEK | MSG_DONTWAIT) != (ssize_t)size)
		step();
	assert_int_equal(recv(connection, bytes, size, 0), size);
}

static const char *next_message(void)
{
	static char text[2000];
	uint8_t size[4];

	read_bytes(size, 4);
	assert_true(size[0] + 256 * size[1] < (int)sizeof(text));
	read_bytes(text, size[0] + 256U * size[1]);
	text[size[0] + 256 * size[1]] = '\0';
	return text;
}

/* Wait for a connection, and take name and address. */
static void meet(void)
{
	char magic[4];

	close(connection);
	while ((connection = accept(listener, NULL, NULL)) < 0)
		step();
	read_bytes(magic, 4);
	assert_memory_equal(magic, "\x71\xf2\x02\0", 4);
	farm_send(connection, magic, 4);
	assert_memory_equal(next_message(), "[5, ", 4);
	tracker_send(connection, "0");
}

/* Take an offer; its match key. */
static void take_put(char *match_key, size_t size)
{
	const char *at = next_message();

	assert_memory_equal(at, "[3, \"", 5);
	at = strstr(at, "[9090, \"");
	assert_non_null(at);
	at += strlen("[9090, \"");
	snprintf(match_key, size, "%.*s", (int)strcspn(at, "\""), at);
	tracker_send(connection, "0");
}

static void others_keep_their_keys_when_one_is_dropped(void **state)
{
	char stays[100], comes[100], goes[100], again[100];
	int slot;

	(void)state;
	begin(NULL, 4);
	assert_int_equal(registration_add(&r, "stays"), 0);
	assert_int_equal(registration_add(&r, "comes"), 1);
	slot = registration_add(&r, "goes");
	meet();
	take_put(stays, sizeof(stays));
	take_put(comes, sizeof(comes));
	take_put(goes, sizeof(goes));
	/* the tracker's last answer has come */
	while (r.wait != REGISTRATION_IDLE)
		step();
	registration_drop(&r, slot);
	assert_int_equal(registration_take(&r, goes), -1);
	/* a client with the other key comes before the server is back at the tracker */
	assert_int_equal(registration_take(&r, comes), 1);
	assert_int_equal(registration_take(&r, comes), -1);
	meet();
	take_put(again, sizeof(again));
	assert_string_equal(again, stays);
	while (r.wait != REGISTRATION_IDLE)
		step();
	assert_int_equal(registration_take(&r, stays), 0);
	registration_release(&r, 0);
	take_put(again, sizeof(again));
	assert_string_not_equal(again, stays);
	end();
}

static void a_lost_tracker_gets_other_keys(void **state)
{
	char first[100], second[100];

	(void)state;
	begin("board", 1);
	meet();
	take_put(first, sizeof(first));
	while (r.wait != REGISTRATION_IDLE)
		step();
	close(connection);
	connection = -1;
	while (r.wait != REGISTRATION_RETRY)
		step();
	r.deadline = 0;
	meet();
	take_put(second, sizeof(second));
	assert_string_not_equal(first, second);
	assert_int_equal(registration_take(&r, first), -1);
	end();
}

/* what getrandom() of this program does */
static bool no_random;

ssize_t getrandom(void *bytes, size_t size, unsigned int flags)
{
	if (!no_random)
		return (ssize_t)syscall(SYS_getrandom, bytes, size, flags);
	errno = ENOSYS;
	return -1;
}

static void a_key_is_never_offered_twice(void **state)
{
	char first[100], second[100];

	(void)state;
	begin("board", 1);
	meet();
	take_put(first, sizeof(first));
	while (r.wait != REGISTRATION_IDLE)
		step();
	assert_int_equal(registration_take(&r, first), 0);
	no_random = true;
	registration_release(&r, 0);
	step();
	assert_int_equal(registration_take(&r, first), -1);
	no_random = false;
	r.deadline = clock_ms();
	take_put(second, sizeof(second));
	assert_string_not_equal(first, second);
	end();
}

/* as json.dumps() of Python writes it */
static void a_key_that_the_tracker_escapes_is_found(void **state)
{
	char match_key[100], list[200];
	int i;

	(void)state;
	begin("gr\xc3\xbcn", 1);
	meet();
	take_put(match_key, sizeof(match_key));
	assert_memory_equal(match_key, "gr\xc3\xbcn:", 6);
	snprintf(list, sizeof(list), "[\"gr\\u00fcn:%s\"]", match_key + 6);
	for (i = 0; i < 10; i++) {
		while (r.wait != REGISTRATION_IDLE)
			step();
		/* ask now */
		r.deadline = 0;
		assert_string_equal(next_message(), "[7]");
		tracker_send(connection, list);
	}
	/* one that it does not list was handed out, and not used */
	for (i = 0; i < 4; i++) {
		while (r.wait != REGISTRATION_IDLE)
			step();
		r.deadline = 0;
		assert_string_equal(next_message(), "[7]");
		tracker_send(connection, "[]");
	}
	take_put(list, sizeof(list));
	assert_string_not_equal(list, match_key);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_keep_their_keys_when_one_is_dropped),
		cmocka_unit_test(a_lost_tracker_gets_other_keys),
		cmocka_unit_test(a_key_is_never_offered_twice),
		cmocka_unit_test(a_key_that_the_tracker_escapes_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
