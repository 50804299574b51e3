// SPDX-License-Identifier: Apache-2.0
/// <reference types="node" />
import { EventEmitter } from 'events';
import { Readable, Writable } from 'stream';

export type Verdict = 'allow' | 'ask' | 'deny';

/** Options of the command line; `denyWrite` is `--deny-write`. Lists may be given as arrays. */
export interface PolicyOptions {
  mode?: 'read-only' | 'workspace-write' | 'full-access';
  root?: string | string[];
  denyWrite?: string | string[];
  denyRead?: string | string[];
  allowRead?: string | string[];
  git?: 'protect' | 'commit' | 'full';
  unprotect?: string | string[];
  net?: string;
  temp?: string;
  allowTool?: string | string[];
  denyTool?: string | string[];
  strict?: boolean;
  policy?: string;
  timeout?: number;
  maxProcs?: number;
  maxMemory?: string;
  createRoot?: string | string[];
  for?: string | string[];
  session?: string;
  allowBroadRoot?: boolean;
  allowSocket?: string | string[];
  paths?: 'windows' | 'posix';
}

export interface Finding {
  rule: string;
  verdict: Verdict;
  start: number;
  end: number;
  text: string;
  resolved: string;
  why: string;
  fix: string;
}

export interface CheckAnswer {
  verdict: Verdict;
  cmdline?: string;
  findings: Finding[];
}

export interface WhyAnswer {
  verdict: Verdict;
  rule: string;
  why: string;
  fix?: string;
  path?: string;
  given?: string;
  facts?: 'seen' | 'assumed';
}

export interface Denial {
  op: string;
  target: string;
  rule: string;
  fix: string;
  count: number;
  minor?: boolean;
}

export interface Summary {
  type: 'summary';
  reason: 'exited' | 'signal' | 'timeout' | 'refused' | 'failed';
  exit: number;
  boundary?: 'kernel' | 'interposed';
  duration_ms?: number;
  /** Why it failed or was ended. */
  message?: string;
  /** What explains a failure that the denials do not show. */
  hint?: string;
  /** A host that is allowed and could not be reached, and why. */
  unreached?: string;
  denied: number;
  denials: Denial[];
  /** What was allowed when it was asked about; fix: the options that give the same; failed: why a call failed all the same. */
  answered?: (Denial & { failed?: string; failures?: number })[];
  /** What the run made under the name .git: git and editors run what its config says. */
  repositories: string[];
  /** With `undo`. `run` is empty if nothing was changed. */
  undo?: { run: string; created: number; modified: number; deleted: number; renamed: number; lost: number; why?: string };
}

export interface Change {
  kind: 'created' | 'modified' | 'deleted' | 'renamed';
  path: string;
  /** If it is not the first root. */
  root?: string;
  /** What a renamed file or folder was called. */
  from?: string;
  folder: boolean;
  size_before?: number;
  size?: number;
  /** If it changed: 644, or the attributes R, H and S. */
  mode_before?: string;
  mode?: string;
  /** Where a symbolic link led, and leads. */
  link_before?: string;
  link?: string;
  /** What happened to it after the run. */
  since?: 'changed' | 'gone' | 'there again';
  added?: number;
  removed?: number;
  diff?: string;
  /** Why it cannot be taken back. */
  lost?: string;
}

export interface Changes {
  run: string;
  command: string;
  time: number;
  root: string;
  ended: boolean;
  changes: Change[];
  created: number;
  modified: number;
  deleted: number;
  renamed: number;
}

export interface Restored {
  result: 'restored' | 'removed' | 'moved' | 'conflict' | 'failed';
  path: string;
  /** Of a dry run: it would be. */
  dry?: true;
  /** What a renamed file or folder is called now. */
  from?: string;
  why?: string;
}

export interface UndoneRun {
  run: string;
  /** Nothing was done: the items say what would be. */
  dry?: true;
  items: Restored[];
  error?: string;
  done: number;
  conflicts: number;
  /** The run that takes the undo back. */
  undo?: string;
}

