#!/bin/sh
# Tests of a program in three languages without a model, a key or a network: one store answers all of them.
set -eu
cd "$(dirname "$0")"
if [ "${1:-}" != inside ]; then
    exec lepo do --proxy --recorded=only -q -s .lepo -- ./test.sh inside
fi

failed=0
check() {
    if [ "$2" = "$3" ]; then printf '%s\n' "ok: $1"; else printf '%s\n' "FAILED: $1: $2"; failed=1; fi
}

for program in 'python3 headline.py' 'node headline.mjs' './headline.sh'; do
    # shellcheck disable=SC2086
    check "$program" "$($program notes/leap.txt)" 'Every fourth year has a day more'
    # shellcheck disable=SC2086
    check "$program, in Korean" "$($program notes/update.txt)" '편집기, 이제 줄 번호를 숨긴다'
done
exit "$failed"
