/* SPDX-License-Identifier: MIT */
/* Answer accesses to the registers of an Ethos-U, and run what they start. */
#include "tests/npu/npu_registers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devices/ethosu/ethosu_sim.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

#define NODE   "/dev/uio0"
#define BUFFER "/dev/udmabuf0"

/* in the file of the node, each map has room of its own; in the kernel its number stands for a page */
#define MAP_ROOM 0x100000

/* registers, as numbers of words */
enum {
	ID,
	STATUS,
	CMD,
	RESET,
	QBASE,
	QREAD = 6,
	QSIZE = 8,
	PROT,
	CONFIG,
	REGIONCFG = 15,
	BASEP = 32,
	WORDS = 48
};

#define RUNNING 0x001u
#define RAISED	0x002u
#define RESETS	0x008u
#define END	0x020u
#define BUS_M1	0x2804u /* bus, AXI M1, channel 2 */
#define PARSE	0x010u
#define WEIGHTS 0x080u
#define ECC	0x100u

struct npu_registers npu_registers;

static volatile uint32_t *registers;
static struct {
	uint64_t address;
	uint64_t size;
	uint8_t *base;
} memories[2];
static bool masked;
static bool stray; /* another device has raised the line */
static uint32_t taken;
static unsigned int stuck;

/* ---- the device */

static enum npu_end end_of(unsigned int nth)
{
	return nth < npu_registers.end_count ? npu_registers.ends[nth] : NPU_END_DONE;
}

static uint8_t *at(uint64_t address, uint64_t *left)
{
	unsigned int i;

	assert_int_equal(address % 16, 0);
	for (i = 0; i < 2; i++)
		if (address >= memories[i].address &&
		    address - memories[i].address < memories[i].size) {
			*left = memories[i].size - (address - memories[i].address);
			return memories[i].base + (address - memories[i].address);
		}
	fail_msg("address 0x%llx is no memory", (unsigned long long)address);
	return NULL;
}

static uint64_t address_in(unsigned int word)
{
	return registers[word] | (uint64_t)registers[word + 1] << 32;
}

static void note(uint64_t address)
{
	if (address < npu_registers.first)
		npu_registers.first = address;
}

static void compute(void)
{
	const struct ethosu_target target = { npu_registers.config, npu_registers.id };
	struct ethosu_memory memory = { { NULL }, { 0 } };
	uint64_t left = 0, address = address_in(QBASE);
	const uint8_t *stream = at(address, &left);
	unsigned int i;

	npu_registers.first = address;
	npu_registers.ports = registers[REGIONCFG];
	assert_in_range(registers[QSIZE], 4, left);
	for (i = 0; i < 8; i++) {
		address = address_in(BASEP + 2 * i);
		if (!address)
			continue;
		memory.base[i] = at(address, &memory.size[i]);
		note(address);
	}
	if (ethosu_sim_run(tenon_cursor_of(stream, registers[QSIZE], "job", 0), &target, &memory, 0,
			   NULL))
		fail_msg("a job failed: %s", tenon_error_message());
}

static void run(void)
{
	static const uint32_t status[] = {
		[NPU_END_DONE] = RAISED | END,
		[NPU_END_SILENT] = RAISED | END,
		[NPU_END_STRAY] = RUNNING,
		[NPU_END_HANGS] = RUNNING,
		[NPU_END_BUS] = RAISED | BUS_M1,
		[NPU_END_PARSE] = RAISED | PARSE,
		[NPU_END_WEIGHTS] = RAISED | WEIGHTS | END,
		[NPU_END_ECC] = RAISED | ECC | END,
		[NPU_END_EARLY] = RAISED,
		[NPU_END_VANISHES] = UINT32_MAX,
	};
	const enum npu_end end = end_of(npu_registers.jobs++);

	assert_int_equal(registers[STATUS] & (RUNNING | RESETS), 0);
	/* without a call between the runs, the model cannot see that it was cleared */
	assert_true(!npu_registers.has_interrupt || !(registers[STATUS] & RAISED));
	if (end <= NPU_END_STRAY)
		compute();
	registers[QREAD] = end <= NPU_END_STRAY ? registers[QSIZE] : 8;
	registers[STATUS] = status[end];
	stray = end == NPU_END_STRAY;
	if (end == NPU_END_SILENT)
		masked = true;
}

static void reset(void)
{
	unsigned int i;

	npu_registers.resets++;
	assert_int_equal(registers[RESET], 2);
	for (i = 0; i < WORDS; i++)
		registers[i] = 0;
	if (stuck) {
		stuck--;
		registers[STATUS] = RESETS;
		return;
	}
	registers[ID] = npu_registers.id;
	registers[CONFIG] = npu_registers.config;
	registers[PROT] = npu_registers.is_secure ? 0 : 2;
}

/* Look at what was written, and let the kernel see the interrupt line. */
static void look(void)
{
	uint32_t command = registers[CMD];

	if (registers[STATUS] == UINT32_MAX)
		return;
	registers[CMD] = 0;
	if (registers[RESET]) {
		reset();
		command = 0;
	}
	if (command & 2)
		registers[STATUS] &= ~RAISED;
	if (command & 1)
		run();
	if (!masked && npu_registers.has_interrupt && (stray || registers[STATUS] & RAISED)) {
		masked = true;
		npu_registers.counted++;
	}
}

/* ---- system calls */

static bool is(int fd, const char *path)
{
	const char *name = path_of(fd);

	return strlen(name) > strlen(path) && !strcmp(name + strlen(name) - strlen(path), path);
}

