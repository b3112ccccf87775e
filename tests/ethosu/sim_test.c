/* SPDX-License-Identifier: MIT */
/*
 * The functional model on networks that a compiler made: outputs are those of the reference kernels, byte for byte, and
 * what is touched is what the check says.
 */
#include "tests/unit/suite.h"

#include <stdlib.h>

#include "devices/ethosu/ethosu_sim.h"
#include "devices/ethosu/ethosu_weights.h"
#include "tests/npu/networks.h"

/* A run: its payload, and regions of exactly their size. */
struct run {
	uint8_t payload[FILE_MOST];
	struct ethosu_payload p;
	struct ethosu_memory memory;
};

static void put(struct run *r, const struct network *n, const struct place *place)
{
	static uint8_t bytes[FILE_MOST];
	size_t size = network_file(n->folder, place->file, bytes);

	assert_true(place->offset + size <= n->sizes[place->region]);
	memcpy(r->memory.base[place->region] + place->offset, bytes, size);
}

static void begin(struct run *r, const struct network *n)
{
	size_t i, size = network_file(n->folder, n->payload, r->payload);
	struct tenon_cursor c = tenon_cursor_of(r->payload, size, "payload", 0);

	assert_int_equal(ethosu_payload_read(&c, &r->p), 0);
	for (i = 0; i < ETHOSU_REGIONS; i++) {
		r->memory.size[i] = n->sizes[i];
		r->memory.base[i] = malloc((size_t)n->sizes[i]);
		if (n->sizes[i])
			memset(r->memory.base[i], 0xa5, (size_t)n->sizes[i]);
	}
	if (n->constants)
		put(r, n, &(struct place){ n->constants, 0, 0 });
	for (i = 0; i < IO_MOST && n->inputs[i].file; i++)
		put(r, n, &n->inputs[i]);
}

static int run_it(struct run *r, struct ethosu_extents *touched)
{
	return ethosu_sim_run(
		tenon_cursor_of(r->p.stream.data, r->p.stream.size, "stream", r->p.stream_at),
		&r->p.target, &r->memory, 0, touched);
}

static void end(struct run *r)
{
	size_t i;

	for (i = 0; i < ETHOSU_REGIONS; i++)
		free(r->memory.base[i]);
}

static void assert_output(const struct run *r, const struct network *n, const struct place *place)
{
	static uint8_t want[FILE_MOST];
	size_t size = network_file(n->folder, place->file, want);

	assert_memory_equal(r->memory.base[place->region] + place->offset, want, size);
}

static void outputs_are_those_of_the_reference_kernels(void **state)
{
	static struct run r;
	struct ethosu_extents touched, extents;
	size_t i, k;

	(void)state;
	for (i = 0; i < NETWORKS; i++) {
		begin(&r, &networks[i]);
		if (run_it(&r, &touched))
			fail_msg("%s: %s", networks[i].folder, tenon_error_message());
		for (k = 0; k < IO_MOST && networks[i].outputs[k].file; k++)
			assert_output(&r, &networks[i], &networks[i].outputs[k]);
		assert_int_equal(
			ethosu_check(tenon_cursor_of(r.p.stream.data, r.p.stream.size, "", 0),
				     &r.p.target, NULL, &extents),
			0);
		assert_memory_equal(touched.read, extents.read, sizeof(touched.read));
		assert_memory_equal(touched.write, extents.write, sizeof(touched.write));
		end(&r);
	}
}

/* ---- streams that are changed */

enum {
	IFM_DEPTH_M1 = 0x104,
	IFM_PRECISION = 0x105,
	IFM_ZERO_POINT = 0x109,
	OFM_WIDTH_M1 = 0x111,
	OFM_HEIGHT_M1 = 0x112,
	OFM_DEPTH_M1 = 0x113,
	OFM_ZERO_POINT = 0x118,
	WEIGHT_REGION = 0x128,
	WEIGHT_LENGTH = 0x4021,
};

/* The command with a code. */
static uint8_t *find(struct run *r, uint32_t code)
{
	uint8_t *at = r->payload + r->p.stream_at, *stop = at + r->p.stream.size;
	uint32_t word;

	for (; at < stop; at += word & 0x4000 ? 8 : 4) {
		memcpy(&word, at, sizeof(word));
		if ((word & 0xffff) == code)
			return at;
	}
	fail_msg("the stream has no command 0x%04x", code);
	return NULL;
}

static void set_parameter(struct run *r, uint32_t code, uint16_t value)
{
	memcpy(find(r, code) + 2, &value, sizeof(value));
}

