/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/error.h>
#include "lib/brief_errors.h"
#include "lib/elf.h"

/* read at a time; most libraries have no more */
#define BATCH 16

/* where nearly all linkers put it, so that one read brings both */
struct head {
	ElfW(Ehdr) header;
	ElfW(Phdr) segments[BATCH];
};

static int check_batch(const char *path, const ElfW(Phdr) * p, size_t count, uint64_t size)
{
	for (; count--; p++)
		if (p->p_type == PT_LOAD &&
		    (p->p_offset > size || p->p_filesz > size - p->p_offset))
			return tenon_error(-TENON_E_TRUNCATED,
					   "%s: a segment of %" PRIu64 " bytes at 0x%" PRIx64
					   " lies outside the file of %" PRIu64
					   " bytes: it is truncated",
					   path, (uint64_t)p->p_filesz, (uint64_t)p->p_offset, size);
	return 0;
}

/* What cannot be read, and what is no library of this machine, is left to dlopen() to refuse. */
static int check_descriptor(int fd, const char *path)
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
		    pread(fd, head.segments, size,
			  (off_t)(h->e_phoff + i * sizeof(head.segments[0]))) != (ssize_t)size)
			break;
		err = check_batch(path, head.segments, n, (uint64_t)st.st_size);
	}
	return err;
}

int elf_check_segments(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	if (fd < 0)
		return 0;
	err = check_descriptor(fd, path);
	close(fd);
	return err;
}
