# SPDX-License-Identifier: MIT
#
# Read by checks of packages.

# plugins_of CONFIG: the plug-ins that this configuration makes; CONFIG_RELAX_VM=m makes relax.so
plugins_of()
{
	sed -n -e 's/^CONFIG_REMOTE_CLIENT=m$/rpc/p' -e 's/^CONFIG_DEVICE_\([A-Z]*\).*=m$/\1/p' \
		-e 's/_\(EXECUTOR\|VM\|JSON\|FILES\)=m$/=m/' -e 's/^CONFIG_\([A-Z_]*\)=m$/\1/p' "$1" | tr A-Z a-z
}
