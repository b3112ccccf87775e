#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The stack that functions of the libraries take, read from the code that the compiler made: threads of programs may have
# 64 KiB. Prints the largest. No function takes more than 16 KiB, and none more than 4 KiB but those of the objects in
# tests/build/large_frames, where the reasons are (a compiler may put one function into another). None takes as much as a number
# says that it reads: alloca(), or an array of variable length. What commands do alone is not looked at.

. tests/build/tap.sh

need objdump
[ -z "${SAN:-}" ] || skip "sanitizers need more stack"
objdump -f "$TENON_BUILD/lib/cursor.o" 2>/dev/null | grep -q x86-64 || skip "frames are read from code of x86-64"

# "BYTES OBJECT FUNCTION" of each function with more than 4 KiB
frames()
{
	(cd "$TENON_BUILD" && find lib driver runtime rpc devices link llm compat plugins -name '*.o' -exec objdump -d --no-show-raw-insn {} +) | frames_of
	[ -s "$scratch/frames" ]
}

# frames_of < CODE: into the files "frames", and "variable" for those whose size is not in the code
frames_of()
{
	awk -v variable="$scratch/variable" '
		function number(digits, i, n) {
			for (i = n = 0; i < length(digits); i++)
				n = n * 16 + index("0123456789abcdef", substr(digits, i + 1, 1)) - 1
			return n
		}
		/file format/ { object = $1; sub(/\.o:$/, "", object); sub(/.*\//, "", object) }
		/^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]|\..*/, "", name); sub(/^tenon__/, "", name); split("", kept) }
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
		# gcc subtracts from it; clang computes it in another register, which is not one that keeps it
		{ source = target = $3; sub(/,.*/, "", source); sub(/.*,/, "", target) }
		$2 == "mov" && source == "%rsp" { kept[target]; next }
		$2 !~ /^(cmp|test|push|pop)/ { delete kept[target] }
		target == "%rsp" && source ~ /^%r/ && ($2 == "sub" || ($2 == "mov" && !(source in kept))) { print name " in " object ".o" > variable }
		END { for (key in most) if (most[key] > 4096) print most[key], key }' | sort -rn > "$scratch/frames"
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

none_varies()
{
	cat "$scratch/variable"
	[ ! -s "$scratch/variable" ]
}

# put_in < SOURCE: its frames
put_in()
{
	${CC:-cc} -O2 -x c -c - -o "$scratch/one.o" || return
	: > "$scratch/variable"
	objdump -d --no-show-raw-insn "$scratch/one.o" | frames_of
	cat "$scratch/frames" "$scratch/variable"
}

finds_a_large_frame()
{
	put_in <<-'END' || return
		void use(char *bytes);
		void large(void);
		void large(void) { char bytes[20000]; use(bytes); }
	END
	not bounded && not listed
}

finds_a_frame_that_varies()
{
	put_in <<-'END' || return
		void use(char *bytes);
		void varies(int count);
		void varies(int count) { char bytes[count]; use(bytes); }
	END
	not none_varies
}

: > "$scratch/variable"
it "a function with 20 000 bytes is found" finds_a_large_frame
it "an array of variable length is found" finds_a_frame_that_varies
: > "$scratch/variable"
it "frames are found in the code" frames
it "no function of a library takes more than 16 KiB" bounded
it "those with more than 4 KiB are known" listed
it "none takes as much as a number says" none_varies
echo "# bytes, object, function:"
head -n 12 "$scratch/frames" | sed 's/^/#   /'
finish