static void set_word(struct run *r, uint32_t code, uint32_t value)
{
	memcpy(find(r, code) + 4, &value, sizeof(value));
}

static void what_the_check_refuses_does_not_run(void **state)
{
	static struct run r;
	static uint8_t before[2048];

	(void)state;
	begin(&r, &networks[CONVOLUTION]);
	memcpy(before, r.memory.base[1], sizeof(before));
	r.memory.size[0]--;
	assert_int_equal(run_it(&r, NULL), -TENON_E_FORMAT);
	assert_error_has("495");
	assert_memory_equal(r.memory.base[1], before, sizeof(before));
	end(&r);
}

/* Of U85, each of them by its name. */
static void what_the_model_has_not_is_named(void **state)
{
	static const struct network u85 = { .folder = "u85_residual",
					    .payload = "payload.bin",
					    .sizes = { 56368, 18432, 57360 } };
	static const struct {
		uint32_t code;
		uint16_t value;
		const char *message;
	} cases[] = {
		{ 0x124, 0x110, "sums that go on" },	 { 0x124, 0x140, "sums that go on" },
		{ 0x124, 0x700, "a microblock" },	 { 0x114, 0x0241, "reverse order" },
		{ 0x114, 0xc041, "without an output" },	 { 0x12e, 0x0002, "a format of weights" },
		{ 0x122, 0x0020, "in parts of 4 by 4" }, { 0x105, 0x4001, "three tiles" },
	};
	static struct run r;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&r, &u85);
		set_parameter(&r, cases[i].code, cases[i].value);
		err = run_it(&r, NULL);
		assert_error_has(cases[i].message);
		assert_int_equal(err, -TENON_E_UNSUPPORTED);
		end(&r);
	}
}

/* The first operation of a stream reads a chain that nothing wrote. */
static void a_chain_that_nothing_wrote_is_refused(void **state)
{
	static const struct network u85 = { .folder = "u85_residual",
					    .payload = "payload.bin",
					    .sizes = { 56368, 18432, 57360 } };
	static struct run r;

	(void)state;
	begin(&r, &u85);
	set_parameter(&r, 0x105, 0x8001);
	assert_int_equal(run_it(&r, NULL), -TENON_E_FORMAT);
	assert_error_has("chain 1, which no operation computed");
	end(&r);
}

static void weights_that_are_cut_are_refused(void **state)
{
	static struct run r;
	uint32_t length;

	(void)state;
	begin(&r, &networks[CONVOLUTION]);
	/* the stream has 336 bytes, the last of them padding */
	for (length = 16; length + 16 <= 320; length += 16) {
		set_word(&r, WEIGHT_LENGTH, length);
		assert_int_equal(run_it(&r, NULL), -TENON_E_TRUNCATED);
		assert_error_has("core 0: weights");
	}
	end(&r);
}

/* A stream of weights without bytes is not read, so the check does not look at its region. */
static void a_core_without_weights_is_refused(void **state)
{
	static struct run r;

	(void)state;
	begin(&r, &networks[CONVOLUTION]);
	set_word(&r, WEIGHT_LENGTH, 0);
	assert_int_equal(run_it(&r, NULL), -TENON_E_FORMAT);
	assert_error_has("no weights for core 0");
	set_parameter(&r, WEIGHT_REGION, 0xffff);
	assert_int_equal(run_it(&r, NULL), -TENON_E_FORMAT);
	assert_error_has("no weights for core 0");
	end(&r);
}

/* ---- weights alone */

#define BITS_BYTES 98304

struct bits {
	uint8_t bytes[BITS_BYTES];
	size_t at;
};

static void put_bits(struct bits *b, uint32_t value, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++, b->at++)
		b->bytes[b->at / 8] |= (uint8_t)((value >> i & 1) << b->at % 8);
}

/* The header of a slice of values of a width, without a code. */
static void put_raw_header(struct bits *b, uint32_t count, unsigned int width)
{
	put_bits(b, 6, 3);
	put_bits(b, count - 1, 15);
	put_bits(b, 7, 3);
	put_bits(b, 0, 1);
	put_bits(b, 1, 1);
	put_bits(b, 0, 5);
	put_bits(b, 0, 5);
	put_bits(b, width - 2, 3);
}

static int decode(const struct bits *b, size_t size, size_t count, int16_t *out)
{
	/* exactly so many bytes, so that sanitizers see reads behind them */
	char *bytes = malloc(size ? size : 1);
	int err;

	assert_non_null(bytes);
	memcpy(bytes, b->bytes, size);
	err = ethosu_weights_decode((struct tenon_slice){ bytes, size }, count, out);
	free(bytes);
	return err;
}

