/* SPDX-License-Identifier: MIT */
/*
 * A tracker, a proxy and a server, once for each of their allocations, and once for each of their calls to the system, with that one
 * failing: the process ends with an error, or it goes on and serves the next peers as if nothing had been. None crashes or hangs.
 * Only each 7th of them fails outside the nightly tier: peers wait for many of those that fail.
 *
 * A tracker and a proxy without faults are there for all cases.
 */
#include "tests/unit/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tenon/remote.h>
#include <tenon/rpc.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tests/nomem/deeds.h"
#include "tests/nomem/failing_calls.h"
#include "tests/nomem/failing_malloc.h"

#define PATIENCE_MS 20000
#define TEXT_MOST   2000

/* what the process tells, in memory that it shares with its children */
static struct told {
	volatile int port;
	volatile long requests;
	volatile int crashes;		/* of its sessions */
	atomic_long allocations, calls; /* of all its processes */
} * told;

static pid_t process;		     /* the one with faults */
static int tracker_port, proxy_port; /* without faults */
static char folder[4000], socket_address[60], tracker_address[40], proxy_address[40];
static char socket_folder[] = "/tmp/tenon-test-XXXXXX";
static int board = -1; /* a socket that listens, where a tracker that checks servers finds one */
static char step[500]; /* of an exchange, which failed */

/* ---- processes */

static void hear(void *context, const char *line)
{
	static const char listens[] = "listening on 127.0.0.1:";
	const char *at = strstr(line, listens);
	static const char *const crashes[] = { "signal 6 ", "signal 7 ", "signal 8 ",
					       "signal 11 " };

	(void)context;
	if (at)
		told->port = atoi(at + strlen(listens));
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (strstr(line, crashes[i])) {
			fprintf(stderr, "%s\n", line);
			told->crashes = told->crashes + 1;
		}
}

static const char *const anywhere[] = { "127.0.0.1:0", NULL };

static int run_tracker(void)
{
	struct tenon_rpc_tracker_options o;

	tenon_rpc_tracker_options_init(&o, sizeof(o));
	o.listen = anywhere;
	o.health_ms = 0;
	o.say = hear;
	return tenon_rpc_track(&o);
}

static int run_tracker_that_checks(void)
{
	struct tenon_rpc_tracker_options o;

	tenon_rpc_tracker_options_init(&o, sizeof(o));
	o.listen = anywhere;
	o.health_ms = 1;
	o.wait_ms = 60000;
	o.say = hear;
	return tenon_rpc_track(&o);
}

static int run_a_proxy(const char *tracker)
{
	struct tenon_rpc_proxy_options o;

	tenon_rpc_proxy_options_init(&o, sizeof(o));
	o.listen = anywhere;
	o.tracker = tracker;
	o.say = hear;
	return tenon_rpc_proxy(&o);
}

static int run_proxy(void)
{
	return run_a_proxy(NULL);
}

static int run_proxy_at_tracker(void)
{
	return run_a_proxy(tracker_address);
}

static void server_options(struct tenon_rpc_server_options *o)
{
	tenon_rpc_server_options_init(o, sizeof(*o));
	o->listen = anywhere;
	o->key = "board";
	o->base = folder;
	o->say = hear;
}

static int run_server_at_tracker(void)
{
	struct tenon_rpc_server_options o;

	server_options(&o);
	o.tracker = tracker_address;
	o.health_check = "true";
	return tenon_rpc_serve(&o);
}

/* at a socket in the file system, where a relay watches the requests, and with all that a sandbox may leave open */
static int run_server_at_socket(void)
{
	const char *const listen[] = { socket_address, "127.0.0.1:0", NULL };
	const char *const folders[] = { socket_folder, NULL };
	struct tenon_rpc_server_options o;

	server_options(&o);
	o.listen = listen;
	o.request_ms = PATIENCE_MS;
	o.read = o.write = folders;
	return tenon_rpc_serve(&o);
}

static int run_server_at_proxy(void)
{
	struct tenon_rpc_server_options o;

	server_options(&o);
	o.proxy = proxy_address;
	return tenon_rpc_serve(&o);
}

static bool is_alive(void)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid;
}

static void pause_briefly(void)
{
	poll(NULL, 0, 2);
}

/* In a child. */
static void be_process(int (*run)(void))
{
	sigset_t stop;
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A server that ends by itself restores the mask; the signal of end_process() may come after that. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	failing_malloc_pass(false);
	failing_malloc_share(&told->allocations);
	failing_calls_share(&told->calls);
	err = run();
	told->requests = failing_malloc_stop() + failing_calls_stop();
	if (err && !*tenon_error_message())
		abort();
	if (err && getenv("NOMEM_TRACE"))
		fprintf(stderr, "%s\n", tenon_error_message());
	_exit(err != 0);
}

