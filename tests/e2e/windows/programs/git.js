// SPDX-License-Identifier: Apache-2.0
// Git without git: node git.js LIBRARY ACTION; prints what happened.
'use strict';
const fs = require('fs');
const path = require('path');
globalThis.self = globalThis; // the library in one file was made for browsers
const git = require(process.argv[2]);
// The library writes the index in place; in a run only a rename replaces one, as git itself does it.
const writeFile = fs.promises.writeFile;
fs.promises.writeFile = async (file, ...rest) => {
  if (path.basename(file) !== 'index') return writeFile(file, ...rest);
  await writeFile(file + '.lock', ...rest);
  return fs.promises.rename(file + '.lock', file);
};
const dir = process.cwd();
const author = { name: 'a', email: 'a@example.com', timestamp: 1700000000, timezoneOffset: 0 };

const actions = {
  init: () => git.init({ fs, dir, defaultBranch: 'main' }),
  commit: async () => {
    fs.writeFileSync('story.txt', 'once\n');
    await git.add({ fs, dir, filepath: 'story.txt' });
    return git.commit({ fs, dir, author, committer: author, message: 'first' });
  },
  branch: () => git.branch({ fs, dir, ref: 'side', checkout: true }),
  log: async () => (await git.log({ fs, dir })).map((c) => c.commit.message.trim()).join(','),
  config: () => git.setConfig({ fs, dir, path: 'core.hooksPath', value: 'evil' }),
  hook: () => fs.writeFileSync(path.join('.git', 'hooks', 'pre-commit'), 'evil'),
  rename: () => fs.renameSync('.git', 'g'),
};

Promise.resolve()
  .then(() => actions[process.argv[3]]())
  .then((v) => console.log('worked', v || ''))
  .catch((e) => {
    console.log('failed', e.code || e.message);
    process.exit(1);
  });
