export type { MemoryBackend, PromptMemory } from '../memory-backend.ts';
export type { MemorySource } from '../memory-source.ts';
export type { MemoryToolName, MemoryToolOptions } from '../memory-tools.ts';
export type { BlockOptions, OnMemoryError } from '../prompt-blocks.ts';
export type { PlacingOptions } from '../prompt-options.ts';
export { memoryInputFilter } from './memory-input-filter.ts';
export { type AgentMemoryTool, memoryTools } from './memory-tools.ts';
