import { readFileSync } from 'node:fs';

/** The most memory of this program alone: `maxRSS` begins with the size of whoever started it. */
export function peakKib() {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
}
