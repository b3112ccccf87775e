/* SPDX-License-Identifier: MIT */
/*
 * A named fake of the process that the vendor's shell makes on a DSP, as a program of Linux that qemu-hexagon runs: it maps
 * buffers, loads libraries, and calls their methods. Descriptor 4 is its socket.
 * What it does for libraries is what FastRPC's and ELF's public descriptions say; no vendor's code was seen.
 */
#include <stdbool.h>
#include <stddef.h>

#include "tests/fastrpc/dsp_process.h"

#define LIBRARY_MOST (512U << 10)
#define HANDLE	     0x40U

/* status of methods */
enum { DONE = 0, FAILED = 1, BAD_ARGUMENT = 14 };

/* numbers and constants of Linux on Hexagon */
enum {
	SYS_OPENAT = 56,
	SYS_CLOSE = 57,
	SYS_READ = 63,
	SYS_WRITE = 64,
	SYS_EXIT_GROUP = 94,
	SYS_NANOSLEEP = 101,
	SYS_CLOCK_GETTIME = 113,
	SYS_MMAP = 222,
	AT_THIS_FOLDER = -100,
	READ_WRITE = 2,
	PROT_ALL = 7,
	MAP_SHARED_FIXED = 0x11,
	MAP_PRIVATE_ANONYMOUS = 0x22,
	MONOTONIC = 1,
	SOCKET = 4,
};

/* numbers of relocations */
enum { R_HEX_32 = 6, R_HEX_GLOB_DAT = 33, R_HEX_JMP_SLOT = 34, R_HEX_RELATIVE = 35 };

/* ELF files of 32 bits */
struct header {
	uint8_t magic[24];
	uint32_t entry, parts, sections, flags;
	uint16_t size, part_size, part_count;
};

struct part {
	uint32_t type, offset, address, physical, file_size, size, flags, align;
};

struct entry {
	uint32_t tag, value;
};

struct symbol {
	uint32_t name, value, size;
	uint8_t info, other;
	uint16_t section; /* 0: it has to come from elsewhere */
};

struct relocation {
	uint32_t offset, info;
	int32_t addend;
};

enum { PART_LOAD = 1, PART_DYNAMIC = 2 };
enum {
	TABLE_END,
	TABLE_PLTRELSZ = 2,
	TABLE_HASH = 4,
	TABLE_STRTAB,
	TABLE_SYMTAB,
	TABLE_RELA,
	TABLE_RELASZ,
	TABLE_JMPREL = 23,
};

struct argument {
	void *data;
	uint32_t size;
};

typedef int (*invoke)(uint32_t scalars, struct argument *arguments);

long board_call(long a, long b, long c, long d, long e, long f, long number);
void board_main(void);
void board_on_signal(void);
void board_resume(void);

static uint8_t file[LIBRARY_MOST];
static uint8_t inputs[DSP_BYTES_MOST], outputs[DSP_BYTES_MOST];
static invoke library;

static void end(int status)
{
	board_call(status, 0, 0, 0, 0, 0, SYS_EXIT_GROUP);
}

/* start.S takes signals, which this program does not ask for */
void board_on_signal(void)
{
	end(1);
}

void board_resume(void)
{
	end(1);
}

/* ---- what a process has for libraries */

static int sleep_for(uint64_t microseconds)
{
	const int32_t time[2] = { 0, (int32_t)microseconds * 1000 };

	board_call((long)time, 0, 0, 0, 0, 0, SYS_NANOSLEEP);
	return 0;
}

static uint64_t microseconds(void)
{
	int32_t time[2] = { 0, 0 };

	board_call(MONOTONIC, (long)time, 0, 0, 0, 0, SYS_CLOCK_GETTIME);
	return (uint32_t)time[0] * UINT64_C(1000000) + (uint32_t)time[1] / 1000;
}

static const struct {
	const char *name;
	uintptr_t address;
} offered[] = {
	{ "qurt_timer_sleep", (uintptr_t)sleep_for },
	{ "HAP_perf_get_time_us", (uintptr_t)microseconds },
};

