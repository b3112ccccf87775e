#!/bin/sh
# SPDX-License-Identifier: MIT
#
# makepkg accepts the PKGBUILD of Arch: its fields and functions are what a packager needs.

exec sh packaging/arch/check
