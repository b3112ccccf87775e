/* SPDX-License-Identifier: MIT */
/* Run the cases of the guest as its only process, and power it off. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <tenon/error.h>
#include <time.h>
#include <unistd.h>

#include "driver/syscall/syscall.h"
#include "lib/clock.h"
#include "tests/driver/guest/guest.h"

static FILE *out;
static int log_fd = -1;
static int failures;
static char skipped[128];

static const struct guest_case *const suites[] = { uio_cases, vfio_cases, drm_cases, board_cases,
						   fpga_cases };
#define SUITES (sizeof(suites) / sizeof(*suites))

void guest_fail(const char *file, int line, const char *what)
{
	fprintf(out, "# %s:%d: %s\n# last error: %s\n", file, line, what, tenon_error_message());
	failures++;
}

void guest_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
}

void guest_skip(const char *why)
{
	snprintf(skipped, sizeof(skipped), "%s", why);
}

uint64_t guest_deadline(void)
{
	return clock_now() + UINT64_C(100000000000);
}

void guest_pause(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

int guest_bind(const char *address, const char *driver)
{
	char path[256];
	int err;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver_override", address);
	err = system_write_text(&system_calls_of_kernel, path, driver);
	if (err)
		return err;
	return system_write_text(&system_calls_of_kernel, "/sys/bus/pci/drivers_probe", address);
}

/* Each read of the log is one line. */
static ssize_t read_log(char *line, size_t room)
{
	ssize_t n = read(log_fd, line, room - 1);

	line[n > 0 ? n : 0] = 0;
	return n;
}

void guest_log_skip(void)
{
	char line[2048];

	while (read_log(line, sizeof(line)) > 0)
		;
}

bool guest_log_says(const char *text, uint64_t deadline)
{
	char line[2048];

	do {
		while (read_log(line, sizeof(line)) > 0)
			if (strstr(line, text))
				return true;
		guest_pause();
	} while (clock_now() < deadline);
	return false;
}

static void mount_all(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* The list has a path a line, what a module needs in front of it. */
static void load_modules(void)
{
	FILE *list = fopen("/modules/list", "r");
	char name[256], path[300];

	while (list && fgets(name, sizeof(name), list)) {
		int fd;

		name[strcspn(name, "\n")] = 0;
		snprintf(path, sizeof(path), "/modules/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			fprintf(out, "# module %s was not loaded\n", name);
		if (fd >= 0)
			close(fd);
	}
	if (list)
		fclose(list);
}

static void run_case(unsigned int number, const struct guest_case *c)
{
	int before = failures;

	*skipped = 0;
	tenon_error_clear();
	c->run();
	if (*skipped)
		fprintf(out, "ok %u - %s # SKIP %s\n", number, c->name, skipped);
	else
		fprintf(out, "%s %u - %s\n", failures == before ? "ok" : "not ok", number, c->name);
}

int main(void)
{
	unsigned int number = 0;

	mount_all();
	out = fopen("/dev/ttyS1", "w");
	if (!out)
		out = stdout;
	setvbuf(out, NULL, _IOLBF, 0);
	load_modules();
	for (size_t i = 0; i < SUITES; i++)
		for (const struct guest_case *c = suites[i]; c->name; c++)
			run_case(++number, c);
	number = guest_run_programs(number);
	fprintf(out, "1..%u\n", number);
	fflush(out);
	sync();
	/* the emulator ends with a reboot */
	reboot(RB_AUTOBOOT);
	return 1;
}
