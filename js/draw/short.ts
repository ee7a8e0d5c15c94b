/** A number that somebody chose, as people write it: 0.1, 2e-3. */

import { sci } from './format';

/** At most three digits and no idle zeros between 0.01 and 1000, scientific outside: 0.1, 1.46, 3e-3, 2.2e-3. */
export function short(x: number): string {
  return Math.abs(x) >= 0.00995 && Math.abs(x) < 999.5
    ? String(Number(x.toPrecision(3))).replace(/^-/, '\u2212')
    : sci(x).replace('.0e', 'e');
}
