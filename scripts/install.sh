#!/bin/sh
# Installs lepo for this user: sh install.sh [--uninstall]
#
# Takes the archive for this system from LEPO_BASE, compares its SHA-256 with SHA256SUMS there, and puts programs,
# manual and completions below PREFIX (~/.local). Asks before it adds a line to a shell's start-up file.
#   LEPO_BASE  https://…, file:///…, or http:// to this machine; default: the newest release
#   PREFIX     where to; default ~/.local
# --uninstall removes what it put below PREFIX, now and earlier; it asks no server.

main() {
  set -u
  umask 022
  base=${LEPO_BASE:-https://example.org/lepo/lepo/releases/latest/download}
  prefix=${PREFIX:-${HOME:?HOME is not set; set PREFIX}/.local}
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  mark="# added by lepo's install.sh"
  elsewhere='LEPO_BASE is where from: https://…, or file:///…/dist after scripts/package'
  work='' staged='' line='
'
  case $prefix in *"$line"*) fail 'PREFIX: a line break in a folder name' ;; esac
  list=$prefix/share/lepo/installed

  trap 'clean' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  case ${1-} in
  '') install_lepo ;;
  --uninstall) uninstall ;;
  *) usage; exit 2 ;;
  esac
}

usage() {
  echo 'usage: install.sh [--uninstall]   (LEPO_BASE: where from; PREFIX: where to, default ~/.local)' >&2
}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  [ -z "${2-}" ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

# Removes the work folder and, of an installation that did not come to its end, the new files and folders.
clean() {
  if [ -n "$staged" ]; then
    printf '%s\n' "$staged" | while IFS= read -r file; do [ -z "$file" ] || rm -f "$prefix/$file.lepo-new"; done
    LC_ALL=C sort -r "$work/folders" | while IFS= read -r folder; do remove "$folder"; done
  fi
  [ -z "$work" ] || rm -rf "$work"
}

install_lepo() {
  work=$(mktemp -d) || fail 'cannot make a folder for temporary files' 'set TMPDIR'
  fetch SHA256SUMS "$work/SHA256SUMS"
  choose_archive
  printf '%s\n' "lepo $version for $target, from $base"
  fetch "$archive" "$work/archive"
  got=$(sha256 "$work/archive") || fail 'sha256sum or shasum is needed'
  [ "$got" = "$sum" ] || fail "$archive: its SHA-256 is $got, SHA256SUMS has $sum" 'nothing was installed; try again, or ask who keeps the server'
  unpack
  put_in_place
  printf '%s\n' "installed below $prefix"
  offer_lines
  [ "$(command -v lepo)" = "$prefix/bin/lepo" ] || printf '%s\n' "start it: $prefix/bin/lepo"
}

# Writes the file $1 of the base address to $2.
fetch() {
  case $base in
  https://*) how='https' ;;
  http://localhost | http://localhost[:/]* | http://127.0.0.1 | http://127.0.0.1[:/]* | "http://[::1]" | "http://[::1]"[:/]*) how='http' ;;
  file:///*)
    cat <"${base#file://}/$1" >"$2" 2>/dev/null || fail "cannot read ${base#file://}/$1"
    return
    ;;
  *) fail "LEPO_BASE: $base" 'https://…, file:///…, or http:// to this machine' ;;
  esac
  if command -v curl >/dev/null; then
    # A redirect leads to https only; what is asked for by http comes from this machine, so that none is followed.
    if [ "$how" = https ]; then set -- "$@" --location; else set -- "$@" --max-redirs 0; fi
    curl --proto "=$how" --proto-redir '=https' --fail --silent --show-error --output "$2" "$3" ${4+"$4"} "$base/$1" || fail "cannot fetch $base/$1" "$elsewhere"
  elif command -v wget >/dev/null; then
    with_wget "$base/$1" "$2" || { rm -f "$2"; fail "cannot fetch $base/$1" "$elsewhere"; }
  else
    fail 'curl or wget is needed'
  fi
}

