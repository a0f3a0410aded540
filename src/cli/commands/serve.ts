import type { Command } from 'commander';
import { type Config, loadConfig } from '../../config/config.ts';
import { jsonText } from '../../core/json-text.ts';
import type { CliParts } from '../cli-parts.ts';
import {
  DEFAULT_NAMESPACE,
  type ListenOptions,
  type StoreOptions,
  withListenOptions,
  withStoreOptions,
} from '../common-options.ts';
import { examples } from '../help.ts';

export function addServeCommand(program: Command, parts: CliParts): void {
  withListenOptions(withStoreOptions(program.command('serve')))
    .description('Serve the HTTP API on this machine until told to stop (Ctrl+C, SIGTERM).')
    .addHelpText(
      'after',
      examples([
        'palimpsest serve',
        'palimpsest serve --data-dir ./memories --port 8080',
        'palimpsest serve --database-url postgres://palimpsest@localhost/memories',
      ]),
    )
    .action(async (options: StoreOptions & ListenOptions) => {
      const config = loadConfig(options);
      const stop = parts.stopSignal();
      const server = await parts.serve(config);
      await parts.stdout.write(
        options.json ? `${jsonText({ url: server.url })}\n` : welcome(server.url, config),
      );
      await stop;
      await parts.stderr.write(
        'Stopping: running requests are finished first. A second signal stops at once.\n',
      );
      await server.close();
    });
}

/** What lets a new user store and recall something at once; with an identity, how to get one, too. */
function welcome(url: string, { store, identity }: Config): string {
  const place = 'dataDir' in store ? store.dataDir : 'PostgreSQL';
  const isKeyed = identity.mode === 'required';
  const namespace = isKeyed ? `vector.user.${EXAMPLE_USER}.notes` : DEFAULT_NAMESPACE;
  const key = isKeyed ? ' -H "authorization: Bearer $KEY"' : '';
  const json = `${key} -H 'content-type: application/json' -d`;
  return [
    `Palimpsest listens on ${url} and keeps its memories in ${place}`,
    ...(isKeyed ? [`Key:     KEY=$(${keyCommand(store)})${'dataDir' in store ? WHILE_STOPPED : ''}`] : []),
    `Store:   curl -s ${url}/v1/memories${json} '{"namespace":"${namespace}","content":"I prefer tea over coffee."}'`,
    `Recall:  curl -s ${url}/v1/memories/search${json} '{"query":"Tea or coffee?"}'`,
    '',
  ].join('\n');
}

const EXAMPLE_USER = 'ada';
/** One process at a time uses a data directory. */
const WHILE_STOPPED = '   # while this server is stopped';

/** A database URL may hold a password, so that it is named by its variable. */
function keyCommand(store: Config['store']): string {
  const place =
    'dataDir' in store ? `--data-dir '${store.dataDir}'` : '--database-url "$PALIMPSEST_DATABASE_URL"';
  return `palimpsest keys create --user ${EXAMPLE_USER} --name first ${place}`;
}
