/* SPDX-License-Identifier: MIT */
/* Read packets and check the counts and types in them. */
#include "rpc/wire/packet.h"

#include <inttypes.h>
#include <string.h>

#include "lib/brief_errors.h"

/* most device types: TVM adds 128 to a type for a device of a session */
#define DEVICE_TYPES 128

/*
 * Arguments of syscalls: s string, o string or None, p pointer, i int, d device, t dtype,
 * T tensor. A legacy client may send a null pointer as None.
 */
static const struct syscall {
	const char *name;
	const char *ffi;
	const char *legacy; /* where different */
} syscalls[PACKET_CODES] = {
	[PACKET_NONE] = { "None", NULL, NULL },
	[PACKET_SHUTDOWN] = { "Shutdown", NULL, NULL },
	[PACKET_INIT] = { "InitServer", NULL, NULL },
	[PACKET_CALL] = { "CallFunc", NULL, NULL },
	[PACKET_RETURN] = { "Return", NULL, NULL },
	[PACKET_EXCEPTION] = { "Exception", NULL, NULL },
	[PACKET_COPY_FROM] = { "CopyFromRemote", NULL, NULL },
	[PACKET_COPY_TO] = { "CopyToRemote", NULL, NULL },
	[PACKET_COPY_ACK] = { "CopyAck", NULL, NULL },
	[PACKET_GET_FUNCTION] = { "GetGlobalFunc", "s", NULL },
	[PACKET_FREE_HANDLE] = { "FreeHandle", "p", "pi" },
	[PACKET_SET_DEVICE] = { "DevSetDevice", "d", NULL },
	[PACKET_GET_ATTRIBUTE] = { "DevGetAttr", "di", NULL },
	[PACKET_ALLOC] = { "DevAllocData", "diit", NULL },
	[PACKET_FREE] = { "DevFreeData", "dp", NULL },
	[PACKET_SYNC] = { "DevStreamSync", "dp", NULL },
	[PACKET_COPY_AMONG] = { "CopyAmongRemote", "TTp", NULL },
	[PACKET_ALLOC_TENSOR] = { "DevAllocDataWithScope", "To", NULL },
	[PACKET_CREATE_STREAM] = { "DevCreateStream", "d", NULL },
	[PACKET_FREE_STREAM] = { "DevFreeStream", "dp", NULL },
	[PACKET_SET_STREAM] = { "DevSetStream", "dp", NULL },
	[PACKET_CURRENT_STREAM] = { "DevGetCurrentStream", "d", NULL },
};

const char *packet_name(uint32_t code)
{
	return code < PACKET_CODES ? syscalls[code].name : "unknown";
}

void packet_fini(struct packet *p)
{
	wire_sequence_fini(&p->args);
}

static bool kind_matches(char want, enum wire_generation generation, struct wire_value *v)
{
	switch (want) {
	case 's':
		return v->kind == WIRE_STRING || v->kind == WIRE_BYTES;
	case 'o':
		return v->kind == WIRE_STRING || v->kind == WIRE_NONE;
	case 'p':
		if (generation == WIRE_LEGACY && v->kind == WIRE_NONE)
			*v = wire_pointer(0);
		return v->kind == WIRE_POINTER;
	case 'i':
		return v->kind == WIRE_INT;
	case 'd':
		return v->kind == WIRE_DEVICE;
	case 't':
		return v->kind == WIRE_DTYPE;
	case 'T':
		return v->kind == WIRE_TENSOR;
	default:
		return false;
	}
}

static const char *kind_name(char want)
{
	static const char letters[] = "sopidtT";
	static const char *const names[] = { "a string",   "a string or None", "a handle",
					     "an integer", "a device",	       "a dtype",
					     "a tensor" };

	return names[strchr(letters, want) - letters];
}

static int check_arguments(const char *want, enum wire_generation generation,
			   struct wire_sequence *s)
{
	uint32_t i, count = (uint32_t)strlen(want);

	if (s->count != count)
		return tenon_error(-TENON_E_FORMAT, "%u arguments, expected %u", s->count, count);
	for (i = 0; i < count; i++)
		if (!kind_matches(want[i], generation, &s->values[i]))
			return tenon_error(-TENON_E_FORMAT, "argument %u is not %s", i + 1,
					   kind_name(want[i]));
	return 0;
}

