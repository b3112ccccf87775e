/* SPDX-License-Identifier: MIT */
/* Predict what dlopen() does with a library from its headers and dynamic section. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/error.h>
#include "lib/brief_errors.h"
#include "lib/elf.h"

/* program headers read at a time; most libraries have no more */
#define BATCH 16
/* limits of a dynamic section and its strings; enough for libraries of compiled models */
#define ENTRIES_MOST 64
#define STRINGS_MOST 16384

/* The first bytes of a file; one read gets the headers, and all of a small library. */
struct start {
	int fd;
	size_t size;
	char bytes[4096];
};

static int check_batch(const char *path, const ElfW(Phdr) * p, size_t count, uint64_t size)
{
	for (; count--; p++)
		if (p->p_type == PT_LOAD &&
		    (p->p_offset > size || p->p_filesz > size - p->p_offset))
			return tenon_error(
				-TENON_E_TRUNCATED,
				"%s: a segment of %" PRIu64 " bytes at 0x%" PRIx64
				" lies outside the file of %" PRIu64 " bytes: it is truncated",
				path, (uint64_t)p->p_filesz, (uint64_t)p->p_offset, size);
	return 0;
}

static bool read_at(const struct start *s, void *to, size_t size, uint64_t offset)
{
	if (offset > s->size || size > s->size - offset)
		return pread(s->fd, to, size, (off_t)offset) == (ssize_t)size;
	memcpy(to, s->bytes + offset, size);
	return true;
}

struct dynamic {
	ElfW(Addr) strings;
	size_t strings_size;
	size_t constructors;
	bool has_init;
	size_t needed[ENTRIES_MOST]; /* offsets in the strings */
	size_t needed_count;
};

static bool read_dynamic(const struct start *s, const ElfW(Phdr) * p, struct dynamic *out)
{
	ElfW(Dyn) entries[ENTRIES_MOST];
	size_t count = p->p_filesz / sizeof(entries[0]), i;

	if (count > ENTRIES_MOST)
		count = ENTRIES_MOST;
	if (!read_at(s, entries, count * sizeof(entries[0]), p->p_offset))
		return false;
	*out = (struct dynamic){ 0 };
	for (i = 0; i < count; i++) {
		size_t value = entries[i].d_un.d_val;

		switch (entries[i].d_tag) {
		case DT_NULL:
			return true;
		case DT_INIT:
			out->has_init = true;
			break;
		case DT_INIT_ARRAYSZ:
			out->constructors = value / sizeof(void *);
			break;
		case DT_STRTAB:
			out->strings = value;
			break;
		case DT_STRSZ:
			out->strings_size = value;
			break;
		case DT_NEEDED:
			out->needed[out->needed_count++] = value;
			break;
		}
	}
	return false;
}

/* Get bytes of the file: those that were read already, or a copy, which goes to @copy. NULL if that fails. */
static const char *bytes_at(const struct start *s, size_t size, uint64_t offset, char **copy)
{
	if (offset <= s->size && size <= s->size - offset)
		return s->bytes + offset;
	/* from the heap: threads that open modules may have small stacks */
	*copy = malloc(size);
	return *copy && read_at(s, *copy, size, offset) ? *copy : NULL;
}

/* Find the string table; the segments map its address to a file offset. */
static const char *find_strings(const struct start *s, const ElfW(Phdr) * segments, size_t count,
				const struct dynamic *d, char **copy)
{
	const char *strings;
	size_t i;

	if (!d->strings_size || d->strings_size > STRINGS_MOST)
		return NULL;
	for (i = 0; i < count; i++) {
		const ElfW(Phdr) *p = &segments[i];

		if (p->p_type != PT_LOAD || d->strings < p->p_vaddr ||
		    d->strings - p->p_vaddr >= p->p_filesz)
			continue;
		strings =
			bytes_at(s, d->strings_size, p->p_offset + (d->strings - p->p_vaddr), copy);
		return strings && !strings[d->strings_size - 1] ? strings : NULL;
	}
	return NULL;
}

/*
 * The compiler's start-up files add _init() and one constructor that registers a table of clones;
 * these run no other code. So constructors of the library are those beyond that one.
 */
static bool has_constructors(const struct dynamic *d, const char *strings)
{
	static const char clones[] = "_ITM_registerTMCloneTable";

	if (!d->constructors && !d->has_init)
		return false;
	return d->constructors != 1 || !d->has_init ||
	       !memmem(strings, d->strings_size, clones, sizeof(clones));
}

/* Test whether all needed libraries are loaded: then their constructors do not run again. */
static bool has_needed(const struct dynamic *d, const char *strings)
{
	void *library;
	size_t i;

	for (i = 0; i < d->needed_count; i++) {
		if (d->needed[i] >= d->strings_size)
			return false;
		library = dlopen(strings + d->needed[i], RTLD_LAZY | RTLD_NOLOAD);
		if (!library)
			return false;
		dlclose(library);
	}
	return true;
}

static bool is_inert(const struct start *s, const ElfW(Phdr) * segments, size_t count)
{
	const char *strings;
	struct dynamic d;
	char *copy = NULL;
	bool inert;
	size_t i;

	for (i = 0; i < count; i++)
		if (segments[i].p_type == PT_DYNAMIC)
			break;
	if (i == count || !read_dynamic(s, &segments[i], &d))
		return false;
	strings = find_strings(s, segments, count, &d, &copy);
	inert = strings && !has_constructors(&d, strings) && has_needed(&d, strings);
	free(copy);
	return inert;
}

/* Returns 0 for files that cannot be read or are not for this machine: dlopen() rejects them. */
static int check_start(const struct start *s, const char *path, uint64_t size, bool *inert)
{
	ElfW(Phdr) batch[BATCH];
	ElfW(Ehdr) header;
	size_t i, n, left;
	int err = 0;

	if (!read_at(s, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_phentsize != sizeof(batch[0]))
		return 0;
	for (i = 0; i < header.e_phnum && !err; i += n) {
		left = header.e_phnum - i;
		n = left < BATCH ? left : BATCH;
		if (!read_at(s, batch, n * sizeof(batch[0]), header.e_phoff + i * sizeof(batch[0])))
			return 0;
		err = check_batch(path, batch, n, size);
	}
	if (!err && header.e_phnum <= BATCH)
		*inert = is_inert(s, batch, header.e_phnum);
	return err;
}

int elf_check_opening(const char *path, bool *inert)
{
	struct start s;
	ssize_t got;
	off_t size;
	int err = 0;

	*inert = false;
	s.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s.fd < 0)
		return 0;
	/* asks less of the kernel than fstat(); what is no regular file has no size or no header */
	size = lseek(s.fd, 0, SEEK_END);
	if (size > 0) {
		got = pread(s.fd, s.bytes, sizeof(s.bytes), 0);
		s.size = got > 0 ? (size_t)got : 0;
		err = check_start(&s, path, (uint64_t)size, inert);
	}
	if (size < 0 && errno == ESPIPE)
		err = tenon_error(-TENON_E_IO, "%s: is not a regular file", path);
	close(s.fd);
	return err;
}
