# SPDX-License-Identifier: MIT
#
# Read by the scripts that build the tree anew. inner_make runs make apart from the make that runs the
# tests: nothing but its own arguments reaches it.

# the share of the processors that this suite has, and one more for when a job waits for a file
jobs=$((${TENON_JOBS:-1} + 1))

# ccache, where it is installed: most of what a second run compiles is what the first one compiled
command -v ccache >/dev/null 2>&1 && launcher='ccache ' || launcher=
# the compiler of builds that name no other one: the caller's, whose CC may be several words
case ${CC:-cc} in
cc)	default_cc=${launcher}cc ;;
*)	default_cc=$CC ;;
esac

# the plain environment: what the outer make put there for tests is not for builds
inner_make()
{
	case " $*" in
	*' CC='* | *' CROSS_COMPILE='*)	;;
	*)	set -- CC="$default_cc" "$@" ;;
	esac
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u CC -u AR -u SAN -u EMULATOR \
		-u SUITE -u CASE -u FULL -u LONG -u NIGHTLY -u WITHOUT -u ONLY -u JOBS -u PASSED -u O -u TENON_CASE -u CFLAGS -u TESTS_CFLAGS -u TESTS_LDFLAGS \
		-u KCONFIG_CONFIG -u TENON_COMPAT_LIBRARY -u CROSS_COMPILE -u CPPFLAGS -u LDFLAGS \
		"${MAKE:-make}" -C "$TENON_SOURCE" -j"$jobs" "$@"
}

# inner_check ARGUMENT...: make check; when it fails, what is said at the end are the suites that failed.
# Other builds are tested at the same time, so a suite may take long.
inner_check()
{
	# GNU ld takes a second for a program of tests with a sanitizer, lld a quarter; what is under test has the default linker
	tests_linker=
	case " $*" in
	*' CROSS_COMPILE='*)	;;
	*)	! ld.lld --version >/dev/null 2>&1 || tests_linker=-fuse-ld=lld ;;
	esac
	inner_make -s JOBS="$jobs" TIMEOUT=600 TESTS_LDFLAGS="$tests_linker" "$@" check > "$scratch/check.log" 2>&1
	status=$?
	grep -v '^  \(ok\|skip\|FAIL\) \|^        ' "$scratch/check.log"
	awk '/^Failed:$/ { exit } /^  (ok|skip|FAIL) / { failed = /^  FAIL/ } failed && /^  / && !/^        skipped/' "$scratch/check.log"
	return $status
}

# spared FOLDER...: what takes long, and what this build changes least: with it in the nightly tier alone
spared()
{
	[ -n "${NIGHTLY:-}" ] || echo "$@"
}

# the folder of a build that may stay, so that a second run has less to do
kept()
{
	mkdir -p "$TENON_BUILD/tests/kept/$1" && (cd "$TENON_BUILD/tests/kept/$1" && pwd)
}

# copy_build FOLDER: what the outer make built, without the tests: a build in FOLDER by make_in_copy makes only what its own
# arguments change, and what is missing in the list below
copy_build()
{
	rm -rf "$1" && mkdir -p "$1" &&
		(cd "$TENON_BUILD" && find . -maxdepth 1 \( ! -type d -o -name lib -o -name driver -o -name runtime -o -name rpc -o -name link \
			-o -name llm -o -name python -o -name devices -o -name tools -o -name examples -o -name compat -o -name static \
			-o -name plugins -o -name install -o -name stamp -o -name completion -o -name 'man[13]' -o -name include \) -print0 |
			tar --null -T - -cf -) | tar -xf - -C "$1" || return
	# headers that were generated there are here now, for the lists of what each object read
	was=$(sed -n '1s|/lib/cursor\.o:.*||p' "$1/lib/cursor.d")
	[ -n "$was" ] && find "$1" -name '*.d' -exec sed -i "s|^$was/|$1/|; s| $was/| $1/|g" {} +
}

# inner_make by the same compiler as the outer make
make_in_copy()
{
	inner_make CC="${CC:-cc}" "$@"
}

# copy_source FOLDER: without what was built, to where a build of its own can be made
copy_source()
{
	mkdir -p "$1" &&
		if git ls-files -z > "$scratch/files" 2>/dev/null && [ -s "$scratch/files" ]; then
			xargs -0 sh -c 'for f; do [ ! -e "$f" ] || echo "$f"; done' sh < "$scratch/files" |
				tar -cf - -T - | tar -xf - -C "$1"
		else
			case $TENON_BUILD in
			"$PWD"/*)	inside=.${TENON_BUILD#"$PWD"} ;;
			*)		inside=./build ;;
			esac
			tar -cf - --exclude='./build*' --exclude="$inside" --exclude=./.git . | tar -xf - -C "$1"
		fi
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
