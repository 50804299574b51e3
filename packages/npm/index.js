// SPDX-License-Identifier: Apache-2.0
// Cordon for agents written in JavaScript: judge a command, ask the policy, run confined.
'use strict';
const { spawn } = require('child_process');
const { randomBytes } = require('crypto');
const { EventEmitter } = require('events');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const { StringDecoder } = require('string_decoder');
const { Transform } = require('stream');

const program = path.join(__dirname, 'bin', process.platform === 'win32' ? 'cordon.exe' : 'cordon');
const EVENTS_EVERY_MS = 50;
const SUMMARY = '{"type":"summary"';

// As in index.d.ts, and what only `run` takes.
const POLICY_OPTIONS = ['mode', 'root', 'createRoot', 'for', 'denyWrite', 'denyRead', 'allowRead', 'git', 'unprotect',
  'net', 'temp', 'session', 'allowTool', 'denyTool', 'strict', 'allowBroadRoot', 'policy', 'paths', 'timeout',
  'maxProcs', 'maxMemory', 'allowSocket'];
const RUN_OPTIONS = ['auditAll', 'auditRaw', 'unset', 'winePrefix', 'requireKernel', 'integrity', 'allowElevated',
  'undo', 'undoLimit', 'askTimeout'];

/** { root: ['.'], net: 'off', strict: true } as --root=. --net=off --strict */
function optionWords(options = {}, more = []) {
  const words = [];
  for (const [key, value] of Object.entries(options)) {
    if (!POLICY_OPTIONS.includes(key) && !more.includes(key)) throw new TypeError(`cordon: unknown option "${key}"`);
    const name = key.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === true) words.push(`--${name}`);
      else if (one !== false && one !== undefined && one !== null) words.push(`--${name}=${one}`);
    }
  }
  return words;
}

/** The object that a question is answered with; exit codes 0, 3 and 126 are answers. */
function ask(words, { cwd, answers = [0, 3, 126] } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    const parts = { out: [], err: [] };
    child.stdout.on('data', (data) => parts.out.push(data));
    child.stderr.on('data', (data) => parts.err.push(data));
    child.on('error', reject);
    child.on('close', (code) => {
      const said = Buffer.concat(parts.err).toString().replace(/^cordon: /, '').trim();
      if (!answers.includes(code)) return reject(new Error(said || `cordon ended with ${code}`));
      try {
        resolve(JSON.parse(Buffer.concat(parts.out).toString()));
      } catch (error) {
        reject(new Error(said || error.message));
      }
    });
  });
}

/** What would this command do? An array is a program with its arguments; { shell, script } is text. */
async function check(command, options) {
  const words = ['check', '--json', ...optionWords(options, ['cwd', 'show'])];
  return Array.isArray(command)
    ? ask([...words, '--', ...command.map(String)])
    : ask([...words, '--shell', command.shell, '--', String(command.script)]);
}

/** Would a run allow this? why('write', 'a.txt', { root: ['.'] }), why('rename', ['a', 'b']) */
async function why(action, what, options) {
  const list = (Array.isArray(what) ? what : [what]).map(String);
  return ask(['why', '--json', ...optionWords(options, ['cwd']), action, '--', ...list]);
}

/** Passes the command's stderr on and keeps back the last line, which is Cordon's. */
class Tail extends Transform {
  constructor() {
    super();
    this.kept = Buffer.alloc(0);
  }
  _transform(data, encoding, done) {
    this.kept = Buffer.concat([this.kept, data]);
    // Only a line that is the summary, or may still become it, is held; the rest goes on at once.
    const mark = this.kept.lastIndexOf(SUMMARY);
    const end = this.kept[this.kept.length - 1] === 10 ? this.kept.length - 2 : undefined;
    const line = this.kept.lastIndexOf(10, end) + 1;
    const begun = SUMMARY.startsWith(this.kept.subarray(line, line + SUMMARY.length).toString('latin1'));
    const whole = mark >= 0 && (mark === 0 || this.kept[mark - 1] === 10);
    const keep = whole ? mark : begun ? line : this.kept.length;
    this.push(this.kept.subarray(0, keep));
    this.kept = this.kept.subarray(keep);
    done();
  }
  _flush(done) {
    const text = this.kept.toString();
    try {
      this.summary = text.startsWith(SUMMARY) ? JSON.parse(text) : undefined;
    } catch (error) {
      this.summary = undefined;
    }
    if (!this.summary && this.kept.length) this.push(this.kept);
    done();
  }
}

