#!/usr/bin/env node
'use strict';
// The published entry. Old syntax on purpose: it must run far enough on any Node to say what is wrong.
// LANDFAST_NODE names another Node to run with; it is used only when the user set it.

var wanted = [22, 13];
var parts = process.versions.node.split('.').map(Number);
var isOld = parts[0] < wanted[0] || (parts[0] === wanted[0] && parts[1] < wanted[1]);
var other = process.env.LANDFAST_NODE;

if (!isOld) {
  keepCompiled();
  import('../dist/main.js').then(
    (program) => program.start(),
    (error) => {
      console.error('landfast: the program could not be loaded: ' + error.message);
      process.exitCode = 70;
    },
  );
} else if (other && !process.env.LANDFAST_NODE_TRIED) {
  runWith(other);
} else {
  console.error('landfast needs Node 22.13 or newer; this is Node ' + process.versions.node + '.');
  console.error('Install a newer Node, or set LANDFAST_NODE to the path of one.');
  process.exitCode = 78;
}

// What Node has compiled is kept for the next time: each command starts a good deal faster. Whoever
// only wants to see the demo finds nothing left behind.
function keepCompiled() {
  var path = require('node:path');
  var home = process.env.HOME && path.join(process.env.HOME, '.cache');
  var caches = process.env.XDG_CACHE_HOME || home;
  if (process.argv[2] === 'demo' || process.env.NODE_COMPILE_CACHE) return;
  if (!caches || !path.isAbsolute(caches)) return;
  require('node:module').enableCompileCache(path.join(caches, 'landfast', 'compiled'));
}

function runWith(node) {
  var env = Object.assign({}, process.env, { LANDFAST_NODE_TRIED: '1' });
  var args = [__filename].concat(process.argv.slice(2));
  var child = require('node:child_process').spawn(node, args, { stdio: 'inherit', env: env });
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach((name) => {
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
