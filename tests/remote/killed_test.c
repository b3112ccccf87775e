/* SPDX-License-Identifier: MIT */
/*
 * SIGKILL of sessions, servers and trackers in each state of an exchange: the next client is served, and nothing is
 * left. TENON_SEED chooses the bytes and the moments; it is printed.
 */
#include "tests/unit/suite.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "rpc/server/process_list.h"
#include "tests/remote/client.h"
#include "tests/remote/emulated.h"
#include "tests/remote/farm_process.h"

#define LARGE (4 << 20)

static struct farm_process server;
static char base[3000];
static uint32_t seed;
static uint64_t longest; /* that a next client waited, in milliseconds */

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % n;
}

static void pause_us(long us)
{
	nanosleep(&(struct timespec){ 0, us * 1000 }, NULL);
}

/* ---- what may be left */

struct children {
	pid_t parent;
	pid_t last;
	int count;
};

static void add_child(void *context, const struct process *p)
{
	struct children *c = context;

	/* sessions, and all that they started */
	if (p->parent == c->parent || (c->last && p->group == c->last)) {
		c->count++;
		c->last = c->last ? c->last : p->pid;
	}
}

/* the only child of a process, which is its session; 0 for none */
static pid_t session_of(pid_t pid)
{
	struct children c = { .parent = pid };

	process_list(add_child, &c);
	return c.last;
}

static int count_left(pid_t parent, pid_t session)
{
	struct children c = { .parent = parent, .last = session };

	process_list(add_child, &c);
	return c.count;
}

static int count_entries(const char *path, char *last)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (last)
			snprintf(last, 4096, "%s/%s", path, entry->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

static int count_descriptors(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return count_entries(path, NULL);
}

/* One folder of a server, with its cache alone. */
static bool folders_are_clean(void)
{
	char folder[4096];

	return count_entries(base, folder) == 1 && count_entries(folder, NULL) == 1;
}

static void wait_for_descriptors(pid_t pid, int want)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;

	while (count_descriptors(pid) != want) {
		if (clock_ms() > end)
			fail_msg("%d descriptors, expected %d", count_descriptors(pid), want);
		pause_us(5000);
	}
}

/* @session: the process of the last session, or 0 */
static void nothing_is_left(pid_t session, int descriptors, const char *what)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;
	int left = -1;

	/* the list of processes is the slowest to read */
	while (count_descriptors(server.pid) != descriptors || !folders_are_clean() ||
	       (left = count_left(server.pid, session))) {
		if (clock_ms() > end)
			fail_msg("%s: %d processes, %d descriptors of %d, folders %s", what, left,
				 count_descriptors(server.pid), descriptors,
				 folders_are_clean() ? "removed" : "left");
		pause_us(5000);
	}
}

/* ---- an exchange */

/* what is under way when a process is killed */
enum step {
	HANDSHAKE,
	INIT,
	GET_FUNCTION,
	UPLOAD,
	LOAD,
	CALL_RUNS,
	ALLOC,
	COPY_TO,
	COPY_FROM,
	TIME_EVALUATOR,
	IDLE,
	STEPS,
};

static const char *const step_names[STEPS] = {
	"handshake",   "InitServer",	 "get function", "upload",
	"load module", "call that runs", "alloc",	 "copy to",
	"copy from",   "time_evaluator", "idle",
};

enum phase {
	IN_REQUEST,
	WITHOUT_REPLY,
	IN_REPLY,
	PHASES,
};

struct exchange {
	struct client c;
	struct tenon_buffer bytes; /* of the request that is under way, with its length */
	uint64_t module;
	uint64_t tensor;
};

static char large[LARGE];

static void open_exchange(struct exchange *x)
{
	memset(x, 0, sizeof(*x));
	x->c.generation = WIRE_FFI;
	x->c.fd = farm_connect(server.port);
	assert_int_equal(connection_of_fds(x->c.fd, x->c.fd, "server", &x->c.connection), 0);
	x->c.connection->deadline = connection_deadline(PATIENCE_S * 1000);
	stream_init(&x->c.stream, x->c.connection, UINT64_MAX);
}

static void close_exchange(struct exchange *x)
{
	connection_close(x->c.connection);
	stream_fini(&x->c.stream);
	tenon_buffer_fini(&x->c.request);
	tenon_buffer_fini(&x->bytes);
	wire_sequence_fini(&x->c.values);
	tenon_error_clear();
}

