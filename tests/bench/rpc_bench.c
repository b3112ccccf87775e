/* SPDX-License-Identifier: MIT */
/*
 * Our client with a server: rpc_bench ADDRESS LIBRARY [DELAYED]. LIBRARY has a function "echo"; DELAYED is an address of the
 * same server, behind a relay that delays. rpc_bench floor FOLDER prints what sockets of this machine allow, and what is
 * left of it when the receiver writes the bytes to a file in FOLDER.
 * tests/bench/rpc_figures.py runs it, and TVM's client.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/device.h>
#include <tenon/remote.h>
#include <tenon/tenon.h>
#include <unistd.h>

#define LARGE	 ((size_t)256 << 20)
#define COPIED	 ((size_t)64 << 20)
#define ROUNDS	 5
#define PINGS	 2000
#define SESSIONS 50
#define DELAYED	 40
/* bytes of the request and the reply of an empty call: packets with their lengths */
#define REQUEST 40
#define REPLY	20
/* bytes that the floor reads and writes at a time */
#define PART ((size_t)256 << 10)

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "rpc_bench: %s: %s\n", what, tenon_error_message());
	exit(1);
}

static void print(const char *name, double value)
{
	printf("%s %.6g\n", name, value);
	fflush(stdout);
}

/* ---- the floor */

static void transfer(int fd, char *data, size_t size, bool out)
{
	while (size) {
		ssize_t n = out ? write(fd, data, size) : read(fd, data, size);

		if (n <= 0)
			exit(1);
		data += n;
		size -= (size_t)n;
	}
}

static void receive_file(int fd, char *memory, const char *path)
{
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t left = LARGE, size;

	if (out < 0)
		exit(1);
	for (; left; left -= size) {
		size = left < PART ? left : PART;
		transfer(fd, memory, size, false);
		transfer(out, memory, size, true);
	}
	close(out);
}

/* What the other end does: answers requests, then takes the large bytes, and answers. */
static void serve_floor(int fd, char *memory, const char *path)
{
	int i;

	for (i = 0; i < PINGS; i++) {
		transfer(fd, memory, REQUEST, false);
		transfer(fd, memory, REPLY, true);
	}
	for (i = 0; i < ROUNDS; i++) {
		transfer(fd, memory, LARGE, false);
		transfer(fd, memory, REPLY, true);
	}
	for (i = 0; i < ROUNDS; i++) {
		receive_file(fd, memory, path);
		transfer(fd, memory, REPLY, true);
	}
	unlink(path);
	exit(0);
}

static int connected_pair(int *other)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	int on = 1;
	socklen_t size = sizeof(a);

	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&a, &size) ||
	    connect(fd, (struct sockaddr *)&a, sizeof(a)))
		exit(1);
	*other = accept(listener, NULL, NULL);
	close(listener);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(*other, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static void measure_floor_upload(const char *name, int fd, char *memory)
{
	double times[ROUNDS], start;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		start = bench_now();
		transfer(fd, memory, LARGE, true);
		transfer(fd, memory, REPLY, false);
		times[i] = bench_now() - start;
	}
	print(name, (double)LARGE / bench_middle(times, ROUNDS));
}

static int measure_floor(const char *folder)
{
	char *memory = malloc(LARGE), path[4096];
	double times[PINGS], start;
	int other, fd = connected_pair(&other), i;
	pid_t pid;

	if (!memory)
		return 1;
	memset(memory, 1, LARGE);
	snprintf(path, sizeof(path), "%s/floor", folder);
	pid = fork();
	if (!pid)
		serve_floor(other, memory, path);
	for (i = 0; i < PINGS; i++) {
		start = bench_now();
		transfer(fd, memory, REQUEST, true);
		transfer(fd, memory, REPLY, false);
		times[i] = bench_now() - start;
	}
	print("empty", bench_middle(times, PINGS) / 1e3);
	measure_floor_upload("upload", fd, memory);
	measure_floor_upload("upload_file", fd, memory);
	waitpid(pid, NULL, 0);
	free(memory);
	return 0;
}

/* ---- our client */

static void measure_calls(struct tenon_remote *remote)
{
	double times[PINGS], start;
	int i;

	for (i = 0; i < PINGS; i++) {
		start = bench_now();
		check(tenon_remote_ping(remote), "ping");
		times[i] = bench_now() - start;
	}
	print("empty", bench_middle(times, PINGS) / 1e3);
}

static void measure_upload(struct tenon_remote *remote, const char *memory, size_t size, int rounds)
{
	double times[ROUNDS], start;
	int i;

	for (i = 0; i < rounds; i++) {
		start = bench_now();
		check(tenon_remote_upload(remote, "large", (struct tenon_slice){ memory, size }),
		      "upload");
		check(tenon_remote_wait(remote), "upload");
		times[i] = bench_now() - start;
	}
	print("upload", (double)size / bench_middle(times, (size_t)rounds));
	tenon_remote_remove(remote, "large");
}

