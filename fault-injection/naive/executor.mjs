#!/usr/bin/env node
// The control: an executor as a reasonable first implementation would have it, without any of the defences that are tested
// here. It hashes a path and runs it by path, redacts each chunk, keeps the head of long output, and notes what it believes.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { keeper } from './output.mjs';
import { redactorFor } from './redact.mjs';
import { store } from './store.mjs';
import { verify } from './verify.mjs';

const text = { type: 'string' };
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    store: text,
    cwd: text,
    workspace: text,
    step: text,
    task: text,
    policy: text,
    grace: text,
    json: { type: 'boolean' },
  },
});
const [command, ...words] = positionals;

function findProgram(name, directory) {
  if (name.includes('/')) return resolve(directory, name);
  const isProgram = (path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  };
  return (
    (process.env.PATH ?? '')
      .split(delimiter)
      .map((entry) => join(entry, name))
      .find(isProgram) ?? name
  );
}

function resolveDirectory(requested) {
  const workspace = realpathSync(options.workspace ?? process.cwd());
  const resolved = realpathSync(resolve(workspace, requested));
  if (resolved !== workspace && !resolved.startsWith(`${workspace}/`))
    throw new Error(`${requested} leaves the workspace`);
  const { dev, ino } = statSync(resolved);
  return {
    path: resolve(workspace, requested),
    facts: { requested, resolved, device: String(dev), inode: String(ino) },
  };
}

async function run() {
  const redact = redactorFor(process.env);
  const place = store(options.store, options.task);
  const startedAt = new Date().toISOString();
  place.journal('REQUESTED', { argv: words });
  const cwd = resolveDirectory(options.cwd ?? '.');
  const path = findProgram(words[0], cwd.path);
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  place.journal('BOUND', { executable: { path, sha256 }, cwd: cwd.facts });
  const streams = { stdout: keeper('stdout', redact), stderr: keeper('stderr', redact) };
  const child = spawn(path, words.slice(1), { argv0: words[0], cwd: cwd.path, stdio: ['inherit', 'pipe', 'pipe'] });
  child.once('spawn', () => place.journal('STARTED', { process: { pid: child.pid } }));
  child.stdout.on('data', (chunk) => streams.stdout.push(chunk));
  child.stderr.on('data', (chunk) => streams.stderr.push(chunk));
  const exitCode = await new Promise((done) => {
    child.once('error', () => done(127));
    child.once('close', (code) => done(code ?? 0));
  });
  place.journal('TERMINATED', { exitCode });
  place.seal(
    {
      argv: words,
      cwd: cwd.facts,
      executable: { requested: words[0], path, sha256 },
      environment: { passed: Object.keys(process.env).map((name) => ({ name })) },
      process: { pid: child.pid },
      termination: { kind: 'exited', exitCode, signal: null },
      time: { startedAt, endedAt: new Date().toISOString() },
      streams: { stdout: streams.stdout.facts(), stderr: streams.stderr.facts() },
      evidence: { flags: [] },
    },
    { stdout: streams.stdout.kept(), stderr: streams.stderr.kept() },
  );
  return exitCode;
}

switch (command) {
  case 'run':
    process.exitCode = await run().catch((error) => {
      console.error(error.message);
      return 1;
    });
    break;
  case 'verify':
    process.exitCode = verify(words, Boolean(options.json));
    break;
  default:
    // `recover` and `close`: what was not foreseen has nothing to do.
    console.log('nothing to do');
}
