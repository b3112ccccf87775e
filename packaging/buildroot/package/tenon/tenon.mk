################################################################################
#
# tenon
#
################################################################################

TENON_VERSION = 0.1.0
TENON_SITE = https://tenon.example.org/releases
TENON_LICENSE = MIT
TENON_LICENSE_FILES = LICENSE
TENON_INSTALL_STAGING = YES
TENON_DEPENDENCIES = host-pkgconf jsmn \
	$(if $(BR2_PACKAGE_TENON_TOOL),cjson) \
	$(if $(BR2_PACKAGE_TENON_NPZ),libzip) \
	$(if $(BR2_PACKAGE_TENON_VULKAN),vulkan-headers) \
	$(if $(BR2_PACKAGE_TENON_KERNEL_CACHE),xxhash)

# Most options of Tenon have no option here. kconfig-package keeps "make
# tenon-menuconfig" for them; the commands below set those that need another
# package or decide what is installed.
TENON_KCONFIG_DEFCONFIG = defconfig
# the options below, not the libraries of the host, decide
TENON_KCONFIG_OPTS = DETECT=n
TENON_KCONFIG_DOTCONFIG = build/.config
TENON_KCONFIG_EDITORS = menuconfig nconfig

TENON_MAKE_OPTS = \
	$(TARGET_CONFIGURE_OPTS) \
	O=build \
	SCDOC=none \
	V=1 \
	prefix=/usr \
	sysconfdir=/etc \
	$(if $(BR2_PACKAGE_HAS_UDEV),udevdir=/usr/lib/udev)

# 1: option of this package, 2: option of Tenon, 3: its value when chosen
define TENON_FOLLOW
	$(if $(BR2_PACKAGE_TENON_$(1)),$(call KCONFIG_SET_OPT,CONFIG_$(2),$(3)),$(call KCONFIG_DISABLE_OPT,CONFIG_$(2)))

endef

define TENON_KCONFIG_FIXUP_CMDS
	$(call TENON_FOLLOW,TOOL,TOOL,y)
	$(call TENON_FOLLOW,TOOL,JSON,y)
	$(call TENON_FOLLOW,NPZ,NPZ,y)
	$(call TENON_FOLLOW,RPC,REMOTE,y)
	$(call TENON_FOLLOW,GRAPH,GRAPH_EXECUTOR,m)
	$(call TENON_FOLLOW,AOT,AOT_EXECUTOR,m)
	$(call TENON_FOLLOW,RELAX,RELAX_VM,m)
	$(call TENON_FOLLOW,OPENCL,DEVICE_OPENCL,m)
	$(call TENON_FOLLOW,VULKAN,DEVICE_VULKAN,m)
	$(call TENON_FOLLOW,CUDA,DEVICE_CUDA,m)
	$(call TENON_FOLLOW,MORTISE,DEVICE_MORTISE,m)
	$(call TENON_FOLLOW,KERNEL_CACHE,KERNEL_CACHE,y)
	$(call KCONFIG_SET_OPT,CONFIG_DEVICE_CPU,y)
	$(call KCONFIG_DISABLE_OPT,CONFIG_DNNL_JSON)
	$(call KCONFIG_DISABLE_OPT,CONFIG_LLM_TOKENIZER)
	$(call KCONFIG_DISABLE_OPT,CONFIG_LLM_SERVE)
endef

define TENON_BUILD_CMDS
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D) $(TENON_MAKE_OPTS) all
endef

define TENON_INSTALL_STAGING_CMDS
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D) $(TENON_MAKE_OPTS) \
		DESTDIR=$(STAGING_DIR) install
endef

define TENON_INSTALL_TARGET_CMDS
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D) $(TENON_MAKE_OPTS) \
		DESTDIR=$(TARGET_DIR) install
endef

$(eval $(kconfig-package))