/** Reads events out of the audit file while it grows. */
function follow(file, emit) {
  const decoder = new StringDecoder('utf8');
  const chunk = Buffer.alloc(65536);
  let fd = -1;
  let rest = '';
  const read = () => {
    try {
      if (fd < 0) fd = fs.openSync(file, 'r');
      for (let n; (n = fs.readSync(fd, chunk, 0, chunk.length, null)) > 0; ) {
        const lines = (rest + decoder.write(chunk.subarray(0, n))).split('\n');
        rest = lines.pop();
        for (const line of lines) if (line) emit(JSON.parse(line));
      }
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  };
  const timer = setInterval(read, EVENTS_EVERY_MS);
  return () => {
    clearInterval(timer);
    read();
    if (fd >= 0) fs.closeSync(fd);
  };
}

/** Each line that is a question goes to the function; what it answers goes back. */
function answer(questions, answers, onAsk) {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const reply = (id, given) => {
    const words = typeof given === 'string' ? { answer: given } : given || { answer: 'no' };
    if (answers.writable) answers.write(JSON.stringify({ ...words, id }) + '\n');
  };
  questions.on('data', (data) => {
    const lines = (rest + decoder.write(data)).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const question = JSON.parse(line);
      // What is wrong with an answer: the function gave one that was not offered.
      if (question.error && question.id) reply(question.id, 'no');
      if (!question.choices) continue;
      Promise.resolve(question).then(onAsk).then((given) => reply(question.id, given), () => reply(question.id, 'no'));
    }
  });
  for (const stream of [questions, answers]) stream.on('error', () => {});
}

/** On Windows: a pipe with a name that nobody can guess, for one connection. */
function servePipe(onAsk) {
  const name = `\\\\.\\pipe\\cordon-ask-${randomBytes(16).toString('hex')}`;
  const server = net.createServer((socket) => {
    server.close();
    answer(socket, socket, onAsk);
  });
  server.on('error', () => {});
  server.listen(name);
  return { name, server };
}

/**
 * Runs a command confined. The result has stdin, stdout and stderr, emits 'event' for every event and
 * has the promise `done`, which ends with the summary; reason is exited, signal, timeout, refused or
 * failed.
 */
function run(argv, options = {}) {
  const { cwd, env, stdin, onAsk, ...policy } = options;
  const given = optionWords(policy, RUN_OPTIONS);
  const fds = onAsk && process.platform !== 'win32';
  const pipe = onAsk && !fds ? servePipe(onAsk) : null;
  if (onAsk) given.push(fds ? '--ask-fd=3,4' : `--ask-pipe=${pipe.name}`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cordon-node-'));
  const audit = path.join(folder, 'audit.jsonl');
  const words = ['run', '--json', `--audit=${audit}`, ...given, '--', ...argv.map(String)];
  const child = spawn(program, words, {
    cwd,
    env,
    stdio: [stdin === 'inherit' ? 'inherit' : stdin === 'ignore' ? 'ignore' : 'pipe', 'pipe', 'pipe',
      ...(fds ? ['pipe', 'pipe'] : [])],
    windowsHide: true,
  });
  const result = new EventEmitter();
  const tail = new Tail();
  if (fds) answer(child.stdio[4], child.stdio[3], onAsk);
  const stop = follow(audit, (event) => result.emit('event', event));
  result.pid = child.pid;
  result.stdin = child.stdin;
  result.stdout = child.stdout;
  result.stderr = child.stderr.pipe(tail);
  result.kill = (signal) => child.kill(signal);
  const done = new Promise((resolve, reject) => {
    let code;
    const finish = (error) => {
      stop();
      if (pipe) pipe.server.close();
      fs.rmSync(folder, { recursive: true, force: true });
      if (error) reject(error);
      else resolve(tail.summary || { type: 'summary', reason: 'failed', exit: code, denied: 0, denials: [], repositories: [] });
    };
    child.on('error', finish);
    child.on('exit', (exit) => (code = exit === null ? 125 : exit));
    tail.on('end', () => {
      if (code === undefined) child.on('exit', () => finish());
      else finish();
    });
  });
  done.catch(() => {});
  // Whoever waits for the end without reading would wait for ever once a pipe is full.
  Object.defineProperty(result, 'done', {
    enumerable: true,
    get() {
      setImmediate(() => {
        for (const stream of [result.stdout, result.stderr]) if (stream.readableFlowing === null) stream.resume();
      });
      return done;
    },
  });
  return result;
}

const runWords = (id) => (id === undefined ? [] : [String(id)]);

/** What a run with `undo` changed; without `run`, the newest in `cwd` that was not taken back. */
async function changes({ run: id, cwd, diff, paths = [] } = {}) {
  return ask(['changes', '--json', ...(diff ? ['--diff'] : []), '--', ...runWords(id), ...paths], { cwd });
}

/** Takes a run back, or all runs of a session, newest first. What was changed since is left alone and told. */
async function undo({ run: id, session, to, cwd, dryRun, force, paths = [] } = {}) {
  const words = ['undo', '--json'];
  if (dryRun) words.push('--dry-run');
  if (force) words.push('--force');
  if (session !== undefined) words.push(`--session=${session}`);
  if (to !== undefined) words.push(`--to=${to}`);
  return ask([...words, '--', ...runWords(id), ...paths], { cwd, answers: [0, 1] });
}

/** The runs that are kept, newest first. */
async function runs() {
  return (await ask(['runs', '--json'])).runs;
}

/** Removes the journal of a run, or of all. */
function drop(id) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['runs', `--drop=${id}`], { stdio: ['ignore', 'ignore', 'pipe'], windowsHide: true });
    const said = [];
    child.stderr.on('data', (data) => said.push(data));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(Buffer.concat(said).toString().replace(/^cordon: /, '').trim() || `cordon ended with ${code}`));
    });
  });
}

module.exports = { check, why, run, changes, undo, runs, drop, program };