# Writes the address $1 to $2 by wget, which would go from https to http by itself: each redirect is read here.
with_wget() {
  url=$1 left=10
  wget --max-redirect=0 --version >/dev/null 2>&1 || { with_busybox "$1" "$2"; return; }
  while ! wget -q -S --max-redirect=0 -O "$2" "$url" 2>"$work/headers"; do
    left=$((left - 1))
    [ "$how" = https ] && [ "$left" -gt 0 ] || return 1
    to=$(redirects | tail -n 1)
    case $to in
    https://*) url=$to ;;
    '' | *://* | //*) return 1 ;;
    /*) host=${url#https://} url=https://${host%%/*}$to ;;
    *) url=${url%/*}/$to ;;
    esac
  done
}

# The same by busybox's wget, which follows redirects whatever it is told: what came by another way than https is refused.
with_busybox() {
  wget -q -S -O "$2" "$1" 2>"$work/headers" || return 1
  if [ "$how" = https ]; then ! redirects | grep -qv -e '^https://' -e '^/[^/]'; else [ -z "$(redirects)" ]; fi
}

# The addresses of redirects among the headers that wget told.
redirects() {
  sed -n "s/$(printf '\r')\$//; s/^ *[Ll][Oo][Cc][Aa][Tt][Ii][Oo][Nn]: *//p" "$work/headers"
}

sha256() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1" | cut -d' ' -f1
  elif command -v shasum >/dev/null; then
    shasum -a 256 <"$1" | cut -d' ' -f1
  else
    return 1
  fi
}

# Sets target, archive, version and sum: the newest that SHA256SUMS has for this system.
choose_archive() {
  os=$(uname -s) machine=$(uname -m)
  case $machine in
  amd64) machine=x86_64 ;;
  arm64) machine=aarch64 ;;
  esac
  case $os in
  # The static program runs with every C library.
  Linux) targets="$machine-unknown-linux-musl $machine-unknown-linux-gnu" ;;
  Darwin) targets="$machine-apple-darwin" ;;
  *) targets='' ;;
  esac
  for target in $targets; do
    found=$(awk -v tail="-$target.tar.gz" '
      {
        name = $2; sub(/^\*/, "", name)
        at = length(name) - length(tail)
        if (length($1) != 64 || $1 !~ /^[0-9a-f]+$/ || at < 6 || substr(name, 1, 5) != "lepo-" || substr(name, at + 1) != tail) next
        version = substr(name, 6, at - 5)
        if (version !~ /^[0-9]+\.[0-9]+\.[0-9]+$/) next
        split(version, n, ".")
        key = sprintf("%09d%09d%09d", n[1], n[2], n[3])
        if (key >= newest) { newest = key; line = $1 " " version " " name }
      }
      END { print line }' <"$work/SHA256SUMS")
    [ -n "$found" ] || continue
    sum=${found%% *} archive=${found##* }
    version=${found#* } version=${version% *}
    return
  done
  fail "no archive for $os $(uname -m) at $base" 'build it: cargo install --path .'
}

# Unpacks the archive into the work folder: only folders and regular files below lepo-VERSION.
unpack() {
  tar -tzf "$work/archive" >"$work/names" 2>/dev/null || fail "$archive: not a gzip'd tar archive"
  tar -tvzf "$work/archive" >"$work/kinds" 2>/dev/null || fail "$archive: not a gzip'd tar archive"
  while IFS= read -r name; do
    case /$name/ in
    //* | */../*) fail "$archive: refused, it has the name $name" ;;
    "/lepo-$version/"*) ;;
    *) fail "$archive: refused, it has the name $name" ;;
    esac
  done <"$work/names"
  ! grep -qv '^[-d]' "$work/kinds" || fail "$archive: refused, it has links or devices"
  { mkdir "$work/out" && tar -xzf "$work/archive" -C "$work/out"; } || fail "cannot unpack $archive" 'is the disk full?'
  tree=$work/out/lepo-$version
  said=$("$tree/bin/lepo" --version </dev/null 2>&1) || fail "lepo $version does not run on this system: $said"
}

