// SPDX-License-Identifier: Apache-2.0
// The npm package as it is installed: node test.js FOLDER-OF-THE-PACKAGE WORKSPACE. TAP.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { spawnSync } = require('child_process');

const [, , folder, workspace] = process.argv;
const cordon = require(folder);
const windows = process.platform === 'win32';
let number = 0;
let failed = 0;

function ok(passed, what, more) {
  console.log(`${passed ? '' : 'not '}ok ${++number} - npm: ${what}`);
  if (!passed) {
    failed++;
    if (more !== undefined) console.log('# ' + JSON.stringify(more).slice(0, 600));
  }
}

function skip(what, why) {
  console.log(`ok ${++number} - npm: ${what} # SKIP ${why}`);
}

async function collect(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function judge() {
  const deny = await cordon.check(['cmd', '/c', 'start', 'https://example.com']);
  ok(deny.verdict === 'deny' && deny.findings[0].rule === 'launch.url', 'check denies', deny);
  const allow = await cordon.check(['git', 'log', '--oneline']);
  ok(allow.verdict === 'allow' && allow.findings.length === 0, 'check allows', allow);
  const text = await cordon.check({ shell: 'powershell', script: "Start-Process 'https://example.com'" });
  ok(text.verdict === 'deny', 'check of text', text);
  const dash = await cordon.check(['echo', '--json', '--', 'a "b" c']);
  ok(dash.verdict === 'allow', 'arguments that look like options are arguments', dash);
  const inside = await cordon.why('write', path.join(workspace, 'a.txt'), { root: [workspace] });
  ok(inside.verdict === 'allow', 'why allows', inside);
  const git = await cordon.why('write', path.join(workspace, '.git', 'config'), { root: [workspace] });
  ok(git.verdict === 'deny' && git.rule === 'protected.git', 'why denies', git);
  const net = await cordon.why('connect', 'a.example.com:443', { net: 'allow=*.example.com' });
  ok(net.verdict === 'allow', 'options have values', net);
  let message = '';
  await cordon.why('write', 'x', { root: ['no-such-folder'] }).catch((error) => (message = error.message));
  ok(message.includes('folder not found'), 'a mistake is an error with its sentence', message);
}

async function confine() {
  const outside = path.join(workspace, '..', 'npm-outside.txt');
  const script = `const fs=require('fs');console.log('out');console.error('err');fs.writeFileSync('inside.txt','x');` +
    `try{fs.writeFileSync(${JSON.stringify(outside)},'x')}catch(e){console.error(e.code)};` +
    `process.stdin.on('data',d=>process.stdout.write(d)).on('end',()=>process.exit(7))`;
  fs.rmSync(outside, { force: true });
  const job = cordon.run([process.execPath, '-e', script], { cwd: workspace, root: ['.'], temp: 'private' });
  const events = [];
  job.on('event', (event) => events.push(event));
  job.stdin.end('typed\n');
  const [stdout, stderr, summary] = await Promise.all([collect(job.stdout), collect(job.stderr), job.done]);
  if (summary.reason === 'failed') return skip('run', stderr.trim() || 'this machine cannot confine');
  ok(summary.reason === 'exited' && summary.exit === 7, 'run: how it ended', { summary, stderr });
  ok(stdout.replace(/\r/g, '') === 'out\ntyped\n', 'run: stdin and stdout are its own', stdout);
  ok(stderr.includes('err') && !stderr.includes('"summary"'), 'run: stderr without our line', stderr);
  ok(fs.existsSync(path.join(workspace, 'inside.txt')) && !fs.existsSync(outside), 'run: inside and not outside');
  ok(summary.denied > 0 && summary.denials.some((d) => d.rule === 'roots.outside'), 'run: denials', summary);
  ok(events.some((e) => e.type === 'start') && events.some((e) => e.type === 'deny') && events.some((e) => e.type === 'end'),
    'run: events', events);
  {
    const asked = [];
    for (const name of ['a', 'b', 'c']) fs.rmSync(path.join(workspace, '..', `asked-${name}`), { force: true });
    const write = `for (const name of ['a', 'b', 'c']) try { require('fs').writeFileSync('../asked-' + name, 'x') } catch {}`;
    const answers = { a: 'once', b: { answer: 'run', scope: 'path' } };
    const talk = cordon.run([process.execPath, '-e', write], {
      cwd: workspace,
      root: ['.'],
      temp: 'private',
      onAsk: async (question) => {
        asked.push(question);
        if (question.target.endsWith('c')) throw new Error('no answer');
        return answers[question.target.slice(-1)];
      },
    });
    const end = await talk.done;
    const made = ['a', 'b', 'c'].map((name) => fs.existsSync(path.join(workspace, '..', `asked-${name}`)));
    ok(asked.length === 3 && asked[0].op === 'file.create' && asked[0].choices.length > 2, 'the function is asked');
    ok(made.join() === 'true,true,false' && end.denied === 1 && end.answered.length === 2,
      'its answers count, and a rejection is a no');
    const shut = await cordon.run([process.execPath, '-e', write.replace(/asked/g, 'shut')],
      { cwd: workspace, root: ['.'], temp: 'private' }).done;
    ok(shut.denied === 3 && !fs.existsSync(path.join(workspace, '..', 'shut-a')), 'without it all are denied');
  }

  const refused = cordon.run(['explorer', 'https://example.com'], { cwd: workspace, root: ['.'] });
  const [, , end] = await Promise.all([collect(refused.stdout), collect(refused.stderr), refused.done]);
  ok(end.reason === 'refused' && end.exit === 126, 'run: refused', end);
  const much = cordon.run([process.execPath, '-e', 'process.stdout.write("x".repeat(1 << 20))'], { cwd: workspace, root: ['.'] });
  const unread = await Promise.race([much.done, new Promise((resolve) => setTimeout(resolve, 20000, { reason: 'hangs' }))]);
  ok(unread.reason === 'exited' && unread.exit === 0, 'run: ends although nobody reads', unread);
  let wrong;
  try {
    cordon.run([process.execPath, '-e', '1'], { rot: '.' });
  } catch (error) {
    wrong = error;
  }
  ok(wrong instanceof TypeError && wrong.message.includes('"rot"'), 'run: a wrong option is an error', wrong);
}

async function takeBack() {
  const windows = process.platform === 'win32';
  const state = windows ? 'LOCALAPPDATA' : 'XDG_STATE_HOME';
  const before = process.env[state];
  const kept = path.join(workspace, 'kept.txt');
  const made = path.join(workspace, 'made.txt');
  process.env[state] = fs.mkdtempSync(path.join(os.tmpdir(), 'cordon-state-'));
  fs.writeFileSync(kept, 'one\n');
  const line = windows ? ['cmd', '/c', 'echo two>> kept.txt& echo x> made.txt'] : ['sh', '-c', 'echo two >> kept.txt; echo > made.txt'];
  const job = cordon.run(line, { cwd: workspace, root: ['.'], undo: true });
  const summary = await job.done;
  if (summary.reason === 'failed') return skip('undo', 'this machine cannot confine');
  ok(summary.undo.created === 1 && summary.undo.modified === 1, 'undo: the summary counts', summary);
  const told = await cordon.changes({ cwd: workspace, diff: true });
  ok(told.run === summary.undo.run && told.changes.some((c) => c.path === 'kept.txt' && c.diff.includes('+two')),
    'undo: changes', told);
  const plan = await cordon.undo({ cwd: workspace, dryRun: true });
  ok(plan.exit === 0 && plan.runs[0].done === 2 && fs.existsSync(made), 'undo: a dry run does nothing', plan);
  fs.appendFileSync(kept, 'mine\n');
  const part = await cordon.undo({ run: told.run });
  ok(part.exit === 1 && part.runs[0].items.some((i) => i.result === 'conflict' && i.path === 'kept.txt') && !fs.existsSync(made),
    'undo: a conflict is told and the rest restored', part);
  const all = await cordon.undo({ run: told.run, force: true });
  ok(all.exit === 0 && fs.readFileSync(kept, 'utf8') === 'one\n', 'undo: forced', all);
  ok((await cordon.runs()).some((r) => r.run === told.run && r.undone), 'undo: runs');
  await cordon.drop('all');
  ok((await cordon.runs()).length === 0, 'undo: dropped');
  const wrong = await cordon.undo({ run: told.run }).catch((error) => error);
  ok(wrong instanceof Error && wrong.message.includes('no run'), 'undo: an unknown run is an error', wrong);
  fs.rmSync(process.env[state], { recursive: true, force: true });
  if (before === undefined) delete process.env[state];
  else process.env[state] = before;
}

function command() {
  const run = (...words) => spawnSync(process.execPath, [path.join(folder, 'cordon.js'), ...words]);
  const version = run('--version');
  const expected = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'))).version;
  ok(version.status === 0 && version.stdout.toString().trim() === `cordon ${expected}`, 'the command, and one version',
    version.stdout && version.stdout.toString());
  ok(run('check', '--', 'explorer', 'https://x.test').status === 126, 'its exit codes pass through');
}

(async () => {
  await judge();
  await confine();
  await takeBack();
  command();
  console.log(`1..${number}`);
  process.exitCode = failed ? 1 : 0;
})().catch((error) => {
  console.log(`not ok ${++number} - npm: ${error.stack}`);
  process.exitCode = 1;
});
