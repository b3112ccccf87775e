#!/bin/sh
# SPDX-License-Identifier: MIT
exec sh packaging/buildroot/check
