import picomatch from 'picomatch';
import type { EnvironmentClass } from '../contract/index.ts';
import type { PolicyDocument } from './schema.ts';

/** Variables through which a loader or an interpreter is made to run other code. */
const LOADER_CONTROL = new Set(
  `LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG LD_BIND_NOT GCONV_PATH GLIBC_TUNABLES LOCPATH NIS_PATH
   DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH NODE_OPTIONS NODE_PATH BASH_ENV ENV ZDOTDIR
   PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5LIB PERL5OPT RUBYOPT RUBYLIB GEM_PATH GIT_SSH GIT_SSH_COMMAND
   GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_ASKPASS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH
   MAVEN_OPTS GRADLE_OPTS RUSTC_WRAPPER RUSTFLAGS GOFLAGS PROMPT_COMMAND`.split(/\s+/),
);

const STANDARD = new Set(
  `PATH HOME USER LOGNAME SHELL PWD OLDPWD TERM COLORTERM COLUMNS LINES LANG LANGUAGE TZ TMPDIR TMP TEMP HOSTNAME
   SHLVL EDITOR VISUAL PAGER DISPLAY MAIL _ XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME SSH_AUTH_SOCK
   NO_COLOR FORCE_COLOR DEBIAN_FRONTEND`.split(/\s+/),
);

/** What a plain `run:` step would not have had, and our own: never passed on. */
const INTERNAL =
  /^(?:INPUT_.*|STATE_.*|ACTIONS_RUNTIME_TOKEN|ACTIONS_RUNTIME_URL|ACTIONS_RESULTS_URL|ACTIONS_CACHE_URL|ACTIONS_CACHE_SERVICE_V2|ACTIONS_CACHE_MODE|ACTIONS_ORCHESTRATION_ID|COMMAND_RECEIPTS_.*)$/;

const SECRET =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|COOKIE|(?:^|_)(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|DEPLOY|AUTH|SSH|MASTER|ACCOUNT)_?KEY(?:_ID|_BASE64)?|(?:^|_)(?:PAT|PWD|PASS|AUTH|DSN)|CONNECTION_STRING|DATABASE_URL|WEBHOOK_URL)$/i;

/** Names that end like a secret's and are none. */
const NOT_SECRET = /^(?:PWD|OLDPWD|.*_TOKEN_(?:PATH|FILE)|ACTIONS_ID_TOKEN_REQUEST_URL)$/;

const CI =
  /^(?:CI|GITHUB_.*|RUNNER_.*|ACTIONS_.*|GITLAB_.*|CI_.*|BUILDKITE.*|CIRCLE.*|TRAVIS.*|JENKINS_.*|BUILD_(?:ID|NUMBER|URL))$/;

export interface EnvironmentPlan {
  /** In the order given, to be passed to the command. */
  readonly passed: ReadonlyArray<readonly [name: string, value: string]>;
  readonly passedNames: ReadonlyArray<{ readonly name: string; readonly class: EnvironmentClass }>;
  readonly withheldNames: ReadonlyArray<{ readonly name: string; readonly class: EnvironmentClass }>;
  readonly allowlist: readonly string[] | undefined;
  /** Values that the redactor has to know, passed on or not. */
  readonly secrets: ReadonlyArray<{ readonly name: string; readonly value: string }>;
}

export function classOf(name: string, secretPatterns: readonly string[] = []): EnvironmentClass {
  if (INTERNAL.test(name)) return 'internal';
  if (LOADER_CONTROL.has(name)) return 'loader-control';
  if (secretPatterns.some((pattern) => picomatch.isMatch(name, pattern))) return 'secret';
  if (SECRET.test(name) && !NOT_SECRET.test(name)) return 'secret';
  if (STANDARD.has(name) || name.startsWith('LC_')) return 'standard';
  return CI.test(name) ? 'ci' : 'config';
}

/** Sorts an environment into what the command gets and what it does not; values never enter the receipt. */
export function planEnvironment(
  environment: Iterable<readonly [name: string, value: string]>,
  rules: PolicyDocument['environment'],
): EnvironmentPlan {
  const passed: Array<readonly [string, string]> = [];
  const passedNames: Array<{ name: string; class: EnvironmentClass }> = [];
  const withheldNames: Array<{ name: string; class: EnvironmentClass }> = [];
  const secrets: Array<{ name: string; value: string }> = [];
  const allowed = rules?.allow && picomatch([...rules.allow]);
  for (const [name, value] of environment) {
    const entry = { name, class: classOf(name, rules?.secrets) };
    if (value !== '' && (entry.class === 'secret' || (entry.class === 'internal' && SECRET.test(name))))
      secrets.push({ name, value });
    if (entry.class === 'internal' || (allowed && !allowed(name))) {
      withheldNames.push(entry);
      continue;
    }
    passed.push([name, value]);
    passedNames.push(entry);
  }
  return { passed, passedNames, withheldNames, allowlist: rules?.allow, secrets };
}
