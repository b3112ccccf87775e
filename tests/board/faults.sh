#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A broken board and a broken test are told apart: "tenon hil run" with a fake board, a fault a case.

. tests/board/hil.sh

suite good <<'END'
echo "1..2"
echo "ok 1 - the seed is $TENON_SEED"
echo "ok 2 - a device # SKIP there is none"
END
suite bad <<'END'
echo "1..2"
echo "ok 1 - fine"
echo "# 3 is not 4"
echo "not ok 2 - equal <&>"
exit 1
END

passes()
{
	fake_board < /dev/null && expect 0 --target "$scratch/target.json" --seed 7 "$scratch/good" &&
		says '^1..2' '^ok 1 board' '^  ok 1 the seed is 7' '^  ok 2 a device # SKIP there is none' \
			"^ok 2 $scratch/good" '^# seed: 7' '^# board kernel: ' '^# target sha256: ' '^# sha256: ' &&
		events start stop
}

a_failure_is_of_the_test()
{
	expect 1 --target "$scratch/target.json" "$scratch/bad" "$scratch/good" &&
		says '^not ok 2' '^ok 3' '^  # 3 is not 4' && events start stop start stop
}

reports_are_well_formed()
{
	command -v python3 >/dev/null 2>&1 || return 0
	python3 - "$scratch/results" <<'END'
import json, sys
from xml.etree import ElementTree

root = ElementTree.parse(sys.argv[1] + "/results.xml").getroot()
suites = root.findall("testsuite")
assert [s.get("failures") for s in suites] == ["0", "1", "0"], [s.attrib for s in suites]
assert [s.get("skipped") for s in suites] == ["0", "0", "1"]
assert suites[1].find("testcase/failure").text.strip() == "# 3 is not 4"
report = json.load(open(sys.argv[1] + "/results.json"))
assert report["exit_status"] == 1 and [s["verdict"] for s in report["suites"]] == ["pass", "fail", "pass"]
assert len(report["suites"][1]["sha256"]) == 64
END
}

a_suite_that_hangs_is_stopped()
{
	suite hangs <<-'END'
		echo "1..2"
		echo "ok 1 - begins"
		sleep 1000 &
		sleep 1000
	END
	fake_board <<-END
		, "suites": {
			"hangs": { "file": "$scratch/hangs", "deadline": 4 },
			"good": { "file": "$scratch/good" }
		}
	END
	expect 1 --target "$scratch/target.json" && says '^  not ok 2 deadline # TIMEOUT' '^not ok 2 hangs # TIMEOUT' \
		'^ok 3 good' && events start stop
}

a_board_that_does_not_start()
{
	fake_board < /dev/null
	sed -i 's/^"start": .*/"start": "echo no power; exit 1",/' "$scratch/target.json"
	expect 6 --target "$scratch/target.json" "$scratch/good" &&
		says '^not ok 1 board # ERROR start: exit status 1: no power' '^not ok 2 .* # ERROR' && events stop
}

a_board_whose_process_ends()
{
	fake_board < /dev/null
	sed -i 's/^"start": .*/"run": "echo out of memory; exit 3",/; /^"stop"/d; /^"reset"/d' "$scratch/target.json"
	rm -f "$scratch/fake/on"
	expect 6 --target "$scratch/target.json" "$scratch/good" && says '# ERROR run: exit status 3: out of memory'
}

a_silent_board()
{
	fake_board <<-'END'
		, "deadlines": { "reach": 1 }
	END
	sed -i 's/^"exec": .*/"exec": "sleep 1000; :",/' "$scratch/target.json"
	expect 6 --target "$scratch/target.json" "$scratch/good" &&
		says 'cannot be reached within 1 s: no answer within 1 s' && events start stop
}

