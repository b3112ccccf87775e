/* SPDX-License-Identifier: MIT */
/*
 * SIGKILL of sessions and servers in each state of an exchange: the next client is served, and nothing is left. TENON_SEED
 * chooses the bytes and the moments; it is printed.
 */
#include "tests/unit/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <tenon/backend/buffer.h>

#include "lib/clock.h"
#include "tests/remote/emulated.h"
#include "tests/remote/killed.h"

#define LARGE (4 << 20)

static char large[LARGE];

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
	exchange_hello(x, "k");
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
	const size_t cut = phase == IN_REQUEST && size ? killed_random((uint32_t)size) : size;
	char byte;

	farm_send(x->c.fd, x->bytes.data, cut);
	if (phase == IN_REPLY && recv(x->c.fd, &byte, 1, 0) < 0)
		errno = 0;
	/* a moment within the work on it */
	killed_pause((long)killed_random(3000));
	kill(victim, SIGKILL);
	farm_send(x->c.fd, x->bytes.data + cut, size - cut);
}

static void the_next_client_is_served(void)
{
	const uint64_t start = clock_ms();
	struct exchange x;

	exchange_open(&x);
	exchange_hello(&x, "k");
	client_init(&x.c);
	upload_and_load(&x, IDLE);
	CALL(&x.c, lookup(&x, "add_one"), wire_int(41));
	assert_int_equal(x.c.values.values[1].as.integer, 42);
	if (clock_ms() - start > killed_longest)
		killed_longest = clock_ms() - start;
	exchange_close(&x);
}

static int start_server(void)
{
	pid_t session = 0;
	int n;

	farm_start(&killed_server,
		   (const char *const[]){ "serve", "--listen", "127.0.0.1:0", "--key", "k",
					  "--folder", killed_base, "--sessions", "1", NULL });
	n = killed_count_descriptors(killed_server.pid);
	the_next_client_is_served();
	killed_nothing_is_left(session, n, "start");
	return n;
}

/* The server greets its client before it starts the process. */
static pid_t await_session(void)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;
	pid_t session;

	while (!(session = killed_session_of(killed_server.pid))) {
		assert_true(clock_ms() < end);
		killed_pause(1000);
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
	exchange_open(&x);
	prepare(&x, step);
	session = step == HANDSHAKE ? 0 : await_session();
	kill_in(&x, phase, of_session ? session : killed_server.pid);
	drain(&x);
	exchange_close(&x);
	if (!of_session) {
		killed_end_server(session);
		*descriptors = start_server();
	}
	the_next_client_is_served();
	killed_nothing_is_left(session, *descriptors, what);
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

	killed_longest = 0;
	for (step = 0; step < STEPS; step++) {
		for (phase = 0; phase < PHASES; phase++) {
			if (!is_possible(step, phase, of_session))
				continue;
			one_is_killed(step, phase, of_session, &descriptors);
			n++;
		}
	}
	print_message("# %d kills; the next client had its result after %d ms at most\n", n,
		      (int)killed_longest);
	assert_int_equal(farm_stop(&killed_server), 0);
	assert_int_equal(killed_count_entries(killed_base, NULL), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_session_costs_its_client_alone),
		cmocka_unit_test(a_killed_server_can_be_started_again),
	};

	if (server_is_emulated())
		return 0;
	return cmocka_run_group_tests(tests, killed_setup, NULL);
}
