#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Buildroot's package configures Tenon as its options say, so none of them has lost its option of Kconfig.

exec sh packaging/buildroot/check
