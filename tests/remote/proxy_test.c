/* SPDX-License-Identifier: MIT */
/* The proxy between peers that are joined, stall, lie and leave; and a server of ours behind it. */
#include "tests/unit/suite.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tests/remote/emulated.h"
#include "tests/remote/farm_process.h"

static struct farm_process proxy;

static int start_proxy(void **state)
{
	(void)state;
	farm_start(&proxy, (const char *const[]){ "proxy", "--listen", "127.0.0.1:0", NULL });
	return 0;
}

static int stop_proxy(void **state)
{
	(void)state;
	assert_int_equal(farm_stop(&proxy), 0);
	return 0;
}

static int open_peer(const struct farm_process *at, const char *key)
{
	int fd = farm_connect(at->port);

	farm_send_key(fd, key);
	return fd;
}

static void assert_code(int fd, char code)
{
	char bytes[4];

	assert_true(farm_read(fd, bytes, 4));
	assert_memory_equal(bytes, ((char[]){ code, (char)0xf2, 0x0f, 0 }), 4);
	assert_true(farm_closes(fd));
}

static void each_side_receives_the_others_key_in_both_orders(void **state)
{
	int server = open_peer(&proxy, "server:a"), client;
	char bytes[4];

	(void)state;
	client = open_peer(&proxy, "client:a -timeout=5");
	farm_expect_key(client, "server:a");
	farm_expect_key(server, "client:a -timeout=5");
	farm_send(client, "ping", 4);
	assert_true(farm_read(server, bytes, 4));
	assert_memory_equal(bytes, "ping", 4);
	/* what one side sent before it left arrives */
	farm_send(server, "last", 4);
	close(server);
	assert_true(farm_read(client, bytes, 4));
	assert_memory_equal(bytes, "last", 4);
	assert_true(farm_closes(client));
	close(client);

	client = open_peer(&proxy, "client:b");
	server = open_peer(&proxy, "server:b");
	farm_expect_key(client, "server:b");
	farm_expect_key(server, "client:b");
	close(client);
	assert_true(farm_closes(server));
	close(server);
}

static void megabytes_pass_a_side_that_reads_late(void **state)
{
	static char block[1 << 16], got[1 << 16];
	int server = open_peer(&proxy, "server:m"), client = open_peer(&proxy, "client:m");
	size_t i;
	pid_t pid;

	(void)state;
	farm_expect_key(client, "server:m");
	farm_expect_key(server, "client:m");
	for (i = 0; i < sizeof(block); i++)
		block[i] = (char)(i * 7);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* send() of a blocking socket sends all */
		for (i = 0; i < 48; i++)
			if (send(client, block, sizeof(block), MSG_NOSIGNAL) < 0)
				_exit(1);
		_exit(0);
	}
	close(client);
	for (i = 0; i < 48; i++) {
		assert_true(farm_read(server, got, sizeof(got)));
		assert_memory_equal(got, block, sizeof(got));
	}
	assert_true(farm_closes(server));
	close(server);
}

static void a_second_server_with_a_key_is_refused(void **state)
{
	int first = open_peer(&proxy, "server:twice"), second, client;

	(void)state;
	/* connections are accepted in their order, and the first one's key is there when it is accepted */
	second = open_peer(&proxy, "server:twice");
	assert_code(second, 0x72);
	close(second);
	client = open_peer(&proxy, "client:twice");
	farm_expect_key(client, "server:twice");
	close(client);
	close(first);
}

static void hostile_peers_cost_their_connection(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} lies[] = {
		{ "\x72\xf2\x0f\0\x08\0\0\0server:x", 16 },
		{ "\x71\xf2\x0f\0\0\0\0\0", 8 },
		{ "\x71\xf2\x0f\0\xff\xff\xff\xff", 8 },
		{ "\x71\xf2\x0f\0\x03\0\0\0abc", 11 },
		{ "\x71\xf2\x0f\0\x08\0\0\0nobody:x", 16 },
		/* bytes before the reply */
		{ "\x71\xf2\x0f\0\x08\0\0\0server:y\0", 17 },
	};
	int fd;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		fd = farm_connect(proxy.port);
		farm_send(fd, lies[i].bytes, lies[i].size);
		if (!farm_closes(fd))
			fail_msg("lie %zu is not refused", i);
		close(fd);
	}
	each_side_receives_the_others_key_in_both_orders(NULL);
}

static void a_peer_without_a_partner_waits_for_a_limited_time(void **state)
{
	struct farm_process brief;
	int fd;

	(void)state;
	farm_start(&brief, (const char *const[]){ "proxy", "--listen", "127.0.0.1:0",
						  "--wait-timeout", "0.3", NULL });
	fd = open_peer(&brief, "client:lonely");
	assert_code(fd, 0x73);
	close(fd);
	assert_int_equal(farm_stop(&brief), 0);
}

