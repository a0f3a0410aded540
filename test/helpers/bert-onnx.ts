import { readFileSync } from 'node:fs';
import { type OnnxAttribute, type OnnxNode, type OnnxTensor, onnxModel } from './onnx-writer.ts';

export interface BertShape {
  readonly layers: number;
  readonly heads: number;
  readonly hidden: number;
}

const OPSET = 17;
const EPSILON = 1e-12;
const FLOAT = 1;
const MASKED = -10_000;

/**
 * A BERT encoder (Devlin et al. 2019) as ONNX, from half-precision weights in a safetensors file: what a published
 * model folder for Transformers.js holds as `onnx/model.onnx`. Weights stay in half precision in the file, and are
 * computed with in single precision.
 */
export function bertOnnx(safetensorsPath: string, shape: BertShape): Buffer {
  const graph = graphBuilder(safetensorsPath);
  const { op, weight, ints, float } = graph;

  const layerNorm = (x: string, name: string) =>
    op('LayerNormalization', [x, weight(`${name}.weight`), weight(`${name}.bias`)], {
      axis: { int: -1 },
      epsilon: { float: EPSILON },
    });
  // Weights of dense layers are stored as outputs × inputs.
  const dense = (x: string, name: string) => {
    const transposed = op('Transpose', [weight(`${name}.weight`)], { perm: { ints: [1, 0] } });
    return op('Add', [op('MatMul', [x, transposed]), weight(`${name}.bias`)]);
  };
  const perHead = (x: string, perm: readonly number[]) => {
    const split = op('Reshape', [x, ints([0, 0, shape.heads, shape.hidden / shape.heads])]);
    return op('Transpose', [split], { perm: { ints: perm } });
  };
  const gelu = (x: string) => {
    const erf = op('Erf', [op('Div', [x, float(Math.SQRT2)])]);
    return op('Mul', [op('Mul', [x, float(0.5)]), op('Add', [erf, float(1)])]);
  };

  const attention = (x: string, mask: string, name: string) => {
    const query = perHead(dense(x, `${name}.self.query`), [0, 2, 1, 3]);
    const key = perHead(dense(x, `${name}.self.key`), [0, 2, 3, 1]);
    const value = perHead(dense(x, `${name}.self.value`), [0, 2, 1, 3]);
    const scores = op('Div', [op('MatMul', [query, key]), float(Math.sqrt(shape.hidden / shape.heads))]);
    const shares = op('Softmax', [op('Add', [scores, mask])], { axis: { int: -1 } });
    const heads = op('Transpose', [op('MatMul', [shares, value])], { perm: { ints: [0, 2, 1, 3] } });
    const joined = op('Reshape', [heads, ints([0, 0, shape.hidden])]);
    return layerNorm(op('Add', [dense(joined, `${name}.output.dense`), x]), `${name}.output.LayerNorm`);
  };
  const layer = (x: string, mask: string, name: string) => {
    const attended = attention(x, mask, `${name}.attention`);
    const widened = gelu(dense(attended, `${name}.intermediate.dense`));
    return layerNorm(
      op('Add', [dense(widened, `${name}.output.dense`), attended]),
      `${name}.output.LayerNorm`,
    );
  };

  const length = op('Gather', [op('Shape', ['input_ids']), ints(1)], { axis: { int: 0 } });
  const positions = op('Range', [ints(0), length, ints(1)]);
  const words = op('Gather', [weight('embeddings.word_embeddings.weight'), 'input_ids']);
  const types = op('Gather', [weight('embeddings.token_type_embeddings.weight'), 'token_type_ids']);
  const places = op('Gather', [weight('embeddings.position_embeddings.weight'), positions]);
  const embedded = layerNorm(op('Add', [op('Add', [words, types]), places]), 'embeddings.LayerNorm');

  const seen = op('Cast', ['attention_mask'], { to: { int: FLOAT } });
  const unseen = op('Sub', [float(1), op('Unsqueeze', [seen, ints([1, 2])])]);
  const mask = op('Mul', [unseen, float(MASKED)]);

  const last = Array.from({ length: shape.layers }).reduce<string>(
    (x, _, number) => layer(x, mask, `encoder.layer.${number}`),
    embedded,
  );
  op('Identity', [last], {}, 'last_hidden_state');
  return graph.finish(shape.hidden);
}

function graphBuilder(safetensorsPath: string) {
  const tensors = readTensors(safetensorsPath);
  const initializers: OnnxTensor[] = [];
  const nodes: OnnxNode[] = [];
  let count = 0;

  const op = (
    name: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
    output = `value-${count++}`,
  ) => {
    nodes.push({ op: name, inputs, output, attributes });
    return output;
  };
  const constant = (tensor: Omit<OnnxTensor, 'name'>) => {
    const name = `constant-${count++}`;
    initializers.push({ ...tensor, name });
    return name;
  };
  return {
    op,
    weight(name: string) {
      const tensor = tensors.get(name);
      if (tensor === undefined) throw new Error(`There are no weights ${name}.`);
      return op('Cast', [constant(tensor)], { to: { int: FLOAT } });
    },
    /** A number alone, or a list of numbers. */
    ints(value: number | readonly number[]) {
      const list = typeof value === 'number' ? [value] : value;
      return constant({
        type: 'INT64',
        dims: typeof value === 'number' ? [] : [list.length],
        bytes: new Uint8Array(BigInt64Array.from(list, BigInt).buffer),
      });
    },
    float: (value: number) =>
      constant({ type: 'FLOAT', dims: [], bytes: new Uint8Array(Float32Array.of(value).buffer) }),
    finish: (hidden: number) =>
      onnxModel({
        opset: OPSET,
        initializers,
        nodes,
        inputs: ['input_ids', 'attention_mask', 'token_type_ids'].map((name) => ({
          name,
          type: 'INT64',
          dims: ['batch', 'sequence'],
        })),
        outputs: [{ name: 'last_hidden_state', type: 'FLOAT', dims: ['batch', 'sequence', hidden] }],
      }),
  };
}

function readTensors(path: string): ReadonlyMap<string, Omit<OnnxTensor, 'name'>> {
  const file = readFileSync(path);
  const headerEnd = 8 + Number(file.readBigUInt64LE());
  const header: Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }> =
    JSON.parse(file.subarray(8, headerEnd).toString('utf8'));
  // Beside the weights there is text about them, and a list of positions, which is computed here.
  const entries = Object.entries(header).filter(([, { dtype }]) => dtype === 'F16');
  return new Map(
    entries.map(
      ([
        name,
        {
          shape,
          data_offsets: [begin, end],
        },
      ]) => {
        const bytes = file.subarray(headerEnd + begin, headerEnd + end);
        return [name.replace(/^bert\./, ''), { type: 'FLOAT16', dims: shape, bytes }];
      },
    ),
  );
}
