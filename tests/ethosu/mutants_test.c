/* SPDX-License-Identifier: MIT */
/*
 * Damaged payloads, and those that chance makes: the check and tests/ethosu/check.py, which shares no code with it, must
 * agree on each of them, on the offset of what is wrong, and on the extents. What they accept runs on the functional model,
 * in memory of exactly these extents: the model computes each address by itself.
 */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "devices/ethosu/ethosu_sim.h"

#define FIELDS 26

static const char *const files[] = {
	"u55_avgpool/payload.bin",	 "u65_add2_cop2/payload.bin",	"u65_conv1x1/payload.bin",
	"u65_cpu_fallback/payload1.bin", "u65_softmax_mix/payload.bin", "u85_residual/payload.bin",
	"small/u85_tables.bin",		 "small/u85_resize.bin",
};

/* a damaged payload, and what check.py says of it */
struct mutant {
	uint64_t size;
	uint64_t limits[ETHOSU_REGIONS];
	uint64_t fault; /* UINT64_MAX for none */
	uint64_t read[ETHOSU_REGIONS];
	uint64_t write[ETHOSU_REGIONS];
};

/* The offset that a message names: "NAME at 0x12: …". */
static uint64_t place_of(const char *message)
{
	const char *at = strstr(message, " at 0x");

	return at ? strtoull(at + 4, NULL, 16) : UINT64_MAX - 1;
}

static uint64_t check(const void *bytes, const struct mutant *m, struct ethosu_extents *e)
{
	struct tenon_cursor c = tenon_cursor_of(bytes, m->size, "mutant", 0);
	struct ethosu_payload p;
	int err;

	err = ethosu_payload_read(&c, &p);
	if (!err) {
		c = tenon_cursor_of(p.stream.data, p.stream.size, "mutant", p.stream_at);
		err = ethosu_check(c, &p.target, m->limits, e);
	}
	return err ? place_of(tenon_error_message()) : UINT64_MAX;
}

/* Damage may let a stream compute for hours. */
#define WORK_MOST (1 << 20)

static void run(size_t index, const struct mutant *m, const void *bytes,
		const struct ethosu_extents *e)
{
	struct tenon_cursor c = tenon_cursor_of(bytes, m->size, "mutant", 0);
	struct ethosu_memory memory = { { NULL }, { 0 } };
	struct ethosu_payload p;
	uint64_t total = 0;
	size_t i;
	int err;

	assert_int_equal(ethosu_payload_read(&c, &p), 0);
	for (i = 0; i < ETHOSU_REGIONS; i++) {
		memory.size[i] = e->read[i] > e->write[i] ? e->read[i] : e->write[i];
		total += memory.size[i];
	}
	if (total > 1 << 20)
		return;
	for (i = 0; i < ETHOSU_REGIONS; i++)
		memory.base[i] = calloc(1, (size_t)memory.size[i]);
	c = tenon_cursor_of(p.stream.data, p.stream.size, "mutant", p.stream_at);
	err = ethosu_sim_run(c, &p.target, &memory, WORK_MOST, NULL);
	if (err == -TENON_E_USAGE)
		fail_msg("mutant %zu: %s", index, tenon_error_message());
	for (i = 0; i < ETHOSU_REGIONS; i++)
		free(memory.base[i]);
}

static void compare(size_t index, const struct mutant *m, const void *bytes)
{
	struct ethosu_extents e;
	uint64_t fault = check(bytes, m, &e);

	if (fault != m->fault)
		fail_msg("mutant %zu: fault at 0x%llx here, at 0x%llx by check.py: %s", index,
			 (unsigned long long)fault, (unsigned long long)m->fault,
			 tenon_error_message());
	if (fault == UINT64_MAX) {
		assert_memory_equal(e.read, m->read, sizeof(e.read));
		assert_memory_equal(e.write, m->write, sizeof(e.write));
		run(index, m, bytes, &e);
	}
	tenon_error_clear();
}

static FILE *start(const char *kind, const char *count, bool with_files)
{
	const char *source = getenv("TENON_SOURCE");
	char command[4096];
	size_t i, n;

	source = source ? source : ".";
	n = (size_t)snprintf(command, sizeof(command),
			     "python3 '%s/tests/ethosu/check.py' %s 16 %s", source, kind, count);
	for (i = 0; with_files && i < sizeof(files) / sizeof(*files); i++)
		n += (size_t)snprintf(command + n, sizeof(command) - n,
				      " '%s/tests/ethosu/data/%s'", source, files[i]);
	return popen(command, "r");
}

static bool read_mutant(FILE *from, struct mutant *m, void **bytes)
{
	uint64_t fields[FIELDS];

	if (fread(fields, sizeof(fields), 1, from) != 1)
		return false;
	m->size = fields[0];
	memcpy(m->limits, fields + 1, sizeof(m->limits));
	m->fault = fields[9];
	memcpy(m->read, fields + 10, sizeof(m->read));
	memcpy(m->write, fields + 18, sizeof(m->write));
	assert_true(m->size < 1 << 20);
	/* exactly the bytes, so that sanitizers see reads behind them */
	*bytes = malloc(m->size ? m->size : 1);
	assert_non_null(*bytes);
	assert_true(!m->size || fread(*bytes, m->size, 1, from) == 1);
	return true;
}

static void compare_all(const char *kind, bool with_files)
{
	const bool full = getenv("FULL") && *getenv("FULL");
	const char *count = full ? "10000" : "1000";
	size_t i = 0, accepted = 0;
	struct mutant m;
	void *bytes;
	FILE *from;

	if (system("python3 -c '' 2>/dev/null")) {
		print_message("python3 is not installed\n");
		skip();
	}
	from = start(kind, count, with_files);
	assert_non_null(from);
	while (read_mutant(from, &m, &bytes)) {
		compare(i++, &m, bytes);
		accepted += m.fault == UINT64_MAX;
		free(bytes);
	}
	assert_int_equal(pclose(from), 0);
	assert_int_equal(i, strtoul(count, NULL, 10));
	/* damage that both always or never see would show nothing */
	assert_in_range(accepted, i / 20, i / 2);
}

static void both_checks_say_the_same_of_damaged_payloads(void **state)
{
	(void)state;
	compare_all("mutants", true);
}

static void both_checks_say_the_same_of_payloads_by_chance(void **state)
{
	(void)state;
	compare_all("streams", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_checks_say_the_same_of_damaged_payloads),
		cmocka_unit_test(both_checks_say_the_same_of_payloads_by_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
