#!/bin/sh
# SPDX-License-Identifier: MIT
#
# rpm parses the spec of Fedora, and rpmlint finds nothing in it.

exec sh packaging/fedora/check
