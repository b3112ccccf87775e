#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A board that is reached by ssh, with OpenSSH's client and server, on this machine.

. tests/board/hil.sh
. tests/board/sshd.sh
need ssh ssh-keygen python3

write_target()
{
	cat > "$scratch/target.json" <<-END
		{
		"board": { "name": "ssh" },
		"reach": {
		"exec": "ssh -F none -i $scratch/user -p $port -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=$scratch/known -o LogLevel=ERROR $(id -un)@127.0.0.1",
		"directory": "$scratch/board"
		},
		"deadlines": { "reach": 60 },
		"suites": { "good": { "file": "$scratch/good", "needs": ["$scratch/data"] } }
		}
	END
}

passes()
{
	write_target
	expect 0 --target "$scratch/target.json" && says '^  ok 1 the files came' '^  ok 2 ssh it is'
}

wrong_key()
{
	sed "s,-i $scratch/user,-i $scratch/host,; s/\"reach\": 60/\"reach\": 10/" "$scratch/target.json" > "$scratch/wrong.json"
	expect 6 --target "$scratch/wrong.json" && says '# ERROR the board cannot be reached .*[Pp]ermission denied'
}

suite good <<'END'
echo "1..2"
[ "$(cat outside/data)" = "some data" ] && echo "ok 1 - the files came" || echo "not ok 1 - the files came"
[ -n "$SSH_CONNECTION" ] && echo "ok 2 - ssh it is" || echo "not ok 2 - ssh it is"
END
echo "some data" > "$scratch/data"
has_server || skip "no server for ssh starts here (Debian: openssh-server)"
it "a suite and its files go to the board by ssh" passes
it "a wrong key is an infrastructure fault" wrong_key
finish