# The attempt that the deadline cuts off hides nothing: the reason is that of the attempt before it.
a_board_that_refuses()
{
	fake_board <<-'END'
		, "deadlines": { "reach": 8 }
	END
	cat > "$scratch/fake/refuse" <<-END
		[ ! -e $scratch/fake/refused ] || exec sleep 1000
		: > $scratch/fake/refused
		echo "Permission denied"
		exit 255
	END
	sed -i "s@^\"exec\": .*@\"exec\": \"sh $scratch/fake/refuse\",@" "$scratch/target.json"
	expect 6 --target "$scratch/target.json" "$scratch/good" &&
		says 'cannot be reached within 8 s: .*Permission denied' && events start stop
}

a_program_that_is_missing_here()
{
	fake_board < /dev/null
	sed -i 's/^"exec": .*/"exec": "no-such-program",/' "$scratch/target.json"
	expect 4 --target "$scratch/target.json" "$scratch/good" && says '^ok 1 board # SKIP .*no-such-program'
}

a_check_that_says_why()
{
	fake_board < /dev/null
	sed -i 's/^"exec"/"check": "echo no firmware; exit 77",\n&/' "$scratch/target.json"
	expect 4 --target "$scratch/target.json" "$scratch/good" && says '# SKIP .*no firmware'
}

# It breaks the board each time, and the board lives as long without it.
a_suite_that_breaks_the_board()
{
	suite breaks <<-END
		echo "1..1"
		rm $scratch/fake/on
		sleep 1000
	END
	fake_board < /dev/null
	expect 1 --target "$scratch/target.json" "$scratch/breaks" "$scratch/good" &&
		says '^# the suite breaks the board: in 2 attempts' '^not ok 2' '^ok 3' '^# resets: 2' &&
		events start reset reset stop
}

a_board_that_breaks_once()
{
	suite breaks_once <<-END
		echo "1..1"
		[ -e $scratch/broke ] && echo "ok 1 - now" && exit
		: > $scratch/broke
		rm $scratch/fake/on
		sleep 1000
	END
	fake_board < /dev/null
	expect 6 --target "$scratch/target.json" "$scratch/breaks_once" "$scratch/good" &&
		says '# ERROR the board broke in the first attempt .* ended with: pass' '^ok 3' '^# resets: 1' &&
		events start reset stop
}

# It breaks while a suite runs, and also without one.
a_board_that_breaks_by_itself()
{
	suite waits <<-'END'
		sleep 1000
	END
	fake_board < /dev/null
	# the command ends, and the process that removes the file stays: "setsid" takes it out of the command's group
	cat > "$scratch/fake/rots" <<-END
		: > $scratch/fake/on
		setsid sh -c 'sleep 1.5; rm $scratch/fake/on' < /dev/null > /dev/null 2>&1 &
		sleep 0.2
	END
	sed -i "s@^\(\"start\"\|\"reset\"\): .*@\1: \"sh $scratch/fake/rots\",@" "$scratch/target.json"
	expect 6 --target "$scratch/target.json" "$scratch/waits" && says '^not ok 2 .* # ERROR'
}

a_board_that_stays_broken()
{
	suite breaks_for_ever <<-END
		rm $scratch/fake/on
		sleep 1000
	END
	fake_board <<-'END'
		, "deadlines": { "reach": 5 }
	END
	sed -i 's/^"reset": .*/"reset": "true",/' "$scratch/target.json"
	expect 6 --target "$scratch/target.json" "$scratch/breaks_for_ever" "$scratch/good" &&
		says '^not ok 2 .* # ERROR the board cannot be reached' '^not ok 3 .* # ERROR the run ended before'
}

the_whole_run_has_a_deadline()
{
	suite slow <<-'END'
		sleep 1000
	END
	fake_board < /dev/null
	expect 124 --target "$scratch/target.json" --deadline 6 "$scratch/slow" "$scratch/good" &&
		says '^not ok .* # ERROR the whole run took longer than its deadline of 6 s' && events start stop
}

