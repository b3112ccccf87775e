#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Libraries that are missing: the default configuration does without them, another one is refused before anything is
# built, and a cross build does not ask the host's pkg-config

. tests/build/tap.sh
. tests/build/inner_make.sh

out=$scratch/out
log=$scratch/log

# configured ARGUMENT...: by the defaults
configured()
{
	rm -rf "$out"
	inner_make O="$out" "$@" defconfig > "$log" 2>&1 || { cat "$log"; return 1; }
}

# says WORD...
says()
{
	for word; do
		grep -q -e "$word" "$log" || { echo "no $word in:"; cat "$log"; return 1; }
	done
}

is_off()
{
	grep -qx "# CONFIG_$1 is not set" "$out/.config"
}

does_without_libraries()
{
	configured PKG_CONFIG=false && is_off JSON && is_off NPZ && says note libcjson-dev libzip-dev &&
		inner_make -n O="$out" PKG_CONFIG=false all > "$log" 2>&1 || { cat "$log"; return 1; }
}

does_without_headers()
{
	configured JSMN_CFLAGS=-nostdinc && is_off GRAPH_EXECUTOR && is_off DEVICES && says libjsmn-dev
}

# a configuration that asks for what is missing: one line names all of it, and nothing is built
refuses()
{
	rm -rf "$out"
	inner_make -s O="$out" DETECT=n defconfig > "$log" 2>&1 || { cat "$log"; return 1; }
	! inner_make O="$out" PKG_CONFIG=false > "$log" 2>&1 || return 1
	says 'CONFIG_JSON.*CONFIG_NPZ.*libcjson-dev.*libzip-dev' || return 1
	[ -z "$(find "$out" -name '*.o')" ]
}

# a library of another machine, as CC=aarch64-linux-gnu-gcc with the host's pkg-config finds it
refuses_what_does_not_link()
{
	cat > "$scratch/pkg-config" <<-'END'
		#!/bin/sh
		echo "$*" >> "$0.asked"
		echo -lcjson-of-another-machine
	END
	chmod +x "$scratch/pkg-config"
	configured PKG_CONFIG="$scratch/pkg-config" && is_off JSON && says libcjson-dev
}

# cross ARGUMENT...: configure with tools that have a prefix, and the host's pkg-config in PATH
cross()
{
	mkdir -p "$scratch/bin"
	cat > "$scratch/bin/other-gcc" <<-'END'
		#!/bin/sh
		exec cc "$@"
	END
	cp "$scratch/pkg-config" "$scratch/bin/"
	chmod +x "$scratch/bin/other-gcc"
	rm -f "$scratch/bin/pkg-config.asked"
	PATH=$scratch/bin:$PATH configured CROSS_COMPILE=other- "$@"
}

asks_no_host()
{
	cross && [ ! -e "$scratch/bin/pkg-config.asked" ] && is_off JSON &&
		says 'libcjson-dev.*of the machine that is built for'
}

asks_where_it_was_told()
{
	cross PKG_CONFIG_LIBDIR=/none && [ -e "$scratch/bin/pkg-config.asked" ]
}

says_that_there_is_no_compiler()
{
	! configured CC=no-such-compiler > "$scratch/none" || return 1
	says 'no-such-compiler.*is not found.*gcc'
}

it "the default configuration leaves out what needs a missing library" does_without_libraries
it "or a missing header" does_without_headers
it "another configuration is refused in one line, before anything is built" refuses
it "a library that does not link is missing" refuses_what_does_not_link
it "a cross build does not ask the host's pkg-config" asks_no_host
it "but where it is told what that reads" asks_where_it_was_told
it "a compiler that is missing is named" says_that_there_is_no_compiler
finish