static void say_hello(struct exchange *x, const char *key)
{
	char text[200], reply[8 + 8];
	int n = snprintf(text, sizeof(text), "client:%s", key);

	tenon_buffer_u32(&x->bytes, 0xff271);
	tenon_buffer_u32(&x->bytes, (uint32_t)n);
	tenon_buffer_append(&x->bytes, text, (size_t)n);
	farm_send(x->c.fd, x->bytes.data, x->bytes.size);
	x->bytes.size = 0;
	assert_int_equal(stream_read(&x->c.stream, reply, sizeof(reply)), 0);
	assert_memory_equal(reply, "\x71\xf2\x0f\0\x08\0\0\0server:k", sizeof(reply));
}

static void begin(struct exchange *x, uint32_t code)
{
	x->bytes.size = 0;
	tenon_buffer_u64(&x->bytes, 0);
	tenon_buffer_u32(&x->bytes, code);
}

static void end(struct exchange *x)
{
	const uint64_t size = x->bytes.size - 8;
	int i;

	for (i = 0; i < 8; i++)
		x->bytes.data[i] = (char)(size >> 8 * i);
}

static void build(struct exchange *x, uint32_t code, uint64_t function,
		  const struct wire_value *values, uint32_t count)
{
	begin(x, code);
	if (code == PACKET_INIT)
		tenon_buffer_string(&x->bytes, tenon_slice_of(PACKET_VERSION));
	if (code == PACKET_CALL)
		tenon_buffer_u64(&x->bytes, function);
	wire_write_sequence(&x->bytes, WIRE_FFI, values, count);
	end(x);
}
#define BUILD(x, code, function, ...)                                                              \
	build(x, code, function, (struct wire_value[]){ __VA_ARGS__ },                             \
	      sizeof((struct wire_value[]){ __VA_ARGS__ }) / sizeof(struct wire_value))

static void build_copy(struct exchange *x, uint32_t code, size_t size)
{
	struct wire_tensor t = byte_record(x->tensor, LARGE);

	begin(x, code);
	wire_write_tensor(&x->bytes, &t);
	tenon_buffer_u64(&x->bytes, LARGE);
	tenon_buffer_append(&x->bytes, large, size);
	end(x);
}

static struct tenon_slice module_file(void)
{
	static char bytes[4 << 20];
	static size_t size;
	char path[4096];
	FILE *f;

	if (!size) {
		snprintf(path, sizeof(path), "%s/tests/remote/hostile.so", getenv("TENON_BUILD"));
		f = fopen(path, "rb");
		assert_non_null(f);
		size = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
	}
	return (struct tenon_slice){ bytes, size };
}

static uint64_t lookup(struct exchange *x, const char *name)
{
	struct client *c = &x->c;

	CALL(c, client_function(c, "tvm.rpc.server.ModuleGetFunction"),
	     { WIRE_MODULE, { .handle = x->module } }, wire_string(name),
	     { WIRE_BOOL, { .integer = 1 } });
	assert_int_equal(c->code, PACKET_RETURN);
	return c->values.values[1].as.handle;
}

/* a function that times add_one() for longer than any test takes */
static uint64_t evaluator(struct exchange *x)
{
	struct client *c = &x->c;

	CALL(c, client_function(c, "runtime.RPCTimeEvaluator"),
	     { WIRE_MODULE, { .handle = x->module } }, wire_string("add_one"), wire_int(1),
	     wire_int(0), wire_int(1 << 30), wire_int(3), wire_int(0), wire_int(0), wire_int(0),
	     wire_int(0), wire_int(0), wire_string(""));
	assert_int_equal(c->code, PACKET_RETURN);
	return c->values.values[1].as.handle;
}

static void upload_and_load(struct exchange *x, enum step step)
{
	const struct tenon_slice file = module_file();
	struct client *c = &x->c;
	uint64_t f = client_function(c, "tvm.rpc.server.upload");

	CALL(c, f, wire_string("hostile.so"), wire_bytes(file.data, file.size));
	assert_int_equal(c->code, PACKET_RETURN);
	f = client_function(c, "tvm.rpc.server.load_module");
	if (step == LOAD) {
		BUILD(x, PACKET_CALL, f, wire_string("hostile.so"));
		return;
	}
	CALL(c, f, wire_string("hostile.so"));
	assert_int_equal(c->code, PACKET_RETURN);
	x->module = c->values.values[1].as.handle;
	if (step == CALL_RUNS)
		BUILD(x, PACKET_CALL, lookup(x, "hangs"), wire_int(1));
	if (step == TIME_EVALUATOR)
		BUILD(x, PACKET_CALL, evaluator(x), wire_int(1));
}

