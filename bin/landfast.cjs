#!/bin/sh
':' /*
# A shell reads this file first and Node afterwards. Node cannot tell which signals were ignored
# when it was started (nohup does that, and & in a script); a shell can: it cannot trap them.
LANDFAST_IGNORED=
for name in HUP INT TERM; do
  trapped=no
  trap trapped=yes $name
  kill -s $name $$
  trap - $name
  test $trapped = yes || LANDFAST_IGNORED="$LANDFAST_IGNORED SIG$name"
done
export LANDFAST_IGNORED
exec node "$0" "$@"
*/
'use strict';
// The published entry. Old syntax on purpose: it must run far enough on any Node to say what is wrong.
// LANDFAST_NODE names another Node to run with; it is used only when the user set it.

var wanted = [22, 13];
var parts = process.versions.node.split('.').map(Number);
var isOld = parts[0] < wanted[0] || (parts[0] === wanted[0] && parts[1] < wanted[1]);
var other = process.env.LANDFAST_NODE;
var ignored = (process.env.LANDFAST_IGNORED || '').split(' ').filter(Boolean);

ignored.forEach((name) => {
  process.on(name, () => {}); // What else listens leaves it alone, too (src/cli/terminal/signals.ts).
});

if (!isOld) {
  start();
} else if (other && !process.env.LANDFAST_NODE_TRIED) {
  runWith(other);
} else {
  console.error('landfast needs Node 22.13 or newer; this is Node ' + process.versions.node + '.');
  console.error('Install a newer Node, or set LANDFAST_NODE to the path of one.');
  process.exitCode = 78;
}

function start() {
  try {
    require('../dist/start.cjs').start().catch(failed);
  } catch (error) {
    failed(error);
  }
}

function failed(error) {
  console.error('landfast: the program could not be loaded: ' + error.message);
  process.exitCode = 70;
}

function runWith(node) {
  var env = Object.assign({}, process.env, { LANDFAST_NODE_TRIED: '1' });
  var args = [__filename].concat(process.argv.slice(2));
  var child = require('node:child_process').spawn(node, args, { stdio: 'inherit', env: env });
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach((name) => {
    if (ignored.includes(name)) return;
    process.on(name, () => {
      if (name !== 'SIGINT') child.kill(name); // The terminal sends SIGINT to both.
    });
  });
  child.on('error', (error) => {
    console.error('landfast: LANDFAST_NODE=' + node + ' cannot be run: ' + error.message);
    process.exitCode = 78;
  });
  child.on('exit', (code, signal) => {
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code;
  });
}
