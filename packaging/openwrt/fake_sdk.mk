# SPDX-License-Identifier: MIT
#
# A fake of OpenWrt's rules.mk and package.mk: folders, the commands that packages call, and a target for each step.
# It resolves no dependency and packs nothing. Called by check with MAKEFILE and WORK; the source is in
# WORK/NAME.

TOPDIR := $(WORK)/top
INCLUDE_DIR := $(TOPDIR)/include
SHELL := bash
INSTALL_DIR := install -d -m0755
INSTALL_BIN := install -m0755
INSTALL_DATA := install -m0644
INSTALL_CONF := install -m0600
CP := cp -fpR

PKG_BUILD_DIR = $(WORK)/$(PKG_NAME)
PKG_INSTALL_DIR = $(WORK)/install

define Build/Compile/Default
	$(MAKE) -C $(PKG_BUILD_DIR) $(MAKE_FLAGS) $(1)
endef

# what package.mk demands of each package
needed-fields := SECTION CATEGORY TITLE
define BuildPackage
$(foreach f,$(needed-fields),$(eval $(f) :=))
$(eval $(Package/$(1)))
$(foreach f,$(needed-fields),$(if $($(f)),,$(error Package/$(1) is missing the field $(f))))
install-all: install-$(1)
.PHONY: install-$(1)
install-$(1):
	mkdir -p $(WORK)/packages/$(1)
	$$(call Package/$(1)/install,$(WORK)/packages/$(1))
endef

include $(MAKEFILE)

.PHONY: configure compile stage install-all
configure:
	$(Build/Configure)
compile:
	$(Build/Compile)
stage:
	$(call Build/InstallDev,$(WORK)/staging)