static void prepare_copy(struct exchange *x, enum step step)
{
	struct wire_tensor t = byte_record(0, LARGE);

	if (step == ALLOC) {
		BUILD(x, PACKET_ALLOC_TENSOR, 0, wire_tensor_value(&t), wire_none());
		return;
	}
	x->tensor = client_alloc(&x->c, LARGE);
	build_copy(x, step == COPY_TO ? PACKET_COPY_TO : PACKET_COPY_FROM,
		   step == COPY_TO ? LARGE : 0);
}

/* Go on until a step is next, whose request is in @x->bytes. */
static void prepare(struct exchange *x, enum step step)
{
	if (step == HANDSHAKE) {
		tenon_buffer_u32(&x->bytes, 0xff271);
		tenon_buffer_u32(&x->bytes, 8);
		tenon_buffer_append(&x->bytes, "client:k", 8);
		return;
	}
	say_hello(x, "k");
	if (step == INIT) {
		build(x, PACKET_INIT, 0, NULL, 0);
		return;
	}
	client_init(&x->c);
	switch (step) {
	case GET_FUNCTION:
		BUILD(x, PACKET_GET_FUNCTION, 0, wire_string("tvm.rpc.server.upload"));
		break;
	case UPLOAD:
		BUILD(x, PACKET_CALL, client_function(&x->c, "tvm.rpc.server.upload"),
		      wire_string("large"), wire_bytes(large, LARGE));
		break;
	case LOAD:
	case CALL_RUNS:
	case TIME_EVALUATOR:
		upload_and_load(x, step);
		break;
	case ALLOC:
	case COPY_TO:
	case COPY_FROM:
		prepare_copy(x, step);
		break;
	default:
		break;
	}
}

/* Read until the end; more than a reply at most. */
static void drain(struct exchange *x)
{
	char bytes[65536];
	size_t all = 0;
	ssize_t n;

	while ((n = recv(x->c.fd, bytes, sizeof(bytes), 0)) > 0) {
		all += (size_t)n;
		assert_true(all < 2 * LARGE);
	}
	assert_true(!n || errno == ECONNRESET);
}

static void kill_in(struct exchange *x, enum phase phase, pid_t victim)
{
	const size_t size = x->bytes.size;
	const size_t cut = phase == IN_REQUEST && size ? random_below((uint32_t)size) : size;
	char byte;

	farm_send(x->c.fd, x->bytes.data, cut);
	if (phase == IN_REPLY && recv(x->c.fd, &byte, 1, 0) < 0)
		errno = 0;
	/* a moment within the work on it */
	pause_us((long)random_below(3000));
	kill(victim, SIGKILL);
	farm_send(x->c.fd, x->bytes.data + cut, size - cut);
}

static void the_next_client_is_served(void)
{
	const uint64_t start = clock_ms();
	struct exchange x;

	open_exchange(&x);
	say_hello(&x, "k");
	client_init(&x.c);
	upload_and_load(&x, IDLE);
	CALL(&x.c, lookup(&x, "add_one"), wire_int(41));
	assert_int_equal(x.c.values.values[1].as.integer, 42);
	if (clock_ms() - start > longest)
		longest = clock_ms() - start;
	close_exchange(&x);
}

static int start_server(void)
{
	pid_t session = 0;
	int n;

	farm_start(&server, (const char *const[]){ "serve", "--listen", "127.0.0.1:0", "--key", "k",
						   "--folder", base, "--sessions", "1", NULL });
	n = count_descriptors(server.pid);
	the_next_client_is_served();
	nothing_is_left(session, n, "start");
	return n;
}

/* Its session dies with it, and becomes a child of this process, whose init may be slow to reap it. */
static void end_killed_server(pid_t session)
{
	int status;

	waitpid(server.pid, &status, 0);
	if (session)
		waitpid(session, &status, 0);
	unlink(server.log);
}

