# A command line from words, in zsh: type what you want to do, then press Ctrl+X L. The words are replaced by a command,
# which runs only when you press Enter. Nothing is kept in a store.
#   source contrib/shell/lepo.zsh

_lepo_command() {
  emulate -L zsh
  [[ -n ${BUFFER//[[:space:]]/} ]] || return
  local answer schema='{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}'
  # What lepo says goes below the prompt, which is drawn again.
  zle -I
  printf 'asking lepo…\r' >&2
  if answer=$(lepo do -n --no-keep --no-stdin --tools off -q --line --schema $schema \
    --system "You turn words into one command line for zsh on $(uname -s). Answer with the command alone." \
    -- $BUFFER); then
    BUFFER=$answer
    CURSOR=$#BUFFER
  fi
  printf '\e[K' >&2
}
zle -N _lepo_command
bindkey '^Xl' _lepo_command
