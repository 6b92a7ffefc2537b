#!/usr/bin/env perl
#
# The scripted agent of stream.ts: Claude Code's stream-json on standard output, in a steady rhythm,
# and one file in its workspace. What to do is in its prompt, on standard input.
#
#   A1. Every line is one event for the transcript, numbered from 1 without a gap: the session
#       first, the result last, in between text, a tool's start and its end in turn.
#   A2. Every line says when it was printed (ms since 1970) and reaches the pipe in one write.
#   A3. The rhythm is kept against the clock: a late line does not delay those after it.
#
# Perl, because a hundred of them must cost next to nothing: a Node process each would swamp the
# machine, and a shell would start a `sleep` for each line.

use strict;
use warnings;
use Time::HiRes qw(time sleep);

my $prompt = do { local $/; <STDIN> };
my ($count, $rate, $file) =
  $prompt =~ /Print (\d+) events, (\d+) a second, and write (\S+)\./ or die "strange prompt\n";
my ($session) = join(' ', @ARGV) =~ /--session-id (\S+)/ or die "no session\n";
my $filler = 'It reads like what an agent says between two tools, which is rarely short. ' x 3;

open(my $work, '>', $file) or die "$file: $!\n";
print $work "written by $file\n";
close($work) or die "$file: $!\n";

$| = 1;
my $start = time;
for my $number (1 .. $count) {
  my $early = $start + ($number - 1) / $rate - time;
  sleep($early) if $early > 0;
  my $name = sprintf('event %d at %d', $number, time * 1000);
  print line_of($number, $name), "\n";
}

sub line_of {
  my ($number, $name) = @_;
  my $common = qq("session_id":"$session","uuid":"$session-$number");
  if ($number == 1) {
    return qq({"type":"system","subtype":"init","model":"$name","tools":["Bash","Edit"],$common});
  }
  if ($number == $count) {
    my $usage = '"modelUsage":{"m":{"inputTokens":900,"outputTokens":300,"costUSD":0.01}}';
    return qq({"type":"result","subtype":"success","is_error":false,"result":"$name",)
      . qq("num_turns":$count,"total_cost_usd":0.01,$usage,$common});
  }
  my $kind = $number % 3;
  my $tool = 'toolu_' . ($number - $kind);
  return message('assistant', qq({"type":"text","text":"$name: $filler"}), $common) if $kind == 2;
  return message(
    'assistant',
    qq({"type":"tool_use","id":"$tool","name":"Bash","input":{"command":"echo $name"}}), $common
  ) if $kind == 0;
  my $output = qq("content":"$name\\n$filler");
  return message('user', qq({"type":"tool_result","tool_use_id":"$tool",$output}), $common);
}

sub message {
  my ($role, $content, $common) = @_;
  my $usage = '"usage":{"input_tokens":900,"output_tokens":300,"cache_read_input_tokens":0}';
  return qq({"type":"$role","message":{"role":"$role","content":[$content],$usage},)
    . qq("parent_tool_use_id":null,$common});
}
