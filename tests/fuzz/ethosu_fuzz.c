/* SPDX-License-Identifier: MIT */
/*
 * The bytes are a driver payload of Ethos-U, or a .npz file or parts with one; an accepted stream must need exactly the extents that are reported, and runs on
 * the functional model, with each region in memory of exactly its size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/uapi/ethosu_parts.h>

#include "devices/ethosu/ethosu_container.h"
#include "devices/ethosu/ethosu_linux.h"
#include "devices/ethosu/ethosu_sim.h"
#include "lib/file_map.h"
#include "tests/fuzz/fuzz.h"

/* streams with more memory, or more work, are not run */
#define MEMORY_MOST 65536U
#define WORK_MOST   (1 << 20)

const size_t fuzz_memory_at_all = 1 << 24;
/* the work of a stream bounds its memory, and not its size */
const bool fuzz_may_ask_for_memory = true;

static int check(const struct ethosu_payload *p, const uint64_t *sizes, struct ethosu_extents *e)
{
	struct tenon_cursor c =
		tenon_cursor_of(p->stream.data, p->stream.size, "stream", p->stream_at);

	return ethosu_check(c, &p->target, sizes, e);
}

/* The kernel's rules read any stream, also those that are refused here. */
static void check_by_linux(const struct ethosu_payload *p)
{
	struct tenon_cursor c =
		tenon_cursor_of(p->stream.data, p->stream.size, "stream", p->stream_at);
	struct ethosu_linux_extents e;
	int generation;

	for (generation = 0; generation <= ETHOSU_LINUX_LAST; generation++)
		fuzz_check(ethosu_linux_check(c, &p->target, (enum ethosu_linux)generation, &e));
}

/* The extents suffice, and one byte less of any does not. */
static void hold_to(const struct ethosu_payload *p, const struct ethosu_extents *found)
{
	uint64_t sizes[ETHOSU_REGIONS];
	struct ethosu_extents e;
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++)
		sizes[i] = found->read[i] > found->write[i] ? found->read[i] : found->write[i];
	if (check(p, sizes, &e))
		abort();
	for (i = 0; i < ETHOSU_REGIONS; i++) {
		if (!sizes[i])
			continue;
		sizes[i]--;
		if (!check(p, sizes, &e))
			abort();
		tenon_error_clear();
		sizes[i]++;
	}
}

static void run(const struct ethosu_payload *p, const struct ethosu_extents *found)
{
	struct tenon_cursor c =
		tenon_cursor_of(p->stream.data, p->stream.size, "stream", p->stream_at);
	struct ethosu_memory memory = { { NULL }, { 0 } };
	uint64_t total = 0;
	unsigned int i;
	int err;

	for (i = 0; i < ETHOSU_REGIONS; i++) {
		memory.size[i] =
			found->read[i] > found->write[i] ? found->read[i] : found->write[i];
		total += memory.size[i];
	}
	if (total > MEMORY_MOST)
		return;
	for (i = 0; i < ETHOSU_REGIONS; i++)
		memory.base[i] = calloc(1, (size_t)memory.size[i]);
	err = ethosu_sim_run(c, &p->target, &memory, WORK_MOST, NULL);
	/* an access that the check did not see */
	if (err == -TENON_E_USAGE)
		abort();
	tenon_error_clear();
	for (i = 0; i < ETHOSU_REGIONS; i++)
		free(memory.base[i]);
}

/* ---- .npz files: their checksums would refuse nearly all damage */

#define ENTRY 30 /* bytes of its header without names */

