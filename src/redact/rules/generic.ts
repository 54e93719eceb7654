import type { Rule } from '../types.ts';

const PASSWORDS = ['password', 'passwd', 'passphrase', 'passcode', '_pass', '-pass', 'pwd'];

/** Forms that belong to no vendor. They come last, so that a vendor's name wins where both match alike. */
export const genericRules: readonly Rule[] = [
  {
    kind: 'block',
    id: 'private-key',
    label: 'PRIVATE KEY',
    example: ['-----BEGIN RSA ', 'PRIVATE KEY-----\nx\n-----END RSA ', 'PRIVATE KEY-----'],
  },
  {
    kind: 'token',
    id: 'json-web-token',
    anchors: ['eyJ'],
    charset: 'A-Za-z0-9_.-',
    minimum: 30,
    boundary: 'word',
    shape: 'segments',
    // The beginning of an inline source map.
    except: ['eyJ2ZXJzaW9uI'],
    example: ['eyJ', 'x'.repeat(33), '.eyJ', 'x'.repeat(40), '.', 'x'.repeat(43)],
  },
  { kind: 'url-password', id: 'url-password', example: ['https://user:', 'xxxxxxxx@'] },
  {
    kind: 'assignment',
    id: 'authorization',
    keywords: ['authorization'],
    schemes: ['bearer', 'basic', 'token', 'negotiate', 'apikey', 'api-key', 'bot', 'key', 'digest', 'ntlm', 'splunk'],
    value: 'guess',
    example: ['Authorization: Bearer ', 'xxxxxxxx'],
  },
  {
    kind: 'token',
    id: 'bearer-token',
    anchors: ['bearer '],
    charset: 'A-Za-z0-9._~+/=-',
    minimum: 16,
    boundary: 'word',
    keepAnchor: true,
    ignoreCase: true,
    shape: 'dense',
    example: ['Bearer ', 'x'.repeat(24)],
  },
  {
    kind: 'token',
    id: 'basic-credentials',
    anchors: ['basic '],
    charset: 'A-Za-z0-9+/=_-',
    minimum: 8,
    boundary: 'word',
    keepAnchor: true,
    ignoreCase: true,
    shape: 'credentials',
    // `user:xxxxxxxx`
    example: ['Basic ', 'dXNlcjp4eHh4', 'eHh4eA=='],
  },
  { kind: 'assignment', id: 'cookie', keywords: ['cookie'], value: 'line', example: ['Set-Cookie: sid=', 'xxxxxxxx'] },
  {
    kind: 'assignment',
    id: 'assignment',
    keywords: [
      ...PASSWORDS,
      'secret',
      'token',
      'credential',
      'credentials',
      '_auth',
      'authkey',
      ...['api', 'access', 'secret', 'private', 'encryption', 'signing', 'account', 'shared', 'master', 'auth'].flatMap(
        (kind) => [`${kind}_key`, `${kind}-key`, `${kind}key`],
      ),
    ].filter((keyword, index, all) => all.indexOf(keyword) === index),
    trusted: PASSWORDS,
    wholeWord: ['pwd'],
    value: 'guess',
    example: ['password=', 'hunter', '22'],
  },
];
