/* SPDX-License-Identifier: MIT */
/* tenon doctor --board on a named fake: files stand for what a kernel says of a board. */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <tenon/uapi/mortise.h>
#include <unistd.h>

#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

#include "tests/unit/cli_run.h"

#define CORE "/sys/class/remoteproc/remoteproc0"

static struct cli_run doctor(char *device)
{
	return device ? RUN("doctor", "--board", "--root", tree, device)
		      : RUN("doctor", "--board", "--root", tree);
}

/* The run says this, and ends so. */
static void says(struct cli_run r, int code, const char *words)
{
	if (!strstr(r.out, words))
		fail_msg("wanted \"%s\" in:\n%s", words, r.out);
	assert_string_equal(r.err, "");
	assert_int_equal(r.code, code);
	cli_run_free(&r);
}

static int setup(void **state)
{
	int err = tree_setup(state);

	tree_text("/proc/meminfo", "MemTotal: 1 kB\nCmaTotal:   65536 kB\nCmaFree:    60000 kB\n");
	tree_text("/sys/kernel/iommu_groups/4/type", "DMA\n");
	tree_text("/sys/class/iommu/dmar0/name", "");
	tree_text("/sys/class/uio/uio0/name", "npu\n");
	tree_text("/sys/class/uio/uio0/event", "12\n");
	tree_text("/sys/class/uio/uio0/device/power/runtime_status", "active\n");
	tree_text("/dev/uio0", "");
	tree_text("/dev/dma_heap/system", "");
	tree_text(CORE "/name", "7e000000.dsp\n");
	tree_text(CORE "/state", "running\n");
	tree_text(CORE "/firmware", "tenon/mortise.elf\n");
	tree_text("/lib/firmware/tenon/mortise.elf", "abc");
	tree_text("/dev/kmsg", "6,1,1,-;remoteproc remoteproc0: powering up\n");
	return err;
}

static void a_board_that_is_well_has_no_fault(void **state)
{
	(void)state;
	tree_text("/dev/udmabuf", "");
	says(doctor(NULL), 0, "kept to the memory that they are given by dmar0");
	says(doctor(NULL), 0, "64 MiB, 59 MiB free");
	says(doctor(NULL), 0, "ok    dma-heap       /dev/dma_heap/system");
	says(doctor(NULL), 0, "ok    udmabuf        /dev/udmabuf");
	says(doctor("mortise://uio/0"), 0, "(npu), 12 interrupts, power active");
	says(doctor("mortise://remoteproc/0?uio=1"), 0,
	     "remoteproc0 (7e000000.dsp): running, no crash in the kernel's log");
}

static void what_was_asked_for_and_is_missing_is_a_fault(void **state)
{
	(void)state;
	says(doctor("mortise://uio/3"), 4, "fail  uio            uio3 is not there");
	says(doctor("mortise://remoteproc/3"), 4, "fail  remoteproc     remoteproc3 is not there");
	says(doctor("mortise://vfio/0000:00:04.0"), 4, "0000:00:04.0 is not there");
	assert_refused(doctor("mortise://sim"), 2, "mortise://sim: want mortise://uio/N");
	assert_refused(RUN("doctor", "--root", tree), 2, "--root: only with --board");
	tree_drop("/dev/uio0");
	says(doctor(NULL), 0, "warn  uio            /dev/uio0: No such file");
	says(doctor("mortise://uio/0"), 4, "fail  uio            /dev/uio0: No such file");
}

static void a_node_that_may_not_be_opened_names_owner_and_remedy(void **state)
{
	char path[600];

	(void)state;
	snprintf(path, sizeof(path), "%s/dev/uio0", tree);
	assert_int_equal(chmod(path, 0400), 0);
	if (!access(path, W_OK)) {
		printf("# root may open every file\n");
		skip();
	}
	says(doctor("mortise://uio/0"), 4, "cannot be opened by");
	says(doctor("mortise://uio/0"), 4, "udev rule");
}

static void devices_without_an_iommu_are_equivalent_to_root(void **state)
{
	(void)state;
	tree_drop("/sys/kernel/iommu_groups/4/type");
	tree_drop("/sys/kernel/iommu_groups/4");
	tree_text("/sys/class/uio/uio0/name", "uio_pci_generic\n");
	says(doctor(NULL), 0, "warn  IOMMU          none: a device reads and writes all memory");
	says(doctor("mortise://uio/0"), 0, "no IOMMU: equivalent to root");
	tree_text("/proc/meminfo", "MemTotal: 1 kB\n");
	says(doctor(NULL), 0, "warn  CMA            the kernel has no memory for large buffers");
}

static void devices_that_the_iommu_lets_through_are_too(void **state)
{
	(void)state;
	tree_text("/sys/kernel/iommu_groups/5/type", "identity\n");
	tree_text("/sys/class/uio/uio0/name", "uio_pci_generic\n");
	tree_link("/sys/class/uio/uio0/device/iommu_group", "../../../../kernel/iommu_groups/5");
	says(doctor(NULL), 0, "warn  IOMMU          1 groups of devices are let through");
	says(doctor("mortise://uio/0"), 0, "no IOMMU: equivalent to root");
}

