#!/bin/sh
# SPDX-License-Identifier: MIT
#
# LAVA's own schema accepts the job of hil/lava, and its runner reports to lava-test-case. The lava-test-case here is a fake that
# records its arguments: there is no LAVA server.

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

reports()
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
	runner=$PWD/hil/lava/run-suites
	(cd "$scratch" && PATH=$scratch/bin:$PATH && export PATH &&
		! sh "$runner" 1 suites/one suites/two suites/hangs suites/none missing) &&
		cat > "$scratch/expected" <<-'END' && diff "$scratch/expected" "$scratch/calls"
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

it "LAVA's runner reports each case" reports
if $python -c 'import lava_common.schemas, yaml' 2> "$scratch/said"; then
	it "LAVA's schema accepts the job" is_valid
else
	cases=$((cases + 1))
	echo "ok $cases - LAVA's schema accepts the job # SKIP lava-common is not installed (Debian: lava-common)"
fi
finish