static ssize_t fake_read(int fd, void *bytes, size_t size)
{
	if (!is(fd, NODE))
		return read(fd, bytes, size);
	assert_int_equal(size, 4);
	errno = npu_registers.has_interrupt ? EAGAIN : EIO;
	if (!npu_registers.has_interrupt || npu_registers.counted == taken)
		return -1;
	taken = npu_registers.counted;
	memcpy(bytes, &taken, 4);
	return 4;
}

static ssize_t fake_write(int fd, const void *bytes, size_t size)
{
	int32_t on;

	if (!is(fd, NODE))
		return write(fd, bytes, size);
	errno = EIO;
	if (!npu_registers.has_interrupt)
		return -1;
	look();
	memcpy(&on, bytes, 4);
	masked = !on;
	/* the other device has been served by then, and the job ends */
	if (stray)
		registers[STATUS] = RAISED | END;
	stray = false;
	look();
	return (ssize_t)size;
}

/* Deadlines pass at once. */
static int fake_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	(void)timeout;
	assert_int_equal(count, 1);
	look();
	if (polled->fd < 0)
		return 0;
	assert_true(is(polled->fd, NODE));
	return !npu_registers.has_interrupt || npu_registers.counted != taken;
}

static void *fake_mmap(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (is(fd, NODE)) {
		assert_int_equal(offset % sysconf(_SC_PAGESIZE), 0);
		offset = offset / sysconf(_SC_PAGESIZE) * MAP_ROOM;
	}
	return mmap(start, size, protection, flags, fd, offset);
}

static int fake_open(const char *path, int flags)
{
	return system_calls_of_kernel.open(path, flags);
}

static int fake_close(int fd)
{
	return close(fd);
}

static int fake_madvise(void *start, size_t size, int advice)
{
	return madvise(start, size, advice);
}

static int fake_flock(int fd, int operation)
{
	return system_calls_of_kernel.flock(fd, operation);
}

const struct system_calls npu_registers_calls = {
	.open = fake_open,
	.close = fake_close,
	.mmap = fake_mmap,
	.munmap = munmap,
	.madvise = fake_madvise,
	.read = fake_read,
	.write = fake_write,
	.ppoll = fake_ppoll,
	.flock = fake_flock,
};

/* ---- files */

static void *map(const char *name, size_t size)
{
	char path[600];
	void *base;
	int fd;

	tree_zeroes(name, size);
	snprintf(path, sizeof(path), "%s%s", tree, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(base != MAP_FAILED);
	close(fd);
	return base;
}

static void tree_number(const char *path, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%llx\n", (unsigned long long)number);
	tree_text(path, text);
}

static void describe(void)
{
	tree_text("/sys/class/uio/uio0/name", "npu\n");
	tree_number("/sys/class/uio/uio0/event", 0);
	tree_text("/sys/class/uio/uio0/maps/map0/name", "registers\n");
	tree_number("/sys/class/uio/uio0/maps/map0/addr", 0x43c00000);
	tree_number("/sys/class/uio/uio0/maps/map0/size", 0x1000);
	tree_text("/sys/class/uio/uio0/maps/map1/name", "memory\n");
	tree_number("/sys/class/uio/uio0/maps/map1/addr", NPU_REGISTERS_MEMORY);
	tree_number("/sys/class/uio/uio0/maps/map1/size", NPU_REGISTERS_MEMORY_SIZE);
	tree_number("/sys/class/u-dma-buf/udmabuf0/phys_addr", NPU_REGISTERS_BUFFER);
	tree_number("/sys/class/u-dma-buf/udmabuf0/size", NPU_REGISTERS_BUFFER_SIZE);
}

void npu_registers_start(void)
{
	uint8_t *node;

	npu_registers_stop();
	npu_registers = (struct npu_registers){ .id = 0x10066001,
						.config = 0x10003008,
						.has_interrupt = true };
	describe();
	node = map(NODE, 2 * MAP_ROOM);
	registers = (volatile uint32_t *)(volatile void *)node;
	memories[0].address = NPU_REGISTERS_MEMORY;
	memories[0].size = NPU_REGISTERS_MEMORY_SIZE;
	memories[0].base = node + MAP_ROOM;
	memories[1].address = NPU_REGISTERS_BUFFER;
	memories[1].size = NPU_REGISTERS_BUFFER_SIZE;
	memories[1].base = map(BUFFER, NPU_REGISTERS_BUFFER_SIZE);
	/* what an earlier user left */
	memset(memories[0].base, 0xa7, NPU_REGISTERS_MEMORY_SIZE);
	memset(memories[1].base, 0xa7, NPU_REGISTERS_BUFFER_SIZE);
	masked = stray = false;
	taken = 0;
	npu_registers_power();
}

void npu_registers_power(void)
{
	stuck = npu_registers.stuck_resets;
	registers[ID] = npu_registers.id;
	registers[CONFIG] = npu_registers.config;
	registers[STATUS] = 0;
}

uint8_t *npu_registers_memory(void)
{
	return memories[0].base;
}

void npu_registers_raise(void)
{
	registers[STATUS] = RAISED | END;
}

bool npu_registers_is_raised(void)
{
	look();
	return registers[STATUS] & RAISED;
}

void npu_registers_stop(void)
{
	if (registers)
		munmap((void *)(uintptr_t)registers, 2 * MAP_ROOM);
	if (memories[1].base)
		munmap(memories[1].base, NPU_REGISTERS_BUFFER_SIZE);
	registers = NULL;
	memories[1].base = NULL;
}
