// SPDX-License-Identifier: Apache-2.0
// Typical uses of files, each printed as a line; no output depends on time or place.
'use strict';
const fs = require('fs');
const path = require('path');
const { pipeline } = require('stream/promises');
const zlib = require('zlib');

const say = (what, value) => console.log(what, JSON.stringify(value));
const code = (f) => {
  try {
    f();
    return 'fine';
  } catch (e) {
    return e.code;
  }
};

(async () => {
  fs.mkdirSync('a/b/c', { recursive: true });
  fs.writeFileSync('a/one', 'one');
  fs.appendFileSync('a/one', ' and more');
  say('read', fs.readFileSync('a/one', 'utf8'));
  fs.writeFileSync('a/two', Buffer.alloc(300000, 7));
  say('size', fs.statSync('a/two').size);
  fs.truncateSync('a/two', 1000);
  say('truncated', fs.statSync('a/two').size);
  fs.copyFileSync('a/one', 'a/b/copy');
  fs.renameSync('a/b/copy', 'a/b/c/moved');
  fs.renameSync('a/one', 'a/b/c/moved');
  say('moved over', fs.readFileSync('a/b/c/moved', 'utf8'));
  fs.linkSync('a/two', 'a/hard');
  say('links', fs.statSync('a/two').nlink);
  fs.utimesSync('a/two', 1e9, 1e9);
  say('time', fs.statSync('a/two').mtime.getTime());
  say('exists', code(() => fs.writeFileSync('a/two', 'x', { flag: 'wx' })));
  say('no folder', code(() => fs.writeFileSync('nowhere/x', 'x')));
  say('no file', code(() => fs.readFileSync('a/nothing')));
  say('not empty', code(() => fs.rmdirSync('a')));
  say('a folder', code(() => fs.writeFileSync('a', 'x')));
  say('mkdir again', code(() => fs.mkdirSync('a')));
  const fd = fs.openSync('a/positions', 'w+');
  fs.writeSync(fd, 'world', 6);
  fs.writeSync(fd, 'hello ', 0);
  const back = Buffer.alloc(11);
  fs.readSync(fd, back, 0, 11, 0);
  fs.fsyncSync(fd);
  fs.closeSync(fd);
  say('positions', back.toString());
  await pipeline(
    async function* () {
      for (let i = 0; i < 2000; i++) yield `line ${i}\n`;
    },
    zlib.createGzip(),
    fs.createWriteStream('a/lines.gz'),
  );
  await pipeline(fs.createReadStream('a/lines.gz'), zlib.createGunzip(), fs.createWriteStream('a/lines'));
  say('stream', fs.readFileSync('a/lines', 'utf8').split('\n').length);
  await Promise.all([...Array(200).keys()].map((i) => fs.promises.writeFile(`a/b/${i}`, String(i))));
  const sum = (await Promise.all(fs.readdirSync('a/b').filter((n) => /^\d+$/.test(n)).map((n) =>
    fs.promises.readFile(path.join('a/b', n), 'utf8')))).reduce((s, t) => s + Number(t), 0);
  say('200 at once', sum);
  for (let i = 0; i < 200; i += 2) fs.unlinkSync(`a/b/${i}`);
  const made = fs.mkdtempSync(path.join(process.env.TEMP, 'x-'));
  fs.writeFileSync(path.join(made, 'f'), 'temp');
  fs.rmSync(made, { recursive: true });
  say('temp', fs.existsSync(made));
  fs.cpSync('a/b', 'copied', { recursive: true });
  fs.rmSync('a/b', { recursive: true, force: true });
  say('left', fs.readdirSync('a').sort());
})();