static void a_server_behind_it_serves_one_client_after_the_other(void **state)
{
	struct farm_process server;
	char address[64];
	int fd, i;

	(void)state;
	snprintf(address, sizeof(address), "127.0.0.1:%d", proxy.port);
	farm_start(&server,
		   (const char *const[]){ "serve", "--proxy", address, "--key", "nat", NULL });
	for (i = 0; i < 3; i++) {
		fd = open_peer(&proxy, "client:nat");
		farm_expect_key(fd, "server:nat");
		farm_use_session(fd);
		close(fd);
	}
	assert_int_equal(farm_stop(&server), 0);
}

/* ---- with a tracker */

struct farm {
	struct farm_process tracker;
	struct farm_process proxy;
	int client; /* a connection to the tracker */
};

static void start_farm(struct farm *f)
{
	char address[64];

	farm_start(&f->tracker,
		   (const char *const[]){ "tracker", "--listen", "127.0.0.1:0", NULL });
	snprintf(address, sizeof(address), "127.0.0.1:%d", f->tracker.port);
	farm_start(&f->proxy, (const char *const[]){ "proxy", "--listen", "127.0.0.1:0",
						     "--tracker", address, NULL });
	f->client = tracker_connect(f->tracker.port);
}

static void stop_farm(struct farm *f)
{
	close(f->client);
	assert_int_equal(farm_stop(&f->proxy), 0);
	assert_int_equal(farm_stop(&f->tracker), 0);
}

/* Ask for a board; the match key with its role. The address is the proxy's. */
static void request(const struct farm *f, const char *key, char *match_key, size_t size)
{
	const char *reply, *at;
	char text[200], want[64];

	snprintf(text, sizeof(text), "[4, \"%s\", \"\", 1]", key);
	reply = tracker_exchange(f->client, text);
	snprintf(want, sizeof(want), "[0, [\"127.0.0.1\", %d, \"", f->proxy.port);
	if (strncmp(reply, want, strlen(want)))
		fail_msg("%s does not begin with %s", reply, want);
	at = reply + strlen(want);
	snprintf(match_key, size, "client:%.*s", (int)strcspn(at, "\""), at);
	assert_memory_equal(match_key + 7, key, strlen(key));
	assert_int_equal(match_key[7 + strlen(key)], ':');
}

/* The tracker's summary has a text, some time. */
static void wait_summary(const struct farm *f, const char *text)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;
	const char *reply;

	while (!strstr(reply = tracker_exchange(f->client, "[6]"), text)) {
		if (clock_ms() > end)
			fail_msg("no %s in %s", text, reply);
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
}

static void a_tracker_hands_out_what_waits_at_the_proxy(void **state)
{
	char first[200], second[200];
	struct farm f;
	int servers[2], clients[2], i;

	(void)state;
	start_farm(&f);
	/* with a tracker, a key may have several servers */
	servers[0] = open_peer(&f.proxy, "server:board");
	servers[1] = open_peer(&f.proxy, "server:board");
	request(&f, "board", first, sizeof(first));
	request(&f, "board", second, sizeof(second));
	assert_string_not_equal(first, second);
	wait_summary(&f, "\"server:proxy[board]\"");
	clients[1] = open_peer(&f.proxy, second);
	clients[0] = open_peer(&f.proxy, first);
	for (i = 0; i < 2; i++)
		farm_expect_key(clients[i], "server:board");
	/* each match key leads to the server that it was made for, and works once */
	farm_expect_key(servers[0], first);
	farm_expect_key(servers[1], second);
	i = open_peer(&f.proxy, first);
	assert_code(i, 0x73);
	close(i);
	wait_summary(&f, "\"server:proxy[]\"");
	for (i = 0; i < 2; i++) {
		close(clients[i]);
		assert_true(farm_closes(servers[i]));
		close(servers[i]);
	}
	stop_farm(&f);
}

static void with_a_tracker_other_clients_are_refused(void **state)
{
	struct farm f;
	int server, client;
	char key[200];

	(void)state;
	start_farm(&f);
	server = open_peer(&f.proxy, "server:board");
	wait_summary(&f, "\"free\": 1");
	client = open_peer(&f.proxy, "client:board");
	assert_code(client, 0x73);
	close(client);
	client = open_peer(&f.proxy, "client:board:0.5141922919491142");
	assert_code(client, 0x73);
	close(client);
	/* what no tracker could hand out */
	client = open_peer(&f.proxy, "server:a\"b");
	assert_code(client, 0x73);
	close(client);
	client = open_peer(&f.proxy, "server:\xff\xfe");
	assert_code(client, 0x73);
	close(client);
	request(&f, "board", key, sizeof(key));
	client = open_peer(&f.proxy, key);
	farm_expect_key(client, "server:board");
	close(client);
	close(server);
	stop_farm(&f);
}

