/* SPDX-License-Identifier: MIT */
/*
 * A hostile server: the first byte chooses what the client does, the others are all that the server sends. The
 * client reads them from memory, and what it writes is dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/device.h>
#include <tenon/model.h>
#include <tenon/module.h>

#include "rpc/client/rpc.h"
#include "rpc/wire/handshake.h"
#include "rpc/wire/wire_codes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/remote/use_session.h"

/* a value takes ten times the four bytes of its code, and a tensor 300 bytes for its 32 */
const size_t fuzz_memory_per_byte = 256;
/* a session with its buffers, a device, and a model's file */
const size_t fuzz_memory_at_all = 4 << 20;
/* each input is a whole session */
const bool fuzz_is_slow = true;

/* what the client does: the order, and options */
#define ORDER	  0x07
#define WAIT_EACH 0x08
#define WITH_FILE 0x10

/* ---- the server */

struct server {
	struct connection base;
	const uint8_t *at;
	size_t left;
};

static ssize_t server_read(struct connection *c, void *data, size_t size)
{
	struct server *s = (struct server *)c;
	size_t n = size < s->left ? size : s->left;

	if (n)
		memcpy(data, s->at, n);
	s->at += n;
	s->left -= n;
	return (ssize_t)n;
}

static ssize_t server_write(struct connection *c, const struct iovec *parts, int count)
{
	size_t n = 0;

	(void)c;
	while (count--)
		n += parts[count].iov_len;
	return (ssize_t)n;
}

static void server_close(struct connection *c)
{
	free(c);
}

/* All that it will ever send is there. */
static int server_await(const struct connection *c)
{
	(void)c;
	return 0;
}

static struct connection *server_of(const uint8_t *data, size_t size)
{
	static const struct connection_ops ops = { server_read, server_write, server_close,
						   server_await, NULL };
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->base.ops = &ops;
	strcpy(s->base.name, "hostile");
	s->at = data;
	s->left = size;
	return &s->base;
}

/* ---- the client */

