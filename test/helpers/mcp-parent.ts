import { startMcp } from './mcp-process.ts';

/**
 * A client that dies: starts the server of the data directory in its first argument, makes as many calls as the
 * second says, tells the server's process id, and then does nothing until it is killed.
 */
const [dataDir = '', operations = '0'] = process.argv.slice(2);
const mcp = await startMcp(['--data-dir', dataDir]);
for (let done = 0; done < Number(operations); done += 1) {
  const isWrite = done % 10 === 0;
  await (isWrite
    ? mcp.answer('memory_write', { content: `note ${done}`, namespace: 'vector.user.local.many' })
    : mcp.answer('memory_list', { limit: 1 }));
}
process.stdout.write(`${mcp.pid}\n`);
setInterval(() => undefined, 1000);
