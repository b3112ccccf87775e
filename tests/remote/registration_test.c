/* SPDX-License-Identifier: MIT */
/* A server at a tracker that is played by the case, message by message. */
#include "tests/unit/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
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
static char said[1000]; /* the last line */
/* of the next begin() */
static const char *host, *check;

static void say(void *context, const char *line)
{
	(void)context;
	snprintf(said, sizeof(said), "%s", line);
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
					  .host = host,
					  .check = check,
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
	host = check = NULL;
	fail_calls("", 0, 0);
	tenon_error_clear();
}

static void step(void)
{
	struct pollfd p = registration_polled(&r);

	assert_true(clock_ms() < patience);
	poll(&p, 1, 5);
	registration_step(&r, p.revents);
}

static void wait_for(enum registration_wait wait)
{
	while (r.wait != wait)
		step();
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

static void slots_without_random_numbers_wait_for_them(void **state)
{
	char key[100];
	int i;

	(void)state;
	begin(NULL, 3);
	assert_int_equal(registration_add(&r, "board"), 0);
	no_random = true;
	registration_release(&r, 0);
	registration_release(&r, 1);
	step();
	no_random = false;
	meet();
	for (i = 0; i < 2; i++)
		take_put(key, sizeof(key));
	wait_for(REGISTRATION_IDLE);
	/* one that is not offered is not missed */
	r.deadline = 0;
	assert_string_equal(next_message(), "[7]");
	tracker_send(connection, "[]");
	wait_for(REGISTRATION_IDLE);
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

/* ---- trackers that are none, and calls that fail */

static void send_size(uint32_t size)
{
	const uint8_t bytes[4] = { (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16),
				   (uint8_t)(size >> 24) };

	farm_send(connection, bytes, 4);
}

/* Accept, and answer the greeting with these bytes. */
static void greet(const char *magic)
{
	char bytes[4];

	close(connection);
	while ((connection = accept(listener, NULL, NULL)) < 0)
		step();
	read_bytes(bytes, 4);
	farm_send(connection, magic, 4);
}

static void refuse_greeting(void)
{
	greet("HTTP");
}

static void refuse_address(void)
{
	greet("\x71\xf2\x02\0");
	next_message();
	tracker_send(connection, "1");
}

static void refuse_offer(void)
{
	meet();
	next_message();
	tracker_send(connection, "no");
}

static void answer_nothing_asked(void)
{
	char key[100];

	meet();
	take_put(key, sizeof(key));
	wait_for(REGISTRATION_IDLE);
	tracker_send(connection, "0");
}

static void answer_without_bytes(void)
{
	greet("\x71\xf2\x02\0");
	next_message();
	send_size(0);
}

static void answer_too_much(void)
{
	greet("\x71\xf2\x02\0");
	next_message();
	send_size(3U << 20);
}

static void leave(void)
{
	greet("\x71\xf2\x02\0");
	next_message();
	close(connection);
	connection = -1;
}

static void answer_never(void)
{
	greet("\x71\xf2\x02\0");
	next_message();
	r.deadline = 0;
}

static void break_reading(void)
{
	greet("\x71\xf2\x02\0");
	next_message();
	/* nothing is there, whatever poll() said */
	registration_step(&r, POLLIN);
	fail_calls("recv", EINTR, 1);
	tracker_send(connection, "0");
	step();
	fail_calls("recv", ECONNRESET, 1000);
	registration_step(&r, POLLIN);
	fail_calls("", 0, 0);
}

static void break_writing(void)
{
	greet("\x71\xf2\x02\0");
	next_message();
	tracker_send(connection, "0");
	fail_calls("send", ENOBUFS, 1);
}

static void a_tracker_that_misbehaves_is_left_and_named(void **state)
{
	static const struct {
		void (*misbehave)(void);
		const char *reason;
	} rows[] = {
		{ refuse_greeting, "it is no tracker" },
		{ refuse_address, "it refused the server's key and address" },
		{ refuse_offer, "it refused an offer" },
		{ answer_nothing_asked, "it sent what no tracker sends" },
		{ answer_without_bytes, "it sent what no tracker sends" },
		{ answer_too_much, "it sent what no tracker sends" },
		{ leave, "it closed the connection" },
		{ answer_never, "it does not answer" },
		{ break_reading, "Connection reset" },
		{ break_writing, "cannot write" },
	};
	char key[100];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin("board", 1);
		rows[i].misbehave();
		wait_for(REGISTRATION_RETRY);
		if (!strstr(said, rows[i].reason))
			fail_msg("said: %s, not: %s", said, rows[i].reason);
		/* and it is tried again */
		r.deadline = 0;
		meet();
		take_put(key, sizeof(key));
		end();
	}
}

static void a_tracker_that_cannot_be_reached_is_tried_ever_less(void **state)
{
	static const struct {
		const char *name;
		int error;
	} rows[] = { { "socket", EMFILE }, { "connect", ENETUNREACH } };
	int i;

	(void)state;
	begin("board", 1);
	for (i = 0; i < 2; i++) {
		fail_calls(rows[i].name, rows[i].error, 1);
		r.deadline = 0;
		registration_step(&r, 0);
		assert_int_equal(r.wait, REGISTRATION_RETRY);
		assert_true(registration_deadline(&r) == r.deadline);
		/* no connection to read from */
		registration_step(&r, POLLIN);
	}
	/* said once */
	assert_non_null(strstr(said, strerror(EMFILE)));
	close(listener);
	listener = -1;
	for (i = 0; i < 10; i++) {
		r.deadline = 0;
		registration_step(&r, 0);
		wait_for(REGISTRATION_RETRY);
	}
	assert_true(r.retry_ms == 5000);
	end();
}

static void a_reply_in_pieces_is_put_together(void **state)
{
	char key[100];

	(void)state;
	begin("board", 1);
	greet("\x71\xf2\x02\0");
	next_message();
	send_size(1);
	while (r.in.size < 4)
		step();
	step();
	assert_int_equal(r.wait, REGISTRATION_UPDATE);
	farm_send(connection, "0", 1);
	take_put(key, sizeof(key));
	end();
}

static void what_no_tracker_can_take_is_refused_at_once(void **state)
{
	char key[REGISTRATION_KEY_MOST + 2];
	struct registration_options o = { .tracker = "nowhere", .slots = 1, .say = say };

	(void)state;
	assert_int_equal(registration_init(&r, &o), -TENON_E_VALUE);
	registration_fini(&r);
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	o.tracker = "127.0.0.1:1";
	o.key = key;
	assert_int_equal(registration_init(&r, &o), -TENON_E_VALUE);
	registration_fini(&r);
	o.key = "board";
	no_random = true;
	assert_int_equal(registration_init(&r, &o), -TENON_E_IO);
	no_random = false;
	registration_fini(&r);
	o.key = NULL;
	assert_int_equal(registration_init(&r, &o), 0);
	assert_int_equal(registration_add(&r, key), -1);
	assert_int_equal(registration_add(&r, "one"), 0);
	assert_int_equal(registration_add(&r, "two"), -1);
	assert_int_equal(registration_take(&r, "none"), -1);
	registration_drop(&r, 0);
	registration_drop(&r, 0);
	registration_fini(&r);
	tenon_error_clear();
}

static void the_host_that_is_told_is_quoted(void **state)
{
	char key[100];

	(void)state;
	host = "a\"b\\c\nd";
	begin("board", 1);
	greet("\x71\xf2\x02\0");
	assert_non_null(strstr(next_message(), "\"a\\\"b\\\\c d\", 9090]"));
	tracker_send(connection, "0");
	take_put(key, sizeof(key));
	end();
}

/* ---- the health check */

/* Start the check now, wait for its end, and take it. */
static void run_check(const char *command)
{
	siginfo_t info;
	pid_t pid;

	r.options.check = command;
	r.check_at = 0;
	while (!r.check_pid)
		step();
	pid = r.check_pid;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(registration_reap(&r, pid + 1));
	fail_calls("waitpid", EINTR, 1);
	assert_true(registration_reap(&r, pid));
	assert_false(registration_reap(&r, pid));
}

static void a_check_that_fails_takes_the_server_out(void **state)
{
	static const char *const rows[][2] = {
		{ "echo first; echo 'it \"burns\"'; exit 3", "failed with status 3: it \"burns\"" },
		{ "exit 4", "failed with status 4" },
		{ "kill -9 $$", "killed by signal 9" },
		{ "yes | head -c 60000; echo last; exit 1", "status 1: last" },
	};
	char key[100];

	(void)state;
	check = "true";
	begin("board", 1);
	/* not offered before it is checked */
	run_check("true");
	assert_string_equal(r.health, "");
	meet();
	take_put(key, sizeof(key));
	wait_for(REGISTRATION_IDLE);
	run_check("true");
	assert_string_equal(r.health, "");
	for (size_t i = 0; i < 4; i++) {
		run_check(rows[i][0]);
		if (!strstr(r.health, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], r.health);
		assert_non_null(strstr(said, rows[i][1]));
		/* the tracker forgets what it had when the connection closes */
		if (i == 0)
			assert_int_equal(r.wait, REGISTRATION_RETRY);
		r.deadline = 0;
		meet();
		assert_int_equal(registration_take(&r, key), -1);
	}
	run_check("true");
	assert_string_equal(r.health, "");
	assert_non_null(strstr(said, "healthy again"));
	while (!strstr(next_message(), "[3, "))
		tracker_send(connection, "0");
	end();
}

static void a_check_that_does_not_end_is_killed(void **state)
{
	siginfo_t info;
	pid_t pid;

	(void)state;
	check = "sleep 1000";
	begin("board", 1);
	while (!r.check_pid)
		step();
	pid = r.check_pid;
	step();
	assert_int_equal(r.check_pid, pid);
	r.check_at = 1;
	step();
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(registration_reap(&r, pid));
	assert_non_null(strstr(r.health, "took longer"));
	/* one that runs when the server ends ends with it */
	r.check_at = 0;
	while (!r.check_pid)
		step();
	pid = r.check_pid;
	fail_calls("waitpid", EINTR, 1);
	end();
	assert_int_equal(kill(pid, 0), -1);
}

static void a_check_that_cannot_start_is_tried_later(void **state)
{
	static const char *const calls[] = { "pipe2", "fork" };

	(void)state;
	check = "true";
	begin("board", 1);
	for (size_t i = 0; i < 2; i++) {
		r.check_at = 0;
		fail_calls(calls[i], EMFILE, 1);
		registration_check_step(&r, clock_ms());
		assert_int_equal(r.check_pid, 0);
		assert_true(r.check_at > clock_ms());
	}
	assert_true(registration_deadline(&r) <= r.check_at);
	/* the server is gone before its child asks to end with it */
	fail_calls("getppid", ESRCH, 1);
	run_check("true");
	assert_non_null(strstr(r.health, "status 127"));
	/* while a session has the board for itself, none starts */
	r.slots[0].state = SLOT_BUSY;
	r.check_at = 0;
	registration_check_step(&r, clock_ms());
	assert_int_equal(r.check_pid, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_keep_their_keys_when_one_is_dropped),
		cmocka_unit_test(a_lost_tracker_gets_other_keys),
		cmocka_unit_test(a_key_is_never_offered_twice),
		cmocka_unit_test(slots_without_random_numbers_wait_for_them),
		cmocka_unit_test(a_key_that_the_tracker_escapes_is_found),
		cmocka_unit_test(a_tracker_that_misbehaves_is_left_and_named),
		cmocka_unit_test(a_tracker_that_cannot_be_reached_is_tried_ever_less),
		cmocka_unit_test(a_reply_in_pieces_is_put_together),
		cmocka_unit_test(what_no_tracker_can_take_is_refused_at_once),
		cmocka_unit_test(the_host_that_is_told_is_quoted),
		cmocka_unit_test(a_check_that_fails_takes_the_server_out),
		cmocka_unit_test(a_check_that_does_not_end_is_killed),
		cmocka_unit_test(a_check_that_cannot_start_is_tried_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
