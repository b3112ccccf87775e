#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bitbake parses the recipes of meta-tenon, and what they say of options and files is so.

exec sh packaging/yocto/check