static void use_model(struct tenon_remote *remote)
{
	static const char file[] = "tests/interop/data/tvm-0.18/graph_nop/graph.so";
	const char *source = getenv("TENON_SOURCE");
	struct tenon_model *model;
	struct tenon_module *module;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", source ? source : ".", file);
	if (tenon_remote_open(remote, path, &module))
		return;
	if (!tenon_remote_open_model(remote, module, NULL, &model)) {
		tenon_model_run(model);
		tenon_model_close(model);
	}
	tenon_object_unref(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_remote_options o = { .size = sizeof(o) };
	struct tenon_remote *remote;

	if (!size)
		return 0;
	o.wait_each = data[0] & WAIT_EACH;
	if (!rpc_connect_over(server_of(data + 1, size - 1), "hostile", &o, &remote)) {
		if (data[0] & WITH_FILE)
			use_model(remote);
		use_session(remote, data[0] & ORDER);
		tenon_remote_close(remote);
	} else if (!*tenon_error_message()) {
		abort();
	}
	tenon_error_clear();
	tenon_device_close_all();
	return 0;
}

/* ---- seeds: recorded replies, and replies that suit several requests in a row */

static void put_packet(struct tenon_buffer *b, struct tenon_buffer *body)
{
	tenon_buffer_u64(b, body->size);
	tenon_buffer_append(b, body->data, body->size);
	tenon_buffer_fini(body);
}

static void put_handshake(struct tenon_buffer *b, enum wire_generation generation, bool extension)
{
	static const char plain[] = "server:x", extended[] = "server:x " HANDSHAKE_EXTENSION;
	struct tenon_slice key = tenon_slice_of(extension ? extended : plain);
	struct tenon_buffer body = TENON_BUFFER_INIT;
	struct wire_value none = wire_none();

	tenon_buffer_u32(b, HANDSHAKE_MAGIC);
	tenon_buffer_u32(b, (uint32_t)key.size);
	tenon_buffer_append(b, key.data, key.size);
	tenon_buffer_u32(&body, PACKET_RETURN);
	wire_write_sequence(&body, generation, &none, extension ? 0 : 1);
	put_packet(b, &body);
}

static void put_return(struct tenon_buffer *b, enum wire_generation generation,
		       const struct wire_value *values, uint32_t count)
{
	struct tenon_buffer body = TENON_BUFFER_INIT;

	tenon_buffer_u32(&body, PACKET_RETURN);
	wire_write_sequence(&body, generation, values, count);
	put_packet(b, &body);
}

/* A function is found, and its call returns the value that @which chooses. */
static void put_call(struct tenon_buffer *b, enum wire_generation g, unsigned int which)
{
	static const int32_t ffi[] = { TENON_TYPE_NONE,	    TENON_TYPE_INT,    TENON_TYPE_STRING,
				       TENON_TYPE_FUNCTION, TENON_TYPE_MODULE, TENON_TYPE_TENSOR };
	static const int32_t legacy[] = { LEGACY_NULL,	   LEGACY_INT,	  LEGACY_STRING,
					  LEGACY_FUNCTION, LEGACY_MODULE, LEGACY_NDARRAY };
	struct wire_tensor tensor = { .data = 0x1000, .ndim = 1, .device = { kDLCPU, 0 } };
	struct wire_value found = wire_pointer(0x40), values[3];
	uint32_t count = 2;

	tensor.dtype = tenon_dtype(kDLFloat, 32, 1);
	tensor.shape[0] = 4;
	values[0] = wire_int(g == WIRE_FFI ? ffi[which] : legacy[which]);
	values[1] = which < 1 ? wire_none() : which < 2 ? wire_int(7) : wire_pointer(0x80);
	if (which == 2)
		values[1] = (struct wire_value){ WIRE_STRING, { .text = tenon_slice_of("a,b,c") } };
	if (which == 5) {
		values[1] = (struct wire_value){ WIRE_TENSOR, { .tensor = &tensor } };
		values[2] = wire_pointer(0xc0);
		count = 3;
	}
	put_return(b, g, &found, 1);
	put_return(b, g, values, count);
}

static void put_session(struct tenon_buffer *b, unsigned int number)
{
	enum wire_generation g = number & 1 ? WIRE_LEGACY : WIRE_FFI;
	unsigned int i;

	tenon_buffer_append(
		b, &(char){ (char)(number / 2 % SESSION_ACTIONS | (number & 2 ? WITH_FILE : 0)) },
		1);
	put_handshake(b, g, number % 3 == 0);
	for (i = 0; i < 12; i++)
		put_call(b, g, (number + i) % 6);
}

static void visit_recording(const char *name,
			    void (*visit)(void *context, const char *name,
					  struct tenon_slice bytes),
			    void *context)
{
	const char *source = getenv("TENON_SOURCE");
	char path[4096], bytes[8192];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/remote/data/%s.s2c.bin", source ? source : ".",
		 name);
	f = fopen(path, "rb");
	if (!f)
		return;
	bytes[0] = 0;
	size = fread(bytes + 1, 1, sizeof(bytes) - 1, f);
	fclose(f);
	visit(context, name, (struct tenon_slice){ bytes, size + 1 });
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const char *const recorded[] = { "call_scalars",	    "call_strings",
						"exceptions",	    "module_call",
						"returns_function", "returns_tensor",
						"tensor_copy",	    "tensor_kinds" };
	char name[32];
	unsigned int i;

	for (i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		visit_recording(recorded[i], visit, context);
	for (i = 0; i < 4 * SESSION_ACTIONS; i++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;

		put_session(&b, i);
		snprintf(name, sizeof(name), "session-%u", i);
		visit(context, name, (struct tenon_slice){ b.data, b.size });
		tenon_buffer_fini(&b);
	}
}
