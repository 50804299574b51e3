// SPDX-License-Identifier: Apache-2.0
// Children in every form of stdio; run again with a word, this file is the child.
'use strict';
const cp = require('child_process');
const fs = require('fs');
const { Worker, isMainThread, workerData, parentPort } = require('worker_threads');

const child = {
  echo: () => process.stdin.pipe(process.stdout),
  both: () => {
    console.log('to out');
    console.error('to err');
    process.exit(7);
  },
  ipc: () => process.on('message', (m) => process.send(m + 1, () => process.disconnect())),
  grand: () => console.log(cp.execFileSync(process.execPath, [__filename, 'leaf'], { encoding: 'utf8' }).trim()),
  leaf: () => {
    fs.writeFileSync('leaf.txt', 'leaf');
    console.log('leaf');
  },
};

const ended = (c) => new Promise((done) => c.on('close', (code) => done(code)));
const text = (s) => new Promise((done) => {
  let all = '';
  s.on('data', (d) => (all += d)).on('end', () => done(all.replace(/\r/g, '')));
});

async function main() {
  const self = (...words) => [process.execPath, [__filename, ...words]];
  let c = cp.spawn(...self('echo'));
  const [node, words] = self('both');
  c.stdin.end('through a pipe');
  console.log('pipe', await text(c.stdout), await ended(c));
  c = cp.spawn(node, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, code] = await Promise.all([text(c.stdout), text(c.stderr), ended(c)]);
  console.log('both', out.trim(), err.trim(), code);
  console.log('inherit', await ended(cp.spawn(node, words, { stdio: 'inherit' })));
  console.log('ignore', await ended(cp.spawn(node, words, { stdio: 'ignore' })));
  const fd = fs.openSync('child.txt', 'w');
  console.log('file', await ended(cp.spawn(node, words, { stdio: ['ignore', fd, fd] })));
  fs.closeSync(fd);
  console.log('in the file', fs.readFileSync('child.txt', 'utf8').split('\n').sort().join(' ').trim());
  c = cp.fork(__filename, ['ipc']);
  console.log('ipc', await new Promise((done) => {
    c.on('message', done);
    c.send(41);
  }), await ended(c));
  const sync = cp.spawnSync(...self('echo'), { input: Buffer.alloc(100000, 'y') });
  console.log('sync', sync.stdout.length, sync.status);
  console.log('exec', cp.execSync('echo by cmd && exit 3 || exit 4', { encoding: 'utf8' }).trim());
}

async function more() {
  console.log('shell', cp.spawnSync('dir /b leaf* 2>nul', { shell: true, encoding: 'utf8' }).status);
  console.log('grandchild', cp.execFileSync(process.execPath, [__filename, 'grand'], { encoding: 'utf8' }).trim());
  const c = cp.spawn(process.execPath, [__filename, 'leaf'], { detached: true, stdio: 'ignore' });
  console.log('detached', await ended(c));
  console.log('missing', cp.spawnSync('no-such-program').error.code);
  const killed = cp.spawn(process.execPath, [__filename, 'echo']);
  killed.kill();
  console.log('killed', await new Promise((done) => killed.on('exit', (a, signal) => done(signal))));
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const sums = await Promise.all([1, 2, 3, 4].map((n) => new Promise((done, fail) =>
    new Worker(__filename, { workerData: { n, shared } }).on('message', done).on('error', fail))));
  console.log('workers', sums.join(' '), shared[0]);
}

if (!isMainThread) {
  const { n, shared } = workerData;
  fs.mkdirSync(`worker${n}`);
  for (let i = 0; i < 50; i++) {
    fs.writeFileSync(`worker${n}/${i}`, String(n * i));
    Atomics.add(shared, 0, 1);
  }
  parentPort.postMessage(fs.readdirSync(`worker${n}`).length);
} else if (process.argv[2]) {
  child[process.argv[2]]();
} else {
  main().catch((e) => console.log('main', e.message)).then(more);
}
