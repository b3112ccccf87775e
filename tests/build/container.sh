#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The image of the container builds and runs a module, so a user of it needs nothing of this tree.

exec sh packaging/container/check
