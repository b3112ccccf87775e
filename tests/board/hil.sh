# SPDX-License-Identifier: MIT
#
# Read by the scripts of this folder: "tenon hil" and a board that is a script, named fake because it is one.

. tests/build/tap.sh

for option in HIL JSON ERROR_MESSAGES; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
need tar sha256sum

hil()
{
	${EMULATOR:-} "$TENON_COMMAND" hil run "$@"
}

# expect CODE OPTION...: run the command; $scratch/ktap and $scratch/err have what it printed
expect()
{
	want=$1
	shift
	hil --out "$scratch/results" "$@" > "$scratch/ktap" 2> "$scratch/err"
	got=$?
	[ $got -eq "$want" ] && return
	echo "exit status $got, $want expected"
	cat "$scratch/err" "$scratch/ktap"
	return 1
}

# says PATTERN...: each is in the results
says()
{
	for pattern; do
		grep -q -e "$pattern" "$scratch/ktap" "$scratch/err" && continue
		echo "no \"$pattern\" in"
		cat "$scratch/err" "$scratch/ktap"
		return 1
	done
}

# suite NAME: a suite whose lines are standard input
suite()
{
	{ echo '#!/bin/sh' && cat; } > "$scratch/$1"
	chmod +x "$scratch/$1"
}

# fake_board: a target file of the fake board, with the tables of standard input, each with a comma before it. The board is on while
# there is a file "on"; a command on it ends without an answer when the file is removed.
fake_board()
{
	mkdir -p "$scratch/fake"
	cat > "$scratch/fake/exec" <<END
cd "$scratch/fake"
[ -e on ] || exit 255
exec 3<&0
sh -c "\$1" <&3 &
command=\$!
(while [ -e on ]; do sleep 0.05; done; kill -9 \$command) < /dev/null > /dev/null 2>&1 &
watch=\$!
wait \$command
status=\$?
kill \$watch
[ -e on ] || exit 255
exit \$status
END
	cat > "$scratch/target.json" <<END
{
"board": {
"start": "echo start >> $scratch/fake/events; : > $scratch/fake/on",
"reset": "echo reset >> $scratch/fake/events; : > $scratch/fake/on",
"stop": "echo stop >> $scratch/fake/events; rm -f $scratch/fake/on",
"name": "fake"
},
"reach": {
"exec": "sh $scratch/fake/exec",
"directory": "$scratch/fake/board"
}
$(cat)
}
END
	: > "$scratch/fake/events"
}

# events WORD...: what happened to the fake board, in this order
events()
{
	[ "$(tr '\n' ' ' < "$scratch/fake/events")" = "$* " ] && return
	echo "expected: $*"
	cat "$scratch/fake/events"
	return 1
}
