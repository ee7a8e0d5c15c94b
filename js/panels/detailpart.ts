/** The detail panel as a part that comes later, with its styles. */

import { html } from '../draw/element';
import { detailPanel } from './detail';
import css from './detail.css';
import experiments from './experiments.css';
import type { Part } from './view';
import { openState } from './section';

export const detailPart: Part = (view, into) => {
  into.replaceChildren(html('style', {}, css + experiments), detailPanel(view, openState('detail')).body);
};
