# SPDX-License-Identifier: MIT
#
# A fake of what Buildroot does with a kconfig-package until the package is configured: read the chosen options, make the
# default configuration, change it by the commands of the package, complete it. Called by check with CHOSEN, SOURCE,
# WORK and MK.

include $(CHOSEN)

SHARP_SIGN := \#
dot-config = $(WORK)/$(TENON_KCONFIG_DOTCONFIG)
munge = @sed -i '/^\(. \)*$(strip $(1))[= ]/d' $(dot-config) && echo '$(2)' >> $(dot-config)
KCONFIG_SET_OPT = $(call munge,$(1),$(strip $(1))=$(strip $(2)))
KCONFIG_DISABLE_OPT = $(call munge,$(1),$(SHARP_SIGN) $(strip $(1)) is not set)
kconfig-package :=

include $(MK)

tenon-make = $(MAKE) -s -C $(SOURCE) O=$(WORK)/build

.DEFAULT_GOAL := configured
.PHONY: configured
configured:
	@$(tenon-make) $(TENON_KCONFIG_DEFCONFIG)
	$(TENON_KCONFIG_FIXUP_CMDS)
	@$(tenon-make) olddefconfig