/* Return: whether it is there and listens */
static bool start_process(int (*run)(void))
{
	const uint64_t end = clock_ms() + PATIENCE_MS;

	memset((void *)(uintptr_t)told, 0, sizeof(*told));
	process = fork();
	if (!process)
		be_process(run);
	failing_calls_stop();
	failing_malloc_pass(true);
	while (process > 0 && !told->port && is_alive() && clock_ms() < end)
		pause_briefly();
	return process > 0 && told->port;
}

/* It may be about to end for want of what failed. */
static bool stays(void)
{
	const uint64_t end = clock_ms() + PATIENCE_MS / 4;

	while (is_alive() && clock_ms() < end)
		pause_briefly();
	return is_alive();
}

/* It ends by itself, and in order, after the signal that it asks for. */
static void end_process(void)
{
	int status;

	kill(process, SIGTERM);
	/* the alarm of the child of a deed ends this */
	while (waitpid(process, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || told->crashes) {
		fprintf(stderr, "the process ended with status %#x, %d sessions crashed\n",
			(unsigned int)status, told->crashes);
		abort();
	}
}

/* ---- peers */

static bool failed(const char *what, int fd)
{
	snprintf(step, sizeof(step), "%s", what);
	if (fd >= 0)
		close(fd);
	return false;
}

static int dial(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_port = htons((uint16_t)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || !connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	close(fd);
	return -1;
}

/* As a server answers the tracker's check. */
static void answer_check(void)
{
	int fd = accept4(board, NULL, NULL, SOCK_CLOEXEC);
	char bytes[64];

	if (fd < 0)
		return;
	if (recv(fd, bytes, sizeof(bytes), 0) > 0)
		send(fd, "\x73\xf2\x0f\0", 4, MSG_NOSIGNAL);
	close(fd);
}

/* Read exactly so many bytes. Return: false when they do not come */
static bool receive(int fd, void *to, size_t size)
{
	struct pollfd polled[] = { { fd, POLLIN, 0 }, { board, POLLIN, 0 } };
	const uint64_t end = clock_ms() + PATIENCE_MS;
	size_t got = 0;
	ssize_t n;

	while (got < size) {
		if (clock_ms() > end || poll(polled, 2, 50) < 0 ||
		    (!polled[0].revents && !is_alive()))
			return false;
		if (polled[1].revents)
			answer_check();
		if (!polled[0].revents)
			continue;
		n = recv(fd, (char *)to + got, size - got, 0);
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

/* Does the other side end the connection? */
static bool is_ended(int fd)
{
	struct pollfd polled = { fd, POLLIN, 0 };
	const uint64_t end = clock_ms() + PATIENCE_MS;
	char byte;

	while (clock_ms() < end)
		if (poll(&polled, 1, 50) > 0)
			return !recv(fd, &byte, 1, 0);
	return false;
}

static bool put(int fd, const void *bytes, size_t size)
{
	return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* a connection to a tracker, after its greeting; -1 */
static int meet_tracker(int port)
{
	static const char magic[] = "\x71\xf2\x02";
	char back[4];
	int fd = dial(port);

	if (fd >= 0 && put(fd, magic, 4) && receive(fd, back, 4) && !memcmp(magic, back, 4))
		return fd;
	failed("the greeting of the tracker", fd);
	return -1;
}

/* Return: whether the tracker answers what begins with @want */
static bool ask_tracker(int fd, const char *json, const char *want, char text[TEXT_MOST])
{
	const size_t size = strlen(json);
	char frame[300] = { (char)size };
	uint8_t b[4];

	memcpy(frame + 4, json, size);
	if (!put(fd, frame, size + 4) || !receive(fd, b, 4) || b[2] || b[3] || b[1] > 6)
		return failed(json, -1);
	text[b[0] + 256 * b[1]] = '\0';
	if (!receive(fd, text, (size_t)b[0] + 256U * b[1]) || strncmp(text, want, strlen(want)))
		return failed(json, -1);
	return true;
}

static bool put_key(int fd, const char *key)
{
	const size_t size = strlen(key);
	char bytes[256] = { 0x71, (char)0xf2, 0x0f, 0, (char)size };

	/* a key may be what a tracker answered */
	if (size > sizeof(bytes) - 8)
		return failed("a key that is too long", -1);
	memcpy(bytes + 8, key, size);
	return put(fd, bytes, 8 + size);
}

static bool hears_key(int fd, const char *key)
{
	char bytes[256];
	uint8_t head[8];

	return receive(fd, head, 8) && head[0] == 0x71 && head[4] == strlen(key) &&
	       receive(fd, bytes, head[4]) && !memcmp(bytes, key, head[4]);
}

/* ---- what the peers do */

static bool use_tracker(int port)
{
	static const char *const words[][2] = {
		{ "[1]", "0" },
		{ "[5, {\"key\": \"server:k\", \"addr\": [null, \"9090\"], \"health\": null}]",
		  "0" },
		{ "[3, \"k\", [%d, \"k:0.5\"], null]", "0" },
		{ "[3, \"k\", [%d, \"k:0.6\"], \"elsewhere\"]", "0" },
		{ "[7]", "[\"k:0.5\", \"k:0.6\"]" },
		{ "[6]", "[0, " },
		{ "[2, \"\"]", "-1" },
	};
	struct sockaddr_in at;
	socklen_t size = sizeof(at);
	int server = meet_tracker(port), client = -1;
	char text[TEXT_MOST], line[200];
	bool done = server >= 0 && !getsockname(board, (struct sockaddr *)&at, &size);

	for (size_t i = 0; done && i < sizeof(words) / sizeof(words[0]); i++) {
		const char *mark = strstr(words[i][0], "%d");

		snprintf(line, sizeof(line), "%s", words[i][0]);
		if (mark)
			snprintf(line, sizeof(line), "%.*s%d%s", (int)(mark - words[i][0]),
				 words[i][0], ntohs(at.sin_port), mark + 2);
		done = ask_tracker(server, line, words[i][1], text);
	}
	if (done)
		client = meet_tracker(port);
	done = client >= 0 && ask_tracker(client, "[4, \"k\", \"me\", 1]", "[0, [\"", text) &&
	       ask_tracker(client, "[4, \"k\", \"\", 1]", "[0, [\"", text);
	/* what is no message ends the connection */
	if (done && !(put(client, "\3\0\0\0[9]", 7) && is_ended(client)))
		done = failed("what is no message is answered", -1);
	close(client);
	close(server);
	return done;
}

/* The tracker has checked it some time. */
static bool use_tracker_that_checks(int port)
{
	const uint64_t end = clock_ms() + 600;

	if (!use_tracker(port))
		return false;
	while (clock_ms() < end && is_alive()) {
		struct pollfd polled = { board, POLLIN, 0 };

		if (poll(&polled, 1, 20) > 0)
			answer_check();
	}
	return true;
}

/* Each reads what the other one sent. */
static bool talk(int server, int client)
{
	char bytes[4];

	return put(client, "ping", 4) && receive(server, bytes, 4) && !memcmp(bytes, "ping", 4) &&
	       put(server, "pong", 4) && receive(client, bytes, 4) && !memcmp(bytes, "pong", 4);
}

static void next_key(char key[40], const char *before)
{
	static unsigned int serial;

	snprintf(key, 40, "%sk%d-%u", before, (int)getpid(), serial++);
}

static bool use_proxy(int port)
{
	char server_key[40], client_key[40];
	int server, client;
	bool done;

	next_key(server_key, "server:");
	snprintf(client_key, sizeof(client_key), "client:%s", server_key + 7);
	server = dial(port);
	done = server >= 0 && put_key(server, server_key);
	client = dial(port);
	done = done && client >= 0 && put_key(client, client_key) &&
	       hears_key(client, server_key) && hears_key(server, client_key) &&
	       talk(server, client);
	close(server);
	close(client);
	return done || failed("the proxy", -1);
}

/* A match key of the tracker that has no faults. */
static bool find_match(const char *key, char match[TEXT_MOST])
{
	char text[TEXT_MOST], line[100], *at;
	int fd = meet_tracker(tracker_port);

	snprintf(line, sizeof(line), "[4, \"%s\", \"\", 1]", key);
	if (fd < 0 || !ask_tracker(fd, line, "[0, [\"127.0.0.1\", ", text))
		return failed("the tracker has no server", fd);
	close(fd);
	text[strlen(text) - 3] = '\0';
	at = strrchr(text, '"');
	snprintf(match, TEXT_MOST, "%s", at ? at + 1 : "");
	return true;
}

static bool use_proxy_at_tracker(int port)
{
	char key[40], match[TEXT_MOST], client_key[TEXT_MOST + 10];
	int server, client;
	bool done;

	next_key(key, "server:");
	server = dial(port);
	if (server < 0 || !put_key(server, key) || !find_match(key + 7, match))
		return failed("a server behind the proxy", server);
	snprintf(client_key, sizeof(client_key), "client:%s", match);
	client = dial(port);
	done = client >= 0 && put_key(client, client_key) && hears_key(client, key) &&
	       hears_key(server, client_key) && talk(server, client);
	close(server);
	close(client);
	return done || failed("the proxy", -1);
}

/* A session keeps a file, and lists what it has. */
static bool use_session(const char *address)
{
	const struct tenon_remote_options o = { .size = sizeof(o),
						.key = "board",
						.connect_ms = PATIENCE_MS / 2,
						.request_ms = PATIENCE_MS };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_remote *remote = NULL;
	bool sent;
	int err = tenon_remote_connect(address, &o, &remote);

	err = err ? err : tenon_remote_send_file(remote, "LICENSE", NULL, &sent);
	err = err ? err : tenon_remote_list_files(remote, NULL, &b);
	tenon_buffer_fini(&b);
	if (err)
		failed(tenon_error_message(), -1);
	tenon_remote_close(remote);
	tenon_error_clear();
	return !err;
}

static bool use_server_at_tracker(int port)
{
	char address[60];

	(void)port;
	snprintf(address, sizeof(address), "rpc+tracker://%s", tracker_address);
	return use_session(address);
}

static bool use_server_at_socket(int port)
{
	(void)port;
	return use_session(socket_address);
}

static bool use_server_at_proxy(int port)
{
	(void)port;
	return use_session(proxy_address);
}

/* ---- deeds */

static int with_process(int (*run)(void), bool (*use)(int port))
{
	const bool there = start_process(run), used = there && use(told->port);

	if (process <= 0) {
		failing_malloc_pass(false);
		return tenon_error(-TENON_E_NOMEM, "no memory for a process");
	}
	/* what went on serves as before */
	if (there && !used && is_alive() && !use(told->port) && stays()) {
		fprintf(stderr, "after a failure it does not serve any more: %s\n", step);
		abort();
	}
	end_process();
	deed_add_requests(told->requests);
	failing_malloc_pass(false);
	tenon_error_clear();
	return used ? 0
		    : tenon_error(-TENON_E_NOMEM, "memory or a call: %s", there ? step : "start");
}

#define FARM_DEED(name)                                                                            \
	static int do_##name(uint64_t *facts)                                                      \
	{                                                                                          \
		(void)facts;                                                                       \
		return with_process(run_##name, use_##name);                                       \
	}

FARM_DEED(tracker)
FARM_DEED(tracker_that_checks)
FARM_DEED(proxy)
FARM_DEED(proxy_at_tracker)
FARM_DEED(server_at_tracker)
FARM_DEED(server_at_socket)
FARM_DEED(server_at_proxy)

/* A process that has no faults and ends with this one; its port. */
static int start_helper(int (*run)(void))
{
	int port = start_process(run) ? told->port : 0;

	failing_malloc_pass(false);
	return port;
}

static int make_board(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	board = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return board < 0 || bind(board, (struct sockaddr *)&at, sizeof(at)) || listen(board, 8);
}

static int make_folder(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/farm", base ? base : "/tmp");
	return mkdir(folder, 0700) && errno != EEXIST;
}

/* A short path, as the addresses of sockets need. */
static int make_socket_address(void)
{
	if (!mkdtemp(socket_folder))
		return -1;
	snprintf(socket_address, sizeof(socket_address), "unix:%s/socket", socket_folder);
	return 0;
}

static int remove_socket_folder(void **state)
{
	(void)state;
	unlink(socket_address + 5);
	return rmdir(socket_folder);
}

static int make_ready(void **state)
{
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED || make_board() || make_folder() || make_socket_address())
		return 1;
	tracker_port = start_helper(run_tracker);
	proxy_port = start_helper(run_proxy);
	snprintf(tracker_address, sizeof(tracker_address), "127.0.0.1:%d", tracker_port);
	snprintf(proxy_address, sizeof(proxy_address), "127.0.0.1:%d", proxy_port);
	return !tracker_port || !proxy_port || deeds_prepare(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEED("a_tracker", do_tracker),
		DEED_CALLS("calls_of_a_tracker", do_tracker),
		DEED("a_tracker_that_checks", do_tracker_that_checks),
		DEED_CALLS("calls_of_a_tracker_that_checks", do_tracker_that_checks),
		DEED("a_proxy", do_proxy),
		DEED_CALLS("calls_of_a_proxy", do_proxy),
		DEED("a_proxy_at_a_tracker", do_proxy_at_tracker),
		DEED_CALLS("calls_of_a_proxy_at_a_tracker", do_proxy_at_tracker),
		DEED("a_server_at_a_tracker", do_server_at_tracker),
		DEED_CALLS("calls_of_a_server_at_a_tracker", do_server_at_tracker),
		DEED("a_server_at_a_socket", do_server_at_socket),
		DEED_CALLS("calls_of_a_server_at_a_socket", do_server_at_socket),
		DEED("a_server_at_a_proxy", do_server_at_proxy),
		DEED_CALLS("calls_of_a_server_at_a_proxy", do_server_at_proxy),
	};
	const char *nightly = getenv("NIGHTLY");

	deeds_step(nightly && *nightly ? 1 : 7);
	return cmocka_run_group_tests(tests, make_ready, remove_socket_folder);
}
