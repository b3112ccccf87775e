/* SPDX-License-Identifier: MIT */
/* What dlopen() will do with a library, read from the library's first bytes and its dynamic section. */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/error.h>
#include "lib/brief_errors.h"
#include "lib/elf.h"

/* program headers read at a time; most libraries have no more */
#define BATCH 16
/* entries of a dynamic section, and bytes of its strings: enough for libraries of compiled models */
#define ENTRIES_MOST 64
#define STRINGS_MOST 16384

/* Nearly all linkers put the program headers here, so that one read brings both. */
struct head {
	ElfW(Ehdr) header;
	ElfW(Phdr) segments[BATCH];
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

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

struct dynamic {
	ElfW(Addr) strings;
	size_t strings_size;
	size_t constructors;
	bool has_init;
	size_t needed[ENTRIES_MOST]; /* where in the strings */
	size_t needed_count;
};

static bool read_dynamic(int fd, const ElfW(Phdr) * p, struct dynamic *out)
{
	ElfW(Dyn) entries[ENTRIES_MOST];
	size_t count = p->p_filesz / sizeof(entries[0]), i;

	if (count > ENTRIES_MOST)
		count = ENTRIES_MOST;
	if (!read_at(fd, entries, count * sizeof(entries[0]), p->p_offset))
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

/* The dynamic section names addresses; the segments say where in the file they are. */
static bool read_strings(int fd, const struct head *head, const struct dynamic *d, char *strings)
{
	size_t i;

	if (!d->strings_size || d->strings_size > STRINGS_MOST)
		return false;
	for (i = 0; i < head->header.e_phnum; i++) {
		const ElfW(Phdr) *p = &head->segments[i];

		if (p->p_type == PT_LOAD && d->strings >= p->p_vaddr &&
		    d->strings - p->p_vaddr < p->p_filesz)
			return read_at(fd, strings, d->strings_size,
				       p->p_offset + (d->strings - p->p_vaddr)) &&
			       !strings[d->strings_size - 1];
	}
	return false;
}

/*
 * The C compiler's own start-up files bring _init(), and one constructor that registers a table of clones:
 * these call nothing else. A constructor of the program's is one more.
 */
static bool has_constructors(const struct dynamic *d, const char *strings)
{
	static const char clones[] = "_ITM_registerTMCloneTable";

	if (!d->constructors && !d->has_init)
		return false;
	return d->constructors != 1 || !d->has_init ||
	       !memmem(strings, d->strings_size, clones, sizeof(clones));
}

/* Opening a library that is there already runs none of its constructors. */
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

static bool is_inert(int fd, const struct head *head)
{
	char strings[STRINGS_MOST];
	struct dynamic d;
	size_t i;

	for (i = 0; i < head->header.e_phnum; i++)
		if (head->segments[i].p_type == PT_DYNAMIC)
			return read_dynamic(fd, &head->segments[i], &d) &&
			       read_strings(fd, head, &d, strings) &&
			       !has_constructors(&d, strings) && has_needed(&d, strings);
	return false;
}

/* What cannot be read, and what is no library of this machine, is left to dlopen() to refuse. */
static int check_descriptor(int fd, const char *path, bool *inert)
{
	struct head head;
	ElfW(Ehdr) *h = &head.header;
	struct stat st;
	size_t i, n, left, size;
	ssize_t got;
	int err = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	got = pread(fd, &head, sizeof(head), 0);
	if (got < (ssize_t)sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
	    h->e_phentsize != sizeof(head.segments[0]))
		return 0;
	for (i = 0; i < h->e_phnum && !err; i += n) {
		left = h->e_phnum - i;
		n = left < BATCH ? left : BATCH;
		size = n * sizeof(head.segments[0]);
		if ((i || h->e_phoff != sizeof(*h) || (size_t)got < sizeof(*h) + size) &&
		    !read_at(fd, head.segments, size, h->e_phoff + i * sizeof(head.segments[0])))
			return 0;
		err = check_batch(path, head.segments, n, (uint64_t)st.st_size);
	}
	if (!err && h->e_phnum <= BATCH)
		*inert = is_inert(fd, &head);
	return err;
}

int elf_check_opening(const char *path, bool *inert)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	*inert = false;
	if (fd < 0)
		return 0;
	err = check_descriptor(fd, path, inert);
	close(fd);
	return err;
}
