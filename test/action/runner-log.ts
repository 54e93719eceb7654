/*
 * What the runner makes of a step's output: the log that people see, and the commands that it obeyed. Transcribed from
 * actions/runner at 258d6c8: ActionCommand.cs (TryParseV2, TryParse), ActionCommandManager.cs (TryProcessCommand),
 * OutputManager.cs (OnDataReceived). Kept apart from src/, but of the same author: the vectors are what counts.
 */

const NAMES =
  'add-mask add-matcher add-path debug echo endgroup error group notice remove-matcher save-state set-env set-output warning stop-commands';

export interface RunnerLog {
  /** Lines shown, masked with everything that was known when they came. */
  readonly lines: string[];
  readonly masks: Set<string>;
  readonly commands: Array<{ readonly name: string; readonly data: string; readonly properties: string }>;
}

export function readAsRunner(output: string, masks: Iterable<string> = []): RunnerLog {
  const registered = new Set(NAMES.split(' '));
  const log: RunnerLog = { lines: [], masks: new Set(masks), commands: [] };
  let stopToken: string | undefined;
  const show = (line: string): void => {
    log.lines.push([...log.masks].reduce((text, mask) => text.replaceAll(mask, '***'), line));
  };
  for (const line of output.split(/\r\n|\r|\n/)) {
    const command = parseV2(line.trimStart(), registered) ?? parseV1(line, registered);
    if (command === undefined || (stopToken !== undefined && command.name !== stopToken)) show(line);
    else if (stopToken !== undefined) {
      registered.delete(stopToken);
      stopToken = undefined;
      show(line);
    } else if (command.name === 'stop-commands') {
      const token = command.data.toLowerCase();
      // ValidateStopToken throws, and commands go on being obeyed.
      if (token === '' || token === 'pause-logging' || registered.has(token)) continue;
      stopToken = token;
      registered.add(stopToken);
      show(line);
    } else {
      log.commands.push(command);
      if (command.name === 'add-mask')
        for (const part of [command.data, ...command.data.split(/[\r\n]+/)]) if (part.trim()) log.masks.add(part);
      if (['error', 'warning', 'notice'].includes(command.name)) show(`##[${command.name}]${command.data}`);
    }
  }
  return log;
}

function parseV2(line: string, registered: ReadonlySet<string>) {
  const end = line.startsWith('::') ? line.indexOf('::', 2) : -1;
  if (end < 0) return undefined;
  const [name = '', ...properties] = line.slice(2, end).split(' ');
  if (!registered.has(name.toLowerCase())) return undefined;
  return { name: name.toLowerCase(), properties: properties.join(' '), data: decode(line.slice(end + 2)) };
}

function parseV1(line: string, registered: ReadonlySet<string>) {
  const start = line.indexOf('##[');
  const end = start < 0 ? -1 : line.indexOf(']', start);
  if (end < 0) return undefined;
  const [name = '', ...properties] = line.slice(start + 3, end).split(' ');
  if (!registered.has(name.toLowerCase())) return undefined;
  const data = decode(
    line
      .slice(end + 1)
      .replaceAll('%3B', ';')
      .replaceAll('%5D', ']'),
  );
  return { name: name.toLowerCase(), properties: properties.join(' '), data };
}

function decode(data: string): string {
  return data.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
}
