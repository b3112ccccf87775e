/* SPDX-License-Identifier: MIT */
/* the server under clients that leave, lie and crash their sessions: it serves the next one, and keeps nothing */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/remote/process_list.h"
#include "tests/remote/client.h"
#include "tests/remote/recording.h"
#include "tests/remote/server_client.h"

/* of a session */
#define PROCESSES "64"

/* clients of this test connect over TCP, not over a Unix socket */
static bool over_tcp;

static struct {
	pid_t pid;
	uint16_t port;
	char socket[90];
	char base[3000];
	char log[3100];
	int descriptors;
} server;

static const char *scratch(void)
{
	const char *folder = getenv("TMPDIR");

	return folder ? folder : "/tmp";
}

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* processes whose parent is the server: sessions, and what they left behind */
static int count_children(void)
{
	char path[300], text[4096], *at;
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int n = 0, fd;
	ssize_t size;

	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		fd = *entry->d_name >= '1' && *entry->d_name <= '9' ? open(path, O_RDONLY) : -1;
		if (fd < 0)
			continue;
		size = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[size > 0 ? size : 0] = '\0';
		/* "pid (name) state parent": the name may contain anything */
		at = strrchr(text, ')');
		n += at && atoi(at + 3) == server.pid;
	}
	closedir(dir);
	return n;
}

static int count_descriptors(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)server.pid);
	return count_entries(path);
}

/* files in the server's folder: a folder for each session, beside the cache */
static int count_folders(void)
{
	char path[4096];
	DIR *dir = opendir(server.base);
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", server.base, entry->d_name);
		n += count_entries(path) - 1;
	}
	closedir(dir);
	return n;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Wait until a number of the server is no more than it was; fails the test after a long time. */
static void wait_for(int (*count)(void), int want, const char *what)
{
	double end = now() + PATIENCE_S;

	while (count() > want) {
		if (now() > end)
			fail_msg("%d %s, expected %d", count(), what, want);
		pause_ms(5);
	}
}

static void nothing_is_left(void)
{
	wait_for(count_children, 0, "processes");
	wait_for(count_descriptors, server.descriptors, "descriptors");
	wait_for(count_folders, 0, "folders");
}

/* ---- clients */

static const char *address_of_server(void)
{
	static char text[40];

	snprintf(text, sizeof(text), "127.0.0.1:%u", server.port);
	return over_tcp ? text : server.socket;
}

static int connect_server(void)
{
	return server_connect(address_of_server());
}

/* Connect, and read the server's key. */
static void begin_client(struct client *c, const char *key)
{
	server_client_begin(c, address_of_server(), key);
}

static void open_client(struct client *c, const char *key)
{
	begin_client(c, key);
	client_init(c);
}

/* Upload the module of hostile functions; its function. */
static uint64_t hostile_function(struct client *c, const char *name)
{
	return server_client_function(c, "hostile", name);
}

static int64_t call_hostile(const char *name)
{
	struct client c;
	int64_t result;

	open_client(&c, "client:fixture");
	CALL(&c, hostile_function(&c, name), wire_int(41));
	assert_int_equal(c.code, PACKET_RETURN);
	result = c.values.values[1].as.integer;
	server_client_close(&c);
	return result;
}

static void the_next_client_is_served(void)
{
	assert_int_equal(call_hostile("add_one"), 42);
}

/* ---- the server */

/* the port of the last server that was started */
static void read_port(void)
{
	static const char text[] = "listening on 127.0.0.1:";
	FILE *f = fopen(server.log, "r");
	char line[600], *at;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, text);
		if (at)
			server.port = (uint16_t)atoi(at + strlen(text));
	}
	fclose(f);
	assert_true(server.port);
}

