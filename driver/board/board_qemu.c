/* SPDX-License-Identifier: MIT */
/*
 * Boards under QEMU: their RAM is our memory, their UART a socket. A byte to it is the doorbell, a byte from it the
 * interrupt. A core that QEMU emulates no board of runs the firmware as a program of Linux.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/board/board_private.h"
#include "driver/board/firmware_file.h"
#include "driver/board/qemu_version.h"
#include "lib/brief_errors.h"

/**
 * struct model - how QEMU calls a board
 * @name: struct board_kind.name
 * @emulator: the command
 * @package: Debian's package with it
 * @machine: option -M; the memory backend is "window". NULL of a program that the emulator runs as Linux does
 * @address: where the window begins
 */
static const struct model {
	const char *name;
	const char *emulator;
	const char *package;
	const char *machine;
	uint64_t address;
} models[] = {
	{ "rv32", "qemu-system-riscv32", "qemu-system-misc", "virt,memory-backend=window",
	  0x80000000 },
	{ "rv64", "qemu-system-riscv64", "qemu-system-misc", "virt,memory-backend=window",
	  0x80000000 },
	{ "cm3", "qemu-system-arm", "qemu-system-arm", "mps2-an385,memory-backend=window",
	  0x21000000 },
	{ "hexagon", "qemu-hexagon", "qemu-user", NULL, 0x40000000 },
};

static const struct model *model_of(const struct board_kind *kind)
{
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (!strcmp(models[i].name, kind->name))
			return &models[i];
	return NULL;
}

/* Find a command as execvp() does; programs with raised privileges take those of the system alone. */
static int find_emulator(const struct model *model, char path[PATH_MAX])
{
	const char *folders = secure_getenv("PATH"), *end;

	if (!folders)
		folders = "/usr/bin:/bin";
	for (; *folders; folders = *end ? end + 1 : end) {
		end = strchrnul(folders, ':');
		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - folders), folders,
			     model->emulator) < PATH_MAX &&
		    !access(path, X_OK))
			return 0;
	}
	return tenon_error(-TENON_E_DEVICE,
			   "the emulator %s is not found in PATH; install it (Debian: %s)",
			   model->emulator, model->package);
}

int board_qemu_ready(const struct board_kind *kind)
{
	char path[PATH_MAX];
	int err = find_emulator(model_of(kind), path);

	return err ? err : firmware_file_find(kind->firmware, path);
}

static int describe_image(const char *board, const char *path, struct tenon_buffer *out)
{
	struct firmware_file file;
	int err = firmware_file_read(path, &file);

	if (err)
		return err;
	tenon_buffer_printf(out, "%s: %s, %llu bytes", board, path, (unsigned long long)file.size);
	if (file.abi)
		tenon_buffer_printf(out, ", version %u.%u.%u, ABI %u.%u", file.version >> 16 & 0xff,
				    file.version >> 8 & 0xff, file.version & 0xff, file.abi >> 16,
				    file.abi & 0xffff);
	if (*file.hash)
		tenon_buffer_printf(out, ", XXH128 %s", file.hash);
	return tenon_buffer_printf(out, "\n");
}

/* Print the reason for a failure in place of what is missing; lack of memory stays a failure. */
static int describe_failure(const char *board, int err, struct tenon_buffer *out)
{
	if (err == -TENON_E_NOMEM)
		return err;
	tenon_buffer_printf(out, "%s: %s\n", board, tenon_error_message());
	tenon_error_clear();
	return out->status;
}

static int describe_emulator(const char *board, const char *path, struct tenon_buffer *out)
{
	char version[32];

	if (qemu_version(path, version, sizeof(version)))
		return -TENON_E_NOMEM;
	return tenon_buffer_printf(out, "%s: %s%s%s\n", board, path, *version ? ", version " : "",
				   version);
}

static int describe_qemu(const struct board_kind *kind, struct tenon_buffer *out)
{
	char path[PATH_MAX];
	int missing, err;

	missing = find_emulator(model_of(kind), path);
	err = missing ? describe_failure(kind->name, missing, out)
		      : describe_emulator(kind->name, path, out);
	if (err)
		return err;
	err = firmware_file_find(kind->firmware, path);
	if (!err)
		err = describe_image(kind->name, path, out);
	/* an image that is missing matters where there is an emulator for it */
	if (missing && err == -TENON_E_DEVICE) {
		tenon_error_clear();
		return 0;
	}
	return err ? describe_failure(kind->name, err, out) : 0;
}

/* The program maps descriptor 3 and talks by descriptor 4. */
static int start_program(struct board *board, const char *emulator, const char *image)
{
	const char *const words[] = { emulator, image, NULL };

	return board_process_start(board, words);
}

static int start_machine(struct board *board, const struct model *model, const char *emulator,
			 const char *image)
{
	char object[128], size[32];
	const char *const words[] = {
		emulator,
		"-M",
		model->machine,
		"-accel",
		"tcg",
		"-object",
		object,
		"-m",
		size,
		"-nodefaults",
		"-display",
		"none",
		"-monitor",
		"none",
		"-bios",
		"none",
		"-chardev",
		"socket,id=uart,fd=4",
		"-serial",
		"chardev:uart",
		"-semihosting-config",
		"enable=on,target=native",
		"-no-reboot",
		"-kernel",
		image,
		NULL,
	};

	snprintf(size, sizeof(size), "%lluM", (unsigned long long)(board->memory.size >> 20));
	snprintf(object, sizeof(object),
		 "memory-backend-file,id=window,share=on,mem-path=/proc/self/fd/3,size=%s", size);
	return board_process_start(board, words);
}

static int start(struct board *board)
{
	const struct model *model = model_of(board->kind);
	char emulator[PATH_MAX], image[PATH_MAX];
	int err;

	board->address = model->address;
	err = find_emulator(model, emulator);
	if (!err)
		err = firmware_file_find(board->kind->firmware, image);
	if (err)
		return err;
	return model->machine ? start_machine(board, model, emulator, image)
			      : start_program(board, emulator, image);
}

const struct board_ops board_qemu_ops = {
	.describe = describe_qemu,
	.start = start,
	.stop = board_process_stop,
	.alive = board_process_alive,
	.inject = board_process_inject,
	.halt = board_process_halt,
	.doorbell = board_process_doorbell,
	.sleep = board_process_sleep,
	.forget = board_process_forget,
};