static void a_server_that_leaves_the_proxy_is_not_handed_out(void **state)
{
	char key[200];
	struct farm f;
	int gone, stays, client;

	(void)state;
	start_farm(&f);
	gone = open_peer(&f.proxy, "server:gone");
	stays = open_peer(&f.proxy, "server:stays");
	wait_summary(&f, "\"server:proxy[gone,stays]\"");
	wait_summary(&f, "\"stays\": {\"free\": 1");
	wait_summary(&f, "\"gone\": {\"free\": 1");
	close(gone);
	wait_summary(&f, "\"gone\": {\"free\": 0");
	/* the other one is offered again */
	request(&f, "stays", key, sizeof(key));
	client = open_peer(&f.proxy, key);
	farm_expect_key(client, "server:stays");
	farm_expect_key(stays, key);
	close(client);
	close(stays);
	stop_farm(&f);
}

static void our_server_behind_it_is_found_by_the_tracker(void **state)
{
	struct farm_process server;
	char address[64], key[200];
	struct farm f;
	int fd, i;

	(void)state;
	start_farm(&f);
	snprintf(address, sizeof(address), "127.0.0.1:%d", f.proxy.port);
	farm_start(&server,
		   (const char *const[]){ "serve", "--proxy", address, "--key", "nat", NULL });
	for (i = 0; i < 3; i++) {
		request(&f, "nat", key, sizeof(key));
		strcat(key, " -timeout=60");
		fd = open_peer(&f.proxy, key);
		farm_expect_key(fd, "server:nat");
		farm_use_session(fd);
		close(fd);
	}
	assert_int_equal(farm_stop(&server), 0);
	stop_farm(&f);
}

static int bind_port(char *address, size_t size)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
	snprintf(address, size, "127.0.0.1:%d", ntohs(at.sin_port));
	return fd;
}

/* many servers for a second's time */
#define COMING 40

static void a_tracker_is_told_of_changes_once_a_second(void **state)
{
	int listener, at_tracker, servers[COMING], i, told = 0;
	struct farm_process process;
	char address[64], magic[4];
	const char *message;
	uint64_t start;

	(void)state;
	listener = bind_port(address, sizeof(address));
	assert_int_equal(listen(listener, 5), 0);
	farm_start(&process, (const char *const[]){ "proxy", "--listen", "127.0.0.1:0", "--tracker",
						    address, NULL });
	at_tracker = accept(listener, NULL, NULL);
	assert_true(farm_read(at_tracker, magic, 4));
	farm_send(at_tracker, magic, 4);
	start = clock_ms();
	for (i = 0; i < COMING; i++) {
		char key[32];

		snprintf(key, sizeof(key), "server:board%d", i);
		servers[i] = open_peer(&process, key);
		do {
			message = tracker_receive(at_tracker);
			told += !strncmp(message, "[5, ", 4);
			tracker_send(at_tracker, "0");
		} while (strncmp(message, "[3, ", 4));
	}
	/* the first with the connection, one at once, and one for each second */
	assert_in_range(told, 1, 3 + (clock_ms() - start) / 1000);
	/* the last change is told too */
	do {
		message = tracker_receive(at_tracker);
		tracker_send(at_tracker, strncmp(message, "[7]", 3) ? "0" : "[]");
	} while (!strstr(message, "board39"));
	for (i = 0; i < COMING; i++)
		close(servers[i]);
	close(at_tracker);
	close(listener);
	assert_int_equal(farm_stop(&process), 0);
}

/* How often a process went to sleep. */
static long sleeps_of(pid_t pid)
{
	char path[64], line[200];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			break;
	fclose(f);
	return n;
}

static void a_server_waits_for_its_proxy_and_takes_keys_of_trackers(void **state)
{
	const struct timespec half = { .tv_nsec = 500000000 };
	struct farm_process server;
	char address[64], code[4];
	int listener = bind_port(address, sizeof(address)), fd;
	long before;

	(void)state;
	farm_start(&server,
		   (const char *const[]){ "serve", "--proxy", address, "--key", "nat", NULL });
	farm_wait_log(&server, "trying again");
	assert_int_equal(listen(listener, 5), 0);
	fd = accept(listener, NULL, NULL);
	farm_expect_key(fd, "server:nat");
	/* it sleeps while it waits for a client */
	before = sleeps_of(server.pid);
	nanosleep(&half, NULL);
	assert_in_range(sleeps_of(server.pid) - before, 0, 50);
	/* a proxy with a tracker adds the number that the tracker handed out */
	farm_send_key(fd, "client:nat:0.7251 -timeout=9");
	farm_use_session(fd);
	close(fd);
	/* the key of another board */
	fd = accept(listener, NULL, NULL);
	farm_expect_key(fd, "server:nat");
	farm_send_key(fd, "client:nature");
	assert_true(farm_read(fd, code, 4));
	assert_memory_equal(code, "\x73\xf2\x0f", 4);
	assert_true(farm_closes(fd));
	close(fd);
	close(listener);
	assert_int_equal(farm_stop(&server), 0);
}

