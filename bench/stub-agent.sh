#!/bin/sh
# An agent for programs that start `claude -p PROMPT`: its last argument is a script, which it runs.
for prompt; do :; done
exec sh -c "$prompt"
