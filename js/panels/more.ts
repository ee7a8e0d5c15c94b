/**
 * The second part of the bundle: what is below the first screen, or opened by a click. It is a module of its own, which the kernel
 * sends after the first picture, and takes what `shared.ts` lends it of the first.
 */

import { comparePart } from './compare';
import { detailPart } from './detailpart';
import { facesPart } from './faces';
import { marksPart, signsPart } from './findingmarks';
import { findingsPanel } from './findings';
import findings from './findings.css';
import { gainPart } from './gain';
import { wordsPart } from './graphwords';
import { keeperPart } from './keepers';
import { largePart } from './large';
import { ledgerPart } from './ledger';
import { microscopePart } from './microscope';
import moments from './moments.css';
import parted from './more.css';
import { optimizerPanel } from './optimizer';
import { probePart } from './probes';
import probes from './probes.css';
import { searchPart } from './searchbox';
import type { More } from './view';

/** The styles of everything here. */
export const css: More['css'] = [findings, moments, parted, probes].join('\n');

/** Panels by name. */
export const panels: More['panels'] = { optimizer: optimizerPanel, findings: findingsPanel };

/** Parts of other panels by name. */
export const parts: More['parts'] = {
  compare: comparePart,
  detail: detailPart,
  faces: facesPart,
  gain: gainPart,
  keepers: keeperPart,
  large: largePart,
  ledger: ledgerPart,
  marks: marksPart,
  microscope: microscopePart,
  probes: probePart,
  search: searchPart,
  signs: signsPart,
  words: wordsPart
};