/* A header of the fast format, with a table of 1, -2, 3 and 0, and values of 2, 4 or 8 bits. */
static void put_fast(struct bits *b, bool raw, bool small, const uint8_t *values)
{
	static const uint16_t table[4] = { 2, 5, 6, 0 };
	unsigned int i;

	put_bits(b, raw, 1);
	put_bits(b, small, 1);
	b->at += 102;
	put_bits(b, raw ? 3 : 0, 8);
	for (i = 0; i < 16; i++)
		put_bits(b, i < 4 ? table[i] : 0, 9);
	for (i = 0; i < 4; i++)
		put_bits(b, values[i], raw ? 8 : small ? 2 : 4);
}

static int decode_fast(const struct bits *b, size_t size, int16_t out[4])
{
	char *bytes = malloc(size ? size : 1);
	int err;

	assert_non_null(bytes);
	memcpy(bytes, b->bytes, size);
	err = ethosu_weights_decode_fast((struct tenon_slice){ bytes, size }, 4, out);
	free(bytes);
	return err;
}

static void weights_in_the_fast_format_are_read(void **state)
{
	static const uint8_t indices[4] = { 3, 1, 0, 2 }, bytes[4] = { 0x80, 0x7f, 0xff, 3 };
	static const int16_t from_table[4] = { 0, -2, 1, 3 }, raw[4] = { -131, 124, -4, 0 };
	unsigned int form;
	int16_t out[4];
	size_t i, size;

	(void)state;
	for (form = 0; form < 3; form++) {
		struct bits b = { .at = 0 };

		put_fast(&b, form == 2, form == 1, form == 2 ? bytes : indices);
		size = b.at / 8;
		assert_int_equal(decode_fast(&b, size, out), 0);
		assert_memory_equal(out, form == 2 ? raw : from_table, sizeof(out));
		for (i = 0; i < size; i++)
			assert_int_equal(decode_fast(&b, i, out), -TENON_E_TRUNCATED);
		assert_error_has("weights: ");
	}
	tenon_error_clear();
}

static void weights_without_a_code_are_read(void **state)
{
	static const int16_t want[] = { 0, 1, -1, 127, -128, 5, 0, -7, 9, 100 };
	const size_t count = sizeof(want) / sizeof(*want);
	struct bits b = { .at = 0 };
	int16_t out[16];
	size_t i, size;

	(void)state;
	put_raw_header(&b, (uint32_t)count, 9);
	for (i = 0; i < count; i++)
		put_bits(&b, (uint32_t)abs(want[i]) << 1 | (want[i] < 0), 9);
	put_bits(&b, 7, 3);
	size = (b.at + 7) / 8;
	assert_int_equal(decode(&b, size, count, out), 0);
	assert_memory_equal(out, want, sizeof(want));
	/* too few, too many */
	assert_int_equal(decode(&b, size, count + 1, out), -TENON_E_TRUNCATED);
	assert_error_has("10 of 11");
	assert_int_equal(decode(&b, size, count - 1, out), -TENON_E_FORMAT);
	assert_error_has("more than the 9");
	for (i = 0; i + 1 < size; i++)
		assert_int_equal(decode(&b, i, count, out), -TENON_E_TRUNCATED);
	tenon_error_clear();
}

static void headers_without_a_meaning_are_refused(void **state)
{
	struct bits b = { .at = 0 };
	int16_t out[4];

	(void)state;
	put_bits(&b, 4, 3);
	assert_int_equal(decode(&b, 64, 4, out), -TENON_E_FORMAT);
	assert_error_has("divisor 4 of zeros");
	b = (struct bits){ .at = 0 };
	put_bits(&b, 6, 3);
	put_bits(&b, 3, 15);
	put_bits(&b, 6, 3);
	put_bits(&b, 2, 2);
	assert_int_equal(decode(&b, 64, 4, out), -TENON_E_FORMAT);
	assert_error_has("divisor 6 of weights");
	b = (struct bits){ .at = 0 };
	put_bits(&b, 6, 3);
	put_bits(&b, 3, 15);
	put_bits(&b, 0, 5);
	assert_int_equal(decode(&b, 64, 4, out), -TENON_E_FORMAT);
	assert_error_has("no palette");
}

/* ---- weights of any size */

#define CODE_WIDTH 5
#define CODE_CHUNK 12

/* a chunk of weights in a Golomb-Rice code */
struct chunk {
	uint32_t first; /* a bit for each position: set where the quotient grows */
	unsigned int grows;
	uint32_t remainders[CODE_CHUNK];
	unsigned int count;
	unsigned int positions;
};