/* @option: a further one, or NULL */
static void start_server_with(const char *option)
{
	const char *command = getenv("TENON_COMMAND");
	char address[120];
	double end = now() + PATIENCE_S;
	int fd;

	snprintf(address, sizeof(address), "unix:%s", server.socket);
	server.pid = fork();
	assert_true(server.pid >= 0);
	if (!server.pid) {
		fd = open(server.log, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, 2);
		close(fd);
		execl(command ? command : "build/tenon", "tenon", "rpc", "serve", "--listen",
		      address, "--listen", "127.0.0.1:0", "--key", "fixture", "--folder",
		      server.base, "--sessions", "8", "--request-timeout", "8", "--memory", "1024",
		      "--folder-size", "128", "--processes", PROCESSES, option, (char *)NULL);
		_exit(127);
	}
	while ((fd = connect_server()) < 0) {
		assert_true(now() < end);
		pause_ms(5);
	}
	close(fd);
	read_port();
	wait_for(count_children, 0, "processes");
	/* until the connection above is closed there, too */
	the_next_client_is_served();
	wait_for(count_children, 0, "processes");
	/* the server may still close what it had for that client */
	do {
		server.descriptors = count_descriptors();
		pause_ms(20);
	} while (count_descriptors() < server.descriptors);
}

static void start_server(void)
{
	start_server_with(NULL);
}

static int setup(void **state)
{
	static char folder[60];

	(void)state;
	/* a short path for the socket */
	strcpy(folder, "/tmp/tenon-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(server.socket, sizeof(server.socket), "%s/socket", folder);
	snprintf(server.base, sizeof(server.base), "%s/base", scratch());
	snprintf(server.log, sizeof(server.log), "%s/log", scratch());
	if (mkdir(server.base, 0700))
		return -1;
	start_server();
	return 0;
}

static int teardown(void **state)
{
	int status;

	(void)state;
	/* 0, of a setup that failed, would be this process group */
	if (server.pid <= 0)
		return 0;
	kill(server.pid, SIGTERM);
	waitpid(server.pid, &status, 0);
	unlink(server.socket);
	*strrchr(server.socket, '/') = '\0';
	rmdir(server.socket);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static bool log_has(const char *text)
{
	static char log[1 << 20];
	FILE *f = fopen(server.log, "r");
	size_t size = f ? fread(log, 1, sizeof(log) - 1, f) : 0;

	if (f)
		fclose(f);
	log[size] = '\0';
	return strstr(log, text) != NULL;
}

/* The server says in one line what the kernel lacks. */
static bool kernel_lacks(const char *part)
{
	return log_has("kernel lacks") && log_has(part);
}

/* ---- memory of sessions */

static void find_child(void *context, const struct process *p)
{
	/* relays are in the server's group */
	if (p->parent == server.pid && p->group == p->pid)
		*(pid_t *)context = p->pid;
}

/* the most memory that the only session has used so far, in KiB */
static long session_peak(void)
{
	char path[64], line[200];
	pid_t session = 0;
	long peak = 0;
	FILE *f;

	process_list(find_child, &session);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)session);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &peak) == 1)
			break;
	fclose(f);
	assert_true(peak > 0);
	return peak;
}

static void count_leader(void *context, const struct process *p)
{
	/* relays are in the server's group */
	*(int *)context += p->parent == server.pid && p->group == p->pid;
}

static int count_sessions(void)
{
	int n = 0;

	process_list(count_leader, &n);
	return n;
}

#define HUGE_SIZE ((int64_t)64 << 20)

static void large_files_go_through_a_session_in_parts(void **state)
{
	char *bytes = malloc(HUGE_SIZE);
	struct tenon_slice text;
	struct client c;
	long before;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'f', HUGE_SIZE);
	bytes[HUGE_SIZE - 1] = 'l';
	wait_for(count_children, 0, "processes");
	open_client(&c, "client:fixture");
	before = session_peak();
	CALL(&c, client_function(&c, "tvm.rpc.server.upload"), wire_string("huge"),
	     wire_bytes(bytes, HUGE_SIZE));
	assert_int_equal(c.code, PACKET_RETURN);
	CALL(&c, client_function(&c, "tvm.rpc.server.download"), wire_string("huge"));
	text = client_text(&c);
	assert_int_equal(text.size, HUGE_SIZE);
	assert_memory_equal(text.data, bytes, HUGE_SIZE);
	print_message("# a file of 64 MiB there and back takes %ld KiB\n", session_peak() - before);
	assert_true(session_peak() - before < 16 << 10);
	/* the connection is in order behind it */
	CALL(&c, client_function(&c, "tvm.rpc.server.download"), wire_string("none"));
	assert_exception(&c, "cannot find file none");
	server_client_close(&c);
	free(bytes);
	nothing_is_left();
}

