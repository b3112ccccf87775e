#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A server whose disk is full: the client is told, a file that fits is taken next, and nothing is left.

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "the namespace is of this machine"
for option in REMOTE REMOTE_CLIENT ERROR_MESSAGES; do
	grep -qsE "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
if [ -z "${TENON_SMALL_DISK:-}" ]; then
	mkdir "$scratch/small"
	unshare -rm mount -t tmpfs tmpfs "$scratch/small" 2> "$scratch/words" ||
		skip "unshare -rm cannot mount a file system here"
	# again, where only this process sees the disk
	TENON_SMALL_DISK=$scratch/small unshare -rm sh "$0"
	exit
fi
small=$TENON_SMALL_DISK
mount -t tmpfs -o size=2m tmpfs "$small" || exit 1
address=unix:$scratch/socket
dd if=/dev/urandom of="$scratch/large.bin" bs=1024 count=3000 2> "$scratch/words"
dd if=/dev/urandom of="$scratch/fits.bin" bs=1024 count=1000 2> "$scratch/words"
"$TENON_COMMAND" rpc serve --listen "$address" --folder "$small" 2> "$scratch/log" &
server=$!
tries=0
until [ -S "$scratch/socket" ]; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] && kill -0 $server || { sed 's/^/# /' "$scratch/log"; exit 1; }
	sleep 0.1
done

is_refused()
{
	! "$TENON_COMMAND" rpc upload "$address" "$scratch/large.bin" 2> "$scratch/err" &&
		grep -q 'No space left on device' "$scratch/err" || { cat "$scratch/err"; return 1; }
}

is_removed()
{
	kill $server
	wait $server
	ls -R "$small"
	[ -z "$(ls "$small")" ]
}

it "a file that is larger than the disk is refused" is_refused
it "a file that fits is taken then" "$TENON_COMMAND" rpc upload "$address" "$scratch/fits.bin"
it "nothing is left when the server ends" is_removed
finish
