/* SPDX-License-Identifier: MIT */
/* The tracker: its queues, its messages, a thousand servers and clients, and peers that lie, stall and leave. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/tracker/tracker_message.h"
#include "rpc/tracker/tracker_queue.h"
#include "tests/remote/emulated.h"
#include "tests/remote/farm_process.h"

/* ---- queues */

static struct tenon_slice text(const char *string)
{
	return tenon_slice_of(string);
}

static void add_server(struct tracker_queue *q, const char *match_key)
{
	assert_non_null(tracker_queue_put(q, NULL, text("h"), 1, text(match_key)));
}

/* Serve one; the match key and the user, as "key user". */
static const char *next_pair(struct tracker_queue *q)
{
	static char pair[100];
	struct tracker_server *server;
	struct tracker_request *request = tracker_queue_match(q, &server);

	if (!request)
		return NULL;
	snprintf(pair, sizeof(pair), "%s %s", server->match_key, request->user);
	tracker_request_free(request);
	tracker_server_free(server);
	return pair;
}

static void larger_priorities_are_first_and_users_take_turns(void **state)
{
	static const char *const want[] = { "k:0 c", "k:1 a", "k:2 b", "k:3 a", "k:4 b", "k:5 a" };
	struct tracker_queues all = { 0 };
	struct tracker_queue *q = tracker_queue_of(&all, text("k"));
	char key[8];
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		tracker_queue_request(q, NULL, text("a"), 1);
	for (i = 0; i < 2; i++)
		tracker_queue_request(q, NULL, text("b"), 1);
	tracker_queue_request(q, NULL, text("c"), 2);
	assert_null(next_pair(q));
	for (i = 0; i < 7; i++) {
		snprintf(key, sizeof(key), "k:%zu", i);
		add_server(q, key);
	}
	for (i = 0; i < 6; i++)
		assert_string_equal(next_pair(q), want[i]);
	assert_null(next_pair(q));
	assert_int_equal(tracker_queue_free(q), 1);
	tracker_queues_fini(&all);
}

static void a_server_that_is_out_is_not_handed_out(void **state)
{
	struct tracker_queues all = { 0 };
	struct tracker_queue *q = tracker_queue_of(&all, text("k"));

	(void)state;
	add_server(q, "k:1");
	q->servers[0]->unhealthy = strdup("broken");
	tracker_queue_request(q, NULL, text("a"), 0);
	assert_null(next_pair(q));
	add_server(q, "k:2");
	assert_string_equal(next_pair(q), "k:2 a");
	assert_int_equal(tracker_queue_free(q), 0);
	tracker_queues_fini(&all);
}

static void keys_are_limited_and_unused_ones_make_room(void **state)
{
	struct tracker_queues all = { 0 };
	char key[16];
	int i;

	(void)state;
	for (i = 0; i < TRACKER_KEYS_MOST; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		tracker_queue_request(tracker_queue_of(&all, text(key)), key, text(""), 0);
	}
	assert_null(tracker_queue_of(&all, text("more")));
	assert_non_null(tracker_queue_of(&all, text("k7")));
	tracker_queues_forget(&all, key);
	assert_non_null(tracker_queue_of(&all, text("more")));
	tracker_queues_fini(&all);
}

/* ---- messages */