static void measure_copies(struct tenon_remote *remote, char *memory, size_t size, int rounds)
{
	int64_t shape[] = { (int64_t)size };
	DLTensor host = tenon_dltensor(memory, shape, 1, tenon_dtype(kDLUInt, 8, 1));
	double to[ROUNDS], from[ROUNDS], start;
	struct tenon_device *cpu;
	struct tenon_tensor *tensor;
	int i;

	check(tenon_remote_device(remote, (DLDevice){ kDLCPU, 0 }, &cpu), "device");
	check(tenon_tensor_create_on(tenon_device_id(cpu), shape, 1, host.dtype, &tensor),
	      "tensor");
	for (i = 0; i < rounds; i++) {
		start = bench_now();
		check(tenon_tensor_copy(&host, &tensor->dl), "copy");
		check(tenon_remote_wait(remote), "copy");
		to[i] = bench_now() - start;
		start = bench_now();
		check(tenon_tensor_copy(&tensor->dl, &host), "copy");
		from[i] = bench_now() - start;
	}
	print("copy_to", (double)size / bench_middle(to, (size_t)rounds));
	print("copy_from", (double)size / bench_middle(from, (size_t)rounds));
	tenon_object_unref(tensor);
	tenon_object_unref(cpu);
}

/* A call of a function that returns its argument. */
static void measure_function(struct tenon_remote *remote, const char *library)
{
	struct tenon_value one = tenon_arg_int(1), result = tenon_arg_none();
	double times[PINGS], start;
	struct tenon_module *module;
	struct tenon_function *echo;
	int i;

	check(tenon_remote_send_file(remote, library, "echo.so", NULL), "upload");
	check(tenon_remote_load(remote, "echo.so", &module), "load");
	check(tenon_module_get_function(module, "echo", &echo), "function");
	for (i = 0; i < PINGS; i++) {
		start = bench_now();
		check(tenon_call(echo, &result, one), "call");
		times[i] = bench_now() - start;
	}
	print("call", bench_middle(times, PINGS) / 1e3);
	tenon_object_unref(echo);
	tenon_object_unref(module);
}

/* Servers of TVM start an interpreter for each. */
static void measure_sessions(const char *address, const struct tenon_remote_options *o, int count)
{
	double times[SESSIONS], begin = bench_now(), start;
	struct tenon_remote *remote;
	int i;

	for (i = 0; i < count; i++) {
		start = bench_now();
		check(tenon_remote_connect(address, o, &remote), "connect");
		check(tenon_remote_ping(remote), "ping");
		times[i] = bench_now() - start;
		tenon_remote_close(remote);
	}
	print("sessions_per_second", count / ((bench_now() - begin) / 1e9));
	print("session_start", bench_middle(times, count) / 1e3);
}

/* Calls per second of a function that returns its argument, not waiting for each where the server allows. */
static void measure_delayed(const char *address, const char *library, bool wait_each)
{
	struct tenon_remote_options o = { .size = sizeof(o),
					  .key = "board",
					  .wait_each = wait_each };
	struct tenon_value one = tenon_arg_int(1);
	struct tenon_remote *remote;
	struct tenon_module *module;
	struct tenon_function *echo;
	double start;
	int i;

	check(tenon_remote_connect(address, &o, &remote), "connect");
	check(tenon_remote_send_file(remote, library, "echo.so", NULL), "upload");
	check(tenon_remote_load(remote, "echo.so", &module), "load");
	check(tenon_module_get_function(module, "echo", &echo), "function");
	check(tenon_remote_wait(remote), "wait");
	start = bench_now();
	for (i = 0; i < DELAYED; i++)
		check(tenon_remote_post(remote, echo, &one, 1), "call");
	check(tenon_remote_wait(remote), "calls");
	print(wait_each ? "delayed_one_by_one" : "delayed_pipelined",
	      DELAYED / ((bench_now() - start) / 1e9));
	tenon_object_unref(echo);
	tenon_object_unref(module);
	tenon_remote_close(remote);
}

int main(int argc, char **argv)
{
	struct tenon_remote_options o = { .size = sizeof(o), .key = "board" };
	struct tenon_remote_facts facts;
	struct tenon_remote *remote;
	bool pipelined;
	char *memory;

	if (argc == 3 && !strcmp(argv[1], "floor"))
		return measure_floor(argv[2]);
	if (argc < 3) {
		puts("rpc_bench: run by tests/bench/rpc_figures.py");
		return 0;
	}
	memory = malloc(LARGE);
	if (!memory)
		return 1;
	memset(memory, 1, LARGE);
	check(tenon_remote_connect(argv[1], &o, &remote), "connect");
	tenon_remote_facts(remote, &facts);
	pipelined = facts.pipelined;
	measure_calls(remote);
	/* a server of TVM takes a minute for 256 MB */
	measure_upload(remote, memory, pipelined ? LARGE : LARGE / 16, pipelined ? ROUNDS : 1);
	measure_copies(remote, memory, pipelined ? COPIED : COPIED / 8, pipelined ? ROUNDS : 1);
	if (pipelined)
		measure_function(remote, argv[2]);
	tenon_remote_close(remote);
	measure_sessions(argv[1], &o, pipelined ? SESSIONS : 5);
	if (argc > 3) {
		measure_delayed(argv[3], argv[2], true);
		measure_delayed(argv[3], argv[2], false);
	}
	free(memory);
	tenon_device_close_all();
	return 0;
}
