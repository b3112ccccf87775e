#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The labgrid driver and environments of hil/labgrid, by labgrid's own plug-in of pytest: on a real kernel that QEMU boots, and by
# ssh on this machine. Debian's labgrid, or that of PyPI in an environment whose folder of commands TENON_LABGRID names.

. tests/build/tap.sh
. tests/board/sshd.sh
need python3
# labgrid puts sockets of ssh below it, whose names take up to 60 of the 107 characters that Linux allows
[ ${#scratch} -le 40 ] || { rmdir "$scratch" && scratch=$(mktemp -d /tmp/XXXXXX); } || exit 1
python=${TENON_LABGRID:-/usr/bin}/python3
$python -c 'import labgrid, pytest' 2> "$scratch/said" || skip "labgrid is not installed (Debian: python3-labgrid)"

# a case that may be skipped here
may_skip=

# tests_pass ENVIRONMENT FILE: in a copy, since pytest and Python write beside what they read
tests_pass()
{
	(cd "$scratch/labgrid" && TMPDIR=$scratch PYTHONDONTWRITEBYTECODE=1 timeout -k 5 900 \
		$python -m pytest -p no:cacheprovider -q --lg-env "$1" --junitxml "$scratch/junit.xml" "$2") && none_failed
}

# some passed, and none was skipped but the one for a program of the user, and what $may_skip names
none_failed()
{
	$python - "$scratch/junit.xml" "$may_skip" <<'END'
import sys
import xml.etree.ElementTree

cases = list(xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"))
passed = [c for c in cases if not any(c.find(verdict) is not None for verdict in ("failure", "error", "skipped"))]
bad = [c.get("name") for c in cases if c not in passed and c.get("name") not in ("test_a_program", sys.argv[2])]
sys.exit(f"{len(passed)} passed, not passed: {bad}" if bad or not passed else 0)
END
}

# image: Debian's kernel and an initramfs for the emulated PC, or a line that says why not
image()
{
	for program in qemu-system-x86_64 busybox; do
		command -v $program > "$scratch/found" || { echo "$program is not installed" && return 1; }
	done
	[ "$(uname -m)" = x86_64 ] || { echo "the board and its busybox are for x86-64" && return 1; }
	mkdir "$scratch/board" && sh hil/qemu-image x86_64 "$scratch/board"
}

# this machine in place of the example's board
ssh_environment()
{
	sed "s,address: .*,address: 127.0.0.1,; s,port: .*,port: $port,; s,username: .*,username: $(id -un),
		s,keyfile: .*,keyfile: $scratch/user,; s,tenon: tenon,tenon: $TENON_COMMAND\n        directory: $scratch/suites," \
		hil/labgrid/ssh.yaml > "$scratch/labgrid/here.yaml"
}

cp -R hil/labgrid "$scratch/labgrid"
if image > "$scratch/image.log" 2>&1; then
	LG_TENON_BOARD=$scratch/board
	export LG_TENON_BOARD
	it "suites run on the QEMU board by labgrid" tests_pass qemu.yaml test_board.py
else
	skip_case "suites run on the QEMU board by labgrid" "$(tail -n 1 "$scratch/image.log")"
fi
if ! grep -qs '^CONFIG_REMOTE=[ym]' "$TENON_BUILD/include/config/auto.conf" || [ -n "${EMULATOR:-}" ]; then
	skip_case "a server of RPC runs by labgrid and ssh" "CONFIG_REMOTE is off, or the command runs in an emulator"
elif ! has_server; then
	skip_case "a server of RPC runs by labgrid and ssh" "no server for ssh starts here (Debian: openssh-server)"
else
	case $TENON_COMMAND in
	/*)	TENON=$TENON_COMMAND ;;
	*)	TENON=$PWD/$TENON_COMMAND ;;
	esac
	TENON_COMMAND=$TENON
	export TENON
	# the package for Python, where it was built for this one
	PYTHONPATH=$(cd "$TENON_BUILD" && pwd)/python
	export PYTHONPATH
	$python -c 'import tenon' 2>/dev/null || may_skip=test_the_python_package_runs_a_function_on_the_board
	ssh_environment
	it "a server of RPC runs by labgrid and ssh" tests_pass here.yaml test_server.py
fi
finish