output_that_is_no_tap()
{
	suite garbage <<-'END'
		echo "1..5"
		head -c 20000 /dev/urandom
		printf '\nok 1 - \033[31mred\nok 2\nok 99999999999999999999 - much\n'
	END
	suite truncated <<-'END'
		printf '1..2\nok 1 - whole\nnot o'
	END
	fake_board < /dev/null
	expect 1 --target "$scratch/target.json" "$scratch/garbage" "$scratch/truncated" &&
		says '^  not ok . plan' '^not ok 2' '^not ok 3' &&
		! LC_ALL=C grep -q "$(printf '[\001-\010\033\177]')" "$scratch/ktap" && reports_parse
}

reports_parse()
{
	command -v python3 >/dev/null 2>&1 || return 0
	python3 -c 'import json, sys, xml.etree.ElementTree as e
e.parse(sys.argv[1] + "/results.xml")
json.load(open(sys.argv[1] + "/results.json"))' "$scratch/results"
}

an_exit_status_without_tap()
{
	suite silent < /dev/null
	suite no_device <<-'END'
		echo "no device of this kind"
		exit 77
	END
	fake_board < /dev/null
	expect 0 --target "$scratch/target.json" "$scratch/silent" "$scratch/no_device" &&
		says '^ok 3 .* # SKIP no device of this kind' &&
		expect 4 --target "$scratch/target.json" "$scratch/no_device"
}

suites_that_cannot_run()
{
	# the header of a program for s390, a machine that no board is; and one of aarch64 or x86-64, which this one is not
	case $(uname -m) in
	x86_64)	machine='\267' ;;
	*)	machine='\076' ;;
	esac
	printf '\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\002\0'"$machine"'\0' > "$scratch/other"
	chmod +x "$scratch/other"
	fake_board < /dev/null
	expect 4 --target "$scratch/target.json" "$scratch/missing" "$scratch/other" "$scratch/good" &&
		says '^ok 2 .* # SKIP .*missing: no such file' '^ok 3 .* # SKIP .* is a program for .*, the board is' '^ok 4'
}

names_and_options()
{
	fake_board <<-END
		, "suites": {
			"good": { "file": "$scratch/good", "arguments": ["it's", "\$HOME"], "needs": ["$scratch/bad"] }
		}
	END
	expect 2 --target "$scratch/target.json" god && says 'no suite of this target or file is called "god". .*good' &&
		expect 2 && says '--target TARGET.json is missing' && expect 3 --target "$scratch/nothing.json" && expect 0 --target "$scratch/target.json" good &&
		[ -x "$scratch/fake/board/outside/bad" ] && expect 0 --target "$scratch/target.json" --json &&
		says '"verdict":' '"exit_status":'
}

# a_wrong_file TEXT MESSAGE
a_wrong_file()
{
	printf '%s\n' "$1" > "$scratch/wrong.json"
	expect 3 --target "$scratch/wrong.json" && says "wrong.json.*$2"
}

