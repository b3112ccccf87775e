# SPDX-License-Identifier: MIT
#
# Read by the scripts of this folder: the command, and what they check of it

. tests/build/tap.sh
need "${CC%% *}"
for option in LINK INSPECT ERROR_MESSAGES; do
	grep -qs "^CONFIG_$option=y" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] || skip "the command is not built"

export CC TENON_CACHE_DIR=
unset CFLAGS LDFLAGS
headers=$PWD/include
example=$PWD/examples/link
fixtures=$PWD/tests/interop/data
graphs=$PWD/tests/partition
modules=$PWD/docs/modules.md
cd "$scratch" || exit 1

tenon()
{
	$EMULATOR "$TENON_COMMAND" "$@"
}

link()
{
	tenon link -I "$headers" "$@"
}

# refused STATUS WORDS ARGUMENT...: link fails, says these words and leaves no file
refused()
{
	status=$1 words=$2
	shift 2
	rm -f refused.so
	link -o refused.so "$@" 2> why
	got=$?
	cat why
	[ $got -eq "$status" ] && grep -qF -- "$words" why && [ ! -e refused.so ] && set -- refused.so.* && [ ! -e "$1" ]
}

# same FILE: unpacked and linked again it has the same bytes
same()
{
	rm -rf same.d
	tenon unpack "$1" same.d && tenon link -o same.so same.d/manifest.json && cmp "$1" same.so
}

# exchanged FILE SED: the program is changed, and the module put together again
exchanged()
{
	rm -rf exchanged.d
	tenon unpack "$1" exchanged.d && sed "$2" exchanged.d/vecadd.cl > new.cl && cp new.cl exchanged.d/vecadd.cl &&
		tenon link -o exchanged.so exchanged.d/manifest.json && tenon unpack exchanged.so exchanged.2 &&
		cmp new.cl exchanged.2/vecadd.cl && tenon link -o exchanged.2.so exchanged.2/manifest.json &&
		cmp exchanged.so exchanged.2.so
}

# large FILE LETTER: a kernel and two megabytes of comments, which end with the letter
large()
{
	cp "$example/vecadd.cl" "$1.cl"
	cp "$example/vecadd.tvm_meta.json" "$1.tvm_meta.json"
	awk -v last="$2" 'BEGIN { for (i = 0; i < 30000; i++) printf "// %060d\n", i; printf "// %s\n", last }' >> "$1.cl"
}
