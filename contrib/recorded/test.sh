#!/bin/sh
# Tests of triage without a model, a key or a network: each answer is one of .lepo, or the test fails.
set -eu
cd "$(dirname "$0")"
# The model of the recordings, whichever the reader uses.
export LEPO_RECORDED=only LEPO_MODEL=gpt

failed=0
check() {
    if [ "$2" = "$3" ]; then printf '%s\n' "ok: $1"; else printf '%s\n' "FAILED: $1: $2"; failed=1; fi
}

check 'a crash is a bug' "$(./triage reports/crash.txt)" \
    'bug: Thank you, we can reproduce the crash and will tell you once it is mended.'
check 'a wish is answered in its language' "$(./triage reports/wish.txt)" \
    'wish: 좋은 생각이네요, 다음 판에서 살펴보겠습니다.'
# From another folder the files are the same ones.
check 'the folder does not matter' "$(cd reports && ../triage crash.txt)" \
    'bug: Thank you, we can reproduce the crash and will tell you once it is mended.'
# What was not recorded is never asked.
status=0
lepo do -n --no-stdin 'What was never asked?' >/dev/null 2>&1 || status=$?
check 'nothing else is answered' "$status" 3
exit "$failed"
