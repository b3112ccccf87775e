/* SPDX-License-Identifier: MIT */
/* Damaged register commands: what is accepted stays in its regions. A second look tells, which shares no code with the check. */
#include <stdlib.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/rocket/rocket_device.h"
#include "tests/npu/rocket_stream.h"
#include "tests/unit/suite.h"

static uint64_t random_state;

static uint32_t any(uint32_t bound)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(random_state >> 33) % bound;
}

/* a task as it was found: where registers of addresses lead, and values of all */
struct seen {
	uint32_t value[0x8000 / 4];
	int region[0x8000 / 4];
	uint64_t offset[0x8000 / 4];
};

static uint32_t seen_value(const struct seen *t, unsigned int at)
{
	return t->value[at / 4];
}

/* Each atom that the DPU writes, by both ways to read its groups. */
static void look_at_results(const struct seen *t, const struct cmdstream *s)
{
	static const uint8_t bytes[] = { 1, 2, 2, 2, 4, 4 };
	const uint32_t channel = seen_value(t, 0x403c), ow = seen_value(t, 0x4050);
	const uint32_t notch = seen_value(t, 0x4038);
	const uint64_t width = (seen_value(t, 0x4030) & 0x1fff) + 1;
	const uint64_t height = (seen_value(t, 0x4034) & 0x1fff) + 1;
	uint64_t channels = channel & 0x1fff, gap = notch & 0x1fff, group = ow >> 2 & 7, last, k;
	const uint64_t size = s->regions[t->region[0x4020 / 4]].size;

	assert_in_range(seen_value(t, 0x4010) >> 29, 0, 5);
	if ((channel >> 16 & 0x1fff) > channels)
		channels = channel >> 16 & 0x1fff;
	if ((notch >> 16 & 0x1fff) > gap)
		gap = notch >> 16 & 0x1fff;
	if ((ow >> 5 & 7) < group)
		group = ow >> 5 & 7;
	if ((ow >> 8 & 7) < group)
		group = ow >> 8 & 7;
	group++;
	last = (height - 1) * (width + gap) * 16 + width * 16 + t->offset[0x4020 / 4];
	for (k = 0; k * 16 < (channels + 1) * bytes[seen_value(t, 0x4010) >> 29]; k++) {
		assert_true(last + k * seen_value(t, 0x4024) <= size);
		assert_true(k < group || last + k / group * (uint64_t)seen_value(t, 0x40c0) +
							 k % group * seen_value(t, 0x4024) <=
						 size);
	}
}

static bool is_address(unsigned int at)
{
	static const uint16_t all[] = { 0x1070, 0x1110, 0x4020, 0x5018, 0x5020,
					0x502c, 0x5038, 0x6070, 0x701c };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] == at)
			return true;
	return false;
}

static void look_at_word(struct seen *t, const struct cmdstream *s,
			 const struct cmdstream_kernel *k, uint64_t at)
{
	const uint8_t *b = (const uint8_t *)s->code.data + k->offset + at;
	const unsigned int target = b[6] | b[7] << 8, place = b[0] | b[1] << 8;
	const uint32_t value = b[2] | b[3] << 8 | b[4] << 16 | (uint32_t)b[5] << 24;
	struct tenon_cmdstream_relocation r;
	const bool relocated = cmdstream_relocation_at(s, k, at + 2, &r);

	if (target == ROCKET_TARGET_ENABLE) {
		assert_int_equal(value & ~(uint32_t)ROCKET_UNITS, 0);
		/* results that go to memory */
		if (seen_value(t, 0x400c) & 4)
			look_at_results(t, s);
		return;
	}
	assert_in_range(place, 0, 0x7fff);
	t->value[place / 4] = value;
	if (!relocated) {
		assert_true(!is_address(place) || !value);
		return;
	}
	assert_true(is_address(place) && r.width == 4);
	assert_true(r.region < s->region_count && r.addend <= s->regions[r.region].size);
	t->region[place / 4] = (int)r.region;
	t->offset[place / 4] = r.addend;
	if (place == 0x4020 || place == 0x6070)
		assert_true(s->regions[r.region].access & TENON_REGION_WRITE);
}

/* Return: whether it was accepted. */
static bool look_again(const struct tenon_buffer *b)
{
	static struct seen t;
	struct tenon_cursor c = tenon_cursor_of(b->data, b->size, "payload", 0);
	struct cmdstream_kernel k;
	struct cmdstream s;
	uint64_t at;

	if (rocket_check(b)) {
		tenon_error_clear();
		return false;
	}
	assert_int_equal(cmdstream_read(&c, &s), 0);
	assert_int_equal(cmdstream_kernel(&s, 0, &k), 0);
	memset(&t, 0, sizeof(t));
	for (at = 0; at < k.size; at += ROCKET_WORD)
		look_at_word(&t, &s, &k, at);
	return true;
}

#define CORRUPTIONS 20000
#define CHANGES	    3

/* Bytes anywhere, or fields of words and tables, which more often leave what a check accepts. */
static void corrupt(struct tenon_buffer *b)
{
	unsigned int changes = 1 + any(CHANGES);
	size_t at;

	while (changes--) {
		at = any((uint32_t)b->size);
		if (any(2))
			at = at / 8 * 8 + 2 + any(2);
		if (at < b->size)
			b->data[at] =
				(char)(any(4) ? any(256) : (uint8_t)b->data[at] ^ 1u << any(8));
	}
}

static void what_is_accepted_stays_in_its_regions(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	unsigned int i, accepted = 0;
	char *whole;

	(void)state;
	assert_int_equal(sample_stream(2, &b), 0);
	whole = malloc(b.size);
	memcpy(whole, b.data, b.size);
	for (i = 0; i < CORRUPTIONS; i++) {
		random_state = i;
		memcpy(b.data, whole, b.size);
		corrupt(&b);
		accepted += look_again(&b);
	}
	print_message("%u of %d accepted\n", accepted, CORRUPTIONS);
	assert_in_range(accepted, CORRUPTIONS / 100, CORRUPTIONS / 2);
	free(whole);
	tenon_buffer_fini(&b);
}

/* Each byte of a payload changed: no answer but a clean one. */
static void damaged_payloads_are_read_without_harm(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x10, 0x80, 0xff };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	unsigned int refused = 0;
	size_t i, k;

	(void)state;
	assert_int_equal(sample_stream(2, &b), 0);
	for (i = 0; i < b.size; i++)
		for (k = 0; k < sizeof(changes); k++) {
			b.data[i] ^= (char)changes[k];
			refused += rocket_check(&b) != 0;
			tenon_error_clear();
			b.data[i] ^= (char)changes[k];
		}
	assert_int_equal(rocket_check(&b), 0);
	print_message("%u of %zu refused\n", refused, b.size * sizeof(changes));
	assert_true(refused > b.size);
	tenon_buffer_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_payloads_are_read_without_harm),
		cmocka_unit_test(what_is_accepted_stays_in_its_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
