/* SPDX-License-Identifier: MIT */
/*
 * QEMU's edu device from the host, by messages of QEMU's qtest: registers, interrupts, and DMA to memory that both share.
 * The cheap sibling of tests/driver/guest.sh: the same model of a device, without a kernel in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/driver/guest/edu.h"
#include "tests/unit/suite.h"

#define RAM	 (16U << 20)
#define ROM	 65536
#define BAR	 0xfe000000U
#define SLOT	 4
#define SKIPPED	 77
#define PATIENCE 60000 /* milliseconds: nothing here takes a hundredth of it unless it is broken */

static char folder[90], ram[110], rom[110], socket_path[108];
static uint8_t *memory;
static pid_t emulator;
static int line = -1;
static int raised; /* lines of the interrupt controller that are asserted */

static void pause_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* ---- qtest: a line for a request, a line for an answer, and lines for interrupts in between */

static void read_line(char *text, size_t room)
{
	struct pollfd p = { .fd = line, .events = POLLIN };
	size_t used = 0;

	do {
		assert_true(used + 1 < room);
		assert_int_equal(poll(&p, 1, PATIENCE), 1);
		assert_int_equal(read(line, text + used, 1), 1);
	} while (text[used++] != '\n');
	text[used - 1] = 0;
}

static void note_interrupt(const char *text)
{
	if (!strncmp(text, "IRQ raise", 9))
		raised++;
	if (!strncmp(text, "IRQ lower", 9))
		raised--;
}

static uint64_t ask(const char *format, ...) __attribute__((format(printf, 1, 2)));

static uint64_t ask(const char *format, ...)
{
	char text[256];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	assert_int_equal(write(line, text, (size_t)n), n);
	do {
		read_line(text, sizeof(text));
		note_interrupt(text);
	} while (!strncmp(text, "IRQ", 3));
	if (strncmp(text, "OK", 2))
		fail_msg("%s: %s", format, text);
	return text[2] ? strtoull(text + 3, NULL, 0) : 0;
}

static uint32_t read_word(void *unused, uint32_t at)
{
	(void)unused;
	return (uint32_t)ask("readl 0x%x\n", BAR + at);
}

static void write_word(void *unused, uint32_t at, uint32_t value)
{
	(void)unused;
	ask("writel 0x%x 0x%x\n", BAR + at, value);
}

static void write_long(void *unused, uint32_t at, uint64_t value)
{
	(void)unused;
	ask("writeq 0x%x 0x%" PRIx64 "\n", BAR + at, value);
}

static const struct edu_access edu = { NULL, read_word, write_word, write_long, pause_a_little };

static uint32_t get(uint32_t at)
{
	return edu.read(NULL, at);
}

static void put(uint32_t at, uint32_t value)
{
	edu.write(NULL, at, value);
}

/* Interrupts come with answers: ask until one is there. */
static void await_interrupt(void)
{
	for (int i = 0; !raised && i < PATIENCE; i++) {
		get(EDU_ID);
		pause_a_little();
	}
	assert_true(raised > 0);
}

/* ---- the machine: no firmware, a processor that stands still, memory in a file */

static void make_files(void)
{
	static const uint8_t stand_still[] = { 0xfa, 0xf4, 0xeb, 0xfd }; /* cli; hlt; again */
	const char *tmp = getenv("TMPDIR");
	int fd;

	/* the name of a socket is short */
	if (!tmp || strlen(tmp) > sizeof(folder) - 20)
		tmp = "/tmp";
	snprintf(folder, sizeof(folder), "%.60s/edu.XXXXXX", tmp);
	assert_non_null(mkdtemp(folder));
	snprintf(ram, sizeof(ram), "%s/ram", folder);
	snprintf(rom, sizeof(rom), "%s/rom", folder);
	snprintf(socket_path, sizeof(socket_path), "%s/qtest", folder);
	fd = open(rom, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, ROM), 0);
	assert_int_equal(pwrite(fd, stand_still, sizeof(stand_still), ROM - 16), 4);
	close(fd);
	fd = open(ram, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, RAM), 0);
	memory = mmap(NULL, RAM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(memory != MAP_FAILED);
	close(fd);
}

static void start_emulator(void)
{
	char object[200], qtest[140];
	pid_t parent = getpid();

	snprintf(object, sizeof(object), "memory-backend-file,id=r,share=on,mem-path=%s,size=%u",
		 ram, RAM);
	snprintf(qtest, sizeof(qtest), "unix:%s,server=on,wait=off", socket_path);
	emulator = fork();
	assert_true(emulator >= 0);
	if (emulator)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		execlp("qemu-system-x86_64", "qemu-system-x86_64", "-M", "q35,memory-backend=r",
		       "-object", object, "-m", "16", "-accel", "tcg", "-bios", rom, "-nodefaults",
		       "-no-user-config", "-display", "none", "-device", "edu,addr=04.0", "-qtest",
		       qtest, "-qtest-log", "/dev/null", (char *)NULL);
	_exit(127);
}

