# A command line from words, in zsh: type what you want to do, then press Ctrl+X L. The words are replaced by a command,
# which runs only when you press Enter. Nothing is kept in a store.
#   source contrib/shell/lepo.zsh

_lepo_command() {
  emulate -L zsh
  [[ -n ${BUFFER//[[:space:]]/} ]] || return
  local answer schema='{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}'
  zle -R 'asking lepo…'
  if answer=$(lepo do -n --no-keep --no-stdin --tools off -q --schema $schema \
    --system "You turn words into one command line for zsh on $(uname -s). Answer with the command alone." \
    -- $BUFFER 2>&1); then
    # The answer is {"command":"…"}. Of the escapes of JSON, those that stay are control characters.
    answer=${${answer#'{"command":"'}%'"}'}
    if [[ $(sed 's,\\["\\/],,g' <<<$answer) == *[\\[:cntrl:]$'\u200b'-$'\u200f'$'\u2028'-$'\u202e'$'\u2060'-$'\u206f']* ]]; then
      zle -M 'lepo: rejected a command with control characters or several lines'
      return
    fi
    answer=$(sed 's,\\\(["\\/]\),\1,g' <<<$answer)
    if [[ -n $answer ]]; then
      BUFFER=$answer
      CURSOR=$#BUFFER
    fi
    zle -M ''
  else
    zle -M -- "$answer"
  fi
}
zle -N _lepo_command
bindkey '^Xl' _lepo_command
