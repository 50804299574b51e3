#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Hands everything to the program for this system and ends as it ends.
'use strict';
const { spawn } = require('child_process');
const { program } = require('./index.js');

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`cordon: ${program}: ${error.message}`);
  process.exitCode = 125;
});
child.on('exit', (code, signal) => {
  process.exitCode = signal ? 125 : code;
});