/* The server greets its client before it starts the process. */
static pid_t await_session(void)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;
	pid_t session;

	while (!(session = session_of(server.pid))) {
		assert_true(clock_ms() < end);
		pause_us(1000);
	}
	return session;
}

static void one_is_killed(enum step step, enum phase phase, bool of_session, int *descriptors)
{
	char what[100];
	struct exchange x;
	pid_t session;

	snprintf(what, sizeof(what), "%s of the %s, phase %d", step_names[step],
		 of_session ? "session" : "server", (int)phase);
	open_exchange(&x);
	prepare(&x, step);
	session = step == HANDSHAKE ? 0 : await_session();
	kill_in(&x, phase, of_session ? session : server.pid);
	drain(&x);
	close_exchange(&x);
	if (!of_session) {
		end_killed_server(session);
		*descriptors = start_server();
	}
	the_next_client_is_served();
	nothing_is_left(session, *descriptors, what);
}

/* Requests that never have a reply, and states without a request, have fewer phases. */
static bool is_possible(enum step step, enum phase phase, bool of_session)
{
	if (step == HANDSHAKE && of_session)
		return false;
	if (step == IDLE)
		return phase == WITHOUT_REPLY;
	return phase != IN_REPLY || (step != CALL_RUNS && step != TIME_EVALUATOR);
}

static void each_state_of_a_session_survives_a_kill(bool of_session)
{
	int descriptors = start_server(), step, phase, n = 0;

	longest = 0;
	for (step = 0; step < STEPS; step++) {
		for (phase = 0; phase < PHASES; phase++) {
			if (!is_possible(step, phase, of_session))
				continue;
			one_is_killed(step, phase, of_session, &descriptors);
			n++;
		}
	}
	print_message("# %d kills; the next client had its result after %d ms at most\n", n,
		      (int)longest);
	assert_int_equal(farm_stop(&server), 0);
	assert_int_equal(count_entries(base, NULL), 0);
}

static void a_killed_session_costs_its_client_alone(void **state)
{
	(void)state;
	each_state_of_a_session_survives_a_kill(true);
}

static void a_killed_server_can_be_started_again(void **state)
{
	(void)state;
	each_state_of_a_session_survives_a_kill(false);
}

/* ---- with a tracker */

static struct farm_process tracker;
static char tracker_address[40] = "127.0.0.1:0";

static void start_tracker(void)
{
	farm_start(&tracker, (const char *const[]){ "tracker", "--listen", tracker_address, NULL });
	if (!strcmp(tracker_address, "127.0.0.1:0"))
		snprintf(tracker_address, sizeof(tracker_address), "127.0.0.1:%d", tracker.port);
	farm_wait_log(&tracker, "listening on");
	tracker.port = atoi(strrchr(tracker_address, ':') + 1);
}

static void start_listed_server(void)
{
	farm_start(&server,
		   (const char *const[]){ "serve", "--listen", "127.0.0.1:0", "--key", "k",
					  "--folder", base, "--tracker", tracker_address, NULL });
}

/* A match key from the tracker; false at the end of the connection. */
static bool read_match(int fd, char key[64])
{
	const char *reply = tracker_receive(fd), *at = strstr(reply, "\"k:");
	const char *stop = at ? strchr(at + 1, '"') : NULL;

	if (!stop || stop - at > 60)
		return false;
	snprintf(key, 64, "%.*s", (int)(stop - at - 1), at + 1);
	return true;
}

static int ask(void)
{
	int fd = tracker_connect(tracker.port);

	tracker_send(fd, "[4, \"k\", \"\", 1]");
	return fd;
}

static void open_matched(struct exchange *x, const char *key)
{
	open_exchange(x);
	say_hello(x, key);
	client_init(&x->c);
}

static void wait_for_summary(const char *text)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;
	int fd = tracker_connect(tracker.port);

	while (!strstr(tracker_exchange(fd, "[6]"), text)) {
		assert_true(clock_ms() < end);
		pause_us(2000);
	}
	close(fd);
}

/* what a client waits for */
enum listed {
	PUT,	   /* nothing: the server is offered */
	WAITING,   /* a server, which another client has */
	MATCHED,   /* it has a match key, and has not used it */
	CONNECTED, /* its session runs */
	LISTED,
};

static const char *const listed_names[LISTED] = { "put", "waiting", "matched", "connected" };

enum victim {
	TRACKER,
	SERVER,
	SESSION,
	VICTIMS,
};

