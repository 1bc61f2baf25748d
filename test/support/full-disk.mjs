// Preloaded into a server process: while the file that FULL_DISK_FLAG names is there, its disk has no space left.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const flag = process.env.FULL_DISK_FLAG;
const isFull = () => flag !== undefined && fs.existsSync(flag);
const writeSync = fs.writeSync;
const statfsSync = fs.statfsSync;

fs.writeSync = (descriptor, ...given) => {
  // Standard output and standard error are not on the disk.
  if (descriptor > 2 && isFull()) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  return writeSync(descriptor, ...given);
};
fs.statfsSync = (...given) => Object.assign(statfsSync(...given), isFull() && { bavail: 0, bfree: 0 });
syncBuiltinESMExports();
