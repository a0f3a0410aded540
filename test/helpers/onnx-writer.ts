/**
 * As much of the ONNX format (onnx.proto, IR version 8) as a small graph needs: protocol buffers with varints,
 * single floats and length-delimited fields.
 */

const DATA_TYPES = { FLOAT: 1, INT64: 7, FLOAT16: 10 } as const;
export type DataType = keyof typeof DATA_TYPES;

export interface OnnxTensor {
  readonly name: string;
  readonly type: DataType;
  readonly dims: readonly number[];
  /** Little-endian. */
  readonly bytes: Uint8Array;
}

/** `int`, `float` or `ints`, by its value. */
export type OnnxAttribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly ints: readonly number[] };

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
}

/** A tensor that goes in or comes out; a dimension is a size, or a name for any size. */
export interface OnnxValue {
  readonly name: string;
  readonly type: DataType;
  readonly dims: readonly (number | string)[];
}

export interface OnnxGraph {
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly initializers: readonly OnnxTensor[];
  readonly nodes: readonly OnnxNode[];
  readonly opset: number;
}

/** The bytes of a .onnx file. */
export function onnxModel(graph: OnnxGraph): Buffer {
  const content = message([
    ...graph.nodes.map((node, place) => bytesField(1, nodeBytes(node, place))),
    bytesField(2, Buffer.from('graph')),
    ...graph.initializers.map((tensor) => bytesField(5, tensorBytes(tensor))),
    ...graph.inputs.map((value) => bytesField(11, valueBytes(value))),
    ...graph.outputs.map((value) => bytesField(12, valueBytes(value))),
  ]);
  return message([
    intField(1, 8),
    bytesField(7, content),
    bytesField(8, message([bytesField(1, Buffer.alloc(0)), intField(2, graph.opset)])),
  ]);
}

function nodeBytes({ op, inputs, output, attributes = {} }: OnnxNode, place: number): Buffer {
  return message([
    ...inputs.map((name) => bytesField(1, Buffer.from(name))),
    bytesField(2, Buffer.from(output)),
    bytesField(3, Buffer.from(`${op}-${place}`)),
    bytesField(4, Buffer.from(op)),
    ...Object.entries(attributes).map(([name, value]) => bytesField(5, attributeBytes(name, value))),
  ]);
}

function attributeBytes(name: string, value: OnnxAttribute): Buffer {
  const named = bytesField(1, Buffer.from(name));
  if ('int' in value) return message([named, intField(3, value.int), intField(20, 2)]);
  if ('float' in value) return message([named, floatField(2, value.float), intField(20, 1)]);
  return message([named, ...value.ints.map((each) => intField(8, each)), intField(20, 7)]);
}

function tensorBytes({ name, type, dims, bytes }: OnnxTensor): Buffer {
  return message([
    ...dims.map((size) => intField(1, size)),
    intField(2, DATA_TYPES[type]),
    bytesField(8, Buffer.from(name)),
    bytesField(9, bytes),
  ]);
}

function valueBytes({ name, type, dims }: OnnxValue): Buffer {
  const shape = message(
    dims.map((size) =>
      bytesField(
        1,
        message([typeof size === 'number' ? intField(1, size) : bytesField(2, Buffer.from(size))]),
      ),
    ),
  );
  const tensorType = message([intField(1, DATA_TYPES[type]), bytesField(2, shape)]);
  return message([bytesField(1, Buffer.from(name)), bytesField(2, message([bytesField(1, tensorType)]))]);
}

function message(fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

function intField(field: number, value: number): Buffer {
  return Buffer.concat([varint(BigInt(field << 3)), varint(BigInt.asUintN(64, BigInt(value)))]);
}

function floatField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([varint(BigInt((field << 3) | 5)), bytes]);
}

function bytesField(field: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varint(BigInt((field << 3) | 2)), varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 128);
  } while (rest !== 0n);
  return Buffer.from(bytes);
}
