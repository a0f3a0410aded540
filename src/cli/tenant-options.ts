import { type Command, InvalidArgumentError } from 'commander';
import { DEFAULT_TENANT } from '../service/local-operator.ts';
import { type StoreOptions, withStoreOptions } from './common-options.ts';

/** Options of commands that govern one tenant. */
export interface TenantOptions extends StoreOptions {
  /** Default: the tenant of the command line's own entries. */
  readonly tenant?: string;
}

/** @param whose - What of the tenant the command is about, such as "whose keys". */
export function withTenantOptions(command: Command, whose: string): Command {
  return withStoreOptions(command).option(
    '--tenant <id>',
    `${whose} (default: ${DEFAULT_TENANT})`,
    tenantOption,
  );
}

function tenantOption(text: string): string {
  if (text.trim() !== '') return text;
  // Such as of a variable that is not set; it would make a tenant that nobody asks for.
  throw new InvalidArgumentError('It must be the id of a tenant.');
}
