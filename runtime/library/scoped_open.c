/* SPDX-License-Identifier: MIT */
/* Write a library without code that ties a module and its provider together. */
#include "runtime/library/scoped_open.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum dynamic_entry {
	NEEDED_LIBRARY,
	NEEDED_PROVIDER,
	HASH,
	STRTAB,
	SYMTAB,
	STRSZ,
	SYMENT,
	END,
	DYNAMIC_ENTRIES
};

/* A shared object with no code and no symbols; the two names follow the struct. */
struct group_image {
	ElfW(Ehdr) header;
	ElfW(Phdr) segments[3];
	ElfW(Dyn) dynamic[DYNAMIC_ENTRIES];
	ElfW(Sym) symbols[1];
	uint32_t hash[4]; /* one bucket and one chain, both empty */
	char strings[];	  /* "", the library, the provider */
};

/* Class, byte order, machine and flags are those of the library. */
static bool copy_header(ElfW(Ehdr) * out, const char *from)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	bool read_whole;

	if (fd < 0)
		return false;
	read_whole = pread(fd, out, sizeof(*out), 0) == sizeof(*out);
	close(fd);
	return read_whole && !memcmp(out->e_ident, ELFMAG, SELFMAG);
}

static void fill_segments(struct group_image *image, size_t size)
{
	ElfW(Phdr) *load = &image->segments[0], *dynamic = &image->segments[1];

	load->p_type = PT_LOAD;
	load->p_flags = PF_R | PF_W;
	load->p_filesz = load->p_memsz = size;
	load->p_align = 0x10000;
	dynamic->p_type = PT_DYNAMIC;
	dynamic->p_flags = PF_R | PF_W;
	dynamic->p_offset = offsetof(struct group_image, dynamic);
	dynamic->p_vaddr = dynamic->p_paddr = dynamic->p_offset;
	dynamic->p_filesz = dynamic->p_memsz = sizeof(image->dynamic);
	dynamic->p_align = sizeof(void *);
	/* Without this header the dynamic linker makes every stack executable. */
	image->segments[2].p_type = PT_GNU_STACK;
	image->segments[2].p_flags = PF_R | PF_W;
}

static void set_dynamic(struct group_image *image, enum dynamic_entry entry, int tag, size_t value)
{
	image->dynamic[entry].d_tag = tag;
	image->dynamic[entry].d_un.d_val = value;
}

static void fill_dynamic(struct group_image *image, size_t provider, size_t strings)
{
	set_dynamic(image, NEEDED_LIBRARY, DT_NEEDED, 1);
	set_dynamic(image, NEEDED_PROVIDER, DT_NEEDED, provider);
	set_dynamic(image, HASH, DT_HASH, offsetof(struct group_image, hash));
	set_dynamic(image, STRTAB, DT_STRTAB, offsetof(struct group_image, strings));
	set_dynamic(image, SYMTAB, DT_SYMTAB, offsetof(struct group_image, symbols));
	set_dynamic(image, STRSZ, DT_STRSZ, strings);
	set_dynamic(image, SYMENT, DT_SYMENT, sizeof(image->symbols[0]));
	set_dynamic(image, END, DT_NULL, 0);
	image->hash[0] = 1;
	image->hash[1] = 1;
}

static struct group_image *image_create(const char *path, const char *provider, size_t *size)
{
	size_t first = strlen(path) + 1, strings = 1 + first + strlen(provider) + 1;
	struct group_image *image;

	*size = sizeof(*image) + strings;
	image = calloc(1, *size);
	if (!image || !copy_header(&image->header, path)) {
		free(image);
		return NULL;
	}
	image->header.e_type = ET_DYN;
	image->header.e_entry = 0;
	image->header.e_phoff = offsetof(struct group_image, segments);
	image->header.e_phnum = sizeof(image->segments) / sizeof(image->segments[0]);
	image->header.e_shoff = 0;
	image->header.e_shnum = 0;
	image->header.e_shstrndx = 0;
	fill_segments(image, *size);
	fill_dynamic(image, 1 + first, strings);
	memcpy(image->strings + 1, path, first);
	memcpy(image->strings + 1 + first, provider, strings - 1 - first);
	return image;
}

/* Check RLIMIT_FSIZE: exceeding it, in a memfd too, would end the process by SIGXFSZ. */
static bool may_write(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= size;
}

/* Write the image to a memory file; return its descriptor, or -1 if that is not possible. */
static int image_write(const char *path, const char *provider)
{
	struct group_image *image;
	size_t size;
	int fd;

	image = image_create(path, provider, &size);
	if (!image)
		return -1;
	fd = may_write(size) ? memfd_create("tenon-group", MFD_CLOEXEC) : -1;
	if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	free(image);
	return fd;
}

enum scoped_open scoped_open(const char *path, const char *provider, void **handle)
{
	enum scoped_open result = SCOPED_OPEN_IMPOSSIBLE;
	char name[40];
	void *group;
	int fd;

	*handle = NULL;
	fd = image_write(path, provider);
	if (fd < 0)
		return result;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (!access(name, R_OK)) {
		result = SCOPED_OPEN_REFUSED;
		group = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		if (group) {
			*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			/* The library is bound and no longer needs the group. */
			dlclose(group);
		}
	}
	close(fd);
	return *handle ? SCOPED_OPEN_DONE : result;
}
