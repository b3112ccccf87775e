#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The job of hil/lava: LAVA's schema accepts it, and LAVA's dispatcher runs it on a QEMU board without a server. The dispatcher is
# Debian's: scripts/check --full unpacks it to the build folder, TENON_LAVA names another folder with its usr/. The cases of
# the runner alone have a fake lava-test-case that records its arguments.

. tests/build/tap.sh
python=/usr/bin/python3

is_valid()
{
	$python - hil/lava/qemu.yaml <<'END'
import sys
import yaml
from lava_common import schemas

job = yaml.safe_load(open(sys.argv[1]))
schemas.validate(job)
job["actions"][1]["boot"]["method"] = "no such method"
try:
    schemas.validate(job)
except Exception:
    sys.exit(0)
sys.exit("the schema accepts anything")
END
}

write_suites()
{
	mkdir "$scratch/bin" "$scratch/suites" && cat > "$scratch/bin/lava-test-case" <<-END
		#!/bin/sh
		echo "\$*" >> $scratch/calls
	END
	printf '#!/bin/sh\necho 1..3; echo "ok 1 - a b"; echo "not ok 2 - <x>"; echo "ok 3 - c # SKIP none"; exit 1\n' \
		> "$scratch/suites/one"
	printf '#!/bin/sh\necho 1..2; echo "ok 1 - a"\n' > "$scratch/suites/two"
	printf '#!/bin/sh\nsleep 1000\n' > "$scratch/suites/hangs"
	printf '#!/bin/sh\necho no device; exit 77\n' > "$scratch/suites/none"
	chmod +x "$scratch"/bin/* "$scratch"/suites/*
	cat > "$scratch/expected" <<-'END'
		one.a_b --result pass
		one._x_ --result fail
		one.c --result skip
		two.a --result pass
		two.plan --result fail
		hangs.all --result fail
		none.all --result skip
		missing.all --result unknown
	END
}

# reports FOLDER: with the commands of the folder before those of the system
reports()
{
	runner=$PWD/hil/lava/run-suites
	rm -f "$scratch/calls"
	(cd "$scratch" && PATH=$scratch/bin:$1:$PATH && export PATH &&
		! sh "$runner" 1 suites/one suites/two suites/hangs suites/none missing) &&
		diff "$scratch/expected" "$scratch/calls"
}

# busybox is what the board has
reports_with_busybox()
{
	mkdir "$scratch/busybox" && busybox --install -s "$scratch/busybox" && reports "$scratch/busybox"
}

# can_dispatch: or a line that says why not
can_dispatch()
{
	for program in qemu-system-x86_64 busybox cpio ldd; do
		command -v $program > "$scratch/found" || { echo "$program is not installed" && return 1; }
	done
	[ "$(uname -m)" = x86_64 ] || { echo "the board and its busybox are for x86-64" && return 1; }
	for lava in "${TENON_LAVA:-}" "$TENON_BUILD/lava" ''; do
		[ ! -r "$lava/usr/bin/lava-run" ] || [ ! -d "$lava/usr/share/lava-server/device-types" ] || break
	done
	[ -r "$lava/usr/bin/lava-run" ] ||
		{ echo "no dispatcher of LAVA: scripts/check --full unpacks it, or set TENON_LAVA" && return 1; }
	# the dispatcher wants to be root, but this job does nothing that needs it
	as_root=
	[ "$(id -u)" -eq 0 ] || as_root="unshare --map-root-user"
	PYTHONDONTWRITEBYTECODE=1
	export PYTHONDONTWRITEBYTECODE
	$as_root $python tests/board/lava_run.py "$lava" "$scratch/lava" --help > "$scratch/help" 2>&1 ||
		{ echo "the dispatcher does not start: $(tail -n 1 "$scratch/help")" && return 1; }
	sh hil/qemu-image x86_64 "$scratch/lava/files"
}

# add_program NAME FILE: a suite of the build, with the libraries that the board lacks
add_program()
{
	[ -x "$2" ] && [ -z "${SAN:-}${EMULATOR:-}" ] || return 0
	cp "$2" "$archive/programs/$1" && ldd "$2" > "$scratch/needed" || return
	for library in $(grep -o '/[^ ]*' "$scratch/needed"); do
		cp -L "$library" "$archive/programs/" || return
	done
	cat > "$archive/suites/$1" <<-END
		#!/bin/sh
		export CMOCKA_MESSAGE_OUTPUT=TAP
		exec programs/ld-linux-x86-64.so.2 --library-path programs programs/$1
	END
	chmod +x "$archive/suites/$1"
}

archive_suites()
{
	archive=$scratch/archive
	mkdir -p "$archive/suites" "$archive/programs" && cp hil/lava/run-suites "$archive/" &&
		cp "$scratch/suites/one" "$scratch/suites/none" "$archive/suites/" &&
		add_program cursor "$TENON_BUILD/tests/unit/cursor_test" &&
		add_program syscall "$TENON_BUILD/tests/driver/syscall_test" &&
		tar --owner=0 --group=0 -C "$archive" -cf "$scratch/lava/files/suites.tar" .
}

# results_are: those of the scripts are as they should be, and those of the programs have all passed
results_are()
{
	$python - "$scratch/log" "$archive/suites" <<'END'
import os
import sys
import yaml

results = {}
for line in open(sys.argv[1], errors="replace"):
    if '"lvl": "results"' in line:
        entry = yaml.safe_load(line)["msg"]
        results[entry["definition"], entry["case"]] = entry["result"]
reported = {case: result for (definition, case), result in results.items() if definition == "0_tenon"}
expected = {"one.a_b": "pass", "one._x_": "fail", "one.c": "skip", "none.all": "skip"}
programs = set(os.listdir(sys.argv[2])) - {"one", "none"}
others = {case: result for case, result in reported.items() if case not in expected}
if results.get(("lava", "job")) != "pass":
    sys.exit(f"the job ended with {results.get(('lava', 'job'))}")
if expected.items() - reported.items() or set(others.values()) - {"pass"} or {case.split(".")[0] for case in others} != programs:
    sys.exit(f"reported: {reported}, of programs: {programs}")
END
}

dispatches()
{
	archive_suites || return
	$as_root timeout -k 20 600 $python tests/board/lava_run.py "$lava" "$scratch/lava" > "$scratch/log" 2>&1 < /dev/null &&
		results_are && return
	grep -v '"lvl": "debug"' "$scratch/log" | cut -c 1-200
	return 1
}

write_suites || exit 1
it "LAVA's runner reports each case" reports "$scratch/bin"
if command -v busybox > "$scratch/said"; then
	it "LAVA's runner reports each case with busybox" reports_with_busybox
else
	skip_case "LAVA's runner reports each case with busybox" "busybox is not installed"
fi
if $python -c 'import lava_common.schemas, yaml' 2> "$scratch/said"; then
	it "LAVA's schema accepts the job" is_valid
else
	skip_case "LAVA's schema accepts the job" "lava-common is not installed (Debian: lava-common)"
fi
mkdir -p "$scratch/lava/files"
if can_dispatch > "$scratch/why" 2>&1; then
	it "LAVA's dispatcher runs the job on the QEMU board" dispatches
else
	skip_case "LAVA's dispatcher runs the job on the QEMU board" "$(tail -n 1 "$scratch/why")"
fi
finish