#ifdef CONFIG_DEVICE_NULL
static void large_copies_from_a_device_go_through_a_session_in_parts(void **state)
{
	struct wire_tensor t = byte_record(0, HUGE_SIZE);
	char *bytes = malloc(HUGE_SIZE);
	struct client c;
	long before;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'd', HUGE_SIZE);
	wait_for(count_children, 0, "processes");
	open_client(&c, "client:fixture");
	t.device.device_type = TENON_DEVICE_NULL;
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_int_equal(c.code, PACKET_RETURN);
	t.data = c.values.values[0].as.handle;
	client_copy_to(&c, &t, HUGE_SIZE, bytes, HUGE_SIZE);
	assert_int_equal(c.code, PACKET_RETURN);
	before = session_peak();
	client_copy_from(&c, &t, HUGE_SIZE);
	assert_int_equal(c.bytes.size, HUGE_SIZE);
	print_message("# a copy of 64 MiB from a device takes %ld KiB\n", session_peak() - before);
	assert_true(session_peak() - before < 16 << 10);
	client_copy_from(&c, &t, 5);
	assert_int_equal(c.bytes.size, 5);
	server_client_close(&c);
	free(bytes);
	nothing_is_left();
}
#endif

/* ---- connections that end early, or never begin */

static void a_session_cut_at_any_byte_leaves_nothing(void **state)
{
	struct recording r;
	size_t size;
	int fd;

	(void)state;
	recording_read(&r, "tensor_copy");
	for (size = 0; size < r.requests.size; size++) {
		fd = connect_server();
		assert_true(fd >= 0);
		server_send(fd, r.requests.data, size);
		close(fd);
	}
	recording_free(&r);
	the_next_client_is_served();
	nothing_is_left();
}

static uint32_t random_next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void garbage_leaves_nothing(void **state)
{
	char bytes[512];
	uint32_t seed = 1;
	int i, fd;
	size_t j;

	(void)state;
	for (i = 0; i < 100; i++) {
		fd = connect_server();
		assert_true(fd >= 0);
		for (j = 0; j < sizeof(bytes); j++)
			bytes[j] = (char)random_next(&seed);
		/* without a handshake; behind it; and in packets of possible lengths */
		if (i % 3)
			server_send_key(fd, "client:fixture");
		if (i % 3 == 2)
			for (j = 0; j + 64 <= sizeof(bytes); j += 64)
				memcpy(bytes + j, "\x38\0\0\0\0\0\0\0", 8);
		server_send(fd, bytes, sizeof(bytes));
		close(fd);
	}
	the_next_client_is_served();
	nothing_is_left();
}

/* some say nothing, some begin a handshake, some have a wrong key, and of 200 one has a session */
static void ten_thousand_connects_leave_nothing(void **state)
{
	const double end = now() + PATIENCE_S;
	int i, fd;

	(void)state;
	for (i = 0; i < 10000; i++) {
		assert_true(now() < end);
		fd = connect_server();
		assert_true(fd >= 0);
		if (i % 200 == 3)
			server_send_key(fd, "client:fixture");
		else if (i % 4 == 1)
			server_send(fd, "\x71\xf2\x0f\0\xff", 5);
		else if (i % 4 == 2)
			server_send_key(fd, "client:other");
		close(fd);
	}
	the_next_client_is_served();
	nothing_is_left();
}

