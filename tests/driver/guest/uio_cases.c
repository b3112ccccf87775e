/* SPDX-License-Identifier: MIT */
/* The edu device of slot 4 through uio_pci_generic. */
#include <string.h>
#include <tenon/error.h>

#include "driver/uio/uio.h"
#include "tests/driver/guest/edu.h"
#include "tests/driver/guest/guest.h"

static struct uio u;
static volatile uint8_t *edu;

static void the_device_opens_and_its_bar_is_mapped(void)
{
	expect(!guest_bind("0000:00:04.0", "uio_pci_generic"));
	expect(!uio_open(NULL, "", 0, &u));
	expect(!strcmp(u.driver, "uio_pci_generic"));
	expect(!uio_pci_map(&u, 0));
	expect(u.bar[0].size == 0x100000);
	edu = u.bar[0].base;
}

static void a_bar_that_the_device_lacks_is_refused(void)
{
	expect(uio_pci_map(&u, 1) == -TENON_E_VALUE);
	expect(uio_pci_map(&u, UIO_PCI_BARS) == -TENON_E_VALUE);
	expect(uio_map(&u, u.map_count) == -TENON_E_VALUE);
}

/* uio_pci_generic of newer kernels, and of Debian's, makes maps of the BARs. */
static void a_map_of_the_driver_is_the_same_memory(void)
{
	if (!u.map_count) {
		guest_skip("uio_pci_generic of this kernel has no maps");
		return;
	}
	expect(edu);
	expect(u.map[0].address == u.bar[0].address);
	expect(u.map[0].size == u.bar[0].size);
	expect(!uio_map(&u, 0));
	edu_write(u.map[0].base, EDU_LIVENESS, 0x00ff00ff);
	expect(edu_read(edu, EDU_LIVENESS) == 0xff00ff00);
}

static void a_device_that_is_not_bound_is_not_found(void)
{
	struct uio other;

	expect(uio_open(NULL, "", 1, &other) == -TENON_E_NOT_FOUND);
}

static void registers_answer(void)
{
	uint32_t count;

	expect(edu);
	expect((edu_read(edu, EDU_ID) & 0xffff) == 0xed);
	edu_write(edu, EDU_LIVENESS, 0x12345678);
	expect(edu_read(edu, EDU_LIVENESS) == ~UINT32_C(0x12345678));
	/*
	 * The device's thread clears BUSY and only then reads whether to raise an interrupt. Wait for
	 * the interrupt too, or the next case may get it.
	 */
	expect(!uio_enable_interrupt(&u));
	edu_write(edu, EDU_STATUS, EDU_IRQ_WHEN_DONE);
	edu_write(edu, EDU_FACTORIAL, 10);
	while (edu_read(edu, EDU_STATUS) & EDU_BUSY)
		guest_pause();
	expect(edu_read(edu, EDU_FACTORIAL) == 3628800);
	expect(!uio_wait_interrupt(&u, guest_deadline(), &count));
	edu_write(edu, EDU_STATUS, 0);
	edu_acknowledge(edu);
}

static void an_interrupt_arrives(void)
{
	uint32_t count;

	expect(edu);
	expect(!uio_enable_interrupt(&u));
	expect(uio_wait_interrupt(&u, 0, &count) == -TENON_E_TIMEOUT);
	edu_write(edu, EDU_STATUS, EDU_IRQ_WHEN_DONE);
	edu_write(edu, EDU_FACTORIAL, 12);
	expect(!uio_wait_interrupt(&u, guest_deadline(), &count));
	expect(count == 1);
	expect(edu_read(edu, EDU_IRQ_STATUS) == 1);
	expect(edu_read(edu, EDU_FACTORIAL) == 479001600);
	edu_write(edu, EDU_STATUS, 0);
	edu_acknowledge(edu);
}

/* The kernel masked the interrupt above: nothing comes until it is enabled again. */
static void an_interrupt_waits_until_it_is_enabled_again(void)
{
	uint32_t count;

	expect(edu);
	edu_write(edu, EDU_IRQ_RAISE, 2);
	expect(edu_read(edu, EDU_IRQ_STATUS) == 2);
	expect(uio_wait_interrupt(&u, 0, &count) == -TENON_E_TIMEOUT);
	expect(!uio_enable_interrupt(&u));
	expect(!uio_wait_interrupt(&u, guest_deadline(), &count));
	expect(count == 1);
	edu_acknowledge(edu);
}

static void two_hundred_interrupts_are_counted(void)
{
	uint64_t before = u.interrupts;
	uint32_t count;

	expect(edu);
	for (uint32_t i = 1; i <= 200; i++) {
		expect(!uio_enable_interrupt(&u));
		edu_write(edu, EDU_IRQ_RAISE, i);
		expect(!uio_wait_interrupt(&u, guest_deadline(), &count));
		expect(count == 1);
		expect(edu_read(edu, EDU_IRQ_STATUS) == i);
		edu_acknowledge(edu);
	}
	expect(u.interrupts - before == 200);
	expect(u.missed == 0);
}

/* The kernel counts on while nobody reads. */
static bool raise_and_wait_for_count(uint32_t number)
{
	uint64_t counted, before;
	const char *path = "/sys/class/uio/uio0/event";

	if (system_read_number(&system_calls_of_kernel, path, &before) || uio_enable_interrupt(&u))
		return false;
	edu_write(edu, EDU_IRQ_RAISE, number);
	do {
		guest_pause();
		if (system_read_number(&system_calls_of_kernel, path, &counted))
			return false;
	} while (counted == before);
	edu_acknowledge(edu);
	return true;
}

static void missed_interrupts_are_reported(void)
{
	uint32_t count;

	expect(edu);
	expect(raise_and_wait_for_count(1));
	expect(raise_and_wait_for_count(2));
	expect(raise_and_wait_for_count(3));
	expect(!uio_wait_interrupt(&u, guest_deadline(), &count));
	expect(count == 3);
	expect(u.missed == 2);
}

static void the_device_closes_and_opens_again(void)
{
	uio_close(&u);
	edu = NULL;
	expect(!uio_open(NULL, "", 0, &u));
	uio_close(&u);
}

const struct guest_case uio_cases[] = {
	{ "uio: the device opens and its BAR is mapped", the_device_opens_and_its_bar_is_mapped },
	{ "uio: a BAR that the device lacks is refused", a_bar_that_the_device_lacks_is_refused },
	{ "uio: a device that is not bound is not found", a_device_that_is_not_bound_is_not_found },
	{ "uio: registers answer", registers_answer },
	{ "uio: a map of the driver is the same memory", a_map_of_the_driver_is_the_same_memory },
	{ "uio: an interrupt arrives", an_interrupt_arrives },
	{ "uio: an interrupt waits until it is enabled again",
	  an_interrupt_waits_until_it_is_enabled_again },
	{ "uio: two hundred interrupts are counted", two_hundred_interrupts_are_counted },
	{ "uio: missed interrupts are reported", missed_interrupts_are_reported },
	{ "uio: the device closes and opens again", the_device_closes_and_opens_again },
	{ NULL, NULL },
};