static int check_device_types(const struct wire_sequence *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i++) {
		const struct wire_value *v = &s->values[i];
		int32_t type = 1;

		if (v->kind == WIRE_DEVICE)
			type = v->as.device.device_type;
		else if (v->kind == WIRE_TENSOR)
			type = v->as.tensor->device.device_type;
		if (type < 1 || type >= DEVICE_TYPES)
			return tenon_error(-TENON_E_FORMAT, "argument %u has the device type %d",
					   i + 1, type);
	}
	return 0;
}

static int read_arguments(const struct tenon_cursor *at, uint32_t code,
			  enum wire_generation generation, struct wire_sequence *s)
{
	const struct syscall *syscall = &syscalls[code];
	struct tenon_cursor c = *at;
	const char *want =
		generation == WIRE_LEGACY && syscall->legacy ? syscall->legacy : syscall->ffi;
	int err = wire_read_sequence(&c, generation, s);

	if (!err && tenon_cursor_left(&c))
		err = tenon_cursor_error(&c, -TENON_E_FORMAT, "%zu bytes after the last argument",
					 tenon_cursor_left(&c));
	if (!err && want)
		err = check_arguments(want, generation, s);
	return err;
}

/* Arguments of a peer whose generation is not known yet. */
static int read_undecided(const struct tenon_cursor *at, struct packet *p)
{
	bool legacy, ffi;

	legacy = !read_arguments(at, p->code, WIRE_LEGACY, &p->args) &&
		 !check_device_types(&p->args);
	ffi = !read_arguments(at, p->code, WIRE_FFI, &p->args) && !check_device_types(&p->args);
	if (legacy != ffi)
		p->generation = legacy ? WIRE_LEGACY : WIRE_FFI;
	tenon_error_clear();
	/* what is valid in both is the same in both; what is valid in none is reported as ffi */
	return read_arguments(at, p->code, legacy && !ffi ? WIRE_LEGACY : WIRE_FFI, &p->args);
}

/* The bytes of a copy, or those of them that were read. */
static int read_copied(struct tenon_cursor *c, struct packet *p)
{
	const uint64_t left = tenon_cursor_left(c);

	if (p->args.more && p->size > left && p->size - left == p->args.more) {
		p->args.more = 0;
		return tenon_cursor_bytes(c, left, &p->data);
	}
	return tenon_cursor_bytes(c, p->size, &p->data);
}

static int read_copy(struct tenon_cursor *c, struct packet *p)
{
	int err = wire_read_tensor(c, &p->tensor);

	if (!err)
		err = tenon_cursor_u64(c, &p->size);
	if (!err && p->code == PACKET_COPY_TO)
		err = read_copied(c, p);
	if (!err && tenon_cursor_left(c))
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "%zu bytes after the end",
					 tenon_cursor_left(c));
	return err;
}

static int read_body(struct tenon_cursor *c, struct packet *p)
{
	int err = 0;

	switch (p->code) {
	case PACKET_SHUTDOWN:
		return 0;
	case PACKET_COPY_FROM:
	case PACKET_COPY_TO:
		return read_copy(c, p);
	case PACKET_INIT:
		err = tenon_cursor_string(c, &p->version);
		break;
	case PACKET_CALL:
		err = tenon_cursor_u64(c, &p->function);
		break;
	default:
		if (p->code < PACKET_GET_FUNCTION || p->code >= PACKET_CODES)
			return tenon_error(-TENON_E_FORMAT, "code %d is not a request",
					   (int)p->code);
	}
	if (err)
		return err;
	if (p->generation == WIRE_UNDECIDED)
		return read_undecided(c, p);
	return read_arguments(c, p->code, p->generation, &p->args);
}

int packet_read(struct tenon_slice bytes, enum wire_generation generation, struct packet *p)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "packet", 0);
	struct wire_sequence args = p->args;
	int err;

	memset(p, 0, sizeof(*p));
	p->args = args;
	p->args.count = 0;
	p->generation = generation;
	err = tenon_cursor_u32(&c, &p->code);
	if (err)
		return err;
	err = read_body(&c, p);
	return err ? tenon_error_in(err, "request %s", packet_name(p->code)) : 0;
}

int packet_read_head(struct tenon_slice bytes, uint64_t more, enum wire_generation generation,
		     struct packet *p)
{
	int err;

	p->args.more = more;
	err = packet_read(bytes, generation, p);
	if (!err && p->args.more)
		err = tenon_error(-TENON_E_FORMAT,
				  "request %s: %" PRIu64 " bytes after the last argument",
				  packet_name(p->code), p->args.more);
	p->args.more = 0;
	return err;
}
