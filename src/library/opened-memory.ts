import { LRUCache } from 'lru-cache';
import { checkWord } from '../core/entry.ts';
import { excerpt, invalidInput } from '../core/errors.ts';
import { parseNamespacePath, parseScope } from '../core/namespace.ts';
import type { StoreHealth } from '../core/ports.ts';
import type { Access } from '../core/types.ts';
import { DEFAULT_TENANT, LOCAL_OPERATOR } from '../service/local-operator.ts';
import type { JobState, ReembedService } from '../service/reembed-service.ts';
import type { ActAsInput } from './act-as-input.ts';
import { type ConfiguredChangeInput, ModelChanges, type RunChangeOptions } from './model-changes.ts';
import { type MemoryServices, UserMemory } from './user-memory.ts';

/** A running service and what ends it. */
export interface OpenedService extends MemoryServices {
  readonly reembed: ReembedService;
  close(): Promise<void>;
}

/**
 * An opened memory. It acts as the operator of the store: tenant `default`, user `local`, every namespace. Use
 * `as` to act for one user.
 */
export class OpenedMemory extends UserMemory {
  /** Which models search, and changes of them. */
  readonly embeddings: ModelChanges;
  readonly #opened: OpenedService;
  readonly #handles = new LRUCache<string, UserMemory>({ max: 1_000 });

  constructor(opened: OpenedService) {
    super(opened, { access: LOCAL_OPERATOR });
    this.#opened = opened;
    this.embeddings = new ModelChanges(opened.reembed, { access: LOCAL_OPERATOR });
  }

  /**
   * Changes the embedding model and works on it until searches use it. Killed or stopped on the way it is simply
   * called again: what is embedded stays.
   *
   * @example
   * await memory.reembed({ to: 'minilm' }, { onProgress: ({ settled, entries }) => console.log(settled, entries) });
   */
  async reembed(input: ConfiguredChangeInput = {}, options: RunChangeOptions = {}): Promise<JobState> {
    const { id } = await this.embeddings.start(input);
    return this.embeddings.run(id, options);
  }

  /**
   * A handle that acts for one user, who reaches the namespaces of `vector.user.<id>` and `vector.agent.<id>`,
   * may read `vector.global.*`, and reaches what the grants open. The database enforces it. The same user has the same
   * handle, as long as it is among the last thousand asked for.
   */
  as(user: ActAsInput): UserMemory {
    const access = accessOf(user);
    const key = JSON.stringify(access);
    const handle = this.#handles.get(key) ?? new UserMemory(this.#opened, { access });
    this.#handles.set(key, handle);
    return handle;
  }

  /** State of the database. */
  health(): Promise<StoreHealth> {
    return this.#opened.service.health();
  }

  /** Finishes what is running and lets go of the data directory or the connections. */
  close(): Promise<void> {
    return this.#opened.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Longest tenant id, in code points. */
const MAX_TENANT_ID_LENGTH = 128;

function accessOf({
  userId,
  tenantId = DEFAULT_TENANT,
  readGrants = [],
  writeGrants = [],
}: ActAsInput): Access {
  return {
    principal: {
      tenantId: checkWord(tenantId, 'tenantId', MAX_TENANT_ID_LENGTH),
      userId: checkUserId(userId),
      isAdmin: false,
      isTenantWide: false,
    },
    readGrants: readGrants.length === 0 ? [] : parseScope(readGrants, 'readGrants'),
    writeGrants: writeGrants.length === 0 ? [] : parseScope(writeGrants, 'writeGrants'),
  };
}

/** A user's id becomes a segment of the paths the user owns, so it has to be one. */
function checkUserId(userId: string): string {
  parseNamespacePath(userId, 'userId');
  if (!userId.includes('.')) return userId;
  throw invalidInput(`userId: ${excerpt(userId)} has a dot, which separates the segments of a namespace.`, {
    path: 'userId',
    got: excerpt(userId),
    allowed: 'one segment of a namespace path',
  });
}
