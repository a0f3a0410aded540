export {
  PalimpsestStore,
  type PalimpsestStoreOptions,
  type PutOperationWithTtl,
  type StoreMemory,
} from './palimpsest-store.ts';
