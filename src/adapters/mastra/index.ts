export type { MemoryBackend, PromptMemory } from '../memory-backend.ts';
export type { MemorySource } from '../memory-source.ts';
export type { MemoryToolName, MemoryToolOptions } from '../memory-tools.ts';
export type { BlockOptions, OnMemoryError } from '../prompt-blocks.ts';
export type { PromptOptions } from '../prompt-options.ts';
export type { RunOptions, StoreRuns } from '../run-reports.ts';
export { MemoryProcessor } from './memory-processor.ts';
export { type MastraMemoryTools, memoryTools } from './memory-tools.ts';
