// A peer: the Actions toolkit reading so many bytes and doing nothing with them. Prints MB/s.
import { exec } from '@actions/exec';

const [bytes] = process.argv.slice(2);
let read = 0;
const begin = process.hrtime.bigint();
await exec('sh', ['-c', `yes 'The quick brown fox jumps over the lazy dog, 0123456789' | head -c ${bytes}`], {
  silent: true,
  listeners: {
    stdout: (data) => {
      read += data.length;
    },
  },
});
console.log(read / 1e6 / (Number(process.hrtime.bigint() - begin) / 1e9));
