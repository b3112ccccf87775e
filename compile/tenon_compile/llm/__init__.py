# SPDX-License-Identifier: MIT
"""Language models: from a file of weights to a folder for "tenon chat"."""