export interface KeptRun {
  run: string;
  time: number;
  bytes: number;
  command: string;
  session: string;
  undoes: string;
  undone: string;
  live: boolean;
  damaged: boolean;
  roots: string[];
}

export interface AuditEvent {
  type: 'start' | 'deny' | 'allow' | 'ask' | 'answer' | 'spawn' | 'exit' | 'end';
  time: string;
  seq: number;
  [member: string]: unknown;
}

/** One of the answers that a question offers, narrowest first. */
export interface Choice {
  answer: 'once' | 'run' | 'no' | 'never';
  scope?: 'call' | 'path' | 'folder' | 'address' | 'host' | 'tool' | 'command';
  folder?: string;
  host?: string;
}

/** What the run wants to do and an option could allow; the call waits for the answer. */
export interface Question {
  id: number;
  op: string;
  target: string;
  /** The other end of a rename. */
  to?: string;
  from?: string;
  /** The text of a symbolic link that would be made or moved. */
  link?: string;
  /** What else the call does; one of these at most. Of a value 1,024 bytes at most are given. */
  size?: number;
  replaces?: number;
  mode?: string;
  owner?: string;
  times?: string;
  attributes?: string;
  attribute?: string;
  value?: string;
  value_bytes?: number;
  removed_attribute?: string;
  /** The words of a tool or command that would be started. */
  command?: string;
  rule: string;
  why?: string;
  fix?: string;
  pid?: number;
  image?: string;
  cmdline?: string;
  choices: Choice[];
}

export type Reply = 'once' | 'run' | 'no' | 'never' | { answer: Choice['answer']; scope?: Choice['scope'] };

export interface Run extends EventEmitter {
  pid: number | undefined;
  stdin: Writable | null;
  stdout: Readable;
  stderr: Readable;
  /** Ends with the summary. Output that nobody reads by then is dropped. */
  readonly done: Promise<Summary>;
  kill(signal?: string): boolean;
  on(name: 'event', listener: (event: AuditEvent) => void): this;
}

export interface RunOptions extends PolicyOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  stdin?: 'pipe' | 'inherit' | 'ignore';
  auditAll?: boolean;
  auditRaw?: boolean;
  unset?: string | string[];
  winePrefix?: string;
  /** Linux: keep what the run changes, for `cordon undo`; 'strict' refuses what cannot be kept. */
  undo?: boolean | 'strict';
  undoLimit?: string;
  /** Is asked before something is denied that an option could allow; a rejection is a no. */
  onAsk?: (question: Question) => Reply | undefined | Promise<Reply | undefined>;
  /** Seconds after which a question is a no; 60. */
  askTimeout?: number;
  requireKernel?: boolean;
  integrity?: 'low' | 'medium';
  allowElevated?: boolean;
}

export interface CheckOptions extends PolicyOptions {
  cwd?: string;
  show?: boolean;
}

export interface WhyOptions extends PolicyOptions {
  cwd?: string;
}

export function check(command: string[] | { shell: 'powershell' | 'cmd' | 'bash'; script: string },
                      options?: CheckOptions): Promise<CheckAnswer>;
export function why(action: 'read' | 'write' | 'create' | 'delete' | 'rename' | 'link' | 'run' | 'connect',
                    what: string | string[], options?: WhyOptions): Promise<WhyAnswer>;
export function run(argv: string[], options?: RunOptions): Run;

/** Linux: what a run with `undo` changed; without `run`, the newest in `cwd` that was not taken back. */
export function changes(options?: { run?: string; cwd?: string; diff?: boolean; paths?: string[] }): Promise<Changes>;
/** Linux: takes a run back. What was changed since is left alone and told; `exit` is 1 then. */
export function undo(options?: { run?: string; session?: string; to?: string; cwd?: string; dryRun?: boolean; force?: boolean;
                                 paths?: string[] }): Promise<{ runs: UndoneRun[]; exit: number }>;
/** Linux: the runs that are kept, newest first. */
export function runs(): Promise<KeptRun[]>;
/** Linux: removes the journal of a run, or of 'all'. */
export function drop(run: string): Promise<void>;

/** The path of the program. */
export const program: string;
