/* SPDX-License-Identifier: MIT */
/* The edu device of slot 5 through vfio-pci, behind an emulated Intel IOMMU. */
#include <tenon/error.h>

#include "driver/vfio/vfio.h"
#include "tests/driver/guest/edu.h"
#include "tests/driver/guest/guest.h"

#define NAME	"0000:00:05.0"
#define OUTSIDE 0x2000000

static struct vfio v;
static struct vfio_region bar;
static volatile uint8_t *edu;
static int irq = -1;

static void the_device_opens_and_its_bar_is_mapped(void)
{
	expect(!guest_bind(NAME, "vfio-pci"));
	expect(!vfio_open(NULL, "", NAME, &v));
	expect(v.is_pci);
	expect(!vfio_region_open(&v, VFIO_PCI_BAR0, &bar));
	expect(bar.size == 0x100000);
	expect(!vfio_region_map(&v, &bar));
	edu = bar.base;
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

/* The kernel's log has the address that the device used. */
static void an_access_to_memory_is_reported_by_the_iommu(void)
{
	expect(edu);
	guest_log_skip();
	edu_copy(edu, OUTSIDE, 0, 64, true);
	expect(guest_log_says("fault addr 0x2000000", guest_deadline()));
}

static void the_device_closes_and_opens_again(void)
{
	if (irq >= 0)
		vfio_interrupts_close(&v, VFIO_PCI_MSI, 1, &irq);
	vfio_region_close(&v, &bar);
	vfio_close(&v);
	edu = NULL;
	expect(!vfio_open(NULL, "", NAME, &v));
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
	{ "vfio: an access to memory is reported by the IOMMU",
	  an_access_to_memory_is_reported_by_the_iommu },
	{ "vfio: the device closes and opens again", the_device_closes_and_opens_again },
	{ NULL, NULL },
};
