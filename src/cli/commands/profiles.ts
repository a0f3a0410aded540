import type { Command } from 'commander';
import { parseContract } from '../../contract/parse-contract.ts';
import {
  profileDraftSchema,
  profileOf,
  wireKeptProfileSchema,
  wireProfileListSchema,
  wireProfileViewSchema,
} from '../../contract/ranking-profile.ts';
import { toWire } from '../../contract/wire-form.ts';
import { jsonText } from '../../core/json-text.ts';
import type { ProfileView } from '../../service/governance-service.ts';
import type { CliParts } from '../cli-parts.ts';
import { printable } from '../format/printable.ts';
import { textTable } from '../format/table.ts';
import { writeWarnings } from '../format/warnings.ts';
import { examples } from '../help.ts';
import { listByDefault } from '../list-by-default.ts';
import { readJson } from '../read-json.ts';
import { type TenantOptions, withTenantOptions } from '../tenant-options.ts';
import { withService } from '../with-service.ts';

const WHOSE = 'whose profiles';

export function addProfilesCommand(program: Command, parts: CliParts): void {
  const profiles = program
    .command('profiles')
    .description('Ranking profiles: a formula and its numbers, under a name.')
    .addHelpText(
      'after',
      `
A profile is a JSON file with a "kind", boosted or weighted, and the numbers that differ from the built-in profile of that
kind; "show" prints one as "set" reads it.
${examples([
  'palimpsest profiles show boosted',
  'palimpsest profiles set strict strict.json',
  'palimpsest recall "Which database?" --profile strict',
])}`,
    );
  addList(profiles, parts);
  addShow(profiles, parts);
  addSet(profiles, parts);
  addDelete(profiles, parts);
}

function addList(profiles: Command, parts: CliParts): void {
  withTenantOptions(listByDefault(profiles), WHOSE)
    .description('Show all profiles, the built-in ones first.')
    .addHelpText('after', examples(['palimpsest profiles list']))
    .action(async (options: TenantOptions) => {
      const all = await withService(parts, options, (_service, context, governance) =>
        governance.listProfiles(context),
      );
      await parts.stdout.write(
        options.json
          ? `${jsonText(toWire(wireProfileListSchema, { profiles: all }), 2)}\n`
          : profilesTable(all, parts.stdout.columns),
      );
    });
}

function addShow(profiles: Command, parts: CliParts): void {
  withTenantOptions(profiles.command('show'), WHOSE)
    .description('Print a profile as set reads it; with --json, all that is known of it.')
    .argument('<name>', 'as profiles list shows it')
    .addHelpText('after', examples(['palimpsest profiles show weighted > mine.json']))
    .action(async (name: string, options: TenantOptions) => {
      const view = await withService(parts, options, async (_service, context, governance) =>
        toWire(wireProfileViewSchema, await governance.getProfile(context, name)),
      );
      const { name: _name, ...draft } = view.profile;
      await parts.stdout.write(`${jsonText(options.json ? view : draft, 2)}\n`);
    });
}

function addSet(profiles: Command, parts: CliParts): void {
  withTenantOptions(profiles.command('set'), WHOSE)
    .description('Make a profile, or replace it whole.')
    .argument('<name>', 'what searches and policies call it')
    .argument('<file>', 'JSON; - reads standard input')
    .addHelpText(
      'after',
      examples([
        'palimpsest profiles set strict strict.json',
        'echo \'{"kind":"boosted","min_score":0.5}\' | palimpsest profiles set strict -',
      ]),
    )
    .action(async (name: string, file: string, options: TenantOptions) => {
      const draft = parseContract(profileDraftSchema, await readJson(parts, file));
      const { value, warnings } = await withService(parts, options, (service, context, governance) =>
        governance.putProfile(context, profileOf(name, draft, service.profiles)),
      );
      if (options.json) {
        const kept = toWire(wireKeptProfileSchema, { profile: value, warnings });
        await parts.stdout.write(`${jsonText(kept, 2)}\n`);
        return;
      }
      await writeWarnings(parts, warnings);
      await parts.stdout.write(`Searches may use the profile ${printable(name)}\n`);
    });
}

function addDelete(profiles: Command, parts: CliParts): void {
  withTenantOptions(profiles.command('delete'), WHOSE)
    .description('Remove a profile that is not built in.')
    .argument('<name>', 'as profiles list shows it')
    .addHelpText('after', examples(['palimpsest profiles delete strict']))
    .action(async (name: string, options: TenantOptions) => {
      await withService(parts, options, (_service, context, governance) =>
        governance.deleteProfile(context, name),
      );
      await parts.stdout.write(
        options.json ? `${jsonText({ deleted: name })}\n` : `Removed the profile ${printable(name)}\n`,
      );
    });
}

function profilesTable(profiles: readonly ProfileView[], width: number): string {
  const rows = profiles.map(({ profile, isBuiltIn }) => {
    const { name, kind, minScore, relativeCutoff, topK } = profile;
    return [
      printable(name),
      kind,
      isBuiltIn ? 'built in' : 'own',
      `${formulaOf(profile)}, min_score ${minScore}, relative_cutoff ${relativeCutoff}, top_k ${topK}`,
    ];
  });
  return textTable([{ head: 'profile' }, { head: 'kind' }, { head: 'is' }, { head: 'numbers' }], rows, {
    width,
  });
}

function formulaOf(profile: ProfileView['profile']): string {
  if (profile.kind === 'boosted') return `recency_decay ${profile.recencyDecay}`;
  const weights = Object.entries(profile.weights).map(([factor, weight]) => `${weight} ${factor}`);
  return `${weights.join(' + ')}, half_life_days ${profile.halfLifeDays}`;
}