static void messages_are_read(void **state)
{
	struct tracker_message m;

	(void)state;
	assert_int_equal(tracker_message_read(text("[3, \"k\", [9, \"k:0.5\"], null]"), &m), 0);
	assert_int_equal(m.code, TRACKER_PUT);
	assert_slice(m.match_key, "k:0.5");
	assert_int_equal(m.port, 9);
	assert_int_equal(m.host.size, 0);
	tracker_message_fini(&m);
	assert_int_equal(tracker_message_read(text("[4, \"k\", \"\", 2.5]"), &m), 0);
	assert_true(m.priority == 2.5);
	tracker_message_fini(&m);
	/* as TVM's server in C++ sends it */
	assert_int_equal(tracker_message_read(text("[5, {\"key\": \"server:k\", \"addr\": [\"h\", "
						   "\"9090\"], \"x\": [{}]}]"),
					      &m),
			 0);
	assert_int_equal(m.port, 9090);
	assert_slice(m.host, "h");
	tracker_message_fini(&m);
	assert_int_equal(tracker_message_read(text("[5, {\"addr\": [\"h\", \"90x\"]}]"), &m),
			 -TENON_E_VALUE);
	assert_int_equal(tracker_message_read(text("[5, {\"addr\": [\"h\", \"65536\"]}]"), &m),
			 -TENON_E_VALUE);
	assert_int_equal(tracker_message_read(text("[5, {\"addr\": [\"h\", \"\"]}]"), &m),
			 -TENON_E_VALUE);
	tenon_error_clear();
	assert_int_equal(tracker_message_read(text("[5, {\"key\": \"a\\u001b\\u0000b\"}]"), &m), 0);
	assert_slice(m.key, "a??b");
	tracker_message_fini(&m);
}

static void messages_of_another_form_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"[",
		"[]",
		"{}",
		"0",
		"[0]",
		"[8]",
		"[-1]",
		"[\"1\"]",
		"[1, 2]",
		"[3]",
		"[3, \"k\", [9, \"other:1\"], null]",
		"[3, \"k\", [9, \"k:\"], null]",
		"[3, \"k\", [65536, \"k:1\"], null]",
		"[3, \"k\", [0, \"k:1\"], null]",
		"[3, \"k\", [9], null]",
		"[3, 5, [9, \"k:1\"], null]",
		"[4, \"k\", \"\", \"1\"]",
		"[4, \"k\", \"\", nan]",
		"[4, \"k\", \"\", 1e99]",
		"[5, []]",
		"[5, {\"addr\": [null]}]",
		"[6] [6]",
	};
	struct tracker_message m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (!tracker_message_read(text(wrong[i]), &m))
			fail_msg("accepted: %s", wrong[i]);
		assert_true(*tenon_error_kind());
		tenon_error_clear();
	}
}

/* ---- a tracker */

static struct farm_process tracker;

static int start_tracker(void **state)
{
	(void)state;
	farm_start(&tracker, (const char *const[]){ "tracker", "--listen", "127.0.0.1:0",
						    "--check-every", "0", NULL });
	return 0;
}

static int stop_tracker(void **state)
{
	(void)state;
	assert_int_equal(farm_stop(&tracker), 0);
	return 0;
}

static void put(int fd, const char *key, int port, int serial)
{
	char json[200];

	snprintf(json, sizeof(json), "[3, \"%s\", [%d, \"%s:%d\"], null]", key, port, key, serial);
	assert_string_equal(tracker_exchange(fd, json), "0");
}

static void request(int fd, const char *key, const char *user, int priority)
{
	char json[200];

	snprintf(json, sizeof(json), "[4, \"%s\", \"%s\", %d]", key, user, priority);
	tracker_send(fd, json);
}

static void the_rules_of_tvms_tracker_hold(void **state)
{
	int server = tracker_connect(tracker.port), client = tracker_connect(tracker.port), raw;
	char reply[5];

	(void)state;
	assert_string_equal(tracker_exchange(server, "[1]"), "0");
	assert_string_equal(tracker_exchange(server, "[2, \"x\"]"), "-1");
	assert_string_equal(
		tracker_exchange(server, "[5, {\"key\": \"server:k\", \"addr\": [null, 77]}]"),
		"0");
	put(server, "k", 77, 1);
	assert_string_equal(tracker_exchange(server, "[7]"), "[\"k:1\"]");
	request(client, "k", "", 1);
	assert_string_equal(tracker_receive(client), "[0, [\"127.0.0.1\", 77, \"k:1\"]]");
	assert_string_equal(tracker_exchange(server, "[7]"), "[]");
	assert_non_null(
		strstr(tracker_exchange(client, "[6]"), "\"k\": {\"free\": 0, \"pending\": 0"));
	assert_non_null(strstr(tracker_exchange(client, "[6]"),
			       "{\"key\": \"server:k\", \"addr\": [\"127.0.0.1\", 77]"));
	/* the magic number split, and with a frame in one segment */
	raw = farm_connect(tracker.port);
	farm_send(raw, "\x71\xf2", 2);
	farm_send(raw, "\x02\0\x03\0\0\0[1]", 9);
	assert_true(farm_read(raw, reply, 4));
	assert_true(farm_read(raw, reply, 5));
	assert_memory_equal(reply,
			    "\x01\0\0\0"
			    "0",
			    5);
	close(raw);
	close(client);
	close(server);
}

