// SPDX-License-Identifier: Apache-2.0
// Packs a small package and installs it as npm does: unpacked beside node_modules, renamed into
// place, commands linked, a lock file written; then used.
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

const files = { 'package/package.json': '{"name":"tiny","version":"1.0.0","main":"lib/index.js","bin":{"tiny":"bin.js"}}',
  'package/bin.js': '#!/usr/bin/env node\nconsole.log(require("."));\n',
  'package/lib/index.js': 'module.exports = require("./deep/value");\n',
  'package/lib/deep/value.js': 'module.exports = 42;\n' };
for (let i = 0; i < 60; i++) files[`package/data/${i}.json`] = JSON.stringify({ i });

function header(name, size) {
  const h = Buffer.alloc(512);
  h.write(name, 0);
  h.write('0000644\0', 100);
  h.write(size.toString(8).padStart(11, '0') + '\0', 124);
  h.write('00000000000\0', 136);
  h.write('        0', 148);
  h.write('ustar\x0000', 257);
  const sum = h.reduce((s, b) => s + b, 0);
  h.write(sum.toString(8).padStart(6, '0') + '\0 ', 148);
  return h;
}

function pack(to) {
  const blocks = [];
  for (const [name, text] of Object.entries(files)) {
    const body = Buffer.from(text);
    blocks.push(header(name, body.length), body, Buffer.alloc((512 - (body.length % 512)) % 512));
  }
  fs.writeFileSync(to, zlib.gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)])));
}

function unpack(from, to) {
  const tar = zlib.gunzipSync(fs.readFileSync(from));
  for (let at = 0; tar[at];) {
    const name = tar.toString('utf8', at, at + 100).replace(/\0.*/, '');
    const size = parseInt(tar.toString('ascii', at + 124, at + 135), 8);
    const file = path.join(to, name.replace(/^package\//, ''));
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, tar.subarray(at + 512, at + 512 + size), { mode: 0o644 });
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

pack('tiny.tgz');
for (let round = 0; round < 2; round++) { // the second replaces the first
  const stage = `node_modules/.tiny-${round}`;
  fs.mkdirSync(stage, { recursive: true });
  unpack('tiny.tgz', stage);
  if (fs.existsSync('node_modules/tiny')) {
    fs.renameSync('node_modules/tiny', 'node_modules/.old');
    fs.rmSync('node_modules/.old', { recursive: true });
  }
  fs.renameSync(stage, 'node_modules/tiny');
}
fs.mkdirSync('node_modules/.bin');
fs.writeFileSync('node_modules/.bin/tiny.cmd', '@node "%~dp0\\..\\tiny\\bin.js" %*\r\n');
fs.writeFileSync('package-lock.json.tmp', JSON.stringify({ packages: { 'node_modules/tiny': '1.0.0' } }, null, 2));
fs.renameSync('package-lock.json.tmp', 'package-lock.json');
console.log(require(path.resolve('node_modules/tiny')), fs.readdirSync('node_modules/tiny/data').length);
console.log(require('child_process').execFileSync(process.execPath, ['node_modules/tiny/bin.js'], { encoding: 'utf8' }));
