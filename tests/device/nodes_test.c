/* SPDX-License-Identifier: MIT */
/* The kernel's nodes, in a tree of files that looks like /dev and /sys, with a named fake of libdrm. */
#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/backend/memory.h>
#include <tenon/fence.h>
#include <tenon/string.h>
#include <unistd.h>

#include "tests/unit/suite.h"

#include "tools/devices_verb/devices.h"

/* paths are relative: whoever may not enter the folders above can still look at these */
static char root[512];

static void make(const char *path, const char *content)
{
	char part[256];
	size_t i;
	FILE *f;

	for (i = 1; path[i]; i++)
		if (path[i] == '/') {
			snprintf(part, sizeof(part), "%.*s", (int)i, path);
			mkdir(part, 0755);
		}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

static void link_to(const char *path, const char *target)
{
	char scratch[256];

	snprintf(scratch, sizeof(scratch), "%s.made", path);
	make(scratch, "");
	unlink(scratch);
	assert_int_equal(symlink(target, path), 0);
}

static int enter(void **state)
{
	const char *tmp = getenv("TMPDIR"), *build = getenv("TENON_BUILD");
	char path[1024];

	(void)state;
	/* it has the name of the real one, which is then the one that is found */
	assert_non_null(build);
	snprintf(path, sizeof(path), "%s/tests/device/fake_drm.so", build);
	assert_non_null(dlopen(path, RTLD_NOW | RTLD_LOCAL));
	snprintf(root, sizeof(root), "%s/nodes-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(root));
	chmod(root, 0755);
	assert_int_equal(chdir(root), 0);
	make("dev/dri/card0", "amdgpu");
	make("dev/dri/renderD128", "amdgpu");
	make("dev/dri/renderD129", "");
	make("dev/dri/renderD1x0", "no node");
	make("dev/dri/renderD", "no node");
	make("dev/dri/renderD130", "i915");
	make("dev/accel/accel0", "ivpu");
	link_to("sys/class/drm/renderD128/device", "../../../0000:03:00.0");
	link_to("sys/class/drm/renderD129/device/driver", "../../../bus/platform/drivers/panthor");
	link_to("sys/class/accel/accel0/device", "../../../0000:00:0b.0");
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static int leave(void **state)
{
	(void)state;
	assert_int_equal(chdir("/"), 0);
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void render_and_accel_nodes_are_listed_with_their_drivers(void **state)
{
	struct drm_node n[8];
	const char *words;

	(void)state;
	assert_int_equal(drm_nodes_read(".", n, 8), 4);
	assert_true(drm_library_found(&words));
	assert_string_equal(n[0].path, "/dev/dri/renderD128");
	assert_int_equal(n[0].number, 128);
	assert_false(n[0].accel);
	assert_int_equal(n[0].error, 0);
	assert_string_equal(n[0].driver, "amdgpu");
	assert_string_equal(n[0].version, "3.57.1");
	assert_string_equal(n[0].pci, "0000:03:00.0");
	/* libdrm knows nothing: sysfs does */
	assert_string_equal(n[1].path, "/dev/dri/renderD129");
	assert_string_equal(n[1].driver, "panthor");
	assert_string_equal(n[1].version, "");
	assert_string_equal(n[1].pci, "");
	assert_string_equal(n[2].driver, "i915");
	assert_string_equal(n[3].path, "/dev/accel/accel0");
	assert_int_equal(n[3].number, 0);
	assert_true(n[3].accel);
	assert_string_equal(n[3].driver, "ivpu");
	assert_string_equal(n[3].pci, "0000:00:0b.0");
}

static void a_list_that_is_full_stays_within(void **state)
{
	struct drm_node n[3];

	(void)state;
	memset(n, 0x5a, sizeof(n));
	assert_int_equal(drm_nodes_read(".", n, 2), 2);
	assert_string_equal(n[1].path, "/dev/dri/renderD129");
	assert_int_equal(n[2].path[0], 0x5a);
	assert_int_equal(drm_nodes_read("./nowhere", n, 3), 0);
}

static void a_node_that_cannot_be_opened_says_why_and_what_to_do(void **state)
{
	const bool is_root = !geteuid();
	struct drm_node n[8];
	char text[256];

	(void)state;
	assert_int_equal(chmod("dev/dri/renderD130", 0), 0);
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	assert_int_equal(drm_nodes_read(".", n, 8), 4);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod("dev/dri/renderD130", 0644), 0);
	assert_int_equal(n[2].error, EACCES);
	assert_true(*n[2].group);
	strcpy(n[2].group, "video");
	node_remedy(&n[2], false, text, sizeof(text));
	assert_string_equal(text, "usermod -aG video $USER, then log in again");
	/* a member of the group root can change most of the system */
	strcpy(n[2].group, "root");
	node_remedy(&n[2], true, text, sizeof(text));
	assert_null(strstr(text, "usermod"));
	assert_non_null(strstr(text, "udev's rules give it to the group render"));
	strcpy(n[2].group, "");
	node_remedy(&n[2], true, text, sizeof(text));
	assert_non_null(strstr(text, "udev's rules give it to the group render"));
	n[2].error = ENODEV;
	node_remedy(&n[2], false, text, sizeof(text));
	assert_string_equal(text, "see the kernel's messages: dmesg | grep drm");
}

static void who_drives_a_node_is_told_by_its_number_or_its_place(void **state)
{
	static struct device_list l;
	char text[64];

	(void)state;
	l.node_count = drm_nodes_read(".", l.nodes, NODES_LISTED);
	l.device_count = 3;
	l.devices[0].driver = "vulkan";
	l.devices[0].properties.drm_render = 128;
	memset(l.devices[0].properties.pci, 0xff, 16);
	l.devices[1].driver = "opencl";
	l.devices[1].index = 2;
	l.devices[1].properties.drm_render = -1;
	l.devices[1].properties.pci[1] = 3;
	l.devices[2].driver = "cuda";
	l.devices[2].properties.drm_render = -1;
	l.devices[2].properties.pci[1] = 4;
	node_users(&l, &l.nodes[0], text, sizeof(text));
	assert_string_equal(text, "vulkan:0, opencl:2");
	node_users(&l, &l.nodes[1], text, sizeof(text));
	assert_string_equal(text, "");
	node_users(&l, &l.nodes[0], text, 12);
	assert_string_equal(text, "vulkan:0, o");
}

/* There is no device of theirs in the list: such a node is opened by its number. */
static void accel_nodes_have_uris(void **state)
{
	static struct device_list l;
	struct drm_node n = { .path = "/dev/accel/accel3", .number = 3, .accel = true };
	char text[64];

	(void)state;
	strcpy(n.driver, "rocket");
	node_users(&l, &n, text, sizeof(text));
	assert_string_equal(text,
			    backend_is_built(tenon_slice_of("rocket")) ? "rocket://accel/3" : "");
	n.error = EACCES;
	node_users(&l, &n, text, sizeof(text));
	assert_string_equal(text, "");
	n.error = 0;
	strcpy(n.driver, "ethosu");
	node_users(&l, &n, text, sizeof(text));
#ifdef CONFIG_DEVICE_ETHOSU
	assert_string_equal(text, "ethosu://accel/3");
#else
	assert_string_equal(text, "");
#endif
	strcpy(n.driver, "ivpu");
	node_users(&l, &n, text, sizeof(text));
	assert_string_equal(text, "");
}

static void a_node_that_nobody_uses_names_who_would(void **state)
{
	struct drm_node n = { .path = "/dev/dri/renderD128", .driver = "amdgpu" };
	char text[256];

	(void)state;
	assert_string_equal(node_backends(&n), "vulkan opencl");
	node_remedy(&n, true, text, sizeof(text));
	assert_string_equal(text, "");
	node_remedy(&n, false, text, sizeof(text));
#if defined(CONFIG_DEVICE_VULKAN) && defined(CONFIG_DEVICE_OPENCL)
	assert_string_equal(text, "vulkan or opencl would drive it: apt install "
				  "mesa-vulkan-drivers mesa-opencl-icd");
#endif
	strcpy(n.driver, "rocket");
	assert_string_equal(node_backends(&n), "");
	node_remedy(&n, false, text, sizeof(text));
	assert_string_equal(text, "no backend of this build drives it; a plug-in may");
}

static void handles_of_memory_and_fences_are_listed_by_name(void **state)
{
	struct tenon_device_properties p = { .imports = 1u << TENON_HANDLE_HOST_POINTER |
							1u << TENON_HANDLE_OPAQUE_FD,
					     .fence_imports = 1u << TENON_FENCE_OPAQUE_FD };
	struct device_handles h;

	(void)state;
	device_handles(&p, &h);
	assert_string_equal(h.memory_imports, "host-pointer opaque-fd");
	assert_string_equal(h.memory_exports, "");
	assert_string_equal(h.fence_imports, "eventfd sync-file opaque-fd");
	assert_string_equal(h.fence_exports, "eventfd");
	/* a plug-in may know types that this command does not */
	memset(&p, 0xff, sizeof(p));
	device_handles(&p, &h);
	assert_string_equal(h.memory_exports, "host-pointer opaque-fd dma-buf");
	assert_string_equal(h.fence_exports, "eventfd sync-file opaque-fd");
}

#ifdef CONFIG_JSON
static void the_same_is_told_in_json(void **state)
{
	static struct device_list l;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	l.node_count = drm_nodes_read(".", l.nodes, NODES_LISTED);
	l.device_count = 1;
	l.devices[0].driver = "vulkan";
	l.devices[0].properties.exports = 1u << TENON_HANDLE_DMA_BUF;
	l.devices[0].properties.fence_exports = 1u << TENON_FENCE_OPAQUE_FD;
	assert_int_equal(devices_json(&l, f), 0);
	fclose(f);
	assert_non_null(strstr(text, "\"memory_imports\":\t[]"));
	assert_non_null(strstr(text, "\"memory_exports\":\t[\"dma-buf\"]"));
	assert_non_null(strstr(text, "\"fence_imports\":\t[\"eventfd\", \"sync-file\"]"));
	assert_non_null(strstr(text, "\"fence_exports\":\t[\"eventfd\", \"opaque-fd\"]"));
	assert_non_null(strstr(text, "\"path\":\t\"/dev/dri/renderD128\""));
	assert_non_null(strstr(text, "\"driver\":\t\"amdgpu\""));
	assert_non_null(strstr(text, "\"version\":\t\"3.57.1\""));
	assert_non_null(strstr(text, "\"backends\":\t[\"vulkan\", \"opencl\"]"));
	assert_non_null(strstr(text, "\"usable\":\ttrue"));
	free(text);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(render_and_accel_nodes_are_listed_with_their_drivers),
		cmocka_unit_test(a_list_that_is_full_stays_within),
		cmocka_unit_test(a_node_that_cannot_be_opened_says_why_and_what_to_do),
		cmocka_unit_test(who_drives_a_node_is_told_by_its_number_or_its_place),
		cmocka_unit_test(accel_nodes_have_uris),
		cmocka_unit_test(a_node_that_nobody_uses_names_who_would),
		cmocka_unit_test(handles_of_memory_and_fences_are_listed_by_name),
#ifdef CONFIG_JSON
		cmocka_unit_test(the_same_is_told_in_json),
#endif
	};

	return cmocka_run_group_tests_name("the kernel's nodes", tests, enter, leave);
}