# Copies everything beside its place first; only when that is done is each renamed to its name.
put_in_place() {
  (cd "$tree" && find . -type f) | sed 's,^\./,,' | LC_ALL=C sort >"$work/files"
  : >"$work/folders"
  while IFS= read -r file; do
    make_folder "$(dirname "$file")"
    [ ! -d "$prefix/$file" ] || fail "$prefix/$file is a folder"
    staged="$staged$line$file"
    cp "$tree/$file" "$prefix/$file.lepo-new" || fail "cannot write $prefix/$file" 'is the disk full?'
  done <"$work/files"
  make_folder share/lepo
  : >"$work/before"
  [ ! -f "$list" ] || cat "$list" >"$work/before"
  # Until everything is in place the list has the old files and the new.
  LC_ALL=C sort -u "$work/before" "$work/files" "$work/folders" >"$work/both"
  keep_list "$work/both"
  trap '' HUP INT TERM
  while IFS= read -r file; do
    mv -f "$prefix/$file.lepo-new" "$prefix/$file" || fail "cannot write $prefix/$file"
  done <"$work/files"
  staged=''
  # Files of an older version that this one does not have.
  grep -e '^rc ' -e '/$' "$work/both" >"$work/others"
  grep -v -e '^rc ' -e '/$' "$work/before" | awk 'NR == FNR { new[$0]; next } !($0 in new)' "$work/files" - |
    while IFS= read -r file; do remove "$file"; done
  cat "$work/others" "$work/files" >"$work/now"
  keep_list "$work/now"
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# The file $1 is the list of what is installed, from now on.
keep_list() {
  if ! { cp "$1" "$list.lepo-new" && mv -f "$list.lepo-new" "$list"; }; then
    rm -f "$list.lepo-new"
    fail "cannot write $list" 'is the disk full?'
  fi
}

# Makes the folder $1 below PREFIX; those that were not there are listed.
make_folder() {
  folder=$1
  [ -d "$prefix" ] || echo './' >>"$work/folders"
  while [ "$folder" != . ] && [ ! -d "$prefix/$folder" ]; do
    printf '%s\n' "$folder/" >>"$work/folders"
    folder=$(dirname "$folder")
  done
  mkdir -p "$prefix/$1" || fail "cannot make $prefix/$1"
}

# Removes the installed file or the empty folder $1.
remove() {
  case /$1/ in
  /.//) rmdir "$prefix" 2>/dev/null ;;
  */../* | //*[!/]*/) ;;
  *//) rmdir "$prefix/$1" 2>/dev/null ;;
  *) rm -f "$prefix/$1" ;;
  esac
}

# Asks whether a shell should find the program and zsh its completion.
offer_lines() {
  case ${SHELL-} in
  */zsh)
    rc=${ZDOTDIR:-$HOME}/.zshrc
    wanted="fpath=($(quoted "$prefix/share/zsh/vendor-completions") \$fpath)"
    completion=1
    ;;
  */bash) rc=$HOME/.bashrc wanted='' completion='' ;;
  */fish) rc=${XDG_CONFIG_HOME:-$HOME/.config}/fish/config.fish wanted='' completion='' ;;
  *) return ;;
  esac
  on_path=''
  case :$PATH: in *:"$prefix/bin":*) on_path=1 ;; esac
  [ -z "$on_path" ] || [ -n "$completion" ] || return 0
  ! grep -qF "$mark" "$rc" 2>/dev/null || return 0
  # The script itself may be what stdin is.
  (: </dev/tty) 2>/dev/null || { [ -n "$on_path" ] || printf '%s\n' "not on PATH: $prefix/bin"; return 0; }
  printf 'Add %s to PATH%s, in %s? [y/N] ' "$prefix/bin" "${completion:+ and its completion to zsh}" "$rc" >/dev/tty
  IFS= read -r answer </dev/tty || answer=
  case $answer in [yY] | [yY][eE][sS]) ;; *) return 0 ;; esac
  mkdir -p "$(dirname "$rc")"
  # The list names the file before it is written, so that an uninstall finds the lines.
  { printf 'rc %s\n' "$rc"; cat "$list"; } | LC_ALL=C sort -u >"$work/now" && keep_list "$work/now"
  {
    # A last line without an end stays a line of its own.
    [ ! -s "$rc" ] || [ -z "$(tail -c1 "$rc")" ] || echo
    case $SHELL in
    */fish) printf 'fish_add_path %s %s\n' "$(quoted "$prefix/bin")" "$mark" ;;
    *) [ -n "$on_path" ] || printf 'PATH=%s:"$PATH" %s\n' "$(quoted "$prefix/bin")" "$mark" ;;
    esac
    [ -z "$wanted" ] || printf '%s; autoload -Uz compinit; compinit %s\n' "$wanted" "$mark"
  } >>"$rc"
}

# $1 as one word of a shell.
quoted() {
  printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

uninstall() {
  [ -f "$list" ] || fail "nothing that install.sh put there is below $prefix" 'PREFIX says where it was installed'
  work=$(mktemp -d) || fail 'cannot make a folder for temporary files' 'set TMPDIR'
  cat "$list" >"$work/before"
  while IFS= read -r file; do
    case $file in
    'rc '*)
      rc=${file#rc }
      # Written in place: the file may be a link, and has a mode of its own.
      [ ! -f "$rc" ] || { grep -vF "$mark" "$rc" >"$work/rc"; cat "$work/rc" >"$rc"; }
      ;;
    */) ;;
    *) remove "$file" ;;
    esac
  done <"$work/before"
  rm -f "$list"
  # The innermost folder first.
  grep '/$' "$work/before" | LC_ALL=C sort -r | while IFS= read -r folder; do remove "$folder"; done
  printf '%s\n' "removed from $prefix"
}

main "$@"
