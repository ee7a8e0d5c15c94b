/**
 * What the first part of the bundle lends to the second: modules that must be the same in both, or that both need.
 *
 * js/build.mjs reads the names here; a module that is not listed travels in each part that needs it.
 */

import { batch, computed, effect, signal } from '@preact/signals-core';
import * as colour from '../draw/colour';
import * as element from '../draw/element';
import * as format from '../draw/format';
import * as geometry from '../draw/geometry';
import * as lines from '../draw/lines';
import * as node from '../draw/node';
import * as scale from '../draw/scale';
import * as severity from '../draw/severity';
import * as spark from '../draw/spark';
import * as strip from '../draw/strip';
import * as text from '../draw/text';
import * as decode from '../protocol/decode';
import * as operands from './operands';
import * as chart from './chart';
import * as foldOut from './fold-out';
import * as later from './later';
import * as plot from './plot';
import * as rows from './rows';
import * as series from './series';
import * as way from './way';
import * as section from './section';
import * as store from './store';
import * as theme from './theme';
import * as tip from './tip';
import * as view from './view';
import type { More } from './view';

// Only what is used of it, so that the rest of it is not in the bundle.
const signals = { batch, computed, effect, signal };

export const SHARED: Record<string, object> = {
  '@preact/signals-core': signals,
  'draw/colour': colour,
  'draw/element': element,
  'draw/format': format,
  'draw/geometry': geometry,
  'draw/lines': lines,
  'draw/node': node,
  'draw/scale': scale,
  'draw/severity': severity,
  'draw/spark': spark,
  'draw/strip': strip,
  'draw/text': text,
  'protocol/decode': decode,
  'panels/operands': operands,
  'panels/chart': chart,
  'panels/fold-out': foldOut,
  'panels/later': later,
  'panels/plot': plot,
  'panels/rows': rows,
  'panels/series': series,
  'panels/way': way,
  'panels/section': section,
  'panels/store': store,
  'panels/theme': theme,
  'panels/tip': tip,
  'panels/view': view
};

/** Run the text of the second part. */
export async function load(code: string): Promise<More> {
  // As anywidget does it with the first part.
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  try {
    const module = (await import(/* @vite-ignore */ url)) as { default: (lend: (name: string) => object) => More };
    return module.default(name => SHARED[name] as object);
  } finally {
    URL.revokeObjectURL(url);
  }
}
