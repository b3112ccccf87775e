/* SPDX-License-Identifier: MIT */
/* The edu device of slot 5 through vfio-pci, behind an emulated Intel IOMMU. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/vfio/vfio.h"
#include "tests/driver/guest/edu.h"
#include "tests/driver/guest/guest.h"

#define NAME	 "0000:00:05.0"
#define IOVA	 0x1000000
#define UNMAPPED 0x2000000
#define BOTH	 (VFIO_DEVICE_READS | VFIO_DEVICE_WRITES)

static struct vfio v;
static struct vfio_region bar;
static volatile uint8_t *edu;
static uint8_t *memory; /* 8192 bytes that the device may use */
static int irq = -1;

static void the_device_opens_and_its_bar_is_mapped(void)
{
	expect(!guest_bind(NAME, "vfio-pci"));
	expect(!vfio_open(NULL, "", NAME, &v));
	expect(v.is_pci);
	expect(v.page_sizes & 4096);
	expect(v.range_count >= 2);
	expect(!vfio_region_open(&v, VFIO_PCI_BAR0, &bar));
	expect(bar.size == 0x100000);
	expect(!vfio_region_map(&v, &bar));
	edu = bar.base;
	memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect(memory != MAP_FAILED);
}

static void devices_that_vfio_has_not_are_refused(void)
{
	struct vfio other;

	/* bound to UIO; no such device; in use by this program */
	expect(vfio_open(NULL, "", "0000:00:04.0", &other) == -TENON_E_NOT_FOUND);
	expect(vfio_open(NULL, "", "0000:00:1e.7", &other) == -TENON_E_NOT_FOUND);
	expect(vfio_open(NULL, "", NAME, &other) == -TENON_E_DEVICE);
}

static void registers_answer_by_mapping_and_by_calls(void)
{
	uint32_t value = 0x12345678;

	expect(edu);
	expect((edu_read(edu, EDU_ID) & 0xffff) == 0xed);
	expect(!vfio_region_write(&v, &bar, EDU_LIVENESS, &value, sizeof(value)));
	expect(edu_read(edu, EDU_LIVENESS) == ~UINT32_C(0x12345678));
	expect(!vfio_region_read(&v, &bar, EDU_LIVENESS, &value, sizeof(value)));
	expect(value == ~UINT32_C(0x12345678));
	expect(vfio_region_read(&v, &bar, bar.size, &value, sizeof(value)) == -TENON_E_VALUE);
}

static void configuration_space_names_the_device(void)
{
	struct vfio_region config, none;
	uint32_t ids = 0;

	expect(!vfio_region_open(&v, VFIO_PCI_CONFIG, &config));
	expect(!vfio_region_read(&v, &config, 0, &ids, sizeof(ids)));
	expect(ids == 0x11e81234);
	expect(vfio_region_map(&v, &config) == -TENON_E_UNSUPPORTED);
	expect(vfio_region_open(&v, VFIO_PCI_BAR0 + 3, &none) == -TENON_E_VALUE);
}

static void an_intx_interrupt_waits_until_it_is_unmasked(void)
{
	uint64_t count;
	int intx;

	expect(edu);
	expect(!vfio_interrupts_open(&v, VFIO_PCI_INTX, 1, &intx));
	edu_write(edu, EDU_IRQ_RAISE, 1);
	expect(!vfio_interrupt_wait(&v, intx, guest_deadline(), &count));
	expect(count == 1);
	/* still asserted, but masked */
	expect(vfio_interrupt_wait(&v, intx, 0, &count) == -TENON_E_TIMEOUT);
	edu_acknowledge(edu);
	expect(!vfio_interrupt_unmask(&v, VFIO_PCI_INTX));
	edu_write(edu, EDU_IRQ_RAISE, 2);
	expect(!vfio_interrupt_wait(&v, intx, guest_deadline(), &count));
	edu_acknowledge(edu);
	vfio_interrupts_close(&v, VFIO_PCI_INTX, 1, &intx);
}

static void two_hundred_msi_interrupts_are_counted(void)
{
	uint64_t count;
	int two[2];

	expect(edu);
	expect(vfio_interrupts_open(&v, VFIO_PCI_MSI, 2, two) == -TENON_E_VALUE);
	expect(vfio_interrupts_open(&v, VFIO_PCI_MSIX, 1, two) == -TENON_E_UNSUPPORTED);
	expect(!vfio_interrupts_open(&v, VFIO_PCI_MSI, 1, &irq));
	expect(!vfio_pci_set_master(&v, true));
	expect(vfio_interrupt_wait(&v, irq, 0, &count) == -TENON_E_TIMEOUT);
	for (uint32_t i = 1; i <= 200; i++) {
		edu_write(edu, EDU_IRQ_RAISE, i);
		expect(!vfio_interrupt_wait(&v, irq, guest_deadline(), &count));
		expect(count == 1);
		expect(edu_read(edu, EDU_IRQ_STATUS) == i);
		edu_acknowledge(edu);
	}
}

static void a_computation_ends_with_an_interrupt(void)
{
	uint64_t count;

	expect(edu);
	expect(irq >= 0);
	edu_write(edu, EDU_STATUS, EDU_IRQ_WHEN_DONE);
	edu_write(edu, EDU_FACTORIAL, 9);
	expect(!vfio_interrupt_wait(&v, irq, guest_deadline(), &count));
	expect(edu_read(edu, EDU_FACTORIAL) == 362880);
	edu_write(edu, EDU_STATUS, 0);
	edu_acknowledge(edu);
}

static void dma_goes_both_ways(void)
{
	expect(edu);
	for (int i = 0; i < 2048; i++)
		memory[i] = (uint8_t)(i * 13 + 5);
	expect(!vfio_map_dma(&v, memory, 8192, IOVA, BOTH));
	edu_copy(edu, IOVA, 0, 2048, false);
	edu_copy(edu, IOVA + 4096, 0, 2048, true);
	expect(!memcmp(memory, memory + 4096, 2048));
}

