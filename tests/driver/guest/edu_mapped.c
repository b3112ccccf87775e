/* SPDX-License-Identifier: MIT */
/* The registers of edu by a mapping, as a program in a guest has them. */
#include "tests/driver/guest/edu.h"
#include "tests/driver/guest/guest.h"

static uint32_t read_word(void *base, uint32_t at)
{
	return edu_read(base, at);
}

static void write_word(void *base, uint32_t at, uint32_t value)
{
	edu_write(base, at, value);
}

static void write_long(void *base, uint32_t at, uint64_t value)
{
	*(volatile uint64_t *)((volatile uint8_t *)base + at) = value;
}

static struct edu_access mapped(volatile uint8_t *base)
{
	return (struct edu_access){ (void *)(uintptr_t)base, read_word, write_word, write_long,
				    guest_pause };
}

void edu_copy(volatile uint8_t *base, uint64_t memory, uint32_t offset, uint32_t count,
	      bool to_memory)
{
	const struct edu_access edu = mapped(base);

	edu_copy_by(&edu, memory, offset, count, to_memory);
}

void edu_acknowledge(volatile uint8_t *base)
{
	const struct edu_access edu = mapped(base);

	edu_acknowledge_by(&edu);
}