/* Write a chunk, and the remainders of the one before. */
static void put_chunk(struct bits *b, struct chunk *c, struct chunk *before)
{
	unsigned int i;

	put_bits(b, c->first, CODE_CHUNK);
	put_bits(b, (1u << c->grows) - 1, c->grows);
	for (i = 0; i < before->count; i++)
		put_bits(b, before->remainders[i], CODE_WIDTH);
	*before = *c;
	memset(c, 0, sizeof(*c));
}

/* A slice of values, whose quotients are even: each position adds 2, or ends a value. */
static void put_coded(struct bits *b, const uint32_t *values, size_t count)
{
	struct chunk now = { 0 }, before = { 0 };
	uint32_t left;
	size_t i;

	put_bits(b, 6, 3); /* no runs of zeros */
	put_bits(b, (uint32_t)count - 1, 15);
	put_bits(b, CODE_WIDTH, 3);
	put_bits(b, 0, 1);
	put_bits(b, 1, 1); /* a palette, which is empty */
	put_bits(b, 0, 13);
	for (i = 0; i < count;) {
		for (left = values[i] >> CODE_WIDTH; left; left -= 2) {
			now.first |= 1u << now.positions++;
			now.grows++;
			if (now.positions == CODE_CHUNK)
				put_chunk(b, &now, &before);
		}
		now.remainders[now.count++] = values[i++] & ((1u << CODE_WIDTH) - 1);
		if (++now.positions == CODE_CHUNK)
			put_chunk(b, &now, &before);
	}
	put_chunk(b, &now, &before);
	for (i = 0; i < before.count; i++)
		put_bits(b, before.remainders[i], CODE_WIDTH);
	put_bits(b, 7, 3);
}

/* The largest products of a convolution: their sum has 33 bits. */
static void sums_of_large_weights_are_exact(void **state)
{
	enum { INPUTS = 256, UNIT = 8, WEIGHT = 32751, VALUE = 511, SHIFT = 26 };
	static const uint8_t scale[10] = { 0, 0, 0, 0, 0, 1, 0, 0, 0, SHIFT };
	static uint32_t values[INPUTS * UNIT];
	static struct bits b;
	static struct run r;
	size_t i;

	(void)state;
	/* the first of the 8 output channels that run side by side; the sign is the lowest bit */
	for (i = 0; i < INPUTS * UNIT; i++)
		values[i] = i % (UNIT * UNIT) < UNIT ? 2 * WEIGHT : 0;
	put_coded(&b, values, INPUTS * UNIT);
	begin(&r, &networks[CONVOLUTION]);
	free(r.memory.base[0]);
	r.memory.size[0] = 160 + sizeof(b.bytes);
	r.memory.base[0] = calloc(1, (size_t)r.memory.size[0]);
	memcpy(r.memory.base[0], scale, sizeof(scale));
	memcpy(r.memory.base[0] + 160, b.bytes, sizeof(b.bytes));
	memset(r.memory.base[1] + 1024, 0xff, INPUTS);
	set_parameter(&r, IFM_DEPTH_M1, INPUTS - 1);
	set_parameter(&r, IFM_PRECISION, 0);
	set_parameter(&r, IFM_ZERO_POINT, (uint16_t)(255 - VALUE));
	set_parameter(&r, OFM_WIDTH_M1, 0);
	set_parameter(&r, OFM_HEIGHT_M1, 0);
	set_parameter(&r, OFM_DEPTH_M1, 0);
	set_parameter(&r, OFM_ZERO_POINT, 0);
	set_word(&r, WEIGHT_LENGTH, (uint32_t)((b.at + 7) / 8));
	assert_int_equal(run_it(&r, NULL), 0);
	assert_int_equal(r.memory.base[1][0],
			 ((int64_t)INPUTS * VALUE * WEIGHT + (1 << (SHIFT - 1))) >> SHIFT);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_are_those_of_the_reference_kernels),
		cmocka_unit_test(what_the_check_refuses_does_not_run),
		cmocka_unit_test(what_the_model_has_not_is_named),
		cmocka_unit_test(a_chain_that_nothing_wrote_is_refused),
		cmocka_unit_test(weights_that_are_cut_are_refused),
		cmocka_unit_test(a_core_without_weights_is_refused),
		cmocka_unit_test(weights_in_the_fast_format_are_read),
		cmocka_unit_test(weights_without_a_code_are_read),
		cmocka_unit_test(sums_of_large_weights_are_exact),
		cmocka_unit_test(headers_without_a_meaning_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