static void the_kernel_refuses_what_cannot_be_mapped(void)
{
	expect(edu);
	expect(vfio_map_dma(&v, memory, 4096, IOVA + 4096, BOTH) == -TENON_E_EXISTS);
	/* where MSI are written to */
	expect(vfio_map_dma(&v, memory, 4096, 0xfee00000, BOTH) == -TENON_E_VALUE);
	/* past the end of what the IOMMU translates */
	expect(vfio_map_dma(&v, memory, 4096, v.range[v.range_count - 1].last + 1, BOTH) ==
	       -TENON_E_VALUE);
	/* no memory there */
	expect(vfio_map_dma(&v, (void *)4096, 4096, UNMAPPED, BOTH) < 0);
	expect(vfio_unmap_dma(&v, UNMAPPED, 4096) == -TENON_E_NOT_FOUND);
}

/* The kernel's log has the address that the device used. */
static void an_access_outside_is_reported_and_reaches_nothing(void)
{
	expect(edu);
	memset(memory + 4096, 0xee, 4096);
	guest_log_skip();
	edu_copy(edu, UNMAPPED, 0, 64, true);
	expect(guest_log_says("fault addr 0x2000000", guest_deadline()));
	for (int i = 0; i < 4096; i++)
		expect(memory[4096 + i] == 0xee);
}

static void the_device_works_after_a_fault(void)
{
	expect(edu);
	memset(memory + 4096, 0, 4096);
	edu_copy(edu, IOVA, 0, 512, false);
	edu_copy(edu, IOVA + 4096, 0, 512, true);
	expect(!memcmp(memory, memory + 4096, 512));
}

static void memory_that_was_taken_away_is_out_of_reach(void)
{
	expect(edu);
	memset(memory, 0x11, 8192);
	edu_copy(edu, IOVA, 0, 64, false);
	expect(!vfio_unmap_dma(&v, IOVA, 8192));
	memset(memory, 0x22, 8192);
	guest_log_skip();
	edu_copy(edu, IOVA, 0, 64, true);
	expect(guest_log_says("fault addr 0x1000000", guest_deadline()));
	for (int i = 0; i < 8192; i++)
		expect(memory[i] == 0x22);
}

static void memory_to_read_cannot_be_written(void)
{
	expect(edu);
	memset(memory, 0x33, 8192);
	expect(!vfio_map_dma(&v, memory, 4096, IOVA + 0x100000, VFIO_DEVICE_READS));
	expect(!vfio_map_dma(&v, memory + 4096, 4096, IOVA + 0x200000, VFIO_DEVICE_WRITES));
	guest_log_skip();
	/* its buffer is full of something else; and no read before: the emulated IOMMU logs what it has not cached */
	edu_copy(edu, IOVA + 0x100000, 2048, 64, true);
	expect(guest_log_says("fault addr 0x1100000", guest_deadline()));
	for (int i = 0; i < 4096; i++)
		expect(memory[i] == 0x33);
	edu_copy(edu, IOVA + 0x100000, 0, 64, false);
	memset(memory + 4096, 0, 4096);
	edu_copy(edu, IOVA + 0x200000, 0, 64, true);
	for (int i = 0; i < 64; i++)
		expect(memory[4096 + i] == 0x33);
}

static void a_reset_works_or_is_not_offered(void)
{
	int err = vfio_reset(&v);

	expect(err == (v.can_reset ? 0 : -TENON_E_UNSUPPORTED));
}

static void the_device_closes_and_opens_again(void)
{
	if (irq >= 0)
		vfio_interrupts_close(&v, VFIO_PCI_MSI, 1, &irq);
	vfio_region_close(&v, &bar);
	vfio_close(&v);
	edu = NULL;
	expect(!vfio_open(NULL, "", NAME, &v));
	/* nothing is mapped in a new address space */
	expect(vfio_unmap_dma(&v, IOVA + 0x100000, 4096) == -TENON_E_NOT_FOUND);
	vfio_close(&v);
}

const struct guest_case vfio_cases[] = {
	{ "vfio: the device opens and its BAR is mapped", the_device_opens_and_its_bar_is_mapped },
	{ "vfio: devices that VFIO does not have are refused",
	  devices_that_vfio_has_not_are_refused },
	{ "vfio: registers answer by mapping and by calls",
	  registers_answer_by_mapping_and_by_calls },
	{ "vfio: configuration space names the device", configuration_space_names_the_device },
	{ "vfio: an INTx interrupt waits until it is unmasked",
	  an_intx_interrupt_waits_until_it_is_unmasked },
	{ "vfio: two hundred MSI interrupts are counted", two_hundred_msi_interrupts_are_counted },
	{ "vfio: a computation ends with an interrupt", a_computation_ends_with_an_interrupt },
	{ "vfio: DMA goes both ways", dma_goes_both_ways },
	{ "vfio: the kernel refuses what cannot be mapped",
	  the_kernel_refuses_what_cannot_be_mapped },
	{ "vfio: an access outside is reported and reaches nothing",
	  an_access_outside_is_reported_and_reaches_nothing },
	{ "vfio: the device works after a fault", the_device_works_after_a_fault },
	{ "vfio: memory that was taken away is out of reach",
	  memory_that_was_taken_away_is_out_of_reach },
	{ "vfio: memory to read cannot be written", memory_to_read_cannot_be_written },
	{ "vfio: a reset works or is not offered", a_reset_works_or_is_not_offered },
	{ "vfio: the device closes and opens again", the_device_closes_and_opens_again },
	{ NULL, NULL },
};
