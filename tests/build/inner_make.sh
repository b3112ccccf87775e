# SPDX-License-Identifier: MIT
#
# Read by the scripts that build the tree anew. inner_make runs make apart from the make that runs the
# tests: nothing but its own arguments reaches it.

jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

# the plain environment: what the outer make put there for tests is not for builds
inner_make()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u CC -u AR -u SAN -u EMULATOR \
		-u SUITE -u CASE -u FULL -u WITHOUT -u O -u TENON_CASE -u CFLAGS -u KCONFIG_CONFIG \
		-u TENON_COMPAT_LIBRARY -u CROSS_COMPILE -u CPPFLAGS -u LDFLAGS \
		"${MAKE:-make}" -C "$TENON_SOURCE" -j"$jobs" "$@"
}

# the folder of a build that may stay, so that a second run has less to do
kept()
{
	mkdir -p "$TENON_BUILD/tests/kept/$1" && (cd "$TENON_BUILD/tests/kept/$1" && pwd)
}

# options_off FOLDER OPTION...: configure by the defaults, less some options
options_off()
{
	folder=$1
	shift
	rm -f "$folder/.config"
	inner_make -s O="$folder" defconfig || return
	for option in "$@"; do
		echo "# CONFIG_$option is not set"
	done >> "$folder/.config"
	inner_make -s O="$folder" olddefconfig
}