static void connect_to_it(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int status;

	strcpy(to.sun_path, socket_path);
	line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(line >= 0);
	for (int i = 0; connect(line, (const struct sockaddr *)&to, sizeof(to)); i++) {
		if (waitpid(emulator, &status, WNOHANG) == emulator)
			fail_msg("the emulator ended with status 0x%x", (unsigned int)status);
		assert_true(i < PATIENCE);
		pause_a_little();
	}
}

static void configure(unsigned int at, uint32_t value)
{
	ask("outl 0xcf8 0x%x\n", 0x80000000U | SLOT << 11 | at);
	ask("outl 0xcfc 0x%x\n", value);
}

static int begin(void **state)
{
	(void)state;
	make_files();
	start_emulator();
	connect_to_it();
	ask("irq_intercept_in ioapic\n");
	configure(0x10, BAR);
	/* memory, and DMA */
	configure(0x04, 0x6);
	return 0;
}

static int finish(void **state)
{
	int status;

	(void)state;
	if (line >= 0)
		close(line);
	if (emulator > 0) {
		kill(emulator, SIGKILL);
		waitpid(emulator, &status, 0);
	}
	unlink(socket_path);
	unlink(ram);
	unlink(rom);
	rmdir(folder);
	return 0;
}

/* ---- cases */

static void registers_answer(void **state)
{
	(void)state;
	assert_int_equal(get(EDU_ID) & 0xffff, 0xed);
	put(EDU_LIVENESS, 0x12345678);
	assert_int_equal(get(EDU_LIVENESS), ~UINT32_C(0x12345678));
	/*
	 * The device's thread clears BUSY and only then reads whether to raise an interrupt. Wait for
	 * the interrupt too, or the next case may get it.
	 */
	put(EDU_STATUS, EDU_IRQ_WHEN_DONE);
	put(EDU_FACTORIAL, 10);
	while (get(EDU_STATUS) & EDU_BUSY)
		pause_a_little();
	assert_int_equal(get(EDU_FACTORIAL), 3628800);
	await_interrupt();
	put(EDU_STATUS, 0);
	edu_acknowledge_by(&edu);
}

static void an_interrupt_arrives_and_is_taken_back(void **state)
{
	(void)state;
	assert_int_equal(raised, 0);
	put(EDU_STATUS, EDU_IRQ_WHEN_DONE);
	put(EDU_FACTORIAL, 12);
	await_interrupt();
	assert_int_equal(get(EDU_IRQ_STATUS), 1);
	assert_int_equal(get(EDU_FACTORIAL), 479001600);
	put(EDU_STATUS, 0);
	edu_acknowledge_by(&edu);
	assert_int_equal(raised, 0);
}

static void a_hundred_interrupts_are_counted(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 100; i++) {
		put(EDU_IRQ_RAISE, i);
		await_interrupt();
		assert_int_equal(get(EDU_IRQ_STATUS), i);
		edu_acknowledge_by(&edu);
		assert_int_equal(raised, 0);
	}
}

static void dma_goes_both_ways(void **state)
{
	uint8_t *from = memory + (1 << 20), *to = memory + (2 << 20);

	(void)state;
	for (int i = 0; i < 2048; i++)
		from[i] = (uint8_t)(i * 13 + 5);
	edu_copy_by(&edu, 1 << 20, 0, 2048, false);
	edu_copy_by(&edu, 2 << 20, 0, 2048, true);
	assert_memory_equal(from, to, 2048);
	assert_int_equal(to[2048], 0);
}

static const char *reason_to_skip(void)
{
	const char *full = getenv("FULL"), *hil = getenv("HIL"), *emulated = getenv("EMULATOR");

	if (!(full && *full) && !(hil && *hil))
		return "\"make check-hil\" and FULL=1 run it";
	if (emulated && *emulated)
		return "this program is emulated itself";
	return system("command -v qemu-system-x86_64 > /dev/null")
		       ? "qemu-system-x86_64 is not installed"
		       : NULL;
}

int main(void)
{
	const char *why = reason_to_skip();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_answer),
		cmocka_unit_test(an_interrupt_arrives_and_is_taken_back),
		cmocka_unit_test(a_hundred_interrupts_are_counted),
		cmocka_unit_test(dma_goes_both_ways),
	};

	if (why) {
		printf("edu: %s\n", why);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, begin, finish);
}
