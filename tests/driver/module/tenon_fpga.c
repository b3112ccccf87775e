/* SPDX-License-Identifier: MIT */
/*
 * A module for the kernel of a guest: a driver of two FPGAs that are not there. It registers managers with the kernel's
 * framework (drivers/fpga/fpga-mgr.c), which opens bitstreams, steps through states and shows them in sysfs. The first
 * eight bytes of a bitstream say at which step it fails.
 *
 * The first manager also has the attributes "flags" and "firmware" of vendors' kernels, made here; the second is one of
 * mainline. "go_on" ends the wait of a bitstream that holds the first one up.
 */
#include <linux/completion.h>
#include <linux/fpga/fpga-mgr.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/string.h>

#define HEADER 8

struct logic {
	struct platform_device *device;
	struct fpga_manager *manager;
	struct completion go_on;
	unsigned long flags;
	char header[HEADER];
};

static struct logic logics[2];

static bool is(const struct fpga_manager *manager, const char *kind)
{
	const struct logic *l = manager->priv;

	return !memcmp(l->header, "TBIT", 4) && !memcmp(l->header + 4, kind, 4);
}

static int parse_header(struct fpga_manager *manager, struct fpga_image_info *info,
			const char *bytes, size_t size)
{
	struct logic *l = manager->priv;

	memset(l->header, 0, HEADER);
	if (size < HEADER || memcmp(bytes, "TBIT", 4))
		return -EINVAL;
	memcpy(l->header, bytes, HEADER);
	info->data_size = size - HEADER;
	if (is(manager, "hold") && !wait_for_completion_timeout(&l->go_on, 60 * HZ))
		return -ETIMEDOUT;
	return is(manager, "head") ? -EINVAL : 0;
}

static int write_init(struct fpga_manager *manager, struct fpga_image_info *info, const char *bytes,
		      size_t size)
{
	if (is(manager, "part") && !(info->flags & FPGA_MGR_PARTIAL_RECONFIG))
		return -EINVAL;
	return is(manager, "init") ? -EBUSY : 0;
}

static int write(struct fpga_manager *manager, const char *bytes, size_t size)
{
	return is(manager, "data") ? -EIO : 0;
}

static int write_complete(struct fpga_manager *manager, struct fpga_image_info *info)
{
	return is(manager, "done") ? -ETIMEDOUT : 0;
}

static enum fpga_mgr_states state(struct fpga_manager *manager)
{
	return FPGA_MGR_STATE_POWER_UP;
}

static u64 status(struct fpga_manager *manager)
{
	return is(manager, "crc ") ? FPGA_MGR_STATUS_CRC_ERR | FPGA_MGR_STATUS_FIFO_OVERFLOW_ERR
				   : 0;
}

static const struct fpga_manager_ops ops = {
	.initial_header_size = HEADER,
	.skip_header = true,
	.parse_header = parse_header,
	.write_init = write_init,
	.write = write,
	.write_complete = write_complete,
	.state = state,
	.status = status,
};

static ssize_t flags_store(struct device *dev, struct device_attribute *attribute, const char *text,
			   size_t size)
{
	struct logic *l = to_fpga_manager(dev)->priv;
	int err = kstrtoul(text, 16, &l->flags);

	return err ? err : size;
}
static DEVICE_ATTR_WO(flags);

static ssize_t firmware_store(struct device *dev, struct device_attribute *attribute,
			      const char *text, size_t size)
{
	struct fpga_manager *manager = to_fpga_manager(dev);
	const struct logic *l = manager->priv;
	struct fpga_image_info info = { .flags = l->flags };
	char name[NAME_MAX];
	int err;

	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	info.firmware_name = strim(name);
	err = fpga_mgr_lock(manager);
	if (err)
		return err;
	err = fpga_mgr_load(manager, &info);
	fpga_mgr_unlock(manager);
	return err ? err : size;
}
static DEVICE_ATTR_WO(firmware);

static ssize_t go_on_store(struct device *dev, struct device_attribute *attribute, const char *text,
			   size_t size)
{
	struct logic *l = to_fpga_manager(dev)->priv;

	complete(&l->go_on);
	return size;
}
static DEVICE_ATTR_WO(go_on);

static struct attribute *attributes[] = { &dev_attr_flags.attr, &dev_attr_firmware.attr,
					  &dev_attr_go_on.attr, NULL };
static const struct attribute_group vendors = { .attrs = attributes };

static int add(struct logic *l, int number, const char *name)
{
	init_completion(&l->go_on);
	l->device = platform_device_register_simple("tenon-fpga", number, NULL, 0);
	if (IS_ERR(l->device))
		return PTR_ERR(l->device);
	l->manager = fpga_mgr_register(&l->device->dev, name, &ops, l);
	if (!IS_ERR(l->manager))
		return 0;
	platform_device_unregister(l->device);
	return PTR_ERR(l->manager);
}

static void drop(struct logic *l)
{
	fpga_mgr_unregister(l->manager);
	platform_device_unregister(l->device);
}

static int __init tenon_fpga_init(void)
{
	int err = add(&logics[0], 0, "Tenon's FPGA of a vendor");

	if (err)
		return err;
	err = sysfs_create_group(&logics[0].manager->dev.kobj, &vendors);
	if (!err)
		err = add(&logics[1], 1, "Tenon's FPGA of mainline");
	if (err)
		drop(&logics[0]);
	return err;
}
module_init(tenon_fpga_init);

static void __exit tenon_fpga_exit(void)
{
	drop(&logics[1]);
	drop(&logics[0]);
}
module_exit(tenon_fpga_exit);

MODULE_DESCRIPTION("FPGA managers without FPGAs, for tests");
MODULE_LICENSE("Dual MIT/GPL");
