# A command line from words, in bash: type what you want to do, then press Ctrl+X L. The words are replaced by a command,
# which runs only when you press Enter. Nothing is kept in a store.
#   source contrib/shell/lepo.bash

_lepo_command() {
  [ -n "${READLINE_LINE//[[:space:]]/}" ] || return
  local answer schema='{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}'
  # The line and its prompt are gone until the answer is there. What is printed next covers it.
  printf 'asking lepo…\r' >&2
  answer=$(lepo do -n --no-keep --no-stdin --tools off -q --line --schema "$schema" \
    --system "You turn words into one command line for bash on $(uname -s). Answer with the command alone." \
    -- "$READLINE_LINE") || return
  printf '\e[K' >&2
  READLINE_LINE=$answer
  READLINE_POINT=${#READLINE_LINE}
}
bind -x '"\C-xl": _lepo_command'