/* ---- the loader */

/* Is a text what another one begins with, up to one of two ends? */
static bool equal(const char *text, const char *other, char end_of_other)
{
	for (; *text && *text == *other; text++, other++)
		;
	return !*text && (!*other || *other == end_of_other);
}

struct image {
	uint8_t *base;
	const struct symbol *symbols;
	const char *names;
	uint32_t symbol_count;
	const struct relocation *tables[2];
	uint32_t sizes[2];
};

static uint32_t value_of(const struct image *image, const struct symbol *symbol)
{
	size_t i;

	if (symbol->section)
		return (uint32_t)image->base + symbol->value;
	for (i = 0; i < sizeof(offered) / sizeof(offered[0]); i++)
		if (equal(image->names + symbol->name, offered[i].name, 0))
			return offered[i].address;
	return 0;
}

static void relocate(const struct image *image, const struct relocation *r)
{
	uint32_t *word = (uint32_t *)(image->base + r->offset);

	switch (r->info & 0xff) {
	case R_HEX_RELATIVE:
		*word = (uint32_t)image->base + (uint32_t)r->addend;
		break;
	case R_HEX_32:
	case R_HEX_GLOB_DAT:
	case R_HEX_JMP_SLOT:
		*word = value_of(image, &image->symbols[r->info >> 8]) + (uint32_t)r->addend;
		break;
	default:
		end(2);
	}
}

static void read_dynamic(struct image *image, const struct entry *d)
{
	for (; d->tag != TABLE_END; d++) {
		uint8_t *at = image->base + d->value;

		switch (d->tag) {
		case TABLE_SYMTAB:
			image->symbols = (const struct symbol *)at;
			break;
		case TABLE_STRTAB:
			image->names = (const char *)at;
			break;
		case TABLE_HASH:
			image->symbol_count = ((const uint32_t *)at)[1];
			break;
		case TABLE_RELA:
			image->tables[0] = (const struct relocation *)at;
			break;
		case TABLE_JMPREL:
			image->tables[1] = (const struct relocation *)at;
			break;
		case TABLE_RELASZ:
			image->sizes[0] = d->value;
			break;
		case TABLE_PLTRELSZ:
			image->sizes[1] = d->value;
			break;
		default:
			break;
		}
	}
}

/* Copy the segments to memory, anywhere, and bind them. */
static void place(struct image *image)
{
	const struct header *header = (const struct header *)file;
	const struct part *part = (const struct part *)(file + header->parts);
	uint32_t i, k;

	image->base = (uint8_t *)board_call(0, LIBRARY_MOST, PROT_ALL, MAP_PRIVATE_ANONYMOUS, -1, 0,
					    SYS_MMAP);
	for (i = 0; i < header->part_count; i++)
		for (k = 0; part[i].type == PART_LOAD && k < part[i].file_size; k++)
			image->base[part[i].address + k] = file[part[i].offset + k];
	for (i = 0; i < header->part_count; i++)
		if (part[i].type == PART_DYNAMIC)
			read_dynamic(image, (const struct entry *)(image->base + part[i].address));
	for (i = 0; i < 2; i++)
		for (k = 0; k < image->sizes[i] / sizeof(struct relocation); k++)
			relocate(image, &image->tables[i][k]);
}

static bool read_file(const char *path)
{
	long fd = board_call(AT_THIS_FOLDER, (long)path, 0, 0, 0, 0, SYS_OPENAT), n = 1;
	uint32_t size = 0;

	if (fd < 0)
		return false;
	for (; n > 0; size += n > 0 ? (uint32_t)n : 0)
		n = board_call(fd, (long)(file + size), (long)(sizeof(file) - size), 0, 0, 0,
			       SYS_READ);
	board_call(fd, 0, 0, 0, 0, 0, SYS_CLOSE);
	return n == 0 && size > sizeof(struct header) && file[0] == 0x7f;
}