static void what_a_lost_connection_offered_is_not_handed_out(void **state)
{
	int server = tracker_connect(tracker.port), client = tracker_connect(tracker.port);
	int leaver = tracker_connect(tracker.port), other;

	(void)state;
	put(server, "lost", 1, 1);
	close(server);
	/* the summary of a later connection comes after the end of the first one was read */
	do
		other = 0;
	while (!strstr(tracker_exchange(client, "[6]"), "\"lost\": {\"free\": 0"));
	request(leaver, "lost", "", 9);
	while (!strstr(tracker_exchange(client, "[6]"), "\"lost\": {\"free\": 0, \"pending\": 1"))
		;
	close(leaver);
	while (!strstr(tracker_exchange(client, "[6]"), "\"lost\": {\"free\": 0, \"pending\": 0"))
		;
	request(client, "lost", "", 1);
	other = tracker_connect(tracker.port);
	put(other, "lost", 2, 2);
	assert_string_equal(tracker_receive(client), "[0, [\"127.0.0.1\", 2, \"lost:2\"]]");
	close(other);
	close(client);
}

#define MANY 1000

/* Each of the clients gets each of the servers once, in turns. */
static void a_thousand_servers_and_clients_meet(void **state)
{
	static int servers[MANY], clients[MANY];
	static bool seen[MANY];
	struct rlimit limit;
	const char *reply;
	int i, n, many = MANY;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < 2 * MANY + 100)
		many = (int)limit.rlim_cur / 2 - 50;
	for (i = 0; i < many; i++) {
		clients[i] = tracker_connect(tracker.port);
		request(clients[i], "many", "", 1);
	}
	for (i = 0; i < many; i++) {
		servers[i] = tracker_connect(tracker.port);
		put(servers[i], "many", 5000 + i, i);
	}
	for (i = 0; i < many; i++) {
		reply = tracker_receive(clients[i]);
		assert_non_null(strstr(reply, "\"many:"));
		n = atoi(strstr(reply, "many:") + 5);
		assert_true(n >= 0 && n < many && !seen[n]);
		seen[n] = true;
	}
	assert_string_equal(tracker_exchange(servers[0], "[7]"), "[]");
	assert_non_null(strstr(tracker_exchange(clients[0], "[6]"),
			       "\"many\": {\"free\": 0, \"pending\": 0"));
	for (i = 0; i < many; i++) {
		close(servers[i]);
		close(clients[i]);
	}
}

static void hostile_peers_cost_their_connection(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} lies[] = {
		{ "\x72\xf2\x02\0", 4 },
		{ "GET / HTTP/1.0\r\n\r\n", 18 },
		{ "\x71\xf2\x02\0\0\0\0\0", 8 },
		{ "\x71\xf2\x02\0\xff\xff\xff\x7f", 8 },
		{ "\x71\xf2\x02\0\xff\xff\xff\xff", 8 },
		{ "\x71\xf2\x02\0\x02\0\0\0[[", 10 },
		{ "\x71\xf2\x02\0\x04\0\0\0[99]", 12 },
		{ "\x71\xf2\x02\0\x03\0\0\0\xff\xff\xff", 11 },
	};
	int honest = tracker_connect(tracker.port), half = farm_connect(tracker.port), fd;
	size_t i;

	(void)state;
	farm_send(half, "\x71\xf2", 2);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		fd = farm_connect(tracker.port);
		farm_send(fd, lies[i].bytes, lies[i].size);
		if (!farm_closes(fd))
			fail_msg("lie %zu is not refused", i);
		close(fd);
		assert_string_equal(tracker_exchange(honest, "[1]"), "0");
	}
	/* a half-open peer has ten seconds for its greeting */
	assert_true(farm_closes(half));
	close(half);
	close(honest);
}