/* more than a server keeps beside its sessions: 256 others */
#define STRANGERS 300

static void strangers_make_place_before_who_waits(void **state)
{
	struct farm_process server;
	int listener, proxied, first, waiting, strangers[STRANGERS], i;
	char address[64], byte;

	(void)state;
	listener = bind_port(address, sizeof(address));
	assert_int_equal(listen(listener, 5), 0);
	farm_start(&server,
		   (const char *const[]){ "serve", "--proxy", address, "--key", "nat", "--listen",
					  "127.0.0.1:0", "--sessions", "2", NULL });
	proxied = accept(listener, NULL, NULL);
	farm_expect_key(proxied, "server:nat");
	first = open_peer(&server, "client:nat");
	farm_expect_key(first, "server:nat");
	farm_use_session(first);
	for (i = 0; i < STRANGERS; i++)
		strangers[i] = farm_connect(server.port);
	/* one who was connected before is closed, thus the last one was accepted */
	assert_true(farm_closes(strangers[STRANGERS - 257]));
	assert_int_equal(recv(proxied, &byte, 1, MSG_DONTWAIT), -1);
	/* it is served after all of them */
	waiting = open_peer(&server, "client:nat");
	farm_expect_key(waiting, "server:nat");
	farm_use_session(waiting);
	assert_int_equal(recv(proxied, &byte, 1, MSG_DONTWAIT), -1);
	for (i = 0; i < STRANGERS; i++)
		close(strangers[i]);
	close(first);
	close(waiting);
	close(proxied);
	close(listener);
	assert_int_equal(farm_stop(&server), 0);
}

/* more than a server keeps beside 32 sessions: 256 others */
#define ENDED 300

static void clients_of_ended_sessions_make_place_before_a_proxy(void **state)
{
	struct farm_process server;
	int listener, proxied, clients[ENDED], i;
	char address[64], byte;

	(void)state;
	listener = bind_port(address, sizeof(address));
	assert_int_equal(listen(listener, 5), 0);
	farm_start(&server,
		   (const char *const[]){ "serve", "--proxy", address, "--key", "nat", "--listen",
					  "127.0.0.1:0", "--sessions", "32", NULL });
	proxied = accept(listener, NULL, NULL);
	farm_expect_key(proxied, "server:nat");
	/* each waits after its end to be told of it, by the next request */
	for (i = 0; i < ENDED; i++) {
		clients[i] = open_peer(&server, "client:nat -timeout=0.1");
		farm_expect_key(clients[i], "server:nat");
		farm_use_session(clients[i]);
	}
	assert_int_equal(recv(proxied, &byte, 1, MSG_DONTWAIT), -1);
	for (i = 0; i < ENDED; i++)
		close(clients[i]);
	close(proxied);
	close(listener);
	assert_int_equal(farm_stop(&server), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_side_receives_the_others_key_in_both_orders),
		cmocka_unit_test(megabytes_pass_a_side_that_reads_late),
		cmocka_unit_test(a_second_server_with_a_key_is_refused),
		cmocka_unit_test(hostile_peers_cost_their_connection),
		cmocka_unit_test(a_peer_without_a_partner_waits_for_a_limited_time),
		cmocka_unit_test(a_server_behind_it_serves_one_client_after_the_other),
		cmocka_unit_test(a_server_waits_for_its_proxy_and_takes_keys_of_trackers),
		cmocka_unit_test(a_tracker_is_told_of_changes_once_a_second),
		cmocka_unit_test(clients_of_ended_sessions_make_place_before_a_proxy),
		cmocka_unit_test(strangers_make_place_before_who_waits),
		cmocka_unit_test(a_tracker_hands_out_what_waits_at_the_proxy),
		cmocka_unit_test(with_a_tracker_other_clients_are_refused),
		cmocka_unit_test(a_server_that_leaves_the_proxy_is_not_handed_out),
		cmocka_unit_test(our_server_behind_it_is_found_by_the_tracker),
	};

	if (server_is_emulated())
		return 0;
	return cmocka_run_group_tests(tests, start_proxy, stop_proxy);
}