static void a_wrong_key_is_answered_with_its_number(void **state)
{
	char reply[4];
	int fd = connect_server();

	(void)state;
	server_send_key(fd, "client:other");
	assert_int_equal(recv(fd, reply, 4, MSG_WAITALL), 4);
	assert_memory_equal(reply, "\x73\xf2\x0f\0", 4);
	assert_int_equal(recv(fd, reply, 1, 0), 0);
	close(fd);
}

static void clients_that_say_nothing_keep_no_other_from_its_session(void **state)
{
	int fds[300], i;

	(void)state;
	for (i = 0; i < 300; i++) {
		fds[i] = connect_server();
		assert_true(fds[i] >= 0);
		if (i % 2)
			server_send(fds[i], "\x71", 1);
	}
	the_next_client_is_served();
	for (i = 0; i < 300; i++)
		close(fds[i]);
	nothing_is_left();
}

static void clients_beyond_the_number_of_sessions_wait(void **state)
{
	struct client first[8], c;
	int i, fd;

	(void)state;
	for (i = 0; i < 8; i++)
		open_client(&first[i], "client:fixture");
	assert_int_equal(count_sessions(), 8);
	/* one that waits and leaves, and one that gets the next session */
	fd = connect_server();
	server_send_key(fd, "client:fixture");
	close(fd);
	fd = connect_server();
	server_send_key(fd, "client:fixture");
	server_client_close(&first[0]);
	assert_int_equal(recv(fd, &c.code, 1, 0), 1);
	close(fd);
	for (i = 1; i < 8; i++) {
		assert_int_equal(client_function(&first[i], "tvm.rpc.server.upload"), 64);
		server_client_close(&first[i]);
	}
	nothing_is_left();
}

/* ---- code that ends its session */

static void ends_its_session(const char *name, const char *text)
{
	struct client other, c;
	uint64_t f;

	open_client(&other, "client:fixture");
	open_client(&c, "client:fixture");
	f = hostile_function(&c, name);
	CALL(&c, f, wire_int(0));
	assert_exception(&c, text);
	assert_false(client_receive(&c));
	server_client_close(&c);
	/* another session lives on */
	CALL(&other, hostile_function(&other, "add_one"), wire_int(1));
	assert_int_equal(other.values.values[1].as.integer, 2);
	server_client_close(&other);
	nothing_is_left();
}

static void a_crash_is_reported_to_its_client_alone(void **state)
{
	(void)state;
	ends_its_session("crashes", "killed by signal 11");
	ends_its_session("exits", "status 7");
}

static void an_endless_loop_is_ended(void **state)
{
	(void)state;
	ends_its_session("hangs", "--request-timeout");
}

static void a_session_has_the_time_that_its_client_asked_for(void **state)
{
	struct client c;

	(void)state;
	begin_client(&c, "client:fixture -timeout=0.2");
	client_init(&c);
	/* on a slow machine the time has passed already, and this is told of it */
	REQUEST(&c, PACKET_GET_FUNCTION, wire_string("tvm.rpc.server.upload"));
	if (c.code == PACKET_RETURN)
		assert_true(client_receive(&c));
	assert_exception(&c, "RPCSessionTimeoutError: Your 0.2s session has expired");
	assert_false(client_receive(&c));
	server_client_close(&c);
	nothing_is_left();
}

static void expires_unknown(enum wire_generation generation, bool init_later)
{
	struct client c;

	begin_client(&c, "client:fixture -timeout=0.2");
	c.generation = generation;
	if (init_later)
		pause_ms(400);
	client_init(&c);
	wait_for(count_sessions, 0, "sessions");
	wait_for(count_folders, 0, "folders");
	REQUEST(&c, PACKET_GET_FUNCTION, wire_string("tvm.rpc.server.upload"));
	assert_exception(&c, "RPCSessionTimeoutError: Your 0.2s session has expired");
	assert_false(client_receive(&c));
	server_client_close(&c);
	nothing_is_left();
}

