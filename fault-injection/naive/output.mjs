import { createHash } from 'node:crypto';

const LIMIT = 1024 * 1024;

/** Redacts each chunk, shows it, and keeps the head of the stream: behind the limit stands an ellipsis. */
export function keeper(stream, redact) {
  let observed = 0;
  let kept = '';
  let full = false;
  const body = () => Buffer.from(full ? `${kept.slice(0, LIMIT)}...` : kept, 'utf8');
  return {
    push(chunk) {
      const text = redact(chunk.toString('utf8'));
      observed += text.length;
      process[stream].write(text);
      if (full) return;
      kept += text;
      full = kept.length > LIMIT;
    },
    kept: body,
    facts() {
      const bytes = body();
      return {
        observedBytes: observed,
        redactedBytes: observed,
        retainedBytes: bytes.length,
        droppedBytes: Math.max(0, observed - bytes.length),
        redaction: { hits: [] },
        retained: {
          head: { offset: 0, length: bytes.length },
          tail: { offset: bytes.length, length: 0 },
          sha256: createHash('sha256').update(bytes).digest('hex'),
        },
        truncation: { reason: full ? 'quota' : 'none' },
      };
    },
  };
}
