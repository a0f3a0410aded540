import { MAX_BATCH_SIZE } from '../core/defaults.ts';
import type { UnplacedDraft, WriteResult } from '../core/types.ts';
import { rememberMany } from './remember.ts';
import type { RequestContext } from './request-context.ts';
import type { ServiceState } from './service-parts.ts';

/** Content of one batch, in UTF-16 units, beyond which it is written although it could hold more entries. */
const MAX_BATCH_TEXT = 4 * 1024 * 1024;

/** How far an import has come, after each batch. */
export interface ImportProgress {
  /** Drafts stored so far. Each is either created or refreshed. */
  readonly stored: number;
  readonly created: number;
  readonly refreshed: number;
}

/**
 * Stores a stream of drafts in batches of up to 500, each all or nothing, and tells how far it is after each.
 * When the stream or a batch fails, the batches before it stay stored; storing them again refreshes them.
 */
export async function* importEntries(
  state: ServiceState,
  context: RequestContext,
  drafts: AsyncIterable<UnplacedDraft> | Iterable<UnplacedDraft>,
): AsyncGenerator<ImportProgress> {
  let progress: ImportProgress = { stored: 0, created: 0, refreshed: 0 };
  for await (const batch of inBatches(drafts)) {
    const results = await rememberMany(state, context, batch, { isImport: true });
    progress = withResults(progress, results);
    yield progress;
  }
}

async function* inBatches(
  drafts: AsyncIterable<UnplacedDraft> | Iterable<UnplacedDraft>,
): AsyncGenerator<UnplacedDraft[]> {
  let batch: UnplacedDraft[] = [];
  let text = 0;
  for await (const draft of drafts) {
    batch.push(draft);
    text += draft.content.length;
    if (batch.length >= MAX_BATCH_SIZE || text >= MAX_BATCH_TEXT) {
      yield batch;
      batch = [];
      text = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

function withResults(progress: ImportProgress, results: readonly WriteResult[]): ImportProgress {
  const created = results.filter(({ operation }) => operation === 'create').length;
  return {
    stored: progress.stored + results.length,
    created: progress.created + created,
    refreshed: progress.refreshed + results.length - created,
  };
}