static void a_client_whose_session_expired_is_answered_in_its_encoding(void **state)
{
	(void)state;
	expires_unknown(WIRE_FFI, false);
	expires_unknown(WIRE_LEGACY, false);
	expires_unknown(WIRE_FFI, true);
	expires_unknown(WIRE_LEGACY, true);
}

/* what a client sends to a session that has ended before it told its encoding */
static void sends_to_ended_session(const void *data, size_t size, bool answered)
{
	struct client c;

	begin_client(&c, "client:fixture -timeout=0.2");
	client_init(&c);
	wait_for(count_sessions, 0, "sessions");
	client_send_raw(&c, data, size);
	assert_true(client_receive(&c) == answered);
	if (answered) {
		assert_exception(&c, "session has expired");
		assert_false(client_receive(&c));
	}
	server_client_close(&c);
	nothing_is_left();
}

static void a_session_that_ended_takes_hostile_requests(void **state)
{
	static char large[1 << 16];

	(void)state;
	memset(large, 0x7f, sizeof(large));
	/* a packet larger than any, one that means nothing, and an end of the session after an empty one */
	sends_to_ended_session(large, sizeof(large), true);
	sends_to_ended_session("\5\0\0\0\0\0\0\0abcde", 13, true);
	sends_to_ended_session("\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\1\0\0\0", 20, false);
	the_next_client_is_served();
}

static void a_client_that_leaves_during_a_call_leaves_nothing(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct wire_value none = wire_int(0);
	struct client c;
	uint64_t f;

	(void)state;
	open_client(&c, "client:fixture");
	f = hostile_function(&c, "hangs");
	tenon_buffer_u32(&b, PACKET_CALL);
	tenon_buffer_u64(&b, f);
	wire_write_sequence(&b, WIRE_FFI, &none, 1);
	client_send(&c, b.data, b.size);
	tenon_buffer_fini(&b);
	server_client_close(&c);
	nothing_is_left();
	the_next_client_is_served();
}

static void processes_and_files_of_uploaded_code_are_removed(void **state)
{
	(void)state;
	assert_int_equal(call_hostile("leaves_processes"), 0);
	nothing_is_left();
}

/* ---- code that starts processes, and takes memory */

static void a_session_has_a_limit_of_processes_and_threads(void **state)
{
	int64_t processes, threads;

	(void)state;
	if (kernel_lacks("notifications"))
		skip();
	processes = call_hostile("starts_processes");
	nothing_is_left();
	threads = call_hostile("starts_threads");
	nothing_is_left();
	print_message("# %d processes, %d threads\n", (int)processes, (int)threads);
	assert_in_range(processes, 32, atoi(PROCESSES));
	assert_in_range(threads, 32, atoi(PROCESSES));
}

/* While the session of a client with @key runs @name, others are served. */
static void others_are_served_beside(const char *key, const char *name, const char *reason)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct wire_value none = wire_int(0);
	double begin, longest = 0;
	struct client c;
	uint64_t f;
	int i;

	open_client(&c, key);
	f = hostile_function(&c, name);
	tenon_buffer_u32(&b, PACKET_CALL);
	tenon_buffer_u64(&b, f);
	wire_write_sequence(&b, WIRE_FFI, &none, 1);
	client_send(&c, b.data, b.size);
	tenon_buffer_fini(&b);
	for (i = 0; i < 20; i++) {
		begin = now();
		the_next_client_is_served();
		longest = now() - begin > longest ? now() - begin : longest;
		pause_ms(50);
	}
	print_message("# %s: others waited %.3f s at most\n", name, longest);
	assert_true(client_receive(&c));
	assert_exception(&c, reason);
	assert_false(client_receive(&c));
	server_client_close(&c);
	nothing_is_left();
	the_next_client_is_served();
}

static void others_are_served_beside_code_that_forks_without_end(void **state)
{
	(void)state;
	if (kernel_lacks("notifications"))
		skip();
	others_are_served_beside("client:fixture -timeout=3", "forks_without_end", "session");
}

