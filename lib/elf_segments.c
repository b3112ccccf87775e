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
	ElfW(Phdr) batch[BATCH];
	ElfW(Ehdr) header;
	struct stat st;
	size_t i, n, left;
	int err = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_phentsize != sizeof(batch[0]))
		return 0;
	for (i = 0; i < header.e_phnum && !err; i += n) {
		left = header.e_phnum - i;
		n = left < BATCH ? left : BATCH;
		if (pread(fd, batch, n * sizeof(batch[0]),
			  (off_t)(header.e_phoff + i * sizeof(batch[0]))) !=
		    (ssize_t)(n * sizeof(batch[0])))
			break;
		err = check_batch(path, batch, n, (uint64_t)st.st_size);
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
