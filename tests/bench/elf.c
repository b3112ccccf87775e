/* SPDX-License-Identifier: MIT */
/* Facts about a library's file: relocations, exports, stripped size, cost of loading it afresh. */
#include "bench.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if __SIZEOF_POINTER__ == 8
typedef Elf64_Ehdr elf_header;
typedef Elf64_Shdr elf_section;
typedef Elf64_Sym elf_symbol;
#define RELOC_TYPE(info)  ELF64_R_TYPE(info)
#define SYMBOL_BIND(info) ELF64_ST_BIND(info)
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Shdr elf_section;
typedef Elf32_Sym elf_symbol;
#define RELOC_TYPE(info)  ELF32_R_TYPE(info)
#define SYMBOL_BIND(info) ELF32_ST_BIND(info)
#endif

/* a relocation names a symbol exactly when it is not RELATIVE or IRELATIVE */
static long symbolic(const uint8_t *base, const elf_section *s)
{
	size_t i, n = s->sh_entsize ? s->sh_size / s->sh_entsize : 0;
	long count = 0;

	for (i = 0; i < n; i++) {
		const uint8_t *at = base + s->sh_offset + i * s->sh_entsize;
#if __SIZEOF_POINTER__ == 8
		count += ELF64_R_SYM(((const Elf64_Rel *)at)->r_info) != 0;
#else
		count += ELF32_R_SYM(((const Elf32_Rel *)at)->r_info) != 0;
#endif
	}
	return count;
}

static long exported(const uint8_t *base, const elf_section *s)
{
	const elf_symbol *symbols = (const elf_symbol *)(base + s->sh_offset);
	size_t i, n = s->sh_size / sizeof(*symbols);
	long count = 0;

	for (i = 0; i < n; i++)
		count += symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_shndx != SHN_ABS &&
			 SYMBOL_BIND(symbols[i].st_info) != STB_LOCAL;
	return count;
}

int bench_elf_read(const char *path, struct bench_elf *out)
{
	const elf_header *h;
	const elf_section *s;
	struct stat st;
	uint8_t *base;
	int fd = open(path, O_RDONLY | O_CLOEXEC), i;

	memset(out, 0, sizeof(*out));
	if (fd < 0)
		return -1;
	base = fstat(fd, &st) ? MAP_FAILED
			      : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (base == MAP_FAILED)
		return -1;
	h = (const elf_header *)base;
	s = (const elf_section *)(base + h->e_shoff);
	for (i = 0; i < h->e_shnum; i++) {
		if (s[i].sh_type == SHT_RELA || s[i].sh_type == SHT_REL)
			out->relocations += symbolic(base, &s[i]);
		else if (s[i].sh_type == SHT_DYNSYM)
			out->exports += exported(base, &s[i]);
	}
	munmap(base, (size_t)st.st_size);
	return 0;
}

double bench_stripped(const char *path)
{
	const char *strip = getenv("STRIP"), *build = getenv("TENON_BUILD");
	char copy[1024], command[4096];
	struct stat st;

	snprintf(copy, sizeof(copy), "%s/tests/bench/stripped", build ? build : "build");
	snprintf(command, sizeof(command), "%s -s -o '%s' '%s'", strip && *strip ? strip : "strip",
		 copy, path);
	if (system(command) || stat(copy, &st))
		return -1;
	unlink(copy);
	return (double)st.st_size;
}

static double resident_kib(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	double kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %lf", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

int bench_fresh_child(const char *path)
{
	double before = resident_kib(), start = bench_now(), spent;
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	spent = bench_now() - start;
	if (!handle)
		return 1;
	printf("%.17g %.17g\n", spent / 1e3, resident_kib() - before);
	return 0;
}

int bench_fresh(const char *self, const char *path, int times, double *us, double *kib)
{
	double *spent = calloc((size_t)times, sizeof(double)),
	       *grown = calloc((size_t)times, sizeof(double));
	char command[4096];
	int i, n = 0;

	for (i = 0; spent && grown && i < times; i++) {
		FILE *f;

		snprintf(command, sizeof(command), "exec '%s' --fresh '%s'", self, path);
		f = popen(command, "r");
		if (f && fscanf(f, "%lf %lf", &spent[n], &grown[n]) == 2)
			n++;
		if (f)
			pclose(f);
	}
	if (n) {
		*us = bench_middle(spent, n);
		*kib = bench_middle(grown, n);
	}
	free(spent);
	free(grown);
	return n ? 0 : -1;
}
