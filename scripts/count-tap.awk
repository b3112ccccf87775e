# SPDX-License-Identifier: MIT
#
# Count the cases in what one suite printed: see run-tests. Variables: suite, number, status (its exit
# status), seconds, processor (the seconds on processors), spent (the same when it was stopped for them), limit
# (the seconds on the clock), why (the reason of a suite that was not run), pattern (cases were chosen), again (the
# command that runs suites); ktap, junit, counts, costs, failed are files to append to. For people, a line a suite goes to standard output.

function new_case(name, verdict, text)
{
	sub(/^[ \t]*-?[ \t]*/, "", name)
	sub(/[ \t]+$/, "", name)
	gsub(/#/, "", name)
	ncase++
	case_name[ncase] = name == "" ? "case " ncase : name
	case_verdict[ncase] = verdict
	case_text[ncase] = text
	total[verdict]++
}

# what a person should read: the reason of a skip, without the marks around it
function plain(text)
{
	gsub(/\n/, " ", text)
	gsub(/(^|[ \t]+)#+[ \t]*/, " ", text)
	sub(/^[ \t]+/, "", text)
	sub(/[ \t]+$/, "", text)
	return text
}

function last_line(text,    n, line)
{
	sub(/\n+$/, "", text)
	n = split(text, line, "\n")
	return n ? line[n] : ""
}

function xml(s)
{
	gsub(/&/, "\\&amp;", s)
	gsub(/</, "\\&lt;", s)
	gsub(/>/, "\\&gt;", s)
	gsub(/"/, "\\&quot;", s)
	gsub(/[\001-\010\013-\037\177-\377]/, "?", s)
	return s
}

{
	all = all $0 "\n"
}

/^[ \t]*(not )?ok [0-9]+/ {
	line = $0
	failed_line = line ~ /^[ \t]*not ok/
	sub(/^[ \t]*(not )?ok [0-9]+/, "", line)
	results++
	if (match(line, /# *[Ss][Kk][Ii][Pp]/)) {
		reason = substr(line, RSTART + RLENGTH)
		name = substr(line, 1, RSTART - 1)
		# cmocka puts the name where the reason belongs, and prints the reason before
		if (name ~ /^[ \t-]*$/) {
			name = reason
			reason = plain(last_line(before))
		}
		new_case(name, "skip", plain(reason))
	} else {
		new_case(line, failed_line ? "fail" : "pass", failed_line ? before : "")
	}
	before = ""
	after_failure = failed_line && case_verdict[ncase] == "fail"
	next
}

# the whole suite is skipped
/^[ \t]*1\.\.0[ \t]*#[ \t]*[Ss][Kk][Ii][Pp]/ {
	sub(/^[ \t]*1\.\.0[ \t]*#[ \t]*[Ss][Kk][Ii][Pp][ \t]*/, "")
	why = $0
	all_skipped = 1
	next
}

/^[ \t]*1\.\.[0-9]+/ {
	line = $0
	sub(/^[ \t]*1\.\./, "", line)
	planned += line + 0
	plans++
	next
}

/^# (not )?ok - / || /^TAP version/ || /^KTAP version/ {
	next
}

{
	if (after_failure && /^[ \t]*#/)
		case_text[ncase] = case_text[ncase] $0 "\n"
	else {
		before = before $0 "\n"
		after_failure = 0
	}
}

END {
	ended = ""
	if (spent != "")
		ended = "stopped after " spent " s on processors, more than its limit"
	else if (status == 124 || (status == 137 && seconds >= limit))
		ended = "stopped after " seconds " s, of them " (processor + 0) " s on processors: it hangs"
	else if (status > 128)
		ended = "killed by signal " (status - 128)
	else if (status != 0)
		ended = "exit status " status
	if (!results && !plans) {
		if (status == 77 || status == 4 || (status == 0 && all_skipped))
			new_case("", "skip", why != "" ? why : plain(last_line(all)))
		else if (status == 0)
			new_case("", "pass", "")
		else
			new_case("", "fail", all (ended ~ /^exit/ ? "" : ended "\n"))
		case_name[ncase] = "all"
	}
	for (missing = planned - results; plans && missing > 0; missing--)
		new_case("case " (ncase + 1) " of " planned, "fail", \
			"no result" (ended == "" ? "" : ": " ended) "\n" before)
	if ((results || plans) && !total["fail"] && status != 0)
		new_case("exit", "fail", ended "\n" before)
	if (results && !plans)
		new_case("plan", "fail", "the suite printed results and no plan\n")
	if (plans && results > planned)
		new_case("plan", "fail", results " results, " planned " planned\n")

	pass = total["pass"] + 0
	fail = total["fail"] + 0
	skip = total["skip"] + 0
	print pass, fail, skip >> counts
	print processor + 0, seconds, suite >> costs
	if (fail) {
		for (i = 1; case_verdict[i] != "fail"; i++)
			;
		printf("  %s%s   # %s%s\n", again == "" ? "" : again " SUITE=", suite, case_name[i], \
			fail == 1 ? "" : ", and " fail - 1 " more") >> failed
	}

	# people
	printf "  %-5s %-32s %3d passed", fail ? "FAIL" : pass ? "ok" : "skip", suite, pass
	if (fail)
		printf ", %d failed", fail
	if (skip)
		printf ", %d skipped", skip
	printf "   %d s%s\n", seconds, seconds < 10 ? "" : sprintf(" (%d s on processors)", processor)
	for (i = 1; i <= ncase; i++) {
		if (case_verdict[i] == "fail") {
			printf "        failed: %s\n", case_name[i]
			text = case_text[i]
			sub(/\n+$/, "", text)
			n = split(text, part, "\n")
			for (k = n > 40 ? n - 39 : 1; k <= n; k++)
				printf "        | %s\n", part[k]
		} else if (case_verdict[i] == "skip") {
			why = case_text[i] == "" ? "no reason given" : case_text[i]
			if (!(why in skips))
				reason_of[++nreason] = why
			skips[why]++
			skipped_name[why] = case_name[i] == "all" ? "" : case_name[i] ": "
		}
	}
	# many skips have few reasons: one line each
	for (i = 1; i <= nreason; i++) {
		why = reason_of[i]
		if (skips[why] == 1)
			printf "        skipped: %s%s\n", skipped_name[why], why
		else
			printf "        skipped: %d cases: %s\n", skips[why], why
	}

	# KTAP
	print "  KTAP version 1" >> ktap
	print "  1.." ncase >> ktap
	for (i = 1; i <= ncase; i++) {
		text = case_text[i]
		if (case_verdict[i] == "fail") {
			sub(/\n+$/, "", text)
			n = split(text, part, "\n")
			for (k = 1; k <= n; k++)
				print "  # " part[k] >> ktap
			print "  not ok " i " " case_name[i] >> ktap
		} else {
			print "  ok " i " " case_name[i] \
				(case_verdict[i] == "skip" ? " # SKIP " text : "") >> ktap
		}
	}
	print (fail ? "not ok " : "ok ") number " " suite (pass || fail ? "" : " # SKIP") >> ktap

	# JUnit
	printf "<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\" time=\"%d\">\n", \
		xml(suite), ncase, fail, skip, seconds >> junit
	for (i = 1; i <= ncase; i++) {
		printf "<testcase classname=\"%s\" name=\"%s\"", xml(suite), xml(case_name[i]) >> junit
		if (case_verdict[i] == "fail")
			printf "><failure message=\"failed\">%s</failure></testcase>\n", xml(case_text[i]) >> junit
		else if (case_verdict[i] == "skip")
			printf "><skipped message=\"%s\"/></testcase>\n", xml(case_text[i]) >> junit
		else
			print "/>" >> junit
	}
	print "</testsuite>" >> junit
}
