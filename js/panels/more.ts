/** The parts of the inspector that come when they are first opened: the kernel sends this module when the page asks for it. */

import { html } from '../draw/element';
import { comparePart } from './compare';
import experiments from './experiments.css';
import { experimentsPart } from './experiments';
import { gainPart } from './gain';
import { keeperPart } from './keepers';
import { largePart } from './large';
import { ledgerPart } from './ledger';
import { microscopePart } from './microscope';
import css from './more.css';
import { probePart } from './probes';
import probes from './probes.css';
import type { Part } from './registry';
import { detailPart } from './detailpart';

/** A part, with its styles in the view that shows it. */
function styled(part: Part): Part {
  return (view, into) => {
    if (!view.root.querySelector('style[data-more]')) view.root.prepend(html('style', { 'data-more': '' }, css + probes + experiments));
    part(view, into);
  };
}

export const parts: Record<string, Part> = {
  compare: styled(comparePart),
  experiments: styled(experimentsPart),
  gain: styled(gainPart),
  keepers: styled(keeperPart),
  large: styled(largePart),
  ledger: styled(ledgerPart),
  microscope: styled(microscopePart),
  probes: styled(probePart),
  detail: detailPart
};
