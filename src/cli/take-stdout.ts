import { Writable } from 'node:stream';

/**
 * Gives standard output to one writer alone. Whatever else is written there from now on, by `console.log` of some
 * package or by a worker thread, goes to standard error: one stray line would end the conversation with a program
 * that reads the answers.
 */
export function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const taken = new Writable({
    write: (chunk, _encoding, done) => void write(chunk, (error) => done(error)),
  });
  stdout.once('close', () => taken.destroy());
  stdout.write = stderr.write.bind(stderr);
  return taken;
}