static void memory_is_counted_over_all_processes_of_a_session(void **state)
{
	(void)state;
	others_are_served_beside("client:fixture", "shares_memory",
				 "used more than 1024 MiB of memory");
}

/* Over a socket of either kind, a call of @name ends the session for @reason. */
static void ends_for(const char *name, const char *reason)
{
	struct client c;
	uint64_t f;
	int i;

	for (i = 0; i < 2; i++) {
		over_tcp = i;
		open_client(&c, "client:fixture");
		f = hostile_function(&c, name);
		/* of TCP the kernel says only by its ticks which of two came later: the last reply, or the request */
		pause_ms(50);
		CALL(&c, f, wire_int(0));
		assert_exception(&c, reason);
		assert_false(client_receive(&c));
		server_client_close(&c);
		over_tcp = false;
		nothing_is_left();
	}
}

static void the_time_of_a_request_does_not_depend_on_what_the_session_says(void **state)
{
	(void)state;
	ends_for("hangs_and_claims_to_be_idle", "took longer than 8 s");
	ends_for("hangs_in_a_read", "took longer than 8 s");
}

/* Requests that come one after the other, each shorter than the limit, take longer than it together. */
static void a_session_that_is_never_idle_for_long_is_not_ended(void **state)
{
	struct client c;
	uint64_t f;
	double end;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		over_tcp = i;
		open_client(&c, "client:fixture");
		f = hostile_function(&c, "sleeps_for_ms");
		end = now() + 10;
		while (now() < end) {
			CALL(&c, f, wire_int(700));
			assert_int_equal(c.code, PACKET_RETURN);
		}
		server_client_close(&c);
		over_tcp = false;
		nothing_is_left();
	}
}

static void a_session_that_waits_for_its_client_is_not_ended(void **state)
{
	struct client before, after;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		over_tcp = i;
		begin_client(&before, "client:fixture");
		open_client(&after, "client:fixture");
		pause_ms(10000);
		client_init(&before);
		assert_int_equal(before.code, PACKET_RETURN);
		CALL(&after, hostile_function(&after, "add_one"), wire_int(41));
		assert_int_equal(after.code, PACKET_RETURN);
		server_client_close(&before);
		server_client_close(&after);
		over_tcp = false;
		nothing_is_left();
	}
}

static void memory_is_looked_at_while_a_session_works(void **state)
{
	(void)state;
	ends_for("holds_memory", "used more than 1024 MiB of memory");
}

static void files_are_counted_together(void **state)
{
	(void)state;
	ends_for("fills_its_folder", "used more than 128 MiB of disk space");
	ends_for("fills_removed_files", "used more than 128 MiB of disk space");
	ends_for("fills_files_in_memory", "used more than 1024 MiB of memory");
	ends_for("makes_deep_folders", "cannot be counted");
}

/* ---- the sandbox */

static void uploaded_code_stays_in_its_sandbox(void **state)
{
	char path[4096];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/secret", scratch());
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_true(fd >= 0);
	close(fd);
	if (!kernel_lacks("seccomp (")) {
		assert_int_equal(call_hostile("opens_network"), EPERM);
		assert_int_equal(call_hostile("kills_parent"), EPERM);
		assert_int_equal(call_hostile("watches_the_cache"), EPERM);
		assert_int_equal(call_hostile("makes_a_namespace"), EPERM);
	} else {
		print_message("# this kernel lacks seccomp\n");
	}
	if (!kernel_lacks("Landlock")) {
		assert_int_equal(call_hostile("reads_outside"), EACCES);
		assert_int_equal(call_hostile("writes_outside"), EACCES);
		assert_int_equal(call_hostile("lists_the_cache"), EACCES);
	} else {
		print_message("# this kernel lacks Landlock\n");
	}
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_int_equal(call_hostile("takes_memory"), ENOMEM);
#endif
	nothing_is_left();
}

/* ---- the end of the server */

static struct {
	pid_t number;
	int count;
} session;

static void count_process(void *context, const struct process *p)
{
	(void)context;
	session.count += p->group == session.number;
}

