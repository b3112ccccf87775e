#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The stack that functions of the libraries take, read from the code that the compiler made: threads of programs may have
# 64 KiB. Prints the largest. No function takes more than 16 KiB, and none more than 4 KiB but those of the objects in
# tests/build/large_frames, where the reasons are (a compiler may put one function into another). What commands do alone is not looked at.

. tests/build/tap.sh

need objdump
[ -z "${SAN:-}" ] || skip "sanitizers need more stack"
objdump -f "$TENON_BUILD/lib/cursor.o" 2>/dev/null | grep -q x86-64 || skip "frames are read from code of x86-64"

# "BYTES OBJECT FUNCTION" of each function with more than 4 KiB
frames()
{
	(cd "$TENON_BUILD" && find lib driver runtime rpc devices link llm -name '*.o' -exec objdump -d --no-show-raw-insn {} +) | awk '
		function number(digits, i, n) {
			for (i = n = 0; i < length(digits); i++)
				n = n * 16 + index("0123456789abcdef", substr(digits, i + 1, 1)) - 1
			return n
		}
		/file format/ { object = $1; sub(/\.o:$/, "", object); sub(/.*\//, "", object) }
		/^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]|\..*/, "", name); sub(/^tenon__/, "", name) }
		/sub +\$0x[0-9a-f]+,%rsp/ {
			match($0, /\$0x[0-9a-f]+/)
			digits = substr($0, RSTART + 3, RLENGTH - 3)
			key = object " " name
			# one that probes each page takes them one by one
			if (length(digits) < 8)
				most[key] = number(digits) == 4096 ? most[key] + 4096 : most[key] > number(digits) ? most[key] : number(digits)
		}
		/lea +-0x[0-9a-f]+\(%rsp\),%r11/ {
			match($0, /-0x[0-9a-f]+/)
			most[object " " name] = number(substr($0, RSTART + 3, RLENGTH - 3))
		}
		END { for (key in most) if (most[key] > 4096) print most[key], key }' | sort -rn > "$scratch/frames"
	[ -s "$scratch/frames" ]
}

bounded()
{
	awk '$1 > 16 * 1024 + 64 { print $3 " in " $2 ".o takes " $1 " bytes of stack"; bad = 1 } END { exit bad }' "$scratch/frames"
}

listed()
{
	sed 's/#.*//' tests/build/large_frames | tr -s ' ' '\n' > "$scratch/known"
	awk 'NR == FNR { known[$1] = 1; next } !($2 in known) { print $3 " in " $2 ".o takes " $1 " bytes of stack"; bad = 1 } END { exit bad }' \
		"$scratch/known" "$scratch/frames"
}

it "frames are found in the code" frames
it "no function of a library takes more than 16 KiB" bounded
it "those with more than 4 KiB are known" listed
echo "# bytes, object, function:"
head -n 12 "$scratch/frames" | sed 's/^/#   /'
finish
