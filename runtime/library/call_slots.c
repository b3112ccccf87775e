/* SPDX-License-Identifier: MIT */
/* Write addresses of libtenon's functions to the PLT slots of a mapped module. */
#include "runtime/library/loaded_object.h"

/* relocation type of PLT slots; 0 on machines where it is not known */
#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#elif defined(__arm__)
#define JUMP_SLOT R_ARM_JUMP_SLOT
#elif defined(__riscv)
#define JUMP_SLOT 5
#elif defined(__i386__)
#define JUMP_SLOT R_386_JMP_SLOT
#else
#define JUMP_SLOT 0
#endif

#if __SIZEOF_POINTER__ == 8
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#define TYPE_OF(info)	ELF64_R_TYPE(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#define TYPE_OF(info)	ELF32_R_TYPE(info)
#endif

static void rebind(const struct loaded_object *o, const ElfW(Rel) * slot,
		   void *(*find)(const char *name))
{
	const ElfW(Sym) *s = &o->symbols[SYMBOL_OF(slot->r_info)];
	void **at = (void **)(o->base + slot->r_offset);
	void *address;

	if (TYPE_OF(slot->r_info) != JUMP_SLOT || s->st_shndx != SHN_UNDEF ||
	    s->st_name >= o->strings_size)
		return;
	address = find(o->strings + s->st_name);
	if (address && __atomic_load_n(at, __ATOMIC_RELAXED) != address)
		__atomic_store_n(at, address, __ATOMIC_RELEASE);
}

bool loaded_object_can_rebind(void)
{
	return JUMP_SLOT != 0;
}

void loaded_object_rebind(const struct loaded_object *o, void *(*find)(const char *name))
{
	size_t size = o->slots_rela ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel)), i;
	const char *slots = o->slots;

	if (!JUMP_SLOT || o->bound_now)
		return;
	for (i = 0; slots && i < o->slots_size / size; i++)
		rebind(o, (const void *)(slots + i * size), find);
}
