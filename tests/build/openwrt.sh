#!/bin/sh
# SPDX-License-Identifier: MIT
#
# OpenWrt's package builds Tenon and starts its service; without OpenWrt's SDK, so that each change is checked.

exec sh packaging/openwrt/check
