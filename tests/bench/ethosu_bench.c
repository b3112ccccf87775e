/* SPDX-License-Identifier: MIT */
/*
 * Ethos-U: bytes of command streams that the check reads in a second, and products and elements that the functional
 * model computes. Time is that of the processor, on one core. What a submission costs, and the
 * bytes that a run copies, are told by tests/npu/accel_memory_test and npu_place_test, beside the kernel's model.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tenon/tenon.h>

#include "devices/ethosu/ethosu_sim.h"

#define FILE_MOST   65536
#define REGION_MOST 65536
#define LEAST_NS    (UINT64_C(50) * 1000000)

static uint8_t file[FILE_MOST], memories[ETHOSU_REGIONS][REGION_MOST];
static struct ethosu_payload payload;
static struct ethosu_extents extents;
static struct ethosu_memory memory;

static uint64_t processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static size_t read_file(const char *folder, const char *name, uint8_t *to)
{
	const char *source = getenv("TENON_SOURCE");
	char path[512];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/ethosu/data/%s/%s", source ? source : ".", folder,
		 name);
	f = fopen(path, "rb");
	if (!f)
		return 0;
	size = fread(to, 1, FILE_MOST, f);
	fclose(f);
	return size;
}

static struct tenon_cursor stream(void)
{
	return tenon_cursor_of(payload.stream.data, payload.stream.size, "bench", 0);
}

static int check(void)
{
	return ethosu_check(stream(), &payload.target, NULL, &extents);
}

static int model(uint64_t work)
{
	return ethosu_sim_run(stream(), &payload.target, &memory, work, NULL);
}

static int load(const char *folder, const char *name)
{
	struct tenon_cursor c;
	unsigned int i;
	int err;

	c = tenon_cursor_of(file, read_file(folder, name, file), folder, 0);
	err = ethosu_payload_read(&c, &payload);
	if (!err)
		err = check();
	if (err)
		return err;
	memset(memories, 0, sizeof(memories));
	(void)read_file(folder, "constants.bin", memories[0]);
	for (i = 0; i < ETHOSU_REGIONS; i++) {
		memory.base[i] = memories[i];
		memory.size[i] =
			extents.read[i] > extents.write[i] ? extents.read[i] : extents.write[i];
	}
	return 0;
}

/* The least limit that lets the stream end is what it computes. */
static uint64_t find_work(void)
{
	uint64_t low = 0, high = UINT64_C(1) << 32;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (model(middle))
			low = middle;
		else
			high = middle;
	}
	tenon_error_clear();
	return high;
}

static int run_model(void)
{
	return model(0);
}

/* Nanoseconds of a call, over as many as take LEAST_NS. */
static double time_of(int (*function)(void))
{
	uint64_t start = processor_time(), passed, calls = 0;

	do {
		if (function())
			return 0;
		calls++;
		passed = processor_time() - start;
	} while (passed < LEAST_NS);
	return (double)passed / (double)calls;
}

static void report(const char *folder, const char *name)
{
	double checked, ran;
	uint64_t work;

	if (load(folder, name)) {
		printf("# %s: %s\n", folder, tenon_error_message());
		return;
	}
	checked = time_of(check);
	printf("%-16s check %8.0f ns for %5zu bytes: %6.0f MB/s\n", folder, checked,
	       payload.stream.size, (double)payload.stream.size * 1000 / checked);
	if (run_model()) {
		printf("# %s: %s\n", folder, tenon_error_message());
		return;
	}
	work = find_work();
	ran = time_of(run_model);
	printf("%-16s model %8.0f ns for %7" PRIu64 " products and elements: %6.1f million/s\n",
	       folder, ran, work, (double)work * 1000 / ran);
}

int main(void)
{
	report("u55_avgpool", "payload.bin");
	report("u65_add2_cop2", "payload.bin");
	report("u65_conv1x1", "payload.bin");
	report("u65_softmax_mix", "payload.bin");
	/* the constants of this one are in its .tflite file alone, so it is checked and does not run */
	report("u85_residual", "payload.bin");
	/* its tables are zeros here, which takes as long */
	report("small", "u85_tables.bin");
	return 0;
}
