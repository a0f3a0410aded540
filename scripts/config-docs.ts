/**
 * docs/configuration.md, made of the settings' own definitions.
 *
 *   npm run docs:config          writes it
 *   npm run check:config-docs    fails when it is not what they say
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_VARIABLE, SETTING_SECTIONS } from '../src/config/config.ts';
import { USUAL_CONFIG_FILE } from '../src/config/config-file.ts';
import { EMBEDDING_SETTINGS } from '../src/config/embedding-config.ts';
import type { Fields } from '../src/config/form.ts';
import type { Setting } from '../src/config/setting.ts';
import { TELEMETRY_VARIABLES } from '../src/config/telemetry-config.ts';

const FILE = join(import.meta.dirname, '..', 'docs', 'configuration.md');

const HEADING = `<!-- Made by "npm run docs:config" from src/config: do not edit. -->

# Configuration

Every setting can be given in three ways. What stands first outranks what follows:

1. an option of the command line, where there is one;
2. an environment variable; an empty one counts as unset;
3. the configuration file that \`--config\` or \`${FILE_VARIABLE}\` names, such as \`${USUAL_CONFIG_FILE}\`. A file that nobody
   named is not read, only warned about: a working directory may be anybody's, such as a cloned project.

The file is a JSON object; \`http.port\` is the key \`port\` in the object \`http\`. Keys and \`PALIMPSEST_…\` variables that mean
nothing are refused, with the nearest name that does. Secrets are variables alone, or stand in files of their own.
\`palimpsest doctor\` shows which file was read and what it thinks of it. The library (\`Palimpsest.open\`) reads none of this: it
is told by its caller.

\`\`\`json
{
  "http": { "port": 8080, "cors_origins": ["https://console.example.com"] },
  "identity": { "mode": "required" },
  "embedding": { "mode": "local", "local": { "provider": "minilm" } },
  "ranking": { "recency_decay": 0.05 }
}
\`\`\`
`;

const LEFT_OVER = `
\`ranking.priorities\`, which older configurations may still hold, is ignored: namespaces are weighted by rules and nowhere
else. A warning at the start spells out each conversion (\`bonus = priority - 1\`) and the command that makes the rule.
`;

const PROVIDER_HEADING = `
### Options of a provider

In \`embedding.local\` and \`embedding.cloud\`. Not every provider has every option: [embeddings](embeddings.md) says which, and
what they do. The names are those of the library, written with underscores (\`longText\` is \`long_text\`).
`;

const TELEMETRY_HEADING = `
## Spans

OpenTelemetry's own variables; [operations](operations.md#spans) says what has to be installed and what spans hold. All further
ones (sampler, headers, service name …) are the SDK's to read.
`;

function page(): string {
  const sections = Object.entries(SETTING_SECTIONS).map(([name, settings]) => sectionOf(name, settings));
  const telemetry = table(
    ['variable', 'meaning'],
    Object.entries(TELEMETRY_VARIABLES).map(([name, meaning]) => [code(name), meaning]),
  );
  return `${HEADING}${sections.join('')}${TELEMETRY_HEADING}\n${telemetry}`;
}

function sectionOf(name: string, settings: Readonly<Record<string, Setting<unknown>>>): string {
  const rows = Object.values(settings).map(({ key, variable, option, form, meaning, standard }) => [
    key === null ? '–' : code(key),
    [variable, option].flatMap((word) => (word === null || word === undefined ? [] : code(word))).join(', '),
    form.allowed,
    standard,
    meaning,
  ]);
  const main = table(['key in the file', 'variable, option', 'allowed', 'default', 'meaning'], rows);
  const after =
    name === 'ranking' ? LEFT_OVER : name === 'embedding' ? PROVIDER_HEADING + providerOptions() : '';
  return `\n## \`${name}\`\n\n${main}${after}`;
}

function providerOptions(): string {
  const rows = fieldRows(EMBEDDING_SETTINGS.local.form.fields ?? {}, '');
  return `\n${table(['option', 'allowed', 'default', 'meaning'], rows)}`;
}

function fieldRows(fields: Fields, parent: string): string[][] {
  return Object.entries(fields).flatMap(([name, { form, standard, meaning }]) => {
    const path = `${parent}${name}`;
    const inner = form.fields;
    const row = [code(path), inner === undefined ? form.allowed : 'an object', standard, meaning];
    return [row, ...(inner === undefined ? [] : fieldRows(inner, `${path}.`))];
  });
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows];
  return `${lines.map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function code(text: string): string {
  return `\`${text}\``;
}

const made = page();
if (!process.argv.includes('--check')) writeFileSync(FILE, made);
else if (readFileSync(FILE, 'utf8') !== made) {
  console.error('docs/configuration.md is not what src/config says: run "npm run docs:config".');
  process.exitCode = 1;
} else console.log('docs/configuration.md is what src/config says.');
