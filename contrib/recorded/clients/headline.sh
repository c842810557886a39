#!/bin/sh
# Prints a headline for a note, by Anthropic's Messages: headline.sh FILE
set -eu
note=$(sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' "$1" | awk '{ printf "%s\\n", $0 }')
body='{"model":"gpt","max_tokens":60,"system":"You write headlines of six words at most.",
"messages":[{"role":"user","content":"'"$note"'"}]}'
curl -sSf "$ANTHROPIC_BASE_URL/v1/messages" -H 'content-type: application/json' -H 'anthropic-version: 2023-06-01' \
    -H "x-api-key: $ANTHROPIC_API_KEY" -d "$body" | sed -e 's/.*"text":"\([^"]*\)".*/\1/'