static void a_peer_that_does_not_read_stops_itself_alone(void **state)
{
	int honest = tracker_connect(tracker.port), fd = tracker_connect(tracker.port);
	struct timeval brief = { 0, 200000 };
	char frames[7 * 512];
	int i;

	(void)state;
	for (i = 0; i < 512; i++)
		memcpy(frames + 7 * i, "\x03\0\0\0[6]", 7);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &brief, sizeof(brief));
	for (i = 0; i < 4000; i++)
		if (send(fd, frames, sizeof(frames), MSG_NOSIGNAL) < 0)
			break;
	assert_true(i < 4000);
	assert_string_equal(tracker_exchange(honest, "[1]"), "0");
	close(fd);
	close(honest);
}

static void a_server_that_does_not_answer_is_taken_out_and_says_why(void **state)
{
	struct farm_process checking, server;
	int silent = socket(AF_INET, SOCK_STREAM, 0), fd;
	char command[4200], out[4096] = "", address[64];
	FILE *pipe;

	(void)state;
	farm_start(&checking,
		   (const char *const[]){ "tracker", "--listen", "127.0.0.1:0", "--check-every",
					  "0.2", "--check-timeout", "0.5", NULL });
	snprintf(address, sizeof(address), "127.0.0.1:%d", checking.port);
	farm_start(&server, (const char *const[]){ "serve", "--listen", "127.0.0.1:0", "--key",
						   "good", "--tracker", address, NULL });
	fd = tracker_connect(checking.port);
	/* nothing listens at port 1 */
	put(fd, "bad", 1, 1);
	farm_wait_log(&checking, "bad at 127.0.0.1 port 1 is taken out: Connection refused");
	snprintf(command, sizeof(command), "'%s' rpc tracker status --json %s",
		 getenv("TENON_COMMAND"), address);
	/* the good one is offered, and stays so although it is checked all the time */
	do {
		pipe = popen(command, "r");
		assert_non_null(pipe);
		out[fread(out, 1, sizeof(out) - 1, pipe)] = '\0';
		assert_int_equal(pclose(pipe), 0);
	} while (!strstr(out, "\"good\""));
	assert_non_null(strstr(out, "Connection refused"));
	request(fd, "good", "", 1);
	assert_non_null(strstr(tracker_receive(fd), "\"good:"));
	close(fd);
	close(silent);
	assert_int_equal(farm_stop(&server), 0);
	assert_int_equal(farm_stop(&checking), 0);
}

static void a_server_whose_health_check_fails_offers_nothing(void **state)
{
	struct farm_process server;
	char address[64];
	int fd = tracker_connect(tracker.port);

	(void)state;
	snprintf(address, sizeof(address), "127.0.0.1:%d", tracker.port);
	farm_start(&server,
		   (const char *const[]){ "serve", "--listen", "127.0.0.1:0", "--key", "ill",
					  "--tracker", address, "--health-check",
					  "echo starting; echo 'no accelerator'; exit 3", NULL });
	farm_wait_log(&server, "taken out: the health check failed with status 3: no accelerator");
	farm_wait_log(&tracker, "took itself out: the health check failed");
	assert_non_null(
		strstr(tracker_exchange(fd, "[6]"),
		       "\"health\": \"the health check failed with status 3: no accelerator\""));
	assert_null(strstr(tracker_exchange(fd, "[6]"), "\"ill\": {\"free\": 1"));
	close(fd);
	assert_int_equal(farm_stop(&server), 0);
}

static void read_message(int fd, char *json, size_t room)
{
	uint32_t size;

	assert_true(farm_read(fd, &size, sizeof(size)));
	assert_true(size < room);
	assert_true(farm_read(fd, json, size));
	json[size] = '\0';
}

