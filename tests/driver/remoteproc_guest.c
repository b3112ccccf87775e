/* SPDX-License-Identifier: MIT */
/*
 * All of the user space of a guest whose kernel has a core behind remoteproc (tests/driver/remoteproc_guest.sh): the room and the
 * board, against the kernel's own core and its driver pru_rproc. Prints TAP on the console, then switches the machine off.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise.h>
#include <time.h>
#include <unistd.h>

#include "driver/board/board.h"
#include "driver/remoteproc/remoteproc.h"
#include "driver/ring/ring.h"
#include "driver/syscall/syscall.h"
#include "lib/clock.h"
#include "tests/driver/remoteproc_core.h"

#define CRASH	  "/sys/kernel/debug/remoteproc/remoteproc0/crash"
#define REGISTERS "/sys/kernel/debug/remoteproc/remoteproc0/regs"
#define IVSHMEM	  "1af4 1110"

static int failures;
static struct remoteproc core;

#define expect(what)                                                                               \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("# %s:%d: %s\n# last error: %s\n", __FILE__, __LINE__, #what,       \
			       tenon_error_message());                                             \
			failures++;                                                                \
			return;                                                                    \
		}                                                                                  \
	} while (0)

static uint64_t soon(void)
{
	return clock_now() + UINT64_C(60000000000);
}

/* A firmware of one segment, which goes to the core's memory for code. */
static bool write_firmware(void)
{
	struct {
		Elf32_Ehdr header;
		Elf32_Phdr segment;
		Elf32_Shdr section;
		uint32_t code[16];
	} file;
	int fd = open("/lib/firmware/core.elf", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	bool good;

	memset(&file, 0, sizeof(file));
	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS32;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_ident[EI_VERSION] = EV_CURRENT;
	file.header.e_type = ET_EXEC;
	file.header.e_machine = EM_TI_PRU;
	file.header.e_entry = CORE_FIRMWARE_ENTRY;
	file.header.e_phoff = sizeof(file.header);
	file.header.e_phentsize = sizeof(file.segment);
	file.header.e_phnum = 1;
	file.header.e_shoff = sizeof(file.header) + sizeof(file.segment);
	file.header.e_shentsize = sizeof(file.section);
	file.header.e_shnum = 1;
	file.segment.p_type = PT_LOAD;
	file.segment.p_flags = PF_R | PF_X;
	file.segment.p_offset = sizeof(file) - sizeof(file.code);
	file.segment.p_filesz = sizeof(file.code);
	file.segment.p_memsz = sizeof(file.code);
	file.code[0] = CORE_FIRMWARE_WORD;
	good = fd >= 0 && write(fd, &file, sizeof(file)) == sizeof(file);
	if (fd >= 0)
		close(fd);
	return good;
}

static bool is_state(enum remoteproc_state wanted)
{
	enum remoteproc_state state;

	return !remoteproc_get_state(&core, &state) && state == wanted;
}

/* what "tenon doctor --board" looks for */
static bool log_tells_the_crash(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool found = false;
	char line[2048];
	ssize_t n;

	/* each read is one line */
	while ((n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = 0;
		found |= !!strstr(line,
				  "remoteproc remoteproc0: crash detected in 4f034000.pru: type ");
	}
	close(fd);
	return found;
}

/* The model notices a stop a little later than a core does. */
static bool stands_still(void)
{
	uint64_t deadline = soon();
	char text[512], *at;
	unsigned int control = 1;

	do {
		if (system_read_text(&system_calls_of_kernel, REGISTERS, text, sizeof(text)))
			return false;
		at = strstr(text, "CTRL      := ");
		if (!at || sscanf(at, "CTRL      := %x", &control) != 1)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	} while (control & 0x8000 && clock_now() < deadline);
	return !(control & 0x8000);
}

static void a_core_has_a_name_and_is_offline(void)
{
	expect(!remoteproc_open(NULL, "", 0, &core));
	expect(!strcmp(core.name, "4f034000.pru"));
	expect(is_state(REMOTEPROC_OFFLINE));
	expect(remoteproc_check(&core) == -TENON_E_DEVICE);
}

static void firmware_that_is_missing_is_named(void)
{
	expect(!remoteproc_set_firmware(&core, "missing.elf"));
	expect(remoteproc_start(&core) == -TENON_E_NOT_FOUND);
	expect(strstr(tenon_error_message(), "/lib/firmware/missing.elf"));
	expect(is_state(REMOTEPROC_OFFLINE));
}

static void a_file_that_is_no_firmware_is_refused(void)
{
	int fd = open("/lib/firmware/text.elf", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	expect(fd >= 0 && write(fd, REGISTERS, sizeof(REGISTERS)) == sizeof(REGISTERS));
	close(fd);
	expect(!remoteproc_set_firmware(&core, "text.elf"));
	expect(remoteproc_start(&core) == -TENON_E_VALUE);
	expect(is_state(REMOTEPROC_OFFLINE));
}

static void a_core_starts_and_stops(void)
{
	char firmware[64];

	for (int i = 0; i < 3; i++) {
		expect(!remoteproc_set_firmware(&core, "core.elf"));
		expect(!remoteproc_start(&core) && !remoteproc_start(&core));
		expect(is_state(REMOTEPROC_RUNNING) && !remoteproc_check(&core));
		expect(remoteproc_set_firmware(&core, "text.elf") == -TENON_E_DEVICE);
		expect(!remoteproc_get_firmware(&core, firmware, sizeof(firmware)));
		expect(!strcmp(firmware, "core.elf"));
		expect(!remoteproc_stop(&core) && !remoteproc_stop(&core));
		expect(is_state(REMOTEPROC_OFFLINE) && stands_still());
	}
}

static void a_kernel_without_nodes_says_so(void)
{
	expect(remoteproc_stop_on_exit(&core) == -TENON_E_NOT_FOUND);
}

static int attach(struct board **board)
{
	const struct board_place place = {
		.path = "/0",
		.deadline = soon(),
		.keys = { [BOARD_FIRMWARE] = "core.elf", [BOARD_UIO] = "0", [BOARD_WINDOW] = "2" }
	};

	return board_attach(board_kind_find("remoteproc"), &place, board);
}

static int open_ring(const struct board *board, struct ring **ring)
{
	const struct shm *memory = board_memory(board);
	const struct ring_setup setup = { .name = board_name(board),
					  .window = memory->base,
					  .window_size = memory->size,
					  .window_address = board_address(board),
					  .ring_offset = MORTISE_SHARED_OFFSET,
					  .ring_words = MORTISE_RING_LEAST };

	return ring_open(board_port(board), &setup, soon(), ring);
}

static bool runs_packets(struct ring *ring, unsigned int count)
{
	struct mortise_header packet = { .opcode = MORTISE_OP_BARRIER };
	uint64_t sequence = 0;

	while (count--)
		if (ring_emit(ring, &packet, sizeof(packet), soon(), &sequence) ||
		    ring_wait(ring, sequence, soon()))
			return false;
	return true;
}

static void a_board_boots_its_core_and_runs_packets(void)
{
	struct board *board;
	struct ring *ring;

	expect(!attach(&board));
	expect(is_state(REMOTEPROC_RUNNING) && !board_alive(board));
	expect(!open_ring(board, &ring) && runs_packets(ring, 100));
	ring_close(ring);
	board_close(board);
	expect(is_state(REMOTEPROC_OFFLINE) && stands_still());
}

static void a_board_whose_core_crashed_is_lost(void)
{
	uint64_t deadline = soon();
	struct board *board;

	expect(!attach(&board));
	expect(!system_write_text(&system_calls_of_kernel, CRASH, "1"));
	/* a worker of the kernel handles the crash */
	while (!is_state(REMOTEPROC_CRASHED) && clock_now() < deadline)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	expect(is_state(REMOTEPROC_CRASHED) && remoteproc_check(&core) == -TENON_E_LOST);
	expect(board_alive(board) == -TENON_E_LOST);
	expect(log_tells_the_crash());
	board_close(board);
	expect(is_state(REMOTEPROC_OFFLINE) && stands_still());
}

static void the_next_board_boots_a_core_that_crashed(void)
{
	struct board *board;
	struct ring *ring;

	expect(!attach(&board));
	expect(is_state(REMOTEPROC_RUNNING) && !board_alive(board));
	expect(!open_ring(board, &ring) && runs_packets(ring, 1));
	ring_close(ring);
	board_close(board);
	expect(is_state(REMOTEPROC_OFFLINE));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "a core has a name and is offline", a_core_has_a_name_and_is_offline },
	{ "firmware that is missing is named", firmware_that_is_missing_is_named },
	{ "a file that is no firmware is refused", a_file_that_is_no_firmware_is_refused },
	{ "a core starts and stops", a_core_starts_and_stops },
	{ "a kernel without nodes says so", a_kernel_without_nodes_says_so },
	{ "a board boots its core and runs packets", a_board_boots_its_core_and_runs_packets },
	{ "a board whose core crashed is lost", a_board_whose_core_crashed_is_lost },
	{ "the next board boots a core that crashed", the_next_board_boots_a_core_that_crashed },
};
#define CASES (sizeof(cases) / sizeof(*cases))

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		printf("# %s was not loaded\n", path);
	if (fd >= 0)
		close(fd);
}

static void prepare(void)
{
	static const char *const folders[] = { "/proc", "/sys", "/dev", "/lib", "/lib/firmware" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		mkdir(folders[i], 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	load("/uio.ko");
	load("/uio_pci_generic.ko");
	load("/pruss.ko");
	load("/pru_rproc.ko");
	if (!write_firmware() ||
	    system_write_text(&system_calls_of_kernel,
			      "/sys/bus/pci/drivers/uio_pci_generic/new_id", IVSHMEM))
		printf("# not prepared: %s\n", tenon_error_message());
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	prepare();
	for (size_t i = 0; i < CASES; i++) {
		int before = failures;

		tenon_error_clear();
		cases[i].run();
		printf("%s %zu - %s\n", failures == before ? "ok" : "not ok", i + 1, cases[i].name);
	}
	printf("1..%zu\n", CASES);
	fflush(stdout);
	/* the emulator ends with a reboot */
	reboot(RB_AUTOBOOT);
	return 1;
}
