/* SPDX-License-Identifier: MIT */
/* Copies in the blocks that a server takes. */
#include <inttypes.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"

#define BLOCK_FUNCTION "tvm.rpc.server.GetCRTMaxPacketSize"

/* bytes of a copy packet besides its data, for a record of one dimension */
#define OVERHEAD (44 + 8)

/*
 * block size of copies to Tenon's own server: large, but other requests do not wait long behind one
 */
#define OWN_BLOCK (UINT64_C(64) << 20)

static int set_block(struct rpc *r)
{
	const struct wire_value *v = r->reply.values;

	if (r->reply.count != 2 || v[1].kind != WIRE_INT || v[1].as.integer <= OVERHEAD)
		return rpc_fail(r,
				tenon_error(-TENON_E_FORMAT,
					    "%s: " BLOCK_FUNCTION " returned no integer above %d",
					    r->address, OVERHEAD));
	r->block = (uint64_t)v[1].as.integer - OVERHEAD;
	return 0;
}

/* TVM's client asks before each copy where the function is missing; its absence does not change. */
static int ask_block(struct rpc *r)
{
	uint64_t handle;
	int err;

	if (r->block_known)
		return 0;
	if (r->pipelined) {
		r->block = OWN_BLOCK;
		r->block_known = true;
		return 0;
	}
	err = rpc_global(r, BLOCK_FUNCTION, &handle);
	if (!err && handle)
		err = rpc_request(r, PACKET_CALL, handle, NULL, 0);
	if (!err && handle)
		err = set_block(r);
	r->block_known = !err;
	return err;
}

static struct wire_tensor record(DLDevice there, uint64_t handle, uint64_t offset, uint64_t size)
{
	return (struct wire_tensor){
		.data = handle,
		.device = there,
		.dtype = { kDLUInt, 8, 1 },
		.ndim = 1,
		.shape = { (int64_t)size },
		.byte_offset = offset,
	};
}

static uint64_t block_of(const struct rpc *r, uint64_t left)
{
	return r->block && r->block < left ? r->block : left;
}

int rpc_put(struct rpc *r, DLDevice there, uint64_t handle, uint64_t offset, const void *host,
	    uint64_t size)
{
	struct wire_tensor t;
	uint64_t at, n;
	int err = ask_block(r);

	for (at = 0; at < size && !err; at += n) {
		n = block_of(r, size - at);
		t = record(there, handle, offset + at, n);
		err = rpc_copy_to(r, &t, (const char *)host + at, n);
	}
	return err;
}

int rpc_get(struct rpc *r, DLDevice there, uint64_t handle, uint64_t offset, void *host,
	    uint64_t size)
{
	struct wire_tensor t;
	uint64_t at, n;
	int err = ask_block(r);

	for (at = 0; at < size && !err; at += n) {
		n = block_of(r, size - at);
		t = record(there, handle, offset + at, n);
		err = rpc_copy_from(r, &t, (char *)host + at, n);
	}
	return err;
}