struct farm_client {
	int fd;
	int waiting;
	bool connected;
	struct exchange x;
};

static void reach(struct farm_client *f, enum listed state)
{
	char key[64];

	memset(f, 0, sizeof(*f));
	f->fd = f->waiting = -1;
	wait_for_summary("\"k\": {\"free\": 1");
	if (state == PUT)
		return;
	f->fd = ask();
	assert_true(read_match(f->fd, key));
	if (state == MATCHED)
		return;
	open_matched(&f->x, key);
	f->connected = true;
	if (state == WAITING) {
		f->waiting = ask();
		wait_for_summary("\"pending\": 1");
	}
}

static void leave(struct farm_client *f)
{
	if (f->connected)
		close_exchange(&f->x);
	if (f->fd >= 0)
		close(f->fd);
	if (f->waiting >= 0)
		close(f->waiting);
}

static void replace(enum victim victim, pid_t session)
{
	int status;

	pause_us((long)random_below(3000));
	kill(victim == TRACKER ? tracker.pid : victim == SERVER ? server.pid : session, SIGKILL);
	if (victim == TRACKER) {
		waitpid(tracker.pid, &status, 0);
		unlink(tracker.log);
		start_tracker();
	} else if (victim == SERVER) {
		end_killed_server(session);
		start_listed_server();
	}
}

/* The client that waits has the next turn, unless the tracker that knew it is gone. */
static void the_next_in_the_queue_is_served(struct farm_client *f, enum victim victim)
{
	const bool waits = f->waiting >= 0 && victim != TRACKER;
	const uint64_t start = clock_ms();
	int fd = waits ? f->waiting : -1;
	struct exchange x;
	char key[64];

	/* a session that lives keeps the board until its client leaves */
	if (f->waiting >= 0 && victim == TRACKER)
		assert_true(farm_closes(f->waiting));
	if (f->connected)
		close_exchange(&f->x);
	f->connected = false;
	if (!waits)
		fd = ask();
	assert_true(read_match(fd, key));
	open_matched(&x, key);
	assert_int_equal(client_function(&x.c, "tvm.rpc.server.upload") != 0, 1);
	if (clock_ms() - start > longest)
		longest = clock_ms() - start;
	close_exchange(&x);
	if (!waits)
		close(fd);
}

static void each_state_of_a_farm_survives_a_kill(void **state)
{
	int descriptors, listed, victim, n = 0;
	struct farm_client f;
	pid_t session;

	(void)state;
	longest = 0;
	start_tracker();
	/* with the connection of the server */
	descriptors = count_descriptors(tracker.pid) + 1;
	start_listed_server();
	for (listed = 0; listed < LISTED; listed++) {
		for (victim = 0; victim < VICTIMS; victim++) {
			reach(&f, listed);
			session = session_of(server.pid);
			if (victim == SESSION && !session) {
				leave(&f);
				continue;
			}
			replace(victim, session);
			the_next_in_the_queue_is_served(&f, victim);
			leave(&f);
			wait_for_summary("\"k\": {\"free\": 1, \"pending\": 0");
			nothing_is_left(session, count_descriptors(server.pid),
					listed_names[listed]);
			wait_for_descriptors(tracker.pid, descriptors);
			n++;
		}
	}
	print_message("# %d kills; the next client had its result after %d ms at most\n", n,
		      (int)longest);
	assert_int_equal(farm_stop(&server), 0);
	assert_int_equal(farm_stop(&tracker), 0);
	assert_int_equal(count_entries(base, NULL), 0);
}

static int setup(void **state)
{
	const char *folder = getenv("TMPDIR"), *text = getenv("TENON_SEED");

	(void)state;
	seed = text ? (uint32_t)strtoul(text, NULL, 10) : (uint32_t)time(NULL);
	if (!seed)
		seed = 1;
	print_message("# TENON_SEED=%u\n", seed);
	snprintf(base, sizeof(base), "%s/base", folder ? folder : "/tmp");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return -1;
	return mkdir(base, 0700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_session_costs_its_client_alone),
		cmocka_unit_test(a_killed_server_can_be_started_again),
		cmocka_unit_test(each_state_of_a_farm_survives_a_kill),
	};

	if (server_is_emulated())
		return 0;
	return cmocka_run_group_tests(tests, setup, NULL);
}
