# SPDX-License-Identifier: MIT
#
# One make for the whole tree. "make help" lists what can be made and set. Files are listed in the
# Kbuild file of their folder; CONTRIBUTING.md tells how.

# The only place of the version. docs/releasing.md lists what else changes with a release.
tenon-version  := 0.1.0
tenon-soname   := libtenon.so.0
# libraries beside it: folders, and the names of their files
beside-names   := link llm rpc serve
beside-soname   = $(subst libtenon,libtenon-$(1),$(tenon-soname))
beside-file     = libtenon-$(1).so.$(tenon-version)
# date of the version, for the manual page and whatever else prints one
tenon-epoch    := 1767225600

O ?= build
override O := $(patsubst %/,%,$(O))
KCONFIG_CONFIG ?= $(O)/.config
srctree := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

MAKEFLAGS += -r --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: FORCE
export LC_ALL := C

config-goals := $(filter %config,$(MAKECMDGOALS))
clean-goals  := $(filter clean mrproper uninstall,$(MAKECMDGOALS))
other-goals  := $(filter-out %config clean mrproper uninstall,$(MAKECMDGOALS))

ifneq ($(srctree),.)
# called from another folder (make -f): paths stay relative to the source, so go there
.DEFAULT_GOAL := all
.PHONY: $(sort all $(MAKECMDGOALS))
$(sort all $(MAKECMDGOALS)): go-there
	@:
.PHONY: go-there
go-there:
	@$(MAKE) -C $(srctree) O=$(abspath $(O)) KCONFIG_CONFIG=$(abspath $(KCONFIG_CONFIG)) \
		$(MAKECMDGOALS)
else ifneq ($(word 2,$(config-goals) $(clean-goals) $(if $(other-goals),other)),)
# goals that set up or remove the ground for the others: one by one, in the order given
.PHONY: $(MAKECMDGOALS) one-by-one
$(MAKECMDGOALS): one-by-one
	@:
one-by-one:
	@set -e; for goal in $(MAKECMDGOALS); do $(MAKE) $$goal; done
else

ifeq ($(realpath $(O)),$(realpath .))
$(error O=$(O) is the source folder; name another one, such as O=build)
endif

# ---- tools and flags: whatever the person or the packager says stays as it is

AWK        ?= awk
INSTALL    ?= install
SCDOC      ?= scdoc
CHECK      ?= sparse
ifneq ($(filter default undefined,$(origin CC)),)
CC := $(if $(CROSS_COMPILE),$(CROSS_COMPILE)gcc,cc)
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := $(CROSS_COMPILE)ar
endif
STRIP ?= $(CROSS_COMPILE)strip
# the host's pkg-config knows the host's libraries: it is asked for another machine's where someone said what it reads
ifeq ($(origin PKG_CONFIG),undefined)
PKG_CONFIG := pkg-config
ifneq ($(CROSS_COMPILE),)
PKG_CONFIG := $(or $(shell command -v $(CROSS_COMPILE)pkg-config),$(if $(PKG_CONFIG_LIBDIR)$(PKG_CONFIG_SYSROOT_DIR),pkg-config,false))
endif
endif

prefix        ?= /usr/local
exec_prefix   ?= $(prefix)
bindir        ?= $(exec_prefix)/bin
libdir        ?= $(exec_prefix)/lib
includedir    ?= $(prefix)/include
sysconfdir    ?= $(prefix)/etc
datadir       ?= $(prefix)/share
mandir        ?= $(datadir)/man
pkgconfigdir  ?= $(libdir)/pkgconfig
bashcompdir   ?= $(datadir)/bash-completion/completions
zshcompdir    ?= $(datadir)/zsh/site-functions
fishcompdir   ?= $(datadir)/fish/vendor_completions.d

export SOURCE_DATE_EPOCH ?= $(tenon-epoch)

ifneq ($(filter-out 0,$(V)),)
Q :=
say = @:
else
Q := @
say = @$(if $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),:,printf '  %-7s %s\n')
endif

# ---- configuration

# options of backends, executors and other plug-ins are in their folders
kconfig-sources := $(shell sed -n 's/^source "\(.*\)"$$/\1/p' Kconfig)
kconfig-files := Kconfig $(kconfig-sources)
kconfig       := $(AWK) -f scripts/kconfig.awk -v kconfig=Kconfig $(if $(KCONFIG_WERROR),-v strict=1)
auto-conf     := $(O)/include/config/auto.conf
autoconf-h    := $(O)/include/generated/autoconf.h

no-config-goals := help clean mrproper uninstall dist
ifneq ($(config-goals),)
include scripts/Makefile.config
else ifneq ($(MAKECMDGOALS),)
need-config := $(filter-out $(no-config-goals),$(MAKECMDGOALS))
else
need-config := all
endif

.DEFAULT_GOAL := all

ifneq ($(need-config),)
include $(auto-conf)
endif

$(KCONFIG_CONFIG):
	@$(MAKE) defconfig

$(auto-conf): $(KCONFIG_CONFIG) $(kconfig-files) scripts/kconfig.awk
	@mkdir -p $(@D) $(dir $(autoconf-h))
	@$(kconfig) -v mode=build -v config=$< -v conf=$@.new -v header=$(autoconf-h).new
	@cmp -s $(autoconf-h).new $(autoconf-h) || mv $(autoconf-h).new $(autoconf-h)
	@rm -f $(autoconf-h).new; mv $@.new $@

# what the firmware is built for; uninstall removes it without the rest of scripts/Makefile.firmware
firmware-boards := rv32 rv64 cm3 hexagon

ifneq ($(need-config),)
include scripts/Makefile.firmware
include scripts/Makefile.rtl
include scripts/Makefile.build
include examples/mortise/Kbuild
# before the check, which lists its files
include scripts/Makefile.python
include scripts/Makefile.check
else
include scripts/Makefile.python
endif
include scripts/Makefile.install
include scripts/Makefile.dist

# ---- help and cleaning

.PHONY: help clean mrproper
help:
	@cat scripts/help.txt
	@echo
	@echo 'Configurations: $(sort $(notdir $(wildcard configs/*config)))'
	@echo 'Values now: O=$(O) CC=$(CC) AR=$(AR) prefix=$(prefix) libdir=$(libdir)'

built-folders := lib driver runtime rpc link llm python device devices firmware tools tests examples compat static plugins install stamp completion man1 man3 rtl site
clean:
	$(Q)rm -rf $(addprefix $(O)/,$(built-folders)) $(O)/include
	$(Q)rm -f $(O)/tenon $(O)/libtenon.* $(beside-names:%=$(O)/libtenon-%.*) $(beside-names:%=$(O)/tenon-%.pc) $(O)/tenon-serve $(O)/tenon-rpc-server $(O)/tenon-rpc-server.stripped $(O)/tenon.pc $(O)/tenon.1 $(O)/tenon-serve.1 $(O)/tenon-*.tar.gz

mrproper: clean
	$(Q)rm -f $(O)/.config $(O)/.config.old $(O)/defconfig
	$(Q)if [ -d $(O) ]; then rmdir $(O) 2>/dev/null || echo "$(O) holds other files; kept"; fi

endif
