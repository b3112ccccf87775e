/* SPDX-License-Identifier: MIT */
/* Included by fake_cuda.c: copies, fills, and memory that is ordered on a stream. */

EXPORT int cuMemcpyAsync(uint64_t to, uint64_t from, size_t size, cu_stream s)
{
	struct op *o;

	ENTER_CONTEXT("cuMemcpyAsync");
	CHECK(s, STREAM, "cuMemcpyAsync");
	if (!size || !memory_at(to, size) || !memory_at(from, size))
		return CU_INVALID_VALUE;
	o = op_make(OP_COPY);
	o->to = to;
	o->from = from;
	o->size = size;
	return enqueue(s, o);
}

EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *host, size_t size, cu_stream s)
{
	struct op *o;

	ENTER_CONTEXT("cuMemcpyHtoDAsync_v2");
	CHECK(s, STREAM, "cuMemcpyHtoDAsync_v2");
	if (!size || !memory_at(to, size))
		return CU_INVALID_VALUE;
	o = op_make(OP_COPY);
	o->to = to;
	o->host_from = host;
	o->size = size;
	if (!is_pinned(host)) {
		if (size > 65536)
			drain(s);
		o->staged = malloc(size);
		memcpy(o->staged, host, size);
	}
	return enqueue(s, o);
}

EXPORT int cuMemcpyDtoHAsync_v2(void *host, uint64_t from, size_t size, cu_stream s)
{
	struct op *o;

	ENTER_CONTEXT("cuMemcpyDtoHAsync_v2");
	CHECK(s, STREAM, "cuMemcpyDtoHAsync_v2");
	if (!size || !memory_at(from, size))
		return CU_INVALID_VALUE;
	o = op_make(OP_COPY);
	o->host_to = host;
	o->from = from;
	o->size = size;
	enqueue(s, o);
	if (!is_pinned(host))
		drain(s);
	return 0;
}

static int set(uint64_t to, uint32_t value, uint32_t width, size_t count, cu_stream s,
	       const char *name)
{
	struct op *o;

	ENTER_CONTEXT(name);
	CHECK(s, STREAM, name);
	if (!count || to % width || !memory_at(to, count * width))
		return CU_INVALID_VALUE;
	o = op_make(OP_SET);
	o->to = to;
	o->value = value;
	o->width = width;
	o->size = count * width;
	return enqueue(s, o);
}

EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, cu_stream s)
{
	return set(to, value, 1, count, s, "cuMemsetD8Async");
}

EXPORT int cuMemsetD16Async(uint64_t to, unsigned short value, size_t count, cu_stream s)
{
	return set(to, value, 2, count, s, "cuMemsetD16Async");
}

EXPORT int cuMemsetD32Async(uint64_t to, uint32_t value, size_t count, cu_stream s)
{
	return set(to, value, 4, count, s, "cuMemsetD32Async");
}

#ifndef FAKE_OLD
EXPORT int cuMemAllocAsync(uint64_t *out, size_t size, cu_stream s)
{
	ENTER_CONTEXT("cuMemAllocAsync");
	CHECK(s, STREAM, "cuMemAllocAsync");
	return alloc(out, size);
}

EXPORT int cuMemFreeAsync(uint64_t address, cu_stream s)
{
	struct op *o;

	ENTER_CONTEXT("cuMemFreeAsync");
	CHECK(s, STREAM, "cuMemFreeAsync");
	if (!memory_at(address, 1))
		return CU_INVALID_VALUE;
	o = op_make(OP_FREE);
	o->to = address;
	return enqueue(s, o);
}
#endif
