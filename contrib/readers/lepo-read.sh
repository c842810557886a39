#!/bin/sh
# Read a lepo store (format 1.0): list STORE; show STORE ID|@, which shows the visible messages of its conversation.
export LC_ALL=C
fail() { printf 'lepo-read: %s\n' "$1" >&2; exit 2; }
real_dir() { [ -d "$1" ] && [ ! -h "$1" ]; }

# names RANK DAY DIRECTORY: "RANK DAY NAME" for what may be a message. No name that is printed can break a line.
names() {
    for path in "$3"/[0-7]*-[suat][01]-*.md; do
        name=${path##*/}
        case $name in *[!0-9A-Za-z.-]*) continue ;; esac
        if [ -f "$path" ] && [ ! -h "$path" ]; then printf '%s %s %s\n' "$1" "$2" "$name"; fi
    done
}
# one_store RANK DIRECTORY: first the store itself, then its days.
one_store() {
    names "$1" . "$2"
    real_dir "$2/_old" || return 0
    for month in "$2"/_old/[0-9]*-[0-9][0-9]; do
        case ${month##*/} in *[!0-9-]*) continue ;; esac
        real_dir "$month" || continue
        for day in "$month"/[0-9][0-9]; do
            if real_dir "$day"; then names "$1" "${month##*/}/${day##*/}" "$day"; fi
        done
    done
}
# others COMMAND: runs it with a rank and a directory for each store of other people.
others() {
    rank=0
    real_dir ./_from || return 0
    for other in ./_from/[!_.]*; do
        real_dir "$other" || continue
        rank=$((rank + 1))
        "$1" "$rank" "$other"
    done
}
all() { one_store 0 .; others one_store; }
at_rank() { if [ "$1" = "$wanted" ]; then home=$2; fi; }
# winners ID: RANK, ID, DAY, hidden and NAME of each message of a conversation, the last first; without ID, the tails.
winners() {
    awk -v wanted="$1" -v digits=0123456789ABCDEFGHJKMNPQRSTVWXYZ '
    function is_id(s) { return length(s) == 26 && s ~ /^[0-7][0-9A-HJKMNP-TV-Z]*$/ }
    function day_of(id,    i, ms, z, era, doe, yoe, doy, mp, m) {
        ms = 0
        for (i = 1; i <= 10; i++) ms = ms * 32 + index(digits, substr(id, i, 1)) - 1
        z = int(ms / 86400000) + 719468     # days since 0000-03-01
        era = int(z / 146097); doe = z % 146097
        yoe = int((doe - int(doe / 1460) + int(doe / 36524) - int(doe / 146096)) / 365)
        doy = doe - (365 * yoe + int(yoe / 4) - int(yoe / 100))
        mp = int((5 * doy + 2) / 153); m = mp < 10 ? mp + 3 : mp - 9
        return sprintf("%d-%02d/%02d", yoe + era * 400 + (m <= 2), m, doy - int((153 * mp + 2) / 5) + 1)
    }
    function decide(id,    n, end) {        # of a hidden message; "" if nothing decides
        while ((id in prev) && hidden[id] && !(id in decider)) { decider[id] = ""; way[++n] = id; id = prev[id] }
        if (id in decider) end = decider[id]
        else if (id in prev) end = id
        else if (id == "head") end = way[n]
        while (n) decider[way[n--]] = end
        return end
    }
    function measure(id,    n, h) {         # heights, of a circle the number of its messages
        while ((id in prev) && !(id in height) && !(id in at)) { at[id] = ++n; way[n] = id; id = prev[id] }
        h = (id in height) ? height[id] : 0
        circle = (id in at) ? (h = n - at[id] + 1) : 0
        for (; n; n--) { height[way[n]] = circle-- > 0 ? h : ++h; delete at[way[n]] }
    }
    {
        if (split($3, part, "-") != 3) next
        id = toupper(part[1]); p = substr(part[3], 1, length(part[3]) - 3)
        if (p != "head") { p = toupper(p); if (!is_id(p)) next }
        if (!is_id(id) || length(part[2]) != 2) next
        if ($2 != "." && ($2 != day_of(id) || (p != "head" && "x" id <= "x" p))) next
        h = substr(part[2], 2) + 0
        key = sprintf("%09d %d %s %d%d %s", $1, $2 != ".", p == "head" ? "" : p, \
            index("suat", substr(part[2], 1, 1)), h, $3)
        if ((id in best) && best[id] <= key) next
        best[id] = key; prev[id] = p; hidden[id] = h; rank[id] = $1; name[id] = $3
    }
    END {
        id = toupper(wanted)
        for (; (id in prev) && !(id in at); id = prev[id]) { at[id]; print rank[id], id, day_of(id), hidden[id], name[id] }
        if ((toupper(wanted) in at) && id != "head") print "lepo-read: incomplete conversation, before " id > "/dev/stderr"
        if (wanted != "") exit
        for (id in prev) {
            parent[prev[id]] = 1
            if (!hidden[id]) for (p = prev[id]; (p in prev) && !(p in below); p = prev[p]) below[p] = 1
        }
        for (id in prev) if (!(id in parent)) {
            if (hidden[id] && (decide(id) in below)) continue
            measure(id)
            print id " (" height[id] ")"
        }
    }'
}

# newest: the greatest tail of the store alone that is not dated ahead, or where all are, the greatest.
newest() {
    one_store 0 . | winners '' | sort -r | awk -v now="$(date +%s)" -v digits=0123456789ABCDEFGHJKMNPQRSTVWXYZ '
    BEGIN {
        ms = (now + 86400) * 1000
        for (i = 0; i < 10; i++) { latest = substr(digits, ms % 32 + 1, 1) latest; ms = int(ms / 32) }
    }
    NR == 1 { end = $1 }
    substr($1, 1, 10) <= latest { end = $1; exit }
    END { print end }'
}

case ${1-}:$# in list:2 | show:3) ;; *) fail 'usage: list STORE | show STORE ID|@' ;; esac
case $2 in /*) store=$2 ;; *) store=./$2 ;; esac
{ [ -n "$2" ] && CDPATH='' cd "$store" && [ -r . ]; } 2>/dev/null || fail 'the store cannot be opened'
if [ "$1" = list ]; then all | winners '' | sort -r; exit; fi
id=$3
[ "$id" != @ ] || id=$(newest)
case $id in *[!0-9A-Za-z]* | '') found= ;; *) found=$(all | winners "$id" | sed '1!G;h;$!d') ;; esac
[ -n "$found" ] || fail 'no such message'
find_path() {
    home=. kind=${name#*-}
    others at_rank
    for path in "$home/$name" "$home/_old/$day/$name" "$home/$name"; do if [ -f "$path" ]; then break; fi; done
}
# hidden_text: what a hidden message is: a call, words, a complaint about words, or nothing of these.
hidden_text() {
    is=
    case $kind in a1* | s1*) ;; *) return ;; esac
    find_path
    content=$(cat "$path" 2>/dev/null; echo x)
    case $kind:${content%x} in
        *':{"access":"read","command":"'*'"}' | *':{"access":"write","command":"'*'"}') is=call ;;
        *':{"access":"net","command":"'*'"}' | *':{"access":"full","command":"'*'"}') is=call ;;
        *':{"arguments":'*',"name":"'*'","server":"'*'"}' | a*':{"arguments":'*',"name":"'*'"}') is=call ;;
        s*':This answer does not fit the JSON Schema: '*) is=complaint ;;
        s* | *':<think>'*) ;;
        *:*[![:space:]]*) is=words ;;
    esac
}
# stopped: the ids of the stopped answers, from a conversation with the newest message first.
stopped() {
    after='' pending=''
    while read -r wanted id day is_hidden name; do
        kind=${name#*-}
        hidden_text
        if [ -n "$pending" ] && [ "$is" != complaint ]; then printf '%s ' "$pending"; fi
        pending=
        if [ "$is:$after" = words:call ]; then is=call
        elif [ "$is" = words ] && [ "$after" != complaint ]; then pending=$id; fi
        after=$is
    done
    printf '%s ' "$pending"
}
show() {
    while read -r wanted id day is_hidden name; do
        mark=
        case $is_hidden$parts in 0*) ;; *" $id "*) mark=' (stopped)' ;; *) continue ;; esac
        find_path
        case $kind in s*) kind=system ;; u*) kind=user ;; a*) kind=assistant ;; t*) kind=tool ;; esac
        if [ -h "$path" ] || [ ! -f "$path" ]; then fail "$id: its file is gone"; fi
        printf '# %s %s%s\n' "$kind" "$id" "$mark"
        cat "$path" || fail "$id cannot be read"
        case $(tail -c 1 "$path" | od -An -to1) in '' | *012*) echo ;; *) printf '\n\n' ;; esac
    done
}
parts=" $(printf '%s\n' "$found" | sed '1!G;h;$!d' | stopped)"
to_terminal() {
    tr -d '\000-\010\013-\037\177' | awk '{
        gsub(/\302[\200-\237\255]|\330\234|\342\200[\213-\217\250-\256]|\342\201[\240-\257]/, "")
        gsub(/\357\273\277|\363\240[\200\201][\200-\277]/, ""); print }'
}
if [ -t 1 ]; then printf '%s\n' "$found" | show | to_terminal; else printf '%s\n' "$found" | show; fi
