/* SPDX-License-Identifier: MIT */
/* Explain why the dynamic linker refused a shared object. */
#include <dlfcn.h>

#include <tenon/error.h>
#include "lib/brief_errors.h"
#include "lib/elf.h"
#include "lib/file_map.h"

/* e_machine of this build: modules must be for the same machine */
#if defined(__x86_64__)
#define HOST_MACHINE 62
#elif defined(__i386__)
#define HOST_MACHINE 3
#elif defined(__aarch64__)
#define HOST_MACHINE 183
#elif defined(__arm__)
#define HOST_MACHINE 40
#elif defined(__riscv)
#define HOST_MACHINE 243
#elif defined(__powerpc64__)
#define HOST_MACHINE 21
#elif defined(__s390__)
#define HOST_MACHINE 22
#elif defined(__mips__)
#define HOST_MACHINE 8
#elif defined(__loongarch__)
#define HOST_MACHINE 258
#else
#define HOST_MACHINE 0
#endif

static bool host_is_big(void)
{
	const uint16_t one = 1;

	return !*(const uint8_t *)&one;
}

static int check_machine(const struct elf_file *elf)
{
	struct elf_file host = { .machine = HOST_MACHINE, .wide = sizeof(void *) == 8 };

	if (HOST_MACHINE &&
	    (elf->machine != host.machine || elf->wide != host.wide || elf->big != host_is_big()))
		return tenon_error(-TENON_E_FORMAT,
				   "%s: made for %s (%d-bit, %s-endian), this program runs on %s "
				   "(%d-bit, %s-endian); "
				   "export the module for this machine, or inspect it only",
				   elf->path, elf_machine_name(elf), elf->wide ? 64 : 32,
				   elf->big ? "big" : "little", elf_machine_name(&host),
				   host.wide ? 64 : 32, host_is_big() ? "big" : "little");
	if (elf->type == ELF_RELOCATABLE)
		return tenon_error(
			-TENON_E_FORMAT,
			"%s: an object file, want a shared object; link it with cc -shared",
			elf->path);
	if (elf_is_program(elf))
		return tenon_error(-TENON_E_FORMAT,
				   "%s: a program, want a module; a module is a shared object that "
				   "TVM writes with export_library()",
				   elf->path);
	if (elf->type != ELF_SHARED)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: an ELF file of type %u, want a shared object", elf->path,
				   elf->type);
	return 0;
}

/* The dynamic linker's search path cannot be queried, so try to open the libraries. */
static int check_needed(const struct elf_file *elf)
{
	const char *name;
	unsigned int i;
	void *library;

	for (i = 0; (name = elf_needed(elf, i)); i++) {
		library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return tenon_error(-TENON_E_NOT_FOUND,
					   "%s: needs the library %s, which cannot be loaded (%s)",
					   elf->path, name, dlerror());
		dlclose(library);
	}
	return 0;
}

int elf_check_loadable(const char *path)
{
	struct tenon_slice bytes;
	struct elf_file elf;
	int err;

	err = file_map_open(path, &bytes);
	if (err)
		return err;
	err = elf_open(&elf, bytes, path);
	if (!err)
		err = check_machine(&elf);
	if (!err)
		err = check_needed(&elf);
	file_map_close(&bytes);
	return err;
}