wrong_files()
{
	board='"board": { "name": "x" }, "reach": { "exec": "sh -c" }'
	a_wrong_file '{ "bord": {} }' 'line 1, column 4: no table is called "bord". Nearest: "board"' &&
		a_wrong_file "{ $board, \"build\": { \"comand\": \"\" } }" 'no key of this table is called "comand".*"command"' &&
		a_wrong_file '{ "board": { "name": "x" } }' 'needs exec' && a_wrong_file '{ "reach": { "exec": "x" } }' 'needs a name' &&
		a_wrong_file '{ "board": { "name": 1 } }' 'name is a number or word, want a string' &&
		a_wrong_file '{ "board": { "name": "a\u0000b" } }' 'name has a zero byte' &&
		a_wrong_file '{ "deadlines": { "copy": 0 } }' 'copy is 0, want 1 to' &&
		a_wrong_file '{ "deadlines": { "copy": "1" } }' 'copy is a string, want a number' &&
		a_wrong_file "{ $board, \"suites\": { \"a\": {} } }" 'the suite "a" needs a file' &&
		a_wrong_file "{ $board, \"suites\": { \"a\": { \"file\": \"b\" }, \"a\": {} } }" 'the suite "a" is there twice' &&
		a_wrong_file "{ $board, \"suites\": {}, \"suites\": {} }" '"suites" is there twice' &&
		a_wrong_file "{ $board, \"reach\": { \"exec\": \"x\" } }" '"reach" is there twice' &&
		a_wrong_file '{ "board": { "name": "x", "name": "y" } }' '"name" is there twice' &&
		a_wrong_file "{ $board, \"suites\": { \"a/b\": { \"file\": \"b\" } } }" 'other characters' &&
		a_wrong_file "{ $board, \"suites\": { \"\": { \"file\": \"b\" } } }" 'no name' &&
		a_wrong_file "{ $board, \"suites\": { \"a\\nok 2 forged\": { \"file\": \"b\" } } }" 'other characters' &&
		a_wrong_file "{ $board, \"suites\": { \"a\\u0000b\": { \"file\": \"b\" } } }" '' &&
		a_wrong_file "{ $board, \"suites\": { \"a\": { \"file\": \"b\", \"needs\": \"c\" } } }" 'needs is a string, want an array' &&
		a_wrong_file "{ $board, \"suites\": { \"a\": { \"file\": \"b\", \"needs\": [1] } } }" 'needs is a number or word' &&
		a_wrong_file '{ "board": { "name": "x", "run": "a", "start": "b" }, "reach": { "exec": "c" } }' 'run and start' &&
		a_wrong_file '[board]' '' && a_wrong_file '{' ''
}

# a program for another machine runs by "wrap", after a build that the file asks for
builds_and_wraps()
{
	fake_board <<-END
		, "build": { "command": "echo built; cp $scratch/good $scratch/made" }
		, "suites": { "made": { "file": "$scratch/made" } }
	END
	sed -i 's/^"exec"/"wrap": "env WRAPPED=yes",\n&/' "$scratch/target.json"
	echo '[ "$WRAPPED" = yes ] || exit 1' >> "$scratch/good"
	expect 0 --target "$scratch/target.json" && says '^ok 2 made' &&
		sed -i 's/echo built/exit 1/' "$scratch/target.json" && expect 4 --target "$scratch/target.json" &&
		says '^ok 1 board # SKIP build: exit status 1'
}

it "a suite passes; the header has seed, versions and hashes" passes
it "a failure is the test's: exit status 1" a_failure_is_of_the_test
it "JUnit and JSON are well formed" reports_are_well_formed
it "a suite that hangs is stopped on the board, and the next one runs" a_suite_that_hangs_is_stopped
it "a board that does not start: exit status 6" a_board_that_does_not_start
it "a board whose process ends: exit status 6" a_board_whose_process_ends
it "a silent board: exit status 6" a_silent_board
it "a board that refuses and then is silent: the reason is given" a_board_that_refuses
it "a program that is missing on this machine: exit status 4" a_program_that_is_missing_here
it "a check with exit status 77: exit status 4" a_check_that_says_why
it "a suite that breaks the board twice has failed" a_suite_that_breaks_the_board
it "a board that breaks once: no verdict" a_board_that_breaks_once
it "a board that breaks by itself: no verdict" a_board_that_breaks_by_itself
it "a board that stays broken ends the run" a_board_that_stays_broken
it "the whole run has a deadline: exit status 124" the_whole_run_has_a_deadline
it "garbage and truncated TAP are failures" output_that_is_no_tap
it "an exit status is the result of a suite without TAP" an_exit_status_without_tap
it "suites that cannot run: exit status 4" suites_that_cannot_run
it "names and options are checked" names_and_options
it "target files are checked" wrong_files
it "a suite is built and wrapped; a build that fails: exit status 4" builds_and_wraps
finish