/* The check ends while a slow tracker has not answered the message that came before it. */
static void health_that_changes_before_the_tracker_answers_is_told(void **state)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(own);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
	struct farm_process server;
	char address[64], json[1000], go[4000], check[4100];
	const char *base = getenv("TMPDIR");
	uint32_t magic;

	(void)state;
	snprintf(go, sizeof(go), "%s/go-%d", base ? base : "/tmp", (int)getpid());
	snprintf(check, sizeof(check), "while [ ! -e '%s' ]; do sleep 0.05; done; exit 3", go);
	assert_int_equal(bind(listener, (struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&own, &size), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%d", ntohs(own.sin_port));
	farm_start(&server,
		   (const char *const[]){ "serve", "--listen", "127.0.0.1:0", "--key", "ill",
					  "--tracker", address, "--health-check", check, NULL });
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_true(farm_read(fd, &magic, sizeof(magic)));
	farm_send(fd, &magic, sizeof(magic));
	read_message(fd, json, sizeof(json));
	assert_non_null(strstr(json, "\"health\": \"\""));
	close(open(go, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	farm_wait_log(&server, "taken out");
	unlink(go);
	tracker_send(fd, "0");
	read_message(fd, json, sizeof(json));
	assert_non_null(strstr(json, "failed with status 3"));
	close(fd);
	close(listener);
	assert_int_equal(farm_stop(&server), 0);
}

static void a_client_can_wait_too_long(void **state)
{
	struct farm_process brief;
	int fd;

	(void)state;
	farm_start(&brief, (const char *const[]){ "tracker", "--listen", "127.0.0.1:0",
						  "--wait-timeout", "0.3", NULL });
	fd = tracker_connect(brief.port);
	request(fd, "none", "", 1);
	assert_non_null(strstr(tracker_receive(fd), "[-1, \"no server with this key"));
	assert_string_equal(tracker_exchange(fd, "[1]"), "0");
	close(fd);
	assert_int_equal(farm_stop(&brief), 0);
}

static void a_lost_tracker_is_found_again(void **state)
{
	struct farm_process first, second, server;
	char address[64];
	int fd;

	(void)state;
	farm_start(&first, (const char *const[]){ "tracker", "--listen", "127.0.0.1:0", NULL });
	snprintf(address, sizeof(address), "127.0.0.1:%d", first.port);
	farm_start(&server, (const char *const[]){ "serve", "--listen", "127.0.0.1:0", "--key",
						   "back", "--tracker", address, NULL });
	farm_wait_log(&server, "registered as back");
	assert_int_equal(farm_stop(&first), 0);
	farm_wait_log(&server, "trying again");
	farm_start(&second, (const char *const[]){ "tracker", "--listen", address, NULL });
	farm_wait_log(&second, "listening on");
	second.port = first.port;
	fd = tracker_connect(second.port);
	request(fd, "back", "", 1);
	assert_non_null(strstr(tracker_receive(fd), "\"back:"));
	close(fd);
	assert_int_equal(farm_stop(&server), 0);
	assert_int_equal(farm_stop(&second), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(larger_priorities_are_first_and_users_take_turns),
		cmocka_unit_test(a_server_that_is_out_is_not_handed_out),
		cmocka_unit_test(keys_are_limited_and_unused_ones_make_room),
		cmocka_unit_test(messages_are_read),
		cmocka_unit_test(messages_of_another_form_are_refused),
		cmocka_unit_test(the_rules_of_tvms_tracker_hold),
		cmocka_unit_test(what_a_lost_connection_offered_is_not_handed_out),
		cmocka_unit_test(a_thousand_servers_and_clients_meet),
		cmocka_unit_test(hostile_peers_cost_their_connection),
		cmocka_unit_test(a_peer_that_does_not_read_stops_itself_alone),
		cmocka_unit_test(a_server_that_does_not_answer_is_taken_out_and_says_why),
		cmocka_unit_test(a_server_whose_health_check_fails_offers_nothing),
		cmocka_unit_test(health_that_changes_before_the_tracker_answers_is_told),
		cmocka_unit_test(a_client_can_wait_too_long),
		cmocka_unit_test(a_lost_tracker_is_found_again),
	};

	if (server_is_emulated())
		return 0;
	return cmocka_run_group_tests(tests, start_tracker, stop_tracker);
}
