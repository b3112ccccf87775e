#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hil/labgrid.json as it is, against a coordinator of labgrid on this machine: a place whose board is this machine's server for
# ssh, and whose power switch is a command. Debian's labgrid has no coordinator (its README.Debian says so, and the crossbar that it
# needs is not packaged), so labgrid comes from PyPI: TENON_LABGRID names a folder with its commands; else it is installed
# below the build folder, once.

. tests/board/hil.sh
. tests/board/sshd.sh
need ssh ssh-keygen python3
# labgrid puts sockets of ssh below it, whose names take up to 60 of the 107 characters that Linux allows
[ ${#scratch} -le 40 ] || { rmdir "$scratch" && scratch=$(mktemp -d /tmp/XXXXXX); } || exit 1

labgrid=${TENON_LABGRID:-$TENON_BUILD/labgrid-venv/bin}
case $labgrid in
/*)	;;
*)	labgrid=$PWD/$labgrid ;;
esac
if [ ! -x "$labgrid/labgrid-coordinator" ]; then
	venv=$PWD/$TENON_BUILD/labgrid-venv
	case $TENON_BUILD in
	/*)	venv=$TENON_BUILD/labgrid-venv ;;
	esac
	{ python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check --timeout 20 --retries 1 \
		-r tests/board/requirements.txt; } > "$scratch/pip" 2>&1 ||
		{ rm -rf "$venv"; skip "the packages of tests/board/requirements.txt cannot be installed: $(tail -n 1 "$scratch/pip")"; }
fi
has_server || skip "no server for ssh starts here (Debian: openssh-server)"

# in_background LOG COMMAND...: ends with the script
in_background()
{
	log=$1
	shift
	(cd "$scratch/lab" && exec "$@") > "$log" 2>&1 < /dev/null &
	background="$background $!"
}

stop_all()
{
	for pid in $background $server; do
		kill "$pid" 2> "$scratch/kill"
	done
	chmod -R u+w "$scratch"
	rm -rf "$scratch"
}

# the exporter offers the ssh server as the board's; the environment has the key and the power switch
write_lab()
{
	cat > "$scratch/lab/exporter.yaml" <<-END
		shelf:
		  NetworkService:
		    address: 127.0.0.1
		    port: $port
		    username: $(id -un)
	END
	cat > "$scratch/lab/environment.yaml" <<-END
		targets:
		  main:
		    resources:
		      RemotePlace:
		        name: tenon-board
		    drivers:
		      SSHDriver:
		        keyfile: $scratch/user
		      ExternalPowerDriver:
		        cmd_on: sh $scratch/lab/power on
		        cmd_off: sh $scratch/lab/power off
		        cmd_cycle: sh $scratch/lab/power cycle
	END
	echo "echo \$1 >> $scratch/lab/switched" > "$scratch/lab/power"
	: > "$scratch/lab/switched"
}

client()
{
	"$labgrid/labgrid-client" "$@"
}

# The exporter takes its time on a machine with much to do.
place_is_there()
{
	for try in $(seq 60); do
		if client resources 2> "$scratch/why" | grep -q NetworkService; then
			client create && client add-match '*/shelf/NetworkService'
			return
		fi
		sleep 1
	done
	cat "$scratch/why" "$scratch/coordinator.log" "$scratch/exporter.log"
	return 1
}

target()
{
	sed "s@\"exec\"@\"directory\": \"$scratch/board\", &@
		s@^}@, \"suites\": { \"good\": { \"file\": \"$scratch/good\" }, \"bad\": { \"file\": \"$scratch/bad\" } } }@" \
		hil/labgrid.json > "$scratch/labgrid.json"
}

switched()
{
	[ "$(tr '\n' ' ' < "$scratch/lab/switched")" = "$* " ] && return
	echo "expected: $*"
	cat "$scratch/lab/switched"
	return 1
}

is_free()
{
	client show > "$scratch/place" && grep '^ *acquired: None' "$scratch/place" || { cat "$scratch/place"; return 1; }
}

passes()
{
	expect 0 --target "$scratch/labgrid.json" good && says '^  ok 1 ssh it is' && switched on off && is_free
}

fails()
{
	expect 1 --target "$scratch/labgrid.json" bad && says '^  not ok 1 equal' && is_free
}

# a place that another user has is no fault of the suite
is_taken()
{
	LG_USERNAME=other client acquire && expect 6 --target "$scratch/labgrid.json" good && says 'acquired by\|already acquired' &&
		LG_USERNAME=other client release
}

suite good <<'END'
echo "1..1"
[ -n "$SSH_CONNECTION" ] && echo "ok 1 - ssh it is" || echo "not ok 1 - ssh it is"
END
suite bad <<'END'
echo "1..1"
echo "not ok 1 - equal"
exit 1
END

background=
trap stop_all EXIT
mkdir "$scratch/lab" && write_lab && target || exit 1
LG_COORDINATOR=127.0.0.1:$(free_port)
LG_PLACE=tenon-board LG_ENV=$scratch/lab/environment.yaml LG_USERNAME=tester LG_HOSTNAME=here PATH=$labgrid:$PATH TMPDIR=$scratch
export LG_COORDINATOR LG_PLACE LG_ENV LG_USERNAME LG_HOSTNAME PATH TMPDIR
in_background "$scratch/coordinator.log" labgrid-coordinator -l "$LG_COORDINATOR"
# the exporter gives up where nobody answers
for try in $(seq 60); do
	client resources > "$scratch/why" 2>&1 && break
	sleep 1
done
in_background "$scratch/exporter.log" labgrid-exporter -n here exporter.yaml
it "a coordinator has the place" place_is_there
it "a suite runs on the place, which is switched on and off and given back" passes
it "a suite that fails says so, and the place is given back" fails
it "a place that somebody else has is an infrastructure fault" is_taken
finish