/* The name of the file, in the folder in which this program runs, and behind it that of the function. NULL: no such form. */
static const char *read_name(const char *uri, char *name, uint32_t room)
{
	static const char scheme[] = "file:///";
	uint32_t i;

	for (i = 0; scheme[i]; i++, uri++)
		if (*uri != scheme[i])
			return NULL;
	for (i = 0; *uri && *uri != '?' && i + 1 < room; i++)
		name[i] = *uri++;
	name[i] = 0;
	return *uri == '?' ? uri + 1 : NULL;
}

/* "file:///libNAME_skel.so?FUNCTION&_modver=1.0" */
static bool load(const char *uri)
{
	struct image image = { 0 };
	char name[64];
	const char *function = read_name(uri, name, sizeof(name));
	uint32_t i;

	library = NULL;
	if (!function || !read_file(name))
		return false;
	place(&image);
	for (i = 1; i < image.symbol_count; i++)
		if (equal(image.names + image.symbols[i].name, function, '&'))
			library = (invoke)value_of(&image, &image.symbols[i]);
	return library;
}

/* ---- requests */

/* The method of the process itself: the sizes of two texts and the first one, for a handle, a status and a reason. */
static int open_library(const struct argument *arguments)
{
	static const char reason[] = "no such library, or no such function in it";
	uint32_t *output = arguments[2].data, i;

	output[0] = HANDLE;
	output[1] = load(arguments[1].data) ? DONE : FAILED;
	for (i = 0; output[1] && i < sizeof(reason) && i < arguments[3].size; i++)
		((char *)arguments[3].data)[i] = reason[i];
	return DONE;
}

static uint32_t map(const char *path, uint32_t size)
{
	long fd = board_call(AT_THIS_FOLDER, (long)path, READ_WRITE, 0, 0, 0, SYS_OPENAT);
	long base = board_call((long)DSP_ADDRESS, (long)size, PROT_ALL, MAP_SHARED_FIXED, fd, 0,
			       SYS_MMAP);

	board_call(fd, 0, 0, 0, 0, 0, SYS_CLOSE);
	return base == (long)DSP_ADDRESS ? DSP_ADDRESS : 0;
}

static uint32_t serve(const struct dsp_request *r, struct argument *arguments)
{
	if (r->kind == DSP_MAP)
		return map(arguments[0].data, r->scalars);
	if (!r->handle)
		return (uint32_t)open_library(arguments);
	return r->handle == HANDLE && library ? (uint32_t)library(r->scalars, arguments)
					      : BAD_ARGUMENT;
}

/* The socket's other side keeps to the sizes that it says. */
static void take(void *to, uint32_t size)
{
	uint32_t done = 0;
	long n;

	while (done < size) {
		n = board_call(SOCKET, (long)to + (long)done, (long)(size - done), 0, 0, 0,
			       SYS_READ);
		if (n <= 0)
			end(0);
		done += (uint32_t)n;
	}
}

static void give(const void *from, uint32_t size)
{
	if (size && board_call(SOCKET, (long)from, (long)size, 0, 0, 0, SYS_WRITE) != (long)size)
		end(3);
}

void board_main(void)
{
	struct argument arguments[DSP_ARGUMENTS_MOST];
	struct dsp_request r;
	struct dsp_answer answer;
	uint32_t in, out, count, i;

	for (;;) {
		take(&r, sizeof(r));
		count = r.kind == DSP_MAP ? 1 : r.scalars >> 16 & 0xff;
		in = out = 0;
		for (i = 0; i < DSP_ARGUMENTS_MOST; i++) {
			arguments[i].data = i < count ? inputs + in : outputs + out;
			arguments[i].size = r.sizes[i];
			*(i < count ? &in : &out) += (r.sizes[i] + 7) & ~7U;
		}
		take(inputs, in);
		answer.result = serve(&r, arguments);
		give(&answer, sizeof(answer));
		give(outputs, out);
	}
}
