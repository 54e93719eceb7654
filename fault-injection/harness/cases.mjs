import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Rounds of a control that are judged together when its case may lose its race. */
const CONTROL_BATCH = 2;

/**
 * Runs the cases of one injector. A case has `rounds`, an `attack(place, round)` that returns what it knows of the round, and
 * a `judge(facts)` that returns `[{ round, message }]` from the artifact alone. A case that may lose its race says how many
 * `controlRounds` a control gets at most: it ends as soon as it has won one.
 */
export async function runCases(context, cases) {
  const violations = [];
  const ran = [];
  for (const one of cases) {
    const directory = join(context.work, one.name.replaceAll(/[^a-z0-9]+/gi, '-'));
    const { facts, found } = await runRounds(context, one, directory);
    violations.push(...found.map((violation) => ({ case: one.name, ...violation })));
    const rounds = one.count?.(facts) ?? facts.length;
    ran.push({ name: one.name, rounds, violations: found.length, outcomes: tally(facts) });
    rmSync(directory, { recursive: true, force: true });
  }
  const rounds = ran.reduce((sum, one) => sum + one.rounds, 0);
  const harmless = ran.filter((one) => one.violations === 0).map(({ name }) => name);
  return { rounds, held: violations.length === 0, violations, detail: { cases: ran, harmless } };
}

async function runRounds({ control, factor }, one, directory) {
  const races = control && one.controlRounds !== undefined;
  const rounds = races ? one.controlRounds : one.rounds * (one.fixed || control ? 1 : factor);
  const all = { facts: [], found: [] };
  let batch = [];
  for (let round = 1; round <= rounds && !(races && all.found.length > 0); round++) {
    const place = join(directory, String(round));
    mkdirSync(place, { recursive: true });
    batch.push({ round, place, ...(await one.attack(place, round)) });
    if (round < rounds && !(races && batch.length === CONTROL_BATCH)) continue;
    all.found.push(...(await one.judge(batch)));
    all.facts.push(...batch);
    batch = [];
  }
  return all;
}

/** What a judge wrote into `outcome` of each round's facts, counted. */
function tally(facts) {
  const counts = {};
  for (const { outcome } of facts) if (outcome !== undefined) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** For judges: gathers messages of one round. */
export function checks(round) {
  const found = [];
  return {
    found,
    that(condition, message) {
      if (!condition) found.push({ round, message });
      return Boolean(condition);
    },
  };
}