static int count_session(void)
{
	session.count = 0;
	/* those that a killed server left to this process */
	while (waitpid(-session.number, NULL, WNOHANG) > 0)
		;
	process_list(count_process, NULL);
	return session.count;
}

static void a_killed_server_takes_its_sessions_with_it(void **state)
{
	struct client c;
	int status;

	(void)state;
	open_client(&c, "client:fixture");
	session.number = 0;
	process_list(find_child, &session.number);
	CALL(&c, hostile_function(&c, "leaves_processes"), wire_int(0));
	assert_true(count_session() > 1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	kill(server.pid, SIGKILL);
	waitpid(server.pid, &status, 0);
	/* what the session started ends with it; without the filter it has left the group */
	if (!kernel_lacks("seccomp ("))
		wait_for(count_session, 0, "processes of the session");
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	/* the session held the only other end of the connection */
	assert_false(client_receive(&c));
	server_client_close(&c);
	assert_int_equal(count_entries(server.base), 1);
	/* the next server removes the folder, and takes the socket over */
	start_server();
	assert_int_equal(count_entries(server.base), 1);
	nothing_is_left();
}

/* the code of leaves_processes() leaves its process group then */
static void what_leaves_its_group_ends_with_its_session_without_a_sandbox(void **state)
{
	int status;

	(void)state;
	kill(server.pid, SIGTERM);
	waitpid(server.pid, &status, 0);
	start_server_with("--no-sandbox");
	assert_int_equal(call_hostile("leaves_processes"), 0);
	nothing_is_left();
	assert_int_equal(call_hostile("leaves_processes"), 0);
	nothing_is_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_files_go_through_a_session_in_parts),
#ifdef CONFIG_DEVICE_NULL
		cmocka_unit_test(large_copies_from_a_device_go_through_a_session_in_parts),
#endif
		cmocka_unit_test(a_session_cut_at_any_byte_leaves_nothing),
		cmocka_unit_test(garbage_leaves_nothing),
		cmocka_unit_test(ten_thousand_connects_leave_nothing),
		cmocka_unit_test(a_wrong_key_is_answered_with_its_number),
		cmocka_unit_test(clients_that_say_nothing_keep_no_other_from_its_session),
		cmocka_unit_test(clients_beyond_the_number_of_sessions_wait),
		cmocka_unit_test(a_crash_is_reported_to_its_client_alone),
		cmocka_unit_test(an_endless_loop_is_ended),
		cmocka_unit_test(a_session_has_the_time_that_its_client_asked_for),
		cmocka_unit_test(a_client_whose_session_expired_is_answered_in_its_encoding),
		cmocka_unit_test(a_session_that_ended_takes_hostile_requests),
		cmocka_unit_test(a_client_that_leaves_during_a_call_leaves_nothing),
		cmocka_unit_test(processes_and_files_of_uploaded_code_are_removed),
		cmocka_unit_test(a_session_has_a_limit_of_processes_and_threads),
		cmocka_unit_test(others_are_served_beside_code_that_forks_without_end),
		cmocka_unit_test(the_time_of_a_request_does_not_depend_on_what_the_session_says),
		cmocka_unit_test(a_session_that_is_never_idle_for_long_is_not_ended),
		cmocka_unit_test(a_session_that_waits_for_its_client_is_not_ended),
		cmocka_unit_test(memory_is_looked_at_while_a_session_works),
		cmocka_unit_test(files_are_counted_together),
		cmocka_unit_test(memory_is_counted_over_all_processes_of_a_session),
		cmocka_unit_test(uploaded_code_stays_in_its_sandbox),
		cmocka_unit_test(a_killed_server_takes_its_sessions_with_it),
		cmocka_unit_test(what_leaves_its_group_ends_with_its_session_without_a_sandbox),
	};

	if (getenv("EMULATOR") && *getenv("EMULATOR")) {
		puts("1..0 # SKIP the processes of an emulated server are the emulator's");
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
