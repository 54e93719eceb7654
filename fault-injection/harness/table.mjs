const MOST_MESSAGES = 12;

/** One line per class, then what did not hold. */
export function printTable(results) {
  const rows = results.map(({ injector, skipped, product, control, seconds }) =>
    skipped
      ? [injector.name, '-', `skipped: ${skipped}`, '-', '']
      : [injector.name, String(product.rounds), productText(product), controlText(control), `${seconds.toFixed(1)} s`],
  );
  const table = [['class', 'rounds', 'product', 'control (no defence)', 'time'], ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
  for (const result of results) if (!result.ok) explain(result);
}

function productText({ held, violations }) {
  return held ? 'held' : `${violations.length} violation${violations.length === 1 ? '' : 's'}`;
}

function controlText({ detail: { cases, harmless } }) {
  const failed = cases.length - harmless.length;
  return harmless.length === 0 ? `fails, ${failed} of ${cases.length} cases` : `HOLDS in: ${harmless.join(', ')}`;
}

function explain({ injector, product, control }) {
  console.log(`\n${injector.name}: ${injector.expectation}`);
  for (const { case: name, round, message } of product.violations.slice(0, MOST_MESSAGES))
    console.log(`  ${name}, round ${round}: ${message}`);
  if (product.violations.length > MOST_MESSAGES) console.log(`  and ${product.violations.length - MOST_MESSAGES} more`);
  for (const name of control.detail.harmless) console.log(`  the control did not fail: ${name}`);
}

/** What each case came to, for `--verbose`. */
export function printCases({ injector, skipped, product, control }) {
  if (skipped) return;
  console.log(injector.name);
  for (const [role, result] of Object.entries({ product, control })) {
    for (const { name, rounds, violations, outcomes } of result.detail.cases)
      console.log(`  ${role}: ${name}: ${rounds} rounds, ${violations} violations ${JSON.stringify(outcomes)}`);
    for (const { case: name, message } of result.violations.slice(0, 3)) console.log(`    ${name}: ${message}`);
  }
}