static void a_crash_is_told(void **state)
{
	(void)state;
	tree_text(CORE "/state", "crashed\n");
	tree_text("/dev/kmsg",
		  "3,1,1,-;remoteproc remoteproc0: crash detected in dsp: type fatal\n"
		  "3,2,2,-;remoteproc remoteproc0: crash detected in dsp: type watchdog\n"
		  "3,3,3,-;remoteproc remoteproc1: crash detected in x: type fatal\n");
	says(doctor(NULL), 4, "crashed, last crash: crash detected in dsp: type watchdog");
	says(doctor(NULL), 4, "/remoteproc0/recovery starts it again");
}

static void firmware_has_a_hash_and_a_version(void **state)
{
	struct mortise_image image = { MORTISE_IMAGE_WORD, MORTISE_ABI, 0, 32, 0x010203 };
	char path[700];
	FILE *f;

	(void)state;
	/* of "abc", as FIPS 180-4 has it */
	says(doctor(NULL), 0,
	     "sha256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	snprintf(path, sizeof(path), "%s/lib/firmware/tenon/mortise.elf", tree);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite("\0\0\0\0\0\0\0\0", 8, 1, f), 1);
	assert_int_equal(fwrite(&image, sizeof(image), 1, f), 1);
	fclose(f);
	says(doctor(NULL), 0, ", mortise 1.2.3, ABI 1.0");
	tree_drop("/lib/firmware/tenon/mortise.elf");
	says(doctor(NULL), 0, "warn  firmware       /lib/firmware/tenon/mortise.elf: No such file");
	says(doctor("mortise://remoteproc/0"), 4, "?firmware=FILE");
}

static void a_power_domain_that_fails_is_a_fault(void **state)
{
	(void)state;
	tree_text("/sys/class/uio/uio0/device/power/runtime_status", "error\n");
	says(doctor(NULL), 4, "power error");
}

static void a_device_bound_to_another_driver_says_how_to_bind_it(void **state)
{
	(void)state;
	tree_text("/sys/bus/pci/devices/0000:00:04.0/vendor", "");
	says(doctor("mortise://vfio/0000:00:04.0"), 4, "is bound to no driver, not to vfio-pci");
	tree_link("/sys/bus/pci/devices/0000:00:04.0/driver", "../../drivers/e1000");
	says(doctor("mortise://vfio/0000:00:04.0"), 4, "is bound to e1000, not to vfio-pci");
	tree_drop("/sys/bus/pci/devices/0000:00:04.0/driver");
	tree_link("/sys/bus/pci/devices/0000:00:04.0/driver", "../../drivers/vfio-pci");
	says(doctor("mortise://vfio/0000:00:04.0"), 4, "has no IOMMU group");
	tree_link("/sys/bus/pci/devices/0000:00:04.0/iommu_group", "../../iommu_groups/4");
	says(doctor("mortise://vfio/0000:00:04.0"), 4, "/dev/vfio/4: No such file");
	tree_text("/dev/vfio/4", "");
	says(doctor("mortise://vfio/0000:00:04.0"), 0, "/dev/vfio/4");
}

static void the_kernels_options_are_listed(void **state)
{
	struct utsname name;
	char path[300];

	(void)state;
	assert_int_equal(uname(&name), 0);
	says(doctor(NULL), 0, " UIO in use, VFIO_PCI not in use");
	snprintf(path, sizeof(path), "/boot/config-%.200s", name.release);
	tree_text(path, "#\nCONFIG_VFIO_PCI=m\nCONFIG_FPGA=y\n# CONFIG_UDMABUF is not set\n");
	says(doctor(NULL), 0, " VFIO_PCI not loaded, ");
	says(doctor(NULL), 0, " FPGA without a device, ");
	says(doctor(NULL), 0, " UDMABUF off, ");
}

#define NPU "/sys/bus/platform/devices/4a900000.npu"

static void an_npu_that_is_well_has_its_node(void **state)
{
	(void)state;
	tree_text(NPU "/uevent",
		  "OF_NAME=npu\nOF_COMPATIBLE_0=fsl,imx93-npu\nOF_COMPATIBLE_1=arm,ethos-u65\n");
	tree_link(NPU "/driver", "../../../bus/platform/drivers/ethosu");
	tree_text(NPU "/power/runtime_status", "suspended\n");
	tree_text(NPU "/accel/accel0/dev", "261:0\n");
	says(doctor(NULL), 0,
	     "warn  NPU            4a900000.npu (Ethos-U65): /dev/accel/accel0: No such file");
	tree_text("/dev/accel/accel0", "");
	says(doctor(NULL), 0, "ok    NPU            4a900000.npu (Ethos-U65): /dev/accel/accel0");
	says(doctor(NULL), 0, ", power suspended");
	tree_text(NPU "/power/runtime_status", "error\n");
	says(doctor(NULL), 4, "the power domain does not come on");
}

static void an_npu_without_a_driver_says_why(void **state)
{
	struct utsname name;
	char path[300];

	(void)state;
	tree_text(NPU "/uevent", "OF_COMPATIBLE_0=arm,ethos-u85\n");
	says(doctor(NULL), 0, "4a900000.npu (Ethos-U85) has no driver");
	says(doctor(NULL), 0, "modprobe ethosu (CONFIG_DRM_ACCEL_ARM_ETHOSU)");
	assert_int_equal(uname(&name), 0);
	snprintf(path, sizeof(path), "/boot/config-%.200s", name.release);
	tree_text(path, "#\nCONFIG_FPGA=y\n");
	says(doctor(NULL), 0, "this kernel is built without it");
	tree_text("/sys/bus/platform/drivers/ethosu/bind", "");
	says(doctor(NULL), 0, "ethosu is loaded and did not take it");
	tree_text(NPU "/waiting_for_supplier", "1\n");
	says(doctor(NULL), 0, "it waits for a regulator, clock or power domain");
	tree_link(NPU "/driver", "../../../bus/platform/drivers/npu");
	says(doctor(NULL), 0, "is bound to npu, not to ethosu");
	tree_text(NPU "/uevent", "OF_COMPATIBLE_0=arm,ethos-u55\n");
	says(doctor(NULL), 0, "4a900000.npu (Ethos-U55): Linux has no driver for it");
	/* the driver is there still, and now without a device */
	says(doctor(NULL), 0, "ethosu is loaded, and the device tree has nothing for it");
	tree_text(NPU "/uevent", "OF_COMPATIBLE_0=arm,ethos-u65x\nOF_COMPATIBLE_1\n");
	says(doctor(NULL), 0, "the device tree has nothing for it");
}

/* The driver of Torq is not in Linux, and its node is no accel node. */
static void an_npu_with_a_driver_of_its_vendor_has_a_node_too(void **state)
{
	(void)state;
	tree_text(NPU "/uevent", "OF_COMPATIBLE_0=syna,npu\n");
	says(doctor(NULL), 0, "4a900000.npu (SL2610) has no driver");
	says(doctor(NULL), 0,
	     "modprobe torq (CONFIG_SYNAPTICS_NPU, which is in kernels of the vendor alone)");
	tree_link(NPU "/driver", "../../../bus/platform/drivers/torq");
	tree_text(NPU "/misc/torq/dev", "10:120\n");
	says(doctor(NULL), 0,
	     "warn  NPU            4a900000.npu (SL2610): /dev/torq: No such file");
	tree_text("/dev/torq", "");
	says(doctor(NULL), 0, "ok    NPU            4a900000.npu (SL2610): /dev/torq");
	tree_drop("/dev/dma_heap/system");
	says(doctor(NULL), 0, "warn  NPU            4a900000.npu (SL2610): /dev/torq");
	says(doctor(NULL), 0, "; its memory is of a dma-heap, and the kernel has none");
	says(doctor(NULL), 0, "CONFIG_DMABUF_HEAPS_SYSTEM=y");
}

static void a_dsp_needs_its_node_and_the_vendors_shell(void **state)
{
	(void)state;
	unsetenv("ADSP_LIBRARY_PATH");
	tree_text("/sys/bus/rpmsg/drivers/qcom,fastrpc/bind", "");
	says(doctor(NULL), 0, "warn  DSP            fastrpc is loaded, and no DSP offers it");
	tree_text("/dev/fastrpc-cdsp", "");
	says(doctor(NULL), 0, "warn  DSP            /dev/fastrpc-cdsp");
	says(doctor(NULL), 0, "the vendor's shell fastrpc_shell_unsigned_3 is not there");
	says(doctor(NULL), 0, "the package hexagon-dsp-binaries");
	/* that of another DSP */
	tree_text("/usr/lib/dsp/cdsp/fastrpc_shell_unsigned_0", "");
	says(doctor(NULL), 0, "fastrpc_shell_unsigned_3 is not there");
	tree_text("/usr/lib/dsp/cdsp/fastrpc_shell_unsigned_3", "");
	says(doctor(NULL), 0, "ok    DSP            /dev/fastrpc-cdsp");
}

#ifdef CONFIG_JSON
static void json_has_the_same(void **state)
{
	struct cli_run r = RUN("doctor", "--board", "--json", "--root", tree, "mortise://uio/9");

	(void)state;
	says(r, 4, "uio9 is not there");
}
#endif

int main(void)
{
#define on(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(a_board_that_is_well_has_no_fault),
		on(what_was_asked_for_and_is_missing_is_a_fault),
		on(a_node_that_may_not_be_opened_names_owner_and_remedy),
		on(devices_without_an_iommu_are_equivalent_to_root),
		on(devices_that_the_iommu_lets_through_are_too),
		on(a_crash_is_told),
		on(firmware_has_a_hash_and_a_version),
		on(a_power_domain_that_fails_is_a_fault),
		on(a_device_bound_to_another_driver_says_how_to_bind_it),
		on(the_kernels_options_are_listed),
		on(an_npu_that_is_well_has_its_node),
		on(an_npu_without_a_driver_says_why),
		on(an_npu_with_a_driver_of_its_vendor_has_a_node_too),
		on(a_dsp_needs_its_node_and_the_vendors_shell),
#ifdef CONFIG_JSON
		on(json_has_the_same),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
