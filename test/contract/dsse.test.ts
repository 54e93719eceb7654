import { describe, expect, it } from 'vitest';
import {
  decodeEnvelope,
  encodeEnvelope,
  preAuthenticationEncoding,
  type ReceiptsError,
} from '../../src/contract/index.ts';

const envelope = { payloadType: 'text/plain', payload: Buffer.from('ab'), keyId: 'k', signature: Buffer.alloc(4, 7) };
const text = encodeEnvelope(envelope).toString();

describe('the pre-authentication encoding', () => {
  it('is that of the DSSE specification', () => {
    const encoded = preAuthenticationEncoding('http://example.com/HelloWorld', Buffer.from('hello world'));
    expect(encoded.toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  });

  it('counts bytes, not characters', () => {
    expect(preAuthenticationEncoding('é', Buffer.from('ü')).toString()).toBe('DSSEv1 2 é 2 ü');
  });
});

describe('an envelope', () => {
  it('reads back as it was written', () => {
    expect(text).toBe('{"payload":"YWI=","payloadType":"text/plain","signatures":[{"keyid":"k","sig":"BwcHBw=="}]}');
    expect(decodeEnvelope(Buffer.from(text), '')).toEqual(envelope);
  });

  it.each([
    ['an altered last character of base64', text.replace('YWI=', 'YWJ=')],
    ['base64 without padding', text.replace('YWI=', 'YWI')],
    ['base64url', text.replace('BwcHBw==', '_-__')],
    ['white space in base64', text.replace('YWI=', 'YW I=')],
    ['a signature of other base64', text.replace('BwcHBw==', 'BwcHBx==')],
    ['no signature', text.replace(/\[.*\]/, '[]')],
    ['two signatures', text.replace(/\[(.*)\]/, '[$1,$1]')],
    ['another member', text.replace('}]}', '}],"x":1}')],
    ['another member of the signature', text.replace('}]', ',"x":1}]')],
    ['a payload of another type', text.replace('"YWI="', '1')],
    ['a keyid of another type', text.replace('"k"', 'null')],
    ['signatures of another type', text.replace(/\[.*\]/, '"x"')],
    ['an array', '[]'],
    ['null', 'null'],
    ['a final newline', `${text}\n`],
  ])('is refused with %s', (_name, altered) => {
    expect(altered).not.toBe(text);
    expect(() => decodeEnvelope(Buffer.from(altered), 'here')).toThrow(
      expect.objectContaining({ code: 'MALFORMED', where: 'here' }) as ReceiptsError,
    );
  });
});
