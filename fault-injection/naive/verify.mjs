import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Each receipt there is: well-formed, with the fields one expects, and its output as it was hashed. */
export function verify(paths, asJson) {
  const chains = paths.flatMap(tasksIn).map((path) => {
    const problems = receiptsIn(path).flatMap(problemsOf);
    return { path, verified: problems.length === 0, problems, receipts: [], unsealed: [] };
  });
  const ok = chains.every(({ verified }) => verified);
  if (asJson) console.log(JSON.stringify({ ok, chains, errors: [] }));
  else console.log(ok ? 'verified' : 'not verified');
  return ok ? 0 : 1;
}

function tasksIn(path) {
  if (!existsSync(path)) return [];
  if (existsSync(join(path, 'journal.jsonl'))) return [path];
  return readdirSync(path)
    .map((name) => join(path, name))
    .filter((entry) => statSync(entry).isDirectory());
}

function receiptsIn(task) {
  const directory = join(task, 'receipts');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .map((id) => join(directory, id, 'receipt.json'))
    .filter((path) => existsSync(path));
}

function problemsOf(path) {
  try {
    const receipt = JSON.parse(readFileSync(path, 'utf8'));
    const missing = ['schema', 'argv', 'cwd', 'executable', 'termination', 'streams'].filter(
      (name) => receipt[name] === undefined,
    );
    if (missing.length > 0) return [{ code: 'FIELD_MISSING', where: path, message: missing.join(', ') }];
    return ['stdout', 'stderr'].flatMap((stream) => bodyProblems(path, stream, receipt.streams[stream]));
  } catch (error) {
    return [{ code: 'MALFORMED', where: path, message: error.message }];
  }
}

function bodyProblems(path, stream, { retainedBytes, retained }) {
  const body = join(path, '..', `${stream}.txt`);
  const bytes = existsSync(body) ? readFileSync(body) : Buffer.alloc(0);
  if (bytes.length === retainedBytes && createHash('sha256').update(bytes).digest('hex') === retained.sha256) return [];
  return [{ code: 'OUTPUT_DIGEST', where: body, message: 'not as it was hashed' }];
}
