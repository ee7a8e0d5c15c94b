/** Formulas and source as the kernel sends them, made into elements: known MathML, and text. */

import { html } from '../draw/element';

const MATHML = 'http://www.w3.org/1998/Math/MathML';
/** Handlers, links and styles have no place in a formula. */
const FOREIGN = /^(on|href|src|style|class|id|action)|:/;

function copy(from: Element): Element {
  const to = document.createElementNS(MATHML, /^m[a-z]+$/.test(from.localName) ? from.localName : 'mrow');
  for (const { name, value } of Array.from(from.attributes)) if (!FOREIGN.test(name)) to.setAttribute(name, value);
  for (const child of Array.from(from.childNodes)) {
    if (child.nodeType === Node.ELEMENT_NODE) to.append(copy(child as Element));
    else if (child.nodeType === Node.TEXT_NODE) to.append(child.textContent ?? '');
  }
  return to;
}

/** A formula; null where it can't be read. Elements and attributes that no formula needs are left out. */
export function formula(mathml: string): Element | null {
  const root = new DOMParser().parseFromString(mathml, 'application/xml').documentElement;
  return root.localName === 'math' ? copy(root) : null;
}

/** One method of a Function, as the kernel cut it into pieces. */
export interface Source {
  name: string;
  file?: string;
  line?: number;
  tokens?: [string, string][];
  error?: string;
}

/** Source with its words coloured. */
export function source(part: Source): HTMLElement {
  const pieces = (part.tokens ?? []).map(([kind, text]) => (kind ? html('span', { class: `gl-src-${kind}` }, text) : text));
  const where = part.file ? `${part.file}:${part.line}` : '';
  return html('pre', { class: 'gl-source', title: where, tabindex: 0 }, ...(part.error ? [`${part.name}: ${part.error}`] : pieces));
}
