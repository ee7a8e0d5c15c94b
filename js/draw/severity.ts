/** The signs of info, warning and error: a shape each, so that none needs its colour. */

import { svg } from './element';

export type Severity = 'info' | 'warning' | 'error';

/** From the worst to the mildest. */
export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info'];

/** Outline and inside, 16 wide and high. */
export const SIGNS: Record<Severity, [string, string]> = {
  error: ['M4.9 1h6.2L15 4.9v6.2L11.1 15H4.9L1 11.1V4.9z', 'M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2'],
  warning: ['M8 1.2 15.4 14.6H.6z', 'M8 6v4M8 12v.9'],
  info: ['M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z', 'M8 7.2v4.4M8 4.2v.9']
};

/** A sign with its word for those who don't see it; `silent` where the word stands beside it. */
export function severitySign(severity: Severity, size = 14, silent = false): SVGSVGElement {
  const label = silent ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': severity };
  const [outline, inside] = SIGNS[severity];
  return svg(
    'svg',
    { class: `gl-sign gl-is-${severity}`, width: size, height: size, viewBox: '0 0 16 16', ...label },
    svg('path', { class: 'gl-sign-outline', d: outline }),
    svg('path', { class: 'gl-sign-inside', d: inside })
  );
}