static uint32_t word_at(const uint8_t *at, unsigned int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static uint32_t checksum(const uint8_t *at, size_t size)
{
	uint32_t crc = UINT32_MAX;
	int i;

	for (; size--; at++)
		for (crc ^= *at, i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	return ~crc;
}

/* Correct the checksums of the entries, as far as these can be found. */
static void mend(uint8_t *data, size_t size)
{
	size_t at = 0, from, length, i;
	uint32_t crc;

	while (size - at >= ENTRY && word_at(data + at, 4) == 0x04034b50) {
		from = at + ENTRY + word_at(data + at + 26, 2) + word_at(data + at + 28, 2);
		length = word_at(data + at + 18, 4);
		/* numpy writes sizes of 64 bits, behind the name */
		if (length == UINT32_MAX && from <= size && from >= 8)
			length = word_at(data + from - 8, 4);
		if (from > size || length > size - from)
			return;
		crc = checksum(data + from, length);
		for (i = 0; i < 4; i++)
			data[at + 14 + i] = (uint8_t)(crc >> 8 * i);
		at = from + length;
	}
}

static int read_container(const uint8_t *data, size_t size)
{
	struct ethosu_container contents;
	struct ethosu_extents e;
	uint8_t *copy = malloc(size ? size : 1);
	struct tenon_cursor c;
	int err;

	if (!copy)
		return -TENON_E_NOMEM;
	memcpy(copy, data, size);
	mend(copy, size);
	c = tenon_cursor_of(copy, size, "npz", 0);
	err = ethosu_container_read(&c, &contents);
	if (!err)
		err = ethosu_container_check(&contents, "npz", &e);
	free(copy);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_cursor c = tenon_cursor_of(data, size, "payload", 0);
	struct ethosu_extents e;
	struct ethosu_payload p;
	int err;

	if (size && (*data == 'P' || *data == *TENON_ETHOSU_PARTS)) {
		fuzz_check(read_container(data, size));
		return 0;
	}
	err = ethosu_payload_read(&c, &p);
	if (!err) {
		check_by_linux(&p);
		err = check(&p, NULL, &e);
	}
	if (!err) {
		hold_to(&p, &e);
		run(&p, &e);
	}
	fuzz_check(err);
	return 0;
}

static struct tenon_slice file(const char *name)
{
	const char *source = getenv("TENON_SOURCE");
	struct tenon_slice bytes;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/ethosu/data/%s", source ? source : ".", name);
	if (file_map_open(path, &bytes))
		abort();
	return bytes;
}

/* What a .npz file has, as parts */
static void put_parts(const struct ethosu_container *c, struct tenon_slice payload,
		      struct tenon_buffer *out)
{
	const struct tenon_slice *f;
	unsigned int role, i;

	tenon_buffer_append(out, TENON_ETHOSU_PARTS, sizeof(TENON_ETHOSU_PARTS) - 1);
	tenon_buffer_u64(out, c->constant_region);
	tenon_buffer_u64(out, 1);
	tenon_buffer_u64(out, c->sizes[1]);
	for (i = 0; i < 2; i++)
		tenon_buffer_u64(out, 0);
	for (role = ETHOSU_INPUT; role <= ETHOSU_OUTPUT; role++) {
		f = c->fields[role];
		tenon_buffer_u64(out, c->counts[role]);
		for (i = 0; i < ETHOSU_FIELDS; i++)
			tenon_buffer_slice(out, f[i]);
	}
	tenon_buffer_u64(out, payload.size);
	tenon_buffer_slice(out, payload);
	tenon_buffer_u64(out, c->constants.size);
}

static void visit_parts(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
			void *context)
{
	struct tenon_slice npz = file("u55_avgpool/u55.npz"),
			   payload = file("u55_avgpool/payload.bin");
	struct tenon_cursor c = tenon_cursor_of(npz.data, npz.size, "npz", 0);
	struct tenon_buffer parts = TENON_BUFFER_INIT;
	struct ethosu_container contents;

	if (ethosu_container_read(&c, &contents))
		abort();
	put_parts(&contents, payload, &parts);
	/* it is whole: a seed that were refused at once would prove nothing */
	if (parts.status || read_container((const uint8_t *)parts.data, parts.size))
		abort();
	visit(context, "parts", (struct tenon_slice){ parts.data, parts.size });
	tenon_buffer_fini(&parts);
	file_map_close(&npz);
	file_map_close(&payload);
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const char *const names[] = { "u55_avgpool/payload.bin", "u65_add2_cop2/payload.bin",
					     "u65_conv1x1/payload.bin" };
	struct tenon_slice bytes;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bytes = file(names[i]);
		visit(context, names[i], bytes);
		file_map_close(&bytes);
	}
	visit_parts(visit, context);
}

/* Larger files are for campaigns: editing each of their bytes would take too long. */
void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	struct tenon_slice bytes = file("u65_conv1x1/u65.npz");

	visit(context, bytes);
	file_map_close(&bytes);
}
