/** The formats and variables that the product knows as well: what differs is where the expressions are applied. */
const FORMATS = [
  /gh[pour]_[A-Za-z0-9_]{30,}/g,
  /github_pat_[A-Za-z0-9_]{30,}/g,
  /glpat-[A-Za-z0-9_.-]{18,}/g,
  /npm_[A-Za-z0-9]{30,}/g,
  /AKIA[A-Z0-9]{16}/g,
  /sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}/g,
  /sk_live_[A-Za-z0-9]{16,}/g,
  /xox[bp]-[A-Za-z0-9-]{16,}/g,
];

/** Redacts one text, or one chunk of a stream as if it stood alone. */
export function redactorFor(environment) {
  const values = Object.entries(environment)
    .filter(([name, value]) => /(?:TOKEN|SECRET|PASSWORD)$/.test(name) && value.length >= 6)
    .map(([, value]) => value);
  return (text) => {
    let redacted = text;
    for (const value of values) redacted = redacted.replaceAll(value, '***');
    for (const format of FORMATS) redacted = redacted.replace(format, '***');
    return redacted;
  };
}
