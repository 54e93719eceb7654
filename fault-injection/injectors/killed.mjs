import { readFileSync } from 'node:fs';
import { journalOf, receiptOf, wholeBody } from '../harness/artifact.mjs';
import { checks, runCases } from '../harness/cases.mjs';
import { eventually } from '../harness/processes.mjs';

const run = (context) =>
  runCases(context, [
    killedCase(context, 'by itself', ['sh', '-c', 'echo before; kill -KILL $$; echo after']),
    killedCase(context, 'from outside', ['sh', '-c', 'echo before; exec sleep 30'], killFromOutside),
    // A hard limit that is reached is answered with SIGKILL by the kernel, as by its OOM killer.
    killedCase(context, 'by the kernel', ['sh', '-c', 'echo before; ulimit -t 1; while :; do :; done'], undefined, 1),
  ]);

export const killed = {
  name: 'killed',
  expectation: 'termination signaled SIGKILL without an exit code, exit 137, what was printed kept',
  run,
};

async function killFromOutside({ store, console }) {
  const started = await eventually(() => journalOf(store).find(({ event }) => event === 'STARTED'));
  if (!started) throw new Error('the command was never started');
  await eventually(() => readFileSync(console.stdout, 'utf8').includes('before'));
  process.kill(started.facts.process.pid, 'SIGKILL');
}

function killedCase({ subject }, name, argv, disturb, rounds = 2) {
  return {
    name,
    rounds,
    async attack(place) {
      const started = subject.start({ place, argv });
      await disturb?.(started);
      return { ...started, ...(await started.ended) };
    },
    judge(facts) {
      const verdicts = subject.verify(facts.map(({ store }) => store));
      return facts.flatMap(({ round, store, exitCode }) => {
        const check = checks(round);
        const found = receiptOf(store);
        if (!check.that(found, 'there is no receipt')) return check.found;
        const { kind, signal, exitCode: recorded } = found.receipt.termination;
        check.that(kind === 'signaled' && signal === 'SIGKILL', `the termination is ${kind}, signal ${signal}`);
        check.that(recorded === null, `an exit code ${recorded} is recorded`);
        check.that(exitCode === 137, `the executor ended with ${exitCode}`);
        check.that(wholeBody(found, 'stdout').equals(Buffer.from('before\n')), 'what was printed before was not kept');
        check.that(verdicts.of(store).verified, 'the receipt is not verified');
        return check.found;
      });
    },
  };
}
