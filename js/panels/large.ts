/** What only large graphs need; it comes with the first one (see `later.ts`) and hands itself to who asked for it. */

import { canvasPicture } from './canvaspicture';
import { Minimap } from './minimap';
import { Outline } from './outline';
import type { Part } from './view';

export interface Large {
  canvasPicture: typeof canvasPicture;
  Minimap: typeof Minimap;
  Outline: typeof Outline;
}

export type { Minimap, Outline };

export const largePart: Part = (_, into) => {
  const detail: Large = { canvasPicture, Minimap, Outline };
  into.dispatchEvent(new CustomEvent('gradlab:large', { detail }));
};
