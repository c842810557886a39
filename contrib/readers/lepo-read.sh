#!/bin/sh
# Lists and shows what is in a lepo store by docs/format.md alone, with POSIX sh, find, sort and awk.
#   lepo-read.sh list STORE       tails, newest first: ID (HEIGHT)
#   lepo-read.sh show STORE ID    the conversation of a message, its visible messages
set -eu
LC_ALL=C
export LC_ALL
newline='
'

is_folder() {
  [ -d "$1" ] && [ ! -h "$1" ]
}

# The paths of files that may be messages: first those of the store itself, then those of days and of other
# people. A name with a newline in it is no message's, nor is what is below such a folder.
paths() {
  find . ! -name . -prune ! -name "*$newline*" -type f -name '*.md' -print
  for below in ./_old ./_from; do
    ! is_folder "$below" || find "$below" -name "*$newline*" -prune -o -type f -name '*.md' -print
  done
}

# Reads paths. Prints `ID HEIGHT OWNER` for each tail; or, for an id, `KIND ID PATH` for each visible message of
# its conversation, oldest first.
forest() {
  awk -v wanted="$1" '
    function is_id(text) { return length(text) == 26 && text ~ /^[0-7][0-9A-HJKMNP-TV-Z]+$/ }
    function day_of(id,   i, n, era, year, month) {
      for (i = n = 0; i++ < 10;) n = n * 32 + index("0123456789ABCDEFGHJKMNPQRSTVWXYZ", substr(id, i, 1)) - 1
      n = int(n / 86400000) + 719468 # days since 1 March of the year 0
      era = int(n / 146097); n %= 146097
      year = int((n - int(n / 1460) + int(n / 36524) - int(n / 146096)) / 365)
      n -= 365 * year + int(year / 4) - int(year / 100)
      month = int((5 * n + 2) / 153); n -= int((153 * month + 2) / 5) - 1
      month += month < 10 ? 3 : -9
      return sprintf("%04d-%02d/%02d", year + 400 * era + (month <= 2), month, n)
    }
    function take(path, owner, day, name,   id, kind, prev, rank) {
      id = toupper(substr(name, 1, 26)); kind = substr(name, 28, 1); prev = substr(name, 31, length(name) - 33)
      if (substr(name, 27) !~ /^-[suat][01]-.*\.md$/ || !is_id(id)) return
      if (prev != "head" && !is_id(prev = toupper(prev))) return
      if (day != "" && (day != day_of(id) || prev != "head" && id <= prev)) return
      # Of several files with one id the least of these counts; letters of ids are less than those of `head`.
      rank = name != id substr(name, 27, 4) prev ".md"
      rank = owner "\001" (day != "") (prev != "head") prev index("suat", kind) substr(name, 29, 1) rank
      if (id in ranks && ranks[id] <= rank) return
      ranks[id] = rank; file[id] = path; owners[id] = owner; prevs[id] = prev
      kinds[id] = kind; visible[id] = substr(name, 29, 1) == "0"
    }
    # Puts the conversation of a message into path, newest first; its height. `end` is what it ended at.
    function walk(id,   height, seen) {
      for (; id in prevs && !(id in seen); id = prevs[id]) { seen[id]; path[++height] = id }
      end = id
      return height
    }
    function is_spent(leaf, height,   i) {
      for (i = 1; i <= height; i++) if (visible[path[i]]) return i > 1 && path[i] in above_visible
      return end == "head" && path[height] in above_visible
    }
    {
      parts = split($0, part, "/"); owner = ""; at = 2
      if (part[2] == "_from" && parts > 3 && part[3] !~ /^[_.]/) { owner = part[3]; at = 4 }
      if (parts == at) take($0, owner, "", part[at])
      if (parts == at + 3 && part[at] == "_old") take($0, owner, part[at + 1] "/" part[at + 2], part[at + 3])
    }
    END {
      if (wanted != "") {
        height = walk(wanted)
        if (!height) exit 1
        if (end != "head") print "warning: " end ": incomplete conversation" | "cat >&2"
        for (; height; height--) if (visible[at = path[height]]) print kinds[at], at, file[at]
        exit
      }
      for (id in prevs) {
        parents[prevs[id]]
        for (at = visible[id] ? prevs[id] : ""; at in prevs && !(at in above_visible); at = prevs[at]) above_visible[at]
      }
      for (id in prevs) if (!(id in parents)) {
        height = walk(id)
        if (!is_spent(id, height)) print id, height, owners[id]
      }
    }'
}

# The bytes; to a terminal, without what could control it.
shown() {
  [ -t 1 ] || exec cat
  tr -d '\000' | awk '{ gsub(/[\001-\010\013-\037\177]|\302[\200-\237]|\330\234|\342\200[\213-\217\250-\256]/, "?")
    gsub(/\342\201[\240-\257]|\357\273\277|\363\240[\200\201]./, "?"); print }'
}

case "$#:${1-}" in 2:list | 3:show) ;; *) sed -n '3,4s/^# *//p' "$0" >&2; exit 2 ;; esac
is_folder "$2" || { echo "error: $2 is not a directory" >&2; exit 1; }
cd "$2"
if [ "$1" = list ]; then
  paths | forest '' | sort -r | while read -r id height owner; do
    printf '%s%s (%s)\n' "${owner:+$owner/}" "$id" "$height"
  done | shown
  exit
fi
found=$(paths | forest "$(printf %s "$3" | tr a-z A-Z)") || { echo "error: $3 is not there" >&2; exit 1; }
printf '%s\n' "$found" | while read -r kind id path; do
  # Meanwhile it may have moved into its day.
  [ -f "$path" ] || path=$(find ./_old -name "${path##*/}" -type f -print)
  if [ -h "$path" ] || [ ! -f "$path" ]; then echo "error: $id cannot be read" >&2; continue; fi
  case $kind in s) kind=system ;; u) kind=user ;; a) kind=assistant ;; t) kind=tool ;; esac
  printf '# %s %s\n' "$kind" "$id"
  cat "$path"
  case $(tail -c 1 "$path" | od -An -to1) in '' | *012*) echo ;; *) printf '\n\n' ;; esac
done | shown
