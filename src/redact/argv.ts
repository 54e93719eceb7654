import { replacementText } from './replacement.ts';

const KEYWORD =
  '(?:password|passwd|passphrase|pass|pwd|secret|token|api-?key|access-?key|secret-?key|private-?key|credentials?|auth)';
const TELLING_OPTION = new RegExp(`^--?(?:[\\w.-]*[-_.])?(?:[a-z]*)${KEYWORD}$`, 'i');
const TELLING_ASSIGNMENT = new RegExp(`^((?:--?)?(?:[\\w.-]*[-_.])?(?:[a-z]*)${KEYWORD}=)(.+)$`, 'is');
const USER_OPTION = /^(?:-u|--user|--proxy-user)$/;
const USER_AND_PASSWORD = /^([^:/@]*):(.+)$/s;
const REPLACED = /\[REDACTED:[a-z0-9-]+\]/;
const NUMBERS = /^\d+:\d+$/;
const NO_VALUE = /^(?:-|\$|@|true$|false$|\d{1,4}$)/;

/** The rule id under which values that follow a telling option are replaced. */
const OPTION_VALUE = replacementText('assignment');

/** Redacts each argument by `text`, and those that are secrets only by the option before them. */
export function redactArguments(args: readonly string[], text: (input: string) => string): string[] {
  return args.map((argument, index) => {
    const redacted = text(argument);
    const before = index > 0 ? (args[index - 1] ?? '') : '';
    if (TELLING_OPTION.test(before) && argument !== '' && !NO_VALUE.test(argument))
      return wholeValue(redacted, argument);
    if (USER_OPTION.test(before) && !NUMBERS.test(argument)) return userAndPassword(redacted);
    return ownAssignment(redacted);
  });
}

/** An argument of which nothing but a replacement text is left keeps that, since it names the kind. */
function wholeValue(redacted: string, argument: string): string {
  return redacted !== argument && new RegExp(`^${REPLACED.source}$`).test(redacted) ? redacted : OPTION_VALUE;
}

function userAndPassword(redacted: string): string {
  const [, user, password] = USER_AND_PASSWORD.exec(redacted) ?? [];
  return password === undefined || REPLACED.test(redacted) ? redacted : `${user}:${OPTION_VALUE}`;
}

/** `--password=x`: an argument is a whole value, so that no length makes it implausible. */
function ownAssignment(redacted: string): string {
  const [, name, value] = TELLING_ASSIGNMENT.exec(redacted) ?? [];
  if (name === undefined || value === undefined || REPLACED.test(value) || NO_VALUE.test(value)) return redacted;
  return name.startsWith('-') ? `${name}${OPTION_VALUE}` : redacted;
}
