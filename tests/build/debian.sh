#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The Debian packages build in a clean root, install, upgrade and go without a trace in another one.

exec sh packaging/debian/check
