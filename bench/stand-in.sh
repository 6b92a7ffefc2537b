#!/bin/sh
#
# A stand-in for `claude -p` that costs next to nothing: it writes the one file that its prompt names
# and says so in Claude Code's stream-json.
#
#   stand-in.sh [OPTION…] -p            the prompt is on standard input, which is read to its end
#   stand-in.sh [OPTION…] -p PROMPT     as parallel-orchestra starts it
#
# A line `Write TEXT to FILE` of the prompt says what to do. Only builtins of the shell are used, so
# that an agent is one process, whoever starts it.

session=none prompt='' previous='' file=''
for word; do
  case "$previous $word" in
    "-p -"*) ;;
    "-p "*) prompt=$word ;;
    "--session-id "*) session=$word ;;
  esac
  previous=$word
done

find_work() {
  while read -r verb what to where || [ -n "$verb" ]; do
    [ "$verb $to" = 'Write to' ] && text=$what file=$where
    verb=''
  done
}

if [ -n "$prompt" ]; then
  find_work <<PROMPT
$prompt
PROMPT
else
  find_work
fi
[ -n "$file" ] || { echo 'the prompt has no line "Write TEXT to FILE"' >&2; exit 1; }

ids="\"session_id\":\"$session\",\"uuid\":\"$session\""
usage='"usage":{"input_tokens":900,"output_tokens":30,"cache_read_input_tokens":0}'
models='"modelUsage":{"stand-in":{"inputTokens":900,"outputTokens":30,"costUSD":0.01}}'
input="{\"file_path\":\"$file\",\"content\":\"$text\\n\"}"

# TYPE CONTENT
message() {
  printf '{"type":"%s","message":{"role":"%s","content":[%s],%s},"parent_tool_use_id":null,%s}\n' \
    "$1" "$1" "$2" "$usage" "$ids"
}

printf '{"type":"system","subtype":"init","model":"stand-in","cwd":"%s","tools":["Write"],%s}\n' \
  "$PWD" "$ids"
message assistant "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"Write\",\"input\":$input}"
echo "$text" >"$file" || exit 1
message user '{"type":"tool_result","tool_use_id":"toolu_1","content":"written"}'
message assistant "{\"type\":\"text\",\"text\":\"$file is written.\"}"
printf '{"type":"result","subtype":"success","is_error":false,"result":"%s",%s}\n' \
  "$file is written." "\"num_turns\":2,\"total_cost_usd\":0.01,$usage,$models,$ids"
